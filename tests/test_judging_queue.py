"""The reviewer's queue: order, what comes next, and names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.judging import (
    Candidate,
    Queue,
    judge_name,
    make_queue,
    order_seed,
    others_judged,
    token,
    topic_of_query,
)
from app.label_states import State
from corpus.judging import Judgment, Topic, standing
from store.errors import BadInput


def candidate(name: str, revision: int = 1) -> Candidate:
    return Candidate(name, revision, f"{name}@{revision}#00000")


def label(name: str, grade: int | None = 2, revision: int = 1) -> Judgment:
    return Judgment(
        "t1", name, revision, grade, "Ana", "2026-01-01T00:00:00", 1, True, reason="torn"
    )


def queue(*names: str, labels: tuple[Judgment, ...] = ()) -> Queue:
    given_labels = {entry.doc_id: entry for entry in labels}
    return make_queue([candidate(name) for name in names], given_labels, "Ana", "t1")


def test_order_differs_between_reviewers_and_topics_and_not_between_visits() -> None:
    names = [f"doc-{number:02}" for number in range(30)]
    entries = [candidate(name) for name in names]

    def order(judge: str, topic: str) -> list[str]:
        return [entry.doc_id for entry in make_queue(entries, {}, judge, topic).candidates]

    assert order("Ana", "t1") == order("Ana", "t1")
    assert sorted(order("Ana", "t1")) == names
    assert len({tuple(order(*who)) for who in [("Ana", "t1"), ("Bo", "t1"), ("Ana", "t2")]}) == 3
    assert order("Ana", "t1") != names
    assert order_seed("Ana", "t1") != order_seed("Bo", "t1")


@given(st.sets(st.text(min_size=1), min_size=1), st.text(min_size=1))
def test_a_document_that_joins_leaves_the_order_of_the_others(names: set[str], new: str) -> None:
    before = [entry.doc_id for entry in queue(*names).candidates]
    after = [entry.doc_id for entry in queue(*names, *({new} - names)).candidates]
    assert [name for name in after if name in names] == before


def test_order_does_not_depend_on_how_the_pool_arrives() -> None:
    assert queue("a", "b", "c").candidates == queue("c", "b", "a").candidates


def test_token_tells_documents_apart_and_does_not_name_them() -> None:
    assert token("s", "pumps/a.md") != token("s", "pumps/b.md")
    assert "pumps" not in token("s", "pumps/a.md")


def test_upcoming_skips_what_is_judged_and_ends() -> None:
    first, second = (entry.doc_id for entry in queue("a", "b").candidates)
    assert queue("a", "b").upcoming() == candidate(first)
    assert queue("a", "b", labels=(label(first),)).upcoming() == candidate(second)
    done = queue("a", "b", labels=(label("a"), label("b", None)))
    assert done.upcoming() is None
    assert done.judged == 2


def test_later_comes_after_the_rest_and_in_the_order_it_was_put_off() -> None:
    entries = queue("a", "b", "c")
    one, two, three = (entry.doc_id for entry in entries.candidates)
    assert entries.upcoming([one]) == candidate(two)
    assert entries.upcoming([three, one, two]) == candidate(three)
    assert entries.upcoming([two, three, one]) == candidate(two)


def test_label_of_an_older_revision_stands_and_is_offered_again_last() -> None:
    entries = make_queue(
        [candidate("old", 2), candidate("new")], {"old": label("old", 3, 1)}, "Ana", "t1"
    )
    assert [entry.doc_id for entry in entries.pending()] == ["new", "old"]
    assert entries.judged == 0
    assert entries.labels["old"].grade == 3


def test_the_last_label_is_the_last_that_stands_and_is_of_this_pool() -> None:
    def last(*given_labels: Judgment) -> Candidate | None:
        standing_now = {one.doc_id: one for one in standing(given_labels)}
        entries = make_queue([candidate(name) for name in "abc"], standing_now, "Ana", "t1")
        return entries.last_judged(given_labels)

    assert last() is None
    given_labels = [label("a"), label("b"), label("a", 3), label("elsewhere")]
    assert last(*given_labels) == candidate("a")
    withdrawn = replace(label("a", None), withdrawn=True)
    assert last(*given_labels, withdrawn) == candidate("b")
    assert last(*given_labels, withdrawn, replace(withdrawn, doc_id="b")) is None


def test_what_became_of_a_label_decides_whether_its_document_is_offered() -> None:
    names = ["carried", "changed", "parked", "new"]
    states: dict[str, State] = {
        "carried": "carried",
        "changed": "to confirm",
        "parked": "parked",
    }
    labels = {name: label(name, 1, 1) for name in states}
    entries = make_queue([candidate(name, 2) for name in names], labels, "Ana", "t1", states=states)
    pending = [entry.doc_id for entry in entries.pending()]
    assert set(pending[:2]) == {"parked", "new"}
    assert pending[2:] == ["changed"]
    assert (entries.judged, entries.total) == (1, 4)


@given(st.dictionaries(st.text(min_size=1), st.integers(0, 4)), st.integers(1, 4))
def test_no_document_is_offered_before_one_that_was_judged_less(
    others: dict[str, int], enough: int
) -> None:
    entries = make_queue(
        [candidate(name) for name in others], {}, "Ana", "t1", others=others, enough=enough
    )
    counts = [others[entry.doc_id] for entry in entries.pending()]
    assert counts == sorted(count for count in others.values() if count < enough)
    same = [entry.doc_id for entry in entries.candidates]
    assert sorted(same) == sorted(others)


def test_other_judges_are_counted_once_each_and_only_while_their_labels_stand() -> None:
    given_labels = [
        replace(label("a"), judge=judge, grade=grade, withdrawn=grade is None)
        for judge, grade in [("Bo", 1), ("Bo", 2), ("Cy", 0), ("Ana", 3), ("Di", 1), ("Di", None)]
    ] + [replace(label("a"), judge="Ed", role="adjudicator")]
    assert others_judged(given_labels, "Ana") == {"t1": {"a": 2}}


def test_a_name_has_one_spelling() -> None:
    assert judge_name("  José\u0301 ".replace("é\u0301", "e\u0301")) == "José"
    assert judge_name("Ana  María") == "Ana María"


@pytest.mark.parametrize(
    "text", ["", "   ", "a" * 61, "![x](http://a/b)", "*Ana*", "<b>", "a@b", "Ana\n:red[x]"]
)
def test_a_name_that_could_be_markup_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        judge_name(text)


def test_topic_of_a_query_is_found_in_any_spelling_and_the_first_by_id_wins() -> None:
    topics = [
        Topic("s2", "Relé AX-2041", "need", "Ana", "dev"),
        Topic("s1", "relé  ax-2041", "need", "Ana", "dev"),
    ]
    found = topic_of_query(topics, " RELÉ ax-2041")
    assert found is not None
    assert found.topic_id == "s1"
    assert topic_of_query(topics, "relé") is None
