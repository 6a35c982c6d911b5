"""Numbers, units and sizes: the spellings of one value, and the form under which they meet.

A number may be written as ``1.234,5`` or ``1,234.5``. Where only one reading is possible it is
taken; ``1,234`` may be either, and has both. ``10 kΩ``, ``10kΩ`` and ``10 kohm`` are one quantity,
``M8 x 1.25`` and ``M8×1,25`` one thread. In a unit the prefix m is not M, whatever else is folded.
"""

from __future__ import annotations

import re

MOST_LEVELS = 4
"""So many leading numbers of a version may be asked for without the rest."""

_PREFIXED: dict[str, tuple[str, tuple[str, ...]]] = {
    "ω": ("pnumkMG", ("Ω", "ω", "ohm", "ohms", "ohmio", "ohmios", "Ohm", "Ohms")),
    "v": ("umk", ("V",)),
    "vac": ("k", ("VAC", "Vac", "Vca")),
    "vdc": ("k", ("VDC", "Vdc", "Vcc")),
    "a": ("pnumk", ("A",)),
    "ah": ("m", ("Ah",)),
    "w": ("umkMG", ("W",)),
    "wh": ("kM", ("Wh",)),
    "va": ("kM", ("VA",)),
    "hz": ("kMG", ("Hz",)),
    "pa": ("hkMG", ("Pa",)),
    "bar": ("m", ("bar", "bares")),
    "n": ("mk", ("N",)),
    "nm": ("mk", ("Nm", "N·m", "N.m", "N⋅m")),
    "m": ("numck", ("m",)),
    "g": ("umk", ("g",)),
    "s": ("num", ("s",)),
    "l": ("m", ("l", "L")),
    "bit": ("kMG", ("bit", "bits")),
    "byte": ("kMGT", ("B",)),
    "db": ("", ("dB", "dBm")),
}
_PREFIXED_ONLY: dict[str, tuple[str, tuple[str, ...]]] = {
    "f": ("pnum", ("F",)),
    "h": ("num", ("H",)),
}
_WHOLE: dict[str, tuple[str, ...]] = {
    "v": ("volt", "volts", "voltio", "voltios"),
    "a": ("amp", "amps", "amperio", "amperios"),
    "w": ("watt", "watts", "vatio", "vatios"),
    "°c": ("°C", "° C", "ºC", "º C", "°c"),
    "°f": ("°F", "° F", "ºF", "º F", "°f"),
    "°": ("°", "º"),
    "%": ("%",),
    "psi": ("psi",),
    "rpm": ("rpm", "r/min"),
    "mil": ("mil", "mils"),
    "ft": ("ft",),
    "in": ('"', "″", "inch", "inches", "pulgada", "pulgadas"),
    "lb": ("lb", "lbs"),
    "min": ("min",),
    "awg": ("AWG",),
}
_ONLY_JOINED = {"in": "in"}
"""Spellings that are words of their own when they stand apart: "10 in the box"."""


def _units() -> dict[str, str]:
    """Each spelling of a unit with its form; a form is a spelling of itself."""
    units: dict[str, str] = {}
    for bare, table in ((True, _PREFIXED), (False, _PREFIXED_ONLY)):
        for form, (prefixes, spellings) in table.items():
            for spelling in (*spellings, form):
                if bare:
                    units.setdefault(spelling, form)
                for prefix in prefixes:
                    units.setdefault(prefix + spelling, prefix + form)
                    if prefix == "u":
                        units.setdefault("μ" + spelling, prefix + form)
    for form, spellings in _WHOLE.items():
        units |= dict.fromkeys((*spellings, form), form)
    return units


_UNITS = _units() | _ONLY_JOINED
# Typed without care for case, 10 mhz and 10 MHZ are megahertz: nobody writes of millihertz so.
_CARELESS: dict[str, str] = {}
for _spelling, _form in sorted(_UNITS.items(), key=lambda entry: (entry[1][0] != "M", entry)):
    if len(_spelling) > 1:
        _CARELESS.setdefault(_spelling.lower(), _form)
        _CARELESS.setdefault(_spelling.upper(), _form)
_JOINED_UNITS = {**_CARELESS, "v": "v", "w": "w", "a": "a", **_UNITS}
_APART_UNITS = {
    spelling: form
    for spelling, form in _JOINED_UNITS.items()
    if spelling.lower() not in ("in", "as", "ma", "va", "mg", "ml", "db", "ns", "pa")
    or spelling in ("mA", "VA", "mg", "ml", "mL", "dB", "ns", "Pa")
    if spelling not in ("v", "w", "a", "n", "B", "byte", "BYTE")
}


def _either(spellings: dict[str, str]) -> str:
    return "|".join(map(re.escape, sorted(spellings, key=lambda text: (-len(text), text))))


_END = r"(?![^\W]|[-/._:#+=,][^\W_])"
_START = r"(?<![\w.,/])"
_NUMBER = r"\d++(?:[.,]\d++)*+"
_INCH = r'(?:"|″|\'\'|in(?:ch(?:es)?)?|pulg(?:adas?)?)'

SIZE = (
    rf"{_START}(?!0[xX])[A-Z]?\d++(?:[.,]\d++)?+(?:(?: ?[x×] ?|X)\d++(?:[.,]\d++)?+){{1,3}}+{_END}"
)
FRACTION = rf"{_START}(?:\d++[ -])?+\d++/\d++ ?{_INCH}{_END}"
THREAD = (
    rf"(?<![\w.,/])(?:(?:\d++/\d++|#\d++|\d++)-\d++ ?UN(?:C|F|EF|S)"
    rf"|\d++/\d++[\"″]? ?(?:NPTF?|BSP[TP]?)|[GR][cp]?\d++/\d++){_END}"
)
QUANTITY = (
    rf"{_START}[-+]?+(?:\d++(?:[.,]\d++)?+(?:-|\.\.))?{_NUMBER}"
    rf"(?:-?(?:{_either(_JOINED_UNITS)})| (?:{_either(_APART_UNITS)})){_END}"
)
DECIMAL = rf"{_START}\d++(?:[.,]\d++)++{_END}"
# Most places of a text are none of these, and one look ahead says so.
SHAPED = rf"(?=[-+#]?[A-Z]?[cp]?\d)(?:{SIZE}|{THREAD}|{FRACTION}|{QUANTITY}|{DECIMAL})"

_DIGIT = re.compile(r"\d")
_SIZE = re.compile(
    r"([A-Za-z]?)(\d+(?:[.,]\d+)?)((?:(?: ?[x×] ?|X)\d+(?:[.,]\d+)?){1,3})", re.ASCII
)
_FRACTION = re.compile(rf"(?:(\d+)[ -])?(\d+/\d+)( ?{_INCH})?", re.ASCII)
_THREAD = re.compile(
    r"((?:\d+/\d+|#\d+|\d+)-\d+) ?(un(?:c|f|ef|s))"
    r"|(\d+/\d+)[\"″]? ?(nptf?|bsp[tp]?)|([gr][cp]?)(\d+/\d+)",
    re.IGNORECASE | re.ASCII,
)
_QUANTITY = re.compile(
    rf"([-+]?)(?:(\d+(?:[.,]\d+)?)(?:-|\.\.))?({_NUMBER})[ -]?({_either(_JOINED_UNITS)})",
    re.ASCII,
)
# A resistor is sold as 1.25k; with its separator folded away it would be one of 125k.
_THOUSANDS = re.compile(rf"({_NUMBER})[kK]", re.ASCII)
_VERSION = re.compile(
    r"[vV]?\.?(\d+(?:\.\d+)+)(?:[-+.]?((?:rc|alpha|beta|dev|post)\.?\d*))?",
    re.IGNORECASE | re.ASCII,
)


def number_forms(text: str) -> tuple[str, ...]:
    """The values that digits with points and commas may stand for; none for a mere list.

    >>> number_forms("1.234,5"), number_forms("1,234.5"), number_forms("1,234")
    (('1234.5',), ('1234.5',), ('1.234', '1234'))
    """
    groups = re.split("[.,]", text)
    marks = re.sub(r"\d", "", text)
    if not marks:
        return (text,)
    if len(groups[0]) > 1 and groups[0].startswith("0"):
        return ()
    if len(marks) == 1:
        decimal = ".".join(groups)
        return (decimal, "".join(groups)) if _grouped(groups) else (decimal,)
    if len(set(marks)) == 1:
        whole = ("".join(groups),) if _grouped(groups) else ()
        return ((text, *whole)) if marks[0] == "." else whole
    if marks[-1] not in marks[:-1] and _grouped(groups[:-1]):
        return ("".join(groups[:-1]) + "." + groups[-1],)
    return ()


def _grouped(groups: list[str]) -> bool:
    """Whether digits stand in groups of three as those of one large number do."""
    first = groups[0]
    return 1 <= len(first) <= 3 and first[0] != "0" and all(len(group) == 3 for group in groups[1:])


def shaped_forms(text: str) -> tuple[str, ...]:
    """The forms of a number, quantity, size, thread or version, the likeliest first; or none.

    >>> shaped_forms("M8 x 1,25"), shaped_forms("10 kohm"), shaped_forms('3/8"')
    (('m8x1.25',), ('10kω', '10k'), ('3/8in',))
    """
    if _DIGIT.search(text) is None:
        return ()
    if match := _SIZE.fullmatch(text):
        letter, first, rest = match.groups()
        if first != "0" or letter:
            numbers = [first, *re.findall(r"\d+(?:[.,]\d+)?", rest)]
            return (letter.lower() + "x".join(_trimmed(n.replace(",", ".")) for n in numbers),)
    if match := _THREAD.fullmatch(text):
        return ("".join(part for part in match.groups() if part).lower(),)
    if match := _FRACTION.fullmatch(text):
        whole, fraction, inch = match.groups()
        if inch or not whole:
            return (f"{whole}-{fraction}in" if whole else fraction + ("in" if inch else ""),)
    if match := _QUANTITY.fullmatch(text):
        return _quantity_forms(*match.groups())
    if match := _THOUSANDS.fullmatch(text):
        return tuple(f"{_trimmed(value)}k" for value in number_forms(match[1]))
    if re.fullmatch(_NUMBER, text, re.ASCII):
        return number_forms(text)
    if match := _VERSION.fullmatch(text):
        return (match[1] + (match[2] or "").lower().replace(".", ""),)
    return ()


def _quantity_forms(sign: str, least: str | None, number: str, spelled: str) -> tuple[str, ...]:
    unit = _JOINED_UNITS[spelled]
    before = "-" if sign == "-" else ""
    if least:
        before += f"{_trimmed(least.replace(',', '.'))}-"
    values = [before + _trimmed(value) for value in number_forms(number)]
    forms = [value + unit for value in values]
    if unit in ("kω", "vac", "vdc"):
        # A resistor is sold as 10k, and 24 VDC is 24 V.
        forms += [value + unit[0] for value in values]
    return tuple(forms)


def shaped_parts(text: str) -> tuple[str, ...]:
    """What of a shaped code may be asked for on its own; call only where it has forms.

    >>> shaped_parts("M8x1.25"), shaped_parts("20-40 °C"), shaped_parts("2.4.1")
    (('m8', '1.25'), ('20°c', '40°c'), ('2.4',))
    """
    form = shaped_forms(text)[0]
    if _SIZE.fullmatch(text):
        return tuple(dict.fromkeys(form.split("x")))
    if match := _QUANTITY.fullmatch(text):
        sign, least, number, spelled = match.groups()
        if least:
            return (
                *_quantity_forms(sign, None, least, spelled),
                *_quantity_forms("", None, number, spelled),
            )
        return number_forms(number) if re.search("[.,]", number) else ()
    if form.endswith("in"):
        return (form[:-2],)
    if re.fullmatch(r"\d+(\.\d+){2,}\w*", form):
        numbers = re.findall(r"\d+", form.rstrip("abcdefghijklmnopqrstuvwxyz"))
        return tuple(
            ".".join(numbers[:size]) for size in range(min(len(numbers) - 1, MOST_LEVELS), 1, -1)
        )
    return ()


def _trimmed(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number and number.count(".") == 1 else number
