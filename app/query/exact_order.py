"""Sums of many lists in their exact order, at the speed of floats.

Each list gives its entries values that are known exactly and, rounded once, as floats. Floats are
added and sorted first. Where two sums lie further apart than rounding can have moved them, that
order is the exact one. Where they do not, they are equal if sums that differ have to lie further
apart than that, which small denominators prove; otherwise whole numbers decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from math import lcm, prod

UNIT = 2.0**-53
"""The most by which rounding to the nearest float moves a number, as a share of it."""
TINIEST = 2.0**-1074
"""The step between the smallest floats, where ``UNIT`` no longer bounds the rounding."""


@dataclass(frozen=True, slots=True)
class Votes:
    """What one list gives the ids in it, best first.

    ``exact(i)`` is the numerator and the positive denominator, not always in lowest terms, of what
    ``ids[i]`` is given, and ``floats[i]`` the float nearest to it. Where every value is ``top``
    over a whole number of at most ``bottom``, they say so; otherwise ``bottom`` is 0.
    """

    ids: Sequence[str]
    floats: Sequence[float]
    exact: Callable[[int], tuple[int, int]]
    top: int = 1
    bottom: int = 0


def exact_order(lists: Sequence[Votes]) -> list[str]:
    """Every id of ``lists`` by its exact sum, highest first, equal sums by id ascending.

    A value is off by at most UNIT of itself or half of TINIEST, and each of the at most n - 1
    additions of nonnegative floats by at most UNIT of what came out, so that a sum s of n lists is
    off by less than (n + 1) * UNIT * s + n * TINIEST. The gap demanded of two sums is more than
    twice that, which also covers the rounding of the gap itself. With negative values the same
    holds of the sum of magnitudes, for which the largest of each list stand.
    """
    lists = [votes for votes in lists if votes.ids]
    if not lists:
        return []
    sums = dict(zip(lists[0].ids, lists[0].floats, strict=True))
    known = sums.get
    for votes in lists[1:]:
        for name, value in zip(votes.ids, votes.floats, strict=True):
            sums[name] = known(name, 0.0) + value
    order = sorted(sums, key=sums.__getitem__, reverse=True)
    share = 4 * (len(lists) + 1) * UNIT
    least = 4 * len(lists) * TINIEST
    if any(min(votes.floats) < 0 for votes in lists):
        least += share * sum(max(map(abs, votes.floats)) for votes in lists)
        share = 0.0
    close = list(_too_close([sums[name] for name in order], share, least))
    if close and _apart(lists) > 2 * (Fraction(share) * Fraction(sums[order[0]]) + Fraction(least)):
        for start, end in close:
            order[start:end] = sorted(order[start:end])
    elif close:
        places = [{name: place for place, name in enumerate(votes.ids)} for votes in lists]
        for start, end in close:
            order[start:end] = _settled(order[start:end], lists, places)
    return order


def _too_close(values: Sequence[float], share: float, least: float) -> Iterator[tuple[int, int]]:
    """The half-open runs of falling ``values`` in which each is too close to the one before."""
    start = 0
    for place, (previous, value) in enumerate(pairwise(values), start=1):
        if previous - value > share * previous + least:
            if place - start > 1:
                yield start, place
            start = place
    if len(values) - start > 1:
        yield start, len(values)


def _apart(lists: Sequence[Votes]) -> Fraction:
    """Two sums of ``lists`` that differ do so by at least this; 0 where nothing is known.

    Over the common numerator t a value is t / d with a whole d of at most D in its list, so that
    the difference of two sums is a whole multiple of t over the product of their denominators.
    """
    if not all(votes.bottom for votes in lists):
        return Fraction(0)
    top = lcm(*(votes.top for votes in lists))
    return Fraction(top, prod(votes.bottom * (top // votes.top) for votes in lists) ** 2)


def _settled(
    names: Sequence[str], lists: Sequence[Votes], places: Sequence[Mapping[str, int]]
) -> list[str]:
    """``names`` in their exact order."""
    exact = {}
    for name in names:
        top, bottom = 0, 1
        for votes, where in zip(lists, places, strict=True):
            place = where.get(name)
            if place is not None:
                above, below = votes.exact(place)
                top, bottom = top * below + above * bottom, bottom * below
        exact[name] = top, bottom

    def compare(first: str, second: str) -> int:
        (above, below), (over, under) = exact[first], exact[second]
        difference = over * below - above * under
        return difference or (first > second) - (first < second)

    return sorted(names, key=cmp_to_key(compare))
