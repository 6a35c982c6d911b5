"""Documents that are nearly the same: how that is found, kept for each version, and shown."""

from __future__ import annotations

import json
import random
import shutil
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.query.present import result_data, rows
from app.query.reading import read_document
from app.query.search import Engines
from corpus.resemblance import (
    ALIKE,
    BANDS,
    NEIGHBOURS,
    PROMISING,
    ROWS,
    RUN,
    candidates,
    shared_runs,
    signature,
    word_runs,
)
from corpus.scope import Scope
from corpus.terms import WORD, fold_words
from indexer.report import PAIRS_SHOWN
from indexer.upkeep import rebuild
from store.catalogue import Catalogue
from store.scope import permitted_documents
from store.similar import NEAREST, similar_documents, similar_pairs
from tests.conftest import Workplace

STEPS = [f"Step {number}: turn valve V{number} by {number * 3} degrees." for number in range(40)]
MANUAL = "# Manual of the filler\n\n" + "\n\n".join(STEPS)
EDITED = MANUAL.replace("turn valve V7", "close valve V7")


def marks(workplace: Workplace, version: int, doc_id: str) -> list[str]:
    """What a document of a version is similar to, for someone who may read everything."""
    with Catalogue(workplace.archive) as catalogue:
        found = similar_documents(catalogue, catalogue.version(version), [doc_id], None)
    return [entry.document.doc_id for entry in found.get(doc_id, ())]


# -- texts -------------------------------------------------------------------------------------

WORDS = st.lists(st.sampled_from(["relé", "RELE", "pump", "año", "ano", "12", "b"]), max_size=14)
TEXTS = WORDS.map(" ".join)


@given(TEXTS, TEXTS)
def test_the_resemblance_is_the_share_of_runs_in_both_and_symmetric(one: str, other: str) -> None:
    def runs(text: str) -> set[tuple[str, ...]]:
        words = WORD.findall(fold_words(text))
        length = min(RUN, len(words))
        return {tuple(words[at : at + length]) for at in range(len(words) - length + 1) if words}

    shared, total = shared_runs(word_runs(one), word_runs(other))
    assert (shared, total) == (len(runs(one) & runs(other)), len(runs(one) | runs(other)))
    assert (shared, total) == shared_runs(word_runs(other), word_runs(one))


@given(st.text(min_size=1))
def test_a_text_resembles_itself_wholly_and_however_it_is_broken_into_lines(text: str) -> None:
    runs = word_runs(text)
    shared, total = shared_runs(runs, word_runs("\n\n ".join(text.split(" "))))
    assert shared == total == len(runs)


def test_the_files_of_the_case_differ_in_bytes_and_not_in_words(shared: Path) -> None:
    first, near = (
        word_runs((shared / "cases/files" / name).read_text(encoding="utf-8"))
        for name in ("dup_a.txt", "dup_near.txt")
    )
    assert shared_runs(first, near) == (len(first), len(first))


def collection(seed: int) -> list[np.ndarray]:
    """Texts in families: each text is the one before it with a share of its words replaced."""
    chance = random.Random(seed)
    made = []
    for _ in range(12):
        words = [f"w{chance.randrange(400)}" for _ in range(chance.choice([20, 200, 2000]))]
        for share in (0.0, 0.01, 0.03, 0.1, 0.5):
            words = [
                f"w{chance.randrange(400)}" if chance.random() < share else word for word in words
            ]
            made.append(word_runs(" ".join(words)))
    chance.shuffle(made)
    return made


def everyone(texts: int) -> NDArray[np.int64]:
    return np.zeros(texts, np.int64)


@pytest.mark.parametrize("seed", range(8))
def test_every_pair_that_is_alike_is_found_among_the_candidates(seed: int) -> None:
    texts = collection(seed)
    found = candidates(np.array([signature(runs) for runs in texts]), everyone(len(texts)))
    assert found == sorted(set(found))
    alike = set()
    for one, other in combinations(range(len(texts)), 2):
        shared, total = shared_runs(texts[one], texts[other])
        if Fraction(shared, total) >= ALIKE + Fraction(1, 20):
            alike.add((one, other))
    assert len(alike) >= 10
    assert alike <= set(found)
    assert len(found) < len(texts) * 5


def test_a_pair_at_the_threshold_is_missed_less_than_once_in_ten_thousand() -> None:
    """What the signature promises, computed from the chance that one place of it agrees."""
    places, same = BANDS * ROWS, float(ALIKE)
    no_band = (1 - same**ROWS) ** BANDS
    unpromising = sum(
        comb(places, agreeing) * same**agreeing * (1 - same) ** (places - agreeing)
        for agreeing in range(places)
        if agreeing / places < PROMISING
    )
    assert no_band + unpromising < 1e-4


def test_a_signature_estimates_the_resemblance() -> None:
    errors = []
    for one, other in pairwise(collection(99)):
        shared, total = shared_runs(one, other)
        errors.append(float((signature(one) == signature(other)).mean()) - shared / total)
    assert max(map(abs, errors)) < 5 * 0.045


def test_many_copies_of_one_form_make_few_pairs_and_each_has_one() -> None:
    copies = 2_000
    same = np.tile(signature(word_runs(MANUAL)), (copies, 1))
    found = candidates(same, everyone(copies))
    assert len(found) <= copies * NEIGHBOURS
    assert {text for pair in found for text in pair} == set(range(copies))


@pytest.mark.parametrize("seed", range(4))
def test_copies_that_a_reader_may_not_see_hide_no_pair_of_those_that_are_seen(seed: int) -> None:
    """More copies of one form than neighbours, of three audiences in a random order."""
    random = np.random.default_rng(seed)
    signatures = np.tile(signature(word_runs(MANUAL)), (3 * NEIGHBOURS, 1))
    audiences = random.integers(0, 3, len(signatures))
    found = candidates(signatures, audiences)
    assert found == sorted(set(found))
    for seen in ((0,), (1,), (0, 1), (0, 2), (0, 1, 2)):
        there = np.flatnonzero(np.isin(audiences, seen))
        alone = candidates(signatures[there], audiences[there])
        assert [(int(there[one]), int(there[other])) for one, other in alone] == [
            pair for pair in found if set(pair) <= set(there.tolist())
        ]


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_texts_make_no_pair(count: int) -> None:
    assert candidates(np.zeros((count, BANDS * ROWS), np.uint32), everyone(count)) == []


def test_a_text_without_words_has_no_signature() -> None:
    with pytest.raises(ValueError, match="without words"):
        signature(word_runs("--- ***"))


# -- versions ----------------------------------------------------------------------------------


def test_the_near_duplicate_is_its_own_document_and_marked(
    workplace: Workplace, shared: Path
) -> None:
    """ing-20"""
    for name in ("dup_a.txt", "dup_b.txt", "dup_near.txt"):
        shutil.copy(shared / "cases/files" / name, workplace.files)
    report = workplace.ingest()
    assert workplace.ids("boletín TB-12", "lexical") == ["dup_a.txt", "dup_near.txt"]
    assert marks(workplace, 1, "dup_a.txt") == ["dup_near.txt"]
    assert marks(workplace, 1, "dup_near.txt") == ["dup_a.txt"]
    assert "similar 2 documents are nearly the same as another" in report.lines()
    data = report.as_data()
    assert data["similar_documents"] == 2
    assert [(pair["one"], pair["other"]) for pair in data["similar"]] == [
        ("dup_a.txt", "dup_near.txt")
    ]


def test_a_translation_and_a_form_filled_in_otherwise_are_not_marked(workplace: Workplace) -> None:
    workplace.write("en.md", "# Purge\n\nClose purge valve HX-204-B before the pump is started.")
    workplace.write("es.md", "# Purga\n\nCierre la válvula HX-204-B antes de arrancar la bomba.")
    workplace.write("shift1.txt", "Shift note. Line 1 stopped: the conveyor belt had torn.")
    workplace.write("shift2.txt", "Shift note. Line 2 stopped: no steam from the boiler.")
    workplace.write("empty1.md", "---\n\n***")
    report = workplace.ingest()
    assert report.similar == []
    assert not [line for line in report.lines() if line.startswith("similar")]


def test_an_edit_takes_the_mark_away_and_the_old_version_keeps_it(workplace: Workplace) -> None:
    workplace.write("a.md", MANUAL)
    workplace.write("b.md", EDITED)
    workplace.ingest()
    assert marks(workplace, 1, "a.md") == ["b.md"]
    workplace.write("b.md", "# Boiler\n\nSomething else altogether is written here now.")
    assert workplace.ingest().similar == []
    assert (marks(workplace, 1, "a.md"), marks(workplace, 2, "a.md")) == (["b.md"], [])
    workplace.write("b.md", EDITED)
    assert len(workplace.ingest().similar) == 1
    assert marks(workplace, 3, "b.md") == ["a.md"]


def test_a_deleted_document_is_nothing_to_be_similar_to(workplace: Workplace) -> None:
    workplace.write("a.md", MANUAL)
    workplace.write("b.md", EDITED)
    workplace.ingest()
    (workplace.files / "b.md").unlink()
    assert workplace.ingest().similar == []
    assert marks(workplace, 2, "a.md") == []
    assert marks(workplace, 1, "a.md") == ["b.md"]


def test_marks_that_are_lost_come_back_with_a_rebuild(workplace: Workplace) -> None:
    workplace.write("a.md", MANUAL)
    workplace.write("b.md", EDITED)
    first = workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        for table in ("resemblances", "signatures"):
            catalogue.database.execute(f"DELETE FROM {table}")
        version = catalogue.version(1)
        assert similar_pairs(catalogue, version) == []
        rebuild(workplace.archive, None)
        assert similar_pairs(catalogue, version) == first.similar
    assert first.similar[0].shared < first.similar[0].total


def test_a_second_run_signs_and_compares_nothing(workplace: Workplace) -> None:
    workplace.write("a.md", MANUAL)
    workplace.write("b.md", EDITED)
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        before = catalogue.database.conn.total_changes
        kept = [list(catalogue.rows(f"SELECT rowid, * FROM {name}")) for name in DERIVED]
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        assert catalogue.database.conn.total_changes == before
        assert [list(catalogue.rows(f"SELECT rowid, * FROM {name}")) for name in DERIVED] == kept
    assert [len(rows) for rows in kept] == [2, 1]


DERIVED = ("signatures", "resemblances")


def test_a_long_list_of_pairs_is_cut_for_people_and_counted(workplace: Workplace) -> None:
    for number in range(6):
        workplace.write(f"copy{number}.md", MANUAL.replace("degrees", "DEGREES", number))
    report = workplace.ingest()
    lines = [line for line in report.lines() if line.startswith("similar")]
    assert lines[0] == "similar 6 documents are nearly the same as another"
    assert len(lines) == PAIRS_SHOWN + 2
    assert lines[-1] == "similar 5 more pairs, in the report with --json"
    assert len(json.loads(json.dumps(report.as_data()))["similar"]) == 15
    assert marks(workplace, 1, "copy0.md") == ["copy1.md", "copy2.md", "copy3.md"][:NEAREST]


# -- readers -----------------------------------------------------------------------------------


def shown(workplace: Workplace, scope: Scope) -> dict[str, list[str]]:
    """For each row of a search, what it is said to be similar to."""
    result = workplace.search("turn valve V9", scope)
    with Catalogue(workplace.archive) as catalogue:
        found = rows(Engines(workplace.archive), catalogue, result, 0, 10)
    data = result_data(result, found)["fused"]
    return {row["doc_id"]: [entry["doc_id"] for entry in row["similar"]] for row in data}


def test_a_document_that_the_reader_may_not_see_is_in_no_mark(workplace: Workplace) -> None:
    for name in ("a.md", "b.md", "c.md", "d.md", "secret.md"):
        workplace.write(name, MANUAL + f"\n\nCopy {name}.")
    workplace.write("secret.md", MANUAL + "\n\nCopy a.md!")
    workplace.write("lone.md", "# Boiler\n\nLight the boiler with valve V9 open." + "\n\nAsk." * 9)
    workplace.write(
        "hidden.md", "# Boiler\n\nlight the boiler with valve V9 open." + "\n\nAsk." * 9
    )
    for name in ("secret.md", "hidden.md"):
        workplace.write(f"{name}.meta.toml", 'groups = ["board"]')
    workplace.ingest()
    board = shown(workplace, Scope(groups=("board",)))
    assert board["a.md"] == ["secret.md", "b.md", "c.md"]
    assert (board["lone.md"], board["hidden.md"]) == (["hidden.md"], ["lone.md"])
    everyone = shown(workplace, Scope())
    assert everyone["a.md"] == ["b.md", "c.md", "d.md"]
    assert everyone["lone.md"] == []
    assert not set(everyone) & {"secret.md", "hidden.md"}
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.version(1)
        assert read_document(catalogue, version, "lone.md").similar == ()
        named = read_document(catalogue, version, "a.md").similar
        assert [entry.document.doc_id for entry in named] == ["b.md", "c.md", "d.md"]
        permitted = permitted_documents(catalogue, version, Scope())
        assert "lone.md" not in similar_documents(catalogue, version, ["lone.md"], permitted)


def test_a_filter_of_the_search_takes_no_mark_away_and_a_mark_changes_no_rank(
    workplace: Workplace,
) -> None:
    workplace.write("old/a.md", MANUAL)
    workplace.write("new/a.md", EDITED)
    workplace.ingest()
    assert shown(workplace, Scope(folder="new")) == {"new/a.md": ["old/a.md"]}
    marked = workplace.search("turn valve V9").record
    with Catalogue(workplace.archive) as catalogue:
        catalogue.database.execute("DELETE FROM resemblances")
    assert shown(workplace, Scope()) == {"new/a.md": [], "old/a.md": []}
    assert workplace.search("turn valve V9").record.fused == marked.fused
