"""The ways to fuse, each with what it looks at and what it takes for granted.

A way turns every list into votes: what each of its entries is given. A document's fused score is
the exact sum of its votes, whatever the way, so that the parts of a hit always add up and the order
depends on no order of addition. What is computed with floats (normalised scores) is a float, and
counts for exactly what that float is. Absence gives nothing in all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, sqrt

from app.query.exact_order import Votes
from app.query.ranking import Ranking
from store.errors import BadInput

MOST = 1e100
"""The largest engine score that is added to others; squares of it are still floats."""

Vote = Callable[[Sequence[Ranking], Sequence[Fraction], Fraction], list[Votes]]


@dataclass(frozen=True, slots=True)
class ScoredVotes(Votes):
    """Votes made of engine scores; ``normalised[i]`` is the score of ``ids[i]`` on the scale on
    which it was weighed."""

    normalised: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Fusion:
    """One way to fuse.

    ``uses`` says what of a list it looks at: its ranks or its engine scores. ``gives`` is what an
    entry is given, and ``assumes`` what has to be true for the sum to mean something. A way without
    ``k`` or ``weights`` has no such parameter; a ``convex`` one scales its weights to a sum of 1.
    """

    name: str
    title: str
    uses: str
    gives: str
    assumes: str
    vote: Vote
    k: bool = False
    weights: bool = True
    convex: bool = False


def _reciprocal_ranks(
    rankings: Sequence[Ranking], weights: Sequence[Fraction], k: Fraction
) -> list[Votes]:
    """Cormack, Clarke and Buettcher, SIGIR 2009."""
    return [
        reciprocal(ranking, weight, k) for ranking, weight in zip(rankings, weights, strict=True)
    ]


def reciprocal(ranking: Ranking, weight: Fraction, k: Fraction) -> Votes:
    """The votes weight / (k + rank) of one list."""
    top = weight.numerator * k.denominator
    step = weight.denominator * k.denominator
    start = weight.denominator * k.numerator
    bottoms = range(start + step, start + step * len(ranking.hits) + 1, step)
    return Votes(
        [hit.id for hit in ranking.hits],
        # Whole numbers are divided exactly and rounded once, whatever their size.
        [top / bottom for bottom in bottoms],
        lambda place: (top, bottoms[place]),
        top,
        bottoms[-1] if bottoms else 0,
    )


def _borda(rankings: Sequence[Ranking], weights: Sequence[Fraction], k: Fraction) -> list[Votes]:
    """Aslam and Montague, SIGIR 2001, moved so that absence gives 0.

    Among c candidates, rank r earns c - r + 1 points, and what is left of a list of n is shared
    evenly by the c - n others: (c - n + 1) / 2 each. Taking that from every document of the list
    leaves (c + n + 1) / 2 - r to those in it, nothing to the others, and the order as it was.
    """
    candidates = len({hit.id for ranking in rankings for hit in ranking.hits})
    return [
        _points(ranking, weight, candidates)
        for ranking, weight in zip(rankings, weights, strict=True)
    ]


def _points(ranking: Ranking, weight: Fraction, candidates: int) -> Votes:
    bottom = 2 * weight.denominator
    most = candidates + len(ranking.hits) + 1
    tops = [weight.numerator * (most - 2 * hit.rank) for hit in ranking.hits]
    return Votes(
        [hit.id for hit in ranking.hits],
        [top / bottom for top in tops],
        lambda place: (tops[place], bottom),
    )


def _comb_sum(rankings: Sequence[Ranking], weights: Sequence[Fraction], k: Fraction) -> list[Votes]:
    """Fox and Shaw, TREC-2, 1993."""
    return [_scored(ranking, raw := _raw(ranking), raw) for ranking in rankings]


def _comb_mnz(rankings: Sequence[Ranking], weights: Sequence[Fraction], k: Fraction) -> list[Votes]:
    """Fox and Shaw, TREC-2, 1993."""
    held = Counter(hit.id for ranking in rankings for hit in ranking.hits)
    return [
        _scored(
            ranking,
            raw := _raw(ranking),
            [score * held[hit.id] for hit, score in zip(ranking.hits, raw, strict=True)],
        )
        for ranking in rankings
    ]


def _normalised(scale: Callable[[Sequence[float]], Sequence[float]]) -> Vote:
    """The way of adding weighted scores after ``scale`` brought those of each list to one scale."""

    def vote(rankings: Sequence[Ranking], weights: Sequence[Fraction], k: Fraction) -> list[Votes]:
        lists: list[Votes] = []
        for ranking, weight in zip(rankings, weights, strict=True):
            scaled = scale(_raw(ranking))
            share = float(weight)
            lists.append(_scored(ranking, scaled, [share * score for score in scaled]))
        return lists

    return vote


def min_max(scores: Sequence[float]) -> list[float]:
    """``scores`` moved to [0, 1]; equal ones are all 1.

    >>> min_max([3.0, 2.0, 1.0]), min_max([7.0])
    ([1.0, 0.5, 0.0], [1.0])
    """
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    if low == high:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def z_scores(scores: Sequence[float]) -> list[float]:
    """How many standard deviations (of all of them) each is above the mean; equal ones are 0.

    >>> z_scores([2.0, 1.0, 0.0, 1.0])[1]
    0.0
    """
    if not scores:
        return []
    mean = fsum(scores) / len(scores)
    spread = sqrt(fsum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / spread if spread else 0.0 for score in scores]


def three_sigma(scores: Sequence[float]) -> list[float]:
    """0 and 1 stand three standard deviations (of a sample) below and above the mean, and what lies
    outside is left outside; equal ones are 1/2.

    >>> three_sigma([3.0, 0.0, -3.0, 3.0, -3.0])[1]
    0.5
    """
    if not scores:
        return []
    mean = fsum(scores) / len(scores)
    spread = sqrt(fsum((score - mean) ** 2 for score in scores) / max(1, len(scores) - 1))
    return [0.5 + (score - mean) / (6 * spread) if spread else 0.5 for score in scores]


def _raw(ranking: Ranking) -> list[float]:
    for hit in ranking.hits:
        if not abs(hit.score) <= MOST:
            raise BadInput(
                f"the {ranking.system} list gives {hit.id!r} the score {hit.score}, "
                "which cannot be added to others; fuse by ranks instead"
            )
    return [hit.score for hit in ranking.hits]


def _scored(ranking: Ranking, normalised: Sequence[float], values: Sequence[float]) -> ScoredVotes:
    return ScoredVotes(
        [hit.id for hit in ranking.hits],
        values,
        lambda place: values[place].as_integer_ratio(),
        normalised=normalised,
    )


FUSIONS = {
    fusion.name: fusion
    for fusion in (
        Fusion(
            "rrf",
            "reciprocal rank fusion",
            "ranks",
            "weight / (k + rank)",
            "the difference between ranks 1 and 2 means the same in every list",
            _reciprocal_ranks,
            k=True,
        ),
        Fusion(
            "borda",
            "Borda count",
            "ranks",
            "weight × ((candidates + length of the list + 1) / 2 - rank)",
            "one rank is worth the same at the top and at the bottom of a list",
            _borda,
        ),
        Fusion(
            "combsum",
            "CombSUM",
            "scores",
            "the engine's score",
            "the engines score on one scale",
            _comb_sum,
            weights=False,
        ),
        Fusion(
            "combmnz",
            "CombMNZ",
            "scores",
            "the engine's score × the number of lists that hold the document",
            "the engines score on one scale, and agreement is evidence of its own",
            _comb_mnz,
            weights=False,
        ),
        Fusion(
            "minmax",
            "convex sum of min-max scores",
            "scores",
            "weight × the score between the list's lowest, 0, and its highest, 1",
            "the best of every list is equally good, and so is the last, which gets nothing",
            _normalised(min_max),
            convex=True,
        ),
        Fusion(
            "zscore",
            "convex sum of z-scores",
            "scores",
            "weight × the standard deviations above the list's mean",
            "scores vary alike in every list; a document that is absent counts as an average one",
            _normalised(z_scores),
            convex=True,
        ),
        Fusion(
            "dbsf",
            "distribution-based score fusion",
            "scores",
            "weight × the score between the list's mean - 3 standard deviations, 0, and + 3, 1",
            "the scores of every list are spread like a normal distribution",
            _normalised(three_sigma),
        ),
    )
}


def fusion_named(name: str) -> Fusion:
    """The way of that name.

    :raises BadInput: there is none
    """
    try:
        return FUSIONS[name]
    except KeyError:
        raise BadInput(f"a fusion is {', '.join(FUSIONS)}, not {name!r}") from None
