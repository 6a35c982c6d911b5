"""The fields a query may be narrowed by, and what a value of each of them means."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from datetime import date

FIELDS: dict[str, str] = {
    "title": "title",
    "título": "title",
    "titulo": "title",
    "code": "code",
    "código": "code",
    "codigo": "code",
    "path": "path",
    "ruta": "path",
    "type": "type",
    "tipo": "type",
    "lang": "lang",
    "idioma": "lang",
    "tag": "tag",
    "etiqueta": "tag",
    "after": "after",
    "desde": "after",
    "before": "before",
    "hasta": "before",
}
"""Each field as it may be typed, in lower case, with its name."""

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
MEDIA_TYPES: dict[str, tuple[str, ...]] = {
    "pdf": ("application/pdf",),
    "html": ("text/html", "application/xhtml+xml"),
    "markdown": ("text/markdown",),
    "md": ("text/markdown",),
    "rst": ("text/x-rst",),
    "asciidoc": ("text/asciidoc",),
    "adoc": ("text/asciidoc",),
    "text": ("text/plain",),
    "txt": ("text/plain",),
    "csv": ("text/csv",),
    "tsv": ("text/tab-separated-values",),
    "json": ("application/json",),
    "rtf": ("application/rtf",),
    "epub": ("application/epub+zip",),
    "mail": ("message/rfc822",),
    "eml": ("message/rfc822",),
    "docx": (_OFFICE + "wordprocessingml.document",),
    "xlsx": (_OFFICE + "spreadsheetml.sheet",),
    "pptx": (_OFFICE + "presentationml.presentation",),
    "odt": (_OPEN + "text",),
    "ods": (_OPEN + "spreadsheet",),
    "odp": (_OPEN + "presentation",),
}
KINDS: dict[str, str] = {
    media_type: kind for kind, types in reversed(MEDIA_TYPES.items()) for media_type in types
}
"""The short name of each media type that has one, the first where it has several."""

LANGUAGES = ("de", "en", "es", "fr", "it", "pt")

_MEDIA_TYPE = re.compile(r"(?:application|audio|image|message|text|video)/[a-z0-9.+-]+")
_DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)

EXPECTED: dict[str, str] = {
    "type": f"a kind of file: {', '.join(MEDIA_TYPES)}, or a media type",
    "lang": f"a language: {', '.join(LANGUAGES)}",
    "after": "a day, month or year such as 2024-03-31, 2024-03 or 2024",
    "before": "a day, month or year such as 2024-03-31, 2024-03 or 2024",
}
"""What the fields whose values are not free text understand."""


def meaning(field: str, value: str) -> tuple[str, ...]:
    """What a value stands for, none where it means nothing.

    A kind of file is its media types; ``after`` begins with the first day of what is named and
    ``before`` ends with the last, both inclusive, as YYYY-MM-DD.

    >>> meaning("before", "2024-02"), meaning("lang", "xx"), meaning("type", "md")
    (('2024-02-29',), (), ('text/markdown',))
    """
    value = value.strip()
    if field == "type":
        known = MEDIA_TYPES.get(value.lower(), ())
        return known or ((value.lower(),) if _MEDIA_TYPE.fullmatch(value.lower()) else ())
    if field == "lang":
        return (value.lower(),) if value.lower() in LANGUAGES else ()
    if field in ("after", "before"):
        return _day(value, last=field == "before")
    return (value,) if value else ()


def media_types(kinds: Iterable[str]) -> tuple[str, ...]:
    """The media types that kinds of files stand for, each once and in order.

    :raises ValueError: one of them is no kind of file and no media type

    >>> media_types(["md", "markdown", "text/html"])
    ('text/markdown', 'text/html')
    """
    found: list[str] = []
    for kind in kinds:
        known = meaning("type", kind)
        if not known:
            raise ValueError(f"a type is {EXPECTED['type']}, not {kind!r}")
        found += known
    return tuple(dict.fromkeys(found))


def _day(value: str, *, last: bool) -> tuple[str, ...]:
    match = _DAY.fullmatch(value)
    if match is None:
        return ()
    year, month, day = (int(part) if part else None for part in match.groups())
    try:
        named = date(year or 0, month or (12 if last else 1), day or 1)
        if last and day is None:
            named = named.replace(day=calendar.monthrange(named.year, named.month)[1])
    except ValueError:
        return ()
    return (named.isoformat(),)
