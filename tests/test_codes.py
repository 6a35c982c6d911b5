"""Codes in a text: which runs are codes, and which spellings of them are one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.codes import MAX_PARTS, MOST_PIECES, code_forms, find_codes, fold_code, part_forms
from corpus.quantities import number_forms, shaped_forms
from corpus.text import normalise_text


def found(text: str) -> list[str]:
    return [code.text for code in find_codes(normalise_text(text))]


def meet(first: str, second: str) -> bool:
    return not set(code_forms(first)).isdisjoint(code_forms(second))


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Relé AX-2041/B, error 0x80070005", ["AX-2041/B", "0x80070005"]),
        ("send G1 X10 F3000, then G29", ["G1", "X10", "F3000", "G29"]),
        ("set BATT_CAPACITY and --dry-run", ["BATT_CAPACITY", "--dry-run"]),
        ("resistor de 10 kΩ a -40 °C", ["10 kΩ", "-40 °C"]),
        ("entre 20-40 °C", ["20-40 °C"]),
        ("perno M8 x 1,25 o M8×1,25", ["M8 x 1,25", "M8×1,25"]),
        ('3/8" pipe, 1/4-20 UNC, G1/2', ['3/8"', "1/4-20 UNC", "G1/2"]),
        ("from 1.234,5 to 1,234.5", ["1.234,5", "1,234.5"]),
        ("v1.2.3 follows 2.4.1.", ["v1.2.3", "2.4.1"]),
        ("edit foo_bar.cfg or resolv.conf", ["foo_bar.cfg", "resolv.conf"]),
        ("under /etc/kubernetes/manifests", ["/etc/kubernetes/manifests"]),
        ("see [stepper_x] and [extruder]", ["[stepper_x]", "[extruder]"]),
        ("Init:CrashLoopBackOff", ["Init:CrashLoopBackOff"]),
        ("relay AX 2041 B here", ["AX 2041 B"]),
    ],
)
def test_a_code_is_recognised_by_its_shape(text: str, codes: list[str]) -> None:
    assert found(text) == codes


@pytest.mark.parametrize(
    "text",
    [
        "a two-column, read-only, well-known page",
        "and/or, e.g. this one. i.e. that",
        "pins 1,2,3 and 4",
        "10 in the box, 2041 of them",
        "error: relay: https://a.b/c",
        "[a link](there)",
        "-v",
    ],
)
def test_ordinary_words_and_lists_are_no_codes(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "spellings",
    [
        ("AX-2041/B", "ax2041b", "AX 2041 B", "AX_2041.B", "AX\u20112041/B"),
        ("10 kΩ", "10kΩ", "10 kohm", "10 kohms", "10,0 kΩ", "10 k\u2126", "10k"),
        ("-40 °C", "-40°C", "\u221240 ℃", "-40 ºC"),
        ('3/8"', "3/8 in", "3/8 inch", "3/8 pulgadas"),
        ("M8x1.25", "M8 x 1.25", "M8×1,25", "m8X1.25", "M8x1.250"),
        ("1.234,5", "1,234.5", "1234.5", "1234,5"),
        ("v1.2.3", "V1.2.3", "1.2.3"),
        ("--dry-run", "dry-run", "DRY_RUN"),
        ("24 V", "24V", "24v", "24 voltios"),
        ("24 VDC", "24V", "24 Vdc"),
        ("10 MHz", "10mhz", "10MHZ"),
        ("0x80070005", "0X80070005"),
        ("1/4-20 UNC", "1/4-20UNC", "1/4-20unc"),
    ],
)
def test_spellings_of_one_code_meet(spellings: tuple[str, ...]) -> None:
    assert [one for one in spellings if not meet(spellings[0], one)] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10 mΩ", "10 MΩ"),
        ("M8x1.25", "M8x12.5"),
        ("1.5 V", "15 V"),
        ("v1.2.3", "v12.3"),
        ("40 °C", "-40 °C"),
        ("G1/2", "G12"),
        ("3/8", "38"),
        ("1.234,5", "1.2345"),
    ],
)
def test_different_values_do_not_meet(one: str, other: str) -> None:
    assert not meet(one, other)


def test_a_number_that_can_be_read_two_ways_has_both_values() -> None:
    assert number_forms("1,234") == number_forms("1.234") == ("1.234", "1234")
    assert number_forms("0,234") == ("0.234",)
    assert number_forms("1.234.567,8") == ("1234567.8",)


def test_parts_of_a_code_are_its_runs_of_pieces() -> None:
    assert part_forms("AX-2041/B") == ("ax2041", "2041b", "ax", "2041", "b")
    assert part_forms("M8x1.25") == ("m8", "1.25")
    assert {"crash", "loop", "back", "off", "crashloop"} <= set(part_forms("CrashLoopBackOff"))
    assert "0xda" in part_forms("high_fuses=0xDA")
    assert part_forms("1.2.3") == ("1.2",)


separators = st.sampled_from(["-", "/", ".", "_", ":", "#", ""])
part_numbers = st.builds(
    lambda letters, first, digits, second, tail: (letters, first, digits, second, tail),
    st.from_regex(r"[A-Z]{2,3}", fullmatch=True),
    separators,
    st.from_regex(r"[1-9][0-9]{2,4}", fullmatch=True),
    separators.filter(bool),
    st.sampled_from(["B", "C", "R"]),
)


@given(part_numbers, separators, separators.filter(bool))
def test_every_spelling_of_a_generated_part_number_folds_to_one_form(
    pieces: tuple[str, str, str, str, str], first: str, second: str
) -> None:
    letters, _, digits, _, tail = pieces
    code = "".join(pieces)
    wanted = f"{letters}{digits}{tail}".lower()
    for spelling in (
        code,
        code.lower(),
        f"{letters}{first}{digits}{second}{tail}",
        f"{letters} {digits} {tail}",
    ):
        assert fold_code(spelling) == wanted
    assert wanted not in part_forms(code)


@given(part_numbers)
def test_a_code_in_a_sentence_is_the_code_alone(pieces: tuple[str, str, str, str, str]) -> None:
    code = "".join(pieces)
    (alone,) = found(code)
    assert alone == code
    assert found(f"replace the valve {code}, then restart") == [code]
    assert found(f"¿dónde está el relé {code}?") == [code]


quantities = st.tuples(
    st.sampled_from(["", "-"]),
    st.decimals(min_value=1, max_value=999, places=2),
    st.sampled_from(["V", "kΩ", "°C", "mA", "MHz", "bar", "mm"]),
)


@given(quantities)
def test_a_quantity_meets_itself_with_and_without_a_space_or_a_decimal_comma(
    quantity: tuple[str, object, str],
) -> None:
    sign, value, unit = quantity
    plain = f"{sign}{value}{unit}"
    assert found(plain) == [plain]
    for other in (f"{sign}{value} {unit}", plain.replace(".", ",")):
        assert found(f"at {other} here") == [other]
        assert fold_code(other) == fold_code(plain)


shapes = st.lists(
    st.sampled_from(
        [
            *("AX", "m8", "x", "×", "1.25", ",", ".", " ", "-", "/", "12", "kΩ", "V", '"', "in"),
            *("v1", "1.2.3", "0x1F", "°C", "rc1", "MHz", "mhz", "UNC", "#", "_", "Ö", "ß", "İ"),
        ]
    ),
    min_size=1,
    max_size=7,
).map("".join)


@given(st.one_of(shapes, st.text(max_size=40)))
def test_folding_is_idempotent(text: str) -> None:
    folded = fold_code(text)
    assert fold_code(folded) == folded
    assert not any(character.isspace() for form in code_forms(text) for character in form)


@given(st.one_of(shapes, st.text(max_size=300)))
def test_codes_are_pieces_of_the_text_in_order_and_do_not_overlap(text: str) -> None:
    text = normalise_text(text)
    codes = list(find_codes(text))
    assert all(text[code.start : code.end] == code.text for code in codes)
    assert all(before.end <= after.start for before, after in pairwise(codes))
    assert all(fold_code(code.text) for code in codes)


@pytest.mark.parametrize(
    "run",
    [
        "-",
        "a-",
        "1,",
        "1.",
        "1x",
        "1 x ",
        "_a",
        "A1",
        "[a",
        "a_",
        "/a",
        "aB",
        "AX 12 ",
        '1/2"',
        "é",
    ],
)
def test_work_grows_no_faster_than_the_text(run: str) -> None:
    """The number of forms is bounded by the number of codes, and that by the text."""
    text = run * 20_000
    codes = list(find_codes(text))
    assert sum(len(code.text) for code in codes) <= len(text)
    most = MAX_PARTS * MOST_PIECES
    assert sum(len(code_forms(code.text)) for code in codes) <= 4 * len(codes)
    assert all(len(part_forms(code.text)) <= most for code in codes)


@given(shapes)
def test_a_form_of_a_shaped_code_is_a_spelling_of_it(text: str) -> None:
    forms = shaped_forms(text)
    assert all(form in code_forms(form) for form in forms)


def test_a_value_in_thousands_keeps_its_decimal_point() -> None:
    assert code_forms("1.25k") == code_forms("1,25K") == ("1.25k",)
    assert not set(code_forms("1.25k")) & set(code_forms("125k"))
