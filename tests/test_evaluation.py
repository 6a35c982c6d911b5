"""Figures of runs against labels: displayed order, all topics, all labels, sources always there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.evaluation.evaluate import ENOUGH_TOPICS, Evaluation, evaluate
from app.evaluation.measures import DEFAULT_MEASURES, JUDGED, measure_names, measured
from app.evaluation.qrels import Qrels, qrels_of_labels, read_qrels
from app.evaluation.runs import Run, fused_from_runs, read_trec_run
from app.evaluation.significance import by_chance, holm, intervals
from app.query.protocol import Protocol, System
from corpus.judging import Judgment
from store.errors import BadInput

MEASURES = measure_names(DEFAULT_MEASURES)
IDS = "abcdefgh"


def source(name: str, **lists: str) -> Run:
    return Run(name, "source", {topic: tuple(ids) for topic, ids in lists.items()})


def labelled(**grades: Mapping[str, int]) -> Qrels:
    return Qrels(grades, "given")


def value(measure: str, shown: Sequence[str], grades: Mapping[str, int]) -> float:
    run = Run("run", "source", {"q": tuple(shown)})
    return float(measured(run, labelled(q=grades), ["q"], [measure])[0, 0])


def compared(*sources: Run, qrels: Qrels, topics: Sequence[str], k: str = "60") -> Evaluation:
    systems = tuple(System(run.name, 10) for run in sources)
    fusion = fused_from_runs("fused", Protocol(systems, Fraction(k)), sources)
    return evaluate([*sources, fusion], qrels, topics, MEASURES)


# -- what a measure is given ----------------------------------------------------------------------


@pytest.mark.parametrize(("relevant", "ap", "ndcg"), [("r3", 1 / 3, 0.5), ("r1", 1.0, 1.0)])
def test_measures_follow_the_displayed_order_of_tied_documents(
    relevant: str, ap: float, ndcg: float
) -> None:
    """eva-01"""
    assert value("AP", ["r1", "r2", "r3"], {relevant: 1}) == pytest.approx(ap, abs=1e-12)
    assert value("nDCG@10", ["r1", "r2", "r3"], {relevant: 1}) == pytest.approx(ndcg, abs=1e-12)


def test_a_topic_for_which_nothing_was_shown_counts_as_zero() -> None:
    """eva-02"""
    evaluation = compared(
        source("one", q1="a", q2=""),
        source("two", q1="a", q2="b"),
        qrels=labelled(q1={"a": 1}, q2={"b": 1}),
        topics=["q1", "q2"],
    )
    one, two = evaluation.row("one"), evaluation.row("two")
    assert (one.means[0], two.means[0]) == (0.5, 1.0)
    assert (one.empty, two.empty) == (1, 0)
    assert len(one.values) == 2


def test_a_topic_without_any_label_counts_as_zero_and_is_said() -> None:
    evaluation = compared(
        source("one", q1="a", q2="b"), qrels=labelled(q1={"a": 1}), topics=["q1", "q2"]
    )
    assert evaluation.row("one").means[0] == 0.5
    assert "1 of 2 topics have no document labelled relevant" in evaluation.notes[0]


def test_the_ideal_is_made_from_all_labels() -> None:
    """eva-04"""
    found = value("nDCG@10", ["d1", "d2"], {"d1": 3, "d2": 2, "d9": 3})
    assert found == pytest.approx(0.723232974842, abs=1e-12)


def test_average_precision_is_divided_by_all_relevant_documents() -> None:
    """eva-06"""
    grades = {"a": 1, "b": 1, "c": 1}
    assert value("AP", ["a", "x", "y"], grades) == pytest.approx(1 / 3)
    assert value("AP", ["a", "b", "c"], grades) == 1


def test_what_was_judged_stands_beside_what_was_measured() -> None:
    """eva-07: unjudged documents keep their places, and the report says how many there are."""
    shown, grades = ["U1", "B", "U2", "C"], {"B": 1, "C": 1}
    assert value("AP", shown, grades) == 0.5
    assert value("Judged@4", shown, grades) == 0.5
    judged_alone = [name for name in shown if name in grades]
    assert value("AP", judged_alone, grades) == 1
    assert measure_names(["AP"]) == ("AP", JUDGED)


@given(
    st.dictionaries(st.sampled_from("pqrst"), st.permutations(list(IDS)), min_size=1),
    st.dictionaries(
        st.sampled_from("pqrst"),
        st.dictionaries(st.sampled_from(IDS), st.integers(0, 3), min_size=1),
        min_size=1,
    ),
)
def test_means_are_those_of_ir_measures_over_every_labelled_topic(
    lists: dict[str, list[str]], grades: dict[str, dict[str, int]]
) -> None:
    """The oracle is given scores without ties, and fills in the topics that the run lacks."""
    run = Run("run", "source", {topic: tuple(ids) for topic, ids in lists.items()})
    topics = sorted(grades)
    values = measured(run, Qrels(grades, "given"), topics, MEASURES)
    scores = {
        topic: {name: 1 / place for place, name in enumerate(ids, 1)}
        for topic, ids in lists.items()
        if topic in grades
    }
    if not scores:
        assert not values.any()
        return
    parsed = [ir_measures.parse_measure(name) for name in MEASURES]
    expected = ir_measures.calc_aggregate(parsed, grades, scores)
    for column, measure in enumerate(parsed):
        assert math.fsum(values[:, column]) / len(topics) == pytest.approx(expected[measure])


# -- sources and fusions --------------------------------------------------------------------------


def test_sources_stand_before_fusions_and_the_best_one_is_named_per_measure() -> None:
    evaluation = compared(
        source("one", q1="yzb", q2="bc"),
        source("two", q1="ab", q2="yxc"),
        qrels=labelled(q1={"b": 1}, q2={"c": 1}),
        topics=["q1", "q2"],
    )
    assert [row.name for row in evaluation.rows] == ["one", "two", "fused"]
    assert evaluation.best_source("AP") in ("one", "two")
    means = {row.name: row.means[0] for row in evaluation.rows}
    assert means[evaluation.best_source("AP")] == max(means["one"], means["two"])
    assert {one.measure for one in evaluation.comparisons} == set(DEFAULT_MEASURES)
    for one in evaluation.comparisons:
        assert one.source == evaluation.best_source(one.measure)
        assert one.wins + one.ties + one.losses == 2


def test_a_fusion_without_the_row_of_a_source_is_refused() -> None:
    one, two = source("one", q="ab"), source("two", q="ba")
    fusion = fused_from_runs("fused", Protocol((System("one", 2), System("two", 2))), [one, two])
    with pytest.raises(BadInput, match="'two', which has no row"):
        evaluate([one, fusion], labelled(q={"a": 1}), ["q"], MEASURES)


def test_topics_that_the_fusion_lost_come_first() -> None:
    evaluation = compared(
        source("one", q1="ab", q2="ab", q3="ab"),
        source("two", q1="cab", q2="bca", q3="ab"),
        qrels=labelled(q1={"a": 1}, q2={"a": 1}, q3={"b": 1}),
        topics=["q1", "q2", "q3"],
    )
    differences = [entry.difference for entry in evaluation.by_topic("fused")]
    assert differences == sorted(differences)
    assert len(differences) == 3


def test_what_is_among_the_candidates_is_told_apart_from_their_order() -> None:
    evaluation = compared(
        source("one", q="xyza"),
        source("two", q="wb"),
        qrels=labelled(q={"a": 2, "b": 1, "c": 1}),
        topics=["q"],
    )
    assert [row.found for row in evaluation.rows] == pytest.approx([1 / 3, 1 / 3, 2 / 3])


def test_no_winner_is_declared_on_few_topics() -> None:
    """eva-10: wins, ties and losses are listed all the same."""
    for count in (ENOUGH_TOPICS - 1, ENOUGH_TOPICS):
        topics = [f"q{number:02}" for number in range(count)]
        # One and two disagree about everything but a: only together do they put it first.
        one = Run("one", "source", dict.fromkeys(topics, ("x", "a", "b")))
        two = Run("two", "source", dict.fromkeys(topics, ("y", "a", "c")))
        qrels = Qrels({topic: {"a": 1} for topic in topics}, "given")
        evaluation = compared(one, two, qrels=qrels, topics=topics)
        gain = evaluation.comparisons[0]
        assert (gain.measure, gain.difference, gain.wins) == ("AP", 0.5, count)
        decided = count >= ENOUGH_TOPICS
        assert gain.verdict(count) == ("better" if decided else "undecided")
        assert any("No winner" in note for note in evaluation.notes) is not decided


# -- chance ---------------------------------------------------------------------------------------


def test_the_exact_test_counts_every_way_of_flipping_signs() -> None:
    differences = np.array([[0.5], [0.25], [0.25]])
    # Of eight sums, +1 and -1 are as far from zero as the one seen.
    assert by_chance(differences)[0] == 2 / 8
    assert by_chance(np.zeros((5, 1)))[0] == 1


def test_the_random_test_agrees_with_the_exact_one() -> None:
    random = np.random.default_rng(3)
    few = random.normal(0.3, 1, size=(13, 6))
    # A topic without a difference changes no sum, but takes the exact test's place.
    many = np.vstack([few, np.zeros((1, 6))])
    assert by_chance(many) == pytest.approx(by_chance(few), abs=0.015)


@given(st.integers(1, 40), st.integers(0, 9))
def test_intervals_are_around_the_mean_and_the_same_each_time(topics: int, seed: int) -> None:
    differences = np.random.default_rng(seed).normal(size=(topics, 2))
    low, high = intervals(differences)
    assert (low <= differences.mean(axis=0) + 1e-9).all()
    assert (high >= differences.mean(axis=0) - 1e-9).all()
    again = intervals(differences)
    assert (low == again[0]).all() and (high == again[1]).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_correction_never_helps_and_keeps_the_order(chances: list[float]) -> None:
    corrected = holm(chances)
    assert all(after >= before for before, after in zip(chances, corrected, strict=True))
    assert max(corrected) <= 1
    pairs = sorted(zip(chances, corrected, strict=True))
    assert [after for _, after in pairs] == sorted(corrected)
    assert corrected[chances.index(min(chances))] == min(1, min(chances) * len(chances))


# -- labels ---------------------------------------------------------------------------------------


def label(doc_id: str, grade: int | None, judge: str, revision: int = 1) -> Judgment:
    return Judgment(
        topic_id="t",
        doc_id=doc_id,
        revision=revision,
        grade=grade,
        judge=judge,
        judged_at="2026-11-30T10:00:00+00:00",
        corpus_version=1,
        blind=True,
        reason="" if grade is not None else "empty",
    )


def test_the_last_label_of_each_judge_counts_and_the_lower_middle_grade_stands() -> None:
    given = [
        label("a", 3, "ana"),
        label("a", 1, "ana"),
        label("a", 2, "ben"),
        label("b", None, "ana"),
        label("c", 0, "ana", revision=1),
        label("gone", 2, "ana"),
    ]
    qrels = qrels_of_labels(given, {"a": 1, "b": 1, "c": 2})
    assert qrels.grades == {"t": {"a": 1, "c": 0, "gone": 2}}
    assert qrels.relevant("t") == {"a", "gone"}
    assert qrels.notes == (
        "Labels on an earlier revision of their document: 1.",
        "Labels on documents that are not in this version: 1.",
        "Labels that say unrateable, left out: 1.",
    )


# -- files ----------------------------------------------------------------------------------------


def test_a_run_file_is_read_by_its_ranks_not_by_its_scores(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("q Q0 b 2 9.0 x\nq Q0 a 1 0.5 x\nr Q0 ñ/1 0 1 x\n", encoding="utf-8")
    assert read_trec_run("one", path).lists == {"q": ("a", "b"), "r": ("ñ/1",)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q Q0 a 1 0.5\n", "line 1"),
        ("q Q0 a 1 1 x\nq Q0 b 1 1 x\n", "rank 1 again"),
        ("q Q0 a 1 1 x\nq Q0 a 2 1 x\n", "'a' twice"),
        ("\n", "no line of a run"),
    ],
)
def test_a_run_file_that_says_no_order_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "run"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        read_trec_run("one", path)


def test_labels_are_read_from_either_kind_of_file(tmp_path: Path) -> None:
    trec, beir = tmp_path / "qrels", tmp_path / "test.tsv"
    trec.write_text("q 0 a 2\nq 0 b -1\n", encoding="utf-8")
    beir.write_text("query-id\tcorpus-id\tscore\nq\ta b\t2\nq\tc\t0\n", encoding="utf-8")
    assert read_qrels(trec).grades == {"q": {"a": 2, "b": 0}}
    assert read_qrels(beir).grades == {"q": {"a b": 2, "c": 0}}
    named = read_qrels(beir, {"a b": "d1"})
    assert named.grades == {"q": {"d1": 2, "c": 0}}
    assert named.notes == ("Labels on documents that are not in this version: 1.",)


@pytest.mark.parametrize("text", ["q a 1\n", "q 0 a high\n", "", "query-id\tcorpus-id\tscore\n"])
def test_a_file_without_labels_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "qrels"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput):
        read_qrels(path)


@pytest.mark.parametrize("name", ["nDCG@@", "Relevance", "", "P(@)"])
def test_what_is_no_measure_is_refused_by_name(name: str) -> None:
    with pytest.raises(BadInput, match="no measure"):
        measure_names([name])
