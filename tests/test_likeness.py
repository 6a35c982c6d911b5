"""Two systems that always agree are one opinion, and it is said."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.query.likeness import LEAST_SEARCHES, likenesses, overlap, rank_biased_overlap
from app.query.protocol import Protocol, System
from app.query.ranking import Ranking, ranking_of
from store.errors import BadInput

ids = st.lists(st.sampled_from([f"d{number}" for number in range(15)]), unique=True)


def by_definition(first: list[str], second: list[str], p: float) -> float:
    """The infinite sum itself, where every unseen depth agrees as the extrapolation assumes."""
    short, long = sorted((first, second), key=len)
    end, far = len(short), len(long)

    def agreement(depth: int) -> float:
        shared = len(set(short[:depth]) & set(long[:depth]))
        if depth <= end:
            return shared / depth
        at_end = len(set(short) & set(long[:end])) / end
        if depth <= far:
            return (shared + at_end * (depth - end)) / depth
        return agreement(far)

    return (1 - p) * sum(agreement(depth) * p ** (depth - 1) for depth in range(1, 400))


@given(ids, ids, st.sampled_from([Fraction(1, 2), Fraction(9, 10)]))
def test_overlap_is_the_sum_it_is_defined_as(
    first: list[str], second: list[str], p: Fraction
) -> None:
    found = rank_biased_overlap(first, second, p)
    assert found == pytest.approx(rank_biased_overlap(second, first, p), abs=1e-12)
    if first and second:
        assert found == pytest.approx(by_definition(first, second, float(p)), abs=1e-9)
    else:
        assert found == float(first == second)
    assert 0 <= found <= 1
    assert rank_biased_overlap(first, first, p) == pytest.approx(1)


def test_agreement_at_the_top_counts_for_more() -> None:
    swapped_first = rank_biased_overlap("BACDE", "ABCDE")
    swapped_last = rank_biased_overlap("ABCED", "ABCDE")
    assert swapped_first < swapped_last < 1
    assert swapped_first == pytest.approx(1 - 0.1)


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1), Fraction(3, 2)])
def test_a_p_that_is_no_chance_is_refused(p: Fraction) -> None:
    with pytest.raises(BadInput, match="p is between 0 and 1"):
        rank_biased_overlap("A", "A", p)


def test_a_list_with_an_id_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="twice"):
        rank_biased_overlap("AA", "AB")


def test_the_overlap_is_of_the_shorter_list() -> None:
    assert overlap("AB", "BCDE") == 0.5
    assert (overlap("", "A"), overlap("", "")) == (0.0, 1.0)


def searches(number: int, lists: dict[str, str]) -> list[list[Ranking]]:
    return [[ranking_of(name, list(ids), depth=9) for name, ids in lists.items()]] * number


def test_two_systems_that_agree_are_said_to_have_two_votes() -> None:
    lists = {"lexical": "ABCDEFG", "copy": "ABCDEGF", "semantic": "QRCXA"}
    protocol = Protocol(tuple(System(name, 9) for name in lists))
    alike = likenesses(searches(6, lists), protocol)
    assert [(one.first, one.second) for one in alike] == [
        ("lexical", "copy"),
        ("lexical", "semantic"),
        ("copy", "semantic"),
    ]
    assert [one.near_identical for one in alike] == [True, False, False]
    assert alike[0].sentence == (
        "lexical and copy agree 99 % (RBO, p = 0.9, 6 searches): together they have two votes"
    )
    assert alike[0].overlap == 1


def test_in_one_family_they_share_one_vote() -> None:
    lists = {"lexical": "ABC", "copy": "ABC"}
    protocol = Protocol(tuple(System(name, 9, family="words") for name in lists))
    (alike,) = likenesses(searches(5, lists), protocol)
    assert alike.sentence == (
        "lexical and copy agree 100 % (RBO, p = 0.9, 5 searches): together they share one vote"
    )


def test_of_a_few_searches_nothing_is_said() -> None:
    lists = {"lexical": "ABC", "copy": "ABC"}
    protocol = Protocol(tuple(System(name, 9) for name in lists))
    (alike,) = likenesses(searches(LEAST_SEARCHES - 1, lists), protocol)
    assert alike.rbo == pytest.approx(1)
    assert not alike.near_identical


def test_a_system_that_did_not_answer_neither_agrees_nor_disagrees() -> None:
    protocol = Protocol((System("lexical", 9), System("semantic", 9)))
    good = [ranking_of("lexical", ["A"], depth=9), ranking_of("semantic", ["A"], depth=9)]
    down = [good[0], Ranking("semantic", 9, (), exhausted=False, unavailable="no disk")]
    silent = [good[0], Ranking("semantic", 9, (), exhausted=False, not_asked="codes alone")]
    nothing = [ranking_of("lexical", [], depth=9), ranking_of("semantic", [], depth=9)]
    (alike,) = likenesses([good, down, silent, nothing], protocol)
    assert (alike.searches, alike.rbo) == (1, pytest.approx(1))
    assert likenesses([down], protocol) == ()
