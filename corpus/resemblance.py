"""How alike two texts are: the share of their runs of words that is in both.

The resemblance of two texts is the Jaccard index of their sets of runs of ``RUN`` folded words
(shingles). A signature estimates it without the texts, and :func:`candidates` finds the pairs worth
an exact look without comparing all with all (MinHash, Broder 1997, looked up in bands). Nothing
here judges meaning: a translation of a text does not resemble it.

numpy is enough for this; datasketch, the well-kept library, would bring scipy along to save some
forty lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b, shake_256
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from corpus.terms import WORD, fold_words

RUN = 3
"""Words in a run."""

ALIKE = Fraction(4, 5)
"""Texts of at least this resemblance are nearly the same."""

BANDS = 32
ROWS = 4
"""A signature has BANDS * ROWS numbers. Two texts are looked at where one whole band agrees, which
happens to a pair of resemblance s with probability 1 - (1 - s**ROWS)**BANDS."""

PROMISING = 0.65
"""Pairs whose signatures agree in a smaller share of places are not compared exactly."""

NEIGHBOURS = 32
"""In a band that more texts share than this, each is paired with the next so many only, of its
own and of each other audience: ten thousand copies of one form must not become fifty million
pairs."""

SIGNATURE_VERSION = f"words{RUN}-minhash{BANDS}x{ROWS}-1"
"""Names everything that decides a signature and a resemblance."""

_AT_ONCE = 2048
_STEP = np.uint64(0x9E3779B97F4A7C15)
# Kept signatures must be the same for ever, which no random generator of numpy promises.
_FACTORS, _ADDENDS = np.frombuffer(
    shake_256(SIGNATURE_VERSION.encode()).digest(2 * 8 * BANDS * ROWS), "<u8"
).reshape(2, BANDS * ROWS) | np.uint64(1)


def word_runs(text: str) -> NDArray[np.uint64]:
    """The set of runs of words in ``text``, as sorted 64-bit hashes, shape (runs,).

    Case, accents, punctuation and line breaks make no difference. A text of fewer than ``RUN``
    words is one run, one without words has none.
    """
    words = np.fromiter((_key(match[0]) for match in WORD.finditer(fold_words(text))), np.uint64)
    if not len(words):
        return words
    length = min(RUN, len(words))
    count = len(words) - length + 1
    runs = np.zeros(count, np.uint64)
    for offset in range(length):
        runs = runs * _STEP + words[offset : offset + count]
    return np.unique(runs)


@lru_cache(maxsize=1 << 16)
def _key(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")


def shared_runs(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> tuple[int, int]:
    """How many runs are in both of two sets, and how many in either; their ratio is the
    resemblance."""
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared, len(one) + len(other) - shared


def percent(shared: int, total: int) -> int:
    """A resemblance in whole percent, rounded down: 100 is said of equal wording only.

    >>> percent(999, 1000)
    99
    """
    return shared * 100 // total


def signature(runs: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The MinHash signature of a set of runs, shape (BANDS * ROWS,).

    The share of places where two signatures agree estimates the resemblance with a standard error
    of at most 0.045. Takes time in proportion to the number of runs and no memory to speak of.

    :raises ValueError: the set is empty
    """
    if not len(runs):
        raise ValueError("a text without words has no signature")
    least = np.full(BANDS * ROWS, 2**32 - 1, np.uint32)
    for start in range(0, len(runs), _AT_ONCE):
        part = runs[start : start + _AT_ONCE, None]
        hashed = ((part * _FACTORS + _ADDENDS) >> np.uint64(32)).min(axis=0)
        np.minimum(least, hashed.astype(np.uint32), out=least)
    return least


def candidates(
    signatures: NDArray[np.uint32], audiences: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """The pairs of rows of ``signatures``, shape (texts, BANDS * ROWS), that may be alike.

    ``audiences``, shape (texts,), numbers who may read each text. Whether a pair is found depends
    on the texts of its own two audiences alone.

    Ascending pairs of row numbers, the lower one first. A pair of resemblance ``ALIKE`` is missed
    with a probability below 1 in 10,000, a more alike one with a smaller one, as long as no more
    than ``NEIGHBOURS`` texts of their audiences share a band with it.
    """
    count = len(signatures)
    found = [
        _same_band(signatures[:, at : at + ROWS], audiences) for at in range(0, BANDS * ROWS, ROWS)
    ]
    ones, others = np.divmod(np.unique(np.concatenate(found)), max(count, 1))
    pairs: list[tuple[int, int]] = []
    for start in range(0, len(ones), _AT_ONCE):
        one, other = ones[start : start + _AT_ONCE], others[start : start + _AT_ONCE]
        promising = (signatures[one] == signatures[other]).mean(axis=1) >= PROMISING
        pairs += zip(one[promising].tolist(), other[promising].tolist(), strict=True)
    return pairs


def _same_band(band: NDArray[np.uint32], audiences: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs of equal rows of ``band``, shape (texts, ROWS), each as lower * texts + higher."""
    count = len(band)
    # The sort is stable: equal rows lie together, in ascending order of their numbers.
    order = np.lexsort(band.T).astype(np.int64)
    ordered = band[order]
    found = [np.empty(0, np.int64)]
    for ahead in range(1, min(NEIGHBOURS, count - 1) + 1):
        equal = (ordered[ahead:] == ordered[:-ahead]).all(axis=1)
        # Equal rows have only equal ones between them, so none further apart are equal either.
        if not equal.any():
            break
        found.append(order[:-ahead][equal] * count + order[ahead:][equal])
    else:
        # Some may share their band with more, among whom those of other audiences must not count.
        starts = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)])
        for rows in np.split(order, starts[1:]):
            if len(rows) > NEIGHBOURS + 1:
                found += [one * count + other for one, other in _between(rows, audiences[rows])]
    return np.concatenate(found)


def _between(
    rows: NDArray[np.int64], audiences: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The pairs of neighbours among ascending ``rows`` of each one and each two of audiences."""
    present = np.unique(audiences).tolist()
    for one, other in combinations_with_replacement(present, 2):
        both = rows[(audiences == one) | (audiences == other)]
        for ahead in range(1, min(NEIGHBOURS, len(both) - 1) + 1):
            yield both[:-ahead], both[ahead:]
