"""HTML, Markdown, reStructuredText and AsciiDoc: readable text with structure."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract import asciidoc, extract, html, markdown, rst


def blocks(extracted: Extracted) -> list[tuple[str, str]]:
    return [(b.kind, extracted.text[b.start : b.end]) for b in extracted.blocks]


def from_html(source: str) -> Extracted:
    return html.read(source.encode(), "stem")


def from_markdown(source: str) -> Extracted:
    return markdown.read(source.encode(), "stem")


def from_rst(source: str) -> Extracted:
    return rst.read(source.encode(), "stem")


def from_asciidoc(source: str) -> Extracted:
    return asciidoc.read(source.encode(), "stem")


def test_html_gives_what_a_reader_sees() -> None:
    extracted = from_html(
        "<title>Pump &amp; seals</title><style>p{}</style><nav>Home</nav><h1>Pump</h1>"
        "<script>x()</script><p>Switch <b>off</b>.<br>Wait<!-- long -->.</p><template>t</template>"
        "<ol start=3><li>Open<ul><li>slowly</ul><li><p>Close</p></ol><p hidden>secret</p>"
        "<p style='display: none'>secret</p><pre>a  b\n  c</pre><dl><dt>AX<dd>a relay</dl>"
    )
    assert extracted.title == "Pump & seals"
    assert blocks(extracted) == [
        ("heading", "Pump"),
        ("paragraph", "Switch off. Wait."),
        ("item", "3. Open"),
        ("item", "- slowly"),
        ("item", "4. Close"),
        ("code", "a  b\n  c"),
        ("item", "AX"),
        ("paragraph", "a relay"),
    ]


def test_html_tables_are_read_by_rows_and_framing_ones_are_not() -> None:
    extracted = from_html(
        "<table><caption>Torques</caption><tr><th>Part<th>Torque"
        "<tr><td>AX-2041<td>45 N·m<tr><td><td>6 N·m</table>"
        "<table><tr><td><p>A note</p><pre>code\n  x</pre></td></tr></table>"
    )
    assert blocks(extracted) == [
        ("paragraph", "Torques"),
        ("row", "Part | Torque"),
        ("row", "AX-2041 | 45 N·m"),
        ("row", "| 6 N·m"),
        ("paragraph", "A note"),
        ("code", "code\n  x"),
    ]


def test_markup_written_as_text_stays_text(shared: Path) -> None:
    """sec-02 (reading)."""
    extracted = extract(shared / "cases/files/html_markup_in_text.html")
    assert extracted.title == "<img src=x onerror=alert(1)> Nota"
    assert extracted.text.startswith("relé </mark><script>alert(1)</script> bobina.")


@pytest.mark.parametrize(
    "declaration",
    ['<meta charset="iso-8859-1">', '<meta http-equiv=x content="a; charset=latin1">'],
)
def test_a_declared_charset_is_honoured_as_browsers_do(declaration: str) -> None:
    source = f"<html><head>{declaration}</head><p>año “45”".encode("cp1252")
    extracted = html.read(source, "stem")
    assert extracted.text == "año “45”"
    assert extracted.notes == ()


def test_a_false_charset_falls_back_to_the_rule() -> None:
    assert html.read("<meta charset=ascii-nonsense><p>año".encode(), "stem").text == "año"


def test_deep_nesting_and_unclosed_tags_are_survived() -> None:
    assert from_html("<div>" * 4_000 + "deep").text == "deep"
    nested = "<table><tr><td>a<td>" * 200 + "innermost"
    assert "innermost" in from_html(nested).text


@given(st.text(alphabet="<>/ptablerdihu =\"'&;a\n", max_size=300))
def test_any_html_is_read_or_refused(source: str) -> None:
    try:
        from_html(source)
    except NotExtractable as error:
        assert error.stage == "text"


@pytest.mark.parametrize("opening", ["{%", "{{<", "((", "<<", "(((", "[[", "+++", "`", "*"])
def test_marks_that_never_close_cost_no_more_than_text(opening: str) -> None:
    source = "begin " + opening * (60_000 // len(opening)) + " end"
    started = time.perf_counter()
    for read in (markdown.read, asciidoc.read):
        if not (read is markdown.read and opening == "[["):
            assert read(source.encode(), "stem").text.endswith("end")
    assert time.perf_counter() - started < 10


def test_markdown_becomes_readable_text() -> None:
    extracted = from_markdown(
        "# Pump {#pump}\n\nSee [the `E-12` page](http://x/y) *now*.\n\n1. Open\n   it\n2. Close\n"
        "   - slowly\n\n```sh\npump  --stop\n```\n\n"
        "| Part | Torque |\n|---|---|\n| AX-2041 | 45 |\n\n"
        "<div>html <b>text</b></div>\n\n![a diagram](x.png)\n"
    )
    assert extracted.title == "Pump"
    assert blocks(extracted) == [
        ("heading", "Pump"),
        ("paragraph", "See the E-12 page now."),
        ("item", "1. Open it"),
        ("item", "2. Close"),
        ("item", "- slowly"),
        ("code", "pump  --stop"),
        ("row", "Part | Torque"),
        ("row", "AX-2041 | 45"),
        ("paragraph", "html text"),
        ("paragraph", "a diagram"),
    ]


def test_site_tags_show_what_the_page_shows_and_code_keeps_them() -> None:
    extracted = from_markdown(
        '---\ntitle: "Pods"\nweight: 10\n---\n{{< note >}}\nA {{< glossary_tooltip text="pod" '
        'term_id="pod" >}} runs.\n{{< /note >}}\n\n## {{% heading "whatsnext" %}}\n\n'
        "{% if x %}shown{% endif %} {{ page.title }}\n\n```\n{% raw %} {{ kept }}\n```\n"
        "Inline `{{ kept }}`.\n"
    )
    assert extracted.title == "Pods"
    assert blocks(extracted) == [
        ("heading", "Pods"),
        ("paragraph", "A pod runs."),
        ("heading", "whatsnext"),
        ("paragraph", "shown"),
        ("code", "{% raw %} {{ kept }}"),
        ("paragraph", "Inline {{ kept }}."),
    ]


def test_front_matter_that_readers_are_shown_is_text(shared: Path) -> None:
    extracted = extract(shared / "archive/marlin/gcode/M301.md")
    assert extracted.title == "Set Hotend PID"
    assert "Codes: M301" in extracted.text
    assert "- P (optional): Proportional value" in extracted.text
    assert "thinkyhead" not in extracted.text


@pytest.mark.parametrize(
    "block",
    [
        "a: &x [1]\nb: *x",
        "a: [unclosed",
        "- just a list",
        "!!python/object/apply:os.system ['false']",
    ],
)
def test_front_matter_that_is_not_plain_is_left_in_the_text(block: str) -> None:
    """sec-01: nothing in it is run, nothing of it is lost."""
    extracted = from_markdown(f"---\n{block}\n---\n\nBody.\n")
    assert extracted.title == "stem" or extracted.blocks[0].kind == "heading"
    assert block.split()[-1].strip("[]'") in extracted.text
    assert "Body." in extracted.text


def test_values_of_front_matter_stay_as_they_are_written() -> None:
    extracted = from_markdown("---\ntitle: 0742\ncodes: [ 007, 1E5 ]\n---\nBody\n")
    assert extracted.title == "0742"
    assert "Codes: 007, 1E5" in extracted.text


def test_unknown_roles_and_directives_keep_their_words() -> None:
    extracted = from_rst(
        "Title\n=====\n\nSet :ref:`BATT_CAPACITY <BATT_CAPACITY>` and :ref:`FS_OPTIONS<FS>` or "
        ":guilabel:`Save`.\n\n.. unknown-box:: An argument\n   :option: 1\n\n   Inside it.\n\n"
        ".. note:: Mind ``the gap``.\n\n.. toctree::\n\n   other-page\n\n.. image:: x.png\n"
        "   :alt: a diagram\n\n.. code-block:: python\n\n   x  =  1\n"
    )
    assert blocks(extracted) == [
        ("heading", "Title"),
        ("paragraph", "Set BATT_CAPACITY and FS_OPTIONS or Save."),
        ("paragraph", "An argument"),
        ("paragraph", "Inside it."),
        ("paragraph", "Mind the gap."),
        ("paragraph", "a diagram"),
        ("code", "x  =  1"),
    ]


def test_rst_tables_lists_and_sections() -> None:
    extracted = from_rst(
        "A\n=\n\nB\n-\n\n+-----+------+\n| AX  | 45   |\n|     | N·m  |\n+-----+------+\n\n"
        "3. three\n4. four\n\n* point\n\n====  ====\n1     2\n====  ====\n"
    )
    assert blocks(extracted) == [
        ("heading", "A"),
        ("heading", "B"),
        ("row", "AX | 45 N·m"),
        ("item", "3. three"),
        ("item", "4. four"),
        ("item", "- point"),
        ("row", "1 | 2"),
    ]
    assert extracted.blocks[2].headings == ("A", "B")


def test_a_broken_rst_table_is_kept_as_its_source() -> None:
    extracted = from_rst("Intro.\n\n+---+---+\n| AX-2041 |\n+---+\n\nEnd.\n")
    assert "AX-2041" in extracted.text
    assert "Intro." in extracted.text
    assert "End." in extracted.text


def test_rst_reads_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret words")
    for directive in ("include", "literalinclude", "csv-table"):
        option = "\n   :file: " if directive == "csv-table" else " "
        source = f"Text.\n\n.. {directive}::{option}{secret}\n\n.. raw:: html\n   :file: {secret}\n"
        assert "the secret words" not in from_rst(source).text


@given(st.text(alphabet="ab`:*_.|=-+ \n<>", max_size=200))
def test_any_rst_is_read_or_refused(source: str) -> None:
    try:
        from_rst(source)
    except NotExtractable as error:
        assert error.stage == "text"


def test_parameter_names_of_the_wiki_survive(shared: Path) -> None:
    text = extract(shared / "archive/ardupilot/copter-failsafe-battery.rst").text
    for name in ("BATT_LOW_VOLT", "BATT_FS_LOW_ACT", "FS_OPTIONS", "BATT_CRT_MAH"):
        assert name in text
    assert "`" not in text


def test_asciidoc_sections_lists_listings_and_tables() -> None:
    extracted = from_asciidoc(
        "= Manual\n:toc:\n// comment\n\n== Use\n\n"
        "Press *Stop* in <<sec,the `E-12` menu>>. +\nWait.\n\n. one\n. two\n* point\n\n"
        "Term A::\n  Its meaning.\n\n----\nx  =  1\n----\n\n"
        '[cols="1,2",options="header"]\n|===\n|Part |Torque\n\n|AX-2041\n|45 N·m\n|===\n\n'
        "image::a.png[The board,90%]\n\nOld style\n---------\ntext\n"
    )
    assert extracted.title == "Manual"
    assert blocks(extracted) == [
        ("heading", "Manual"),
        ("heading", "Use"),
        ("paragraph", "Press Stop in the E-12 menu. Wait."),
        ("item", "1. one"),
        ("item", "2. two"),
        ("item", "- point"),
        ("item", "Term A"),
        ("paragraph", "Its meaning."),
        ("code", "x  =  1"),
        ("row", "Part | Torque"),
        ("row", "AX-2041 | 45 N·m"),
        ("paragraph", "The board"),
        ("heading", "Old style"),
        ("paragraph", "text"),
    ]


@given(st.text(alphabet="=-.*|[]:+/ab\n ", max_size=200))
def test_any_asciidoc_is_read_or_refused(source: str) -> None:
    try:
        from_asciidoc(source)
    except NotExtractable as error:
        assert error.stage == "text"
