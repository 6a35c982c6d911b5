"""At which k two documents of a fused list change places, exactly.

The difference of their scores is a sum of weight / (k + rank). Over a common denominator, which is
positive for every k >= 0, its sign is that of a polynomial, and its roots are where the two are
equal. Who is ahead on which side is proven with the scores themselves, as fractions, at a k on
either side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any

from app.query.fuse import Contribution, FusedHit, ScoredContribution
from app.query.polynomials import Polynomial, numerator
from app.query.roots import Root, roots_of, simplest_between
from store.errors import BadInput

DECIMALS = 12
"""Decimals of a k in data."""


class Kind(StrEnum):
    """What happens at a k where two scores are equal."""

    SWAP = "swap"
    TOUCH = "touch"
    """They are equal there, and the same one is ahead on both sides."""
    START = "start"
    """They are equal at k = 0, and from there on one is ahead."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A k at which two documents have equal scores.

    ``ahead_below`` is the one ahead between the meeting before (or k = 0) and this one, as at
    ``below``; ``ahead_above`` the one ahead from here to the next, as at ``above``. At k = 0 there
    is nothing below.
    """

    at: Root
    kind: Kind
    below: Fraction | None
    ahead_below: str
    above: Fraction
    ahead_above: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two documents at every k >= 0: where they meet, ascending, and who is ahead for k beyond all
    bounds. ``always_equal`` is a tie at every k, which the id decides."""

    first: str
    second: str
    meetings: tuple[Meeting, ...]
    always_equal: bool
    ahead_at_last: str

    @property
    def swaps(self) -> tuple[Meeting, ...]:
        """The meetings at which they change places."""
        return tuple(meeting for meeting in self.meetings if meeting.kind is Kind.SWAP)

    @property
    def in_words(self) -> str:
        """What a reader wants to know of the two."""
        one, other = self.first, self.second
        if self.always_equal:
            return f"{one} and {other} are equal at every k"
        said = []
        for meeting in self.meetings:
            if meeting.kind is Kind.SWAP:
                said.append(
                    f"{meeting.ahead_above} passes {meeting.ahead_below} at k = {meeting.at}"
                )
            elif meeting.kind is Kind.TOUCH:
                said.append(f"they are equal at k = {meeting.at} only")
            else:
                said.append("they are equal at k = 0")
        if not said:
            other = other if self.ahead_at_last == one else one
            return f"{self.ahead_at_last} is ahead of {other} at every k"
        return f"{one} and {other}: " + ", ".join(said)

    def as_data(self) -> dict[str, Any]:
        """JSON-ready; fractions are text."""
        return {
            "first": self.first,
            "second": self.second,
            "always_equal": self.always_equal,
            "ahead_at_last": self.ahead_at_last,
            "meetings": [
                {
                    "kind": str(meeting.kind),
                    "k": root_data(meeting.at),
                    "below": None if meeting.below is None else str(meeting.below),
                    "ahead_below": meeting.ahead_below,
                    "above": str(meeting.above),
                    "ahead_above": meeting.ahead_above,
                }
                for meeting in self.meetings
            ],
        }


def root_data(root: Root) -> dict[str, Any]:
    """A root as JSON-ready data: its closed form or null, the nearest decimal, and the two decimals
    between which it lies, which are one where it is that."""
    near = root.narrowed(Fraction(1, 10 ** (DECIMALS + 2)))
    low, high = near.between(DECIMALS)
    return {
        "exact": root.exact or None,
        "decimal": near.decimal(DECIMALS),
        "low": low,
        "high": high,
    }


Poles = Mapping[int, Fraction]


def poles_of(hit: FusedHit) -> dict[int, Fraction]:
    """The score of ``hit`` as a function of k: the sum of weight / (k + rank), as rank to weight.

    :raises BadInput: the hit was fused by another rule, without a k
    """
    poles: dict[int, Fraction] = {}
    for part in hit.parts:
        if isinstance(part, ScoredContribution):
            raise BadInput(f"{hit.id!r} was fused by scores, which have no k")
        if isinstance(part, Contribution):
            poles[part.rank] = poles.get(part.rank, Fraction(0)) + part.weight
    return poles


def score_at(poles: Poles, k: Fraction) -> Fraction:
    """The exact score at ``k``."""
    above, below = 0, 1
    for rank, weight in poles.items():
        top = weight.numerator * k.denominator
        bottom = weight.denominator * (k.numerator + rank * k.denominator)
        above, below = above * bottom + top * below, below * bottom
    return Fraction(above, below)


def difference(first: Poles, second: Poles) -> Polynomial:
    """A polynomial in k with the sign of the first score minus the second."""
    bottom = lcm(*(weight.denominator for poles in (first, second) for weight in poles.values()))
    poles = {rank: int(weight * bottom) for rank, weight in first.items()}
    for rank, weight in second.items():
        poles[rank] = poles.get(rank, 0) - int(weight * bottom)
    return numerator(poles)


def compare_hits(first: FusedHit, second: FusedHit) -> Comparison:
    """Two documents of one fused list at every k >= 0.

    :raises BadInput: they were fused without a k
    """
    return compare_poles(first.id, poles_of(first), second.id, poles_of(second))


def compare_all(hits: Sequence[FusedHit]) -> tuple[Comparison, ...]:
    """Every two of ``hits`` at every k."""
    poles = [(hit.id, poles_of(hit)) for hit in hits]
    return tuple(compare_poles(*one, *other) for one, other in combinations(poles, 2))


def compare_poles(first: str, one: Poles, second: str, other: Poles) -> Comparison:
    """The same of two ids with the :func:`poles_of` their hits."""
    polynomial = difference(one, other)
    if not polynomial:
        return Comparison(first, second, (), True, min(first, second))

    def ahead(k: Fraction) -> str:
        return first if score_at(one, k) > score_at(other, k) else second

    return Comparison(
        first,
        second,
        tuple(_meetings(roots_of(polynomial), ahead)),
        False,
        first if polynomial[-1] > 0 else second,
    )


def _meetings(roots: Sequence[Root], ahead: Callable[[Fraction], str]) -> list[Meeting]:
    apart = _apart(roots)
    meetings = []
    for number, root in enumerate(apart):
        before = apart[number - 1].high if number else Fraction(0)
        after = apart[number + 1].low if number + 1 < len(apart) else root.high + 2
        # Near the root, so that a person can try them; simple, so that a person can compute them.
        above = simplest_between(root.high, min(after, root.high + 1))
        then = ahead(above)
        if root.high == 0:
            meetings.append(Meeting(root, Kind.START, None, "", above, then))
            continue
        below = simplest_between(max(before, root.low - 1), root.low)
        first = ahead(below)
        kind = Kind.TOUCH if first == then else Kind.SWAP
        meetings.append(Meeting(root, kind, below, first, above, then))
    return meetings


def _apart(roots: Sequence[Root]) -> list[Root]:
    """The same ascending roots with room between their intervals, and above 0."""
    apart = list(roots)
    for number, root in enumerate(apart):
        while (number and apart[number - 1].high >= apart[number].low) or (
            root.high > 0 and apart[number].low <= 0
        ):
            for place in {number, max(0, number - 1)}:
                one = apart[place]
                apart[place] = one.narrowed((one.high - one.low) / 2)
    return apart
