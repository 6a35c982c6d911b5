"""Reciprocal rank fusion: exact values, exact order, honest refusals."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.query.explain import amount, part_in_words
from app.query.fuse import Absence, Contribution, FusedHit, Reason, fuse
from app.query.protocol import Protocol, System, exact_number, make_protocol
from app.query.ranking import Hit, Ranking, ranking_of
from app.query.retrieve import retrieve
from store.backend import EngineHits
from store.errors import BadInput

L1 = list("ABCDE")
L2 = list("BCDEA")


def fused(
    *lists: list[str], k: object = 60, depth: int | None = None, weights: tuple[str, ...] = ()
) -> tuple[FusedHit, ...]:
    """Fuse plain lists of ids as systems s1, s2, …"""
    rankings = [
        ranking_of(f"s{number}", ids, depth=depth) for number, ids in enumerate(lists, start=1)
    ]
    systems = tuple(
        System(
            ranking.system,
            ranking.depth,
            exact_number("weight", weights[index]) if weights else Fraction(1),
        )
        for index, ranking in enumerate(rankings)
    )
    return fuse(rankings, Protocol(systems, exact_number("k", k)))


def order(hits: tuple[FusedHit, ...]) -> str:
    return "".join(hit.id for hit in hits)


def scores(hits: tuple[FusedHit, ...]) -> dict[str, Fraction]:
    return {hit.id: hit.score for hit in hits}


# -- the five-document study ----------------------------------------------------------------------


def test_with_k_zero_the_study_orders_b_a_c_d_e() -> None:
    hits = fused(L1, L2, k=0)
    assert order(hits) == "BACDE"
    assert [hit.score for hit in hits] == [
        Fraction(3, 2),
        Fraction(6, 5),
        Fraction(5, 6),
        Fraction(7, 12),
        Fraction(9, 20),
    ]


def test_with_k_sixty_the_study_orders_b_c_a_d_e() -> None:
    assert order(fused(L1, L2, k=60)) == "BCADE"


def test_cut_at_depth_two_the_study_orders_b_a_c() -> None:
    """fus-10: three candidates, whatever the page size."""
    hits = fused(L1, L2, depth=2)
    assert order(hits) == "BAC"
    assert scores(hits) == {
        "B": Fraction(123, 3782),
        "A": Fraction(1, 61),
        "C": Fraction(1, 62),
    }


def test_four_copies_of_one_list_outvote_the_other() -> None:
    hits = fused(L1, L1, L1, L1, L2)
    assert order(hits) == "ABCDE"
    margin = scores(hits)["A"] - scores(hits)["B"]
    assert margin == Fraction(4, 61) + Fraction(1, 65) - Fraction(4, 62) - Fraction(1, 61)
    assert margin > 0


def test_a_and_c_change_places_between_k_four_and_five() -> None:
    """fus-08: the k that is given is the k that is used."""
    four, five = fused(L1, L2, k=4), fused(L1, L2, k=5)
    assert (order(four), order(five)) == ("BACDE", "BCADE")
    assert (scores(four)["A"], scores(four)["C"]) == (Fraction(14, 45), Fraction(13, 42))
    assert (scores(five)["A"], scores(five)["C"]) == (Fraction(4, 15), Fraction(15, 56))


# -- weights, k and ties --------------------------------------------------------------------------


def test_weights_move_numbers_and_orders() -> None:
    """fus-03"""
    first = fused(["A", "B"], ["B", "A"], weights=("4", "1"))
    second = fused(["A", "B"], ["B", "A"], weights=("1", "4"))
    even = fused(["A", "B"], ["B", "A"])
    assert (order(first), order(second), order(even)) == ("AB", "BA", "AB")
    assert scores(first) == {"A": Fraction(309, 3782), "B": Fraction(153, 1891)}
    assert scores(second) == {"B": Fraction(309, 3782), "A": Fraction(153, 1891)}
    assert set(scores(even).values()) == {Fraction(123, 3782)}


def test_a_strict_preference_survives_a_very_large_k() -> None:
    """fus-07: in floating point these two are equal and the id would decide."""
    big = 1_000_000_000
    hits = fused(["Z", "A", "x", "y"], ["u", "v", "A", "Z"], k=big)
    difference = scores(hits)["Z"] - scores(hits)["A"]
    assert difference == Fraction(2000000005, 500000005000000017500000025000000012)
    assert order(hits).index("Z") < order(hits).index("A")


def test_equal_scores_are_ordered_by_id_in_every_process() -> None:
    """fus-05"""
    program = (
        "from tests.test_fusion import fused, order;"
        "print(order(fused(list('ABC'), list('BAD'))), order(fused(list('BAD'), list('ABC'))))"
    )
    for seed in (0, 1, 17, 49):
        out = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert out.split() == ["ABCD", "ABCD"]


@pytest.mark.parametrize("k", [-1, -5, "-0.5", True, None, float("nan"), float("inf"), 60.5, "x"])
def test_a_k_that_is_no_exact_number_is_refused_by_name(k: object) -> None:
    """fus-13"""
    with pytest.raises(BadInput, match=r"k is a number from 0 to"):
        make_protocol(k=k)


def test_k_zero_and_text_and_fractions_are_exact() -> None:
    """fus-13"""
    assert scores(fused(["A", "B"], ["B"], k=0)) == {"B": Fraction(3, 2), "A": Fraction(1)}
    assert scores(fused(["A"], k="60")) == {"A": Fraction(1, 61)}
    assert scores(fused(["A", "B"], k="60.5")) == {"A": Fraction(2, 123), "B": Fraction(2, 125)}


# -- what is refused, what is absent --------------------------------------------------------------


def test_an_id_twice_in_one_list_is_refused_with_both_names() -> None:
    """fus-01"""
    with pytest.raises(BadInput, match=r"'A' is in the s1 list twice"):
        ranking_of("s1", ["A", "B", "A"])


def test_ranks_with_gaps_are_refused() -> None:
    with pytest.raises(BadInput, match="without gaps"):
        Ranking("s1", 5, (Hit("A", 2, 1.0),), exhausted=True)


def test_lists_that_are_not_the_protocols_are_refused() -> None:
    protocol = make_protocol()
    with pytest.raises(BadInput, match="one list of each"):
        fuse([ranking_of("lexical", ["A"], depth=100)], protocol)
    with pytest.raises(BadInput, match="asked to depth 7"):
        fuse([ranking_of("lexical", [], depth=7), ranking_of("semantic", [], depth=100)], protocol)


def test_an_empty_list_is_no_error_and_a_failed_engine_is_not_an_empty_list() -> None:
    """fus-14"""
    protocol = Protocol((System("lexical", 9), System("semantic", 9)))
    semantic = ranking_of("semantic", ["A", "B"], depth=9)
    empty = fuse([ranking_of("lexical", [], depth=9), semantic], protocol)
    assert scores(empty) == {"A": Fraction(1, 61), "B": Fraction(1, 62)}
    assert empty[0].parts[0] == Absence("lexical", Reason.NOT_MATCHED, 9)
    failed = Ranking("lexical", 9, (), exhausted=False, unavailable="the disk is gone")
    partial = fuse([failed, semantic], protocol)
    assert partial[0].parts[0] == Absence("lexical", Reason.UNAVAILABLE, 9)
    assert fuse([failed, ranking_of("semantic", [], depth=9)], protocol) == ()


def test_fusing_leaves_the_lists_as_they_were() -> None:
    """fus-16"""
    lexical = Ranking("s1", 2, (Hit("A", 1, 12.0), Hit("B", 2, 7.5)), exhausted=True)
    semantic = Ranking("s2", 2, (Hit("B", 1, 0.81), Hit("A", 2, 0.40)), exhausted=True)
    protocol = Protocol((System("s1", 2), System("s2", 2)))
    once, again = fuse([lexical, semantic], protocol), fuse([lexical, semantic], protocol)
    assert once == again
    assert scores(once) == {"A": Fraction(123, 3782), "B": Fraction(123, 3782)}
    assert [hit.score for hit in (*lexical.hits, *semantic.hits)] == [12.0, 7.5, 0.81, 0.40]


# -- the parts that are shown ---------------------------------------------------------------------


def test_passages_of_one_document_are_one_vote_before_ranks_are_given() -> None:
    """fus-01: A#1, B#1, A#2, C#1 is the list A, B, C; otherwise A would have 124/3843."""
    by_passage = {"lexical": ["A#1", "B#1", "A#2", "C#1"], "semantic": ["B#1", "C#1"]}
    rankings = []
    for name, passages in by_passage.items():
        doc_ids = tuple(passage.partition("#")[0] for passage in passages)
        scores_down = tuple(float(len(passages) - place) for place in range(len(passages)))
        found = EngineHits(tuple(passages), doc_ids, scores_down, exhausted=True)
        rankings.append(retrieve(System(name, 9), "document", lambda limit, found=found: found))
    hits = fuse(rankings, Protocol((System("lexical", 9), System("semantic", 9))))
    assert [(hit.id, hit.score) for hit in hits] == [
        ("B", Fraction(123, 3782)),
        ("C", Fraction(125, 3906)),
        ("A", Fraction(1, 61)),
    ]


def test_every_list_has_a_row_in_the_explanation_of_every_document() -> None:
    """exp-01: cut at depth 2, A and C are in one list each."""
    hits = {hit.id: hit for hit in fused(L1, L2, depth=2)}
    rows = {
        name: [
            amount(part) if isinstance(part, Contribution) else part_in_words(part)
            for part in hits[name].parts
        ]
        for name in "ABC"
    }
    assert rows == {
        "A": ["1/61", "not in the top 2"],
        "B": ["1/62", "1/61"],
        "C": ["not in the top 2", "1/62"],
    }
    assert scores(tuple(hits.values())) == {
        "A": Fraction(1, 61),
        "B": Fraction(123, 3782),
        "C": Fraction(1, 62),
    }


def test_parts_shown_as_fractions_add_up_where_rounded_ones_do_not() -> None:
    """exp-02: 0.016393 + 0.016393 is not 0.032787, and 0.0164 + 0.0152 is not 0.0315."""
    twice = fused(["A"], ["A"])[0]
    apart = fused(["A"], ["u", "v", "w", "x", "y", "A"])[0]
    for hit, digits, total in ((twice, 6, Fraction(2, 61)), (apart, 4, Fraction(127, 4026))):
        values = [part.value for part in hit.parts]
        assert hit.score == total == sum(Fraction(amount(part)) for part in hit.parts)
        assert sum(round(value, digits) for value in values) != round(total, digits)


# -- families -------------------------------------------------------------------------------------


def family_of(*families: str, weights: tuple[str, ...] = ()) -> tuple[System, ...]:
    return tuple(
        System(f"s{number}", 5, Fraction(weight), family)
        for number, (family, weight) in enumerate(
            zip(families, weights or ("1",) * len(families), strict=True), start=1
        )
    )


def test_four_copies_in_one_family_have_one_vote() -> None:
    rankings = [ranking_of(f"s{number}", L1) for number in range(1, 5)] + [ranking_of("s5", L2)]
    shared = fuse(rankings, Protocol(family_of("words", "words", "words", "words", "meaning")))
    assert order(shared) == order(fused(L1, L2)) == "BCADE"
    assert scores(shared) == scores(fused(L1, L2))
    assert [part.weight for part in shared[0].parts] == [Fraction(1, 4)] * 4 + [1]


def test_a_family_has_the_mean_weight_of_its_members_and_they_share_it_in_proportion() -> None:
    protocol = Protocol(family_of("a", "a", "b", weights=("1", "3", "0.5")))
    assert protocol.effective_weights == (Fraction(1, 2), Fraction(3, 2), Fraction(1, 2))
    assert [system.get("effective_weight") for system in protocol.as_data()["systems"]] == [
        "1/2",
        "3/2",
        None,
    ]


def test_a_system_alone_in_its_family_keeps_its_weight_and_its_protocol_its_name() -> None:
    """Labels and records of before there were families name the same protocol."""
    assert make_protocol(weights={"lexical": "0.1"}).effective_weights == (Fraction(1, 10), 1)
    assert make_protocol(weighting="fixed").hash == (
        "sha256:b80965757c3ae6cc00bec008f54b494ce6987cc4593c7e9dca1f540451ee0226"
    )
    assert Protocol(family_of("a", "a")).hash != Protocol(family_of("a", "b")).hash


# -- properties -----------------------------------------------------------------------------------

lists = st.lists(
    st.lists(st.sampled_from([f"d{number:02d}" for number in range(14)]), unique=True),
    min_size=1,
    max_size=4,
)
constants = st.one_of(
    st.integers(0, 200), st.fractions(0, 100, max_denominator=97), st.integers(10**8, 10**12)
)


@given(lists, constants)
def test_the_order_is_that_of_exact_sums_with_ties_by_id(given: list[list[str]], k: object) -> None:
    hits = fused(*given, k=k)
    exact = exact_number("k", k)
    slow = {
        name: sum(
            (Fraction(1) / (exact + ids.index(name) + 1) for ids in given if name in ids),
            Fraction(0),
        )
        for name in {name for ids in given for name in ids}
    }
    assert scores(hits) == slow
    assert [hit.id for hit in hits] == sorted(slow, key=lambda name: (-slow[name], name))
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


@given(lists, constants)
def test_every_hit_has_one_part_per_system_and_they_add_up(
    given: list[list[str]], k: object
) -> None:
    for hit in fused(*given, k=k):
        assert [part.system for part in hit.parts] == [f"s{n + 1}" for n in range(len(given))]
        present = [part for part in hit.parts if isinstance(part, Contribution)]
        assert sum((part.value for part in present), Fraction(0)) == hit.score
        assert present


@given(lists, st.integers(1, 6))
def test_what_only_one_list_holds_stays_in_that_lists_order(
    given: list[list[str]], depth: int
) -> None:
    """A fused list never keeps a lower entry of one list and drops a higher one."""
    hits = fused(*given, depth=depth)
    for number, ids in enumerate(given):
        alone = [
            hit.id
            for hit in hits
            if [part.system for part in hit.parts if isinstance(part, Contribution)]
            == [f"s{number + 1}"]
        ]
        places = [ids.index(name) for name in alone]
        assert places == sorted(places)
    assert {hit.id for hit in hits} == {name for ids in given for name in ids[:depth]}


@given(lists, st.integers(1, 6))
def test_pages_of_any_size_are_slices_of_one_order(given: list[list[str]], size: int) -> None:
    """fus-09"""
    whole = [hit.id for hit in fused(*given)]
    pages = [whole[start : start + size] for start in range(0, len(whole) + size, size)]
    assert [name for page in pages for name in page] == whole
    assert pages[-1] == []


def test_twenty_five_candidates_make_pages_of_ten_ten_and_five() -> None:
    """fus-09"""
    names = [f"d{number:02d}" for number in range(1, 26)]
    hits = fused(names, names[10:] + names[:10], depth=20)
    assert len(hits) == 25
    assert [hit.id for hit in hits][:6] == ["d11", "d12", "d13", "d01", "d14", "d02"]


@given(st.permutations(["lexical", "semantic", "codes"]))
def test_the_order_of_the_lists_does_not_change_the_order_of_the_hits(names: list[str]) -> None:
    protocol = Protocol(tuple(System(name, 3) for name in ("lexical", "semantic", "codes")))
    content = {"lexical": ["A", "B", "C"], "semantic": ["B", "A"], "codes": ["C", "D"]}
    rankings = [ranking_of(name, content[name], depth=3) for name in names]
    assert [hit.id for hit in fuse(rankings, protocol)] == ["A", "B", "C", "D"]


def test_a_protocol_names_every_decision_and_its_hash_follows_them() -> None:
    protocols = [
        make_protocol(),
        make_protocol(k=61),
        make_protocol(depths={"lexical": 99}),
        make_protocol(depths={"semantic": 99}),
        make_protocol(weights={"lexical": "0.5"}),
        make_protocol(weights={"semantic": "2"}),
        make_protocol(unit="passage"),
    ]
    assert len({protocol.hash for protocol in protocols}) == len(protocols)
    assert make_protocol(k="60.0", weights={"lexical": "1.0"}).hash == make_protocol().hash
    for first, second in pairwise(protocols):
        assert first != second


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"depths": {"lexical": 0}}, "depth of lexical is from 1"),
        ({"depths": {"lexical": -1}}, "depth of lexical is from 1"),
        ({"depths": {"lexical": 10_001}}, "depth of lexical is from 1"),
        ({"depths": {"lexcal": 5}}, "no system 'lexcal'"),
        ({"weights": {"semantic": "0"}}, "weight of semantic is above 0"),
        ({"weights": {"semantic": "-1"}}, "weight of semantic is a number"),
        ({"unit": "chunk"}, "document or passage"),
    ],
)
def test_values_that_cannot_be_used_are_refused(arguments: dict[str, object], message: str) -> None:
    """lex-14: a depth is checked before any engine sees it."""
    with pytest.raises(BadInput, match=message):
        make_protocol(**arguments)  # type: ignore[arg-type]
