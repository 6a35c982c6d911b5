"""Labels and topics as files: what is read back is what was written, and no cell is a formula."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cells import decoded, encoded, guarded, unguarded
from app.cli import main
from app.label_files import (
    Missing,
    beir_text,
    csv_text,
    jsonl_text,
    read_labels,
    trec_text,
)
from app.label_import import import_labels
from app.topic_files import read_topics, topics_text
from corpus.judging import Judgment, Project, Topic
from store.archive import Archive
from store.catalogue import Catalogue
from store.errors import BadInput
from store.judging import add_judgments, add_topics, judgments, topics
from store.projects import add_project
from tests.conftest import Workplace

MISSING = Missing("ana", "2026-11-30", 3, {"a.txt": 4}, {}, "", "from a test")
TOPIC = Topic("t1", "purge valve", "how the purge valve is replaced", "R. Costa", "dev")

# What UTF-8 can write.
texts = st.text(st.characters(exclude_categories=("Cs",)))
filled = texts.filter(lambda text: bool(text.strip()))
names = st.one_of(
    filled,
    st.sampled_from(["00742", "1E5", "9007199254740993", "TRUE", "2024-02-29", "a b/ñ.md", "=1+1"]),
)
labels = st.builds(
    Judgment,
    topic_id=names,
    doc_id=names,
    revision=st.integers(1, 9),
    grade=st.sampled_from([0, 1, 2, 3]),
    judge=filled,
    judged_at=st.just("2026-11-30T10:00:00.123+00:00"),
    corpus_version=st.integers(0, 9),
    blind=st.booleans(),
    passage_id=texts,
    protocol=texts,
    reason=texts,
    note=texts,
    project=filled,
    role=st.sampled_from(["judge", "adjudicator"]),
    seed=texts,
)


def judgment(doc_id: str, grade: int | None = 2, **more: object) -> Judgment:
    values: dict[str, object] = {
        "topic_id": "t1",
        "revision": 1,
        "judge": "ana",
        "judged_at": "2026-11-30T10:00:00+00:00",
        "corpus_version": 1,
        "blind": True,
        **more,
    }
    return Judgment(doc_id=doc_id, grade=grade, **values)  # type: ignore[arg-type]


def test_no_cell_is_run_or_converted_by_a_spreadsheet_and_all_come_back() -> None:
    """sec-05, lab-08"""
    dangerous = [
        "=1+1", "+34 900", "-40 °C", "@sum", "\t=HYPERLINK(\"x\")", "＝1+1", "  =1", "\r=1",
        "'=1", "''=1", "'\t=1", "00742", "1E5", "9007199254740993", "TRUE", "2024-02-29", "1,5",
    ]  # fmt: skip
    for text in dangerous:
        assert guarded(text) == f"'{text}"
        assert unguarded(guarded(text)) == text
    harmless = ["valve", "'s-Hertogenbosch", "", "AX-2041/B", "a=b", "é", "3 valves", ":x", "<b>"]
    harmless += ["2026-11-30T10:00:00.123+00:00", "12.md"]
    for text in harmless:
        assert guarded(text) == unguarded(text) == text
    for name in ["00742", "pumps/a.md", "12.md", "<b>", "válvula", "a=b", "?"]:
        assert encoded(name) == decoded(name) == name


@given(texts)
def test_a_guarded_cell_never_begins_as_a_formula_and_reads_back(text: str) -> None:
    cell = guarded(text)
    assert not cell.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))
    assert not cell.startswith(("\t", "\r", "\n"))
    assert unguarded(cell) == text


@given(filled)
def test_an_encoded_id_is_one_field_without_a_sign_and_reads_back(name: str) -> None:
    field = encoded(name)
    assert field.split() == [field]
    assert not field.startswith(("=", "+", "-", "@", "#"))
    assert decoded(field) == name


@given(texts)
def test_what_was_not_encoded_here_is_read_as_it_stands(field: str) -> None:
    name = decoded(field)
    assert name == field or encoded(name) == field


@given(st.lists(labels))
def test_every_field_of_every_label_comes_back_from_csv_and_json(
    tmp_path_factory: pytest.TempPathFactory, given_labels: list[Judgment]
) -> None:
    folder = tmp_path_factory.mktemp("labels")
    for name, text in (("csv", csv_text(given_labels)), ("jsonl", jsonl_text(given_labels))):
        path = folder / f"labels.{name}"
        path.write_bytes(text.encode())
        lines, refused = read_labels(path, name, MISSING)  # type: ignore[arg-type]
        assert [line.label for line in lines] == given_labels
        assert refused == []


@given(st.dictionaries(names, st.dictionaries(names, st.integers(0, 3), min_size=1)))
def test_qrels_come_back_from_trec_and_beir(
    tmp_path_factory: pytest.TempPathFactory, grades: dict[str, dict[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("qrels")
    for name, text in (("trec", trec_text(grades)), ("beir", beir_text(grades))):
        path = folder / name
        path.write_bytes(text.encode())
        lines, refused = read_labels(path, name, MISSING)  # type: ignore[arg-type]
        read: dict[str, dict[str, int | None]] = {}
        for line in lines:
            read.setdefault(line.label.topic_id, {})[line.label.doc_id] = line.label.grade
        assert read == grades
        assert refused == []


def test_refused_lines_are_named_by_number_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "topic_id,doc_id,grade,judge,note,reason,blind\n"
        't1,a.txt,3,ben,"two\nlines; and a semicolon",,true\n'
        "t1,a.txt,4,ben,,,\n"
        "t1,a.txt,high,ben,,,\n"
        "t1,a.txt,,ben,,,\n"
        "t1,a.txt,,ben,,torn,\n"
        "t1,a.txt,1\n"
        "t1,,1,ben,,,\n"
        "t1,a.txt,1,ben,,,maybe\n",
        encoding="utf-8",
    )
    lines, refused = read_labels(path, "csv", MISSING)
    assert [(line.number, line.label.grade) for line in lines] == [(2, 3), (7, None)]
    first = lines[0].label
    assert (first.note, first.blind, first.judge) == ("two\nlines; and a semicolon", True, "ben")
    assert (first.revision, first.corpus_version, first.judged_at) == (4, 3, "2026-11-30")
    assert [entry.line for entry in refused] == [4, 5, 6, 8, 9, 10]
    assert "a grade is 0, 1, 2 or 3, not 4" in refused[0].reason
    assert "grade is a whole number, not 'high'" in refused[1].reason
    assert "needs a reason" in refused[2].reason
    assert "3 cells, and the first line names 7 columns" in refused[3].reason
    assert refused[4].reason == "there is no doc_id"
    assert "blind is true or false, not 'maybe'" in refused[5].reason


def test_what_a_spanish_spreadsheet_saves_is_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes("\ufefftopic_id;doc_id;grade\r\nt1;'00742;2\r\n".encode())
    (line,), refused = read_labels(path, "csv", MISSING)
    assert (line.label.doc_id, line.label.grade, refused) == ("00742", 2, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"topic_id,doc_id\n", "no column 'grade'"),
        (b"topic_id,doc_id,grade,mark\n", "column 'mark'"),
        (b"topic_id,doc_id,grade,grade\n", "named twice"),
        (b"topic_id,doc_id,grade\nt1,\xe9,1\n", "UTF-8"),
        (b"", "no column 'topic_id'"),
    ],
)
def test_a_file_that_is_no_table_of_labels_is_refused_whole(
    tmp_path: Path, text: bytes, message: str
) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(text)
    with pytest.raises(BadInput, match=message):
        read_labels(path, "csv", MISSING)


@pytest.mark.parametrize("line", ["t1 0 a.txt", "t1 0 a b.txt 1", "t1 0 a.txt -1", "{}"])
def test_a_line_that_is_none_of_qrels_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.qrels"
    path.write_text(f"t1 0 a.txt 1\n\n{line}\n", encoding="utf-8")
    lines, refused = read_labels(path, "trec", MISSING)
    assert [entry.number for entry in lines] == [1]
    assert [entry.line for entry in refused] == [3]


@pytest.fixture
def archive(workplace: Workplace) -> Archive:
    workplace.write("a.txt", "The purge valve.")
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        add_topics(catalogue, [TOPIC])
    return workplace.archive


def run(archive: Archive, *arguments: str) -> int:
    return main([*arguments, "--archive", str(archive.root)])


def stored(archive: Archive) -> list[Judgment]:
    with Catalogue(archive) as catalogue:
        return judgments(catalogue)


def test_an_export_read_into_another_archive_gives_the_same_labels_once(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """lab-01, lab-08: every label of every reviewer, with history."""
    with Catalogue(archive) as catalogue:
        add_project(catalogue, Project("pumps", judges_per_pair=2), "ana")
        add_judgments(
            catalogue,
            [
                judgment("00742", 3),
                judgment("válvula/a b.md", 0, judge="ben", note="-40 °C;\nsee p. 3"),
                judgment("00742", 1),
                judgment("00742", None, withdrawn=True),
                judgment("a.txt", None, reason="=torn", project="pumps", role="adjudicator"),
            ],
        )
    before = stored(archive)
    other = Archive(tmp_path / "other")
    with Catalogue(other) as catalogue:
        add_topics(catalogue, [TOPIC])
        add_project(catalogue, Project("pumps"), "ben")
    for name in ("labels.csv", "labels.jsonl"):
        path = str(tmp_path / name)
        assert run(archive, "labels", "export", path) == 0
        assert run(archive, "labels", "import", path) == 0
        assert "0 added, 5 known, 0 lines refused" in capsys.readouterr().out
        assert run(other, "labels", "import", path) == 0
    assert stored(archive) == before
    assert stored(other) == before


def test_a_dry_run_reports_and_stores_nothing(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "given.qrels"
    path.write_text(
        "t1 0 a.txt 2\nt9 0 a.txt 1\nt1 0 gone%20away.txt 1\nt1 0 a.txt 7\n", encoding="utf-8"
    )
    arguments = ("labels", "import", str(path), "--judge", "trec")
    assert run(archive, *arguments, "--dry-run") == 1
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "line 2: there is no topic 't9' here",
        "line 4: a grade is 0, 1, 2 or 3, not 7",
        "no such document here: gone away.txt",
        "2 would be added, 0 known, 2 lines refused",
    ]
    assert stored(archive) == []
    assert run(archive, *arguments) == 1
    assert [(label.doc_id, label.revision, label.grade) for label in stored(archive)] == [
        ("a.txt", 1, 2),
        ("gone away.txt", 0, 1),
    ]
    assert {(label.judge, label.note) for label in stored(archive)} == {
        ("trec", "from given.qrels")
    }
    capsys.readouterr()
    run(archive, *arguments, "--json")
    report = json.loads(capsys.readouterr().out)
    assert (report["added"], report["known"]) == (0, 2)
    assert report["refused"][0] == {"line": 2, "reason": "there is no topic 't9' here"}


def test_a_document_named_by_another_of_its_places_is_the_document(workplace: Workplace) -> None:
    workplace.write("a.txt", "The purge valve.")
    workplace.write("copies/b c.txt", "The purge valve.")
    workplace.ingest()
    path = workplace.files.parent / "x.qrels"
    path.write_text("t1 0 copies/b%20c.txt 2\n", encoding="utf-8")
    with Catalogue(workplace.archive) as catalogue:
        add_topics(catalogue, [TOPIC])
        done = import_labels(catalogue, path, "trec", judge="ana")
        assert (done.added, done.unknown_documents) == (1, ())
        (label,) = judgments(catalogue)
    assert (label.doc_id, label.revision) == ("a.txt", 1)


def test_labels_without_a_judge_are_refused_with_what_to_type(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nt1\ta.txt\t2\n", encoding="utf-8")
    assert run(archive, "labels", "import", str(path)) == 1
    assert "line 2: there is no judge; say whose labels these are" in capsys.readouterr().out


def test_an_import_says_which_labels_lose_the_text_they_were_given_under(archive: Archive) -> None:
    path = archive.root / "labels.jsonl"
    path.write_text(jsonl_text([judgment("a.txt", topic_revision=4)]), encoding="utf-8")
    with Catalogue(archive) as catalogue:
        done = import_labels(catalogue, path, "jsonl")
        assert (done.added, done.moved) == (1, 1)
        assert judgments(catalogue)[0].topic_revision == 1


def test_qrels_are_exported_in_the_view_asked_for(
    archive: Archive, capsys: pytest.CaptureFixture[str]
) -> None:
    with Catalogue(archive) as catalogue:
        add_judgments(
            catalogue,
            [
                judgment("a b.txt", 3),
                judgment("a b.txt", 0, judge="ben"),
                judgment("a b.txt", 1, judge="cleo"),
            ],
        )
    assert run(archive, "labels", "export", "-", "--format", "trec", "--view", "minimum") == 0
    done = capsys.readouterr()
    assert done.out == "t1 0 a%20b.txt 0\n"
    assert done.err == "1 pairs, minimum: the lowest grade that a judge gave\n"
    assert run(archive, "labels", "export", "-", "--format", "beir") == 0
    assert capsys.readouterr().out == "query-id\tcorpus-id\tscore\nt1\ta%20b.txt\t1\n"
    assert run(archive, "labels", "export", "-", "--format", "csv", "--view", "median") == 2
    assert run(archive, "labels", "export", "-") == 2
    assert run(archive, "labels", "export", "-", "--format", "trec", "--project", "none") == 2


def test_the_csv_export_of_labels_holds_no_cell_of_the_shared_case_as_a_formula(
    shared: Path,
) -> None:
    """sec-05"""
    case = (shared / "cases" / "files" / "csv_formula_cells.csv").read_bytes().decode()
    cells = [cell for row in csv.reader(io.StringIO(case, newline="")) for cell in row]
    text = csv_text([judgment(cell, note=cell) for cell in cells])
    written = [cell for row in csv.reader(io.StringIO(text[1:], newline="")) for cell in row]
    assert any("HYPERLINK" in cell for cell in written)
    assert [cell for cell in written if cell.lstrip().startswith(("=", "+", "-", "@"))] == []


written_topics = st.builds(
    Topic,
    topic_id=filled,
    query=filled,
    need=filled,
    author=filled,
    split=st.sampled_from(["dev", "test"]),
    tags=st.lists(texts).map(tuple),
)


@given(st.lists(written_topics, min_size=1))
def test_topics_come_back_from_every_format(
    tmp_path_factory: pytest.TempPathFactory, given_topics: list[Topic]
) -> None:
    folder = tmp_path_factory.mktemp("topics")
    for form in ("toml", "jsonl", "tsv"):
        path = folder / f"topics.{form}"
        path.write_bytes(topics_text(given_topics, form).encode())  # type: ignore[arg-type]
        assert read_topics(path, form) == given_topics  # type: ignore[arg-type]


def test_queries_of_public_collections_are_read_as_they_are(tmp_path: Path) -> None:
    beir = tmp_path / "queries.jsonl"
    beir.write_text('{"_id": "1", "text": "a \\"b", "metadata": {"url": "x"}}\n', encoding="utf-8")
    plain = tmp_path / "queries.tsv"
    plain.write_text('1\ta "b\n', encoding="utf-8")
    for path, form in ((beir, "jsonl"), (plain, "tsv")):
        (read,) = read_topics(path, form, author="BEIR")  # type: ignore[arg-type]
        assert read == Topic("1", 'a "b', 'a "b', "BEIR", "dev")
        with pytest.raises(BadInput, match="'author'; give it with --author"):
            read_topics(path, form)  # type: ignore[arg-type]


def test_topics_are_imported_and_exported_by_command(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "topics.toml"
    new = Topic("t2", unicodedata.normalize("NFC", "relé"), "=need", "Ana", "test", ("pumps",))
    path.write_text(topics_text([TOPIC, new], "toml"), encoding="utf-8")
    assert run(archive, "topics", "import", str(path), "--dry-run") == 0
    assert run(archive, "topics", "import", str(path)) == 0
    assert run(archive, "topics", "export", "-", "--format", "tsv") == 0
    said = capsys.readouterr().out
    assert "1 of 2 topics are new or edited; none added" in said
    assert "1 of 2 topics new or edited\n" in said
    assert "t2\trelé\t'=need\tAna\ttest" in said
    with Catalogue(archive) as catalogue:
        assert topics(catalogue) == [TOPIC, new]
