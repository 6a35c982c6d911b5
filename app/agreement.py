"""How far judges agree, with intervals, and where they do not.

Agreement is counted on blind labels of one revision of a document: who saw a rank was told what
others were not, and who read another text did not judge the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from corpus.judging import GRADES, Judgment, standing

RESAMPLES = 2_000
CONFIDENCE = 0.95
_STEPS = len(GRADES)

Matrices = NDArray[np.float64]
"""Shape (n, 4, 4): how often grade c stands beside grade k."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient over ``pairs`` documents of topics; 1 is full agreement, 0 that of chance.

    None where it is undefined: nothing was judged twice, or everything got one and the same grade.
    ``low`` and ``high`` are the ends of the percentile bootstrap interval, of 95 %.
    """

    value: float | None
    low: float | None
    high: float | None
    pairs: int


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges and their weighted kappa on what both of them graded."""

    first: str
    second: str
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A document that judges gave different grades for a topic.

    ``grades`` are those of each judge, by name; ``adjudicated`` is the last adjudicator's label.
    """

    topic_id: str
    doc_id: str
    grades: tuple[tuple[str, int], ...]
    adjudicated: Judgment | None

    @property
    def spread(self) -> int:
        """From the lowest to the highest grade, 1 to 3."""
        given = [grade for _, grade in self.grades]
        return max(given) - min(given)


@dataclass(frozen=True, slots=True)
class Agreement:
    """``alpha`` is Krippendorff's, for ordinal grades, over all judges; ``graded`` are the
    revisions with any grade for a topic, ``not_blind`` the labels left out."""

    alpha: Estimate
    kappas: tuple[JudgePair, ...]
    disagreements: tuple[Disagreement, ...]
    graded: int
    not_blind: int


def agreement(judgments: Iterable[Judgment], *, seed: int = 0) -> Agreement:
    """The agreement of the judges of one project; ``seed`` makes the intervals repeatable."""
    last = standing(judgments)
    votes = [label for label in last if label.role == "judge" and label.grade is not None]
    units: dict[tuple[str, str, int], dict[str, int]] = {}
    for label in votes:
        if label.blind and label.grade is not None:
            read = (label.topic_id, label.doc_id, label.revision)
            units.setdefault(read, {})[label.judge] = label.grade
    several = [list(unit.values()) for unit in units.values() if len(unit) > 1]
    kappas = []
    for first, second in combinations(
        sorted({name for unit in units.values() for name in unit}), 2
    ):
        both = [
            (unit[first], unit[second])
            for unit in units.values()
            if first in unit and second in unit
        ]
        if both:
            kappas.append(JudgePair(first, second, _estimate(_beside(both), _kappas, seed)))
    return Agreement(
        alpha=_estimate(_coincidences(several), _alphas, seed),
        kappas=tuple(kappas),
        disagreements=disagreements(last),
        graded=len(units),
        not_blind=sum(not label.blind for label in votes),
    )


def disagreements(judgments: Iterable[Judgment]) -> tuple[Disagreement, ...]:
    """Every document with different grades for a topic, blind or not and whatever its revision, the
    furthest apart first, then by id."""
    given: dict[tuple[str, str], dict[str, int]] = {}
    settled: dict[tuple[str, str], Judgment] = {}
    for label in standing(judgments):
        pair = (label.topic_id, label.doc_id)
        if label.role == "adjudicator":
            settled[pair] = label
        elif label.grade is not None:
            given.setdefault(pair, {})[label.judge] = label.grade
    found = [
        Disagreement(
            topic_id, doc_id, tuple(sorted(grades.items())), settled.get((topic_id, doc_id))
        )
        for (topic_id, doc_id), grades in given.items()
        if len(set(grades.values())) > 1
    ]
    return tuple(sorted(found, key=lambda one: (-one.spread, one.topic_id, one.doc_id)))


def weighted_kappa(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Cohen's kappa with quadratic weights of two judges' grades of the same things.

    None where it is undefined: nothing was graded, or both gave one and the same grade throughout.

    :raises ValueError: the two are not equally many
    """
    return _defined(_kappas(_beside(list(zip(first, second, strict=True))).sum(axis=0)[None]))


def krippendorff_alpha(units: Iterable[Sequence[int]]) -> float | None:
    """Krippendorff's alpha with the ordinal metric; each unit holds the grades that it was given.

    Units with fewer than two grades say nothing and are left out. None where it is undefined:
    nothing was graded twice, or everything got one and the same grade.
    """
    several = [unit for unit in units if len(unit) > 1]
    return _defined(_alphas(_coincidences(several).sum(axis=0)[None]))


def _beside(pairs: Sequence[tuple[int, int]]) -> Matrices:
    """For each pair of grades a matrix with a 1 at their place."""
    matrices = np.zeros((len(pairs), _STEPS, _STEPS))
    for place, (first, second) in enumerate(pairs):
        matrices[place, first, second] = 1
    return matrices


def _coincidences(units: Sequence[Sequence[int]]) -> Matrices:
    """For each unit of m grades, its ordered pairs of different judges' grades, each 1/(m - 1)."""
    matrices = np.zeros((len(units), _STEPS, _STEPS))
    for place, unit in enumerate(units):
        counts = np.bincount(unit, minlength=_STEPS).astype(float)
        matrices[place] = (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    return matrices


def _kappas(sums: Matrices) -> NDArray[np.float64]:
    """1 - observed / expected disagreement, of each matrix of counts; NaN where undefined."""
    steps = np.arange(_STEPS)
    weights = (steps[:, None] - steps[None, :]) ** 2
    totals = sums.sum(axis=(1, 2))
    expected = np.einsum("ni,nj->nij", sums.sum(axis=2), sums.sum(axis=1))
    return _one_minus((sums * weights).sum(axis=(1, 2)) * totals, (expected * weights).sum((1, 2)))


def _alphas(sums: Matrices) -> NDArray[np.float64]:
    """As above, of matrices of coincidences; how far two grades are apart is how many grades were
    given from one to the other, with half of each of the two."""
    given = sums.sum(axis=2)
    below = np.cumsum(given, axis=1)
    # Of the grades from c to k, c < k: all up to k, less those below c, less half of each end.
    reach = below[:, None, :] - below[:, :, None] + given[:, :, None]
    reach = reach - (given[:, :, None] + given[:, None, :]) / 2
    upper = np.triu(reach**2, k=1)
    weights = upper + upper.transpose(0, 2, 1)
    expected = np.einsum("ni,nj->nij", given, given)
    observed = (sums * weights).sum(axis=(1, 2)) * (given.sum(axis=1) - 1)
    return _one_minus(observed, (expected * weights).sum(axis=(1, 2)))


def _one_minus(observed: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    share = np.full(observed.shape, np.nan)
    np.divide(observed, expected, out=share, where=expected > 0)
    return 1 - share


def _defined(values: NDArray[np.float64]) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])


def _estimate(
    matrices: Matrices, measure: Callable[[Matrices], NDArray[np.float64]], seed: int
) -> Estimate:
    """A coefficient with its interval: pairs are drawn with replacement, as many as there are."""
    pairs = len(matrices)
    value = _defined(measure(matrices.sum(axis=0)[None]))
    if value is None or pairs < 2:
        return Estimate(value, None, None, pairs)
    drawn = np.random.default_rng(seed).multinomial(pairs, np.full(pairs, 1 / pairs), RESAMPLES)
    flat = drawn @ matrices.reshape(pairs, _STEPS * _STEPS)
    values = measure(flat.reshape(RESAMPLES, _STEPS, _STEPS))
    # A sample may hold one grade only; it says nothing, rather than full agreement or none.
    values = values[~np.isnan(values)]
    if len(values) < RESAMPLES / 2:
        return Estimate(value, None, None, pairs)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Estimate(value, float(low), float(high), pairs)
