"""Office packages are ZIP archives: what they hold, and whether they may be unpacked at all."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from corpus.errors import NotExtractable

MAX_UNPACKED = 512 * 1024 * 1024
"""Bytes that all parts together may unpack to."""
MAX_MARKUP = 192 * 1024 * 1024
"""Bytes that the XML parts together may unpack to; a parsed tree takes about ten times as many."""
MAX_RATIO = 100
"""How many times its packed size a part of more than ``RATIO_FROM`` bytes may unpack to."""
RATIO_FROM = 8 * 1024 * 1024
MAX_ENTRIES = 20_000

_WORD = "word/document.xml"
_OTHERS: tuple[tuple[str, str], ...] = (
    ("xl/workbook", "a spreadsheet (XLSX); save its sheets as CSV to have them searched"),
    ("ppt/presentation", "a presentation (PPTX), which has no reader here; save it as PDF"),
    ("content.xml", "an OpenDocument file, which has no reader here; save it as DOCX or PDF"),
    ("META-INF/container.xml", "an EPUB book, which has no reader here; save it as HTML or PDF"),
)
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.I)
_PIECE = 256 * 1024


def check_package(path: Path) -> None:
    """Raise NotExtractable unless ``path`` is a whole Word file that is safe to unpack.

    Checked before any part is parsed: declared sizes, ratio and number of entries; then, part by
    part in small pieces, that what unpacks is what was declared, and that no XML part declares
    entities.
    """
    try:
        with ZipFile(path) as package:
            entries = package.infolist()
            _check_declared(entries)
            _check_kind({entry.filename for entry in entries})
            for entry in entries:
                _check_actual(package, entry)
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


def _check_kind(names: set[str]) -> None:
    if _WORD in names:
        return
    for prefix, what in _OTHERS:
        if any(name.startswith(prefix) for name in names):
            raise NotExtractable(f"it is {what}", stage="type")
    raise NotExtractable("it is a ZIP archive; unpack it to have its files searched", stage="type")


def _check_actual(package: ZipFile, entry: ZipInfo) -> None:
    """Unpack one part without keeping it; a size or sum that does not hold raises BadZipFile."""
    markup = _is_markup(entry)
    tail = b""
    with package.open(entry) as stream:
        while piece := stream.read(_PIECE):
            # NULs are dropped so that a part in UTF-16 cannot hide a declaration.
            seen = tail + piece.replace(b"\x00", b"")
            if markup and _DECLARATION.search(seen):
                raise NotExtractable(
                    f"it is refused: {entry.filename} declares entities, which no Word file does"
                )
            tail = seen[-16:]


def _is_markup(entry: ZipInfo) -> bool:
    return entry.filename.lower().endswith((".xml", ".rels"))


def _damage(path: Path, error: Exception) -> str:
    with path.open("rb") as stream:
        head = stream.read(65_536)
    what = "Word file" if b"word/" in head else "ZIP archive"
    if isinstance(error, RuntimeError) and "encrypted" in str(error):
        return f"the {what} is encrypted with a password; save it without one"
    return f"the {what} is damaged or incomplete ({error}); replace it by a whole copy"
