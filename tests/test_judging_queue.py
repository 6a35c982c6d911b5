"""The reviewer's queue: pool, order, what comes next, and names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.judging import (
    Candidate,
    Queue,
    judge_name,
    make_queue,
    order_seed,
    pool,
    token,
    topic_of_query,
)
from corpus.judging import Judgment, Topic
from store.errors import BadInput
from tests.conftest import Workplace


def candidate(name: str, revision: int = 1) -> Candidate:
    return Candidate(name, revision, f"{name}@{revision}#00000")


def label(name: str, grade: int | None = 2, revision: int = 1) -> Judgment:
    return Judgment(
        "t1", name, revision, grade, "Ana", "2026-01-01T00:00:00", 1, True, reason="torn"
    )


def queue(*names: str, labels: tuple[Judgment, ...] = ()) -> Queue:
    given_labels = {entry.doc_id: entry for entry in labels}
    return make_queue([candidate(name) for name in names], given_labels, "Ana", "t1")


def test_pool_is_the_union_of_the_top_of_both_lists_each_document_once(
    workplace: Workplace,
) -> None:
    workplace.write("gland.txt", "Tighten the gland screws of the pump.")
    workplace.write("chiller.txt", "The chiller trips at night.")
    workplace.write("filter.txt", "Change the filter of the compressor.")
    workplace.ingest()
    result = workplace.search("gland screws")
    lists = {ranking.system: ranking.hits for ranking in result.record.rankings}
    found = pool(result, depth=1)
    expected = {lists["lexical"][0].id, lists["semantic"][0].id}
    assert {entry.doc_id for entry in found.candidates} == expected
    assert [entry.doc_id for entry in pool(result).candidates] == [
        "chiller.txt",
        "filter.txt",
        "gland.txt",
    ]
    assert found.corpus_version == 1
    assert found.protocol == result.record.protocol.hash
    assert all(entry.passage_id.startswith(f"{entry.doc_id}@1#") for entry in found.candidates)


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


def test_undo_walks_back_through_labels_in_the_order_they_were_given() -> None:
    given_labels = [label("a"), label("b"), label("a", 3), label("elsewhere")]
    entries = queue("a", "b", "c", labels=tuple(given_labels))
    assert entries.previous(given_labels) == candidate("a")
    assert entries.previous(given_labels, "a") == candidate("b")
    assert entries.previous(given_labels, "b") is None
    assert entries.previous([]) is None


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
