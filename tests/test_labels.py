"""Labels are primary data: nothing that happens to a document takes one away."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from app.topic_files import read_topics
from corpus.judging import GRADES, Judgment, Topic, standing
from store.catalogue import Catalogue
from store.errors import BadInput, UnknownTopic
from store.judging import (
    add_judgment,
    add_topics,
    judgments,
    standing_labels,
    topic,
    topic_for_query,
    topics,
)
from tests.conftest import Workplace

TOPIC = Topic("t1", "purge valve", "how the purge valve is replaced", "R. Costa", "dev")


def label(doc_id: str, grade: int | None, judge: str = "ana", **more: object) -> Judgment:
    values: dict[str, object] = {
        "topic_id": "t1",
        "revision": 1,
        "judged_at": "2026-11-30T10:00:00+00:00",
        "corpus_version": 1,
        "blind": True,
        **more,
    }
    return Judgment(doc_id=doc_id, grade=grade, judge=judge, **values)  # type: ignore[arg-type]


@pytest.fixture
def catalogue(workplace: Workplace) -> Catalogue:
    workplace.archive.root.mkdir()
    opened = Catalogue(workplace.archive)
    add_topics(opened, [TOPIC])
    return opened


def test_two_reviewers_and_a_change_of_mind_are_all_kept(catalogue: Catalogue) -> None:
    """lab-01"""
    for judgment in (label("D1", 3, "ana"), label("D1", 0, "ben"), label("D1", 2, "ana")):
        add_judgment(catalogue, judgment)
    assert [(j.judge, j.grade) for j in judgments(catalogue, "t1")] == [
        ("ana", 3),
        ("ben", 0),
        ("ana", 2),
    ]
    assert standing_labels(catalogue, "t1", "ana")["D1"].grade == 2
    assert standing_labels(catalogue, "t1", "ben")["D1"].grade == 0


def test_a_judgment_reads_back_as_it_was_given(catalogue: Catalogue) -> None:
    given = label(
        "folder/válvula #1@2.txt",
        None,
        "José",
        revision=7,
        passage_id="folder/válvula #1@2.txt@7#00003",
        protocol="sha256:abc",
        blind=False,
        reason="illegible;\nscan",
    )
    add_judgment(catalogue, given)
    assert judgments(catalogue) == [given]


def test_sqlite_itself_refuses_to_change_or_remove_a_label(catalogue: Catalogue) -> None:
    """lab-02: not even a statement typed by hand takes one."""
    add_judgment(catalogue, label("D1", 3))
    for statement in ("UPDATE judgments SET grade = 0", "DELETE FROM judgments"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            catalogue.database.conn.execute(statement)
    assert len(judgments(catalogue)) == 1


def test_labels_outlive_edits_removal_return_and_a_rebuild(workplace: Workplace) -> None:
    """lab-02, lab-09"""
    path = workplace.write("a.txt", "The purge valve.")
    workplace.write("b.txt", "Another sheet.")
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        add_topics(catalogue, [TOPIC])
        add_judgment(catalogue, label("a.txt", 3))

    def there() -> list[tuple[str, int]]:
        with Catalogue(workplace.archive) as catalogue:
            return [(j.doc_id, j.revision) for j in judgments(catalogue)]

    text = path.read_text(encoding="utf-8")
    path.write_text("The purge valve, edited.", encoding="utf-8")
    workplace.ingest()
    assert there() == [("a.txt", 1)]
    path.unlink()
    workplace.ingest()
    assert there() == [("a.txt", 1)]
    path.write_text(text, encoding="utf-8")
    version = workplace.ingest().version
    assert version is not None
    with Catalogue(workplace.archive) as catalogue:
        document = catalogue.document(version, "a.txt")
    assert (document.doc_id, document.revision) == there()[0]
    shutil.rmtree(workplace.archive.generations)
    workplace.ingest()
    assert there() == [("a.txt", 1)]


def test_spellings_of_one_query_share_their_labels(catalogue: Catalogue) -> None:
    """lab-04"""
    first = topic_for_query(catalogue, "Relé AX-2041", "ana")
    again = topic_for_query(catalogue, " relé  ax-2041 ", "ben")
    decomposed = topic_for_query(catalogue, unicodedata.normalize("NFD", "Relé AX-2041"), "ana")
    other = topic_for_query(catalogue, "rele AX-2041", "ana")
    assert first.topic_id == again.topic_id == decomposed.topic_id
    assert first.query == "Relé AX-2041"
    assert other.topic_id != first.topic_id
    assert topic_for_query(catalogue, "PURGE  valve", "ana") == TOPIC


@pytest.mark.parametrize(
    "name", ["00742", "1E5", "9007199254740993", "TRUE", "2024-02-29", "a b/c"]
)
def test_ids_that_look_like_numbers_stay_text(catalogue: Catalogue, name: str) -> None:
    """lab-08"""
    add_topics(catalogue, [Topic(name, "q", "n", "a", "test")])
    add_judgment(catalogue, label(name, 1, topic_id=name))
    assert topic(catalogue, name).topic_id == name
    assert [j.doc_id for j in judgments(catalogue, name)] == [name]


def test_an_edited_topic_is_a_new_revision_and_old_labels_keep_theirs(
    catalogue: Catalogue,
) -> None:
    add_judgment(catalogue, label("D1", 3))
    edited = Topic("t1", "purge valve", "another need", "R. Costa", "dev")
    assert add_topics(catalogue, [edited]) == 1
    assert add_topics(catalogue, [edited]) == 0
    add_judgment(catalogue, label("D2", 1))
    assert topics(catalogue) == [edited]
    rows = catalogue.database.execute("SELECT topic_revision FROM judgments ORDER BY judgment_id")
    assert rows.fetchall() == [(1,), (2,)]


@pytest.mark.parametrize("grade", [-1, 4, True, 1.5])
def test_a_grade_off_the_scale_is_refused(grade: object) -> None:
    with pytest.raises(ValueError, match="a grade is 0, 1, 2 or 3"):
        label("D1", grade)  # type: ignore[arg-type]


def test_unrateable_needs_a_reason_and_a_judge_has_a_name() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        label("D1", None)
    with pytest.raises(ValueError, match="name of its judge"):
        label("D1", 1, " ")
    assert sorted(GRADES) == [0, 1, 2, 3]


def test_a_label_for_a_topic_that_nobody_wrote_is_refused(catalogue: Catalogue) -> None:
    with pytest.raises(UnknownTopic, match="'nope'"):
        add_judgment(catalogue, label("D1", 1, topic_id="nope"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topics = 3", "holds no"),
        ("[[topics]]\nid = 'a'\nquery = 'q'", "needs a text for 'need'"),
        ("[[topics]]\nid = 'a'\nqueri = 'q'", "unknown key 'queri'"),
        (
            "[[topics]]\nid='a'\nquery='q'\nneed='n'\nauthor='x'\nsplit='train'",
            "dev or test, not 'train'",
        ),
        ("[[topics", "cannot be read as TOML"),
    ],
)
def test_a_topic_file_with_a_mistake_is_refused_by_entry(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "topics.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        read_topics(path)


REVIEWER = """
import sys
from pathlib import Path
from corpus.judging import Judgment
from store.archive import Archive
from store.catalogue import Catalogue
from store.judging import add_judgment, now
name = sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for number in range(10):
    with Catalogue(Archive(Path(sys.argv[1]))) as catalogue:
        given = Judgment("t1", f"d{number}", 1, number % 4, name, now(), 1, True, note=name)
        add_judgment(catalogue, given)
"""


def test_twenty_reviewers_in_twenty_processes_lose_nothing(
    workplace: Workplace, catalogue: Catalogue
) -> None:
    """lab-01: all begin at one signal, and each label is a page of its own, as in the screens."""
    reviewers = [
        subprocess.Popen(
            [sys.executable, "-c", REVIEWER, str(workplace.archive.root), f"judge {number:02}"],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(20)
    ]
    for reviewer in reviewers:
        assert reviewer.stdout is not None
        assert reviewer.stdout.readline() == "ready\n"
    ended = []
    for reviewer in reviewers:
        assert reviewer.stdin is not None
        reviewer.stdin.write("go\n")
        reviewer.stdin.flush()
    for reviewer in reviewers:
        _, said = reviewer.communicate(timeout=300)
        ended.append((reviewer.returncode, said))
    assert ended == [(0, "")] * 20
    stored = judgments(catalogue)
    assert len(stored) == 200
    assert {(label.judge, label.doc_id, label.grade) for label in stored} == {
        (f"judge {judge:02}", f"d{number}", number % 4)
        for judge in range(20)
        for number in range(10)
    }
    # Each reviewer's labels are in the order they were given, whoever wrote between them.
    for judge in range(20):
        mine = judgments(catalogue, judge=f"judge {judge:02}")
        assert [label.doc_id for label in mine] == [f"d{number}" for number in range(10)]
    assert len(standing(stored)) == 200
