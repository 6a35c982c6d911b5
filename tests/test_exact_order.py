"""The fast order of sums is the slow exact one: random lists, near-ties, and everything between."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.query.exact_order import Votes, exact_order
from app.query.fuse import fuse
from app.query.fusions import reciprocal
from app.query.protocol import Protocol, System
from app.query.ranking import Ranking, ranking_of
from bench.fusing import random_case, slow_order

NAMES = [f"d{number:02d}" for number in range(24)]

weights = st.one_of(
    st.sampled_from([Fraction(1), Fraction("0.1"), Fraction("0.3"), Fraction(1, 3), Fraction(7)]),
    st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6),
    st.sampled_from([Fraction(10**12), Fraction(1, 10**12), Fraction("1e-30"), Fraction("1e-400")]),
)
constants = st.one_of(
    st.integers(0, 100),
    st.fractions(0, 100, max_denominator=1000),
    st.integers(10**6, 10**12),
    st.just(10**12),
)
weighted_lists = st.lists(
    st.tuples(st.lists(st.sampled_from(NAMES), unique=True), weights), min_size=1, max_size=5
)


def voted(
    given: list[tuple[list[str], Fraction]], k: Fraction
) -> tuple[list[Ranking], list[Votes]]:
    rankings = [ranking_of(f"s{number}", ids) for number, (ids, _) in enumerate(given)]
    return rankings, [
        reciprocal(ranking, weight, k) for ranking, (_, weight) in zip(rankings, given, strict=True)
    ]


def as_votes(scores: dict[str, float]) -> Votes:
    values = list(scores.values())
    return Votes(list(scores), values, lambda place: values[place].as_integer_ratio())


@settings(max_examples=400)
@given(weighted_lists, constants)
def test_the_fast_order_is_the_exact_order(
    given: list[tuple[list[str], Fraction]], k: Fraction
) -> None:
    _, votes = voted(given, Fraction(k))
    assert exact_order(votes) == slow_order(given, Fraction(k))


@pytest.mark.parametrize("kind", ["plain", "large k", "decimal weights", "huge ratios", "copies"])
def test_long_lists_of_every_kind_come_in_the_exact_order(kind: str) -> None:
    source = random.Random(f"{kind} 7")
    for _ in range(12):
        given, k = random_case(source, kind, length=300)
        _, votes = voted(given, k)
        assert exact_order(votes) == slow_order(given, k)


def test_sums_that_floats_cannot_tell_apart_are_told_apart() -> None:
    """fus-07: ranks 1 and 4 against 2 and 3 at every large k; the id would say otherwise."""
    for exponent in range(6, 13):
        given = [(["Z", "A", "x", "y"], Fraction(1)), (["u", "v", "A", "Z"], Fraction(1))]
        _, votes = voted(given, Fraction(10**exponent))
        order = exact_order(votes)
        assert order.index("Z") < order.index("A")


def test_sums_that_floats_make_unequal_are_equal_by_id() -> None:
    """1/63 + 1/140 = 1/84 + 1/90 exactly, by other fractions."""
    assert Fraction(1, 63) + Fraction(1, 140) == Fraction(1, 84) + Fraction(1, 90)
    assert 1 / 63 + 1 / 140 != 1 / 84 + 1 / 90
    first = [f"x{number}" for number in range(100)]
    second = [f"y{number}" for number in range(100)]
    first[3 - 1], second[80 - 1] = "b", "b"
    first[24 - 1], second[30 - 1] = "a", "a"
    for one, other in ((first, second), (second, first)):
        _, votes = voted([(one, Fraction(1)), (other, Fraction(1))], Fraction(60))
        order = exact_order(votes)
        assert order.index("a") + 1 == order.index("b")


def test_values_too_small_for_a_float_still_have_an_order() -> None:
    given = [(["b", "a"], Fraction("1e-400")), (["a", "b", "c"], Fraction("1e-401"))]
    _, votes = voted(given, Fraction(60))
    assert set(votes[0].floats) == {0.0}
    assert exact_order(votes) == ["b", "a", "c"]


@settings(max_examples=200)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(NAMES),
            st.one_of(
                st.floats(-1e3, 1e3, allow_nan=False),
                st.sampled_from([0.1, 0.2, 0.3, -0.1, 1e-300, 5e-324, 1e17, -1e17]),
            ),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_floats_of_either_sign_are_ordered_by_their_exact_sums(
    given: list[dict[str, float]],
) -> None:
    lists = [as_votes(scores) for scores in given]
    sums = {
        name: sum((Fraction(scores[name]) for scores in given if name in scores), Fraction(0))
        for name in {name for scores in given for name in scores}
    }
    assert exact_order(lists) == sorted(sums, key=lambda name: (-sums[name], name))
    assert exact_order(lists[::-1]) == exact_order(lists)


@given(weighted_lists, constants)
def test_a_hit_made_on_demand_has_the_exact_parts(
    given: list[tuple[list[str], Fraction]], k: Fraction
) -> None:
    rankings, _ = voted(given, Fraction(k))
    systems = tuple(
        System(
            ranking.system, ranking.depth, min(max(weight, Fraction(1, 10**12)), Fraction(10**12))
        )
        for ranking, (_, weight) in zip(rankings, given, strict=True)
    )
    hits = fuse(rankings, Protocol(systems, Fraction(k)))
    assert [hit.id for hit in hits] == list(hits.ids)
    assert hits[::-1] == tuple(reversed(hits))
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    for hit in hits:
        assert hits[hit.rank - 1] is hit
        for system, ranking, part in zip(systems, rankings, hit.parts, strict=True):
            ranks = ranking.rank_of()
            if hit.id in ranks:
                assert part.value == system.weight / (Fraction(k) + ranks[hit.id])
