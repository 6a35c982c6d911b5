"""A document as one JSON object: ``text``, with ``title`` and other fields beside it."""

from __future__ import annotations

import json
import re

from corpus.document import Extracted
from corpus.extract import front_matter
from corpus.extract.build import Builder
from corpus.text import clean

MEDIA_TYPE = "application/json"
_BLANK_LINES = re.compile(r"\n\s*\n")
_KNOWN = ("_id", "id", "title", "text")


def read(data: bytes, stem: str) -> Extracted | None:
    """Read an object that has a text, or return None where the bytes are not one.

    Other fields with a plain value are kept as rows after the text, so that they can be found.
    Those called ``author``, ``date`` and ``tags`` are also what the document says of itself.
    """
    try:
        row = json.loads(data)
    except ValueError:
        return None
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        return None
    title = row.get("title")
    named = isinstance(title, str) and title.strip() != ""
    builder = Builder()
    if named:
        builder.heading(str(title), 1)
    for paragraph in _BLANK_LINES.split(clean(row["text"])):
        builder.paragraph(paragraph)
    for name, value in row.items():
        if name not in _KNOWN and isinstance(value, str | int | float):
            builder.row([f"{name}: {value}"])
    front_matter.said(row, builder)
    return builder.finish(str(title) if named else stem, MEDIA_TYPE)
