"""Many protocols over the same lists: where each would put the relevant documents.

Scores are computed in floating point for all topics at once, and the order is the exact one all the
same: two different scores are further apart than a bound that follows from k, weights and depths,
and what is nearer than rounding can make it is equal. Where the bound is too small for that, the
topic is fused exactly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from app.evaluation.candidates import Candidates
from app.evaluation.qrels import Qrels
from app.query.emphasis import Emphasis
from app.query.fuse import fuse
from app.query.protocol import Protocol

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

UNIT_ROUNDOFF = 2.0**-53
BATCH = 32
"""Topics whose documents are compared at once, so that memory stays small."""


@dataclass(frozen=True, slots=True)
class Field:
    """The candidates of every topic, and which of them are relevant, as arrays.

    ``ids`` are each topic's candidates in ascending order. ``ranks`` has shape (topics, candidates,
    systems) with 0 for absence; ``relevant`` holds the places in ``ids`` of the relevant documents
    found, shape (topics, most), padded with -1, and ``grades`` their grades. ``labelled`` are the
    grades of all relevant documents of a topic, highest first.
    """

    topic_ids: tuple[str, ...]
    systems: tuple[str, ...]
    candidates: tuple[Candidates, ...]
    ids: tuple[tuple[str, ...], ...]
    ranks: Ints
    relevant: Ints
    grades: Ints
    labelled: tuple[tuple[int, ...], ...]


def field_of(retrieved: Mapping[str, Candidates], qrels: Qrels, topic_ids: Sequence[str]) -> Field:
    """Lay out the candidates of topics; each has a list of the same systems."""
    candidates = tuple(retrieved[topic_id] for topic_id in topic_ids)
    systems = tuple(candidates[0].rankings)
    ranked = [{name: one.rankings[name].rank_of() for name in systems} for one in candidates]
    ids = tuple(tuple(sorted({name for of in one.values() for name in of})) for one in ranked)
    relevant = [
        [
            (place, qrels.of(topic_id)[name])
            for place, name in enumerate(names)
            if name in qrels.relevant(topic_id)
        ]
        for topic_id, names in zip(topic_ids, ids, strict=True)
    ]
    ranks = np.zeros((len(ids), max(map(len, ids), default=0) or 1, len(systems)), np.int64)
    for topic, names in enumerate(ids):
        for column, system in enumerate(systems):
            found = ranked[topic][system]
            ranks[topic, : len(names), column] = [found.get(name, 0) for name in names]
    most = max(map(len, relevant), default=0) or 1
    places = np.full((len(ids), most), -1, np.int64)
    grades = np.zeros((len(ids), most), np.int64)
    for topic, pairs in enumerate(relevant):
        for column, (place, grade) in enumerate(pairs):
            places[topic, column], grades[topic, column] = place, grade
    labelled = tuple(
        tuple(sorted((qrels.of(name)[one] for one in qrels.relevant(name)), reverse=True))
        for name in topic_ids
    )
    return Field(tuple(topic_ids), systems, candidates, ids, ranks, places, grades, labelled)


def positions(field: Field, protocol: Protocol) -> Ints:
    """The place, from 1, that a fusion gives each relevant document; 0 where it is not fused.

    The shape is that of ``field.relevant``.
    """
    families = {system.family for system in protocol.systems}
    if protocol.fusion != "rrf" or len(families) < len(protocol.systems):
        topics = range(len(field.ids))
        return np.array([_exact(field, protocol, topic) for topic in topics], np.int64)
    weights, gaps = _weights(field, protocol)
    scores = _scores(field, protocol, weights)
    most = weights.sum(axis=1) / (float(protocol.k) + 1)
    rounding = 4 * (len(field.systems) + 4) * UNIT_ROUNDOFF * most
    found = np.zeros(field.relevant.shape, np.int64)
    for start in range(0, len(field.ids), BATCH):
        part = slice(start, start + BATCH)
        found[part] = _places(scores[part], field.relevant[part], rounding[part])
    for topic in np.flatnonzero(gaps <= 2 * rounding):
        found[topic] = _exact(field, protocol, int(topic))
    return found


def _places(scores: Floats, relevant: Ints, rounding: Floats) -> Ints:
    topics = np.arange(len(scores))[:, None]
    own = scores[topics, np.maximum(relevant, 0)]
    # Of equal scores the one with the lower id, and so the lower place, comes first.
    first = np.arange(scores.shape[1]) < relevant[:, :, None]
    least = own[:, :, None] + np.where(first, -1.0, 1.0) * rounding[:, None, None]
    before = np.asarray((scores[:, None, :] > least).sum(axis=2), dtype=np.int64)
    return np.where((relevant >= 0) & (own > 0), before + 1, 0)


def _scores(field: Field, protocol: Protocol, weights: Floats) -> Floats:
    scores = np.zeros(field.ranks.shape[:2])
    for system in protocol.systems:
        column = field.systems.index(system.name)
        ranks = field.ranks[:, :, column]
        votes = weights[:, column, None] / (float(protocol.k) + ranks + (ranks == 0))
        scores += np.where((ranks > 0) & (ranks <= system.depth), votes, 0.0)
    return scores


def _weights(field: Field, protocol: Protocol) -> tuple[Floats, Floats]:
    """Each system's weight for each topic, 0 where it is not asked, and the least difference
    between two different scores of a topic."""
    weights = np.zeros((len(field.candidates), len(field.systems)))
    denominators = np.ones(len(field.candidates))
    for system in protocol.systems:
        held = tuple(one.rankings[system.name].held for one in field.candidates)
        factors = _factors(system.emphasis, held)
        exact = {factor: system.weight * factor for factor in set(factors)}
        column = field.systems.index(system.name)
        weights[:, column] = [float(exact[factor]) for factor in factors]
        denominators *= [float(exact[factor].denominator) for factor in factors]
        if system.asked == "unless codes alone match":
            weights[[one.answered_by_codes for one in field.candidates], column] = 0.0
    # A score is a whole number over the weights' denominators and one factor for each system.
    k, step = protocol.k.numerator, protocol.k.denominator
    places = math.prod((k + step * system.depth) ** 2 for system in protocol.systems)
    return weights, float(Fraction(1, places)) / denominators


@lru_cache(maxsize=16)
def _factors(emphasis: Emphasis | None, held: tuple[Fraction | None, ...]) -> tuple[Fraction, ...]:
    if emphasis is None:
        return (Fraction(1),) * len(held)
    return tuple(map(emphasis.factor, held))


def _exact(field: Field, protocol: Protocol, topic: int) -> list[int]:
    candidates = field.candidates[topic]
    rankings = [candidates.ranking(system, system.asked) for system in protocol.systems]
    place = {hit.id: hit.rank for hit in fuse(rankings, protocol)}
    names = field.ids[topic]
    return [0 if one < 0 else place.get(names[one], 0) for one in field.relevant[topic].tolist()]
