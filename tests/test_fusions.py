"""The other ways to fuse: their published formulas, what they need, and what they refuse."""

from __future__ import annotations

import random
from fractions import Fraction
from statistics import mean, pstdev, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.query.fuse import Absence, Contribution, FusedList, ScoredContribution, fuse, sum_of
from app.query.fusions import FUSIONS, MOST
from app.query.protocol import Protocol, System, make_protocol
from app.query.ranking import Hit, Ranking
from store.errors import BadInput

NAMES = [f"d{number:02d}" for number in range(12)]
Scores = dict[str, float]

some_scores = st.dictionaries(
    st.sampled_from(NAMES), st.floats(-20, 40, allow_nan=False, width=16), min_size=1
)
score_lists = st.lists(some_scores, min_size=1, max_size=4)


def ranked(system: str, scores: Scores) -> Ranking:
    """A list by falling score, equal scores by id."""
    order = sorted(scores, key=lambda name: (-scores[name], name))
    hits = tuple(Hit(name, rank, scores[name]) for rank, name in enumerate(order, start=1))
    return Ranking(system, 20, hits, exhausted=True)


def by(fusion: str, *lists: Scores, weights: tuple[str, ...] = ()) -> FusedList:
    rankings = [ranked(f"s{number}", scores) for number, scores in enumerate(lists, start=1)]
    systems = tuple(
        System(ranking.system, 20, Fraction(weight))
        for ranking, weight in zip(rankings, weights or ("1",) * len(lists), strict=True)
    )
    return fuse(rankings, Protocol(systems, fusion=fusion))


def sums(fused: FusedList) -> dict[str, float]:
    return {hit.id: float(hit.score) for hit in fused}


# -- the formulas ---------------------------------------------------------------------------------

LEXICAL = {"A": 12.0, "B": 9.0, "C": 3.0}
SEMANTIC = {"B": 0.75, "D": 0.5, "A": 0.25}


def test_combsum_adds_what_the_engines_gave() -> None:
    assert sums(by("combsum", LEXICAL, SEMANTIC)) == {"A": 12.25, "B": 9.75, "C": 3.0, "D": 0.5}


def test_combmnz_multiplies_by_the_number_of_lists() -> None:
    assert sums(by("combmnz", LEXICAL, SEMANTIC)) == {"A": 24.5, "B": 19.5, "C": 3.0, "D": 0.5}


def test_minmax_gives_each_list_the_same_scale_and_the_weights_a_sum_of_one() -> None:
    fused = by("minmax", LEXICAL, SEMANTIC, weights=("1", "3"))
    assert sums(fused) == pytest.approx({"B": 11 / 12, "D": 0.375, "A": 0.25, "C": 0})
    assert [hit.id for hit in fused] == ["B", "D", "A", "C"]
    assert fused[0].parts == (
        ScoredContribution("s1", 2, Fraction(1, 4), Fraction(0.25 * (6 / 9)), 9.0, 6 / 9),
        ScoredContribution("s2", 1, Fraction(3, 4), Fraction(0.75), 0.75, 1.0),
    )


def test_borda_counts_the_candidates_below_and_gives_absence_nothing() -> None:
    """Four candidates: 4, 3, 2 points and 1 for whom a list of three leaves out, less that 1."""
    fused = by("borda", LEXICAL, SEMANTIC)
    assert {hit.id: hit.score for hit in fused} == {"B": 5, "A": 4, "D": 2, "C": 1}
    assert fused[3].parts[1] == Absence("s2", fused[3].parts[1].reason, 20)


@given(score_lists)
def test_every_way_is_its_published_formula(lists: list[Scores]) -> None:
    """By the standard library's own means and deviations, added in the plainest manner."""
    candidates = {name for scores in lists for name in scores}
    share = 1 / len(lists)

    def scaled(kind: str, scores: Scores, name: str) -> float:
        values = list(scores.values())
        if kind == "minmax":
            low, high = min(values), max(values)
            return share * (1.0 if low == high else (scores[name] - low) / (high - low))
        if kind == "zscore":
            deviation = pstdev(values)
            return share * ((scores[name] - mean(values)) / deviation if deviation else 0)
        deviation = stdev(values) if len(values) > 1 else 0
        low, high = mean(values) - 3 * deviation, mean(values) + 3 * deviation
        return (scores[name] - low) / (high - low) if deviation else 0.5

    for kind in ("minmax", "zscore", "dbsf"):
        expected = {
            name: sum(scaled(kind, scores, name) for scores in lists if name in scores)
            for name in candidates
        }
        assert sums(by(kind, *lists)) == pytest.approx(expected, abs=1e-6)
    rankings = [ranked("s", scores).rank_of() for scores in lists]
    points = {
        name: sum(
            Fraction(len(candidates) + 1 - ranks[name])
            if name in ranks
            else Fraction(len(candidates) - len(ranks) + 1, 2)
            for ranks in rankings
        )
        for name in candidates
    }
    assert [hit.id for hit in by("borda", *lists)] == sorted(
        candidates, key=lambda name: (-points[name], name)
    )


@settings(max_examples=40)
@given(score_lists)
def test_whatever_the_way_the_parts_add_up_and_the_order_is_theirs(lists: list[Scores]) -> None:
    for name, fusion in FUSIONS.items():
        fused = by(name, *lists)
        assert [hit.id for hit in fused] == sorted(
            fused.ids, key=lambda one: (-sum_of(fused[fused.ids.index(one)].parts), one)
        )
        for hit in fused:
            for part, scores in zip(hit.parts, lists, strict=True):
                assert isinstance(part, Contribution) == (hit.id in scores)
                assert isinstance(part, ScoredContribution) == (
                    hit.id in scores and fusion.uses == "scores"
                )
                if isinstance(part, ScoredContribution):
                    assert part.score == scores[hit.id]


@settings(max_examples=40)
@given(score_lists)
def test_the_order_of_the_systems_never_matters(lists: list[Scores]) -> None:
    """Floats added in another order give other sums; exact sums of floats do not."""
    for name in FUSIONS:
        assert by(name, *lists).ids == by(name, *lists[::-1]).ids


def test_lists_that_are_empty_or_of_equal_scores_divide_nothing_by_zero() -> None:
    for name in FUSIONS:
        assert by(name, {"B": 2.0, "A": 2.0}, {}).ids == ("A", "B")
        assert by(name, {}, {}).ids == ()


# -- what a protocol says of them -----------------------------------------------------------------


def test_an_unknown_fusion_is_refused_with_the_list() -> None:
    with pytest.raises(
        BadInput, match=r"rrf, borda, combsum, combmnz, minmax, zscore, dbsf, not 'x'"
    ):
        make_protocol(fusion="x")


@pytest.mark.parametrize("fusion", [name for name, one in FUSIONS.items() if not one.k])
def test_k_is_no_parameter_of_the_others(fusion: str) -> None:
    with pytest.raises(BadInput, match=f"{fusion} has no k"):
        make_protocol(fusion=fusion, k=61)
    assert "k" not in make_protocol(fusion=fusion).as_data()


@pytest.mark.parametrize("fusion", ["combsum", "combmnz"])
def test_weights_are_no_parameter_of_plain_sums(fusion: str) -> None:
    with pytest.raises(BadInput, match=f"{fusion} has no weights"):
        make_protocol(fusion=fusion, weights={"lexical": 2})
    with pytest.raises(BadInput, match="shared families"):
        Protocol((System("s1", family="words"), System("s2", family="words")), fusion=fusion)
    assert all(
        "weight" not in system for system in make_protocol(fusion=fusion).as_data()["systems"]
    )


def test_every_fusion_makes_another_protocol() -> None:
    protocols = {make_protocol(fusion=fusion).hash for fusion in FUSIONS}
    assert len(protocols) == len(FUSIONS)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf"), 2 * MOST])
def test_a_score_that_cannot_be_added_is_refused_by_name(score: float) -> None:
    for fusion in ("combsum", "combmnz", "minmax", "zscore", "dbsf"):
        with pytest.raises(BadInput, match=r"the s1 list gives 'A' the score"):
            by(fusion, {"A": score, "B": 1.0}, SEMANTIC)
    assert by("rrf", {"A": score}, {"B": 0.5}).ids == ("A", "B")


# -- against the library of fusions ---------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_ranx_finds_the_same_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpreted: compiling it takes minutes. One topic for each case."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    ranx = pytest.importorskip("ranx")
    cases = ranx_cases()
    queries = {f"q{number:03d}": lists for number, lists in enumerate(cases)}
    # The keys are the topics; ranx needs its dictionaries by falling score.
    runs = [
        ranx.Run(
            {
                query: {hit.id: hit.score for hit in ranked("s", lists[side]).hits}
                for query, lists in queries.items()
            }
        )
        for side in (0, 1)
    ]
    theirs = {
        "rrf": ranx.fuse(runs=runs, norm=None, method="rrf", params={"k": 60}),
        "borda": ranx.fuse(runs=runs, norm=None, method="bordafuse"),
        "combsum": ranx.fuse(runs=runs, norm=None, method="sum"),
        "combmnz": ranx.fuse(runs=runs, norm=None, method="mnz"),
        "minmax": ranx.fuse(runs=runs, norm="min-max", method="sum"),
        "zscore": ranx.fuse(runs=runs, norm="zmuv", method="sum"),
    }
    for fusion, run in theirs.items():
        for query, lists in queries.items():
            ours = sums(by(fusion, *lists))
            expected = dict(run[query])
            if fusion == "borda":
                candidates = len(expected)
                left = sum((candidates - len(scores) + 1) / 2 for scores in lists)
                ours = {name: value + left for name, value in ours.items()}
            if FUSIONS[fusion].convex:
                expected = {name: value / 2 for name, value in expected.items()}
            assert ours == pytest.approx(expected, abs=1e-9), (fusion, query)


def ranx_cases() -> list[tuple[Scores, Scores]]:
    """Pairs of lists whose scores differ: what equal ones are given is our own decision."""
    source = random.Random(4)

    def scores() -> Scores:
        names = source.sample(NAMES, source.randrange(2, len(NAMES)))
        return {name: source.uniform(-20, 40) for name in names}

    return [(scores(), scores()) for _ in range(60)]
