"""Reciprocal rank fusion, exact.

A system of weight w that ranks a document r-th gives it w / (k + r), as a fraction; absence gives
nothing and is kept by name. Pure: rankings and a protocol in, fused hits out, inputs untouched.

Cormack, Clarke and Buettcher (SIGIR 2009) introduced the rule with k = 60.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from app.query.protocol import Protocol
from app.query.ranking import Ranking
from store.errors import BadInput


class Reason(StrEnum):
    """Why a document has no rank in a system's list."""

    BELOW_DEPTH = "below depth"
    """The list was cut before the document's place, or may have been: asking deeper decides."""
    NOT_MATCHED = "not matched"
    NOT_IN_INDEX = "not in this index"
    FILTERED_OUT = "filtered out"
    UNAVAILABLE = "unavailable"
    NOT_ASKED = "not asked"
    """By a rule of the protocol the system has no say in this query."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one system gives a document: ``value`` is weight / (k + rank)."""

    system: str
    rank: int
    weight: Fraction
    value: Fraction


@dataclass(frozen=True, slots=True)
class Absence:
    """A system that gives a document nothing, and why. ``rank`` is its place below the depth
    where that is known."""

    system: str
    reason: Reason
    depth: int
    rank: int | None = None


Part = Contribution | Absence


@dataclass(frozen=True, slots=True)
class FusedHit:
    """One entry of the fused order: ``score`` is the exact sum of ``parts``, one per system."""

    id: str
    rank: int
    score: Fraction
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if self.score != sum_of(self.parts):
            raise ValueError(f"the parts of {self.id!r} do not add up to its score")


def sum_of(parts: Sequence[Part]) -> Fraction:
    """The exact sum of the contributions among ``parts``."""
    return sum((part.value for part in parts if isinstance(part, Contribution)), Fraction(0))


def order_key(score: Fraction, name: str) -> tuple[Fraction, str]:
    """The one order of fused hits: highest score first, equal scores by id ascending."""
    return -score, name


def fuse(rankings: Sequence[Ranking], protocol: Protocol) -> tuple[FusedHit, ...]:
    """Fuse one ranking for each system of ``protocol``.

    :raises BadInput: the rankings are not those of the protocol's systems, at its depths
    """
    by_system = {ranking.system: ranking for ranking in rankings}
    wanted = [system.name for system in protocol.systems]
    if len(by_system) != len(rankings) or sorted(by_system) != sorted(wanted):
        raise BadInput(
            f"a fusion of {', '.join(wanted)} needs one list of each, "
            f"not {', '.join(ranking.system for ranking in rankings) or 'none'}"
        )
    for system in protocol.systems:
        if by_system[system.name].depth != system.depth:
            raise BadInput(
                f"the {system.name} list was asked to depth {by_system[system.name].depth}, "
                f"but the protocol says {system.depth}"
            )
    weights = {system: system.weight_at(by_system[system.name].held) for system in protocol.systems}
    ranks = {name: ranking.rank_of() for name, ranking in by_system.items()}
    scored = []
    for name in {hit.id for ranking in rankings for hit in ranking.hits}:
        parts = tuple(
            _part(by_system[system.name], ranks[system.name].get(name), weights[system], protocol.k)
            for system in protocol.systems
        )
        scored.append((sum_of(parts), name, parts))
    scored.sort(key=lambda entry: order_key(entry[0], entry[1]))
    return tuple(
        FusedHit(name, rank, score, parts)
        for rank, (score, name, parts) in enumerate(scored, start=1)
    )


def _part(ranking: Ranking, rank: int | None, weight: Fraction, k: Fraction) -> Part:
    if rank is not None:
        return Contribution(ranking.system, rank, weight, weight / (k + rank))
    if ranking.unavailable:
        reason = Reason.UNAVAILABLE
    elif ranking.not_asked:
        reason = Reason.NOT_ASKED
    elif ranking.exhausted:
        reason = Reason.NOT_MATCHED
    else:
        reason = Reason.BELOW_DEPTH
    return Absence(ranking.system, reason, ranking.depth)
