"""Cleaning of stored text, and normalisation for matching with the way back."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.text import clean, normalise, normalise_text

CONFUSING = (
    "aeFiKAX-2041/B ñÑéü\u0301\u0303\u0327\u0308\u00ad\u200b\u200e\ufeff\u00a0\u2009\u3000"
    "\u2010\u2011"
    "\u2013\u2212\ufe63\uff0d\ufb01\ufb02\ufb03\u00b5\u03bc\u2126\u03a9\uff21\uff58\u1100\u1161\u11a8"
    "\uac00\u0410\u0928\u093c\u09c7\u09be\u212b\U0001f527\ufe0f"
)
texts = st.text(alphabet=st.one_of(st.sampled_from(CONFUSING), st.characters(codec="utf-8")))
any_texts = st.text(alphabet=st.characters())


def test_clean_keeps_one_kind_of_line_end_and_no_control_characters() -> None:
    assert clean("a\r\nb\rc\nd\te") == "a\nb\nc\nd\te"
    assert clean("AX\x00B\x07\x0c\x1b\x7f") == "AX B    "


def test_clean_removes_the_byte_order_mark_and_replaces_lone_surrogates() -> None:
    assert clean("\ufeffAX-2041") == "AX-2041"
    assert clean("v\udce1lvula") == "v\ufffdlvula"


@given(any_texts)
def test_cleaned_text_can_be_stored_and_is_clean(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\ufeff]", cleaned)
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    "written",
    [
        "\uff21\uff38\uff0d\uff12\uff10\uff14\uff11",
        "AX\u20112041",
        "AX\u22122041",
        "AX\u20132041",
        "AX-20\u00ad41",
        "AX-\u200b2041",
        "\u202eAX-2041\u202c",
        "AX\ufe632041",
    ],
)
def test_a_code_is_the_same_however_its_look_alikes_are_written(written: str) -> None:
    assert normalise_text(written) == "AX-2041"


def test_a_cyrillic_letter_is_not_taken_for_a_latin_one() -> None:
    assert normalise_text("\u0410X-2041") == "\u0410X-2041"


def test_units_ligatures_and_spaces_are_folded_but_case_and_tilde_are_kept() -> None:
    assert normalise_text("\u00b5m \u2126 40\u00a0\u2103") == "\u03bcm \u03a9 40 \u00b0C"
    assert normalise_text("con\ufb01guración del \ufb02ujo") == "configuración del flujo"
    assert normalise_text("AÑO pin\u0303a") == "AÑO piña"


@given(texts)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_text(text)
    assert normalise_text(once) == once
    assert normalise(once).edits is None


@given(texts)
def test_composed_and_decomposed_forms_agree(text: str) -> None:
    forms = {normalise_text(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    assert forms == {normalise_text(text)}


@given(texts)
def test_both_functions_give_the_same_text(text: str) -> None:
    assert normalise(text).text == normalise_text(text)


@given(texts, st.data())
def test_a_span_maps_back_to_what_it_was_made_of(text: str, data: st.DataObject) -> None:
    normalised = normalise(text)
    start = data.draw(st.integers(0, len(normalised.text)))
    end = data.draw(st.integers(start, len(normalised.text)))
    first, last = normalised.original(start, end)
    assert 0 <= first <= last <= len(text)
    assert normalised.text[start:end] in normalise_text(text[first:last])


@given(texts)
def test_spans_of_single_characters_map_back_in_order(text: str) -> None:
    normalised = normalise(text)
    spans = [normalised.original(i, i + 1) for i in range(len(normalised.text))]
    assert spans == sorted(spans)
    assert all(start < end for start, end in spans)


def test_a_removed_mark_is_inside_a_span_but_not_at_its_ends() -> None:
    normalised = normalise("\u200bAX-20\u00ad41\u200b relé")
    assert normalised.text == "AX-2041 relé"
    assert normalised.original(0, 7) == (1, 9)
    assert normalised.original(5, 7) == (7, 9)
    assert normalised.original(8, 12) == (11, 15)


def test_half_a_ligature_maps_to_the_whole_one() -> None:
    normalised = normalise("con\ufb01gura")
    assert normalised.original(3, 4) == normalised.original(4, 5) == (3, 4)


def test_text_that_needs_nothing_is_the_same_object() -> None:
    for text in ("AX-2041/B", "año 2024, presión", "Ελληνικά и русский 中文"):
        normalised = normalise(text)
        assert normalised.text is text
        assert normalised.edits is None
        assert normalised.original(1, 4) == (1, 4)


def test_a_span_outside_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match="not a span"):
        normalise("AX").original(1, 3)


@pytest.mark.slow
def test_every_character_of_unicode_agrees_in_both_functions_behind_a_letter_and_a_mark() -> None:
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code <= 0xDFFF and code > 0x7F:
            text = f"a{chr(code)}\u0301b"
            assert normalise(text).text == normalise_text(text), hex(code)


def test_every_composing_pair_of_unicode_agrees_in_both_functions() -> None:
    for code in range(sys.maxunicode + 1):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            text = "x" + "".join(chr(int(part, 16)) for part in parts) + "y"
            assert normalise(text).text == normalise_text(text), hex(code)
