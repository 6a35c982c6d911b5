"""Numbers of a spreadsheet as their cells show them, from the codes that cells are formatted by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from functools import lru_cache

from corpus.extract.date_format import render_date

_BUILT_IN: dict[int, str] = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    # How 14 and 22 look depends on the reader's country: the one order all can read is taken.
    14: "yyyy-mm-dd",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm",
    37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    **dict.fromkeys((5, 6, 41, 42), "#,##0"),
    **dict.fromkeys((7, 8, 43, 44), "#,##0.00"),
    **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"),
    **dict.fromkeys(range(32, 36), "h:mm:ss"),
}
_LONGEST_CODE = 255
_LARGEST = Decimal(10) ** 40
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<half>AM/PM|A/P)|(?P<power>E[+-])"
    r"|(?P<date>y+|m+|d+|h+|s+)|(?P<other>.)",
    re.I | re.S,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)$")
_ELAPSED = re.compile(r"h+$|m+$|s+$", re.I)
_TESTS = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "=": lambda a, b: a == b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "<>": lambda a, b: a != b,
}


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a format code: its tokens as (kind, text), and when it applies."""

    tokens: tuple[tuple[str, str], ...]
    condition: tuple[str, Decimal] | None
    is_date: bool
    is_general: bool


def format_code(number: int, own: dict[int, str]) -> str:
    """Return the code of format ``number``: the workbook's own, a built-in one, or General."""
    return own.get(number) or _BUILT_IN.get(number, "General")


def shown(raw: str, code: str, *, from_1904: bool = False) -> str:
    """Return the number written as ``raw`` the way format ``code`` shows it.

    Month and weekday names, the decimal point and the thousands comma are the English ones, because
    a file does not say in which country it is opened. What is no number, and what a code cannot
    show (a negative date), comes back as General.

    >>> shown("742", "00000"), shown("0.125", "0.0%"), shown("45351", "dd/mm/yyyy")
    ('00742', '12.5%', '29/02/2024')
    """
    try:
        value = Decimal(raw.strip())
    except InvalidOperation:
        return raw
    if not value.is_finite() or abs(value) >= _LARGEST:
        return raw.strip()
    # Files hold the nearest binary fraction in up to 17 digits; 15 of them mean something.
    exact = value if value == value.to_integral_value() else Decimal(f"{float(value):.15g}")
    if code == "General" or len(code) > _LONGEST_CODE:
        return _general(exact)
    chosen, magnitude, sign = _choose(_sections(code), exact)
    if chosen is None or (chosen.is_general and len(chosen.tokens) <= 1):
        return sign + _general(magnitude)
    if chosen.is_date:
        return render_date(float(exact), chosen.tokens, from_1904) or _general(exact)
    return sign + _render(magnitude, chosen.tokens)


def _general(value: Decimal) -> str:
    if value == 0:
        return "0"
    if value == value.to_integral_value() and abs(value) < Decimal(10) ** 20:
        return str(int(value))
    if Decimal("1e-9") <= abs(value) < Decimal(10) ** 20:
        return f"{value:f}".rstrip("0").rstrip(".")
    mantissa, _, power = f"{value:.14E}".partition("E")
    return f"{mantissa.rstrip('0').rstrip('.')}E{int(power):+03d}"


def _choose(sections: tuple[Section, ...], value: Decimal) -> tuple[Section | None, Decimal, str]:
    """Return the section for a value, the value to show in it, and the sign before it."""
    numeric = sections[:3]
    sign = "-" if value < 0 else ""
    if any(section.condition for section in numeric):
        for index, section in enumerate(numeric):
            test = section.condition
            if test is None or _TESTS[test[0]](value, test[1]):
                return section, abs(value), sign if index == 0 or test is None else ""
        return None, abs(value), sign
    if value < 0 and len(numeric) > 1:
        return numeric[1], -value, ""
    if value == 0 and len(numeric) > 2:
        return numeric[2], value, ""
    return numeric[0], abs(value), sign


@lru_cache(maxsize=512)
def _sections(code: str) -> tuple[Section, ...]:
    sections = []
    tokens: list[tuple[str, str]] = []
    condition: tuple[str, Decimal] | None = None
    for match in [*_TOKEN.finditer(code), None]:
        if match is None or match["other"] == ";":
            kinds = {kind for kind, _ in tokens}
            sections.append(
                Section(
                    tuple(tokens),
                    condition,
                    bool(kinds & {"date", "elapsed"}),
                    "general" in kinds or not code,
                )
            )
            tokens, condition = [], None
            continue
        kind = match.lastgroup or "other"
        text = match[kind]
        if kind == "bracket":
            if found := _CONDITION.match(text):
                condition = found[1], Decimal(found[2])
            elif _ELAPSED.match(text):
                tokens.append(("elapsed", text.lower()))
            elif text.startswith("$"):
                tokens.append(("literal", text[1:].partition("-")[0]))
        elif kind in ("quoted", "escaped"):
            tokens.append(("literal", text))
        elif kind == "space":
            tokens.append(("literal", " "))
        elif kind == "date":
            tokens.append(("date", text.lower()))
        elif kind in ("half", "power", "general"):
            tokens.append((kind, text))
        elif kind == "other":
            tokens.append((_role(text), text))
    return tuple(sections)


def _role(character: str) -> str:
    if character in "0#?":
        return "digit"
    return {".": "point", ",": "comma", "%": "percent", "/": "slash", "@": "text"}.get(
        character, "literal"
    )


def _render(value: Decimal, tokens: tuple[tuple[str, str], ...]) -> str:
    """Show a value that is not negative by the tokens of a number section."""
    kinds = [kind for kind, _ in tokens]
    if "digit" not in kinds:
        whole = _general(value)
        return "".join(whole if kind in ("general", "text") else text for kind, text in tokens)
    if "slash" in kinds and "point" not in kinds:
        return _render_fraction(value, tokens)
    digits = [index for index, kind in enumerate(kinds) if kind == "digit"]
    point = kinds.index("point") if "point" in kinds else len(tokens)
    power = kinds.index("power") if "power" in kinds else len(tokens)
    places = [index for index in digits if index < min(point, power)]
    decimals = [index for index in digits if point < index < power]
    last = max(places + decimals, default=-1)
    scaling = sum(kind == "comma" for kind in kinds[last + 1 :]) if last >= 0 else 0
    grouped = any(kinds[i] == "comma" for i in range(places[0], places[-1])) if places else False
    with localcontext() as context:
        context.prec = 400
        value = value * Decimal(100) ** kinds.count("percent") / Decimal(1000) ** scaling
        exponent = 0
        if power < len(tokens) and value:
            exponent = value.adjusted() - max(0, len(places) - 1)
            if len(places) > 1:
                exponent = value.adjusted() // len(places) * len(places)
            value = value.scaleb(-exponent)
        step = Decimal(1).scaleb(-len(decimals))
        rounded = value.quantize(step, ROUND_HALF_UP)
        if power < len(tokens) and rounded.adjusted() >= max(1, len(places)):
            exponent += max(1, len(places))
            rounded = value.scaleb(-max(1, len(places))).quantize(step, ROUND_HALF_UP)
    whole, _, fraction = f"{rounded:f}".partition(".")
    zeros = sum(tokens[index][1] == "0" for index in places)
    whole = whole.lstrip("0").rjust(zeros, "0")
    kept = len(fraction.rstrip("0"))
    filled = dict(_spread(whole, places, grouped))
    out = []
    for index, (kind, text) in enumerate(tokens):
        if kind == "digit" and index in filled:
            out.append(filled[index])
        elif kind == "digit" and index in decimals:
            at = decimals.index(index)
            out.append(fraction[at] if at < kept or text == "0" else "")
        elif kind == "digit":
            out.append(str(abs(exponent)).rjust(len(digits) - digits.index(index), "0"))
            break
        elif kind == "point":
            out.append("" if places else whole)
            out.append(".")
        elif kind == "power":
            out.append("E" + ("-" if exponent < 0 else "+" if "+" in text else ""))
        elif kind == "percent" or kind == "literal":
            out.append(text)
    return "".join(out).strip()


def _spread(whole: str, places: list[int], grouped: bool) -> list[tuple[int, str]]:
    """Share out the digits before the point among their places, surplus at the first."""
    if not places:
        return []
    count = len(whole)
    written = [
        digit + ("," if grouped and (count - at) % 3 == 1 and count - at > 1 else "")
        for at, digit in enumerate(whole)
    ]
    surplus = max(0, count - len(places))
    shares = ["".join(written[: surplus + 1]), *written[surplus + 1 :]] if written else []
    return list(zip(places, [""] * (len(places) - len(shares)) + shares, strict=True))


def _render_fraction(value: Decimal, tokens: tuple[tuple[str, str], ...]) -> str:
    """Show a value as a whole number and a fraction, as ``# ?/?`` and ``# ??/16`` do."""
    code = "".join(text for _, text in tokens)
    before, _, after = code.partition("/")
    fixed = re.match(r"\s*(\d*[1-9]\d*)", after)
    mixed = len(re.findall(r"[0#?]+", before)) > 1
    whole = int(value) if mixed else 0
    rest = Fraction(value) - whole
    if fixed:
        below = int(fixed[1])
        above = int(rest * below + Fraction(1, 2))
    else:
        limit = 10 ** min(4, max(1, len(re.findall(r"[0#?]", after)))) - 1
        nearest = rest.limit_denominator(limit)
        above, below = nearest.numerator, nearest.denominator
    if mixed and above == below:
        whole, above = whole + 1, 0
    if above == 0:
        return str(whole)
    return f"{whole} {above}/{below}" if whole else f"{above}/{below}"
