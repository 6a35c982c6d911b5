"""Telling files apart by content, decoding, plain text and tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import NotExtractable
from corpus.extract import MAX_TEXT_BYTES, extract
from corpus.extract.plain import decode
from corpus.extract.sniff import sniff


def written(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def blocks(path: Path) -> list[str]:
    extracted = extract(path)
    return [extracted.text[block.start : block.end] for block in extracted.blocks]


def test_an_empty_file_is_reported_as_empty(shared: Path) -> None:
    for name in ("empty.txt", "pdf_zero_bytes.pdf"):
        with pytest.raises(NotExtractable, match="empty") as caught:
            extract(shared / "cases/files" / name)
        assert caught.value.stage == "read"


def test_white_space_alone_is_no_text(shared: Path) -> None:
    """den-02."""
    with pytest.raises(NotExtractable, match="no text") as caught:
        extract(shared / "cases/files/blank.txt")
    assert caught.value.stage == "text"


def test_a_picture_named_pdf_is_called_a_picture(shared: Path) -> None:
    """ing-22."""
    with pytest.raises(NotExtractable, match=r"an image \(PNG\), not a PDF") as caught:
        extract(shared / "cases/files/png_named_pdf.pdf")
    assert caught.value.stage == "type"


def test_a_pdf_named_txt_is_read_as_a_pdf(shared: Path) -> None:
    """ing-22."""
    misnamed = extract(shared / "cases/files/pdf_named_txt.txt")
    proper = extract(shared / "cases/files/pdf_plain.pdf")
    assert misnamed.text == proper.text
    assert "AX-2041/B" in misnamed.text
    assert "endobj" not in misnamed.text
    assert misnamed.media_type == "application/pdf"


@pytest.mark.parametrize(
    ("name", "what"),
    [("png_named_pdf.pdf", "an image"), ("odd_tree.tar", "a tar archive")],
)
def test_files_without_a_reader_are_named(shared: Path, name: str, what: str) -> None:
    with pytest.raises(NotExtractable, match=what) as caught:
        extract(shared / "cases/files" / name)
    assert caught.value.stage == "type"


def test_a_binary_file_is_not_taken_for_text(tmp_path: Path) -> None:
    with pytest.raises(NotExtractable, match="binary"):
        extract(written(tmp_path, "a.txt", bytes(range(256)) * 20))


def test_text_named_pdf_is_called_text(tmp_path: Path) -> None:
    with pytest.raises(NotExtractable, match="plain text, not a PDF"):
        extract(written(tmp_path, "a.pdf", "no PDF at all"))


def test_html_is_told_by_content_and_markdown_by_name(tmp_path: Path) -> None:
    page = written(tmp_path, "page.txt", "\n<!DOCTYPE html><title>T</title><p>Text")
    assert extract(page).media_type == "text/html"
    assert extract(written(tmp_path, "page.md", "# Title")).media_type == "text/markdown"


def test_text_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """ing-21: a file of 150 MB is reported, not half ingested."""
    path = tmp_path / "huge.txt"
    with path.open("wb") as stream:
        stream.write(b"words of text\n" * 8_000)
        stream.truncate(MAX_TEXT_BYTES + 1)
    with pytest.raises(NotExtractable, match="over the limit of 64 MB") as caught:
        extract(path)
    assert caught.value.stage == "read"


@given(st.binary(max_size=400), st.sampled_from(["a.txt", "a.md", "a.csv", "a.pdf", "a"]))
def test_any_bytes_are_a_kind_or_a_reason(data: bytes, name: str) -> None:
    try:
        kind = sniff(data, name)
    except NotExtractable as error:
        assert error.stage in ("read", "type")
    else:
        assert kind


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "txt_cp1252.txt",
            "Válvula de presión «ñandú» – tolerancia ±0,05 µm, “año 2024”, 20 €. Código AX-2041.",
        ),
        ("txt_latin1_short.txt", "Café"),
        ("txt_utf8_bom.txt", "AX-2041 es el primer término."),
        ("txt_nul_bytes.txt", "AX-2041  relé    bobina 24 V"),
        ("txt_nfd.txt", "Va\u0301lvula de presio\u0301n, an\u0303o de fabricacio\u0301n"),
    ],
)
def test_bytes_become_the_characters_that_were_meant(shared: Path, name: str, text: str) -> None:
    """ing-16, sto-09, lex-10."""
    assert extract(shared / "cases/files" / name).text == text


def test_utf16_and_cp1252_give_the_same_text(shared: Path) -> None:
    """ing-16."""
    files = shared / "cases/files"
    assert extract(files / "txt_utf16le_bom.txt").text == extract(files / "txt_cp1252.txt").text


def test_one_bad_byte_becomes_one_marked_character(shared: Path) -> None:
    """ing-16."""
    extracted = extract(shared / "cases/files/txt_one_bad_byte.txt")
    assert extracted.text.count("\ufffd") == 1
    assert "presión" in extracted.text
    assert "1 byte sequence" in extracted.notes[0]


def test_the_fallback_encoding_is_said_and_can_be_chosen(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "Škoda ń".encode("cp1250"))
    extracted = extract(path, fallback="cp1250")
    assert extracted.text == "Škoda ń"
    assert extracted.notes == ("read as cp1250 because it is not UTF-8",)


def test_utf16_without_a_mark_is_read_with_a_note(tmp_path: Path) -> None:
    extracted = extract(written(tmp_path, "a.txt", "Relé AX-2041, bobina".encode("utf-16-le")))
    assert extracted.text == "Relé AX-2041, bobina"
    assert "every other byte is zero" in extracted.notes[0]


@given(st.text())
def test_utf8_is_always_read_as_utf8(text: str) -> None:
    encoded = text.encode("utf-8", errors="replace")
    if not encoded.startswith((b"\xef\xbb\xbf", b"\xff", b"\xfe")) and b"\x00" not in encoded:
        assert decode(encoded).text == encoded.decode()
        assert decode(encoded).notes == ()


@given(st.binary())
def test_decoding_never_fails(data: bytes) -> None:
    decode(data)
    decode(data, declared="no-such-encoding")


def test_plain_text_keeps_lines_and_parts_paragraphs(tmp_path: Path) -> None:
    path = written(tmp_path, "notes.txt", "one\r\ntwo  \r\n\r\n \r\nthree\n\n\n")
    extracted = extract(path)
    assert extracted.text == "one\ntwo\n\nthree"
    assert [block.kind for block in extracted.blocks] == ["paragraph", "paragraph"]
    assert extracted.title == "notes"


def test_underlined_and_numbered_lines_are_headings(tmp_path: Path) -> None:
    text = (
        "Pump manual\n===========\n\n1. Safety\n\n1.1. Before work\n\nSwitch off.\n\n"
        "3. Not a chapter: the count has a gap\n\n2. Repair\n\nReplace it."
    )
    extracted = extract(written(tmp_path, "p.txt", text))
    assert extracted.title == "Pump manual"
    paths = {extracted.text[b.start : b.end]: b.headings for b in extracted.blocks}
    assert paths["Switch off."] == ("Pump manual", "1. Safety", "1.1. Before work")
    assert paths["Replace it."] == ("Pump manual", "2. Repair")


def test_steps_without_sections_are_not_headings(tmp_path: Path) -> None:
    path = written(tmp_path, "p.txt", "1. Open the cover\n\n2. Close the cover")
    assert [block.kind for block in extract(path).blocks] == ["paragraph", "paragraph"]


def test_a_file_name_that_is_not_utf8_gives_a_printable_title(tmp_path: Path) -> None:
    """ing-18."""
    path = tmp_path / b"v\xe1lvula.txt".decode("utf-8", errors="surrogateescape")
    path.write_text("text")
    assert extract(path).title == "v\ufffdlvula"


def test_a_row_carries_its_headers_and_zeros_and_formulas_stay(shared: Path) -> None:
    """sec-05 (reading): formulas are text."""
    assert blocks(shared / "cases/files/csv_formula_cells.csv") == [
        "doc | title | note",
        "doc: 1 | title: =1+1 | note: ok",
        "doc: 2 | title: +34 900 | note: ok",
        "doc: 3 | title: -40 °C | note: @sum",
        'doc: 4 | title: =HYPERLINK("http://127.0.0.1:9") | note: a b',
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    rows = [["part", "torque"], ["00742", "45 N·m"], ["AX-2041/B", "6 N·m"]]
    path = written(tmp_path, "t.csv", "\n".join(delimiter.join(row) for row in rows))
    assert blocks(path) == [
        "part | torque",
        "part: 00742 | torque: 45 N·m",
        "part: AX-2041/B | torque: 6 N·m",
    ]


def test_a_table_without_a_header_is_left_as_it_is(tmp_path: Path) -> None:
    assert blocks(written(tmp_path, "t.tsv", "1\t2\n3\t\n")) == ["1 | 2", "3"]


def test_an_endless_cell_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "a,b\n" + "x" * 300_000 + ",1\n")
    assert len(extract(path).text) > 300_000


def test_a_bill_of_materials_is_read_row_by_row(shared: Path) -> None:
    extracted = extract(shared / "archive/beaglebone-black/BBB_BOM.csv")
    rows = [extracted.text[block.start : block.end] for block in extracted.blocks]
    assert {block.kind for block in extracted.blocks} == {"row"}
    assert "MANU: Murata | PART NUMBER: GRM21BR71A106KE51L" in rows
