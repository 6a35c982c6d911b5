"""Choosing k, depths and weights: every point of a grid, and what the choice is worth unseen.

The best of many points always looks good on the topics it was chosen on. So it is chosen again on
four fifths of them and measured on the rest, five times: that figure stands beside the other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from app.evaluation.protocols import Parameters
from app.evaluation.refuse import Field, Floats, Ints, positions
from store.errors import BadInput

DEFAULT_GRID = (
    "k=0;1;2;5;10;20;40;60;80;100, depth=10;25;50;100, weight.lexical=1/4;1/2;1;2;4, "
    "weighting=fixed;by share held"
)
FOLDS = 5
SEED = 20_000
MOST_POINTS = 20_000

_SWEPT = ("k", "depth", "weight", "weighting", "semantic")
_MEASURE = re.compile(r"(AP|RR)|(nDCG|R|P|Success)@([1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Fold:
    """Topics held out, and the point that was chosen without them."""

    topic_ids: tuple[str, ...]
    chosen: int


@dataclass(frozen=True, slots=True)
class Swept:
    """Every point of a grid under one measure. ``values`` has shape (points, topics).

    ``chosen`` is the point with the highest mean, the first of equal ones; ``in_sample`` is that
    mean, and ``out_of_fold`` the mean over the topics, each by the point chosen without it.
    """

    measure: str
    points: tuple[Parameters, ...]
    topic_ids: tuple[str, ...]
    values: Floats = field(compare=False)
    chosen: int
    in_sample: float
    out_of_fold: float
    folds: tuple[Fold, ...]

    def means(self) -> list[float]:
        """The mean of every point."""
        return [math.fsum(row) / len(self.topic_ids) for row in self.values.tolist()]


def read_grid(text: str) -> tuple[Parameters, ...]:
    """Every point of a grid such as ``k=10;60, depth=50;100, weight.lexical=1;2``.

    :raises BadInput: it cannot be read, or holds what needs another search or too many points
    """
    axes: list[list[tuple[str, str]]] = []
    for piece in text.split(","):
        key, equals, values = (part.strip() for part in piece.partition("="))
        entries = [value.strip() for value in values.split(";") if value.strip()]
        if not equals or not entries:
            raise BadInput(f"a grid is written k=10;60, depth=50;100, not {text!r}")
        if key.partition(".")[0] not in _SWEPT:
            raise BadInput(
                f"a sweep fuses the same lists again and cannot change {key!r}; it changes k, "
                "depth, weight, weighting and semantic"
            )
        axes.append([(key, value) for value in entries])
    count = math.prod(map(len, axes))
    if count > MOST_POINTS:
        raise BadInput(f"a grid has at most {MOST_POINTS:,} points, and this one has {count:,}")
    return tuple(
        Parameters(",".join(f"{key}={value}" for key, value in point), tuple(point))
        for point in product(*axes)
    )


def sweep(
    laid: Field,
    points: Sequence[Parameters],
    measure: str,
    progress: Callable[[int, int], None] | None = None,
) -> Swept:
    """Measure every point over every topic, choose, and cross-validate the choice.

    :raises BadInput: there are fewer than two topics, or the measure is not one of a sweep
    """
    topics = len(laid.topic_ids)
    if topics < 2:
        raise BadInput("a sweep needs at least two topics, one to choose on and one to measure on")
    measured = measure_of(measure)
    values = np.zeros((len(points), topics))
    for number, point in enumerate(points):
        values[number] = measured(laid, positions(laid, point.protocol()))
        if progress is not None:
            progress(number + 1, len(points))
    order = np.random.default_rng(SEED).permutation(topics)
    folds, unseen = [], np.zeros(topics)
    for held_out in np.array_split(order, min(FOLDS, topics)):
        chosen = _best(np.delete(values, held_out, axis=1))
        unseen[held_out] = values[chosen, held_out]
        names = tuple(laid.topic_ids[topic] for topic in sorted(held_out.tolist()))
        folds.append(Fold(names, chosen))
    best = _best(values)
    return Swept(
        measure,
        tuple(points),
        laid.topic_ids,
        values,
        best,
        math.fsum(values[best].tolist()) / topics,
        math.fsum(unseen.tolist()) / topics,
        tuple(folds),
    )


def measure_of(name: str) -> Callable[[Field, Ints], Floats]:
    """A measure of places, one value for each topic, as ir_measures defines it.

    :raises BadInput: a sweep does not know it
    """
    match = _MEASURE.fullmatch(name)
    if match is None:
        raise BadInput(
            f"a sweep measures AP, RR, or nDCG, R, P and Success with a cutoff, not {name!r}"
        )
    plain, cut, cutoff = match.groups()
    by_name = {"AP": _ap, "RR": _rr}
    if plain:
        return by_name[plain]
    n = int(cutoff)
    by_cutoff = {"nDCG": _ndcg, "R": _recall, "P": _precision, "Success": _success}
    return lambda laid, places: by_cutoff[cut](laid, places, n)


def _best(values: Floats) -> int:
    # Rounded: points that differ by rounding alone are equal, and the first one is chosen.
    return int(np.argmax(np.round(values.mean(axis=1), 12)))


def _labelled(laid: Field) -> NDArray[np.float64]:
    # A topic without a relevant document has no place to divide, and is 0.
    return np.array([max(1, len(grades)) for grades in laid.labelled], dtype=np.float64)


def _ap(laid: Field, places: Ints) -> Floats:
    found = np.sort(np.where(places > 0, places.astype(np.float64), np.inf), axis=1)
    hits = np.arange(1, found.shape[1] + 1) / found
    return np.asarray(hits.sum(axis=1) / _labelled(laid), dtype=np.float64)


def _rr(laid: Field, places: Ints) -> Floats:
    found = np.where(places > 0, places.astype(np.float64), np.inf)
    return np.asarray(1 / found.min(axis=1), dtype=np.float64)


def _within(places: Ints, n: int) -> NDArray[np.bool_]:
    return (places > 0) & (places <= n)


def _ndcg(laid: Field, places: Ints, n: int) -> Floats:
    discounts = np.log2(np.maximum(places, 1) + 1.0)
    gained = np.where(_within(places, n), laid.grades / discounts, 0.0).sum(axis=1)
    ideal = [
        math.fsum(grade / math.log2(place + 1) for place, grade in enumerate(grades[:n], 1))
        for grades in laid.labelled
    ]
    return np.asarray(gained / np.array([one or 1.0 for one in ideal]), dtype=np.float64)


def _recall(laid: Field, places: Ints, n: int) -> Floats:
    return np.asarray(_within(places, n).sum(axis=1) / _labelled(laid), dtype=np.float64)


def _precision(laid: Field, places: Ints, n: int) -> Floats:
    return np.asarray(_within(places, n).sum(axis=1) / n, dtype=np.float64)


def _success(laid: Field, places: Ints, n: int) -> Floats:
    return np.asarray(_within(places, n).any(axis=1), dtype=np.float64)
