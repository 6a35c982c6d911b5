"""What kind of file this is, told by its content; the name only tells plain-text kinds apart."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal

from corpus.errors import NotExtractable
from corpus.extract.eml import looks_like_mail
from corpus.extract.ole import MAGIC as OLE
from corpus.extract.plain import utf16_without_mark

Kind = Literal[
    "pdf",
    "png",
    "jpeg",
    "tiff",
    "package",
    "ole",
    "rtf",
    "eml",
    "html",
    "markdown",
    "rst",
    "asciidoc",
    "csv",
    "tsv",
    "plain",
]
"""``package`` is any ZIP archive and ``ole`` any old Office file: more than the beginning must be
looked at to tell what is in them."""

HEAD = 65_536
"""How many bytes of the beginning are looked at."""

_TEXT_SUFFIXES: dict[str, Kind] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".rst": "rst",
    ".adoc": "asciidoc",
    ".asciidoc": "asciidoc",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
}
_PICTURES: tuple[tuple[bytes, Kind], ...] = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
)
_UNREADABLE: tuple[tuple[bytes, int, str], ...] = (
    (b"GIF8", 0, "an image (GIF)"),
    (b"WEBP", 8, "an image (WebP)"),
    (b"\x00\x00\x00\x0cjP  ", 0, "an image (JPEG 2000)"),
    (b"%!PS", 0, "a PostScript file"),
    (b"AT&TFORM", 0, "a DjVu file"),
    (b"\x1f\x8b", 0, "a gzip archive"),
    (b"BZh", 0, "a bzip2 archive"),
    (b"\xfd7zXZ\x00", 0, "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", 0, "a 7-Zip archive"),
    (b"Rar!\x1a\x07", 0, "a RAR archive"),
    (b"ustar", 257, "a tar archive"),
    (b"SQLite format 3\x00", 0, "a SQLite database"),
    (b"\x7fELF", 0, "a program (ELF)"),
    (b"MZ\x90\x00", 0, "a program (Windows)"),
    (b"ftyp", 4, "a video or audio file"),
    (b"OggS", 0, "a video or audio file"),
    (b"ID3", 0, "a video or audio file"),
    (b"RIFF", 0, "a video or audio file"),
)
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_PDF_WITHIN = 1024
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!doctype\s+html|<html[\s>])", re.I | re.S
)
# Escape is left out: terminal captures are text.
_CONTROLS = bytes(code for code in range(1, 32) if code not in b"\t\n\x0b\f\r\x1b")


def sniff(head: bytes, name: str) -> Kind:
    """Tell the kind of the file called ``name`` that begins with ``head``.

    Raises NotExtractable for a kind that has no reader here, named in the message.
    """
    if not head:
        raise NotExtractable("the file is empty (0 bytes)", stage="read")
    suffix = PurePath(name).suffix.lower()
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "package"
    if head.startswith(OLE):
        return "ole"
    if head.startswith(b"{\\rtf"):
        return "rtf"
    for magic, picture in _PICTURES:
        if head.startswith(magic):
            return picture
    for magic, offset, what in _UNREADABLE:
        if head[offset : offset + len(magic)] == magic:
            raise NotExtractable(unreadable(what, suffix), stage="type")
    if not head.startswith(_BYTE_ORDER_MARKS) and utf16_without_mark(head) is None:
        _refuse_binary(head, suffix)
    if _HTML_START.match(head.removeprefix(b"\xef\xbb\xbf")):
        return "html"
    if looks_like_mail(head):
        return "eml"
    if suffix == ".pdf":
        raise NotExtractable("it is plain text, not a PDF", stage="type")
    return _TEXT_SUFFIXES.get(suffix, "plain")


def unreadable(what: str, suffix: str) -> str:
    """Say that a file is something without text, and what its suffix claims it to be."""
    claimed = {".pdf": "not a PDF", ".docx": "not a Word file", ".txt": "not text"}.get(suffix)
    if claimed:
        return f"it is {what}, {claimed}"
    return f"it is {what}, which has no text this program can read"


def _refuse_binary(head: bytes, suffix: str) -> None:
    """Raise for bytes that no text would hold; stray NULs in a text are let through."""
    nuls = head.count(0)
    controls = len(head) - nuls - len(head.translate(None, b"\x00" + _CONTROLS))
    if nuls * 5 > len(head) or controls * 50 > len(head):
        raise NotExtractable(unreadable("a binary file of an unknown kind", suffix), stage="type")
