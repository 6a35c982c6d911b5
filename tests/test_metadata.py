"""What maintainers say of documents: sidecars, archive.toml, groups, tags, dates."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.document import Document
from corpus.scope import Scope
from indexer.cli import main
from indexer.describe import common_groups
from indexer.given import SIDECAR_KEYS, read_sidecar
from indexer.settings import KEYS, RULE_KEYS, TITLE_FIELDS, Settings, read_settings
from store.archive import Archive
from store.catalogue import Catalogue
from store.errors import BadInput, MassRetirement, NoSource
from store.scope import permitted_documents
from tests.conftest import Workplace

ROOT = Path(__file__).resolve().parents[1]
PAGE = """---
title: Purge valve
author: Ana
date: 2024-02-29
tags: [valves]
---
Close the purge valve HX-204 first.
"""


def configure(workplace: Workplace, text: str) -> None:
    workplace.archive.root.mkdir(exist_ok=True)
    (workplace.archive.root / "archive.toml").write_text(text, encoding="utf-8")


def settings(folder: Path, text: str) -> Settings:
    (folder / "archive.toml").write_text(text, encoding="utf-8")
    return read_settings(Archive(folder))


def document(workplace: Workplace, doc_id: str) -> Document:
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.latest()
        assert version is not None
        return catalogue.document(version.number, doc_id)


def documents(workplace: Workplace) -> set[str]:
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.latest()
        return {entry.doc_id for entry in catalogue.documents(version.number)} if version else set()


def permitted(workplace: Workplace, scope: Scope) -> set[str]:
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.latest()
        assert version is not None
        found = permitted_documents(catalogue, version, scope)
        return documents(workplace) if found is None else set(found)


def test_a_sidecar_stands_above_rules_and_these_above_the_file(workplace: Workplace) -> None:
    configure(
        workplace,
        """
[[rule]]
path = "pumps/**"
title = "Pump sheet {stem}"
language = "es"
tags = ["pumps"]
groups = ["staff"]

[[rule]]
path = "*.md"
tags = ["pages"]

[[rule]]
path = "secret*"
groups = ["board"]
""",
    )
    for name in ("own.md", "pumps/ruled.md", "pumps/secret.md", "pumps/told.md"):
        workplace.write(name, PAGE + name)
    workplace.write(
        "pumps/told.md.meta.toml",
        'title = "Told"\nauthor = "Luis"\ndate = 2023-01-31T23:00:00-05:00\nlanguage = "en"\n'
        'tags = ["one"]\ngroups = []\n',
    )
    report = workplace.ingest()
    assert (report.found, report.skipped, report.failed, report.notes) == (4, [], [], [])

    def said(doc_id: str) -> tuple[object, ...]:
        found = document(workplace, doc_id)
        return found.title, found.author, found.dated, found.tags, found.groups

    assert said("own.md") == ("Purge valve", "Ana", "2024-02-29", ("pages",), ())
    tags = ("pumps", "pages")
    assert said("pumps/ruled.md") == ("Pump sheet ruled", "Ana", "2024-02-29", tags, ("staff",))
    assert said("pumps/secret.md")[3:] == (tags, ("board",))
    assert said("pumps/told.md") == ("Told", "Luis", "2023-01-31T23:00:00-05:00", ("one",), ())
    assert document(workplace, "pumps/ruled.md").language == "es"
    # In both engines, from the title that was given, and in no row for a reader outside the groups.
    result = workplace.search("pump sheet valve", coverage=0)
    for ranking in result.record.rankings:
        assert {hit.id for hit in ranking.hits} == {"own.md", "pumps/told.md"}
    assert {hit.id for hit in result.record.fused} == {"own.md", "pumps/told.md"}
    assert not any("ruled" in note or "secret" in note for note in result.notes)
    staff = workplace.search("sheet ruled", Scope(groups=("staff",)))
    assert staff.record.fused[0].id == "pumps/ruled.md"
    assert "pumps/secret.md" not in {hit.id for hit in staff.record.fused}
    assert permitted(workplace, Scope(groups=("board", "staff"))) == documents(workplace)
    assert permitted(workplace, Scope(tags=("one", "pages"), groups=("board",))) == {
        "own.md",
        "pumps/secret.md",
        "pumps/told.md",
    }


def test_a_changed_sidecar_is_a_new_version_of_the_same_revision(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--archive", str(workplace.archive.root), "--json"]
    workplace.write("a.md", PAGE)
    workplace.ingest()
    workplace.write("a.md.meta.toml", 'groups = ["board"]\ntitle = "Boardroom chiller"\n')
    report = workplace.ingest()
    assert (report.version, report.described, report.outcomes["unchanged"]) == (2, ["a.md"], 1)
    assert "1 described anew" in report.summary()
    assert not workplace.ingest().new_version
    assert document(workplace, "a.md").revision == 1
    assert workplace.search("boardroom").record.fused == ()
    assert workplace.search("boardroom", Scope(groups=("board",))).record.fused[0].id == "a.md"
    assert main(["diff", "1", "2", *where]) == 0
    difference = json.loads(capsys.readouterr().out)
    assert difference["described"] == [
        {
            "doc_id": "a.md",
            "fields": {
                "title": {"before": "Purge valve", "after": "Boardroom chiller"},
                "groups": {"before": "everyone", "after": "board"},
            },
        }
    ]
    with Catalogue(workplace.archive) as catalogue:
        assert catalogue.version(1).fingerprint != catalogue.version(2).fingerprint
    assert main(["show", "a.md", *where[:2]]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert {"author     Ana", "dated      2024-02-29", "groups     board"} <= set(shown)
    assert main(["rollback", "1", "--yes", *where]) == 0
    assert document(workplace, "a.md").groups == ()
    capsys.readouterr()
    assert main(["verify", *where]) == 0
    (workplace.files / "a.md.meta.toml").unlink()
    assert not workplace.ingest().new_version


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("group = ['x']", "unknown key 'group'; the keys are author, date, groups"),
        ("groups = 'board'", "groups is a list of texts"),
        ("groups = ['']", "groups is a list of texts that are not empty"),
        ("groups = [7]", "groups is a list of texts"),
        ("groups = ['a', ' ']", "not empty"),
        ("title = ''", "title is a text"),
        ("date = 'soon'", "date is a day or a time"),
        ("date = 10:30:00", "date is a day or a time"),
        ("language = 'English'", "language is an ISO 639-1 code"),
        ("groups = [", "is not valid TOML"),
        ("x = " + "[" * 5000, "is not valid TOML"),
    ],
)
def test_an_unusable_sidecar_is_refused_by_file_and_key(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "a.md.meta.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"a\.md\.meta\.toml") as refusal:
        read_sidecar(os.fsencode(path))
    assert reason in str(refusal.value)


def test_an_unusable_sidecar_holds_its_document_where_it_was(workplace: Workplace) -> None:
    workplace.write("old.md", PAGE)
    workplace.write("old.md.meta.toml", 'groups = ["board"]')
    workplace.write("other.md", "Another page.")
    workplace.ingest()
    workplace.write("old.md.meta.toml", "grups = []")
    workplace.write("old.md", PAGE + "Edited.")
    workplace.write("copy.md", PAGE)
    workplace.write("new.md", "A new page.")
    workplace.write("new.md.meta.toml", "groups = 1")
    workplace.write("fine.md", "A fine page.")
    (workplace.files / "linked.md").write_text("A linked page.")
    (workplace.files / "linked.md.meta.toml").symlink_to(workplace.files / "new.md.meta.toml")
    report = workplace.ingest()
    failed = {problem.path: problem.reason for problem in report.failed}
    assert set(failed) == {"old.md", "new.md", "copy.md", "linked.md"}
    assert "unknown key 'grups'" in failed["old.md"]
    assert failed["old.md"].endswith("its last good revision stays in force")
    assert "the same bytes lie at old.md" in failed["copy.md"]
    assert "is a link, which is not followed" in failed["linked.md"]
    assert all(problem.stage == "metadata" for problem in report.failed)
    assert report.exit_code == 1
    assert report.found == (
        sum(report.outcomes.values()) + len(report.failed) + len(report.skipped)
    )
    assert documents(workplace) == {"old.md", "other.md", "fine.md"}
    old = document(workplace, "old.md")
    assert (old.revision, old.groups, old.locations) == (1, ("board",), ("old.md",))
    # Moved with its broken sidecar, it still stays as it was.
    for name in ("old.md", "old.md.meta.toml"):
        (workplace.files / name).rename(workplace.files / f"moved-{name}")
    workplace.write("moved-old.md", PAGE)
    assert workplace.ingest().retired == []
    assert document(workplace, "old.md").groups == ("board",)
    workplace.write("moved-old.md.meta.toml", 'groups = ["staff"]')
    (workplace.files / "copy.md").unlink()
    workplace.ingest()
    moved = document(workplace, "old.md")
    assert (moved.groups, moved.locations) == (("staff",), ("moved-old.md",))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ignored = []", r"archive\.toml has an unknown key 'ignored'; the keys are ignore, rule"),
        ("ignore = '*.bak'", "ignore is a list of patterns"),
        ("ignore = ['[']", r"'\[' is not a pattern that matches anything"),
        ("ignore = ['# a note']", "is not a pattern that matches anything"),
        ("source = ['a']", r"source is written as tables, each under \[\[source\]\]"),
        ("[[source]]\nroot = 'a'", r"number 1 has an unknown key 'root'; the keys are path"),
        ("[[rule]]\ngroups = ['a']", "needs a path"),
        ("[[rule]]\npath = '**'", "says nothing"),
        ("[[rule]]\npath = ''\ngroups = ['a']", "needs a path"),
        ("[[rule]]\npath = '!a'\ngroups = ['a']", "a pattern that matches files"),
        ("[[rule]]\npath = '#a'\ngroups = ['a']", "is not a pattern that matches anything"),
        ("[[rule]]\npath = 'a'\ngroups = ['']", r"\[\[rule\]\] number 1: groups is a list"),
        ("[[rule]]\npath = 'a'\nauthor = 'x'", "unknown key 'author'; the keys are groups"),
        ("[[rule]]\npath = 'a'\ntitle = '{x}'", "title may name {stem}"),
        ("[[rule]]\npath = 'a'\ntitle = '{stem.real}'", "title may name {stem}"),
        ("[[rule]]\npath = 'a'\ntitle = '{stem'", "no other braces"),
        ("rule = 3", "rule is written as tables"),
        ("ignore = [", "is not valid TOML"),
    ],
)
def test_an_unusable_archive_toml_is_refused_by_key(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        settings(tmp_path, text)


def test_an_unusable_archive_toml_changes_nothing_at_all(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.write("a.md", PAGE)
    configure(workplace, "[[rule]]\npath = '**'\ngrups = ['board']")
    where = ["--archive", str(workplace.archive.root), "--encoder", workplace.encoder]
    assert main(["ingest", str(workplace.files), *where]) == 2
    message = capsys.readouterr().err
    assert "archive.toml, [[rule]] number 1 has an unknown key 'grups'" in message
    assert "groups, language, tags, title" in message
    assert [path.name for path in workplace.archive.root.iterdir()] == ["archive.toml"]


def test_sources_stand_in_for_paths_and_what_is_ignored_is_retired_under_guard(
    workplace: Workplace,
) -> None:
    with pytest.raises(NoSource, match=r"list it under \[\[source\]\]"):
        workplace.ingest_sources()
    for name in ("a.txt", "b.txt", "drafts/c.txt", "drafts/deep/d.txt", "old.bak"):
        workplace.write(name, f"The page of {name}.")
    workplace.write("drafts/c.txt.meta.toml", "grups = 1")
    workplace.write("gone.txt.meta.toml", "title = 'x'")
    (workplace.files / "one.gz").write_bytes(gzip.compress(b"The page packed alone."))
    workplace.write("one.gz.meta.toml", 'groups = ["staff"]')
    with zipfile.ZipFile(workplace.files / "held.zip", "w") as held:
        held.writestr("keep.txt", "The page kept in a zip.")
        held.writestr("x.bak", "The page left in a zip.")
        held.writestr("keep.txt.meta.toml", "groups = []")
    configure(
        workplace,
        """
ignore = ["*.bak"]
[[source]]
path = "../files"
[[rule]]
path = "held.zip/**"
groups = ["board"]
[[rule]]
path = "drfats/**"
groups = ["board"]
""",
    )
    (workplace.files / "drafts/c.txt.meta.toml").unlink()
    report = workplace.ingest_sources()
    skipped = {problem.path: problem.reason for problem in report.skipped}
    assert skipped["old.bak"] == skipped["held.zip/x.bak"] == "ignored by archive.toml: *.bak"
    assert "a sidecar inside a container is not read" in skipped["held.zip/keep.txt.meta.toml"]
    notes = {(note.path, note.reason) for note in report.notes}
    assert ("", "the rule for 'drfats/**' in archive.toml matches no document") in notes
    assert any(path == "gone.txt.meta.toml" for path, _ in notes)
    assert document(workplace, "held.zip/keep.txt").groups == ("board",)
    assert document(workplace, "one.gz").groups == ("staff",)
    assert report.found == sum(report.outcomes.values()) + len(report.skipped)
    text = (workplace.archive.root / "archive.toml").read_text()
    configure(workplace, text.replace('"*.bak"', '"*.bak", "drafts/"'))
    with pytest.raises(MassRetirement, match="would retire 2 of 6 documents"):
        workplace.ingest_sources()
    configure(workplace, text.replace('"*.bak"', '"*.bak", "drafts/", "!drafts/deep/d.txt"'))
    assert workplace.ingest_sources().retired == ["drafts/c.txt"]
    # A sidecar beside a container would restrict nobody, so the container keeps what it held.
    workplace.write("held.zip.meta.toml", 'groups = ["staff"]')
    refused = workplace.ingest_sources()
    assert [problem.path for problem in refused.failed] == ["held.zip"]
    assert document(workplace, "held.zip/keep.txt").groups == ("board",)


def test_a_copy_is_read_only_by_groups_that_may_read_it_everywhere(workplace: Workplace) -> None:
    workplace.write("a/x.md", PAGE)
    workplace.write("b/x.md", PAGE)
    configure(
        workplace,
        """
[[rule]]
path = "a/**"
groups = ["staff", "board"]
tags = ["a"]
[[rule]]
path = "b/**"
groups = ["guests", "staff"]
tags = ["b"]
""",
    )
    workplace.ingest()
    found = document(workplace, "a/x.md")
    assert (found.groups, found.tags) == (("staff",), ("a", "b"))
    # A part that loosens its own place cannot open the other one.
    workplace.write("b/x.md.meta.toml", "groups = []")
    workplace.ingest(workplace.files / "b")
    assert document(workplace, "a/x.md").groups == ("staff",)
    opened = workplace.ingest()
    assert document(workplace, "a/x.md").groups == ("board", "staff")
    assert "open to more readers than before: a/x.md" in {note.reason for note in opened.notes}
    # With no group in common nobody can be told, so the document stays as it was.
    workplace.write("b/x.md.meta.toml", 'groups = ["guests"]')
    report = workplace.ingest()
    assert {problem.path for problem in report.failed} == {"a/x.md", "b/x.md"}
    assert "no group may read it at all of its places" in report.failed[0].reason
    assert document(workplace, "a/x.md").groups == ("board", "staff")


names = st.sampled_from(["staff", "board", "guests"])


@given(st.lists(st.lists(names, max_size=3), max_size=4), names)
def test_a_group_reads_a_copy_exactly_where_every_place_lets_it(
    places: list[list[str]], reader: str
) -> None:
    def may_read(groups: tuple[str, ...] | list[str]) -> bool:
        return not groups or reader in groups

    allowed = common_groups(places)
    everywhere = all(may_read(groups) for groups in places)
    assert (allowed is not None and may_read(allowed)) == everywhere


parts = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8)
paths = st.lists(parts, min_size=1, max_size=4).map("/".join)


@given(paths, st.sampled_from(["pumps", "válvulas", "va\u0301lvulas"]))
def test_no_file_name_escapes_the_rule_of_its_folder(
    tmp_path_factory: pytest.TempPathFactory, path: str, folder: str
) -> None:
    rule = settings(
        tmp_path_factory.getbasetemp(), f"[[rule]]\npath = '{folder}/**'\ngroups = ['board']"
    )
    for inside in (f"{folder}/{path}", f"válvulas/{path}" if folder != "pumps" else folder + "/x"):
        assert rule.given(inside.encode()).groups == ("board",)
    assert rule.given(f"other/{folder}/{path}".encode()).groups is None


def test_the_day_of_a_document_is_the_same_in_every_zone(
    workplace: Workplace, shared: Path
) -> None:
    """fil-04"""
    shutil.copy(shared / "cases/files/pdf_date_offset.pdf", workplace.files)
    undated = workplace.write("undated.txt", "The pump of an undated page.")
    at = datetime.datetime(2024, 3, 1, 4, 30, tzinfo=datetime.UTC).timestamp()
    os.utime(undated, (at, at))
    workplace.ingest()
    assert document(workplace, "pdf_date_offset.pdf").dated == "2024-02-29T23:30:00-05:00"
    script = (
        "import sys; from pathlib import Path; from corpus.scope import Scope\n"
        "from store.archive import Archive; from store.catalogue import Catalogue\n"
        "from store.scope import permitted_documents\n"
        "with Catalogue(Archive(Path(sys.argv[1]))) as catalogue:\n"
        "    for day in ('2024-02-28', '2024-02-29', '2024-03-01', '2024-03-02'):\n"
        "        scope = Scope(since=day, until=day)\n"
        "        print(sorted(permitted_documents(catalogue, catalogue.latest(), scope)))\n"
    )
    for zone in ("UTC", "America/Bogota", "Asia/Tokyo"):
        run = subprocess.run(
            [sys.executable, "-c", script, str(workplace.archive.root)],
            cwd=ROOT,
            env={**os.environ, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.splitlines() == [
            "[]",
            "['pdf_date_offset.pdf']",
            "['undated.txt']",
            "[]",
        ]
    assert permitted(workplace, Scope(since="2024-03-01")) == {"undated.txt"}
    assert permitted(workplace, Scope(until="2024-02-29")) == {"pdf_date_offset.pdf"}
    record = workplace.search("pump", Scope(tags=("a",), since="2024-03-01")).record
    assert record.as_data()["scope"]["tags"] == ("a",)
    assert record.as_data()["scope"]["since"] == "2024-03-01"


@pytest.mark.parametrize("day", ["2024-2-9", "29/02/2024", "2023-02-29", "20240229", "", "x"])
def test_a_filter_by_something_that_is_no_day_is_refused(day: str) -> None:
    with pytest.raises(ValueError, match="is a day written as 2024-02-29"):
        Scope(since=day)


def test_a_title_rule_takes_words_from_the_path_or_the_text(workplace: Workplace) -> None:
    workplace.write("scans/0001.md", "# Chiller start-up\n\nOpen the valve.")
    workplace.write("scans/0002.md", "No heading here.")
    workplace.write("plain/0003.md", "# Heading\n\nText.")
    configure(
        workplace,
        "[[rule]]\npath = 'scans/'\ntitle = '{heading} ({name})'\n"
        "[[rule]]\npath = 'plain'\ntitle = '{folder} {stem}: {title}'",
    )
    workplace.ingest()
    assert document(workplace, "scans/0001.md").title == "Chiller start-up (0001.md)"
    assert document(workplace, "scans/0002.md").title == "0002"
    assert document(workplace, "plain/0003.md").title == "plain 0003: Heading"


def test_every_key_is_documented() -> None:
    page = (ROOT / "docs" / "metadata.md").read_text(encoding="utf-8")
    for key in {*SIDECAR_KEYS, *KEYS, *RULE_KEYS, "path"}:
        assert f"`{key}`" in page, key
    for field in TITLE_FIELDS:
        assert f"`{{{field}}}`" in page, field
