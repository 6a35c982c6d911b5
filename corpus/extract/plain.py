"""Plain text: how bytes become characters, and where its paragraphs are."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from corpus.document import Extracted
from corpus.extract.build import Builder
from corpus.text import clean

FALLBACK = "cp1252"
"""The encoding of text that is not Unicode, unless a caller says otherwise."""

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# How many valid multi-byte sequences must stand against one invalid byte for text to be UTF-8.
_CLEARLY = 2
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Characters, the encoding they were read in, and sentences about what had to be assumed."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


def decode(data: bytes, *, declared: str | None = None, fallback: str = FALLBACK) -> Decoded:
    """Turn bytes into characters by rule, never by statistics.

    In this order: a byte order mark; an encoding the file declares, if the bytes obey it; UTF-8
    where strictly valid; UTF-8 where valid multi-byte sequences clearly outnumber the invalid
    bytes, each of which becomes U+FFFD; and ``fallback``. All but the first three leave a note.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, errors="replace")
            return Decoded(text, encoding, _replaced(text, encoding))
    if declared is not None and (text := _strictly(data, declared)) is not None:
        return Decoded(text, declared)
    if (text := _strictly(data, "utf-8")) is not None:
        if b"\x00" in data and (wide := utf16_without_mark(data)) is not None:
            note = f"read as {wide.upper()} because every other byte is zero; it has no mark"
            return Decoded(data.decode(wide, errors="replace"), wide, (note,))
        return Decoded(text, "utf-8")
    lenient = data.decode("utf-8", errors="surrogateescape")
    invalid = sum("\udc80" <= character <= "\udcff" for character in lenient)
    valid = sum(character >= "\x80" for character in lenient) - invalid
    if valid > _CLEARLY * invalid:
        text = data.decode("utf-8", errors="replace")
        return Decoded(text, "utf-8", _replaced(text, "utf-8"))
    text = data.decode(fallback, errors="replace")
    return Decoded(text, fallback, (f"read as {fallback} because it is not UTF-8",))


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _replaced(text: str, encoding: str) -> tuple[str, ...]:
    count = text.count("\ufffd")
    if not count:
        return ()
    what = "1 byte sequence that is" if count == 1 else f"{count} byte sequences that are"
    return (f"{what} not {encoding.upper()} became U+FFFD",)


def utf16_without_mark(data: bytes) -> str | None:
    """Name the byte order of UTF-16 text that carries no mark, or None.

    Western text shows itself: nearly every second byte is zero, and none of the others.
    """
    sample = data[:4096]
    if len(sample) < 8 or len(data) % 2 and len(data) <= 4096:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.8 * half and even == 0:
        return "utf-16-le"
    if even > 0.8 * half and odd == 0:
        return "utf-16-be"
    return None


def read(data: bytes, stem: str, *, fallback: str = FALLBACK) -> Extracted:
    """Extract plain text: paragraphs end at blank lines, lines are kept, the stem is the title."""
    decoded = decode(data, fallback=fallback)
    builder = Builder()
    builder.notes.extend(decoded.notes)
    for paragraph in _BLANK_LINES.split(clean(decoded.text)):
        lines = [line.rstrip() for line in paragraph.strip("\n").split("\n")]
        builder.add("paragraph", "\n".join(lines).strip())
    return builder.finish(stem, "text/plain")
