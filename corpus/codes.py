"""Finding the codes in a text: part numbers, alarm codes, parameters, flags, versions, threads.

A code is recognised by its shape and compared folded, that is without case and separators, so that
``AX-2041/B``, ``ax2041b`` and ``AX 2041 B`` are one code. What is shared with fragments of a code
is kept apart (:func:`part_forms`), so that an exact code can beat a part of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from corpus.text import normalise_text

_SEPARATORS = re.compile(r"[-/._:#+=]+")
_JOINED = re.compile(r"(?<![^\W_])(?:--?)?[^\W_]+(?:[-/._:#+=]{1,2}[^\W_]+)*", re.UNICODE)
_SPACED = re.compile(r"(?<![\w-])[A-Z]{1,4} \d{2,}[A-Z]?(?: [A-Z]\d?|[ ]\d{1,3})?(?![\w-])")
_LETTER_DIGIT = re.compile(r"\d+|[^\W\d_]+")

MAX_PARTS = 8
"""Longer runs are paths or sentences glued together; their parts are found as words."""


@dataclass(frozen=True, slots=True)
class Code:
    """A code as it stands in the text: ``start`` and ``end`` are half-open code-point offsets."""

    text: str
    start: int
    end: int


def find_codes(text: str) -> Iterator[Code]:
    """The codes of a normalised text, in order; spaced forms may repeat a joined one's place.

    >>> [code.text for code in find_codes("Relé AX-2041/B, error 0x80070005, run two-column")]
    ['AX-2041/B', '0x80070005']
    """
    for match in _JOINED.finditer(text):
        if _is_code(match.group()):
            yield Code(match.group(), match.start(), match.end())
    for match in _SPACED.finditer(text):
        yield Code(match.group(), match.start(), match.end())


def _is_code(token: str) -> bool:
    if token.startswith("--"):
        return True
    digits = any(character.isdigit() for character in token)
    letters = any(character.isalpha() for character in token)
    separated = _SEPARATORS.search(token.lstrip("-")) is not None
    if digits:
        return letters or separated
    return "_" in token or (separated and token.lstrip("-").isupper())


def fold_code(code: str) -> str:
    """The form under which spellings of one code meet.

    >>> fold_code("AX-2041/B") == fold_code("ax2041b") == fold_code("AX 2041 B") == "ax2041b"
    True
    """
    return re.sub(r"[\W_]+", "", normalise_text(code).casefold())


def part_forms(code: str) -> tuple[str, ...]:
    """Folded runs of neighbouring parts of a code, longest first, without the whole.

    >>> part_forms("AX-2041/B")
    ('ax2041', '2041b', 'ax', '2041', 'b')
    """
    parts = [
        piece.casefold()
        for chunk in _SEPARATORS.split(code.lstrip("-"))
        for piece in _LETTER_DIGIT.findall(chunk)
    ]
    if not 1 < len(parts) <= MAX_PARTS:
        return ()
    whole = "".join(parts)
    forms = (
        "".join(parts[start : start + size])
        for size in range(len(parts) - 1, 0, -1)
        for start in range(len(parts) - size + 1)
    )
    return tuple(form for form in dict.fromkeys(forms) if form != whole)
