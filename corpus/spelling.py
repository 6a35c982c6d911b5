"""How far a word may be off to be a misspelling, and which codes look alike.

Words differ by edits: a letter put in, left out or exchanged, or two neighbours that changed
places. Codes differ by characters that are mistaken for one another, and by nothing else: E-417 and
E-471 are two alarms, and neither is a misspelling of the other.
"""

from __future__ import annotations

LEAST_LETTERS = 4
"""Shorter words have a neighbour for every slip; nothing can be concluded from one."""

FORGIVING_LETTERS = 8
"""From this length a word may be two edits off, below it one."""

CONFUSABLE = ("0o", "1il", "2z", "5s", "6g", "8b")
"""Characters that are read or typed for one another, as in O and 0, I, l and 1."""

_ONE_OF_EACH = str.maketrans(
    {character: alike[0] for alike in CONFUSABLE for character in alike[1:]}
)


def edits_allowed(word: str) -> int:
    """How many edits a folded word may be off; 0 where it is too short, or not letters alone.

    >>> edits_allowed("pmup"), edits_allowed("wacthdog"), edits_allowed("g28"), edits_allowed("the")
    (1, 2, 0, 0)
    """
    if len(word) < LEAST_LETTERS or not word.isalpha():
        return 0
    return 1 if len(word) < FORGIVING_LETTERS else 2


def look_alike(code: str) -> str:
    """One form for all folded codes that differ only by characters mistaken for one another.

    >>> look_alike("ax2o41") == look_alike("ax2041") != look_alike("ax2047")
    True
    """
    return code.translate(_ONE_OF_EACH)
