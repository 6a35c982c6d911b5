"""A text too large to be one document is cut into parts that each are one.

The cut is made on bytes, in one pass and in the memory of one part, before anything is decoded. It
depends on what stands before it alone, so a log that grew keeps its parts but the last.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from corpus.errors import NotExtractable
from corpus.extract import MAX_TEXT_BYTES
from corpus.extract.plain import MARKS, utf16_without_mark
from corpus.extract.sniff import HEAD, sniff

PART_BYTES = 8 * 1024**2
"""The most bytes of a part. Reading one takes about 10 s and 250 MB of a slow machine."""

PARTS_FROM = 2 * PART_BYTES
"""A text of more bytes than this is read in parts."""

MAX_CUT_BYTES = 8 * 1024**3
"""A text of more bytes than this is refused."""

_LEAST = 64
_UNITS: dict[str, tuple[int, Literal["big", "little"]]] = {
    "utf-8": (1, "little"),
    "utf-16-le": (2, "little"),
    "utf-16-be": (2, "big"),
    "utf-32-le": (4, "little"),
    "utf-32-be": (4, "big"),
}
_LINE_FEED, _RETURN, _BLANKS = "\n", "\r", " \t\f\v"


class ByteStream(Protocol):
    """What can be read piece by piece."""

    def read(self, size: int = -1, /) -> bytes: ...


def is_large_text(path: Path, head: bytes) -> bool:
    """Whether the file that begins with ``head`` is a text to be read in parts.

    That is plain text, Markdown or a table above :data:`PARTS_FROM`. What may be one JSON value
    stays whole as long as it can be read whole.
    """
    size = path.stat().st_size
    if size <= PARTS_FROM:
        return False
    try:
        kind = sniff(head[:HEAD], path.name)
    except NotExtractable:
        return False
    whole = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
    return kind in ("plain", "markdown", "csv", "tsv") and (not whole or size > MAX_TEXT_BYTES)


def is_table(path: Path) -> bool:
    """Whether the parts of a large text repeat its first line."""
    return path.suffix.lower() in (".csv", ".tsv", ".tab")


@dataclass(frozen=True, slots=True)
class _Encoding:
    """How code points lie in bytes: the mark at the head, and the bytes of a code unit."""

    mark: bytes
    width: int
    order: Literal["big", "little"]

    def encode(self, character: str) -> bytes:
        return ord(character).to_bytes(self.width, self.order)


def cut(
    stream: ByteStream, *, table: bool = False, part_bytes: int = PART_BYTES
) -> Iterator[bytes]:
    """Cut a text into parts of at most ``part_bytes`` bytes.

    A part ends after a line; where a line is longer than a part, after white space; where there is
    none either, between two code points. A byte order mark is repeated at the head of every part,
    and so is the first line of a ``table``, unless it takes more than a quarter of a part. Quoted
    line ends of a table in an 8-bit encoding are no line ends. Without what is repeated, the parts
    joined are the text.

    :raises ValueError: ``part_bytes`` is below 64
    """
    if part_bytes < _LEAST:
        raise ValueError(f"a part needs {_LEAST} bytes or more, got {part_bytes}")
    rest = bytearray()
    _fill(rest, stream, HEAD)
    own_mark, encoding = _encoding(bytes(rest[:HEAD]))
    del rest[: len(own_mark)]
    lead, repeated = own_mark, encoding.mark
    if table:
        _fill(rest, stream, part_bytes)
        header = _after_first_line(rest, part_bytes // 4, encoding)
        repeated += bytes(rest[:header])
    while True:
        room = part_bytes - len(lead)
        # The code unit behind the part tells whether the cut would go through a code point.
        _fill(rest, stream, room + 4)
        if len(rest) <= room:
            if rest:
                yield lead + bytes(rest)
            return
        end = _end(rest, room, encoding, table)
        yield lead + bytes(rest[:end])
        del rest[:end]
        lead = repeated


def _fill(rest: bytearray, stream: ByteStream, size: int) -> None:
    """Read until ``rest`` holds ``size`` bytes or the stream has ended."""
    while len(rest) < size and (piece := stream.read(size - len(rest))):
        rest += piece


def _encoding(head: bytes) -> tuple[bytes, _Encoding]:
    """The mark that a text begins with, and how it is to be cut.

    UTF-16 that has no mark gets one at the head of its later parts, where the beginning that
    showed what it is will be missing.
    """
    for mark, marked in MARKS:
        if head.startswith(mark):
            return mark, _Encoding(mark, *_UNITS[marked])
    if name := utf16_without_mark(head):
        return b"", _Encoding("\ufeff".encode(name), *_UNITS[name])
    return b"", _Encoding(b"", *_UNITS["utf-8"])


def _end(text: bytearray, room: int, encoding: _Encoding, table: bool) -> int:
    """Where a part of at most ``room`` bytes of ``text`` ends, always after its first byte."""
    if line := _after_last_line(text, room, encoding, table):
        return line
    # The last return may be half of a line end whose line feed is behind the part.
    if line := _after_last(text, _RETURN, room - encoding.width, encoding):
        return line
    blank = max(_after_last(text, character, room, encoding) for character in _BLANKS)
    return blank or _between_code_points(text, room, encoding)


def _after_last(text: bytearray, character: str, end: int, encoding: _Encoding) -> int:
    """The position behind the last ``character`` before ``end``, or 0."""
    wanted, width = encoding.encode(character), encoding.width
    at = text.rfind(wanted, 0, end)
    while at > 0 and at % width:
        at = text.rfind(wanted, 0, at + width - 1)
    return at + width if at >= 0 else 0


def _after_last_line(text: bytearray, end: int, encoding: _Encoding, table: bool) -> int:
    """The position behind the last line end before ``end``, outside of quotes if one is."""
    last = line = _after_last(text, _LINE_FEED, end, encoding)
    if not (table and encoding.width == 1):
        return last
    quotes = text.count(b'"', 0, line)
    while line and quotes % 2:
        before = _after_last(text, _LINE_FEED, line - 1, encoding)
        quotes -= text.count(b'"', before, line)
        line = before
    return line or last


def _after_first_line(text: bytearray, end: int, encoding: _Encoding) -> int:
    """The position behind the first line, or 0 where it does not end before ``end``."""
    wanted = encoding.encode(_LINE_FEED)
    at = text.find(wanted, 0, end)
    while at > 0 and (at % encoding.width or (encoding.width == 1 and text.count(b'"', 0, at) % 2)):
        at = text.find(wanted, at + 1, end)
    return at + encoding.width if at > 0 else 0


def _between_code_points(text: bytearray, room: int, encoding: _Encoding) -> int:
    end = room - room % encoding.width
    if encoding.width == 1:
        return next((at for at in range(end, end - 4, -1) if text[at] & 0xC0 != 0x80), end)
    if encoding.width == 2:
        high = int.from_bytes(text[end - 2 : end], encoding.order)
        return end - 2 if 0xD800 <= high < 0xDC00 else end
    return end


def refuse_beyond_measure(path: Path) -> None:
    """Raise NotExtractable for a text that is too large even for parts."""
    size = os.stat(path).st_size
    if size > MAX_CUT_BYTES:
        raise NotExtractable(
            f"it is a text of {size / 1024**3:.1f} GB, over the limit of "
            f"{MAX_CUT_BYTES // 1024**3} GB; split it into smaller files",
            stage="unpack",
        )
