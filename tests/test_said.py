"""What files say of themselves: author, date and tags, format by format."""

from __future__ import annotations

import datetime
import io
import json
import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from odf.dc import Creator
from odf.meta import CreationDate, InitialCreator, Keyword
from odf.opendocument import OpenDocumentText
from odf.text import P
from reportlab.pdfgen import canvas

from corpus.extract import extract
from corpus.extract.dates import iso_date
from corpus.extract.front_matter import split

SAID = ("Ana Núñez", "2024-02-29T23:30:00-05:00", ("pumps", "válvulas"))
DAY_ONLY = ("Ana Núñez", "2024-02-29", ("pumps", "válvulas"))

MARKDOWN = """---
title: Purge
author: Ana Núñez
date: 2024-02-29T23:30:00-05:00
tags: [pumps, válvulas]
---
Close the valve.
"""
HTML = """<!doctype html><html><head><title>Purge</title>
<meta name="Author" content="Ana Núñez"><meta name="keywords" content="pumps, válvulas">
<meta property="article:published_time" content="2024-02-29T23:30:00-05:00">
</head><body><p>Close the valve.</p></body></html>
"""
MAIL = """From: =?utf-8?q?Ana_N=C3=BA=C3=B1ez?= <ana@plant.example>
To: shift@plant.example
Date: Thu, 29 Feb 2024 23:30:00 -0500
Subject: Purge
Message-ID: <1@plant.example>

Close the valve.
"""
ASCIIDOC = """// a comment
= Purge
:author: Ana Núñez
:revdate: 2024-02-29
:keywords: pumps, válvulas

Close the valve.

:keywords: not these
"""
RST = """Purge
=====

:Author: Ana Núñez
:Date: 2024-02-29
:Keywords: pumps, válvulas

Close the valve.

:Author: somebody else
"""
RECORD = json.dumps(
    {
        "title": "Purge",
        "text": "Close the valve.",
        "author": "Ana Núñez",
        "date": "2024-02-29",
        "tags": ["pumps", "válvulas"],
    }
)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("purge.md", MARKDOWN, SAID),
        ("purge.html", HTML, SAID),
        ("purge.eml", MAIL, (SAID[0], SAID[1], ())),
        ("purge.adoc", ASCIIDOC, DAY_ONLY),
        ("purge.rst", RST, DAY_ONLY),
        ("purge.json", RECORD, DAY_ONLY),
        ("purge.txt", "Author: Ana\n\nClose the valve.", ("", "", ())),
    ],
)
def test_a_text_file_says_who_wrote_it_and_when(
    tmp_path: Path, name: str, text: str, said: tuple[str, str, tuple[str, ...]]
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    extracted = extract(path)
    assert (extracted.author, extracted.dated, extracted.tags) == said


@pytest.mark.parametrize(
    ("head", "author", "tags"),
    [
        ("authors: [Ana, {name: Luis, role: editor}]\nkeywords: a; b, a", "Ana, Luis", ("a", "b")),
        ("author: ''\ntags: []\nkeywords:\n  - x y\n  - ' '", "", ("x y",)),
        ("author: anonymous\ntags: {a: b}", "", ()),
    ],
)
def test_front_matter_may_hold_lists_texts_or_records(
    tmp_path: Path, head: str, author: str, tags: tuple[str, ...]
) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"---\n{head}\n---\nText.\n", encoding="utf-8")
    extracted = extract(path)
    assert (extracted.author, extracted.tags) == (author, tags)
    assert split(path.read_text(encoding="utf-8"))[1] == "Text.\n"


def test_the_line_below_an_asciidoc_title_names_its_author(tmp_path: Path) -> None:
    path = tmp_path / "a.adoc"
    path.write_text("= Purge\nAna Núñez <ana@plant.example>\n\nText of it.\n", encoding="utf-8")
    assert extract(path).author == "Ana Núñez"


def test_office_files_say_it_in_their_properties(tmp_path: Path) -> None:
    at = datetime.datetime(2024, 2, 29, 23, 30)
    word = docx.Document()
    word.add_paragraph("Close the valve.")
    book = openpyxl.Workbook()
    book.active["A1"] = "Close the valve."
    slides = pptx.Presentation()
    slides.slides.add_slide(slides.slide_layouts[0]).shapes.title.text = "Close the valve."
    for properties in (word.core_properties, slides.core_properties):
        properties.author, properties.created = "Ana Núñez", at
        properties.keywords = "pumps; válvulas"
    book.properties.creator, book.properties.created = "Ana Núñez", at
    book.properties.keywords = "pumps; válvulas"
    word.save(str(tmp_path / "a.docx"))
    book.save(tmp_path / "a.xlsx")
    slides.save(str(tmp_path / "a.pptx"))
    for suffix in ("docx", "xlsx", "pptx"):
        extracted = extract(tmp_path / f"a.{suffix}")
        assert extracted.author == "Ana Núñez", suffix
        assert extracted.dated == "2024-02-29T23:30:00Z", suffix
        assert extracted.tags == ("pumps", "válvulas"), suffix


def test_the_author_of_a_template_is_nobody(tmp_path: Path) -> None:
    word = docx.Document()
    word.add_paragraph("Close the valve.")
    word.save(str(tmp_path / "a.docx"))
    assert extract(tmp_path / "a.docx").author == ""


def test_an_opendocument_file_says_it_in_its_metadata(tmp_path: Path) -> None:
    document = OpenDocumentText()
    document.text.addElement(P(text="Close the valve."))
    document.meta.addElement(InitialCreator(text="Ana Núñez"))
    document.meta.addElement(Creator(text="the last editor"))
    document.meta.addElement(CreationDate(text="2024-02-29T23:30:00.123456"))
    document.meta.addElement(Keyword(text="pumps"))
    document.meta.addElement(Keyword(text="válvulas"))
    document.save(str(tmp_path / "a.odt"))
    extracted = extract(tmp_path / "a.odt")
    assert (extracted.author, extracted.dated) == ("Ana Núñez", "2024-02-29T23:30:00")
    assert extracted.tags == ("pumps", "válvulas")


def test_a_pdf_says_it_with_its_own_offset(tmp_path: Path, shared: Path) -> None:
    drawn = canvas.Canvas(str(tmp_path / "a.pdf"))
    drawn.setAuthor("Ana Núñez")
    drawn.setKeywords("pumps, válvulas")
    drawn.drawString(100, 700, "Close the valve.")
    drawn.save()
    extracted = extract(tmp_path / "a.pdf")
    assert (extracted.author, extracted.tags) == ("Ana Núñez", ("pumps", "válvulas"))
    assert extracted.dated
    # fil-04: the calendar date as written, with the offset as written.
    assert extract(shared / "cases/files/pdf_date_offset.pdf").dated == SAID[1]


def test_a_book_says_it_in_its_package(tmp_path: Path) -> None:
    package = """<package xmlns="http://www.idpf.org/2007/opf"><metadata
      xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Purge</dc:title>
      <dc:creator>Ana Núñez</dc:creator><dc:creator>Luis</dc:creator><dc:date>2024-02-29</dc:date>
      <dc:subject>pumps</dc:subject><dc:subject>válvulas</dc:subject></metadata>
      <manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>
      <spine><itemref idref="c"/></spine></package>"""
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="p.opf"/></rootfiles></container>'
    )
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", container)
        book.writestr("p.opf", package)
        book.writestr("c.xhtml", "<html><body><p>Close the valve.</p></body></html>")
    path = tmp_path / "a.epub"
    path.write_bytes(held.getvalue())
    extracted = extract(path)
    assert extracted.title == "Purge"
    assert (extracted.author, extracted.dated) == ("Ana Núñez, Luis", "2024-02-29")
    assert extracted.tags == ("pumps", "válvulas")


def test_nothing_said_can_break_a_line_or_fill_a_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    tags = ["a\u0000b\nc", *(f"tag {n}" for n in range(1000)), "x" * 5000]
    path.write_text(json.dumps({"text": "t", "author": "A\r\n\u0007B" + "c" * 999, "tags": tags}))
    extracted = extract(path)
    assert extracted.author.startswith("A Bccc")
    assert len(extracted.author) == 200
    assert extracted.tags[0] == "a b c"
    assert len(extracted.tags) == 64


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2024-02-29", "2024-02-29"),
        ("2024/2/9", "2024-02-09"),
        ("2024-02-29 23:30", "2024-02-29T23:30:00"),
        ("2024-02-29T23:30:15.250+0530", "2024-02-29T23:30:15+05:30"),
        ("2024-02-29T23:30:00Z", "2024-02-29T23:30:00Z"),
        ("D:20240229233000Z00'00'", "2024-02-29T23:30:00Z"),
        ("D:20240229233000-05'00'", "2024-02-29T23:30:00-05:00"),
        ("D:20240229233000-05'00", "2024-02-29T23:30:00-05:00"),
        ("D:20240229", "2024-02-29"),
        ("20240229", "2024-02-29"),
        ("D:2024", ""),
        ("Thu, 29 Feb 2024 23:30:00 -0500 (PET)", "2024-02-29T23:30:00-05:00"),
        ("29 Feb 2024", "2024-02-29"),
        ("February 29th, 2024", "2024-02-29"),
        ("29 de febrero de 2024", "2024-02-29"),
        ("2024-02-29T99:30:00", "2024-02-29"),
        ("2024-02-29T23:30:00+99:00", "2024-02-29"),
        ("03/04/2024", ""),
        ("2023-02-29", ""),
        ("0000-01-01", ""),
        ("last Tuesday", ""),
        ("2024", ""),
        ("２０２４-02-29", ""),
        ("", ""),
    ],
)
def test_a_date_keeps_its_own_offset_and_what_is_none_is_empty(written: str, meant: str) -> None:
    assert iso_date(written) == meant


@given(st.text(max_size=60) | st.from_regex(r"[D:0-9TZ+\-'/ ]{0,30}", fullmatch=True))
def test_whatever_is_written_gives_an_iso_date_or_nothing(text: str) -> None:
    found = iso_date(text)
    if found:
        datetime.date.fromisoformat(found[:10])
        datetime.datetime.fromisoformat(found)
        assert iso_date(found) == found


zones = st.integers(-15 * 60, 15 * 60).map(
    lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes))
)


@given(
    st.datetimes(min_value=datetime.datetime(1000, 1, 1), timezones=st.none() | zones),
    st.booleans(),
)
def test_every_iso_time_comes_back_as_it_was_written(at: datetime.datetime, spaced: bool) -> None:
    at = at.replace(microsecond=0)
    assert iso_date(at.isoformat(sep=" " if spaced else "T")) == at.isoformat()
