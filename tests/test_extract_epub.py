"""EPUB books: chapters in reading order, and what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from corpus.errors import NotExtractable
from corpus.extract import extract
from tests.test_extract_archive import assert_sound

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
PAGE = (
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" '
    '"http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd"><html xmlns="http://www.w3.org/1999/xhtml">'
    "<head><title/><style/></head><body>{}</body></html>"
)


def book(folder: Path, chapters: dict[str, str], extra: dict[str, str] | None = None) -> Path:
    """A book whose spine is ``chapters``, in reverse of their order in the manifest."""
    items = "".join(
        f'<item id="i{n}" href="text/{name}" media-type="application/xhtml+xml"/>'
        for n, name in reversed(list(enumerate(chapters)))
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>Pump book</dc:title></metadata><manifest>{items}"
        '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
        f'<spine toc="ncx">{spine}</spine></package>'
    )
    parts = {"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": package, **(extra or {})}
    path = folder / "book.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, text in parts.items():
            archive.writestr(name, text)
        for name, text in chapters.items():
            archive.writestr(f"OEBPS/text/{name.replace('%20', ' ')}", PAGE.format(text))
    return path


def test_chapters_are_read_in_the_order_of_the_spine(tmp_path: Path) -> None:
    path = book(
        tmp_path,
        {
            "b.xhtml": '<h1 id="x">Safety</h1><a id="here"/><p>Switch <i/>off.</p>',
            "a%20b.xhtml": "<h1>Repair</h1><h2>Seals</h2><script/><ul><li>a seal</li></ul>",
        },
    )
    extracted = extract(path)
    assert_sound(extracted, False)
    assert extracted.title == "Pump book"
    assert extracted.media_type == "application/epub+zip"
    assert [(b.kind, extracted.text[b.start : b.end], b.headings) for b in extracted.blocks] == [
        ("heading", "Safety", ("Safety",)),
        ("paragraph", "Switch off.", ("Safety",)),
        ("heading", "Repair", ("Repair",)),
        ("heading", "Seals", ("Repair", "Seals")),
        ("item", "- a seal", ("Repair", "Seals")),
    ]


def test_a_chapter_without_a_heading_goes_by_the_table_of_contents(tmp_path: Path) -> None:
    ncx = (
        '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://example.org/ncx.dtd">'
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
        "<navPoint><navLabel><text>Preface</text></navLabel>"
        '<content src="text/a.xhtml"/></navPoint>'
        "<navPoint><navLabel><text>Thanks</text></navLabel>"
        '<content src="text/a.xhtml#thanks"/></navPoint></navMap></ncx>'
    )
    path = book(tmp_path, {"a.xhtml": "<p>Words.</p>"}, {"OEBPS/toc.ncx": ncx})
    assert extract(path).text == "Preface\n\nWords."


def test_missing_chapters_are_noted_and_damaged_packages_reported(tmp_path: Path) -> None:
    path = book(tmp_path, {"a.xhtml": "<p>x</p>", "b.xhtml": "<p>y</p>"})
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(tmp_path / "b.epub", "w") as target:
        for name in source.namelist():
            if not name.endswith("a.xhtml"):
                target.writestr(name, source.read(name))
    extracted = extract(tmp_path / "b.epub")
    assert extracted.text == "y"
    assert extracted.notes == ("the chapter OEBPS/text/a.xhtml is missing from the book",)
    with pytest.raises(NotExtractable, match="damaged"):
        extract(book(tmp_path, {"a.xhtml": "x"}, {"OEBPS/book.opf": "<package"}))


def test_an_encrypted_text_is_reported_and_an_encrypted_font_is_not(tmp_path: Path) -> None:
    form = '<encryption><CipherReference URI="OEBPS/{}"/></encryption>'
    fonts = {"META-INF/encryption.xml": form.format("fonts/a.otf")}
    assert extract(book(tmp_path, {"a.xhtml": "<p>open</p>"}, fonts)).text == "open"
    text = {"META-INF/encryption.xml": form.format("text/a.xhtml")}
    with pytest.raises(NotExtractable, match="copy protection"):
        extract(book(tmp_path, {"a.xhtml": "<p>shut</p>"}, text))


def test_entities_are_refused_in_the_package_and_mean_nothing_in_chapters(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("top secret")
    bomb = '<!DOCTYPE p [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><package>&b;</package>'
    with pytest.raises(NotExtractable, match="entities, which no EPUB book does"):
        extract(book(tmp_path, {"a.xhtml": "x"}, {"OEBPS/book.opf": bomb}))
    chapter = f'<!DOCTYPE p [<!ENTITY a SYSTEM "{secret.as_uri()}">]><p>plain &a;</p>'
    text = extract(book(tmp_path, {"a.xhtml": chapter})).text
    assert "plain" in text
    assert "secret" not in text.replace(secret.as_uri(), "")
