"""Other k, weights and depths: what is said to happen is what fusing there gives."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.query.depths import order_by_depth
from app.query.fuse import FusedList, fuse
from app.query.protocol import Protocol, System, make_protocol
from app.query.ranking import Ranking, ranking_of
from app.query.roots import Root, compare, exactly
from app.query.spans import Span, order_by_k, order_by_weight
from app.query.swaps import Kind, compare_all, compare_hits
from app.query.what_if import what_if
from store.errors import BadInput
from tests.test_fusion import L1, L2, fused

Case = tuple[list[Ranking], Protocol]
NAMES = [f"d{number}" for number in range(9)]
WEIGHTS = [Fraction(1), Fraction(2), Fraction(1, 4), Fraction("0.1"), Fraction(9)]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A few lists, some of one family, with weights and a k."""
    lists = draw(
        st.lists(st.lists(st.sampled_from(NAMES), unique=True, min_size=1), min_size=1, max_size=4)
    )
    rankings = [ranking_of(f"s{number}", ids, depth=9) for number, ids in enumerate(lists)]
    systems = tuple(
        System(
            ranking.system,
            9,
            draw(st.sampled_from(WEIGHTS)),
            draw(st.sampled_from(["", "family"])),
        )
        for ranking in rankings
    )
    return rankings, Protocol(systems, Fraction(draw(st.sampled_from([0, 1, 60]))))


def among(order: FusedList, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in order.ids if name in names)


def inside(span: Span) -> list[Fraction]:
    """A fraction in the span, if there is one: in its middle, or itself."""
    start, end = span.start, span.end
    if end is None:
        return [start.high + 3]
    if compare(start, end) == 0:
        return [start.high] if start.low == start.high else []
    while start.high >= end.low:
        start = start.narrowed((start.high - start.low) / 2)
        end = end.narrowed((end.high - end.low) / 2)
    return [(start.high + end.low) / 2]


def covering(spans: tuple[Span, ...], value: Fraction) -> Span:
    """The one span with that value."""
    at = exactly(value)

    def holds(span: Span) -> bool:
        after = compare(span.start, at)
        before = -1 if span.end is None else compare(at, span.end)
        return (after < 0 or (after == 0 and span.with_start)) and (
            before < 0 or (before == 0 and span.with_end)
        )

    (found,) = [span for span in spans if holds(span)]
    return found


# -- two documents --------------------------------------------------------------------------------


def test_a_and_c_of_the_study_swap_at_one_plus_the_root_of_twelve() -> None:
    """fus-08: ranks 1 and 5 against 3 and 2."""
    hits = {hit.id: hit for hit in fused(L1, L2)}
    (meeting,) = compare_hits(hits["A"], hits["C"]).meetings
    assert meeting.at.polynomial == (-11, -2, 1)
    assert (meeting.at.exact, meeting.at.decimal(4)) == ("1 + 2√3", "4.4641")
    assert (meeting.kind, meeting.below, meeting.ahead_below) == (Kind.SWAP, 4, "A")
    assert (meeting.above, meeting.ahead_above) == (5, "C")
    assert compare_hits(hits["C"], hits["A"]).in_words == (
        "C and A: C passes A at k = 1 + 2√3 ≈ 4.4641"
    )
    assert compare_hits(hits["A"], hits["B"]).in_words == "B is ahead of A at every k"


def test_two_that_are_equal_once_and_do_not_swap_are_told_apart_from_a_swap() -> None:
    """9/(k + 1) + 25/(k + 3) - 32/(k + 2) is (k - 2)² times something positive."""
    lists = [["Z", "x", "y"], ["u", "v", "Z"], ["w", "A"]]
    hits = {hit.id: hit for hit in fused(*lists, weights=("9", "25", "32"))}
    comparison = compare_hits(hits["A"], hits["Z"])
    (meeting,) = comparison.meetings
    assert (meeting.at.exact, meeting.kind) == ("2", Kind.TOUCH)
    assert meeting.ahead_below == meeting.ahead_above == "Z"
    assert comparison.swaps == ()
    assert comparison.in_words == "A and Z: they are equal at k = 2 only"
    spans = order_by_k((hits["A"], hits["Z"]), (comparison,))
    assert [(str(span), span.order) for span in spans] == [
        ("[0, 2)", ("Z", "A")),
        ("2", ("A", "Z")),
        ("(2, ∞)", ("Z", "A")),
    ]


def test_two_that_are_equal_at_k_zero_only() -> None:
    """2/(k + 2) is more than 1/(k + 1) from there on."""
    hits = {hit.id: hit for hit in fused(["A"], ["x", "B"], ["y", "B"])}
    (meeting,) = compare_hits(hits["A"], hits["B"]).meetings
    assert (meeting.kind, meeting.at.exact, meeting.below) == (Kind.START, "0", None)
    assert meeting.ahead_above == "B"
    assert compare_hits(hits["A"], hits["B"]).in_words == "A and B: they are equal at k = 0"


def test_swapped_ranks_are_equal_at_every_k_and_it_is_said() -> None:
    hits = fused(["A", "B"], ["B", "A"])
    comparison = compare_hits(hits[1], hits[0])
    assert comparison.always_equal
    assert comparison.in_words == "B and A are equal at every k"
    assert order_by_k(hits[:], (comparison,))[0].order == ("A", "B")


def test_scores_have_no_k_to_change() -> None:
    protocol = make_protocol(fusion="minmax")
    rankings = [ranking_of("lexical", L1, depth=100), ranking_of("semantic", L2, depth=100)]
    with pytest.raises(BadInput, match="minmax has no k"):
        what_if(rankings, protocol, fuse(rankings, protocol))
    with pytest.raises(BadInput, match="fused by scores"):
        compare_all(fuse(rankings, protocol)[:])


@settings(max_examples=60)
@given(cases(), st.fractions(0, 40, max_denominator=7))
def test_who_is_ahead_between_two_meetings_is_ahead_everywhere_between(
    case: Case, k: Fraction
) -> None:
    rankings, protocol = case
    there = {hit.id: hit.score for hit in fuse(rankings, replace(protocol, k=k))}
    for comparison in compare_all(fuse(rankings, protocol)[:]):
        first, second = there[comparison.first], there[comparison.second]
        if comparison.always_equal:
            assert first == second
            continue
        order = [compare(meeting.at, exactly(k)) for meeting in comparison.meetings]
        if 0 in order:
            assert first == second
            continue
        passed = order.count(-1)
        if passed:
            ahead = comparison.meetings[passed - 1].ahead_above
        else:
            ahead = (
                comparison.meetings[0].ahead_below
                if comparison.meetings
                else comparison.ahead_at_last
            )
        assert ahead == (comparison.first if first > second else comparison.second)


@settings(max_examples=60)
@given(cases())
def test_both_sides_of_a_meeting_are_proven_by_the_scores_there(case: Case) -> None:
    rankings, protocol = case

    def ahead(k: Fraction, comparison: object) -> str:
        there = {hit.id: hit.score for hit in fuse(rankings, replace(protocol, k=k))}
        return max((comparison.first, comparison.second), key=there.__getitem__)

    for comparison in compare_all(fuse(rankings, protocol)[:]):
        for meeting in comparison.meetings:
            assert compare(meeting.at, exactly(meeting.above)) < 0
            assert ahead(meeting.above, comparison) == meeting.ahead_above
            if meeting.below is not None:
                assert compare(meeting.at, exactly(meeting.below)) > 0
                assert ahead(meeting.below, comparison) == meeting.ahead_below
            swapped = meeting.ahead_below not in ("", meeting.ahead_above)
            assert swapped == (meeting.kind is Kind.SWAP)
        for one, other in pairwise(comparison.meetings):
            assert one.ahead_above == other.ahead_below


# -- the order of several -------------------------------------------------------------------------


def test_the_order_of_the_study_changes_at_one_k() -> None:
    hits = fused(L1, L2)[:]
    spans = order_by_k(hits, compare_all(hits))
    assert [(str(span), "".join(span.order)) for span in spans] == [
        ("[0, 1 + 2√3 ≈ 4.4641]", "BACDE"),
        ("(1 + 2√3 ≈ 4.4641, ∞)", "BCADE"),
    ]


@settings(max_examples=60)
@given(cases(), st.fractions(0, 40, max_denominator=3), st.integers(2, 6))
def test_the_order_by_k_is_the_order_of_fusing_at_that_k(
    case: Case, k: Fraction, shown: int
) -> None:
    rankings, protocol = case
    hits = fuse(rankings, protocol)[:shown]
    names = tuple(hit.id for hit in hits)
    spans = order_by_k(hits, compare_all(hits))
    for span in spans:
        for value in inside(span):
            there = fuse(rankings, replace(protocol, k=value))
            assert among(there, names) == span.order
    assert covering(spans, k).order == among(fuse(rankings, replace(protocol, k=k)), names)
    ends_at_fractions = [span.start.low for span in spans if span.start.low == span.start.high]
    for end in ends_at_fractions:
        there = fuse(rankings, replace(protocol, k=end))
        assert covering(spans, end).order == among(there, names)
    for one, other in pairwise(spans):
        assert one.order != other.order
        assert one.end is not None
        assert compare(one.end, other.start) == 0
        assert one.with_end != other.with_start
    assert (spans[0].start.exact, spans[0].with_start, spans[-1].end) == ("0", True, None)


def weighing(protocol: Protocol, system: str, weight: Fraction) -> Protocol:
    return replace(
        protocol,
        systems=tuple(
            replace(one, weight=weight) if one.name == system else one for one in protocol.systems
        ),
    )


def test_the_first_list_of_the_study_needs_a_certain_weight_to_put_a_first() -> None:
    """A leads B once w (1/61 - 1/62) is more than 1/61 - 1/65."""
    hits = fused(L1, L2)[:]
    protocol = Protocol((System("s1", 5), System("s2", 5)))
    spans = order_by_weight(hits, protocol, "s1")
    assert spans[-1].order == tuple("ABCDE")
    assert spans[-1].start.exact == str(
        (Fraction(1, 61) - Fraction(1, 65)) / (Fraction(1, 61) - Fraction(1, 62))
    )
    assert spans[-1].with_start  # equal there, and A is first by id
    with pytest.raises(BadInput, match="no system 'x'; there are s1, s2"):
        order_by_weight(hits, protocol, "x")


@settings(max_examples=60)
@given(cases(), st.fractions(Fraction(1, 9), 40, max_denominator=9))
def test_the_order_by_a_weight_is_the_order_of_fusing_with_that_weight(
    case: Case, weight: Fraction
) -> None:
    """The weights of a family as well, which its members share."""
    rankings, protocol = case
    hits = fuse(rankings, protocol)[:6]
    names = tuple(hit.id for hit in hits)
    for system in protocol.systems:
        spans = order_by_weight(hits, protocol, system.name)
        assert not spans[0].with_start
        for value in (weight, *(one for span in spans for one in inside(span))):
            there = fuse(rankings, weighing(protocol, system.name, value))
            assert covering(spans, value).order == among(there, names)


def cut(rankings: list[Ranking], protocol: Protocol, system: str, depth: int) -> FusedList:
    """The fusion with one list asked to another depth."""
    return fuse(
        [
            ranking_of(one.system, [hit.id for hit in one.hits], depth=depth)
            if one.system == system
            else one
            for one in rankings
        ],
        replace(
            protocol,
            systems=tuple(
                replace(one, depth=depth) if one.name == system else one for one in protocol.systems
            ),
        ),
    )


def test_the_second_list_of_the_study_place_by_place() -> None:
    protocol = Protocol((System("s1", 5), System("s2", 5)))
    rankings = [ranking_of("s1", L1), ranking_of("s2", L2)]
    whole = fuse(rankings, protocol)
    steps = order_by_depth(rankings, protocol, whole, "s2", 5)
    assert [(step.depth, step.document, "".join(step.passed)) for step in steps] == [
        (1, "B", "A"),
        (2, "C", "A"),
        (3, "D", "A"),
        (4, "E", "A"),
        (5, "A", "DE"),
    ]
    assert ["".join(step.order) for step in steps] == [
        "BACDE",
        "BCADE",
        "BCDAE",
        "BCDEA",
        "BCADE",
    ]
    with pytest.raises(BadInput, match="no list of a system 'x'"):
        order_by_depth(rankings, protocol, whole, "x", 5)


@settings(max_examples=60)
@given(cases(), st.integers(1, 6))
def test_each_depth_gives_the_order_of_lists_cut_there(case: Case, shown: int) -> None:
    rankings, protocol = case
    fused_now = fuse(rankings, protocol)
    for ranking in rankings:
        steps = order_by_depth(rankings, protocol, fused_now, ranking.system, shown)
        orders = {step.depth: step.order for step in steps}
        order: tuple[str, ...] = ()
        for depth in range(1, len(ranking.hits) + 1):
            order = orders.get(depth, order)
            whole = cut(rankings, protocol, ranking.system, depth)
            assert order == whole.ids[:shown]
        for before, step in pairwise(steps):
            assert step.document == ranking.hits[step.depth - 1].id
            assert set(step.order) == set(before.order) - set(step.left) | set(step.entered)
            ahead = [name for name in before.order if name in step.passed]
            assert list(step.passed) == ahead
            if step.document in before.order:
                to, place = step.order.index(step.document), before.order.index(step.document)
                assert step.passed == before.order[to:place]


def test_everything_about_twenty_documents_is_data() -> None:
    names = [f"d{number:02d}" for number in range(30)]
    rankings = [
        ranking_of("lexical", names, depth=100),
        ranking_of("semantic", names[::3] + names[1::3] + names[2::3], depth=100),
    ]
    protocol = make_protocol()
    answer = what_if(rankings, protocol, fuse(rankings, protocol))
    data = answer.as_data()
    assert len(data["shown"]) == 20
    assert len(answer.comparisons) == len(list(combinations(range(20), 2)))
    assert set(data["by_weight"]) == set(data["by_depth"]) == {"lexical", "semantic"}
    assert data["by_k"][0]["start"] == {
        "exact": "0",
        "decimal": "0.000000000000",
        "low": "0.000000000000",
        "high": "0.000000000000",
    }
    ends = [span["start"] for span in data["by_k"][1:]]
    assert ends
    for end in ends:
        width = Fraction(end["high"]) - Fraction(end["low"])
        assert 0 <= width <= Fraction(1, 10**12)
    for meeting in data["meetings"][0]["meetings"]:
        assert meeting["kind"] in ("swap", "touch", "start")


def test_a_tie_of_three_at_one_k_is_settled_by_their_ids() -> None:
    """Two that are equal at every k meet a third one: there all three go by id."""
    lists = [["c", "x1", "x2"], ["b", "a", "x3"], ["a", "b", "x4"], ["y1", "y2", "y3", "y4", "c"]]
    hits = [hit for hit in fused(*lists, k=0, weights=("3", "2", "2", "1")) if hit.id in "abc"]
    spans = order_by_k(hits, compare_all(hits))
    orders = {"".join(span.order) for span in spans}
    assert orders == {"cab", "abc"}


def test_roots_are_values() -> None:
    assert exactly(3) == exactly(Fraction(3)) == Root((-3, 1), Fraction(3), Fraction(3), "3")
