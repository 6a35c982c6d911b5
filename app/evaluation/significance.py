"""Whether a difference over topics could be chance: intervals, tests, and their correction.

Everything random is drawn from a stated seed, so that the same inputs give the same figures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SEED = 20_000
RESAMPLES = 10_000
CONFIDENCE = 0.95
BATCH = 500

EXACT_UP_TO = 13
"""Topics for which every way of flipping signs is tried, instead of random ones."""

SAME = 1e-12
"""Differences up to this are rounding and count as none."""

Floats = NDArray[np.float64]


def intervals(differences: Floats) -> tuple[Floats, Floats]:
    """Bounds of the mean of each column, by the percentile bootstrap over topics.

    ``differences`` has shape (topics, comparisons); all comparisons share the same resamples.
    """
    topics = len(differences)
    if not topics:
        raise ValueError("an interval needs at least one topic")
    random = np.random.default_rng(SEED)
    shares = np.full(topics, 1 / topics)
    means = [
        random.multinomial(topics, shares, size=BATCH) @ differences / topics
        for _ in range(RESAMPLES // BATCH)
    ]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail], axis=0)
    return low, high


def by_chance(differences: Floats) -> Floats:
    """How often flipped signs give a mean as far from zero as the one seen, for each column.

    A paired randomization test, two-sided: exact for few topics, else from random flips, among
    which the flip that was seen is counted.
    """
    topics = len(differences)
    seen = np.abs(differences.sum(axis=0)) - SAME
    if topics <= EXACT_UP_TO:
        bits = np.arange(2**topics)[:, None] >> np.arange(topics)
        sums = np.abs((1.0 - 2.0 * (bits & 1)) @ differences)
        return np.asarray((sums >= seen).mean(axis=0), dtype=np.float64)
    random = np.random.default_rng(SEED)
    reached = np.zeros(differences.shape[1])
    for _ in range(RESAMPLES // BATCH):
        signs = random.choice((-1.0, 1.0), size=(BATCH, topics))
        reached += (np.abs(signs @ differences) >= seen).sum(axis=0)
    return np.asarray((reached + 1) / (RESAMPLES + 1), dtype=np.float64)


def holm(probabilities: Sequence[float]) -> list[float]:
    """Correct for the number of comparisons made, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(probabilities)), key=lambda index: probabilities[index])
    corrected = [0.0] * len(order)
    greatest = 0.0
    for done, index in enumerate(order):
        greatest = max(greatest, min(1.0, probabilities[index] * (len(order) - done)))
        corrected[index] = greatest
    return corrected
