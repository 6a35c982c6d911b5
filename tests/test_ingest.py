"""Ingest with real files, real engines and a real (tiny) encoder."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from corpus.document import Span
from corpus.passage_limit import embedding_text
from corpus.scope import Scope
from indexer.cli import main
from indexer.texts import Workshop, encode_new
from store import texts
from store.catalogue import Catalogue, Shape
from store.encoder import open_encoder
from store.errors import MassRetirement, NoSource
from store.manifest import read_manifest
from store.vectors import VectorCache
from tests.conftest import Workplace


def test_a_second_ingest_changes_nothing_and_encodes_nothing(workplace: Workplace) -> None:
    workplace.write("pumps/hx-204.md", "# Purge valve\n\nClose HX-204-B before the purge.")
    workplace.write("notes.txt", "The chiller trips at night.")
    first = workplace.ingest()
    assert (first.version, first.outcomes["added"], first.encoded) == (1, 2, 2)
    second = workplace.ingest()
    assert (second.version, second.new_version, second.encoded) == (1, False, 0)
    assert second.outcomes["unchanged"] == 2
    assert second.generation == first.generation
    assert second.summary().startswith("nothing changed, version 1 stands")


def test_an_edit_that_keeps_size_and_time_is_seen(workplace: Workplace) -> None:
    """ing-03"""
    path = workplace.write("torque.txt", "par 45 N")
    workplace.ingest()
    times = path.stat()
    path.write_text("par 54 N", encoding="utf-8")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    report = workplace.ingest()
    assert (report.outcomes["changed"], report.version) == (1, 2)
    with Catalogue(workplace.archive) as catalogue:
        assert catalogue.text(catalogue.version(2), "torque.txt").strip() == "par 54 N"
        assert catalogue.text(catalogue.version(1), "torque.txt").strip() == "par 45 N"
    os.utime(path)
    touched = workplace.ingest()
    assert (touched.new_version, touched.encoded) == (False, 0)


def test_a_deleted_file_is_gone_from_both_engines_and_a_renamed_one_is_itself(
    workplace: Workplace,
) -> None:
    """ing-02"""
    workplace.write("a.txt", "alpha bearing")
    workplace.write("b.txt", "gasket omega")
    workplace.ingest()
    (workplace.files / "b.txt").unlink()
    (workplace.files / "a.txt").rename(workplace.files / "c.txt")
    report = workplace.ingest()
    assert (report.retired, report.outcomes["moved"]) == (["b.txt"], 1)
    assert workplace.ids("gasket", "lexical") == []
    assert workplace.ids("gasket", "semantic") == ["a.txt"]
    assert workplace.ids("alpha", "lexical") == ["a.txt"]
    with Catalogue(workplace.archive) as catalogue:
        assert catalogue.document(2, "a.txt").locations == ("c.txt",)


def test_a_missing_or_empty_root_changes_nothing(workplace: Workplace) -> None:
    """ing-01"""
    for number in range(10):
        workplace.write(f"d{number}.txt", f"document number {number}")
    workplace.ingest()
    aside = workplace.files.rename(workplace.files.with_name("unmounted"))
    with pytest.raises(NoSource, match="no file or folder"):
        workplace.ingest()
    workplace.files.mkdir()
    with pytest.raises(MassRetirement, match=r"would retire 10 of 10 documents.*--allow-retire"):
        workplace.ingest()
    workplace.files.rmdir()
    aside.rename(workplace.files)
    link = workplace.files.with_name("link")
    link.symlink_to(workplace.files)
    relative = Path(os.path.relpath(workplace.files))
    for path in (workplace.files, link, relative, Path(f"{workplace.files}/")):
        assert not workplace.ingest(path).new_version
    assert len(workplace.ids("document", "semantic")) == 10


def test_retiring_on_purpose_makes_a_version_and_keeps_the_old_one(workplace: Workplace) -> None:
    for number in range(5):
        workplace.write(f"d{number}.txt", f"document number {number}")
    workplace.ingest()
    for number in range(3):
        (workplace.files / f"d{number}.txt").unlink()
    report = workplace.ingest(allow_retire=True)
    assert report.retired == ["d0.txt", "d1.txt", "d2.txt"]
    with Catalogue(workplace.archive) as catalogue:
        assert len(catalogue.documents(1)) == 5
        assert len(catalogue.documents(2)) == 2


def test_identical_files_are_one_result_that_names_both_paths(
    workplace: Workplace, shared: Path
) -> None:
    """ing-20"""
    for name in ("dup_a.txt", "dup_b.txt", "dup_near.txt"):
        shutil.copy(shared / "cases/files" / name, workplace.files)
    workplace.ingest()
    assert workplace.ids("boletín TB-12", "lexical") == ["dup_a.txt", "dup_near.txt"]
    with Catalogue(workplace.archive) as catalogue:
        assert catalogue.document(1, "dup_a.txt").locations == ("dup_a.txt", "dup_b.txt")
    (workplace.files / "dup_a.txt").unlink()
    workplace.ingest()
    assert workplace.ids("boletín TB-12", "lexical") == ["dup_a.txt", "dup_near.txt"]


def test_one_bad_file_ends_nothing_and_is_named(workplace: Workplace, shared: Path) -> None:
    """ing-04, den-02: counts add up and every failure has a path, a stage and a reason."""
    for path in sorted((shared / "cases/files").iterdir()):
        shutil.copy(path, workplace.files)
    for number in range(3):
        workplace.write(f"good{number}.md", f"# Good {number}\n\nGreen quokka number {number}.")
    report = workplace.ingest()
    failed = {problem.path: problem for problem in report.failed}
    assert {"empty.txt", "blank.txt", "png_named_pdf.pdf", "docx_bomb.docx"} <= set(failed)
    assert all(problem.stage and problem.reason for problem in report.failed)
    assert report.exit_code == 1
    assert report.found == (
        sum(report.outcomes.values()) + len(report.failed) + len(report.skipped)
    )
    assert {"good0.md", "good1.md", "good2.md"} <= set(workplace.ids("quokka", "lexical"))
    again = workplace.ingest()
    assert [problem.path for problem in again.failed] == [p.path for p in report.failed]
    assert (again.new_version, again.encoded) == (False, 0)


def test_a_document_whose_new_bytes_cannot_be_read_stays_in_its_last_revision(
    workplace: Workplace,
) -> None:
    path = workplace.write("manual.txt", "The flange is torqued to 45 N.")
    workplace.write("other.txt", "Something else.")
    workplace.ingest()
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    report = workplace.ingest()
    assert report.failed[0].reason.endswith("its last good revision stays in force")
    assert not report.new_version
    assert workplace.ids("flange", "lexical") == ["manual.txt"]


def test_names_that_look_alike_stay_distinct_and_links_are_not_followed(
    workplace: Workplace, shared: Path
) -> None:
    """ing-18"""
    # The tree holds a pipe and odd bytes in names, which only the real tar unpacks as they are.
    tree = shared / "cases/files/odd_tree.tar"
    subprocess.run(["tar", "-xf", str(tree), "-C", str(workplace.files)], check=True)
    outside = workplace.files.with_name("outside.txt")
    outside.write_text("secret", encoding="utf-8")
    (workplace.files / "corpus" / "out.txt").symlink_to(outside)
    (workplace.files / "corpus" / "line\nbreak.txt").write_text("kept on one line")
    first, second = workplace.ingest(), workplace.ingest()
    assert not second.new_version
    assert first.found == second.found
    assert any("link" in problem.reason for problem in first.skipped)
    with Catalogue(workplace.archive) as catalogue:
        documents = catalogue.documents(1)
    names = [location for document in documents for location in document.locations]
    assert all(name.isprintable() for name in names)
    assert "corpus/line\\nbreak.txt" in names
    assert len(names) == len(set(names))
    regular = [
        entry
        for folder, _, _ in os.walk(os.fsencode(workplace.files))
        for entry in os.scandir(folder)
        if entry.is_file(follow_symlinks=False) and not entry.name.startswith((b".", b"~$"))
    ]
    assert len(names) + len(first.failed) == len(regular)


def test_an_unreadable_folder_keeps_its_documents(workplace: Workplace) -> None:
    workplace.write("open/a.txt", "alpha")
    workplace.write("closed/b.txt", "beta")
    workplace.write("closed/c.txt", "gamma")
    workplace.ingest()
    closed = workplace.files / "closed"
    # Root opens folders without permission, so the folder's place is taken by something else.
    hidden = closed.rename(workplace.files.with_name("closed"))
    report = workplace.ingest(workplace.files / "open")
    assert report.retired == []
    hidden.rename(closed)
    assert not workplace.ingest().new_version


def test_a_part_of_a_source_touches_only_that_part(workplace: Workplace) -> None:
    workplace.write("one/a.txt", "alpha")
    workplace.write("two/b.txt", "beta")
    workplace.ingest()
    (workplace.files / "two" / "b.txt").unlink()
    workplace.write("one/c.txt", "gamma")
    assert workplace.ingest(workplace.files / "one").retired == []
    report = workplace.ingest(workplace.write("one/a.txt", "alpha two"))
    assert (report.outcomes["changed"], report.retired) == (1, [])
    assert workplace.ingest().retired == ["two/b.txt"]


def test_a_filter_restricts_both_engines_before_ranks_are_given(workplace: Workplace) -> None:
    """fil-01, fil-02"""
    for number in range(14):
        workplace.write(
            f"en/d{number:02d}.txt",
            f"The purge valve of the pump was replaced and then tested again, sheet {number}.",
        )
    for number in range(14, 20):
        workplace.write(
            f"es/d{number:02d}.txt",
            f"La válvula de purga de la bomba fue sustituida y probada, hoja {number} pump.",
        )
    workplace.ingest()
    result = workplace.search(
        "pump", Scope(languages=("es",)), depths={"lexical": 5, "semantic": 5}
    )
    for ranking in result.record.rankings:
        assert len(ranking.hits) == 5
        assert [hit.rank for hit in ranking.hits] == [1, 2, 3, 4, 5]
        assert all(hit.id.startswith("es/") for hit in ranking.hits)
    folder = workplace.search("pump", Scope(folder="en"))
    assert {hit.id.partition("/")[0] for hit in folder.record.fused} == {"en"}
    nothing = workplace.search("pump", Scope(folder="nowhere"))
    assert nothing.record.fused == ()


def test_superseded_versions_never_take_a_place_in_a_list(workplace: Workplace) -> None:
    """fil-08: ten documents with nine superseded versions each, depth ten, all match.

    Old versions are reached by going back to one, and then it is the one of both engines.
    """
    names = [f"d{number}.txt" for number in range(10)]
    for version in range(1, 11):
        for name in names:
            workplace.write(name, f"The purge valve of the pump {name}, as of sheet {version}.")
        workplace.ingest()

    def listed(revision: int) -> None:
        result = workplace.search("purge valve pump", depths={"lexical": 10, "semantic": 10})
        for ranking in result.record.rankings:
            assert [hit.rank for hit in ranking.hits] == list(range(1, 11))
            assert {hit.passage_id for hit in ranking.hits} == {
                f"{name}@{revision}#00000" for name in names
            }
            assert {found.passage_id for hit in ranking.hits for found in hit.found} == {
                hit.passage_id for hit in ranking.hits
            }
            assert ranking.exhausted

    listed(10)
    assert main(["rollback", "4", "--yes", "--archive", str(workplace.archive.root)]) == 0
    with Catalogue(workplace.archive) as catalogue:
        latest = catalogue.latest()
        assert latest is not None
        revisions = {entry.revision for entry in catalogue.documents(latest.number)}
    assert len(revisions) == 1
    listed(*revisions)
    result = workplace.search("sheet 4")
    with Catalogue(workplace.archive) as catalogue:
        assert "sheet 4" in catalogue.text(latest, result.record.fused[0].id)


def test_what_the_manifest_says_is_what_the_catalogue_holds(workplace: Workplace) -> None:
    """sto-03: as many live passages in both engines as in the corpus version."""
    workplace.write("long.txt", "\n\n".join(f"Paragraph {n} about seals." * 9 for n in range(9)))
    workplace.write("short.txt", "One line.")
    report = workplace.ingest()
    manifest = read_manifest(workplace.archive.generations / report.generation)
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.version(1)
        passages = [
            passage
            for document in catalogue.documents(1)
            for passage in catalogue.passages(version, document.doc_id)
        ]
    assert len(passages) == manifest.passages == version.passages == report.passages
    assert len(passages) > 5
    assert len(workplace.search("seals", unit="passage").record.rankings[1].hits) == len(passages)


def test_commands_end_with_their_documented_codes(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    """ops-04"""
    archive = ["--archive", str(workplace.archive.root)]
    encoder = ["--encoder", workplace.encoder]
    workplace.write("a.txt", "alpha")
    assert main(["ingest", str(workplace.files), *archive, *encoder]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("version 1: 1 added")
    workplace.write("bad.txt", "")
    assert main(["ingest", str(workplace.files), *archive, "--json"]) == 1
    body = json.loads(capsys.readouterr().out)
    assert (body["exit_code"], body["failed"][0]["path"]) == (1, "bad.txt")
    assert main(["ingest", str(workplace.files / "nowhere"), *archive, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["exit_code"] == 2
    assert main(["status", *archive]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "version 1 is served"
    assert main(["versions", *archive]) == 0
    assert main(["status", "--archive", str(workplace.files)]) == 2
    assert "there is no archive in" in capsys.readouterr().err


def test_a_passage_longer_than_the_encoder_reads_is_counted_and_refused(
    workplace: Workplace,
) -> None:
    """den-01: the count is measured, and nothing is cut without a word."""
    workplace.write("long.txt", "The relay of the purge valve is tested. " * 40)
    report = workplace.ingest()
    assert report.truncated == 0
    encoder = open_encoder(workplace.encoder)
    with Catalogue(workplace.archive) as catalogue, VectorCache(workplace.archive) as cache:
        version = catalogue.version(1)
        passages = catalogue.passages(version, "long.txt")
        title = catalogue.document(1, "long.txt").title
        encoded = [embedding_text(title, p.headings, p.text) for p in passages]
        assert max(encoder.count_tokens(encoded)) <= encoder.max_tokens
        digest = catalogue.document(1, "long.txt").sha256
        uncut = Shape(version.shape.extractor, "one passage whatever its length")
        whole = Span(0, len(catalogue.text(version, "long.txt")))
        texts.add_passages(catalogue, digest, "long", uncut, [(whole, bytes(32))])
        made = encode_new(Workshop(catalogue, cache, encoder, uncut), {digest: "long"})
    assert (made.passages, made.over_long, set(made.failures)) == (0, 1, {digest})


def test_a_source_that_is_gone_keeps_its_documents_when_the_extractor_changes(
    workplace: Workplace,
) -> None:
    workplace.write("here/a.txt", "alpha torque")
    workplace.ingest()
    elsewhere = workplace.files.with_name("elsewhere")
    elsewhere.mkdir()
    (elsewhere / "b.txt").write_text("beta torque")
    workplace.ingest(elsewhere)
    with sqlite3.connect(workplace.archive.catalogue) as database:
        for table in ("versions", "extractions", "shapes"):
            database.execute(f"UPDATE {table} SET extractor = 'an older one'")
    elsewhere.rename(workplace.files.with_name("unmounted"))
    report = workplace.ingest()
    assert (report.new_version, report.documents, report.retired) == (True, 2, [])
    assert workplace.ids("beta", "lexical") == ["b.txt"]
