"""The words and codes of a lexical index, arranged so that those near to a misspelt one are found.

A word's letters are kept as bits. One edit brings at most one letter and takes at most one away,
which leaves a few hundred of all words to be compared letter by letter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import tantivy
from numpy.typing import NDArray

from corpus.spelling import look_alike

LONGEST_WORD = 40
"""Longer words are no words: addresses, sums, text that lost its spaces."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Every word of letters alone, with its length and its letters as bits; and every code by
    what it looks like."""

    words: tuple[str, ...]
    lengths: NDArray[np.int64]
    letters: NDArray[np.uint64]
    codes: Mapping[str, tuple[str, ...]]

    def near(self, word: str, most: int) -> tuple[tuple[str, ...], ...]:
        """The words that are 1 edit, 2 edits, up to ``most`` edits from ``word``."""
        _, (letters,) = _columns((word,))
        close = np.abs(self.lengths - len(word)) <= most
        close &= np.bitwise_count(self.letters & ~letters) <= most
        close &= np.bitwise_count(letters & ~self.letters) <= most
        compared = tuple(self.words[number] for number in np.flatnonzero(close))
        edits = _edits(word, compared)
        return tuple(
            tuple(compared[number] for number in np.flatnonzero(edits == ring))
            for ring in range(1, most + 1)
        )


def vocabulary_of(searcher: tantivy.Searcher) -> Vocabulary:
    """Read the dictionaries of an open index, a second or less for a large one."""
    words = {
        term
        for field in ("words", "title", "headings")
        for term, _ in searcher.terms_with_prefix(field, "")
        if len(term) <= LONGEST_WORD and term.isalpha()
    }
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for code, _ in searcher.terms_with_prefix("codes", ""):
        alike[look_alike(code)].append(code)
    ordered = tuple(sorted(words))
    lengths, letters = _columns(ordered)
    return Vocabulary(
        ordered, lengths, letters, {look: tuple(codes) for look, codes in alike.items()}
    )


def _columns(words: tuple[str, ...]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """The length of each word and its letters as bits, 64 of them shared by all letters."""
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    if not words:
        return lengths, np.zeros(0, dtype=np.uint64)
    characters = np.frombuffer("".join(words).encode("utf-32-le"), dtype=np.uint32)
    bits = np.left_shift(np.uint64(1), (characters & 63).astype(np.uint64))
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    return lengths, np.bitwise_or.reduceat(bits, starts)


def _edits(word: str, others: tuple[str, ...]) -> NDArray[np.int64]:
    """How many edits make each of ``others`` of ``word``, each letter edited once; shape (n,).

    The usual table of beginnings against beginnings, with all of the others side by side.
    """
    if not others:
        return np.zeros(0, dtype=np.int64)
    table = np.array(others)
    letters = table.view(np.uint32).reshape(len(others), -1).T
    places = np.arange(len(letters) + 1, dtype=np.int16)[:, None]
    earlier = above = np.repeat(places, len(others), axis=1)
    before = 0
    for row, letter in enumerate(map(ord, word), start=1):
        best = np.full_like(above, row)
        best[1:] = np.minimum(above[1:] + 1, above[:-1] + (letters != letter))
        swapped = (letters[:-1] == letter) & (letters[1:] == before)
        best[2:] = np.where(swapped, np.minimum(best[2:], earlier[:-2] + 1), best[2:])
        # A letter put in costs one more than the beginning that is one shorter.
        earlier, above, before = (
            above,
            np.minimum.accumulate(best - places, axis=0) + places,
            letter,
        )
    return above[np.char.str_len(table), np.arange(len(others))].astype(np.int64)
