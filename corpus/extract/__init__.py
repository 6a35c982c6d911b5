"""A file becomes text with structure: one function, ``extract``, for every kind of file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract import (
    asciidoc,
    docx,
    eml,
    epub,
    html,
    markdown,
    ods,
    odt,
    ole,
    pdf,
    picture,
    plain,
    pptx,
    record,
    rst,
    rtf,
    table,
    xlsx,
)
from corpus.extract.ocr import Recognise
from corpus.extract.office import check_package
from corpus.extract.package_kind import PackageKind
from corpus.extract.sniff import HEAD, Kind, sniff

__all__ = ["EXTRACTOR_VERSION", "MAX_TEXT_BYTES", "extract"]

EXTRACTOR_VERSION = "3"
"""Part of a corpus version's fingerprint: changes whenever what is read of a file would change."""

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""Size above which a text file is refused: it would take several times this much memory."""

_PACKAGES: dict[PackageKind, Callable[[Path], Extracted]] = {
    "docx": docx.read,
    "xlsx": xlsx.read,
    "pptx": pptx.read,
    "odt": odt.read,
    "ods": ods.read,
    "odp": odt.read_slides,
    "epub": epub.read,
}


def extract(
    path: Path, *, fallback: str = plain.FALLBACK, recognise: Recognise | None = None
) -> Extracted:
    """Extract the text of a file, told apart by content and not by name.

    ``fallback`` is the encoding of text that neither declares one nor is UTF-8. ``recognise`` reads
    the pages that are mere pictures; without it they are counted as waiting. Raises NotExtractable
    with a sentence for the maintainer when there is no text to be had, and OSError when the file
    cannot be opened.
    """
    with path.open("rb") as stream:
        head = stream.read(HEAD)
        size = os.fstat(stream.fileno()).st_size
        kind = sniff(head, path.name)
        if kind == "pdf":
            return pdf.read(path, recognise)
        if kind in ("png", "jpeg", "tiff"):
            return picture.read(path, kind.upper(), recognise)
        if kind == "package":
            return _PACKAGES[check_package(path)](path)
        if kind == "ole":
            raise ole.refuse(path)
        if size > MAX_TEXT_BYTES:
            limit = MAX_TEXT_BYTES // 2**20
            raise NotExtractable(
                f"it is a text file of {size / 2**20:.0f} MB, over the limit of {limit} MB; "
                "split it into smaller files",
                stage="read",
            )
        return _read_text(kind, head + stream.read(), _stem(path), fallback)


def _read_text(kind: Kind, data: bytes, stem: str, fallback: str) -> Extracted:
    if kind == "html":
        return html.read(data, stem, fallback=fallback)
    if kind == "plain" and data.startswith(b"{") and (found := record.read(data, stem)):
        return found
    if kind in ("csv", "tsv"):
        return table.read(data, stem, tabs=kind == "tsv", fallback=fallback)
    reader = {
        "markdown": markdown.read,
        "rst": rst.read,
        "asciidoc": asciidoc.read,
        "rtf": rtf.read,
        "eml": eml.read,
    }.get(kind, plain.read)
    return reader(data, stem, fallback=fallback)


def _stem(path: Path) -> str:
    """Return the name without its suffix, printable even where its bytes are not UTF-8."""
    return os.fsencode(path.stem).decode("utf-8", errors="replace")
