"""The numbers at which something changes: fractions, square roots, or enclosed as closely as asked.

Nothing here is rounded before it is shown. A root that has no closed form is known by its
polynomial and an interval with fractions for ends that holds no other root of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, gcd, isqrt

from app.query.polynomials import (
    Polynomial,
    changes,
    closer,
    common_divisor,
    isolated,
    quotient,
    sign_at,
    simple,
)

PRECISION = 64
"""Binary places to which a square root is enclosed at first."""
SQUARES_UP_TO = 1000
"""Squares of numbers up to this are taken out from under a root sign."""


@dataclass(frozen=True, slots=True)
class Root:
    """A real number x >= 0: the one root of ``polynomial`` in the open interval (low, high), or
    ``low == high``, which is it.

    The polynomial of an irrational root is zero at no fraction from 0 up. ``exact`` is its closed
    form as text where it is a fraction or has a square root; other numbers have none here.
    """

    polynomial: Polynomial
    low: Fraction
    high: Fraction
    exact: str = ""

    def narrowed(self, width: Fraction) -> Root:
        """The same number in an interval of at most ``width``."""
        if self.high - self.low <= width:
            return self
        low, high = closer(self.polynomial, self.low, self.high, width)
        return replace(self, low=low, high=high)

    def decimal(self, places: int) -> str:
        """The number rounded to ``places`` decimals: what is shown is the nearest such decimal.

        >>> roots_of((-11, -2, 1))[0].decimal(4)
        '4.4641'
        """
        root, scale = self, 10**places
        while (digits := _nearest(root.low * scale)) != _nearest(root.high * scale):
            root = root.narrowed((root.high - root.low) / 2**16)
        return _point(digits, places)

    def between(self, places: int) -> tuple[str, str]:
        """The decimals of that many places next to it below and above; the number itself twice
        where it is one.

        >>> roots_of((-11, -2, 1))[0].between(3), exactly(Fraction(1, 4)).between(2)
        (('4.464', '4.465'), ('0.25', '0.25'))
        """
        root, scale = self, 10**places
        while ceil(root.high * scale) - floor(root.low * scale) > 1:
            root = root.narrowed((root.high - root.low) / 2**16)
        return _point(floor(root.low * scale), places), _point(ceil(root.high * scale), places)

    def __str__(self) -> str:
        """The closed form if there is one, and a decimal where that is not the number itself."""
        shown = self.decimal(4)
        if self.exact and "√" not in self.exact and "/" not in self.exact:
            return self.exact
        return f"{self.exact} ≈ {shown}".lstrip()


def exactly(value: Fraction | int) -> Root:
    """A fraction as a root."""
    number = Fraction(value)
    return Root((-number.numerator, number.denominator), number, number, str(number))


def roots_of(polynomial: Polynomial) -> list[Root]:
    """The different roots x >= 0 of a polynomial that is not zero, ascending.

    >>> [root.exact for root in roots_of((-11, -2, 1))]
    ['1 + 2√3']
    """
    rest = polynomial
    found = []
    if rest[0] == 0:
        found.append(exactly(0))
        rest = rest[next(power for power, value in enumerate(rest) if value) :]
    if not changes(rest):
        return found
    if len(rest) <= 3:
        return found + _closed(rest)
    if changes(rest) > 1:
        rest = simple(rest)
    intervals = isolated(rest)
    for low, high in intervals:
        if low == high:
            found.append(exactly(low))
            rest = quotient(rest, (-low.numerator, low.denominator))
    if len(rest) <= 3:
        found += _closed(rest)
    else:
        found += [Root(rest, low, high) for low, high in intervals if low < high]
    return sorted(found, key=lambda root: root.low)


def _closed(polynomial: Polynomial) -> list[Root]:
    """The positive roots of a polynomial of degree 2 at most that is not zero at 0."""
    if not changes(polynomial):
        return []
    if len(polynomial) == 2:
        return [exactly(Fraction(-polynomial[0], polynomial[1]))]
    if polynomial[2] < 0:
        polynomial = tuple(-value for value in polynomial)
    constant, middle, lead = polynomial
    inner = middle * middle - 4 * constant * lead
    if inner < 0:
        return []
    if (whole := isqrt(inner)) ** 2 == inner:
        both = {Fraction(-middle - whole, 2 * lead), Fraction(-middle + whole, 2 * lead)}
        return [exactly(value) for value in sorted(both) if value > 0]
    below = isqrt(inner << 2 * PRECISION)
    found = []
    for sign in (-1, 1):
        ends = sorted(
            Fraction((-middle << PRECISION) + sign * end, 2 * lead << PRECISION)
            for end in (below, below + 1)
        )
        # The product of the two is constant / lead, their sum -middle / lead.
        if constant < 0 < sign or constant > 0 > middle:
            low, high = max(ends[0], Fraction(0)), ends[1]
            found.append(Root(polynomial, low, high, _radical(-middle, sign, inner, 2 * lead)))
    return found


def _radical(number: int, sign: int, inner: int, below: int) -> str:
    """(number ± √inner) / below in its tidiest form."""
    outer = 1
    for factor in range(2, SQUARES_UP_TO + 1):
        square = factor * factor
        if square > inner:
            break
        while inner % square == 0:
            inner //= square
            outer *= factor
    common = gcd(number, outer, below)
    number, outer, below = number // common, outer // common, below // common
    root = f"{outer if outer > 1 else ''}√{inner}"
    text = f"{number} {'+' if sign > 0 else '-'} {root}" if number else root
    if below == 1:
        return text
    return f"({text})/{below}" if number else f"{text}/{below}"


def compare(first: Root, second: Root) -> int:
    """Negative, 0 or positive, as ``first`` is less than, equal to or greater than ``second``."""
    shared: Polynomial | None = None
    while True:
        if first.low == first.high and second.low == second.high:
            return (first.low > second.low) - (first.low < second.low)
        if first.high <= second.low:
            return -1
        if second.high <= first.low:
            return 1
        if first.low < first.high and second.low < second.high:
            # A common root is one of the common divisor, which neither interval has twice.
            if shared is None:
                shared = common_divisor(first.polynomial, second.polynomial)
            low, high = max(first.low, second.low), min(first.high, second.high)
            if sign_at(shared, low) != sign_at(shared, high):
                return 0
        first = first.narrowed((first.high - first.low) / 2**8)
        second = second.narrowed((second.high - second.low) / 2**8)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of smallest denominator, then numerator, in the open interval (low, high) of
    numbers from 0 up.

    >>> simplest_between(Fraction(7, 2), Fraction(9, 2)), simplest_between(Fraction(0), Fraction(1))
    (Fraction(4, 1), Fraction(1, 2))
    """
    whole = floor(low)
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        return whole + Fraction(1, floor(1 / (high - whole)) + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))


def _nearest(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def _point(digits: int, places: int) -> str:
    """A whole number of 10 ** -places as a decimal."""
    text = str(digits).rjust(places + 1, "0")
    return f"{text[:-places]}.{text[-places:]}" if places else text
