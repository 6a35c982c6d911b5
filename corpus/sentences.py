"""Where sentences end, in English and in Spanish; a blank line ends one as well.

Text is cut rather too seldom than too often: two sentences taken for one still say the same, half a
sentence does not. The kept libraries for this bring a model, or are kept no longer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ABBREVIATION = re.compile(
    r"e\.?g|i\.?e|(?:p\.)?ej|cf|viz|vs|approx|aprox|incl|excl|resp|ca|mr|mrs|ms|dr|dra|sr|sra|srta"
    r"|prof|ing|uds?|ee|inc|ltd"
)
_BEFORE_NUMBER = re.compile(
    r"nos?|nr|n\.?º|núms?|nums?|figs?|págs?|pags?|pp?|vol|caps?|chap|ch|arts?|sect?|eq|ec|refs?|tab"
    r"|rev|ver|v"
)
_END = re.compile(r"([.!?…]+)([\"'”’»)\]*_]*)\s+|\s*\n\s*\n\s*")
_OPENING = "\"'“‘«¿¡([{*_-–—•"
_ORDINAL = re.compile(r"[(\[]?(?:\d{1,3}|[a-z])[.)]*")
_INITIAL = re.compile(r"[A-ZÁÉÍÓÚÑ]\.\s*")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """The half-open spans of the sentences of ``text``, in order, without white space around them.

    >>> [text[a:b] for text in ["See fig. 3. Drain it, e.g. by hand."] for a, b in sentences(text)]
    ['See fig. 3.', 'Drain it, e.g. by hand.']
    """
    start = 0
    for match in _END.finditer(text):
        if _ends(text, start, match):
            yield from _visible(text, start, match.end())
            start = match.end()
    yield from _visible(text, start, len(text))


def _visible(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if stripped := piece.strip():
        first = start + len(piece) - len(piece.lstrip())
        yield first, first + len(stripped)


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a sentence that began at ``start`` ends with the marks of ``match``."""
    if match[1] is None:
        return True  # a blank line
    following = text[match.end() : match.end() + 40].lstrip(_OPENING)
    if not following or following[0].islower():
        return not following
    if match[1] != "." or match[2]:
        return True
    before = text[start : match.start()].split()
    word = before[-1].lstrip(_OPENING).lower() if before else ""
    if _ABBREVIATION.fullmatch(word):
        return False
    if following[0].isdigit() and _BEFORE_NUMBER.fullmatch(word):
        return False
    if len(before) == 1 and _ORDINAL.fullmatch(before[0]):
        return False
    initial = bool(before) and len(before[-1]) == 1 and before[-1].isupper()
    earlier = len(before) > 1 and _INITIAL.fullmatch(before[-2]) is not None
    return not (initial and (earlier or _INITIAL.match(following) is not None))
