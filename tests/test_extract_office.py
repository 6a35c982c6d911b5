"""Office packages: which kind a file is, what is refused unparsed, slides, tracked changes."""

from __future__ import annotations

import io
import itertools
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from odf.opendocument import OpenDocumentText
from odf.text import P
from pptx.util import Inches

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract import extract
from tests.test_extract_archive import assert_sound

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def blocks(extracted: Extracted) -> list[tuple[str, str]]:
    return [(b.kind, extracted.text[b.start : b.end]) for b in extracted.blocks]


def word(path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Pump HX-204")
    document.save(str(path))


def sheet(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = "Pump HX-204"
    book.save(path)


def slides(path: Path) -> None:
    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "Pump HX-204"
    deck.save(str(path))


def text(path: Path) -> None:
    document = OpenDocumentText()
    document.text.addElement(P(text="Pump HX-204"))
    document.save(str(path))


KINDS: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "docx": (word, "word/document.xml", "wordprocessingml.document"),
    "xlsx": (sheet, "xl/workbook.xml", "spreadsheetml.sheet"),
    "pptx": (slides, "ppt/presentation.xml", "presentationml.presentation"),
    "odt": (text, "content.xml", "opendocument.text"),
}


def replaced(path: Path, target: Path, parts: dict[str, bytes | None]) -> Path:
    """Copy a package to ``target`` with the given parts put in place, None for left out."""
    with (
        zipfile.ZipFile(path) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy,
    ):
        for name in source.namelist():
            if name not in parts:
                copy.writestr(name, source.read(name))
        for name, data in parts.items():
            if data is not None:
                copy.writestr(name, data)
    return target


def part_of(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as package:
        return package.read(name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_is_told_by_content_whatever_its_name(tmp_path: Path, kind: str) -> None:
    make, _, media_type = KINDS[kind]
    make(tmp_path / "report.txt")
    extracted = extract(tmp_path / "report.txt")
    assert "Pump HX-204" in extracted.text
    assert extracted.media_type.endswith(media_type)


@pytest.mark.parametrize("kind", KINDS)
def test_entities_are_refused_before_any_part_is_parsed(tmp_path: Path, kind: str) -> None:
    """sec-03: a billion laughs, and a file of the machine, in every kind of package."""
    make, main, _ = KINDS[kind]
    make(tmp_path / "good")
    laughs = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    outside = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
    for declared, encoding in itertools.product((laughs, outside), ("utf-8", "utf-16")):
        evil = (declared + "<a>&a;</a>").encode(encoding)
        path = replaced(tmp_path / "good", tmp_path / "evil", {main: evil})
        with pytest.raises(NotExtractable, match="declares entities"):
            extract(path)


@pytest.mark.parametrize("kind", ["xlsx", "pptx"])
def test_strict_office_files_are_read_like_the_usual_ones(tmp_path: Path, kind: str) -> None:
    KINDS[kind][0](tmp_path / "usual")
    parts: dict[str, bytes | None] = {}
    with zipfile.ZipFile(tmp_path / "usual") as package:
        for name in package.namelist():
            parts[name] = re.sub(
                rb"http://schemas.openxmlformats.org/(officeDocument)/2006/(relationships)"
                rb"|http://schemas.openxmlformats.org/(\w+ml)/2006/(main)",
                lambda found: (
                    b"http://purl.oclc.org/ooxml/" + b"/".join(filter(None, found.groups()))
                ),
                package.read(name),
            )
    path = replaced(tmp_path / "usual", tmp_path / "strict", parts)
    assert b"purl.oclc.org" in part_of(path, KINDS[kind][1])
    assert extract(path).text == extract(tmp_path / "usual").text


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_that_unpacks_out_of_proportion_is_refused(tmp_path: Path, kind: str) -> None:
    make, _, _ = KINDS[kind]
    make(tmp_path / "good")
    path = tmp_path / "bomb"
    replaced(tmp_path / "good", path, {"media/picture.bin": bytes(20 * 2**20)})
    with pytest.raises(NotExtractable, match="times its packed size"):
        extract(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_part_is_named_and_half_a_package_is_damaged(tmp_path: Path, kind: str) -> None:
    make, main, _ = KINDS[kind]
    make(tmp_path / "good")
    part = part_of(tmp_path / "good", main)
    broken = replaced(tmp_path / "good", tmp_path / "broken", {main: part[: len(part) // 2]})
    with pytest.raises(NotExtractable, match="damaged"):
        extract(broken)
    half = tmp_path / "half"
    whole = (tmp_path / "good").read_bytes()
    half.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(NotExtractable, match="damaged or incomplete"):
        extract(half)


def test_a_missing_main_part_is_reported(tmp_path: Path) -> None:
    for kind in ("xlsx", "pptx", "odt"):
        make, main, _ = KINDS[kind]
        make(tmp_path / "good")
        path = replaced(tmp_path / "good", tmp_path / "less", {main: None})
        with pytest.raises(NotExtractable, match="is missing"):
            extract(path)


def compound(*names: str) -> bytes:
    """An OLE2 file of one allocation table and a directory of two sectors."""
    header = bytearray(512)
    header[:8] = OLE
    struct.pack_into("<HH", header, 30, 9, 6)
    struct.pack_into("<II", header, 44, 1, 1)
    struct.pack_into("<109I", header, 76, 0, *[0xFFFFFFFF] * 108)
    table = struct.pack("<128I", 0xFFFFFFFD, 2, 0xFFFFFFFE, *[0xFFFFFFFF] * 125)
    directory = bytearray(1024)
    for index, name in enumerate(("Root Entry", *names)):
        encoded = (name + "\0").encode("utf-16-le")
        directory[index * 128 : index * 128 + len(encoded)] = encoded
        struct.pack_into("<H", directory, index * 128 + 64, len(encoded))
    return bytes(header) + table + bytes(directory)


@pytest.mark.parametrize(
    ("names", "reason", "stage"),
    [
        (("1Table", "WordDocument"), r"an old Word file \(DOC\).*save it as DOCX", "type"),
        (("a", "b", "c", "Workbook"), r"an old Excel file \(XLS\).*save it as XLSX", "type"),
        (("PowerPoint Document",), r"an old PowerPoint file \(PPT\).*save it as PPTX", "type"),
        (("__properties_version1.0",), "an Outlook message", "type"),
        (("EncryptionInfo", "EncryptedPackage"), "encrypted with a password", "extract"),
        (("Contents",), "an old Office file", "type"),
    ],
)
def test_old_office_files_are_named(
    tmp_path: Path, names: tuple[str, ...], reason: str, stage: str
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(compound(*names))
    with pytest.raises(NotExtractable, match=reason) as caught:
        extract(path)
    assert caught.value.stage == stage
    for length in (8, 100, 600, 1100):
        path.write_bytes(compound(*names)[:length])
        with pytest.raises(NotExtractable):
            extract(path)


def test_other_archives_are_told_apart(tmp_path: Path) -> None:
    cases = {
        "a binary spreadsheet": '<Types><Override PartName="/xl/workbook.bin" ContentType='
        '"application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>',
        "a drawing": '<Types><Override PartName="/visio/document.xml" ContentType='
        '"application/vnd.ms-visio.drawing.main+xml"/></Types>',
        "a ZIP archive": "<Types/>",
    }
    for reason, types in cases.items():
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w") as package:
            package.writestr("[Content_Types].xml", types)
        with pytest.raises(NotExtractable, match=reason) as caught:
            extract(path)
        assert caught.value.stage == "type"


def deck_of_slides() -> pptx.presentation.Presentation:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Pump HX-204"
    first.placeholders[1].text = "Service training"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Seals"
    second.placeholders[1].text_frame.text = "Switch off\vat the panel"
    second.placeholders[1].text_frame.add_paragraph().text = "Drain"
    second.notes_slide.notes_text_frame.text = "Ask for AX-2041."
    third = deck.slides.add_slide(deck.slide_layouts[6])
    table = third.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(1)).table
    for (row, column), said in {(0, 0): "part", (0, 1): "torque", (1, 0): "00742"}.items():
        table.cell(row, column).text = said
    group = third.shapes.add_group_shape()
    inner = group.shapes.add_group_shape()
    inner.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "GRP-7001"
    return deck


def test_slides_are_pages_with_titles_tables_groups_and_notes(tmp_path: Path) -> None:
    deck = deck_of_slides()
    deck.save(str(tmp_path / "a.pptx"))
    extracted = extract(tmp_path / "a.pptx")
    assert_sound(extracted, True)
    assert [
        (b.page, b.kind, extracted.text[b.start : b.end], b.headings) for b in extracted.blocks
    ] == [
        (1, "heading", "Pump HX-204", ("Pump HX-204",)),
        (1, "paragraph", "Service training", ("Pump HX-204",)),
        (2, "heading", "Seals", ("Seals",)),
        (2, "item", "- Switch off at the panel", ("Seals",)),
        (2, "item", "- Drain", ("Seals",)),
        (2, "heading", "Notes", ("Seals", "Notes")),
        (2, "paragraph", "Ask for AX-2041.", ("Seals", "Notes")),
        (3, "row", "part | torque", ()),
        (3, "row", "00742", ()),
        (3, "paragraph", "GRP-7001", ()),
    ]
    assert extracted.title == "Pump HX-204"


def test_slides_follow_the_order_of_the_show_and_hidden_ones_are_noted(tmp_path: Path) -> None:
    deck = deck_of_slides()
    order = deck.slides._sldIdLst
    order.insert(0, order[2])
    deck.slides[0].element.set("show", "0")
    deck.core_properties.title = "Training 2024"
    deck.save(str(tmp_path / "a.pptx"))
    extracted = extract(tmp_path / "a.pptx")
    assert blocks(extracted)[0] == ("row", "part | torque")
    assert extracted.notes == ("slide 1 is hidden in the file and was read",)
    assert extracted.title == "Training 2024"


def with_body(folder: Path, *markup: str) -> Extracted:
    """A Word file whose body holds the given elements; ``w:`` is declared."""
    document = docx.Document()
    body = document.element.body
    for piece in markup:
        tag = piece[1:].partition(">")[0].partition(" ")[0]
        declared = piece.replace(f"<{tag}", f"<{tag} {nsdecls('w')}", 1)
        body.insert(len(body) - 1, parse_xml(declared))
    document.save(str(folder / "made.docx"))
    return extract(folder / "made.docx")


def test_tracked_changes_are_read_as_accepted(tmp_path: Path) -> None:
    extracted = with_body(
        tmp_path,
        "<w:p><w:r><w:t>Torque </w:t></w:r><w:del w:id='1'><w:r><w:delText>54</w:delText></w:r>"
        "</w:del><w:ins w:id='2'><w:r><w:t>45</w:t></w:r></w:ins><w:moveFrom w:id='3'><w:r>"
        "<w:t>gone</w:t></w:r></w:moveFrom><w:moveTo w:id='4'><w:r><w:t> N·m</w:t></w:r>"
        "</w:moveTo></w:p>",
        "<w:p><w:pPr><w:rPr><w:del w:id='5'/></w:rPr></w:pPr><w:r><w:t>One </w:t></w:r></w:p>",
        "<w:p><w:r><w:t>paragraph</w:t></w:r></w:p>",
        "<w:tbl><w:tr><w:trPr><w:del w:id='6'/></w:trPr><w:tc><w:p><w:r><w:t>old</w:t></w:r></w:p>"
        "</w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r>"
        "<w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
    )
    assert blocks(extracted) == [
        ("paragraph", "Torque 45 N·m"),
        ("paragraph", "One paragraph"),
        ("row", "a | b"),
    ]


def test_content_controls_are_read_and_their_prompts_are_not(tmp_path: Path) -> None:
    prompt = "<w:sdtPr><w:showingPlcHdr/></w:sdtPr>"
    extracted = with_body(
        tmp_path,
        "<w:sdt><w:sdtPr/><w:sdtContent><w:p><w:r><w:t>SDT-1</w:t></w:r></w:p></w:sdtContent>"
        "</w:sdt>",
        "<w:p><w:r><w:t>Serial </w:t></w:r><w:sdt><w:sdtContent><w:r><w:t>SDT-2</w:t></w:r>"
        f"</w:sdtContent></w:sdt><w:sdt>{prompt}<w:sdtContent><w:r><w:t>Click here</w:t></w:r>"
        "</w:sdtContent></w:sdt></w:p>",
        f"<w:sdt>{prompt}<w:sdtContent><w:p><w:r><w:t>Click here</w:t></w:r></w:p></w:sdtContent>"
        "</w:sdt>",
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr>"
        "<w:vanish w:val='0'/></w:rPr><w:t>shown</w:t></w:r></w:p>",
    )
    assert [said for _, said in blocks(extracted)] == ["SDT-1", "Serial SDT-2", "shown"]


def test_footnotes_follow_the_document_and_comments_are_left_out(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Pump", 1)
    run = document.add_paragraph("Text").add_run(" marked")
    document.add_comment(run, "a remark", author="x")
    document.save(str(tmp_path / "plain.docx"))
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    note = (
        f"<w:footnotes {nsdecls('w')}><w:footnote w:type='separator' w:id='0'><w:p><w:r><w:t>--"
        "</w:t></w:r></w:p></w:footnote><w:footnote w:id='1'><w:p><w:r><w:t>FTN-1</w:t></w:r></w:p>"
        "</w:footnote></w:footnotes>"
    )
    related = part_of(tmp_path / "plain.docx", "word/_rels/document.xml.rels").decode()
    added = f'<Relationship Id="rIdF" Type="{kind}" Target="footnotes.xml"/></Relationships>'
    related = related.replace("</Relationships>", added)
    parts = {"word/_rels/document.xml.rels": related.encode(), "word/footnotes.xml": note.encode()}
    path = replaced(tmp_path / "plain.docx", tmp_path / "a.docx", parts)
    extracted = extract(path)
    assert [(extracted.text[b.start : b.end], b.headings) for b in extracted.blocks] == [
        ("Pump", ("Pump",)),
        ("Text marked", ("Pump",)),
        ("FTN-1", ()),
    ]


def test_an_encrypted_open_document_is_reported(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        package.writestr("content.xml", b"\x00\x01")
        package.writestr("META-INF/manifest.xml", "<manifest><encryption-data/></manifest>")
    (tmp_path / "a.odt").write_bytes(buffer.getvalue())
    with pytest.raises(NotExtractable, match="encrypted with a password"):
        extract(tmp_path / "a.odt")
