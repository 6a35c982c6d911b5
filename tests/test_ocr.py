"""Scans: text that only OCR can read is read page by page, marked, and never lost by an ingest."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from app.pages import judge_markup, reading_markup, result_markup
from app.query.present import result_data, rows
from app.query.reading import read_document
from app.query.search import Engines
from corpus.document import Passage
from corpus.errors import NotExtractable
from corpus.extract import EXTRACTOR_VERSION, extract
from corpus.extract.ocr import INSTALL, MOST_PIXELS, Recognise, Tesseract, find_tesseract, scale_for
from corpus.extract.ocr import recognise as recognise_page
from indexer.extraction import extract_files
from indexer.ingest import Request, ingest
from indexer.status import read_status, status_lines
from store.archive import Archive
from store.catalogue import Catalogue
from store.database import writing
from tests.conftest import Workplace
from tests.scans import make_pdf, make_program, pictured, scan

ROOT = Path(__file__).parents[1]
RELAY = [
    "Procedimiento de calibración del relé AX-2041/B",
    "La presión máxima según la tabla es de 16 bar.",
    "Después se aprieta la válvula con la llave de 19 mm.",
]
PUMP = ["Replace the diaphragm of the dosing pump", "after 4000 hours of operation."]
TYPED = ["This page was typed and has text of its own."]

# What only the scans of the archive answer: words of the page, and the files that show them.
QUESTIONS = [
    ("TELEX 298949", {"scans/linn.pdf", "scans/skew.pdf"}),
    ("Tarzana Oxnard Street", {"scans/linn.pdf", "scans/skew.pdf"}),
    ("linzensoep", {"scans/2400dpi.pdf"}),
    ("tip-toeing along a path", {"scans/c02-22.pdf", "scans/multipage.pdf"}),
    ("31 megapixels", {"scans/multipage.pdf"}),
    ("Woodman Farmer tumbrils", {"scans/multipage.pdf"}),
]


@pytest.fixture(scope="module")
def tesseract() -> Tesseract:
    found = find_tesseract()
    if found is None or not {"eng", "spa"} <= set(found.languages):
        pytest.skip(f"reading scans needs tesseract with English and Spanish: {INSTALL}")
    return found


@pytest.fixture(scope="module")
def recognise(tesseract: Tesseract) -> Recognise:
    return partial(recognise_page, tesseract)


@pytest.fixture(scope="module")
def scans(
    tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str, shared: Path, tesseract: Tesseract
) -> Workplace:
    """The scans of the archive among some of its other documents, ingested once."""
    folder = tmp_path_factory.mktemp("scans")
    files = folder / "files"
    for place in ("scans", "storage"):
        shutil.copytree(shared / "archive" / place, files / place)
    ingest(Archive(folder / "archive"), Request((files,), encoder=tiny_encoder))
    return Workplace(files, Archive(folder / "archive"), tiny_encoder)


@pytest.fixture
def uninstall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Empties the PATH, as on a machine without tesseract."""

    def emptied() -> None:
        monkeypatch.setenv("PATH", str(tmp_path / "no programs"))

    return emptied


def passages_of(workplace: Workplace, doc_id: str) -> list[Passage]:
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.latest()
        assert version is not None
        return catalogue.passages(version, doc_id)


def test_accents_and_codes_are_read_from_a_scan(tmp_path: Path, recognise: Recognise) -> None:
    extracted = extract(scan(tmp_path / "relay.pdf", RELAY), recognise=recognise)
    for word in ("calibración", "AX-2041/B", "presión máxima según", "válvula"):
        assert word in extracted.text
    assert extracted.blocks
    assert all(block.ocr and block.page == 1 for block in extracted.blocks)
    assert extracted.waiting == 0


def test_pages_with_text_are_left_as_they_are(tmp_path: Path, recognise: Recognise) -> None:
    path = make_pdf(tmp_path / "mixed.pdf", TYPED, pictured(PUMP), TYPED)
    extracted = extract(path, recognise=recognise)
    assert [(block.page, block.ocr) for block in extracted.blocks] == [
        (1, False),
        (2, True),
        (3, False),
    ]
    assert "diaphragm of the dosing pump" in extracted.text
    assert "page 2 of 3: recognised from a picture (OCR), may contain errors" in extracted.notes
    bare = extract(path)
    assert (bare.waiting, bare.text.count("typed")) == (1, 2)


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_sheet_that_lies_on_its_side_is_read(
    tmp_path: Path, recognise: Recognise, turn: int
) -> None:
    path = tmp_path / "turned.png"
    pictured([*RELAY, *PUMP]).rotate(turn, expand=True).save(path, dpi=(200, 200))
    text = extract(path, recognise=recognise).text
    assert text.index("calibración") < text.index("válvula") < text.index("dosing pump")


def test_pictures_are_documents_and_images_of_a_tiff_its_pages(
    tmp_path: Path, recognise: Recognise
) -> None:
    first, second = pictured(RELAY), pictured(PUMP)
    path = tmp_path / "fax.tif"
    first.save(path, save_all=True, append_images=[second], dpi=(200, 200))
    extracted = extract(path, recognise=recognise)
    assert extracted.media_type == "image/tiff"
    assert {block.page for block in extracted.blocks} == {1, 2}
    assert extracted.text.index("AX-2041/B") < extracted.text.index("dosing pump")
    with pytest.raises(NotExtractable, match=r"an image \(TIFF\).*needs OCR") as caught:
        extract(path)
    assert caught.value.waiting == 2


def test_a_picture_without_text_is_said_to_be_one(
    tmp_path: Path, shared: Path, recognise: Recognise
) -> None:
    """ing-22"""
    with pytest.raises(NotExtractable, match=r"an image \(PNG\), not a PDF"):
        extract(shared / "cases/files/png_named_pdf.pdf", recognise=recognise)
    path = tmp_path / "blank.pdf"
    pictured([]).save(path, "PNG")
    with pytest.raises(
        NotExtractable, match=r"image \(PNG\), not a PDF; no text was recognised in"
    ):
        extract(path, recognise=recognise)
    with pytest.raises(NotExtractable, match="none was recognised") as caught:
        extract(scan(tmp_path / "empty.pdf", []), recognise=recognise)
    assert (caught.value.stage, caught.value.waiting) == ("text", 0)


def test_a_damaged_picture_is_said_to_be_damaged(tmp_path: Path, recognise: Recognise) -> None:
    path = tmp_path / "half.png"
    pictured(RELAY).save(path)
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(NotExtractable, match="damaged"):
        extract(path, recognise=recognise)


def test_a_page_is_drawn_within_bounds_however_large_it_is() -> None:
    for width, height in ((595, 842), (28_346, 28_346), (28_346, 20), (14_400, 14_400), (1, 1)):
        scale = scale_for(width, height)
        assert width * height * scale**2 <= MOST_PIXELS * 1.001
        assert max(width, height) * scale <= 30_001
    assert scale_for(595, 842) == 300 / 72


def test_a_page_that_takes_too_long_is_named_and_the_others_are_kept(
    tmp_path: Path, tesseract: Tesseract
) -> None:
    path = make_pdf(tmp_path / "mixed.pdf", TYPED, pictured(PUMP))
    hasty = replace(tesseract, page_limit=0.001)
    (read,) = extract_files([("mixed", os.fsencode(path))], workers=1, tesseract=hasty)
    assert read.extracted is not None
    assert "page 2: could not be recognised within 0.001 s" in read.extracted.notes
    assert read.extracted.text == TYPED[0]


def test_a_program_that_fails_is_named_and_the_other_pages_are_kept(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "mixed.pdf", TYPED, pictured(PUMP))
    program = make_program(tmp_path / "bin", "exit 7")
    broken = Tesseract(str(program), "9.9.9", ("eng",))
    notes = extract(path, recognise=partial(recognise_page, broken)).notes
    assert "page 2: could not be recognised (tesseract ended with exit code 7)" in notes


@pytest.mark.slow
def test_a_long_scan_may_take_longer_than_the_limit_of_one_file(tmp_path: Path) -> None:
    pages = [pictured([f"Sheet {number}"]) for number in range(6)]
    path = make_pdf(tmp_path / "long.pdf", TYPED, *pages)
    program = make_program(tmp_path / "bin", "sleep 3; exit 7")
    slow = Tesseract(str(program), "9.9.9", ("eng",))
    started = time.monotonic()
    (read,) = extract_files(
        [("long", os.fsencode(path))], workers=1, time_limit=15.0, tesseract=slow
    )
    assert time.monotonic() - started > 15.0
    assert read.extracted is not None


def test_nothing_goes_on_recognising_after_the_ingest_is_killed(
    tmp_path: Path, tiny_encoder: str
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    scan(files / "pump.pdf", PUMP)
    started = tmp_path / "started"
    program = make_program(
        tmp_path / "bin",
        f"echo $$ > '{started}.new'; mv '{started}.new' '{started}'; exec sleep 600",
    )
    command = [sys.executable, "-m", "indexer", "ingest", str(files), "--encoder", tiny_encoder]
    run = subprocess.Popen(
        [*command, "--archive", str(tmp_path / "archive")],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(started.exists)
    child = int(started.read_text())
    assert is_running(child)
    run.send_signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not is_running(child))


def wait_until(happened: Callable[[], bool]) -> None:
    limit = time.monotonic() + 120.0
    while not happened():
        assert time.monotonic() < limit, "it did not happen within two minutes"
        time.sleep(0.05)


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_without_tesseract_the_pages_that_wait_are_counted_and_read_once_it_is_there(
    workplace: Workplace, tesseract: Tesseract, uninstall: Callable[[], None]
) -> None:
    scan(workplace.files / "relay.pdf", RELAY, PUMP)
    make_pdf(workplace.files / "mixed.pdf", TYPED, pictured(PUMP))
    path = os.environ["PATH"]
    uninstall()
    for report in (workplace.ingest(), workplace.ingest()):
        assert (report.pages_waiting, report.files_waiting, report.exit_code) == (3, 2, 1)
        assert report.as_data()["pages_waiting"] == 3
        assert "no text, needs OCR" in report.failed[0].reason
        sentence = f"3 pages in 2 files wait for OCR: install it with `{INSTALL}`"
        assert report.lines()[-1].startswith(sentence)
    assert any(sentence in line for line in status_lines(read_status(workplace.archive)))
    assert workplace.ids("AX-2041/B", "lexical") == []

    os.environ["PATH"] = path
    report = workplace.ingest()
    assert (report.pages_waiting, report.exit_code) == (0, 0)
    assert workplace.ids("AX-2041/B", "lexical") == ["relay.pdf"]
    assert set(workplace.ids("diaphragm", "lexical")) == {"relay.pdf", "mixed.pdf"}
    assert {(entry.page, entry.ocr) for entry in passages_of(workplace, "relay.pdf")} <= {
        (1, True),
        (2, True),
    }


def test_recognised_text_outlives_the_program_that_read_it(
    workplace: Workplace, tesseract: Tesseract, uninstall: Callable[[], None]
) -> None:
    scan(workplace.files / "relay.pdf", RELAY)
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        first = catalogue.version(1)
    assert first.shape.extractor.endswith(f"+ocr:{tesseract.name}")
    scan(workplace.files / "pump.pdf", PUMP)
    make_pdf(workplace.files / "mixed.pdf", TYPED, pictured(PUMP))
    workplace.write("plain.txt", "The conveyor stopped.")
    path = os.environ["PATH"]
    uninstall()
    report = workplace.ingest()
    failed = {problem.path: problem.reason for problem in report.failed}
    assert set(failed) == {"pump.pdf", "mixed.pdf"}
    assert all("need OCR" in reason or "needs OCR" in reason for reason in failed.values())
    assert report.pages_waiting == 2
    assert [note.stage for note in report.notes].count("ocr") == 1
    assert INSTALL in next(note.reason for note in report.notes if note.stage == "ocr")
    assert workplace.ids("AX-2041/B", "lexical") == ["relay.pdf"]
    assert workplace.ids("conveyor", "lexical") == ["plain.txt"]
    with Catalogue(workplace.archive) as catalogue:
        assert catalogue.version(2).shape == first.shape

    os.environ["PATH"] = path
    assert workplace.ingest().failed == []
    assert set(workplace.ids("diaphragm", "lexical")) == {"pump.pdf", "mixed.pdf"}


def test_recognised_text_outlives_an_update_without_the_program(
    workplace: Workplace, tesseract: Tesseract, uninstall: Callable[[], None]
) -> None:
    make_pdf(workplace.files / "mixed.pdf", TYPED, pictured(PUMP))
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue, writing(catalogue.database) as db:
        for table in ("versions", "extractions", "shapes"):
            db.execute(f"UPDATE {table} SET extractor = '0' || substr(extractor, 2)")
    uninstall()
    report = workplace.ingest()
    assert (report.failed, report.retired, report.pages_waiting) == ([], [], 0)
    with Catalogue(workplace.archive) as catalogue:
        assert catalogue.version(2).shape.extractor == f"{EXTRACTOR_VERSION}+ocr:{tesseract.name}"
    assert workplace.ids("diaphragm", "lexical") == ["mixed.pdf"]


def test_the_scans_of_the_archive_answer_what_only_they_can(scans: Workplace, shared: Path) -> None:
    lines = (shared / "queries/technician-open.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [
        (query["query"], set(query["relevant"]))
        for query in map(json.loads, lines)
        if query.get("needs_ocr")
    ]
    for query, relevant in [*QUESTIONS, *asked]:
        assert relevant & set(scans.ids(query, "lexical")[:5]), query


def test_two_columns_are_read_one_after_the_other(scans: Workplace) -> None:
    for doc_id in ("scans/linn.pdf", "scans/skew.pdf"):
        with Catalogue(scans.archive) as catalogue:
            version = catalogue.latest()
            assert version is not None
            text = catalogue.text(version, doc_id)
        places = [
            text.index(words)
            for words in (
                "To record a sequence, simply press RECORD and PLAY, then play your MIDI",
                "To erase a wrong note",
                "using the SINGLE STEP function",
                "to find the desired bar number",
                "See your Linn dealer today",
            )
        ]
        assert places == sorted(places)


def test_recognised_passages_have_their_page_and_their_mark(scans: Workplace) -> None:
    pages = {entry.page for entry in passages_of(scans, "scans/multipage.pdf") if entry.ocr}
    assert {1, 2, 5, 6} <= pages
    assert all(
        entry.page != 4 or not entry.ocr for entry in passages_of(scans, "scans/multipage.pdf")
    )
    assert not any(entry.ocr for entry in passages_of(scans, "storage/mdadm-FAQ.txt"))


def test_every_view_of_a_recognised_passage_says_so(scans: Workplace) -> None:
    result = scans.search("Woodman Farmer tumbrils")
    with Catalogue(scans.archive) as catalogue:
        shown = rows(Engines(scans.archive), catalogue, result, 0, 20)
        entry = next(row for row in shown if row.document.doc_id == "scans/multipage.pdf")
        other = next(row for row in shown if not row.passage.ocr)
        version = catalogue.version(1)
        opened = read_document(catalogue, version, "scans/linn.pdf")
        at_passage = read_document(
            catalogue, version, entry.document.doc_id, entry.passage.passage_id
        )
    data = {row["passage_id"]: row["ocr"] for row in result_data(result, shown)["fused"]}
    assert data[entry.passage.passage_id] is True
    assert data[other.passage.passage_id] is False
    label = 'title="recognised from a scan; may contain errors">OCR<'
    assert label in result_markup.row(entry, lambda *_: "#")
    assert label not in result_markup.row(other, lambda *_: "#")
    for reading in (opened, at_passage):
        assert label in reading_markup.steps(reading, "", "", "")
        assert label in judge_markup.judged_document(reading, whole=False)
