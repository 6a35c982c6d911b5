"""RTF: what is on the page, in the characters that were meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract import extract, rtf
from tests.test_extract_archive import assert_sound


def made(body: str | bytes) -> Extracted:
    raw = body.encode("latin-1") if isinstance(body, str) else body
    extracted = rtf.read(rb"{\rtf1\ansi\ansicpg1252\deff0 " + raw + b"}", "stem")
    assert_sound(extracted, False)
    return extracted


def blocks(body: str | bytes) -> list[tuple[str, str]]:
    extracted = made(body)
    return [(b.kind, extracted.text[b.start : b.end]) for b in extracted.blocks]


def test_rtf_is_told_by_content_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "manual.doc"
    path.write_bytes(rb"{\rtf1\ansi{\info{\title Pump HX-204}}Torque 45 N\'b7m\par}")
    extracted = extract(path)
    assert extracted.media_type == "application/rtf"
    assert extracted.title == "Pump HX-204"
    assert extracted.text == "Torque 45 N·m"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"V\'e1lvula", "Válvula"),
        (r"\u8364?\~20", "€ 20"),
        (r"{\uc2\u937 xx}y", "Ωy"),
        (r"\uc1\u-10179?\u-8704?", "\U0001f600"),
        (r"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}\f1 \'ec\'ee\f0 \'e1", "моá"),
        (r"{\fonttbl{\f0\fcharset128 A;}}\f0\'93\'fa\'96\'7b", "日本"),
        (r"\'93x\'94\emdash y", "“x”—y"),
        (r"a\{b\}\\c\_d", "a{b}\\c\u2011d"),
        (r"{\pict\bin8 }}}}{{{{ff}after", "after"),
        ("one\r\n two", "one two"),
    ],
)
def test_characters_are_those_that_were_meant(body: str, text: str) -> None:
    assert made(body).text == text


def test_headings_lists_and_tables_have_structure() -> None:
    styles = r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}{\s5 Title;}}"
    assert blocks(
        styles
        + r"\pard\s5 Service manual\par\pard\s1 Pump\par\pard\s2 Seals\par\pard\plain Off.\par"
        r"{\listtext\u-3913 ?\tab}a seal\par{\listtext 2.\tab}a ring\par"
        r"\trowd\pard\intbl AX-2041\cell 45 N\'b7m\par more\cell\row"
        r"\trowd\pard\intbl AX-7\cell\cell\row\pard end\par"
    ) == [
        ("heading", "Service manual"),
        ("heading", "Pump"),
        ("heading", "Seals"),
        ("paragraph", "Off."),
        ("item", "- a seal"),
        ("item", "2. a ring"),
        ("row", "AX-2041 | 45 N·m more"),
        ("row", "AX-7"),
        ("paragraph", "end"),
    ]


def test_hidden_deleted_and_technical_text_is_left_out() -> None:
    assert blocks(
        r"{\*\generator Writer;}{\colortbl;\red0;}Kept{\v hidden}{\deleted gone}\v x\v0 ."
        r"{\field{\*\fldinst HYPERLINK http://x}{\fldrslt link}}{\*\annotation remark}"
        r"{\pict 0102abcd}{\object{\*\objdata 00ff}{\result shown}}\par"
    ) == [("paragraph", "Kept.linkshown")]


def test_notes_and_margins_come_last_and_once() -> None:
    body = (
        r"{\header FTR-1\par}{\headerf FTR-1\par}{\footer page foot\par}"
        r"Text{\footnote A remark.\par} goes on.\par"
    )
    assert [text for _, text in blocks(body)] == [
        "Text goes on.",
        "A remark.",
        "FTR-1",
        "page foot",
    ]


def test_groups_without_end_are_refused_or_read() -> None:
    with pytest.raises(NotExtractable, match="nested too deeply"):
        made(b"{" * 100_000)
    assert made(r"text}}}} after").text == "text after"


@given(st.text(alphabet="{}\\'*abuflv019-; \n", max_size=80))
def test_any_rtf_is_text_or_a_reason(body: str) -> None:
    try:
        made(body)
    except NotExtractable as error:
        assert error.reason
