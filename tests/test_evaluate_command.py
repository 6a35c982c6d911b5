"""Evaluating from a terminal: files and archives, protocols as written, and the sealed split."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.evaluation.protocols import Parameters, read_protocols
from app.evaluation.request import Opening, Request
from app.evaluation.study import study
from app.evaluation.sweep import read_grid
from app.evaluation.tuning import tune
from app.evaluation.validate import Validity, validate
from app.query.protocol import make_protocol
from app.query.search import Engines, search
from corpus.judging import Judgment, Topic
from store.archive import Archive
from store.catalogue import Catalogue
from store.errors import BadInput, Sealed, UnknownExperiment
from store.evaluation import experiment, experiments, frozen_protocols, looks
from store.judging import add_judgment, add_topics
from tests.conftest import Workplace, filled_workplace

TEXTS = {
    "pumps/gland.md": "# Gland of PX-310\n\nTighten the gland screws to 16 N·m, then check.",
    "pumps/seal.md": "# Seal of PX-310\n\nThe seal is exchanged after the gland was opened.",
    "lines/belt.md": "# Belt\n\nThe belt is tightened with two screws at the tail.",
    "lines/motor.md": "# Motor\n\nThe motor of the belt stops at 80 degrees.",
}
DEV = [
    Topic("d1", "gland screws", "torque", "Ana", "dev"),
    Topic("d2", "PX-310", "pump", "Ana", "dev"),
    Topic("d3", "motor stops", "temperature", "Ana", "dev"),
]
TEST = [Topic("t1", "belt tension", "belt", "Ana", "test")]
GRADES = {
    "d1": "pumps/gland.md",
    "d2": "pumps/seal.md",
    "d3": "lines/motor.md",
    "t1": "lines/belt.md",
}


@pytest.fixture(scope="module")
def judged_once(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    made = filled_workplace(tmp_path_factory.mktemp("judged"), tiny_encoder, TEXTS)
    with Catalogue(made.archive) as catalogue:
        add_topics(catalogue, [*DEV, *TEST])
        names = {
            path.partition("/")[2]: document.doc_id
            for document in catalogue.documents(1)
            for path in document.locations
        } | {document.doc_id: document.doc_id for document in catalogue.documents(1)}
        for topic_id, path in GRADES.items():
            judgment = Judgment(topic_id, names[path], 1, 2, "ana", "2026-11-30T10:00Z", 1, True)
            add_judgment(catalogue, judgment)
    return made


@pytest.fixture
def judged(judged_once: Workplace, tmp_path: Path) -> Iterator[Workplace]:
    shutil.copytree(judged_once.archive.root, tmp_path / "copy")
    yield Workplace(judged_once.files, Archive(tmp_path / "copy"), judged_once.encoder)


@pytest.fixture
def study_files(tmp_path: Path) -> Path:
    """The five-document study: B and C are relevant."""
    for name, ids in (("L1", "ABCDE"), ("L2", "BCDEA")):
        lines = [f"q Q0 {one} {rank} {9 - rank} x\n" for rank, one in enumerate(ids, 1)]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    (tmp_path / "qrels").write_text("q 0 B 1\nq 0 C 1\n", encoding="utf-8")
    return tmp_path


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    code = main(["evaluate", "--json", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["evaluate", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def precision(report: dict[str, Any], name: str) -> float:
    return next(row["means"]["AP"] for row in report["rows"] if row["name"] == name)


# -- the five-document study ----------------------------------------------------------------------


def test_the_five_document_study_comes_out_of_evaluate(
    study_files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = [f"--run=L1={study_files}/L1", f"--run=L2={study_files}/L2"]
    report = evaluated(
        capsys, *two, f"--qrels={study_files}/qrels", "--protocol=k=0", "--protocol=k=60"
    )
    found = [precision(report, name) for name in ("L1", "L2", "k=0", "k=60")]
    assert found == pytest.approx([7 / 12, 1, 5 / 6, 1], abs=1e-12)
    copies = [f"--run=L1{letter}={study_files}/L1" for letter in "abcd"]
    report = evaluated(
        capsys, *copies, two[1], f"--qrels={study_files}/qrels", "--protocol=default"
    )
    assert precision(report, "fused") == pytest.approx(7 / 12, abs=1e-12)
    assert [row["name"] for row in report["rows"]] == ["L1a", "L1b", "L1c", "L1d", "L2", "fused"]


def test_weights_and_depths_of_runs_are_used(
    study_files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [f"--run=L1={study_files}/L1", f"--run=L2={study_files}/L2"]
    for written, expected in (("weight.L1=4", 7 / 12), ("depth=2", 7 / 12 + 1 / 4)):
        report = evaluated(capsys, *runs, f"--qrels={study_files}/qrels", "--protocol", written)
        assert precision(report, written) == pytest.approx(expected, abs=1e-12)
    assert "no run 'L3'" in refused(
        capsys, *runs, f"--qrels={study_files}/qrels", "--protocol=weight.L3=1"
    )


# -- an archive -----------------------------------------------------------------------------------


def test_an_archive_is_evaluated_on_its_own_topics_and_labels(
    judged: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    report = evaluated(capsys, f"--archive={judged.archive.root}")
    assert (report["topics"], report["split"], report["corpus_version"]) == (3, "dev", 1)
    kinds = [row["kind"] for row in report["rows"]]
    assert kinds == sorted(kinds, reverse=True)
    assert report["rows"][-1]["name"] == "fused"
    assert {"lexical", *report["rows"][-1]["sources"]} <= {row["name"] for row in report["rows"]}
    assert report["best_source"]["AP"] in report["rows"][-1]["sources"]
    assert "Settings may have been chosen on these topics" in report["notes"][0]
    with Catalogue(judged.archive) as catalogue:
        assert [one.experiment_id for one in experiments(catalogue)] == [report["experiment"]]


def test_lists_cut_for_a_protocol_are_those_of_a_search_under_it(judged: Workplace) -> None:
    written = (
        "k=10,depth=2,weight.lexical=2",
        "semantic=always,coverage=0",
        "unit=passage",
        "default",
    )
    engines = Engines(judged.archive)
    with Catalogue(judged.archive) as catalogue:
        request = Request(protocols=read_protocols(written))
        report = study(engines, catalogue, request, Opening("ana"))
        for name, protocol in report.protocols.items():
            run = report.evaluation.row(name).run
            for topic in DEV:
                record = search(engines, catalogue, topic.query, protocol, keep=False).record
                ids = [hit.id for hit in record.fused]
                if protocol.unit == "passage":
                    ids = list(dict.fromkeys(one.rpartition("@")[0] for one in ids))
                assert run.shown(topic.topic_id) == tuple(ids)


def test_the_list_of_a_system_that_was_not_asked_stands_beside_the_whole_one(
    judged: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a fusion has to beat is also what the silent system would have said."""
    report = evaluated(capsys, f"--archive={judged.archive.root}")
    empty = {row["name"]: row["empty"] for row in report["rows"]}
    assert empty["semantic (not asked for codes alone)"] == 1
    assert empty["semantic (asked always)"] == 0


def test_topics_and_labels_are_read_from_files(
    judged: Workplace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "q.tsv"
    queries.write_text('{"_id": "x", "text": "seal exchanged"}\n', encoding="utf-8")
    qrels.write_text("query-id\tcorpus-id\tscore\nx\tpumps/seal.md\t1\n", encoding="utf-8")
    report = evaluated(
        capsys, f"--archive={judged.archive.root}", f"--topics={queries}", f"--qrels={qrels}"
    )
    assert (report["topics"], precision(report, "lexical")) == (1, 1.0)
    assert report["labels"] == "the grades of q.tsv"


# -- protocols as written -------------------------------------------------------------------------


def test_a_protocol_is_one_line_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(
        '[[protocols]]\nname = "a"\nk = 0.1\nweight = {lexical = "1/3"}\n'
        '[[protocols]]\ndepth = 20\nsemantic = "always"\n',
        encoding="utf-8",
    )
    one, two = read_protocols([str(path)])
    assert (one.name, two.name) == ("a", "two 2")
    assert one.protocol() == make_protocol(k="1/10", weights={"lexical": "1/3"})
    assert two.protocol() == make_protocol(depths={"lexical": 20, "semantic": 20}, asked="always")
    (line,) = read_protocols(["k=0.1,weight.lexical=1/3"])
    assert line.protocol() == one.protocol()
    assert read_protocols([]) == (Parameters(),)
    assert line.protocol().k == Fraction(1, 10)


@pytest.mark.parametrize("text", ["k", "kk=1", "depth=a", "weight.other=1", "k=-1", "no.toml"])
def test_a_protocol_that_cannot_be_read_is_one_sentence(text: str) -> None:
    with pytest.raises(BadInput):
        for one in read_protocols([text]):
            one.protocol()


# -- the sealed split -----------------------------------------------------------------------------


def test_the_test_split_needs_a_reason_and_a_frozen_protocol(
    judged: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    """eva-10"""
    where = [f"--archive={judged.archive.root}", "--split=test", "--as=ana"]
    default = make_protocol()
    assert "say why" in refused(capsys, *where)
    assert "not frozen" in refused(capsys, *where, "--reason=release 1")
    assert "not frozen" in refused(capsys, *where, "--reason=release 1", "--frozen=00000000")
    assert "at least 8" in refused(capsys, *where, "--reason=release 1", "--frozen=")
    with Catalogue(judged.archive) as catalogue:
        assert looks(catalogue) == []
        assert frozen_protocols(catalogue) == frozenset()
    first = evaluated(capsys, *where, "--reason=release 1", f"--frozen={default.short_hash}")
    assert first["looks_before"] == 0
    again = evaluated(capsys, *where, "--reason=a second opinion")
    assert again["looks_before"] == 1
    assert "It was looked at once before." in again["notes"][0]
    with Catalogue(judged.archive) as catalogue:
        one, two = looks(catalogue)
    assert (one.number, one.looked_by, one.reason) == (1, "ana", "release 1")
    assert (one.protocols, one.topics) == ((default.hash,), ("t1",))
    assert json.loads(two.result)["fused"][0] == precision(again, "fused")
    assert one.experiment == first["experiment"]
    assert main(["looks", f"--archive={judged.archive.root}"]) == 0
    assert "ana: a second opinion" in capsys.readouterr().out


def test_a_protocol_frozen_on_dev_opens_the_test_split_and_no_other_does(
    judged: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    where = f"--archive={judged.archive.root}"
    evaluated(capsys, where, "--protocol=k=10", "--freeze")
    opened = [where, "--split=test", "--reason=release"]
    assert "not frozen" in refused(capsys, *opened, "--protocol=k=11")
    assert "not frozen" in refused(capsys, *opened, "--protocol=k=10", "--protocol=k=11")
    assert evaluated(capsys, *opened, "--protocol=k=10")["looks_before"] == 0


@pytest.mark.parametrize(
    "line",
    [
        '{"_id": "t1", "text": "another text"}',
        '{"_id": "mine", "text": "  BELT  tension "}',
    ],
)
def test_topics_from_a_file_do_not_open_the_test_split(
    judged: Workplace, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    """By id or by query they are the archive's sealed ones."""
    queries = tmp_path / "queries.jsonl"
    queries.write_text(line + "\n", encoding="utf-8")
    where = [f"--archive={judged.archive.root}", f"--topics={queries}"]
    assert "sealed" in refused(capsys, *where)
    queries.write_text(f'{line}\n{{"_id": "x", "text": "seal"}}\n', encoding="utf-8")
    assert "the others are not" in refused(capsys, *where, "--reason=r")


def test_writing_a_sealed_topic_anew_for_development_does_not_open_it(judged: Workplace) -> None:
    with Catalogue(judged.archive) as catalogue:
        add_topics(
            catalogue,
            [
                Topic("t1", "belt tension", "belt", "Ana", "dev"),
                Topic("t9", "Belt tension", "belt", "Ana", "dev"),
            ],
        )
        engines = Engines(judged.archive)
        report = study(engines, catalogue, Request(), Opening("ana"))
        assert set(report.topics) == {"d1", "d2", "d3"}
        with pytest.raises(Sealed):
            study(engines, catalogue, Request(split="test"), Opening("ana"))


def test_runs_from_files_do_not_open_the_labels_of_the_test_split(
    judged: Workplace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    run.write_text("t1 Q0 lines/belt.md 1 1 x\n", encoding="utf-8")
    where = [f"--archive={judged.archive.root}", f"--run=mine={run}"]
    assert "sealed" in refused(capsys, *where, "--split=test")
    assert evaluated(capsys, *where)["topics"] == 3


def test_the_ledger_can_only_be_added_to(judged: Workplace) -> None:
    with Catalogue(judged.archive) as catalogue:
        opening = Opening("ana", "release", (make_protocol().hash,))
        study(Engines(judged.archive), catalogue, Request(split="test"), opening)
        before = looks(catalogue)
        for table in ("looks", "frozen_protocols", "experiments"):
            for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid = 9"):
                with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                    catalogue.database.execute(statement)
        assert looks(catalogue) == before


def test_an_experiment_is_found_by_the_beginning_of_its_id(judged: Workplace) -> None:
    with Catalogue(judged.archive) as catalogue:
        report = study(Engines(judged.archive), catalogue, Request(), Opening("ana"))
        same = study(Engines(judged.archive), catalogue, Request(), Opening("ben"))
        assert same.experiment_id == report.experiment_id
        assert experiment(catalogue, report.experiment_id[:20]).body == report.body
        assert experiment(catalogue, report.experiment_id).kept_by == "ana"
        with pytest.raises(UnknownExperiment):
            experiment(catalogue, "0" * 12)
        with pytest.raises(BadInput):
            experiment(catalogue, "sha256:")


# -- choosing settings ----------------------------------------------------------------------------


def test_a_sweep_prints_the_chosen_point_in_sample_and_out_of_fold(
    judged: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    where = [
        f"--archive={judged.archive.root}",
        "--grid=k=0;60, depth=1;50;200, weight.lexical=1;9",
    ]
    assert main(["sweep", "--json", *where]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["points"]) == 12
    assert found["in_sample"] == max(one["mean"] for one in found["points"])
    assert sorted(name for fold in found["folds"] for name in fold["topics"]) == ["d1", "d2", "d3"]
    assert main(["sweep", *where]) == 0
    text = capsys.readouterr().out
    assert f"in sample     {found['in_sample']:.4f}" in text
    assert f"out of fold   {found['out_of_fold']:.4f}" in text
    for point in found["points"][::5]:
        written = ",".join(f"{key}={value}" for key, value in point["point"].items())
        report = evaluated(capsys, where[0], "--protocol", written)
        assert precision(report, written) == pytest.approx(point["mean"], abs=1e-12)


def test_nothing_is_chosen_on_the_test_split(
    judged: Workplace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"_id": "t1", "text": "belt tension"}\n', encoding="utf-8")
    assert main(["sweep", f"--archive={judged.archive.root}", f"--topics={queries}"]) == 2
    assert "nothing may be chosen on the test split" in capsys.readouterr().err
    with Catalogue(judged.archive) as catalogue, pytest.raises(Sealed):
        tune(Engines(judged.archive), catalogue, Request(split="test"), read_grid("k=1"))


# -- records of experiments -----------------------------------------------------------------------


def test_an_experiment_is_valid_until_an_input_changes(judged: Workplace) -> None:
    engines = Engines(judged.archive)
    with Catalogue(judged.archive) as catalogue:
        report = study(engines, catalogue, Request(), Opening("ana"))
        kept = experiment(catalogue, report.experiment_id)
        assert validate(engines, catalogue, kept) == Validity("VALID")
        add_judgment(
            catalogue,
            Judgment("d3", "pumps/seal.md", 1, 1, "ana", "2026-11-30T11:00Z", 1, True),
        )
        assert validate(engines, catalogue, kept) == Validity("DRIFTED", ("labels: d3",))
        add_topics(catalogue, [Topic("d1", "gland screw", "torque", "Ana", "dev")])
        drifted = validate(engines, catalogue, kept)
        assert drifted == Validity("DRIFTED", ("labels: d3", "topics: d1"))


def test_an_experiment_drifts_with_the_archive(judged: Workplace, tmp_path: Path) -> None:
    engines = Engines(judged.archive)
    files = tmp_path / "files"
    shutil.copytree(judged.files, files)
    with Catalogue(judged.archive) as catalogue:
        report = study(engines, catalogue, Request(), Opening("ana"))
    (files / "new.md").write_text("# New\n\nAnother gland.", encoding="utf-8")
    judged.ingest(files)
    with Catalogue(judged.archive) as catalogue:
        kept = experiment(catalogue, report.experiment_id)
        found = validate(Engines(judged.archive), catalogue, kept)
    assert found.state == "DRIFTED"
    assert "corpus_version: 1 and now 2" in found.reasons


def test_an_experiment_without_its_files_cannot_be_checked(
    judged: Workplace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("d1 0 pumps/gland.md 1\n", encoding="utf-8")
    where = f"--archive={judged.archive.root}"
    name = evaluated(capsys, where, f"--qrels={qrels}")["experiment"]
    assert main(["validate", name, where]) == 0
    assert capsys.readouterr().out == "VALID\n"
    qrels.unlink()
    assert main(["validate", name, where]) == 1
    assert capsys.readouterr().out.startswith("CANNOT CHECK\n")


def test_two_experiments_are_compared_field_by_field(
    judged: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    where = f"--archive={judged.archive.root}"
    names = [
        evaluated(capsys, where, f"--protocol={written}")["experiment"]
        for written in ("k=60", "k=10", "k=10,depth.lexical=5")
    ]
    said = {}
    for other in names:
        assert main(["compare", names[0], other, where]) == 0
        said[other] = capsys.readouterr().out
    assert said[names[0]] == "nothing differs\n"
    assert said[names[1]] == "k=60 and k=10: k 60 and 10\n"
    assert "depth of lexical 100 and 5" in said[names[2]]
    assert "warning: 2 things differ" in said[names[2]]


def test_validating_an_experiment_on_sealed_topics_is_no_look(judged: Workplace) -> None:
    engines = Engines(judged.archive)
    with Catalogue(judged.archive) as catalogue:
        opening = Opening("ana", "release", (make_protocol().hash,))
        report = study(engines, catalogue, Request(split="test"), opening)
        kept = experiment(catalogue, report.experiment_id)
        assert validate(engines, catalogue, kept) == Validity("VALID")
        assert len(looks(catalogue)) == 1


# -- the report as a file -------------------------------------------------------------------------


def test_the_file_needs_nothing_else_and_escapes_what_it_quotes(
    study_files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topics, path = tmp_path / "topics.jsonl", tmp_path / "report.html"
    topics.write_text('{"_id": "q", "text": "<script>alert(1)</script>"}\n', encoding="utf-8")
    report = evaluated(
        capsys,
        f"--run=<b>L1={study_files}/L1",
        f"--run=L2={study_files}/L2",
        f"--qrels={study_files}/qrels",
        f"--topics={topics}",
        "--protocol=k=0",
        f"--html={path}",
    )
    text = path.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in text and "<script" not in text
    assert "&lt;b&gt;L1" in text and "<b>" not in text
    assert re.findall(r"(?:src|href|url|@import)[=(]", text) == []
    for row in report["rows"]:
        assert f"{row['means']['AP']:.4f}" in text
    assert report["experiment"] in text
    assert "No winner is declared" in text
