"""Many protocols over the same lists: the exact order in arrays, and an honest choice."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.evaluation.candidates import Candidates
from app.evaluation.measures import measured
from app.evaluation.protocols import Parameters
from app.evaluation.qrels import Qrels
from app.evaluation.refuse import field_of, positions
from app.evaluation.runs import Run
from app.evaluation.sweep import DEFAULT_GRID, measure_of, read_grid, sweep
from app.query.fuse import fuse
from app.query.protocol import LEXICAL, SEMANTIC, Protocol, make_protocol
from app.query.ranking import Hit, Ranking
from store.errors import BadInput

IDS = [f"d{number:02}" for number in range(14)]
MEASURES = ("AP", "RR", "nDCG@3", "R@4", "P@5", "Success@1")


def candidates(
    lexical: list[str], semantic: list[str], held: Fraction | None = None, codes: bool = False
) -> Candidates:
    def ranking(name: str, ids: list[str]) -> Ranking:
        hits = tuple(Hit(one, rank, 1.0) for rank, one in enumerate(ids, 1))
        share = held if name == LEXICAL and ids else None
        return Ranking(name, 100, hits, exhausted=True, held=share)

    return Candidates(
        {LEXICAL: ranking(LEXICAL, lexical), SEMANTIC: ranking(SEMANTIC, semantic)}, codes
    )


def orders(laid: Mapping[str, Candidates], protocol: Protocol) -> dict[str, tuple[str, ...]]:
    return {
        topic_id: tuple(
            hit.id
            for hit in fuse(
                [one.ranking(system, system.asked) for system in protocol.systems], protocol
            )
        )
        for topic_id, one in laid.items()
    }


some_ids = st.lists(st.sampled_from(IDS), unique=True, max_size=len(IDS))
weights = st.sampled_from(["1", "2", "1/2", "0.3", "7/3", "1000000000000"])
protocols = st.builds(
    lambda k, depths, lexical, semantic, asked, weighting: make_protocol(
        k=k,
        depths={LEXICAL: depths[0], SEMANTIC: depths[1]},
        weights={LEXICAL: lexical, SEMANTIC: semantic},
        asked=asked,
        weighting=weighting,
    ),
    st.sampled_from(["0", "1", "4", "5", "60", "0.5", "1/3", "1000000000", "123456789.123456789"]),
    st.tuples(st.integers(1, 16), st.integers(1, 16)),
    weights,
    weights,
    st.sampled_from(["always", "unless codes alone match"]),
    st.sampled_from(["fixed", "by share held"]),
)
topics = st.dictionaries(
    st.sampled_from("pqrst"),
    st.tuples(
        st.builds(
            candidates,
            some_ids,
            some_ids,
            st.sampled_from([None, Fraction(0), Fraction(1, 2), Fraction(1)]),
            st.booleans(),
        ),
        st.dictionaries(st.sampled_from(IDS), st.integers(0, 3)),
    ),
    min_size=1,
)


@settings(max_examples=300)
@given(topics, protocols)
def test_arrays_put_every_relevant_document_where_the_exact_fusion_does(
    given_topics: dict[str, tuple[Candidates, dict[str, int]]], protocol: Protocol
) -> None:
    """Ties go by id in both, whatever k, weights and depths."""
    retrieved = {name: one for name, (one, _) in given_topics.items()}
    qrels = Qrels({name: grades for name, (_, grades) in given_topics.items()}, "given")
    laid = field_of(retrieved, qrels, list(retrieved))
    shown = orders(retrieved, protocol)
    places = positions(laid, protocol)
    for row, name in enumerate(retrieved):
        for column, place in enumerate(laid.relevant[row].tolist()):
            known = laid.ids[row][place] if place >= 0 else ""
            expected = shown[name].index(known) + 1 if known in shown[name] else 0
            assert places[row, column] == expected
    run = Run("run", "fusion", shown)
    expected_values = measured(run, qrels, list(retrieved), MEASURES)
    for column, measure in enumerate(MEASURES):
        values = measure_of(measure)(laid, places)
        assert values == pytest.approx(expected_values[:, column], abs=1e-12)


def made_up(count: int, depth: int = 100) -> tuple[dict[str, Candidates], Qrels]:
    random = np.random.default_rng(7)
    names = [f"d{number:03}" for number in range(2 * depth)]
    retrieved, grades = {}, {}
    for number in range(count):
        lists = [[names[one] for one in random.permutation(2 * depth)[:depth]] for _ in range(2)]
        retrieved[f"q{number:03}"] = candidates(*lists, held=Fraction(1, 2))
        relevant = random.choice(names, size=6, replace=False).tolist()
        grades[f"q{number:03}"] = {name: 1 + place % 3 for place, name in enumerate(relevant)}
    return retrieved, Qrels(grades, "given")


def test_the_chosen_point_is_measured_on_topics_it_was_not_chosen_on() -> None:
    """eva-10"""
    retrieved, qrels = made_up(12, depth=20)
    points = read_grid("k=0;1;5;20;60;100, weight.lexical=1/9;1/4;1;4;9, weighting=fixed")
    swept = sweep(field_of(retrieved, qrels, list(retrieved)), points, "AP")
    means = swept.means()
    assert swept.in_sample == max(means) == means[swept.chosen]
    held_out = [name for fold in swept.folds for name in fold.topic_ids]
    assert sorted(held_out) == sorted(retrieved)
    total = 0.0
    for fold in swept.folds:
        rows = [row for row, name in enumerate(swept.topic_ids) if name not in fold.topic_ids]
        others = swept.values[:, rows].mean(axis=1)
        assert others[fold.chosen] == pytest.approx(others.max())
        total += swept.values[fold.chosen].sum() - swept.values[fold.chosen][rows].sum()
    assert swept.out_of_fold == pytest.approx(total / 12)
    # Lists without any signal: what was chosen on noise does not hold.
    assert swept.out_of_fold < swept.in_sample
    assert sweep(field_of(retrieved, qrels, list(retrieved)), points, "AP") == swept


@pytest.mark.slow
def test_a_thousand_protocols_over_three_hundred_topics_are_measured_together() -> None:
    retrieved, qrels = made_up(300)
    laid = field_of(retrieved, qrels, list(retrieved))
    points = read_grid(
        "k=0;1;2;5;10;20;40;60;80;100, depth=5;10;25;50;100, "
        "weight.lexical=1/8;1/4;1/3;1/2;2/3;3/2;2;3;4;8, weighting=fixed;by share held"
    )
    assert len(points) == 1000
    swept = sweep(laid, points, "AP")
    chosen = points[swept.chosen].protocol()
    run = Run("run", "fusion", orders(retrieved, chosen))
    assert swept.in_sample == pytest.approx(
        measured(run, qrels, list(retrieved), ["AP"]).mean(), abs=1e-12
    )


def test_a_grid_is_every_combination_of_what_is_written() -> None:
    points = read_grid("k=10;60, depth.semantic=5;50")
    assert [point.name for point in points] == [
        "k=10,depth.semantic=5",
        "k=10,depth.semantic=50",
        "k=60,depth.semantic=5",
        "k=60,depth.semantic=50",
    ]
    assert points[1].protocol() == make_protocol(k=10, depths={SEMANTIC: 50})
    assert len(read_grid(DEFAULT_GRID)) == 400


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("k", "a grid is written"),
        ("k=", "a grid is written"),
        ("coverage=0;1", "cannot change 'coverage'"),
        (
            f"k={';'.join(map(str, range(200)))}, depth={';'.join(map(str, range(1, 200)))}",
            "points",
        ),
    ],
)
def test_a_grid_that_cannot_be_swept_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_grid(text)


def test_a_sweep_needs_a_measure_of_its_own_and_two_topics() -> None:
    retrieved, qrels = made_up(1, depth=5)
    laid = field_of(retrieved, qrels, list(retrieved))
    with pytest.raises(BadInput, match="two topics"):
        sweep(laid, [Parameters()], "AP")
    for measure in ("Judged@10", "AP@5", "nDCG", "P@0"):
        with pytest.raises(BadInput, match="a sweep measures"):
            measure_of(measure)
