"""How alike two ranked lists are, and whether two systems are really two opinions.

Rank-biased overlap (Webber, Moffat and Zobel, TOIS 2010) compares what two lists hold down to each
depth and gives depth d the weight p ** (d - 1): with p = 0.9 the first ten places carry 86 % of it.
It is extrapolated: what lies beyond the lists is taken to agree as much as what was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, zip_longest
from math import fsum

from app.query.protocol import Protocol
from app.query.ranking import Ranking
from store.errors import BadInput

P = Fraction(9, 10)
"""How far down a reader looks: the chance of going on from one place to the next."""

ALIKE = Fraction(9, 10)
"""Systems whose lists have at least this mean rank-biased overlap are nearly the same."""

LEAST_SEARCHES = 5
"""Of fewer searches nothing is said."""

LEAST_HITS = 10
"""Of shorter lists of a single search nothing is said."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike the lists of two systems were over ``searches``: means from 0 to 1.

    ``overlap`` is the share of the documents of the shorter list that the longer one holds.
    ``votes`` is the sum of the two effective weights, ``family`` their common one or empty.
    """

    first: str
    second: str
    searches: int
    rbo: float
    overlap: float
    votes: Fraction
    family: str = ""

    @property
    def near_identical(self) -> bool:
        """Whether these are hardly two opinions."""
        return self.searches >= LEAST_SEARCHES and self.rbo >= ALIKE

    @property
    def sentence(self) -> str:
        """What a reader should know.

        >>> Likeness("lexical", "copy", 40, 0.974, 1.0, Fraction(2)).sentence
        'lexical and copy agree 97 % (RBO, p = 0.9, 40 searches): together they have two votes'
        """
        rbo = f"RBO, p = {float(P)}, {self.searches} search{'es' if self.searches != 1 else ''}"
        votes = {Fraction(1): "one vote", Fraction(2): "two votes"}.get(
            self.votes, f"{self.votes} votes"
        )
        share = f"{'share' if self.family else 'have'} {votes}"
        # Rounded down: 100 % is said of equal lists only.
        percent = int(self.rbo * 100 + 1e-9)
        return f"{self.first} and {self.second} agree {percent} % ({rbo}): together they {share}"


def rank_biased_overlap(first: Sequence[str], second: Sequence[str], p: Fraction = P) -> float:
    """The extrapolated rank-biased overlap of two lists of ids, from 0 to 1.

    Two empty lists agree; an empty and another one do not.

    >>> rank_biased_overlap("AB", "AB"), rank_biased_overlap("AB", "CD")
    (1.0, 0.0)

    :raises BadInput: p is not between 0 and 1, or a list holds an id twice
    """
    if not 0 < p < 1:
        raise BadInput(f"p is between 0 and 1, not {p}")
    for ids in (first, second):
        if len(set(ids)) < len(ids):
            raise BadInput("a list that holds an id twice has no rank-biased overlap")
    short, long = sorted((first, second), key=len)
    if not short:
        return float(not long)
    base = float(p)
    shared = _shared(short, long)
    seen, whole = len(short), len(long)
    terms = [shared[depth - 1] / depth * base**depth for depth in range(1, whole + 1)]
    # Beyond its end the shorter list is taken to agree as it did down to there.
    terms += [
        shared[seen - 1] * (depth - seen) / (seen * depth) * base**depth
        for depth in range(seen + 1, whole + 1)
    ]
    beyond = (shared[-1] - shared[seen - 1]) / whole + shared[seen - 1] / seen
    return min(1.0, (1 - base) / base * fsum(terms) + beyond * base**whole)


def _shared(short: Sequence[str], long: Sequence[str]) -> list[int]:
    """How many ids the first d of both hold, for each depth d from 1 to that of the longer list."""
    counts = []
    count = 0
    before: set[str] = set()
    behind: set[str] = set()
    for name, other in zip_longest(long, short):
        count += (name == other) or (name in behind) + (other in before)
        before.add(name)
        behind.add(other)
        counts.append(count)
    return counts


def overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of the shorter list that the longer one holds; of an empty list 0, of two 1."""
    if not first or not second:
        return float(not first and not second)
    return len(set(first) & set(second)) / min(len(first), len(second))


def likenesses(searches: Sequence[Sequence[Ranking]], protocol: Protocol) -> tuple[Likeness, ...]:
    """The likeness of every two systems of ``protocol`` over the lists of some searches, in the
    protocol's order.

    A search counts where both systems were asked, could answer, and found something between them.
    """
    weights = {
        system.name: weight
        for system, weight in zip(protocol.systems, protocol.effective_weights, strict=True)
    }
    found = []
    for one, other in combinations(protocol.systems, 2):
        pairs = [
            (lists[one.name], lists[other.name])
            for rankings in searches
            if (lists := _answers(rankings)).keys() >= {one.name, other.name}
            and (lists[one.name] or lists[other.name])
        ]
        if pairs:
            found.append(
                Likeness(
                    one.name,
                    other.name,
                    len(pairs),
                    fsum(rank_biased_overlap(*pair) for pair in pairs) / len(pairs),
                    fsum(overlap(*pair) for pair in pairs) / len(pairs),
                    weights[one.name] + weights[other.name],
                    one.family if one.family == other.family else "",
                )
            )
    return tuple(found)


def alike_here(rankings: Sequence[Ranking], protocol: Protocol) -> tuple[str, ...]:
    """A sentence for every two systems whose lists of this one search are nearly the same.

    Of lists with fewer than ``LEAST_HITS`` documents nothing is said: they agree by having little
    to disagree about.
    """
    long = [ranking for ranking in rankings if len(ranking.hits) >= LEAST_HITS]
    return tuple(f"{pair.sentence}." for pair in likenesses([long], protocol) if pair.rbo >= ALIKE)


def _answers(rankings: Sequence[Ranking]) -> dict[str, list[str]]:
    return {
        ranking.system: [hit.id for hit in ranking.hits]
        for ranking in rankings
        if not (ranking.unavailable or ranking.not_asked)
    }
