"""HTML: what is hidden from its reader, and which encoding is believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.extract import html


def words(markup: str | bytes) -> str:
    data = markup.encode() if isinstance(markup, str) else markup
    return html.read(data, "stem").text


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>no</p>",
        '<div style="color: red; DISPLAY : none">no</div>',
        '<div style="display:none!important"><p>no</div>',
        '<span style="visibility:hidden">no</span>',
        '<i class="material-icons" aria-hidden="true">no</i>',
    ],
)
def test_hidden_text_is_left_out(hidden: str) -> None:
    assert words(f"<p>seen</p>{hidden}") == "seen"
    assert words(f"<table><tr><td>seen</td><td>{hidden}</td></tr></table>") == "seen"


@pytest.mark.parametrize(
    "shown",
    [
        '<p style="--was-display:none">yes</p>',
        '<p style="display:nonesuch">yes</p>',
        '<p style="visibility:visible">yes</p>',
        '<span aria-hidden="false">yes</span>',
        '<main aria-hidden="true"><p>yes</main>',
    ],
)
def test_text_that_only_looks_hidden_is_read(shown: str) -> None:
    assert words(shown) == "yes"


@pytest.mark.parametrize(
    "declared",
    ["iso-8859-1", "windows-1252", "gb2312", "utf-16", "idna", "punycode", "undefined", "nonsense"],
)
def test_a_wrong_charset_does_not_win_over_valid_utf8(declared: str) -> None:
    assert words(f'<meta charset="{declared}"><p>presión 45 N·m — año') == "presión 45 N·m — año"
    assert words(f'<meta charset="{declared}"><p>plain') == "plain"


@pytest.mark.parametrize("encoding", ["cp1252", "gb18030", "shift_jis", "iso2022_jp", "koi8-r"])
def test_a_right_charset_is_believed(encoding: str) -> None:
    text = {"cp1252": "presión", "koi8-r": "насос"}.get(encoding, "日本")
    page = f'<meta charset="{encoding}"><p>{text}'.encode(encoding)
    assert html.read(page, "stem").text == text


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=12), st.binary(max_size=40))
def test_any_charset_and_bytes_are_text(name: str, data: bytes) -> None:
    assert words(b'<meta charset="' + name.encode() + b'"><p>x ' + data)
