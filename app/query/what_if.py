"""What the order of the visible documents would be at another k, depth or weight.

Nothing is sampled. Along k and along a weight the order changes only where two documents have equal
scores, and those places are known exactly; a list cut at another depth is fused for what it is.
All of it follows from the lists that were retrieved: no engine is asked again, so that a depth
beyond the one asked is not answered.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cmp_to_key
from itertools import combinations, pairwise
from math import floor
from typing import Any

from app.query.exact_order import exact_order
from app.query.fuse import Contribution, FusedHit
from app.query.fusions import FUSIONS, reciprocal
from app.query.protocol import Protocol
from app.query.ranking import Ranking
from app.query.roots import Root, compare, exactly, simplest_between
from app.query.swaps import Comparison, compare_poles, poles_of, root_data, score_at
from store.errors import BadInput

SHOWN = 20
"""Documents that are looked at."""

Order = tuple[str, ...]


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


@dataclass(frozen=True, slots=True)
class DepthStep:
    """What changes among the first documents when one list is read one place deeper.

    ``document`` is the one found there; it ``passed`` the ones that were ahead of it and are not
    any more. ``entered`` and ``left`` say who came into and who fell out of those shown, ``order``
    who they are now.
    """

    depth: int
    document: str
    passed: Order
    entered: Order
    left: Order
    order: Order


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The visible documents under other settings, one changed at a time.

    ``comparisons`` has every pair of them; ``by_k`` covers every k >= 0, ``by_weight`` every weight
    above 0 of each system, ``by_depth`` every depth from 1 to the one asked, for each system only
    the depths at which something changes.
    """

    shown: Order
    comparisons: tuple[Comparison, ...]
    by_k: tuple[Span, ...]
    by_weight: dict[str, tuple[Span, ...]]
    by_depth: dict[str, tuple[DepthStep, ...]]

    def as_data(self) -> dict[str, Any]:
        """JSON-ready; fractions are text. Only pairs that meet at some k are listed."""
        return {
            "shown": list(self.shown),
            "meetings": [one.as_data() for one in self.comparisons if one.meetings],
            "always_equal": [
                [one.first, one.second] for one in self.comparisons if one.always_equal
            ],
            "by_k": [span_data(span) for span in self.by_k],
            "by_weight": {
                name: [span_data(span) for span in spans] for name, spans in self.by_weight.items()
            },
            "by_depth": {
                name: [
                    {
                        "depth": step.depth,
                        "document": step.document,
                        "passed": list(step.passed),
                        "entered": list(step.entered),
                        "left": list(step.left),
                        "order": list(step.order),
                    }
                    for step in steps
                ]
                for name, steps in self.by_depth.items()
            },
        }


def span_data(span: Span) -> dict[str, Any]:
    """A span as JSON-ready data."""
    return {
        "start": root_data(span.start),
        "end": None if span.end is None else root_data(span.end),
        "with_start": span.with_start,
        "with_end": span.with_end,
        "order": list(span.order),
    }


def what_if(
    rankings: Sequence[Ranking],
    protocol: Protocol,
    fused: Sequence[FusedHit],
    shown: int = SHOWN,
) -> WhatIf:
    """The first ``shown`` hits of ``fused``, the fusion of ``rankings`` under ``protocol``, at
    every other k, weight and depth.

    :raises BadInput: the protocol's fusion is not by reciprocal ranks
    """
    if not FUSIONS[protocol.fusion].k:
        raise BadInput(f"{protocol.fusion} has no k; what-if answers are for rrf")
    hits = fused[:shown]
    comparisons = compare_all(hits)
    return WhatIf(
        tuple(hit.id for hit in hits),
        comparisons,
        order_by_k(hits, comparisons),
        {system.name: order_by_weight(hits, protocol, system.name) for system in protocol.systems},
        {
            system.name: order_by_depth(rankings, protocol, system.name, shown)
            for system in protocol.systems
        },
    )


def compare_all(hits: Sequence[FusedHit]) -> tuple[Comparison, ...]:
    """Every two of ``hits`` at every k."""
    poles = [(hit.id, poles_of(hit)) for hit in hits]
    return tuple(compare_poles(*one, *other) for one, other in combinations(poles, 2))


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
    weights as they are. The weight is the system's own, of which its family may take a share.

    :raises BadInput: there is no such system
    """
    names = [one.name for one in protocol.systems]
    if system not in names:
        raise BadInput(f"there is no system {system!r}; there are {', '.join(names)}")
    place = names.index(system)
    effect = protocol.effective_weights[place] / protocol.systems[place].weight
    lines = {}
    for hit in hits:
        given = [part for part in hit.parts if isinstance(part, Contribution)]
        rest = sum((part.value for part in given if part.system != system), Fraction(0))
        mine = [effect / (protocol.k + part.rank) for part in given if part.system == system]
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


Pair = tuple[str, str]


def _together(meetings: Sequence[tuple[Root, Pair]]) -> list[tuple[Root, list[Pair]]]:
    """Places where two scores are equal, ascending, each with all pairs that meet there."""
    groups: list[tuple[Root, list[Pair]]] = []

    def in_order(one: tuple[Root, Pair], other: tuple[Root, Pair]) -> int:
        return compare(one[0], other[0])

    for root, pair in sorted(meetings, key=cmp_to_key(in_order)):
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


def order_by_depth(
    rankings: Sequence[Ranking], protocol: Protocol, system: str, shown: int = SHOWN
) -> tuple[DepthStep, ...]:
    """The first ``shown`` of the fused order as the list of one system is read from depth 1 to
    where it was cut or ends, the other lists as they are: depth 1, and where something changes.

    One place deeper, one document gains and nothing else moves: it passes some, or enters.

    :raises BadInput: there is no list of that system
    """
    weights = dict(
        zip((one.name for one in protocol.systems), protocol.effective_weights, strict=True)
    )
    lists = {one.system: reciprocal(one, weights[one.system], protocol.k) for one in rankings}
    if system not in lists:
        raise BadInput(f"there is no list of a system {system!r}")
    found = lists.pop(system)
    ranks = [
        (votes, {name: place for place, name in enumerate(votes.ids)}) for votes in lists.values()
    ]

    def elsewhere(name: str) -> Fraction:
        given = [Fraction(*votes.exact(at[name])) for votes, at in ranks if name in at]
        return sum(given, Fraction(0))

    candidates = exact_order(list(lists.values()))
    top = [(-elsewhere(name), name) for name in candidates[:shown]]
    known = set(candidates)
    steps = []
    before = tuple(one for _, one in top)
    for place, name in enumerate(found.ids):
        other = elsewhere(name)
        now = -other - Fraction(*found.exact(place)), name
        if len(top) == shown and place and now > top[-1]:
            continue
        where = bisect_left(top, (-other, name))
        if name in before:
            del top[where]
        insort(top, now)
        # A score grows once, at its own depth: who is not among the first now may come back then.
        del top[shown:]
        order = tuple(one for _, one in top)
        if order != before or place == 0:
            to = order.index(name) if name in order else shown
            steps.append(
                DepthStep(
                    place + 1,
                    name,
                    before[to:where] if name in known else (),
                    tuple(one for one in order if one not in before),
                    tuple(one for one in before if one not in order),
                    order,
                )
            )
        before = order
    return tuple(steps)
