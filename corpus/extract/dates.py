"""Dates as files write them: ISO 8601 with the offset that stands there, or just the day.

Nothing is moved to another zone: a date without an offset stays without one, and the day is the
calendar day as written. What names no whole day (a year, a month, words) is no date.
"""

from __future__ import annotations

import re
from datetime import date
from email.utils import parsedate_tz

_ISO = re.compile(
    r"([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})"
    r"(?:(?:[T ]|, ?)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]{1,9})?)?"
    r" ?(Z|UTC|GMT|[+-][0-9]{2}:?(?:[0-9]{2})?)?)?",
    re.I,
)
_PDF = re.compile(
    r"(?:D:)?([0-9]{4})([0-9]{2})([0-9]{2})"
    r"(?:([0-9]{2})([0-9]{2})([0-9]{2})?(Z|[+-][0-9]{2}'?(?:[0-9]{2})?'?)?(?:00'?00'?)?)?"
)
_DAY_FIRST = re.compile(r"([0-9]{1,2})\.? (?:de |of )?([^\W\d]{3,10})\.?,? (?:de |del )?([0-9]{4})")
_MONTH_FIRST = re.compile(r"([^\W\d]{3,10})\.? ([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})")
_OFFSET = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})?")
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january ene enero",
            "feb february febrero",
            "mar march marzo",
            "apr april abr abril",
            "may mayo",
            "jun june junio",
            "jul july julio",
            "aug august ago agosto",
            "sep sept september septiembre setiembre",
            "oct october octubre",
            "nov november noviembre",
            "dec december dic diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
_LONGEST = 80
_WIDEST_OFFSET_MINUTES = 15 * 60


def iso_date(text: str) -> str:
    """Return a date as ISO 8601, a day or a time with its own offset; "" for what is no date.

    Read are ISO 8601, the dates of PDF and of mail, and days written out in English or Spanish.
    Figures such as 03/04/2024 are no date: they are read differently in different countries.

    >>> iso_date("D:20240229233000-05'00'")
    '2024-02-29T23:30:00-05:00'
    >>> iso_date("29 de febrero de 2024"), iso_date("2024"), iso_date("2023-02-29")
    ('2024-02-29', '', '')
    """
    text = " ".join(text.split())
    if not text or len(text) > _LONGEST:
        return ""
    if found := _ISO.fullmatch(text) or _PDF.fullmatch(text):
        year, month, day, hour, minute, second, offset = found.groups()
        return _written(year, month, day, (hour, minute, second or "0"), offset or "")
    for pattern, order in ((_DAY_FIRST, (3, 2, 1)), (_MONTH_FIRST, (3, 1, 2))):
        if (found := pattern.fullmatch(text)) and _MONTHS.get(found[order[1]].lower()):
            number = _MONTHS[found[order[1]].lower()]
            return _written(found[order[0]], str(number), found[order[2]])
    return _mail_date(text)


def _mail_date(text: str) -> str:
    """Read a date of mail, such as ``Thu, 29 Feb 2024 23:30:00 -0500``."""
    # The library guesses at all sorts of words; the dates meant here have a clock time.
    if not re.search(r"[0-9]:[0-9]{2}", text):
        return ""
    try:
        parts = parsedate_tz(text)
    except (ValueError, IndexError, OverflowError):
        return ""
    if parts is None or parts[0] < 1000:
        return ""
    year, month, day, hour, minute, second, *_, seconds = parts
    offset = ""
    if seconds is not None:
        minutes = abs(seconds) // 60
        offset = f"{'-' if seconds < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    return _written(str(year), str(month), str(day), (str(hour), str(minute), str(second)), offset)


def _written(
    year: str,
    month: str,
    day: str,
    time: tuple[str | None, str | None, str] = (None, None, "0"),
    offset: str = "",
) -> str:
    try:
        written = date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
    hour, minute, second = time
    if hour is None or minute is None:
        return written
    clock = (int(hour), int(minute), int(second))
    zone = _zone(offset)
    if clock > (23, 59, 60) or clock[1] > 59 or clock[2] > 60 or zone is None:
        # The day stands even where its time makes no sense.
        return written
    return f"{written}T{clock[0]:02d}:{clock[1]:02d}:{min(clock[2], 59):02d}{zone}"


def _zone(offset: str) -> str | None:
    """Return an offset as ISO 8601 writes it, or None for one that no place on earth has."""
    if not offset:
        return ""
    if offset.upper() in ("Z", "UTC", "GMT"):
        return "Z"
    found = _OFFSET.fullmatch(offset.replace("'", ""))
    if found is None:
        return None
    hours, minutes = int(found[2]), int(found[3] or "0")
    if minutes > 59 or hours * 60 + minutes > _WIDEST_OFFSET_MINUTES:
        return None
    return f"{found[1]}{hours:02d}:{minutes:02d}"
