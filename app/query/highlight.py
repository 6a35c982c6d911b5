"""Marking what a query matched in a text, at the right characters of the original.

Offsets are code points of the text as it is shown. A word is marked when it is a query word or
shares its stem in English or Spanish; a code when it folds to a query code or holds one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus.codes import find_codes, fold_code, part_forms
from corpus.terms import QueryTerms, word_spans
from corpus.text import normalise
from store.stems import stems

SNIPPET_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a passage: ``start`` is its offset there, ``marks`` are offsets in ``text``."""

    text: str
    start: int
    marks: tuple[tuple[int, int], ...]


def marks_in(text: str, query: QueryTerms) -> tuple[tuple[int, int], ...]:
    """Half-open spans of ``text`` that the query matched, in order and not overlapping."""
    wanted = set(query.words)
    wanted_stems = {stem for word in query.words for stem in stems(word)}
    codes = set(query.codes)
    found = []
    for word, start, end in word_spans(text):
        if word in wanted or not wanted_stems.isdisjoint(stems(word)):
            found.append((start, end))
    if codes:
        normalised = normalise(text)
        for code in find_codes(normalised.text):
            forms = {fold_code(code.text), *part_forms(code.text)}
            if not codes.isdisjoint(forms):
                found.append(normalised.original(code.start, code.end))
    return _merged(found)


def snippet(text: str, query: QueryTerms, length: int = SNIPPET_CHARACTERS) -> Snippet:
    """The stretch of ``text`` of about ``length`` characters that holds most marks.

    It begins and ends between words, so that no character or accent is cut in two.
    """
    marks = marks_in(text, query)
    start = _best_start(text, marks, length)
    end = min(len(text), start + length)
    if end < len(text):
        space = text.rfind(" ", start, end)
        end = space if space > start + length // 2 else end
    inside = tuple(
        (max(first, start) - start, min(last, end) - start)
        for first, last in marks
        if first < end and last > start
    )
    return Snippet(text[start:end], start, inside)


def _best_start(text: str, marks: Sequence[tuple[int, int]], length: int) -> int:
    if not marks or len(text) <= length:
        return 0
    best, most = 0, -1
    for first, _ in marks:
        covered = sum(1 for start, end in marks if start >= first and end <= first + length)
        if covered > most:
            best, most = first, covered
    # A little before the first mark, at the start of a line or sentence where one is near.
    earliest = max(0, min(best - length // 6, len(text) - length))
    for mark in ("\n", ". ", " "):
        found = text.rfind(mark, earliest, best)
        if found >= 0:
            return found + len(mark)
    return best if best - earliest > length // 3 else earliest


def _merged(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
