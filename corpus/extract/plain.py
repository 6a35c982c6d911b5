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

MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# How many valid multi-byte sequences must stand against one invalid byte for text to be UTF-8.
_CLEARLY = 2
_UNDERLINES = "=-~^'*#+"
_NUMBERED = re.compile(r"\s*(\d{1,2}(?:\.\d{1,2})*)\.?\s{1,3}[^\W\d][^\n]{1,70}(?<![.,;:])\s*")
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
    for mark, encoding in MARKS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, errors="replace")
            return Decoded(text, encoding, _replaced(text, encoding))
    if declared is not None and (obeyed := _strictly(data, declared)) is not None:
        return Decoded(obeyed, declared)
    if b"\x00" in data and (wide := utf16_without_mark(data)) is not None:
        note = f"read as {wide.upper()} because every other byte is zero; it has no mark"
        return Decoded(data.decode(wide, errors="replace"), wide, (note,))
    if (strict := _strictly(data, "utf-8")) is not None:
        return Decoded(strict, "utf-8")
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
    if len(sample) < 8:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.8 * half and even == 0:
        return "utf-16-le"
    if even > 0.8 * half and odd == 0:
        return "utf-16-be"
    return None


def read(data: bytes, stem: str, *, fallback: str = FALLBACK) -> Extracted:
    """Extract plain text: paragraphs end at blank lines, and lines are kept as they are.

    Underlined lines are headings, and so are numbered ones where the numbering goes two levels
    deep and counts without a gap. The title is an underlined first line, else the stem.
    """
    decoded = decode(data, fallback=fallback)
    builder = Builder()
    builder.notes.extend(decoded.notes)
    paragraphs = [found.strip("\n") for found in _BLANK_LINES.split(clean(decoded.text))]
    numbered = any("." in found[1] for found in map(_NUMBERED.fullmatch, paragraphs) if found)
    underlines: list[str] = []
    chapters = 0
    title = stem
    for paragraph in paragraphs:
        heading, underline, rest = _underlined(paragraph)
        if heading:
            if builder.is_empty:
                title = heading
            if underline not in underlines:
                underlines.append(underline)
            builder.heading(heading, 1 + underlines.index(underline))
        elif numbered and (found := _NUMBERED.fullmatch(paragraph)):
            chapter, *sections = map(int, found[1].split("."))
            if chapter == (chapters if sections else chapters + 1):
                chapters = chapter
                builder.heading(paragraph, 1 + len(underlines) + len(sections))
                continue
        lines = [line.rstrip() for line in rest.split("\n")]
        builder.add("paragraph", "\n".join(lines).strip())
    return builder.finish(title, "text/plain")


def _underlined(paragraph: str) -> tuple[str, str, str]:
    """Part a paragraph into an underlined first line, the character under it, and the rest."""
    first, _, below = paragraph.partition("\n")
    second, _, rest = below.partition("\n")
    first, second = first.strip(), second.strip()
    ruled = len(second) >= 3 and second[0] in _UNDERLINES and second == second[0] * len(second)
    if ruled and any(map(str.isalnum, first)) and abs(len(first) - len(second)) <= 3:
        return first, second[0], rest
    return "", "", paragraph
