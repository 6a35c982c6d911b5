"""PDF: order, pages, headings, hyphens, what is hidden, damaged or locked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract import extract
from corpus.extract.pdf_blocks import join

PLAIN = ["Procedimiento de cambio del relé AX-2041/B", "Par de apriete: 45 N·m", "Revision 7"]
TEXT = (
    "the pump is switched off before the cover is opened and the pressure in the line is "
    "released with the valve on its left side until the gauge shows that none remains in it"
)
WORDS = TEXT.split()


def drawn(path: Path, *pages: Callable[[Canvas], None]) -> Path:
    canvas = Canvas(str(path), pagesize=A4)
    for page in pages:
        page(canvas)
        canvas.showPage()
    canvas.save()
    return path


def column(canvas: Canvas, x: float, top: float, lines: list[str]) -> None:
    canvas.setFont("Helvetica", 10)
    for number, line in enumerate(lines):
        canvas.drawString(x, top - 12 * number, line)


def prose(start: int, count: int, words: int = 8) -> list[str]:
    """Lines of running text, told apart by a number in each."""
    return [
        " ".join([f"n{n}"] + [WORDS[(n * 5 + k) % len(WORDS)] for k in range(words)])
        for n in range(start, start + count)
    ]


def numbers(text: str) -> list[int]:
    return [int(word[1:]) for word in text.split() if word[:1] == "n" and word[1:].isdigit()]


def texts(extracted: Extracted, kind: str | None = None) -> list[str]:
    return [
        extracted.text[block.start : block.end]
        for block in extracted.blocks
        if kind in (None, block.kind)
    ]


@pytest.mark.parametrize("name", ["pdf_plain.pdf", "pdf_broken_xref.pdf", "pdf_owner_password.pdf"])
def test_plain_locked_and_repairable_files_give_the_same_words(shared: Path, name: str) -> None:
    """ing-05, ing-07."""
    extracted = extract(shared / "cases/files" / name)
    for line in PLAIN:
        assert line in extracted.text


def test_an_owner_password_is_noted(shared: Path) -> None:
    """ing-05."""
    notes = extract(shared / "cases/files/pdf_owner_password.pdf").notes
    assert any("owner password" in note for note in notes)
    assert extract(shared / "cases/files/pdf_plain.pdf").notes == ()


def test_a_user_password_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    canvas = Canvas(str(path), encrypt=StandardEncryption("secret", ownerPassword="other"))
    canvas.drawString(72, 700, "hidden words")
    canvas.save()
    with pytest.raises(NotExtractable, match="needs a password"):
        extract(path)


@pytest.mark.parametrize("name", ["pdf_page_tree_loop.pdf", "pdf_truncated.pdf"])
def test_damage_beyond_repair_is_reported(shared: Path, name: str) -> None:
    """ing-07."""
    with pytest.raises(NotExtractable, match="damaged"):
        extract(shared / "cases/files" / name)


@pytest.mark.parametrize("name", ["pdf_rotated_text.pdf", "pdf_rotate_key.pdf"])
def test_text_set_sideways_reads_in_phrases(shared: Path, name: str) -> None:
    """ing-08."""
    text = extract(shared / "cases/files" / name).text
    for phrase in ("Tabla de mantenimiento", "Cambiar filtro cada 500 h", "Par de apriete 45 N·m"):
        assert phrase in text
    assert text.index("Tabla") < text.index("Cambiar") < text.index("Par")


def test_ligatures_and_soft_hyphens_become_plain_letters(shared: Path) -> None:
    """ing-10."""
    text = extract(shared / "cases/files/pdf_ligatures.pdf").text
    for word in ("configuración", "filtro", "flujo", "presión"):
        assert word in text
    assert "\u00ad" not in text


def test_a_blank_page_keeps_the_numbers_of_the_others(shared: Path) -> None:
    """ing-12: and the file is not flagged for it."""
    extracted = extract(shared / "cases/files/pdf_blank_middle.pdf")
    pages = {extracted.text[b.start : b.end][-6:]: b.page for b in extracted.blocks}
    assert pages == {"PG-001": 1, "PG-003": 3}
    assert extracted.notes == ()


def test_a_file_without_text_needs_ocr(shared: Path) -> None:
    """ing-12."""
    for path in ("cases/files/pdf_tagged_no_text.pdf", "archive/scans/linn.pdf"):
        with pytest.raises(NotExtractable, match="no text, needs OCR") as caught:
            extract(shared / path)
        assert caught.value.stage == "text"


def test_scanned_pages_among_others_are_noted(shared: Path) -> None:
    notes = extract(shared / "archive/scans/multipage.pdf").notes
    assert "pages 1, 2, 3, 5, 6 of 6: without text but with a picture, may need OCR" in notes


def test_hidden_text_is_read_once_and_noted(shared: Path) -> None:
    """ing-24."""
    extracted = extract(shared / "cases/files/pdf_invisible_layer.pdf")
    assert extracted.text.count("SN-88421") == 1
    assert extracted.text.count("torque 45") == 1
    assert any("hidden text" in note for note in extracted.notes)


def test_a_recognition_layer_under_the_same_words_is_not_doubled(tmp_path: Path) -> None:
    """ing-24."""

    def page(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Torque 45 for relay AX-2041")
        layer = canvas.beginText(73, 701)
        layer.setTextRenderMode(3)
        layer.textOut("torque 45 for relay")
        canvas.drawText(layer)
        canvas.drawString(72, 650, "Shadow")
        canvas.drawString(72.5, 649.5, "Shadow")

    assert texts(extract(drawn(tmp_path / "a.pdf", page))) == [
        "Torque 45 for relay AX-2041",
        "Shadow",
    ]


def test_columns_are_read_one_after_the_other_whatever_the_drawing_order(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        left, right = prose(0, 30), prose(30, 30)
        for n in range(30):
            column(canvas, 320, 700 - 12 * n, [right[n]])
            column(canvas, 60, 700 - 12 * n, [left[n]])

    assert numbers(extract(drawn(tmp_path / "a.pdf", page)).text) == list(range(60))


def test_a_heading_across_both_columns_parts_them(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        column(canvas, 60, 760, prose(0, 12))
        column(canvas, 320, 760, prose(12, 12))
        canvas.setFont("Helvetica-Bold", 18)
        canvas.drawString(60, 590, "A heading that is wider than one column")
        column(canvas, 60, 560, prose(24, 12))
        column(canvas, 320, 560, prose(36, 12))

    extracted = extract(drawn(tmp_path / "a.pdf", page))
    assert numbers(extracted.text) == list(range(48))
    assert texts(extracted, "heading") == ["A heading that is wider than one column"]


def test_rows_of_a_table_are_kept_together(tmp_path: Path) -> None:
    rows = [("Part", "Torque", "Note"), ("AX-2041", "45 N·m", "dry"), ("AX-2042", "6 N·m", "oiled")]

    def page(canvas: Canvas) -> None:
        for n, row in enumerate(rows):
            for k, cell in enumerate(row):
                canvas.drawString(72 + 150 * k, 700 - 14 * n, cell)

    extracted = extract(drawn(tmp_path / "a.pdf", page))
    assert texts(extracted, "row") == [" | ".join(row) for row in rows]


def test_paragraphs_are_parted_by_space_and_words_rejoined(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        column(canvas, 72, 700, ["Routine mainte-", "nance of relay AX-", "2041 is due each year."])
        column(canvas, 72, 640, ["The next paragraph begins here."])

    assert texts(extract(drawn(tmp_path / "a.pdf", page))) == [
        "Routine maintenance of relay AX-2041 is due each year.",
        "The next paragraph begins here.",
    ]


@pytest.mark.parametrize(
    ("line", "following", "words", "joined"),
    [
        ("mainte-", "nance", {}, "maintenance"),
        ("mainte\u00ad", "nance", {}, "maintenance"),
        ("AX-", "2041", {}, "AX-2041"),
        ("QRX.0718-", "60", {}, "QRX.0718-60"),
        ("--max-", "frequency", {}, "--max-frequency"),
        ("set hal_in-", "out now", {}, "set hal_in-out now"),
        ("an end-", "user may", {"end-user": 2}, "an end-user may"),
        ("an end-", "user may", {"enduser": 1}, "an enduser may"),
        ("Anglo-", "Saxon", {}, "Anglo-Saxon"),
        ("relé de presi\u00f3-", "n alta", {}, "relé de presi\u00f3n alta"),
        ("one", "two", {}, "one two"),
        ("a dash -", "like this", {}, "a dash - like this"),
    ],
)
def test_a_hyphen_goes_when_it_broke_a_word_and_stays_in_a_code(
    line: str, following: str, words: dict[str, int], joined: str
) -> None:
    assert join(line, following, words) == joined


def test_running_heads_and_page_numbers_are_kept_once(tmp_path: Path) -> None:
    def page(number: int) -> Callable[[Canvas], None]:
        def draw(canvas: Canvas) -> None:
            canvas.setFont("Helvetica", 8)
            canvas.drawString(72, 800, "Manual HX-204 rev. C")
            canvas.drawString(280, 30, f"Page {number} of 6")
            column(canvas, 72, 740, prose(10 * number, 10))

        return draw

    extracted = extract(drawn(tmp_path / "a.pdf", *(page(n) for n in range(1, 7))))
    assert extracted.text.count("HX-204") == 1
    assert extracted.text.count("of 6") <= 1
    assert numbers(extracted.text) == list(range(10, 70))


def test_first_lines_that_differ_are_not_running_heads(tmp_path: Path) -> None:
    def page(number: int) -> Callable[[Canvas], None]:
        return lambda canvas: column(canvas, 72, 740, [f"Error E-{number}00", *prose(number, 6)])

    text = extract(drawn(tmp_path / "a.pdf", *(page(n) for n in range(1, 9)))).text
    assert all(f"Error E-{n}00" in text for n in range(1, 9))


def test_bookmarks_make_headings_with_levels(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for level, title in enumerate(["Safety", "Before work"]):
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, level)
        column(canvas, 72, 760, ["1 Safety"])
        column(canvas, 72, 730, prose(0, 4))
        column(canvas, 72, 660, ["1.1 Before work"])
        column(canvas, 72, 630, prose(4, 4))

    extracted = extract(drawn(tmp_path / "a.pdf", page))
    assert [b.headings for b in extracted.blocks if b.kind == "heading"] == [
        ("1 Safety",),
        ("1 Safety", "1.1 Before work"),
    ]


def test_larger_lines_are_headings_and_the_largest_the_title(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 20)
        canvas.drawString(72, 780, "Pump HX-204")
        column(canvas, 72, 750, prose(0, 6))
        canvas.setFont("Helvetica-Bold", 13)
        canvas.drawString(72, 660, "Replacing seals")
        column(canvas, 72, 640, prose(6, 6))

    extracted = extract(drawn(tmp_path / "a.pdf", page))
    assert extracted.title == "Pump HX-204"
    assert extracted.blocks[-1].headings == ("Pump HX-204", "Replacing seals")


def test_a_title_in_the_metadata_wins_unless_it_says_nothing(tmp_path: Path) -> None:
    def titled(title: str) -> str:
        def page(canvas: Canvas) -> None:
            canvas.setTitle(title)
            column(canvas, 72, 700, ["some words"])

        return extract(drawn(tmp_path / "file.pdf", page)).title

    assert titled("Service manual HX-204") == "Service manual HX-204"
    assert titled("untitled") == "file"
    assert titled("Microsoft Word - draft3.doc") == "file"


def test_listings_keep_their_lines(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        column(canvas, 72, 760, prose(0, 8))
        canvas.setFont("Courier", 10)
        for n, line in enumerate(["loadrt pump", "  setp pump.on 1", "start"]):
            canvas.drawString(72, 600 - 12 * n, line)

    extracted = extract(drawn(tmp_path / "a.pdf", page))
    assert texts(extracted, "code") == ["loadrt pump\n  setp pump.on 1\nstart"]


def test_a_printed_handbook_page_in_two_columns_reads_in_order(shared: Path) -> None:
    text = extract(shared / "archive/faa-amt/amt_handbook_sample.pdf").text
    phrases = [
        "pulleys, provided the inner race of the bearing is clamped to the supporting structure",
        "The Boots self-locking nut is of one piece, all-metal construction",
        "Wing-type nuts are made of anodized aluminum alloy",
        "The stainless steel self-locking nut may be spun on and off by hand",
        "The elastic stop nut is a standard nut with the height increased",
    ]
    assert [text.index(phrase) for phrase in phrases] == sorted(text.index(p) for p in phrases)


@pytest.mark.slow
def test_a_book_of_551_pages_is_read_to_its_last_page(shared: Path) -> None:
    extracted = extract(shared / "archive/linuxcnc/LinuxCNC_Manual_Pages.pdf")
    assert {block.page for block in extracted.blocks} == set(range(1, 552))
    assert "MERCHANTABILITY" in extracted.text
    assert "spindle−reverse" in extracted.text
