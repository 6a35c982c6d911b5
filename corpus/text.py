"""Text as it is stored, and text as it is matched.

``clean`` is applied once, when a file is read. ``normalise`` is applied to passages and to queries
alike, and can say where in the stored text each normalised character came from.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_DASHES = "\u02d7\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SPACES = "\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_UNSEEN = (
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff"
)


def _expand(ranges: str) -> str:
    """Write out a character class such as ``a-cx`` as ``abcx``."""
    spans = re.findall(r"(.)-(.)|(.)", ranges)
    return "".join(
        single or "".join(map(chr, range(ord(low), ord(high) + 1))) for low, high, single in spans
    )


# Look-alikes of one meaning. Cyrillic and Greek letters that only resemble Latin ones are words of
# another script and stay as they are; so do super- and subscripts, which change what is said.
_MAP: dict[str, str] = {
    **dict.fromkeys(_expand(_UNSEEN), ""),
    **dict.fromkeys(_expand(_SPACES), " "),
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(_DASHES, "-"),
    "\u00b5": "\u03bc",
    "\u2126": "\u03a9",
    "\u2103": "\u00b0C",
    "\u2109": "\u00b0F",
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
    "\uffe0": "\u00a2",
    "\uffe1": "\u00a3",
    "\uffe2": "\u00ac",
    "\uffe4": "\u00a6",
    "\uffe5": "\u00a5",
    "\uffe6": "\u20a9",
}
_MAPPED = re.compile("[" + re.escape("".join(_MAP)) + "]")
# Below U+0300 nothing combines, so only these runs, with the character before them, can change.
_RUN = re.compile("[\x00-\u02ff]?[\u00a0\u00ad\u00b5\u02d7\u0300-\U0010ffff]+")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Make decoded text fit to be stored: one kind of line end, nothing a database chokes on.

    NUL and other control characters become spaces, lone surrogates become U+FFFD, CR LF and CR
    become LF, and U+FEFF is removed. Everything else is kept as it was written.

    >>> clean("AX\\x00B\\r\\n")
    'AX B\\n'
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = _SURROGATES.sub("\ufffd", text.replace("\ufeff", ""))
    return _CONTROLS.sub(" ", text)


_Edits = tuple["array[int]", "array[int]", "array[int]", "array[int]"]


@dataclass(frozen=True, slots=True)
class Normalised:
    """Text for matching, with the way back to the text it came from.

    ``edits`` is None when nothing was changed. Otherwise it holds four arrays of equal length, one
    entry for each changed stretch in ascending order: start and end in ``text``, start and end in
    the original, all code-point offsets. An entry that is empty in ``text`` is a removal.
    """

    text: str
    edits: _Edits | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Map a half-open span of ``text`` to the span of the original that it came from.

        A span that begins or ends within a changed stretch is widened to the whole stretch. An
        empty span maps to an empty span. Raises ValueError for a span outside the text.
        """
        if not 0 <= start <= end <= len(self.text):
            raise ValueError(f"[{start}, {end}) is not a span of {len(self.text)} characters")
        if self.edits is None:
            return start, end
        first = _source(self.edits, start)[0]
        return first, (first if start == end else _source(self.edits, end - 1)[1])


def _source(edits: _Edits, position: int) -> tuple[int, int]:
    """Return the span of the original that the character at ``position`` came from."""
    starts, ends, original_starts, original_ends = edits
    index = bisect_right(starts, position) - 1
    if index < 0:
        return position, position + 1
    if position < ends[index]:
        return original_starts[index], original_ends[index]
    source = original_ends[index] + position - ends[index]
    return source, source + 1


def normalise_text(text: str) -> str:
    """Return ``normalise(text).text`` without the cost of the way back.

    >>> normalise_text("AX\\u20112041 \\ufb01ltro")
    'AX-2041 filtro'
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _MAPPED.sub(lambda match: _MAP[match[0]], text))


def normalise(text: str) -> Normalised:
    """Normalise text for matching, the same way for passages and for queries.

    Unicode NFC, and look-alikes folded: micro and ohm signs, full-width forms, ligatures, every
    dash to ``-``, every space to `` ``; soft hyphens, zero-width and direction marks are removed.
    Case and accents are kept. The result is a fixed point.
    """
    if text.isascii() or (_MAPPED.search(text) is None and unicodedata.is_normalized("NFC", text)):
        return Normalised(text)
    parts: list[str] = []
    edits = (array("I"), array("I"), array("I"), array("I"))
    copied = length = 0
    for start, end, replacement in _changes(text):
        parts += (text[copied:start], replacement)
        length += start - copied
        for column, value in zip(
            edits, (length, length + len(replacement), start, end), strict=True
        ):
            column.append(value)
        length += len(replacement)
        copied = end
    parts.append(text[copied:])
    return Normalised("".join(parts), edits)


def _changes(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the stretches of ``text`` that normalisation alters, each with what replaces it."""
    for run in _RUN.finditer(text):
        piece = run[0]
        if _MAPPED.search(piece) is None and unicodedata.is_normalized("NFC", piece):
            continue
        start = run.start()
        for end in _cluster_ends(text, start, run.end()):
            yield from _cluster_changes(text, start, end)
            start = end


def _cluster_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where the smallest stretches end that NFC treats independently of each other."""
    for position in range(start + 1, end):
        if not _joins(text[position]):
            yield position
    yield end


def _joins(character: str) -> bool:
    """Say whether a character may be removed, or compose or reorder with those before it."""
    if unicodedata.category(character) in ("Mn", "Mc", "Me") or not _MAP.get(character, "x"):
        return True
    # Jamo vowels and finals, and the vowel signs of Kirat Rai, compose although they are letters.
    return "\u1160" <= character <= "\u11ff" or "\U00016d60" <= character <= "\U00016d7f"


def _cluster_changes(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield the change of one cluster, with removals at its end kept apart from the letter."""
    tail = end
    while tail > start and _MAP.get(text[tail - 1], "x") == "":
        tail -= 1
    cluster = text[start:tail]
    changed = normalise_text(cluster)
    if changed != cluster:
        yield start, tail, changed
    if tail < end:
        yield tail, end, ""
