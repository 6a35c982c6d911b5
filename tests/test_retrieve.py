"""From an engine's passages to one rank per unit, exact at any cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.query.protocol import System
from app.query.retrieve import retrieve
from store.backend import EngineFailure, EngineHits

Passages = list[tuple[str, str, float]]  # document, passage, score


class ListedEngine:
    """An engine that ranks a given list, with ties in the order that is worst for the caller."""

    def __init__(self, passages: Passages) -> None:
        self.passages = sorted(passages, key=lambda entry: (-entry[2], _backwards(entry[1])))
        self.asked: list[int] = []

    def __call__(self, limit: int) -> EngineHits:
        self.asked.append(limit)
        top = self.passages[:limit]
        return EngineHits(
            tuple(passage for _, passage, _ in top),
            tuple(document for document, _, _ in top),
            tuple(score for _, _, score in top),
            exhausted=limit >= len(self.passages),
        )


def _backwards(name: str) -> tuple[int, ...]:
    return tuple(-ord(character) for character in name)


def slow(passages: Passages, unit: str, depth: int) -> list[tuple[str, float]]:
    """The definition: best passage of each unit, then score descending, id ascending, cut."""
    best: dict[str, float] = {}
    for document, passage, score in passages:
        name = document if unit == "document" else passage
        best[name] = max(score, best.get(name, score))
    return sorted(best.items(), key=lambda entry: (-entry[1], entry[0]))[:depth]


engines = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 4)), min_size=0, max_size=60
).map(
    lambda rows: [
        (document, f"{document}@1#{number:05d}", float(score))
        for number, (document, score) in enumerate(rows)
    ]
)


@given(engines, st.sampled_from(["document", "passage"]), st.integers(1, 12))
def test_a_ranking_equals_its_definition(passages: Passages, unit: str, depth: int) -> None:
    ranking = retrieve(System("s", depth), unit, ListedEngine(passages))  # type: ignore[arg-type]
    assert [(hit.id, hit.score) for hit in ranking.hits] == slow(passages, unit, depth)
    units = {entry[0 if unit == "document" else 1] for entry in passages}
    assert ranking.exhausted == (len(units) <= depth)


@given(engines, st.integers(1, 8), st.integers(1, 8))
def test_a_shallow_list_is_the_head_of_a_deep_one(
    passages: Passages, depth: int, deeper: int
) -> None:
    """den-09"""
    engine = ListedEngine(passages)
    shallow = retrieve(System("s", depth), "document", engine)
    deep = retrieve(System("s", depth + deeper), "document", engine)
    assert deep.hits[: len(shallow.hits)] == shallow.hits


def test_passages_of_one_document_are_one_vote_and_ranks_close_up() -> None:
    """fus-01: the best passage takes the document's place."""
    engine = ListedEngine(
        [("A", "A#1", 4.0), ("B", "B#1", 3.0), ("A", "A#2", 2.0), ("C", "C#1", 1.0)]
    )
    ranking = retrieve(System("lexical", 10), "document", engine)
    assert [(hit.id, hit.rank, hit.passage_id) for hit in ranking.hits] == [
        ("A", 1, "A#1"),
        ("B", 2, "B#1"),
        ("C", 3, "C#1"),
    ]


def test_an_engine_that_fails_is_unavailable_with_its_reason() -> None:
    def broken(limit: int) -> EngineHits:
        raise EngineFailure("the lexical engine failed: the disk is gone")

    ranking = retrieve(System("lexical", 10), "document", broken)
    assert ranking.unavailable == "the lexical engine failed: the disk is gone"
    assert not ranking.exhausted


@pytest.mark.parametrize("size", [3, 300])
def test_a_long_tie_at_the_cut_is_decided_by_id(size: int) -> None:
    passages = [(f"d{number:03d}", f"d{number:03d}@1#00000", 1.0) for number in range(size)]
    ranking = retrieve(System("s", 2), "document", ListedEngine(passages))
    assert [hit.id for hit in ranking.hits] == ["d000", "d001"]
