"""Versions as a maintainer uses them: compare, look back, roll back, verify, back up, restore."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from corpus.judging import Judgment, Topic
from indexer.cli import main
from store.archive import Archive
from store.catalogue import Catalogue
from store.generations import current_generation
from store.judging import add_judgment, add_topics, judgments
from tests.conftest import Workplace


class Commands:
    """Runs commands on one archive and reads their JSON."""

    def __init__(self, archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
        self._where = ["--archive", str(archive.root), "--json"]
        self._capsys = capsys

    def __call__(self, *arguments: str, code: int = 0) -> Any:
        assert main([*arguments, *self._where]) == code
        return json.loads(self._capsys.readouterr().out)


@pytest.fixture
def history(workplace: Workplace) -> Workplace:
    """Three versions: two documents; one edited, one added; one retired, one moved."""
    workplace.write("a.txt", "The flange is torqued to 28 N·m.\nThen the pump is started.")
    workplace.write("b.txt", "The gasket is replaced yearly.")
    workplace.ingest(message="first")
    workplace.write("a.txt", "The flange is torqued to 16 N·m.\nThen the pump is started.")
    workplace.write("c.txt", "The chiller trips at night.")
    workplace.ingest(message="second")
    (workplace.files / "b.txt").unlink()
    (workplace.files / "c.txt").rename(workplace.files / "chiller.txt")
    workplace.ingest(message="third")
    return workplace


@pytest.fixture
def run(history: Workplace, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(history.archive, capsys)


def test_a_difference_names_what_was_added_changed_moved_and_retired(run: Commands) -> None:
    first = run("diff", "1", "2")
    assert (first["added"], first["retired"], first["moved"]) == (["c.txt"], [], [])
    (change,) = first["changed"]
    assert (change["doc_id"], change["from_revision"], change["to_revision"]) == ("a.txt", 1, 2)
    assert "-The flange is torqued to 28 N·m." in change["diff"]
    assert "+The flange is torqued to 16 N·m." in change["diff"]
    second = run("diff", "2", "3")
    assert second["retired"] == ["b.txt"]
    assert second["moved"] == [{"doc_id": "c.txt", "before": ["c.txt"], "after": ["chiller.txt"]}]
    back = run("diff", "3", "1")
    assert (back["added"], back["retired"]) == (["b.txt"], ["c.txt"])
    assert run("diff", "1", "9", code=2)["error"].startswith("there is no corpus version 9")


def test_a_document_is_shown_as_it_was_by_id_or_by_path(run: Commands) -> None:
    assert "28 N·m" in run("show", "a.txt", "--version", "1")["text"]
    now = run("show", "chiller.txt")
    assert (now["doc_id"], now["version"], now["locations"]) == ("c.txt", 3, ["chiller.txt"])
    assert run("show", "b.txt", code=2)["error"] == "version 3 has no document 'b.txt'"


def test_a_rollback_is_previewed_then_makes_a_new_version_equal_to_the_old(
    run: Commands, history: Workplace
) -> None:
    preview = run("rollback", "1")
    assert (preview["added"], preview["new_version"]) == (["b.txt"], None)
    assert len(run("versions")["versions"]) == 3
    done = run("rollback", "1", "--yes")
    assert done["new_version"] == 4
    assert run("diff", "1", "4")["summary"].endswith("0 added, 0 changed, 0 moved, 0 retired")
    assert history.ids("gasket", "lexical") == ["b.txt"]
    assert history.ids("chiller", "lexical") == []
    assert run("rollback", "1", "--yes")["new_version"] is None
    report = history.ingest()
    assert (report.version, report.retired) == (5, ["b.txt"])
    assert history.ids("chiller", "lexical") == ["c.txt"]


def test_a_rebuilt_version_has_the_same_indexes_and_an_old_one_is_not_served(
    run: Commands, history: Workplace
) -> None:
    before = history.search("flange").record
    name = current_generation(history.archive)
    shutil.rmtree(history.archive.generations)
    assert run("rebuild")["generation"] == name
    assert history.search("flange").record.record_id == before.record_id
    old = run("rebuild", "--version", "1")["generation"]
    assert old != name
    assert current_generation(history.archive) == name
    assert (history.archive.generations / old / "manifest.json").is_file()


def test_verify_is_silent_where_all_is_well_and_names_what_is_not(
    run: Commands, history: Workplace
) -> None:
    assert run("verify")["problems"] == []
    folder = history.archive.generations / current_generation(history.archive)
    listed = folder / "documents.json"
    sound = listed.read_text(encoding="utf-8")
    listed.write_text(sound.replace("a.txt", "x.txt"), encoding="utf-8")
    assert "documents.json" in run("verify", code=4)["problems"][0]
    listed.write_text(sound, encoding="utf-8")
    vectors = folder / "semantic" / "vectors.faiss"
    vectors.write_bytes(vectors.read_bytes()[:-1])
    assert "vectors.faiss" in run("verify", code=4)["problems"][0]
    run("rebuild")
    assert run("verify")["problems"] == []


def test_prune_says_what_would_go_and_takes_no_label(run: Commands, history: Workplace) -> None:
    half_made = history.archive.generations / ".000009-abc.1"
    half_made.mkdir()
    run("rebuild", "--version", "1")
    would = run("prune")
    assert ".000009-abc.1" in {removal["name"] for removal in would["removals"]}
    assert half_made.is_dir()
    run("prune", "--yes")
    assert not half_made.exists()
    kept = sorted(path.name for path in history.archive.generations.iterdir())
    assert current_generation(history.archive) in kept
    assert len(kept) == 2
    assert run("verify")["problems"] == []


def label(archive: Archive) -> None:
    with Catalogue(archive) as catalogue:
        add_topics(catalogue, [Topic("t", "flange", "its torque", "ana", "dev")])
        add_judgment(catalogue, Judgment("t", "a.txt", 2, 3, "ana", "2026-11-30", 3, True))


def test_a_backup_taken_while_in_use_restores_everything_elsewhere(
    run: Commands, history: Workplace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    label(history.archive)
    before = history.search("flange").record
    file = tmp_path / "backup.db"
    with Catalogue(history.archive) as in_use:
        in_use.database.execute("SELECT * FROM versions")
        assert run("backup", str(file))["bytes"] > 0
    assert "never overwritten" in run("backup", str(file), code=2)["error"]
    elsewhere = Archive(tmp_path / "elsewhere")
    there = Commands(elsewhere, capsys)
    there("restore", str(file))
    assert there("verify")["problems"] == []
    with Catalogue(elsewhere) as catalogue:
        assert [(j.doc_id, j.grade, j.judge) for j in judgments(catalogue)] == [("a.txt", 3, "ana")]
        kept = catalogue.database.execute("SELECT record_id FROM records").fetchall()
    assert (before.record_id,) in kept
    assert "holds an archive already" in there("restore", str(file), code=2)["error"]


def test_a_damaged_backup_is_refused_before_anything_is_made(
    run: Commands, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "backup.db"
    run("backup", str(file))
    data = file.read_bytes()
    there = Commands(Archive(tmp_path / "elsewhere"), capsys)
    for harm in (b"", data[: len(data) // 2], b"x" * len(data)):
        file.write_bytes(harm)
        assert there("restore", str(file), code=4)["exit_code"] == 4
    empty = sqlite3.connect(tmp_path / "other.db")
    empty.execute("CREATE TABLE t (a)")
    empty.close()
    there("restore", str(tmp_path / "other.db"), code=4)
    assert not (tmp_path / "elsewhere" / "catalogue.db").exists()
