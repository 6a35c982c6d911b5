"""Agreement of judges, against two libraries, and one grade from many."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from statistics import median_low

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from app.agreement import agreement, disagreements, krippendorff_alpha, weighted_kappa
from app.qrels import VIEWS, View, qrels, view_named
from corpus.judging import Judgment
from store.errors import BadInput

grades = st.integers(0, 3)


def label(doc_id: str, judge: str, grade: int | None, **more: object) -> Judgment:
    values: dict[str, object] = {"blind": True, "reason": "torn", **more}
    return Judgment(
        "t1", doc_id, 1, grade, judge, "2026-11-30", 1, **values  # type: ignore[arg-type]
    )  # fmt: skip


@given(st.lists(st.tuples(grades, grades), min_size=1, max_size=30))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    ours = weighted_kappa(first, second)
    if len({*first, *second}) == 1:
        assert ours is None
        return
    theirs = cohen_kappa_score(first, second, weights="quadratic", labels=[0, 1, 2, 3])
    assert ours == pytest.approx(theirs, abs=1e-12)


@given(
    st.integers(1, 12).flatmap(
        lambda units: st.lists(
            st.lists(st.one_of(st.none(), grades), min_size=units, max_size=units),
            min_size=2,
            max_size=5,
        )
    )
)
def test_alpha_is_that_of_the_krippendorff_library(table: list[list[int | None]]) -> None:
    units = [
        [grade for grade in column if grade is not None] for column in zip(*table, strict=True)
    ]
    ours = krippendorff_alpha(units)
    paired = {grade for unit in units if len(unit) > 1 for grade in unit}
    if len(paired) < 2:
        assert ours is None
        return
    data = np.array(table, dtype=float)
    theirs = krippendorff.alpha(
        reliability_data=data, level_of_measurement="ordinal", value_domain=[0, 1, 2, 3]
    )
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_full_agreement_is_one_and_an_interval_holds_its_estimate() -> None:
    same = [label(f"d{n}", judge, n % 4) for n in range(8) for judge in ("ana", "ben")]
    found = agreement(same)
    assert found.alpha.value == found.kappas[0].kappa.value == 1
    assert (found.alpha.low, found.alpha.high) == (1, 1)
    mixed = [
        label(f"d{n}", judge, (n * k) % 4) for n in range(30) for k, judge in ((1, "a"), (5, "b"))
    ]
    mixed += [label("d3", "a", 0), label("d7", "b", 1), label("d9", "a", 3)]
    found = agreement(mixed, seed=1)
    assert found.alpha.value is not None
    assert found.alpha.low is not None
    assert found.alpha.high is not None
    assert found.alpha.low < found.alpha.value <= found.alpha.high
    assert found == agreement(mixed, seed=1)
    assert found.alpha != agreement(mixed, seed=2).alpha


def test_an_interval_narrows_with_more_pairs() -> None:
    def width(times: int) -> float:
        given_labels = [
            label(f"d{n}", judge, (n + (judge == "b" and n % 3 == 0)) % 4)
            for n in range(10 * times)
            for judge in "ab"
        ]
        alpha = agreement(given_labels).alpha
        assert alpha.low is not None
        assert alpha.high is not None
        return alpha.high - alpha.low

    assert width(16) < width(1) / 2


def test_labels_that_are_not_blind_or_not_grades_are_no_part_of_agreement() -> None:
    found = agreement(
        [
            label("d1", "ana", 3),
            label("d1", "ben", 0, blind=False),
            label("d2", "ana", None),
            label("d2", "ben", 1),
            label("d3", "ana", 1),
            label("d3", "ben", 2, role="adjudicator"),
            label("d4", "ana", 1),
            label("d4", "ben", 1),
            label("d4", "ben", None, withdrawn=True),
        ]
    )
    assert (found.alpha.value, found.alpha.pairs, found.kappas) == (None, 0, ())
    assert (found.graded, found.not_blind) == (4, 1)
    assert [one.doc_id for one in found.disagreements] == ["d1"]


def test_who_read_another_revision_did_not_judge_the_same() -> None:
    labels = [label("d", "ana", 3), replace(label("d", "ben", 0), revision=2)]
    found = agreement(labels)
    assert (found.alpha.pairs, found.graded) == (0, 2)
    assert [one.spread for one in found.disagreements] == [3]


def test_disagreements_come_with_the_furthest_apart_first_and_what_settled_them() -> None:
    settled = label("b", "cleo", 2, role="adjudicator")
    found = disagreements(
        [
            label("a", "ana", 1),
            label("a", "ben", 2),
            label("b", "ben", 3),
            label("b", "ana", 0),
            label("c", "ana", 1),
            label("c", "ben", 1),
            settled,
        ]
    )
    assert [(one.doc_id, one.spread, one.adjudicated) for one in found] == [
        ("b", 3, settled),
        ("a", 1, None),
    ]
    assert found[0].grades == (("ana", 0), ("ben", 3))


@pytest.mark.parametrize(
    ("given_grades", "median", "majority", "minimum", "adjudicated"),
    [
        ([3], 3, 3, 3, 3),
        ([0, 3], 0, 0, 0, None),
        ([3, 0, 3], 3, 3, 0, None),
        ([0, 0, 3, 3], 0, 0, 0, None),
        ([1, 2, 3], 2, 1, 1, None),
        ([2, 2], 2, 2, 2, 2),
        ([None, 3], 3, 3, 3, 3),
        ([None], None, None, None, None),
    ],
)
def test_views_and_their_ties(
    given_grades: list[int | None],
    median: int | None,
    majority: int | None,
    minimum: int | None,
    adjudicated: int | None,
) -> None:
    labels = [label("d", f"judge {n}", grade) for n, grade in enumerate(given_grades)]
    views: dict[View, int | None] = {
        "median": median,
        "majority": majority,
        "minimum": minimum,
        "adjudicated": adjudicated,
    }
    for view, grade in views.items():
        assert qrels(labels, view) == ({} if grade is None else {"t1": {"d": grade}}), view


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), grades)))
def test_views_are_of_what_each_judge_said_last(given_labels: list[tuple[str, str, int]]) -> None:
    assume(given_labels)
    labels = [label(doc_id, judge, grade) for doc_id, judge, grade in given_labels]
    last = {(doc_id, judge): grade for doc_id, judge, grade in given_labels}
    votes: dict[str, list[int]] = {}
    for (doc_id, _), grade in last.items():
        votes.setdefault(doc_id, []).append(grade)
    assert qrels(labels, "median") == {"t1": {d: median_low(v) for d, v in votes.items()}}
    assert qrels(labels, "minimum") == {"t1": {d: min(v) for d, v in votes.items()}}
    most = {d: max(Counter(v).values()) for d, v in votes.items()}
    assert qrels(labels, "majority") == {
        "t1": {d: min(g for g in v if v.count(g) == most[d]) for d, v in votes.items()}
    }


def test_an_adjudicator_settles_one_view_and_overwrites_nobody() -> None:
    labels = [label("d", "ana", 0), label("d", "ben", 3), label("e", "ana", 1)]
    labels += [
        label("d", "ana", 2, role="adjudicator"),
        label("e", "cleo", None, role="adjudicator"),
    ]
    assert qrels(labels, "adjudicated") == {"t1": {"d": 2}}
    assert qrels(labels, "minimum") == {"t1": {"d": 0, "e": 1}}
    assert qrels([], "adjudicated") == {}


def test_grades_of_two_projects_are_not_merged_and_views_have_names() -> None:
    with pytest.raises(BadInput, match="not one scale: default, pumps"):
        qrels([label("d", "ana", 1), label("d", "ana", 1, project="pumps")])
    assert [view_named(name) for name in VIEWS] == list(VIEWS)
    with pytest.raises(BadInput, match="'mean'"):
        view_named("mean")
