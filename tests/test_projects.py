"""Judging projects: what a grade means is fixed by the first label, and by the database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from corpus.judging import GRADES, Judgment, Project, Topic, standing
from store.archive import Archive
from store.catalogue import Catalogue
from store.errors import BadInput, UnknownProject
from store.judging import (
    add_judgment,
    add_topics,
    defer,
    deferred,
    judgments,
    standing_labels,
    topics,
)
from store.migrations import catalogue_migrations
from store.projects import add_project, change_project, is_frozen, project, projects

OWN = ("no", "barely", "partly", "wholly")


def label(doc_id: str, grade: int | None, judge: str = "ana", **more: object) -> Judgment:
    values: dict[str, object] = {"project": "pumps", "reason": "torn", **more}
    return Judgment(
        "t1", doc_id, 1, grade, judge, "2026-11-30", 1, True, **values  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    opened = Catalogue(Archive(tmp_path / "archive"))
    add_topics(opened, [Topic("t1", "purge valve", "the need", "ana", "dev")])
    add_project(opened, Project("pumps", OWN, 3), "ana")
    return opened


def test_what_was_judged_before_projects_is_one_with_the_grades_it_had(
    catalogue: Catalogue,
) -> None:
    assert projects(catalogue) == [
        Project("default", tuple(GRADES[grade] for grade in range(4))),  # type: ignore[arg-type]
        Project("pumps", OWN, 3),
    ]


def test_grades_change_until_the_first_label_and_never_after(catalogue: Catalogue) -> None:
    changed = Project("pumps", ("none", *OWN[1:]), 2)
    change_project(catalogue, changed)
    assert project(catalogue, "pumps") == changed
    assert not is_frozen(catalogue, "pumps")
    add_judgment(catalogue, label("D1", 2))
    assert is_frozen(catalogue, "pumps")
    with pytest.raises(BadInput, match="cannot change any more; make a new project"):
        change_project(catalogue, Project("pumps", OWN, 5))
    assert project(catalogue, "pumps") == changed
    change_project(catalogue, Project("pumps", changed.grades, 5))
    assert project(catalogue, "pumps").judges_per_pair == 5


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE project_grades SET sentence = 'x' WHERE project = 'pumps'",
        "DELETE FROM project_grades WHERE project = 'pumps'",
        "INSERT OR REPLACE INTO project_grades VALUES ('pumps', 3, 'x')",
        "DELETE FROM projects",
        "UPDATE projects SET name = 'valves' WHERE name = 'pumps'",
    ],
)
def test_sqlite_itself_refuses_to_change_what_labels_rest_on(
    catalogue: Catalogue, statement: str
) -> None:
    add_judgment(catalogue, label("D1", 2))
    with pytest.raises(sqlite3.IntegrityError):
        catalogue.database.conn.execute(statement)
    assert project(catalogue, "pumps").grades == OWN


def test_a_project_is_made_once_and_judged_in_only_when_made(catalogue: Catalogue) -> None:
    with pytest.raises(BadInput, match="'pumps' already"):
        add_project(catalogue, Project("pumps"), "ben")
    with pytest.raises(UnknownProject, match="'valves'"):
        add_judgment(catalogue, label("D1", 2, project="valves"))
    with pytest.raises(UnknownProject, match="'valves'"):
        change_project(catalogue, Project("valves"))
    with pytest.raises(UnknownProject, match="'valves'"):
        project(catalogue, "valves")
    assert judgments(catalogue) == []


@pytest.mark.parametrize(
    "values",
    [{"name": " "}, {"judges_per_pair": 0}, {"grades": ("a", "b", "c", " ")}, {"grades": OWN[1:]}],
)
def test_a_project_that_says_too_little_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="project"):
        Project(**{"name": "x", **values})  # type: ignore[arg-type]


def test_what_is_withdrawn_does_not_stand_and_stays_written(catalogue: Catalogue) -> None:
    for one in (
        label("D1", 3),
        label("D2", 1),
        label("D1", None, withdrawn=True),
        label("D1", 0, role="adjudicator"),
        label("D1", 2, "ben"),
    ):
        add_judgment(catalogue, one)
    assert len(judgments(catalogue)) == 5
    assert set(standing_labels(catalogue, "t1", "ana", "pumps")) == {"D2"}
    said = standing(judgments(catalogue))
    assert [(one.doc_id, one.judge, one.role, one.grade) for one in said] == [
        ("D2", "ana", "judge", 1),
        ("D1", "ana", "adjudicator", 0),
        ("D1", "ben", "judge", 2),
    ]
    add_judgment(catalogue, label("D1", 1))
    assert standing_labels(catalogue, "t1", "ana", "pumps")["D1"].grade == 1


def test_projects_do_not_share_labels(catalogue: Catalogue) -> None:
    add_judgment(catalogue, label("D1", 3))
    add_judgment(catalogue, label("D1", 0, project="default"))
    assert standing_labels(catalogue, "t1", "ana")["D1"].grade == 0
    assert [one.grade for one in judgments(catalogue, project="pumps")] == [3]


@pytest.mark.parametrize(
    "values", [{"grade": 2, "withdrawn": True}, {"grade": 2, "role": "reader"}]
)
def test_a_label_that_contradicts_itself_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"no grade|a role"):
        label("D1", values.pop("grade"), **values)  # type: ignore[arg-type]


def test_what_is_put_off_is_remembered_and_the_last_comes_last(catalogue: Catalogue) -> None:
    for doc_id in ("D1", "D2", "D1"):
        defer(catalogue, "t1", doc_id, "ana", "pumps")
    assert deferred(catalogue, "t1", "ana", "pumps") == ("D2", "D1")
    assert deferred(catalogue, "t1", "ben", "pumps") == deferred(catalogue, "t1", "ana") == ()


def test_labels_of_an_archive_of_before_projects_stay_and_fix_the_grades(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive")
    archive.root.mkdir()
    database = Database(archive.catalogue)
    catalogue_migrations.apply(database, stop_before="0009_projects")
    database.table("topics").insert(
        {"topic_id": "t1", "revision": 1, "query": "q", "query_key": "q", "need": "n"}
        | {"author": "ana", "split": "dev", "written_at": "2026"}
    )
    database.table("judgments").insert(
        {"topic_id": "t1", "topic_revision": 1, "doc_id": "D1", "revision": 1, "passage_id": ""}
        | {"grade": 2, "reason": "", "judge": "ana", "blind": 1, "protocol": ""}
        | {"corpus_version": 1, "judged_at": "2026"}
    )
    database.close()
    with Catalogue(archive) as catalogue:
        assert judgments(catalogue) == [Judgment("t1", "D1", 1, 2, "ana", "2026", 1, True)]
        assert [(one.topic_id, one.tags) for one in topics(catalogue)] == [("t1", ())]
        assert is_frozen(catalogue, "default")
        with pytest.raises(BadInput, match="make a new project"):
            change_project(catalogue, Project("default", OWN))
        change_project(catalogue, Project("default", judges_per_pair=2))
