"""OpenDocument texts and presentations: what is on the page, in order, once."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from corpus.document import Extracted
from corpus.extract import extract
from tests.test_extract_archive import assert_sound

_URN = "urn:oasis:names:tc:opendocument:xmlns"
_DECLARED = " ".join(
    f'xmlns:{prefix}="{_URN}:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("style", "style"),
        ("presentation", "presentation"),
    )
)
_STYLES = (
    "<office:automatic-styles>"
    '<style:style style:name="P1" style:family="paragraph"'
    ' style:parent-style-name="Preformatted_20_Text"/>'
    '<style:style style:name="T9" style:family="text"><style:text-properties text:display="none"/>'
    "</style:style>"
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1"'
    ' style:num-format="1"/><text:list-level-style-bullet text:level="2"/></text:list-style>'
    "</office:automatic-styles>"
)


def made(folder: Path, body: str, styles: str = "", kind: str = "text") -> Extracted:
    path = folder / "made"
    content = f"<office:document-content {_DECLARED}>{_STYLES}<office:body><office:{kind}>{body}"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        package.writestr(
            "META-INF/manifest.xml",
            '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "M.dtd">'
            '<manifest:manifest xmlns:manifest="x"/>',
        )
        package.writestr(
            "content.xml",
            f"{content}</office:{kind}></office:body></office:document-content>",
        )
        if styles:
            package.writestr(
                "styles.xml",
                f"<office:document-styles {_DECLARED}>{styles}</office:document-styles>",
            )
        package.writestr(
            "meta.xml",
            f'<office:document-meta {_DECLARED} xmlns:dc="http://purl.org/dc/elements/1.1/">'
            "<office:meta><dc:title>Pump HX-204</dc:title></office:meta></office:document-meta>",
        )
    extracted = extract(path)
    assert_sound(extracted, kind == "presentation")
    assert extracted.title == "Pump HX-204"
    return extracted


def blocks(extracted: Extracted) -> list[tuple[str, str]]:
    return [(b.kind, extracted.text[b.start : b.end]) for b in extracted.blocks]


def test_headings_lists_tables_and_listings_have_structure(tmp_path: Path) -> None:
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
    assert blocks(
        made(
            tmp_path,
            '<text:h text:outline-level="1">Pump</text:h><text:section>'
            '<text:h text:outline-level="2">Seals</text:h>'
            "<text:p>One<text:s/>two<text:line-break/>three<text:tab/>four</text:p></text:section>"
            '<text:list text:style-name="L1"><text:list-item><text:p>open</text:p>'
            "<text:list><text:list-item><text:p>slowly</text:p></text:list-item></text:list>"
            "</text:list-item><text:list-item><text:p>close</text:p><text:p>well</text:p>"
            "</text:list-item></text:list>"
            "<table:table><table:table-header-rows><table:table-row>"
            + cell.format("", "part")
            + cell.format("", "torque")
            + "</table:table-row></table:table-header-rows><table:table-row>"
            + cell.format(' table:number-columns-repeated="2"', "00742")
            + "</table:table-row></table:table>"
            '<text:p text:style-name="P1">pump --stop</text:p>'
            '<text:p text:style-name="P1"><text:s text:c="2"/>--now</text:p>',
        )
    ) == [
        ("heading", "Pump"),
        ("heading", "Seals"),
        ("paragraph", "One two three four"),
        ("item", "1. open"),
        ("item", "- slowly"),
        ("item", "2. close"),
        ("paragraph", "well"),
        ("row", "part | torque"),
        ("row", "00742 | 00742"),
        ("code", "pump --stop\n  --now"),
    ]


@pytest.mark.parametrize(
    "unseen",
    [
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>54</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>",
        "<text:table-of-content><text:index-body><text:p>Seals 7</text:p></text:index-body>"
        "</text:table-of-content>",
        '<text:section text:display="none"><text:p>secret</text:p></text:section>',
    ],
)
def test_deleted_generated_and_hidden_text_is_left_out(tmp_path: Path, unseen: str) -> None:
    said = (
        "<text:p>Torque<text:change text:change-id='c'/> 45<office:annotation><text:p>why?</text:p>"
        "</office:annotation><text:span text:style-name='T9'> hidden</text:span> N·m</text:p>"
    )
    assert made(tmp_path, unseen + said).text == "Torque 45 N·m"


def test_boxes_notes_and_margins_are_read_once(tmp_path: Path) -> None:
    margin = "<style:{0}><text:p>{1}<text:page-number>7</text:page-number></text:p></style:{0}>"
    extracted = made(
        tmp_path,
        "<text:h>Pump</text:h>"
        "<text:p>Text<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>FTN-1</text:p></text:note-body></text:note> goes on<draw:frame><draw:text-box>"
        "<text:p>BOX-1</text:p></draw:text-box></draw:frame>.</text:p>",
        "<office:master-styles><style:master-page>"
        + margin.format("footer", "FTR-1")
        + margin.format("header", "HDR-1")
        + margin.format("header-left", "HDR-1")
        + "</style:master-page></office:master-styles>",
    )
    assert [said for _, said in blocks(extracted)] == [
        "Pump",
        "Text goes on.",
        "BOX-1",
        "FTN-1",
        "HDR-1",
        "FTR-1",
    ]
    assert [block.headings for block in extracted.blocks[2:]] == [("Pump",), (), (), ()]


def test_slides_are_pages(tmp_path: Path) -> None:
    extracted = made(
        tmp_path,
        '<draw:page><draw:frame presentation:class="outline"><draw:text-box><text:list>'
        "<text:list-item><text:p>Drain</text:p></text:list-item></text:list></draw:text-box>"
        '</draw:frame><draw:frame presentation:class="title"><draw:text-box><text:p>Seals</text:p>'
        '</draw:text-box></draw:frame><presentation:notes><draw:frame presentation:class="notes">'
        "<draw:text-box><text:p>Ask.</text:p></draw:text-box></draw:frame></presentation:notes>"
        "</draw:page><draw:page><draw:g><draw:custom-shape><text:p>GRP-1</text:p>"
        "</draw:custom-shape></draw:g></draw:page>",
        kind="presentation",
    )
    assert [(b.page, b.kind, extracted.text[b.start : b.end]) for b in extracted.blocks] == [
        (1, "heading", "Seals"),
        (1, "item", "- Drain"),
        (1, "heading", "Notes"),
        (1, "paragraph", "Ask."),
        (2, "paragraph", "GRP-1"),
    ]
