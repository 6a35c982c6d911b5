"""Word files: what is read, what is refused, and how fast."""

from __future__ import annotations

import io
import time
import tracemalloc
import zipfile
from pathlib import Path

import docx
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from corpus.errors import NotExtractable
from corpus.extract import extract


def test_every_part_of_a_page_is_read_once(shared: Path) -> None:
    """ing-13: table, nested table, text box, header and footer."""
    extracted = extract(shared / "cases/files/docx_table_header_box.docx")
    for code in ("HDR-7001", "FTR-7002", "TBL-7003", "NST-7004", "BOX-7005"):
        assert extracted.text.count(code) == 1
    row = next(b for b in extracted.blocks if "TBL-7003" in extracted.text[b.start : b.end])
    assert extracted.text[row.start : row.end] == "TBL-7003 | 45 N·m"
    assert row.kind == "row"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("docx_bomb.docx", "times its packed size"), ("docx_entity_bomb.docx", "entities")],
)
def test_bombs_are_refused_unparsed_within_2_s_and_300_mb(
    shared: Path, name: str, reason: str
) -> None:
    """sec-03."""
    tracemalloc.start()
    started = time.perf_counter()
    with pytest.raises(NotExtractable, match=reason):
        extract(shared / "cases/files" / name)
    seconds = time.perf_counter() - started
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 2
    assert peak < 300e6


def test_a_truncated_package_is_reported_as_damaged(shared: Path) -> None:
    """ing-04."""
    with pytest.raises(NotExtractable, match="Word file is damaged or incomplete"):
        extract(shared / "cases/files/docx_truncated_zip.docx")


def test_a_package_that_lies_about_its_sizes_is_reported(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", b"<a>" + b" " * 1_000_000 + b"</a>")
    data = buffer.getvalue().replace((1_000_007).to_bytes(4, "little"), b"\x10\x00\x00\x00")
    path = tmp_path / "lie.docx"
    path.write_bytes(data)
    with pytest.raises(NotExtractable, match="damaged"):
        extract(path)


def test_a_package_of_too_many_entries_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.docx"
    with zipfile.ZipFile(path, "w") as package:
        for number in range(20_001):
            package.writestr(f"word/{number}.xml", b"")
    with pytest.raises(NotExtractable, match="20001 entries"):
        extract(path)


def test_a_package_without_a_document_is_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("readme.txt", "hello")
    with pytest.raises(NotExtractable, match="ZIP archive") as caught:
        extract(path)
    assert caught.value.stage == "type"


def read_back(document: docx.document.Document, folder: Path) -> list[tuple[str, str]]:
    path = folder / "made.docx"
    document.save(str(path))
    extracted = extract(path)
    return [(b.kind, extracted.text[b.start : b.end]) for b in extracted.blocks]


def test_styles_give_headings_items_and_listings(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Pump", 1)
    document.add_heading("Seals", 2)
    document.add_paragraph("Switch off.", style="List Number")
    document.add_paragraph("Open.", style="List Number")
    document.add_paragraph("a spare seal", style="List Bullet")
    for line in ("pump --stop", "  pump --drain"):
        run = document.add_paragraph().add_run(line)
        run.font.name = "Courier New"
    assert read_back(document, tmp_path) == [
        ("heading", "Pump"),
        ("heading", "Seals"),
        ("item", "1. Switch off."),
        ("item", "2. Open."),
        ("item", "- a spare seal"),
        ("code", "pump --stop\n  pump --drain"),
    ]


def test_deleted_text_is_not_read_and_page_numbers_are_left_out(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Torque 45 N·m")
    deleted = OxmlElement("w:del")
    run = OxmlElement("w:r")
    text = OxmlElement("w:t")
    text.text = "54 N·m"
    run.append(text)
    deleted.append(run)
    paragraph._p.append(deleted)
    footer = document.sections[0].footer.paragraphs[0]
    footer.add_run("Sheet FTR-1 page ")
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), " PAGE ")
    number = OxmlElement("w:r")
    printed = OxmlElement("w:t")
    printed.text = "7"
    number.append(printed)
    field.append(number)
    footer._p.append(field)
    assert read_back(document, tmp_path) == [
        ("paragraph", "Torque 45 N·m"),
        ("paragraph", "Sheet FTR-1 page"),
    ]


def test_a_table_that_only_frames_text_is_read_as_text(tmp_path: Path) -> None:
    document = docx.Document()
    cell = document.add_table(1, 1).cell(0, 0)
    cell.paragraphs[0].text = "Warning"
    cell.add_paragraph("Hot surface.")
    assert read_back(document, tmp_path) == [
        ("paragraph", "Warning"),
        ("paragraph", "Hot surface."),
    ]


def test_the_title_is_the_property_or_the_styled_paragraph(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Pump HX-204", 0)
    document.add_heading("Introduction", 1)
    path = tmp_path / "made.docx"
    document.core_properties.title = "1"
    document.save(str(path))
    assert extract(path).title == "Pump HX-204"
    document.core_properties.title = "Service manual"
    document.save(str(path))
    assert extract(path).title == "Service manual"


def test_a_large_manual_has_structure(shared: Path) -> None:
    extracted = extract(shared / "archive/va-fileman/fm22_2rn.docx")
    assert extracted.title == "FileMan 22.2E Release Notes"
    assert sum(block.kind == "heading" for block in extracted.blocks) > 20
    assert max(len(block.headings) for block in extracted.blocks) >= 3
