"""Dates and times of a spreadsheet, which are numbers of days, as their cells show them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# 31 December 9999, and how much later the other epoch begins.
_LAST_DAY = 2_958_465
_BETWEEN_EPOCHS = 1_462
_SECONDS = 86_400

Token = tuple[str, str]


def render_date(serial: float, tokens: Sequence[Token], from_1904: bool) -> str:
    """Return a serial day number by the tokens of a date section, or "" where it is no date.

    Tokens are (kind, text) with kinds ``date`` (y, m, d, h, s in lower case), ``elapsed``,
    ``half`` (AM/PM) and literals; digits behind a point are fractions of a second.
    """
    if not 0 <= serial < _LAST_DAY - (_BETWEEN_EPOCHS if from_1904 else 0):
        return ""
    decimals = _decimals(tokens)
    scale = 10**decimals
    ticks = round(serial * _SECONDS * scale)
    seconds, fraction = divmod(ticks, scale)
    moment = _epoch(serial, from_1904) + timedelta(seconds=seconds)
    twelve = any(kind == "half" for kind, _ in tokens)
    out = []
    for index, (kind, text) in enumerate(tokens):
        if kind == "elapsed":
            total = seconds // {"h": 3600, "m": 60, "s": 1}[text[0]]
            out.append(str(total).rjust(len(text), "0"))
        elif kind == "half":
            both = text.split("/")
            out.append(both[moment.hour >= 12])
        elif kind == "date" and text[0] == "m" and _is_minute(tokens, index):
            out.append(str(moment.minute).rjust(min(2, len(text)), "0"))
        elif kind == "date":
            out.append(_part(moment, text, twelve))
        elif kind == "point" and _kind(tokens, index + 1) == "digit":
            out.append("." + str(fraction).rjust(decimals, "0"))
        elif kind != "digit":
            out.append(text)
    return "".join(out).strip()


def _epoch(serial: float, from_1904: bool) -> datetime:
    if from_1904:
        return datetime(1904, 1, 1)
    # Day 60 is the 29 February 1900 that never was; days before it are counted from one later.
    return datetime(1899, 12, 31) if serial < 60 else datetime(1899, 12, 30)


def _decimals(tokens: Sequence[Token]) -> int:
    for index, (kind, _) in enumerate(tokens):
        if kind == "point":
            count = 0
            while _kind(tokens, index + 1 + count) == "digit":
                count += 1
            return min(count, 3)
    return 0


def _kind(tokens: Sequence[Token], index: int) -> str:
    return tokens[index][0] if index < len(tokens) else ""


def _is_minute(tokens: Sequence[Token], index: int) -> bool:
    """Say whether an ``m`` means minutes: it follows hours or precedes seconds."""
    if len(tokens[index][1]) > 2:
        return False
    clock = ("date", "elapsed")
    before = next((t for k, t in reversed(tokens[:index]) if k in clock), "")
    after = next((t for k, t in tokens[index + 1 :] if k in clock), "")
    return before.startswith("h") or after.startswith("s")


def _part(moment: datetime, text: str, twelve: bool) -> str:
    letter, length = text[0], len(text)
    if letter == "y":
        return f"{moment.year:04d}" if length > 2 else f"{moment.year % 100:02d}"
    if letter == "m" and length > 2:
        name = _MONTHS[moment.month - 1]
        return name[:1] if length == 5 else name[:3] if length == 3 else name
    if letter == "d" and length > 2:
        name = _DAYS[moment.weekday()]
        return name[:3] if length == 3 else name
    hour = (moment.hour % 12 or 12) if twelve else moment.hour
    number = {"m": moment.month, "d": moment.day, "h": hour, "s": moment.second}[letter]
    return str(number).rjust(length, "0")
