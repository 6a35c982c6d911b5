"""Polynomials in one unknown with whole coefficients, and where exactly they are zero.

A polynomial is a tuple of its coefficients, lowest power first, without a zero at the end; the zero
polynomial is empty. Multiplying one by a positive number changes nothing that is asked here, so all
are kept small by taking out what their coefficients share. Degrees are small as well (below twice
the number of systems), so that the plain methods are the fast ones: Descartes' rule first, Sturm's
where that leaves a doubt, halving to close in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm

Polynomial = tuple[int, ...]


def primitive(coefficients: Sequence[int]) -> Polynomial:
    """The polynomial without zeros at the end, its coefficients coprime.

    >>> primitive([2, -4, 0])
    (1, -2)
    """
    end = len(coefficients)
    while end and not coefficients[end - 1]:
        end -= 1
    common = gcd(*coefficients[:end])
    return tuple([value // common for value in coefficients[:end]])


def numerator(poles: Mapping[int, int]) -> Polynomial:
    """What is above the line in the sum of poles[r] / (x + r), made primitive.

    Below the line is the product of all x + r, so that for x >= 0 and r >= 1 the sum has the sign
    of what is returned.

    >>> numerator({1: 1, 2: -1})
    (1,)
    """
    kept = [(pole, factor) for pole, factor in poles.items() if factor]
    product = [1]
    for pole, _ in kept:
        product = [
            low * pole + high for low, high in zip([*product, 0], [0, *product], strict=True)
        ]
    total = [0] * len(kept)
    for pole, factor in kept:
        quotient = 0
        for power in range(len(kept) - 1, -1, -1):
            quotient = product[power + 1] - pole * quotient
            total[power] += factor * quotient
    return primitive(total)


def sign_at(polynomial: Polynomial, x: Fraction) -> int:
    """-1, 0 or 1: the sign of the polynomial at ``x``."""
    return _sign(polynomial, x.numerator, x.denominator)


def _sign(polynomial: Polynomial, above: int, below: int) -> int:
    value, scale = 0, 1
    for coefficient in reversed(polynomial):
        value = value * above + coefficient * scale
        scale *= below
    return (value > 0) - (value < 0)


def changes(values: Iterable[int]) -> int:
    """How often the sign changes along ``values``, zeros left out.

    Of a polynomial's coefficients (Descartes) that is the number of its positive roots, or an even
    number more.
    """
    signs = [value > 0 for value in values if value]
    return sum(one != other for one, other in pairwise(signs))


def derivative(polynomial: Polynomial) -> Polynomial:
    """The derivative, made primitive."""
    return primitive([power * value for power, value in enumerate(polynomial)][1:])


def remainder(polynomial: Polynomial, divisor: Polynomial) -> Polynomial:
    """The remainder of a division, times a positive number."""
    rest = list(polynomial)
    lead = abs(divisor[-1])
    while len(rest) >= len(divisor):
        factor = rest[-1] if divisor[-1] > 0 else -rest[-1]
        shift = len(rest) - len(divisor)
        rest = [lead * value for value in rest]
        for place, value in enumerate(divisor):
            rest[shift + place] -= factor * value
        rest.pop()
    return primitive(rest)


def quotient(polynomial: Polynomial, divisor: Polynomial) -> Polynomial:
    """The quotient of a division that leaves no remainder, times a positive number."""
    steps = len(polynomial) - len(divisor) + 1
    rest = [value * abs(divisor[-1]) ** steps for value in polynomial]
    found = [0] * steps
    for power in range(steps - 1, -1, -1):
        found[power] = rest[power + len(divisor) - 1] // divisor[-1]
        for place, value in enumerate(divisor):
            rest[power + place] -= found[power] * value
    return primitive(found)


def common_divisor(first: Polynomial, second: Polynomial) -> Polynomial:
    """The greatest common divisor, primitive."""
    while second:
        first, second = second, remainder(first, second)
    return first


def simple(polynomial: Polynomial) -> Polynomial:
    """The polynomial with the same roots, each of them once.

    >>> simple((1, -2, 1))
    (-1, 1)
    """
    return quotient(polynomial, common_divisor(polynomial, derivative(polynomial)))


def isolated(polynomial: Polynomial) -> list[tuple[Fraction, Fraction]]:
    """The positive roots of a :func:`simple` polynomial, ascending, each alone in an interval.

    An interval (low, high] is shorter than 1 / the leading coefficient, so that at most one
    fraction in it can be a root. ``low == high`` is a root that is a fraction; the others are not.
    """
    lead = abs(polynomial[-1])
    # Cauchy: no root is as far from 0 as this.
    bound = Fraction(2 + max(map(abs, polynomial)) // lead)
    expected = changes(polynomial)
    if expected > 1:
        chain = _sturm(polynomial)
        zero = Fraction(0)
        whole = [(zero, bound, _changes_at(chain, zero), _changes_at(chain, bound))]
        alone = []
        while whole:
            low, high, before, after = whole.pop()
            if before - after == 1 and sign_at(polynomial, low):
                alone.append((low, high))
            elif before > after:
                middle = (low + high) / 2
                between = _changes_at(chain, middle)
                whole += [(middle, high, between, after), (low, middle, before, between)]
    else:
        alone = [(Fraction(0), bound)] * expected
    return [_closely(polynomial, low, high, lead) for low, high in alone]


def _closely(
    polynomial: Polynomial, low: Fraction, high: Fraction, lead: int
) -> tuple[Fraction, Fraction]:
    """The interval (low, high] of one root, made shorter than 1 / lead, or the root itself."""
    low, high = closer(polynomial, low, high, Fraction(1, lead + 1))
    candidate = Fraction(high.numerator * lead // high.denominator, lead)
    if candidate > low and sign_at(polynomial, candidate) == 0:
        return candidate, candidate
    return low, high


def closer(
    polynomial: Polynomial, low: Fraction, high: Fraction, width: Fraction
) -> tuple[Fraction, Fraction]:
    """The interval (low, high], in which the polynomial has one root and that once, halved until it
    is no longer than ``width``."""
    below = sign_at(polynomial, low)
    # Whole numbers over a common denominator: reducing fractions would take most of the time.
    bottom = lcm(low.denominator, high.denominator)
    start, end = int(low * bottom), int(high * bottom)
    while (end - start) * width.denominator > width.numerator * bottom:
        middle, bottom = start + end, 2 * bottom
        # At the root itself the sign is another one too, so that it stays inside.
        if _sign(polynomial, middle, bottom) == below:
            start, end = middle, 2 * end
        else:
            start, end = 2 * start, middle
    return Fraction(start, bottom), Fraction(end, bottom)


def _sturm(polynomial: Polynomial) -> list[Polynomial]:
    chain = [polynomial, derivative(polynomial)]
    while len(chain[-1]) > 1:
        chain.append(tuple([-value for value in remainder(chain[-2], chain[-1])]))
    return chain


def _changes_at(chain: Sequence[Polynomial], x: Fraction) -> int:
    """Sturm: the roots in (a, b] are as many as the changes of sign that are lost from a to b."""
    return changes(sign_at(one, x) for one in chain)
