"""Fusion: ranked lists in, one exact order out, with every part that made it.

Under reciprocal rank fusion a system of weight w that ranks a document r-th gives it w / (k + r),
as a fraction; ``fusions`` holds the other ways. Absence gives nothing and is kept by name. Pure:
rankings and a protocol in, fused hits out, inputs untouched.

The order is settled at once, a hit's parts when somebody looks at the hit: an answer is fused whole
and read in pages, and two thousand fractions cost more than the order of two thousand documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import overload

from app.query.exact_order import Votes, exact_order
from app.query.fusions import ScoredVotes, fusion_named
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
    """What one system gives a document: ``value`` is weight / (k + rank).

    ``weight`` is the one in effect: the system's own, shared with the rest of its family.
    """

    system: str
    rank: int
    weight: Fraction
    value: Fraction


@dataclass(frozen=True, slots=True)
class ScoredContribution(Contribution):
    """What a system gives by its ``score``, which ``normalised`` brings to a common scale.

    ``value`` is exactly the float that the fusion makes of the two.
    """

    score: float
    normalised: float


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
    """One entry of the fused order, with one part per system in the protocol's order."""

    id: str
    rank: int
    parts: tuple[Part, ...]

    @property
    def score(self) -> Fraction:
        """The exact sum of the parts."""
        return sum_of(self.parts)


def sum_of(parts: Sequence[Part]) -> Fraction:
    """The exact sum of the contributions among ``parts``."""
    values = [part.value for part in parts if isinstance(part, Contribution)]
    return sum(values[1:], values[0]) if values else Fraction(0)


class FusedList(Sequence[FusedHit]):
    """The fused hits, best first, each made when it is first looked at.

    Equal to any tuple or fused list of equal hits. ``ids`` is the order alone, without the parts.
    """

    __slots__ = ("_absences", "_hits", "_lists", "_rankings", "_ranks", "_weights", "ids")

    def __init__(
        self,
        ids: Sequence[str],
        rankings: Sequence[Ranking],
        lists: Sequence[Votes],
        weights: Sequence[Fraction],
    ) -> None:
        self.ids = tuple(ids)
        self._rankings = tuple(rankings)
        self._lists = tuple(lists)
        self._weights = tuple(weights)
        self._absences = tuple(
            Absence(ranking.system, _reason(ranking), ranking.depth) for ranking in rankings
        )
        self._ranks: tuple[dict[str, int], ...] = ()
        self._hits: list[FusedHit | None] = [None] * len(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> FusedHit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FusedHit, ...]: ...
    def __getitem__(self, index: int | slice) -> FusedHit | tuple[FusedHit, ...]:
        if isinstance(index, slice):
            return tuple(self._hit(place) for place in range(*index.indices(len(self.ids))))
        return self._hit(range(len(self.ids))[index])

    def __iter__(self) -> Iterator[FusedHit]:
        return map(self._hit, range(len(self.ids)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (FusedList, tuple)):
            return tuple(self) == tuple(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FusedList({list(self)!r})"

    def _hit(self, place: int) -> FusedHit:
        hit = self._hits[place]
        if hit is None:
            name = self.ids[place]
            self._ranks = self._ranks or tuple(ranking.rank_of() for ranking in self._rankings)
            parts = tuple(
                absence if (rank := ranks.get(name)) is None else self._contribution(number, rank)
                for number, (ranks, absence) in enumerate(
                    zip(self._ranks, self._absences, strict=True)
                )
            )
            hit = self._hits[place] = FusedHit(name, place + 1, parts)
        return hit

    def _contribution(self, number: int, rank: int) -> Contribution:
        ranking, votes, weight = self._rankings[number], self._lists[number], self._weights[number]
        value = Fraction(*votes.exact(rank - 1))
        if isinstance(votes, ScoredVotes):
            score, normalised = ranking.hits[rank - 1].score, votes.normalised[rank - 1]
            return ScoredContribution(ranking.system, rank, weight, value, score, normalised)
        return Contribution(ranking.system, rank, weight, value)


def fuse(rankings: Sequence[Ranking], protocol: Protocol) -> FusedList:
    """Fuse one ranking for each system of ``protocol``: highest exact sum first, equal sums by id
    ascending.

    :raises BadInput: the rankings are not those of the protocol's systems, at its depths, or the
        fusion adds scores and one of them is not finite
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
    ordered = [by_system[name] for name in wanted]
    weights = protocol.weights_for({ranking.system: ranking.held for ranking in rankings})
    lists = fusion_named(protocol.fusion).vote(ordered, weights, protocol.k)
    return FusedList(exact_order(lists), ordered, lists, weights)


def _reason(ranking: Ranking) -> Reason:
    """Why a document that is not in ``ranking`` is not."""
    if ranking.unavailable:
        return Reason.UNAVAILABLE
    if ranking.not_asked:
        return Reason.NOT_ASKED
    if ranking.exhausted:
        return Reason.NOT_MATCHED
    return Reason.BELOW_DEPTH
