"""Where a polynomial is zero: no root missed, none invented, each as exact as it can be said."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from app.query.polynomials import Polynomial, numerator, primitive, sign_at
from app.query.roots import Root, compare, exactly, roots_of, simplest_between

X = sympy.Symbol("x")
coefficients = st.lists(st.integers(-60, 60), min_size=1, max_size=7)
small_fractions = st.fractions(-6, 6, max_denominator=5)


def times(*factors: Polynomial) -> Polynomial:
    product = [1]
    for factor in factors:
        wider = [0] * (len(product) + len(factor) - 1)
        for place, value in enumerate(product):
            for power, other in enumerate(factor):
                wider[place + power] += value * other
        product = wider
    return primitive(product)


def theirs(polynomial: Polynomial) -> list[sympy.Expr]:
    poly = sympy.Poly(list(reversed(polynomial)), X)
    return sorted({root for root in poly.real_roots() if root >= 0}) if len(polynomial) > 1 else []


@given(coefficients)
def test_every_root_from_zero_up_is_found_once(values: list[int]) -> None:
    polynomial = primitive(values)
    if not polynomial:
        return
    found = roots_of(polynomial)
    expected = theirs(polynomial)
    assert len(found) == len(expected)
    for root, other in zip(found, expected, strict=True):
        assert root.low <= other <= root.high
        assert abs(float(root.decimal(9)) - float(other)) <= 1e-9
        # Of a root without a closed form sympy does not say: it is no fraction.
        assert (root.low == root.high) == bool(other.is_rational)


@given(st.lists(small_fractions, min_size=1, max_size=5), st.integers(2, 7))
def test_roots_that_are_fractions_are_named_whatever_stands_beside_them(
    fractions: list[Fraction], cube: int
) -> None:
    """Beside a factor without a closed form, and with roots that repeat."""
    linear = [(-value.numerator, value.denominator) for value in fractions]
    polynomial = times(*linear, (-cube, 0, 0, 1))
    named = {root.exact for root in roots_of(polynomial) if root.exact}
    assert named == {str(value) for value in fractions if value >= 0}
    (other,) = [root for root in roots_of(polynomial) if not root.exact]
    assert other.decimal(6) == f"{cube ** (1 / 3):.6f}"
    assert str(other) == f"≈ {cube ** (1 / 3):.4f}"


@pytest.mark.parametrize(
    ("polynomial", "said"),
    [
        ((-11, -2, 1), ["1 + 2√3"]),
        ((-3, 0, 1), ["√3"]),
        ((-3, 0, 4), ["√3/2"]),
        ((1, -3, 1), ["(3 - √5)/2", "(3 + √5)/2"]),
        ((2, -4, 1), ["2 - √2", "2 + √2"]),
        ((-1, 2, 1), ["-1 + √2"]),
        ((1, -4, 4), ["1/2"]),
        ((6, -5, 1), ["2", "3"]),
        ((0, 0, -7, 1), ["0", "7"]),
        ((1, 1, 1), []),
        ((-(10**12), 0, 1), ["1000000"]),
        (times((-11, -2, 1), (-3, 1)), ["3", "1 + 2√3"]),
        (times((-11, -2, 1), (-11, -2, 1), (-3, 1)), ["3", "1 + 2√3"]),
    ],
)
def test_closed_forms_are_written_as_tidily_as_by_hand(
    polynomial: Polynomial, said: list[str]
) -> None:
    assert [root.exact for root in roots_of(polynomial)] == said


@given(st.integers(-40, 40), st.integers(-40, 40), st.integers(1, 30))
def test_a_square_root_as_text_is_the_root(constant: int, middle: int, lead: int) -> None:
    polynomial = primitive([constant, middle, lead])
    for root in roots_of(polynomial):
        value = sympy.sympify(re.sub(r"(\d*)√(\d+)", _called, root.exact))
        assert sympy.simplify(sum(c * value**p for p, c in enumerate(polynomial))) == 0
        assert root.low <= value <= root.high


def _called(radical: re.Match[str]) -> str:
    """2√3 as 2*sqrt(3)."""
    return f"{radical[1] or 1}*sqrt({radical[2]})"


def test_decimals_enclose_what_they_round() -> None:
    (root,) = roots_of((-11, -2, 1))
    assert root.decimal(40) == "4.4641016151377545870548926830117447338856"
    assert root.between(4) == ("4.4641", "4.4642")
    assert exactly(Fraction(1, 3)).between(3) == ("0.333", "0.334")
    assert str(root) == "1 + 2√3 ≈ 4.4641"
    assert (str(exactly(7)), str(exactly(Fraction(1, 8)))) == ("7", "1/8 ≈ 0.1250")


def test_equal_numbers_of_different_origin_are_equal_and_close_ones_are_not() -> None:
    plain = roots_of((-2, 0, 1))[0]
    lower, same = roots_of(times((-2, 0, 1), (-1, -1, 0, 1)))
    assert (lower.decimal(3), same.decimal(3), same.exact) == ("1.325", "1.414", "")
    assert compare(plain, lower) > 0 == compare(plain, same) == compare(same, plain)
    near = roots_of((-2 * 10**40 + 1, 0, 10**40))[0]
    assert compare(near, plain) < 0 < compare(plain, near)
    assert compare(plain, exactly(Fraction(665857, 470832))) < 0
    assert compare(exactly(Fraction(665857, 470832)), plain) > 0


@given(coefficients, coefficients)
def test_roots_of_two_polynomials_are_compared_as_numbers(one: list[int], other: list[int]) -> None:
    if not (any(one) and any(other)):
        return
    first, second = primitive(one), primitive(other)
    shared = times(first, second)
    for root in roots_of(first):
        same = [mine for mine in roots_of(shared) if compare(root, mine) == 0]
        assert len(same) == 1
        order = [compare(root, mine) for mine in roots_of(shared)]
        assert order == sorted(order, reverse=True)


@given(st.dictionaries(st.integers(1, 9), st.integers(-5, 5), max_size=6), st.fractions(0, 50))
def test_the_numerator_has_the_sign_of_the_sum(poles: dict[int, int], x: Fraction) -> None:
    value = sum((factor / (x + pole) for pole, factor in poles.items()), Fraction(0))
    assert sign_at(numerator(poles), x) == (value > 0) - (value < 0)


@given(*[st.fractions(0, 9, max_denominator=60)] * 2)
def test_the_simplest_fraction_lies_between(one: Fraction, other: Fraction) -> None:
    if one == other:
        return
    low, high = sorted((one, other))
    found = simplest_between(low, high)
    assert low < found < high
    for denominator in range(1, found.denominator):
        assert not any(
            low < Fraction(top, denominator) < high
            for top in range(int(low * denominator), int(high * denominator) + 2)
        )


def test_roots_come_in_order() -> None:
    found: list[Root] = roots_of(times((-2, 0, 1), (-3, 0, 1), (-7, 5), (-1, 0, 0, 1)))
    assert all(compare(one, other) < 0 for one, other in pairwise(found))
    assert [root.decimal(3) for root in found] == ["1.000", "1.400", "1.414", "1.732"]
