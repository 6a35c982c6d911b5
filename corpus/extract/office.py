"""Packages are ZIP archives: what they hold, and whether they may be unpacked at all."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from corpus.errors import NotExtractable
from corpus.extract.package_kind import PackageKind, kind_of

MAX_UNPACKED = 512 * 1024 * 1024
"""Bytes that all parts together may unpack to."""
MAX_MARKUP = 192 * 1024 * 1024
"""Bytes that the XML parts together may unpack to; a parsed tree takes about ten times as many."""
MAX_RATIO = 100
"""How many times its packed size a part of more than ``RATIO_FROM`` bytes may unpack to."""
RATIO_FROM = 8 * 1024 * 1024
MAX_ENTRIES = 20_000

_MARKUP = (".xml", ".rels", ".vml", ".opf", ".ncx", ".xhtml", ".html", ".htm")
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.I)
_ENTITY = re.compile(rb"<!ENTITY", re.I)
_MAY_HAVE_DOCTYPE = (".opf", ".ncx", ".xhtml", ".html", ".htm")
# OpenOffice wrote a document type into this one part for years; nothing here parses it.
_MANIFEST = "META-INF/manifest.xml"
_PIECE = 256 * 1024
_NAMES: dict[PackageKind, str] = {
    "docx": "Word file",
    "xlsx": "spreadsheet (XLSX)",
    "pptx": "presentation (PPTX)",
    "odt": "OpenDocument text",
    "ods": "OpenDocument spreadsheet",
    "odp": "OpenDocument presentation",
    "epub": "EPUB book",
}
_TRACES: tuple[tuple[bytes, str], ...] = (
    (b"word/", "Word file"),
    (b"xl/work", _NAMES["xlsx"]),
    (b"ppt/", _NAMES["pptx"]),
    (b"opendocument", "OpenDocument file"),
    (b"application/epub+zip", _NAMES["epub"]),
)


def check_package(path: Path) -> PackageKind:
    """Tell the kind of the package at ``path``, and that it is whole and safe to unpack.

    Checked before any part is parsed: declared sizes, ratio and number of entries; then, part by
    part in small pieces, that what unpacks is what was declared, and that no XML part declares
    entities. Raises NotExtractable otherwise, also for an archive that is no document.
    """
    try:
        with ZipFile(path) as package:
            entries = package.infolist()
            _check_declared(entries)
            kind = kind_of(package)
            for entry in entries:
                _check_actual(package, entry, kind)
            return kind
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise NotExtractable(_damage(path, error)) from error


def _check_declared(entries: list[ZipInfo]) -> None:
    if len(entries) > MAX_ENTRIES:
        raise NotExtractable(
            f"it is refused: {len(entries)} entries, over the limit of {MAX_ENTRIES}"
        )
    _check_size("its parts", sum(entry.file_size for entry in entries), MAX_UNPACKED)
    markup = sum(entry.file_size for entry in entries if _is_markup(entry))
    _check_size("its XML parts", markup, MAX_MARKUP)
    for entry in entries:
        ratio = entry.file_size / max(1, entry.compress_size)
        if entry.file_size > RATIO_FROM and ratio > MAX_RATIO:
            raise NotExtractable(
                f"it is refused: {entry.filename} unpacks to {entry.file_size / 2**20:.0f} MB, "
                f"{ratio:.0f} times its packed size (limit {MAX_RATIO})"
            )


def _check_size(what: str, size: int, limit: int) -> None:
    if size > limit:
        raise NotExtractable(
            f"it is refused: {what} unpack to {size / 2**20:.0f} MB, over the limit of "
            f"{limit / 2**20:.0f} MB"
        )


def _check_actual(package: ZipFile, entry: ZipInfo, kind: PackageKind) -> None:
    """Unpack one part without keeping it; a size or sum that does not hold raises BadZipFile."""
    forbidden = _forbidden(entry, kind)
    tail = b""
    with package.open(entry) as stream:
        while piece := stream.read(_PIECE):
            if forbidden is None:
                continue
            # NULs are dropped so that a part in UTF-16 cannot hide a declaration.
            seen = tail + piece.replace(b"\x00", b"")
            if forbidden.search(seen):
                raise NotExtractable(
                    f"it is refused: {entry.filename} declares entities, "
                    f"which no {_NAMES[kind]} does"
                )
            tail = seen[-16:]


def _forbidden(entry: ZipInfo, kind: PackageKind) -> re.Pattern[bytes] | None:
    """Return what a part must not contain: markup of a book may name a document type."""
    name = entry.filename.lower()
    if not _is_markup(entry) or entry.filename == _MANIFEST:
        return None
    if kind == "epub" and name.endswith(_MAY_HAVE_DOCTYPE):
        # Chapters are read as HTML, where a declaration is without effect.
        return _ENTITY if name.endswith((".opf", ".ncx")) else None
    return _DECLARATION


def _is_markup(entry: ZipInfo) -> bool:
    return entry.filename.lower().endswith(_MARKUP)


def _damage(path: Path, error: Exception) -> str:
    with path.open("rb") as stream:
        head = stream.read(65_536)
    what = next((what for trace, what in _TRACES if trace in head), "ZIP archive")
    if isinstance(error, RuntimeError) and "encrypted" in str(error):
        return f"the {what} is encrypted with a password; save it without one"
    return f"the {what} is damaged or incomplete ({error}); replace it by a whole copy"
