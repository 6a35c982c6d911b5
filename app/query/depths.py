"""What reading one list deeper does to the first documents of the fused order, place by place."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from app.query.exact_order import exact_order
from app.query.fuse import Contribution, FusedHit
from app.query.fusions import reciprocal
from app.query.protocol import Protocol
from app.query.ranking import Ranking
from store.errors import BadInput

Order = tuple[str, ...]


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


def step_data(step: DepthStep) -> dict[str, Any]:
    """A step as JSON-ready data."""
    return {
        "depth": step.depth,
        "document": step.document,
        "passed": list(step.passed),
        "entered": list(step.entered),
        "left": list(step.left),
        "order": list(step.order),
    }


def order_by_depth(
    rankings: Sequence[Ranking],
    protocol: Protocol,
    fused: Sequence[FusedHit],
    system: str,
    shown: int,
) -> tuple[DepthStep, ...]:
    """The first ``shown`` of the fused order as the list of one system is read from depth 1 to
    where it was cut or ends, the other lists as they are: depth 1, and where something changes.

    One place deeper, one document gains and nothing else moves: it passes some, or enters.
    ``fused`` is the whole fusion of ``rankings``; its weights are the ones in effect.

    :raises BadInput: there is no list of that system
    """
    weights = _weights_in(fused, sum(1 for ranking in rankings if ranking.hits))
    lists = {
        one.system: reciprocal(one, weights.get(one.system, Fraction(1)), protocol.k)
        for one in rankings
    }
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


def _weights_in(fused: Sequence[FusedHit], lists: int) -> dict[str, Fraction]:
    """The weight of each of so many lists that have an entry: every one of them gave some hit its
    part."""
    weights: dict[str, Fraction] = {}
    for hit in fused:
        if len(weights) == lists:
            break
        for part in hit.parts:
            if isinstance(part, Contribution):
                weights[part.system] = part.weight
    return weights
