"""The order of some documents along a line: as k runs from 0 up, or the weight of a system.

Along either the order changes only where two documents have equal scores, and those places are
known exactly: nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cmp_to_key
from itertools import combinations, pairwise
from math import floor
from typing import Any

from app.query.fuse import Contribution, FusedHit
from app.query.protocol import Protocol
from app.query.roots import Root, compare, exactly, simplest_between
from app.query.swaps import Comparison, poles_of, root_data, score_at
from store.errors import BadInput

Order = tuple[str, ...]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Span:
    """Values between ``start`` and ``end`` (None: without bound) at which the order is ``order``.

    ``with_start`` and ``with_end`` say whether the ends belong to it. At an end where scores are
    equal the ids decide, as everywhere, so that it may belong to either side or be a span alone.
    """

    start: Root
    end: Root | None
    with_start: bool
    with_end: bool
    order: Order

    def __str__(self) -> str:
        if self.end is not None and compare(self.start, self.end) == 0:
            return str(self.start)
        ends = f"{'[' if self.with_start else '('}{self.start}, {self.end or '∞'}"
        return ends + ("]" if self.with_end else ")")


def span_data(span: Span) -> dict[str, Any]:
    """A span as JSON-ready data."""
    return {
        "start": root_data(span.start),
        "end": None if span.end is None else root_data(span.end),
        "with_start": span.with_start,
        "with_end": span.with_end,
        "order": list(span.order),
    }


def order_by_k(hits: Sequence[FusedHit], comparisons: Sequence[Comparison]) -> tuple[Span, ...]:
    """The order of ``hits`` among themselves for every k >= 0; the comparisons are theirs."""
    poles = {hit.id: poles_of(hit) for hit in hits}
    meetings = [
        (meeting.at, (one.first, one.second)) for one in comparisons for meeting in one.meetings
    ]
    return _spans(
        list(poles), _together(meetings), lambda name, k: score_at(poles[name], k), from_zero=True
    )


def order_by_weight(hits: Sequence[FusedHit], protocol: Protocol, system: str) -> tuple[Span, ...]:
    """The order of ``hits`` among themselves for every weight above 0 of one system, the other
    weights as they are. The weight is the system's own, as ``protocol`` has it, of which its family
    may take a share.

    :raises BadInput: there is no such system
    """
    names = [one.name for one in protocol.systems]
    if system not in names:
        raise BadInput(f"there is no system {system!r}; there are {', '.join(names)}")
    own = protocol.systems[names.index(system)].weight
    lines = {}
    for hit in hits:
        given = [part for part in hit.parts if isinstance(part, Contribution)]
        rest = sum((part.value for part in given if part.system != system), Fraction(0))
        # What takes a part of the weight, as a family does, takes the same part of any weight.
        mine = [part.value / own for part in given if part.system == system]
        lines[hit.id] = rest, sum(mine, Fraction(0))

    meetings = []
    for (one, (start, slope)), (other, (level, rise)) in combinations(lines.items(), 2):
        if (start - level) * (slope - rise) < 0:
            meetings.append((exactly((level - start) / (slope - rise)), (one, other)))
    return _spans(
        list(lines),
        _together(meetings),
        lambda name, weight: lines[name][0] + lines[name][1] * weight,
        from_zero=False,
    )


def _together(meetings: Sequence[tuple[Root, Pair]]) -> list[tuple[Root, list[Pair]]]:
    """Places where two scores are equal, ascending, each with all pairs that meet there."""
    groups: list[tuple[Root, list[Pair]]] = []

    def in_order(one: tuple[Root, Pair], other: tuple[Root, Pair]) -> int:
        return compare(one[0], other[0])

    # Hardly any two intervals overlap, so that this is the order but for a few.
    nearly = sorted(meetings, key=lambda meeting: meeting[0].low)
    for root, pair in sorted(nearly, key=cmp_to_key(in_order)):
        if groups and compare(groups[-1][0], root) == 0:
            groups[-1][1].append(pair)
        else:
            groups.append((root, [pair]))
    return groups


def _spans(
    names: Sequence[str],
    meetings: Sequence[tuple[Root, list[Pair]]],
    score: Callable[[str, Fraction], Fraction],
    *,
    from_zero: bool,
) -> tuple[Span, ...]:
    """The line from 0 (itself only where ``from_zero``) cut where the order changes."""

    def ordered(some: Iterable[str], at: Fraction) -> list[str]:
        return [name for _, name in sorted((-score(name, at), name) for name in some)]

    zero = exactly(0)
    later = [(root, pairs) for root, pairs in meetings if root.high > 0]
    starts = [zero, *(root for root, _ in later)]
    inside = _between(starts)
    order = ordered(names, inside[0])
    pieces = []
    if from_zero:
        pieces.append(Span(zero, zero, True, True, tuple(ordered(names, Fraction(0)))))
    for number, (start, inner) in enumerate(zip(starts, inside, strict=True)):
        if number:
            tied = list(order)
            for first, last in _runs(order, later[number - 1][1]):
                tied[first:last] = sorted(order[first:last])
                order[first:last] = ordered(order[first:last], inner)
            pieces.append(Span(start, start, True, True, tuple(tied)))
        end = starts[number + 1] if number + 1 < len(starts) else None
        pieces.append(Span(start, end, False, False, tuple(order)))
    joined = pieces[:1]
    for piece in pieces[1:]:
        before = joined[-1]
        if before.order == piece.order:
            joined[-1] = replace(before, end=piece.end, with_end=piece.with_end)
        else:
            joined.append(piece)
    return tuple(joined)


def _between(roots: Sequence[Root]) -> list[Fraction]:
    """A number after each of the ascending ``roots`` and before the next."""
    found = []
    for one, other in pairwise(roots):
        while one.high >= other.low:
            one = one.narrowed((one.high - one.low) / 2)
            other = other.narrowed((other.high - other.low) / 2)
        found.append(simplest_between(one.high, other.low))
    return [*found, Fraction(floor(roots[-1].high) + 1)]


def _runs(order: Sequence[str], pairs: Sequence[Pair]) -> list[tuple[int, int]]:
    """The half-open places in ``order`` of each set of names that ``pairs`` make equal.

    Where scores meet, those that are equal stand side by side just before.
    """
    place = {name: number for number, name in enumerate(order)}
    runs: list[tuple[int, int]] = []
    for start, end in sorted(sorted((place[one], place[other])) for one, other in pairs):
        if runs and start < runs[-1][1]:
            runs[-1] = runs[-1][0], max(runs[-1][1], end + 1)
        else:
            runs.append((start, end + 1))
    return runs
