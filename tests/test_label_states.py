"""What becomes of labels when documents change: carried, to be confirmed, or parked."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.label_states import (
    CHANGED_LITTLE,
    Standing,
    change_since,
    label_states,
    shared_words,
    state_of_change,
)
from corpus.judging import Judgment
from store.catalogue import Catalogue
from tests.conftest import Workplace

FIRST = "Tighten the gland screws of the pump to 16 N·m when it is cold."
texts = st.text(st.sampled_from("ab \n"), max_size=30)


def label(doc_id: str, revision: int = 1) -> Judgment:
    return Judgment("t1", doc_id, revision, 2, "ana", "2026-11-30", 1, True)


@given(texts, texts)
def test_the_measure_is_the_share_of_words_in_both(before: str, after: str) -> None:
    share = shared_words(before, after)
    left = after.split()
    both = 0
    for word in before.split():
        if word in left:
            left.remove(word)
            both += 1
    total = len(before.split()) + len(after.split())
    assert share == (Fraction(2 * both, total) if total else 1)
    assert share == shared_words(after, before)


@pytest.mark.parametrize(
    ("after", "state"),
    [
        (FIRST, "carried"),
        (FIRST.replace(" ", "\n"), "carried"),
        (FIRST.replace("16", "15"), "to confirm"),
        (" ".join(reversed(FIRST.split())), "to confirm"),
        ("The pump of the hall was painted in May.", "parked"),
        ("", "parked"),
    ],
)
def test_a_text_that_changed_little_is_confirmed_and_one_that_changed_much_is_parked(
    after: str, state: str
) -> None:
    assert state_of_change(FIRST, after).state == state


def test_the_limit_itself_is_a_little() -> None:
    found = state_of_change("a b c d", "a b c e")
    assert found == Standing("to confirm", CHANGED_LITTLE)


def test_labels_follow_their_documents_through_ingests(workplace: Workplace) -> None:
    """lab-09"""
    paths = {name: workplace.write(f"{name}.txt", FIRST + name) for name in "abcdef"}
    workplace.ingest()
    paths["b"].write_text(FIRST + "b\n\n", encoding="utf-8")
    paths["c"].write_text(FIRST.replace("16", "15") + "c", encoding="utf-8")
    paths["d"].write_text("Painted in May, and nothing else is known.", encoding="utf-8")
    paths["e"].unlink()
    workplace.ingest()
    labels = [label(f"{name}.txt") for name in "abcde"] + [label("f.txt", 0), label("g.txt", 0)]
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.version(2)
        found = label_states(catalogue, version, labels)
        assert {doc_id: one.state for (doc_id, _), one in found.items()} == {
            "a.txt": "in force",
            "b.txt": "carried",
            "c.txt": "to confirm",
            "d.txt": "parked",
            "e.txt": "parked",
            "f.txt": "to confirm",
            "g.txt": "parked",
        }
        assert found["c.txt", 1].share == Fraction(13, 14)
        lines = change_since(catalogue, version, "c.txt", 1)
        assert any(line.startswith("-") and "16 N·m" in line for line in lines)
        assert any(line.startswith("+") and "15 N·m" in line for line in lines)
        assert change_since(catalogue, version, "c.txt", 9) == ()
    paths["e"].write_text(FIRST + "e", encoding="utf-8")
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        found = label_states(catalogue, catalogue.version(3), labels)
        assert found["e.txt", 1].state == "in force"
        assert label_states(catalogue, catalogue.version(1), labels)["c.txt", 1].state == "in force"
