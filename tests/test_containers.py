"""Archives and JSON lines are folders of documents, under limits."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus import containers
from corpus.containers import container_kind, unpack
from corpus.errors import NotExtractable
from store.catalogue import Catalogue
from tests.conftest import Workplace

ROWS = [
    {"_id": "p-1", "title": "Purge valve", "text": "Close the purge valve first."},
    {"_id": "00742", "title": "Chiller", "text": "The chiller trips at night."},
    {"id": "a b/c", "text": "Rows may have no title."},
]
LINES = "\n".join(json.dumps(row) for row in ROWS).encode()


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(name, data)
    return out.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo("link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return out.getvalue()


FILES = {"pumps/a.txt": b"The purge valve.", "b.txt": b"The chiller."}
MAKERS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "manuals.zip": zipped,
    "manuals.tar": tarred,
    "manuals.tgz": lambda files: tarred(files, "w:gz"),
    "named wrongly.pdf": zipped,
}


@pytest.mark.parametrize("name", MAKERS)
def test_an_archive_is_a_folder_whose_files_are_searched(workplace: Workplace, name: str) -> None:
    (workplace.files / name).write_bytes(MAKERS[name](FILES))
    report = workplace.ingest()
    assert report.outcomes["added"] == 2
    assert report.found == 2 + len(report.skipped)
    assert workplace.ids("purge", "lexical") == [f"{name}/pumps/a.txt"]
    assert not workplace.ingest().new_version
    assert not list(workplace.archive.root.glob(".unpack*"))
    (workplace.files / name).write_bytes(MAKERS[name]({**FILES, "c.txt": b"A gasket."}))
    assert workplace.ingest().outcomes["added"] == 1
    (workplace.files / "b.txt").write_bytes(FILES["b.txt"])
    assert workplace.ingest().outcomes["copied"] == 1
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.latest()
        assert version is not None
        places = catalogue.document(version.number, f"{name}/b.txt").locations
    assert places == ("b.txt", f"{name}/b.txt")
    (workplace.files / name).write_bytes(MAKERS[name](FILES))
    assert workplace.ingest().retired == [f"{name}/c.txt"]


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.jsonl.gz", "any name"])
def test_each_json_line_is_a_document_with_its_title(workplace: Workplace, name: str) -> None:
    data = gzip.compress(LINES) if name.endswith(".gz") else LINES
    (workplace.files / name).write_bytes(data)
    report = workplace.ingest()
    assert (report.outcomes["added"], report.failed) == (3, [])
    with Catalogue(workplace.archive) as catalogue:
        titles = {document.doc_id: document.title for document in catalogue.documents(1)}
        text = catalogue.text(catalogue.version(1), f"{name}/p-1")
    assert titles[f"{name}/p-1"] == "Purge valve"
    assert titles[f"{name}/00742"] == "Chiller"
    assert f"{name}/a b/c" in titles
    assert "Close the purge valve first." in text
    assert workplace.ids("chiller", "lexical") == [f"{name}/00742"]


def test_a_file_that_left_an_archive_is_retired(workplace: Workplace) -> None:
    path = workplace.files / "manuals.zip"
    path.write_bytes(zipped({**FILES, "c.txt": b"A gasket."}))
    workplace.ingest()
    path.write_bytes(zipped(FILES))
    report = workplace.ingest()
    assert report.retired == ["manuals.zip/c.txt"]
    assert workplace.ids("gasket", "lexical") == []


def test_names_inside_an_archive_tell_kinds_of_plain_text_and_give_titles(
    workplace: Workplace,
) -> None:
    files = {"a/parts.csv": b"code,remark\nAX-1,a gasket\n", "b/valve.md": b"It *leaks*."}
    (workplace.files / "box.zip").write_bytes(zipped(files))
    (workplace.files / "flange.md.gz").write_bytes(gzip.compress(b"Tighten it *well*."))
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.version(1)
        found = {d.doc_id: (d.title, d.media_type) for d in catalogue.documents(1)}
        text = catalogue.text(version, "box.zip/a/parts.csv")
    assert found == {
        "box.zip/a/parts.csv": ("parts", "text/csv"),
        "box.zip/b/valve.md": ("valve", "text/markdown"),
        "flange.md.gz": ("flange", "text/markdown"),
    }
    assert "code: AX-1 | remark: a gasket" in text


def read_lines(folder: Path, data: bytes) -> tuple[dict[bytes, bytes], dict[bytes, str]]:
    """What JSON lines hold by name, and what was left out."""
    path = folder / "corpus.jsonl"
    path.write_bytes(data)
    into = folder / "into"
    into.mkdir()
    held = unpack(path, into)
    return {member.name: member.path.read_bytes() for member in held.members}, dict(held.skipped)


def test_a_broken_line_is_named_by_its_number_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = [b'{"id": "a", "text": "x"}', b'{"id": "b", "text": "y"}', b'{"id": "c", "te', b""]
    lines += [b"[" * 100_000, b'{"id": "d", "title": "no text"}', b'{"id": "e", "text": "z"}']
    held, skipped = read_lines(tmp_path, b"\n".join(lines))
    assert list(held) == [b"a", b"b", b"e"]
    reason = "not a JSON object with a text"
    assert skipped == {b"line 3": reason, b"line 5": reason, b"line 6": reason}


def test_of_two_lines_with_one_id_the_first_counts_and_the_other_is_reported(
    tmp_path: Path,
) -> None:
    rows: list[dict[str, object]] = [
        {"id": "a", "text": "first"},
        {"id": "a", "text": "second"},
        {"_id": "5", "id": "unused", "text": "five"},
        {"id": 7, "text": "a number"},
        {"text": "none, on line 5"},
        {"id": None, "text": "null, on line 6"},
        {"id": "", "text": "empty, on line 7"},
    ]
    held, skipped = read_lines(tmp_path, "\n".join(map(json.dumps, rows)).encode())
    assert list(held) == [b"a", b"5", b"7", b"line 5", b"6", b"line 7"]
    assert json.loads(held[b"a"])["text"] == "first"
    assert skipped == {b"line 2": "an earlier line has the same id"}


def test_ids_are_names_that_lead_nowhere_else(tmp_path: Path) -> None:
    ids = ["../../etc/passwd", "/abs//x", "a/b/c", "\udc80", "n\x00ul\n", "é" * 500]
    rows = [{"id": name, "text": "x"} for name in ids]
    held, _ = read_lines(tmp_path, "\n".join(map(json.dumps, rows)).encode())
    *short, long = held
    assert short == [b"etc/passwd", b"abs/x", b"a/b/c", b"\xed\xb2\x80", b"n\0ul\n"]
    assert long.startswith("é".encode() * 100 + b"~")
    assert len(long) == 213


def test_marks_line_ends_and_separators_inside_strings_are_no_matter(workplace: Workplace) -> None:
    rows = ["Close\u2028the\u2029purge\x85valve.", "The chiller."]
    lines = [json.dumps({"id": n, "text": text}, ensure_ascii=False) for n, text in enumerate(rows)]
    data = b"\xef\xbb\xbf" + "\r\n".join(lines).encode()
    (workplace.files / "corpus.jsonl").write_bytes(data)
    report = workplace.ingest()
    assert (report.outcomes["added"], report.failed) == (2, [])
    with Catalogue(workplace.archive) as catalogue:
        documents = {d.doc_id: d for d in catalogue.documents(1)}
    assert list(documents) == ["corpus.jsonl/0", "corpus.jsonl/1"]
    assert documents["corpus.jsonl/0"].media_type == "application/json"
    assert documents["corpus.jsonl/0"].title == "0"


def test_a_line_without_words_is_reported_as_without_text(workplace: Workplace) -> None:
    rows = [{"id": "a", "text": ""}, {"id": "b", "title": "Valve", "text": ""}]
    (workplace.files / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    report = workplace.ingest()
    assert report.outcomes["added"] == 1
    assert [(problem.path, problem.stage) for problem in report.failed] == [
        ("corpus.jsonl/a", "text")
    ]


def test_the_shared_collections_are_json_lines(shared: Path) -> None:
    for path in sorted(shared.glob("data/*/corpus.jsonl*")):
        assert container_kind(path) in ("json lines", "gzip"), path


def test_an_archive_that_cannot_be_read_now_keeps_what_it_held(workplace: Workplace) -> None:
    workplace.write("other.txt", "Something else.")
    path = workplace.files / "manuals.zip"
    path.write_bytes(zipped(FILES))
    workplace.ingest()
    path.write_bytes(zipped(FILES)[:-30])
    report = workplace.ingest()
    assert [problem.path for problem in report.failed] == ["manuals.zip"]
    assert (report.new_version, report.retired) == (False, [])
    assert workplace.ids("purge", "lexical") == ["manuals.zip/pumps/a.txt"]


def test_archives_inside_archives_are_opened_to_a_stated_depth(tmp_path: Path) -> None:
    data = b"The purge valve."
    for depth in range(containers.MAX_DEPTH):
        name = "deep.txt" if depth == 0 else f"level{depth}.zip"
        data = zipped({name: data})
        (tmp_path / "box.zip").write_bytes(data)
        into = tmp_path / f"out{depth}"
        into.mkdir()
        held = unpack(tmp_path / "box.zip", into)
        assert [member.path.read_bytes() for member in held.members] == [b"The purge valve."]
    (tmp_path / "box.zip").write_bytes(zipped({"one more.zip": data}))
    (tmp_path / "last").mkdir()
    with pytest.raises(NotExtractable, match="inside one another deeper than 3"):
        unpack(tmp_path / "box.zip", tmp_path / "last")


def test_a_bomb_is_refused_by_what_it_unpacks_to(tmp_path: Path) -> None:
    (tmp_path / "bomb.zip").write_bytes(zipped({"zeros": bytes(40 * 1024**2)}))
    with pytest.raises(NotExtractable, match="more than 200 times"):
        unpack(tmp_path / "bomb.zip", tmp_path)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(40 * 1024**2)))
    with pytest.raises(NotExtractable, match="more than 200 times"):
        unpack(tmp_path / "bomb.gz", tmp_path)


@pytest.mark.parametrize("name", ["../out.txt", "/abs.txt", "a/../../b.txt", ".hidden", "~$lock"])
def test_names_that_lead_out_or_hide_are_skipped_with_a_reason(tmp_path: Path, name: str) -> None:
    (tmp_path / "box.tar").write_bytes(tarred({name: b"x", "good.txt": b"y"}))
    (tmp_path / "into").mkdir()
    held = unpack(tmp_path / "box.tar", tmp_path / "into")
    assert [member.name for member in held.members] == [b"good.txt"]
    assert {skipped for skipped, _ in held.skipped} == {name.encode(), b"link.txt"}
    assert all(reason for _, reason in held.skipped)
    assert not (tmp_path / "out.txt").exists()


def test_documents_that_are_zip_files_are_not_containers(shared: Path, tmp_path: Path) -> None:
    for name in ("docx_table_header_box.docx", "xlsx_leading_zero.xlsx", "pdf_plain.pdf"):
        assert container_kind(shared / "cases/files" / name) is None
    (tmp_path / "notes.json").write_text('{"a": 1}\n{"a": 2}\n')
    assert container_kind(tmp_path / "notes.json") is None
