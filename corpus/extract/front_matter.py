"""The YAML block above a Markdown page: its title, and the fields that readers are shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import yaml

from corpus.extract.build import Builder, flow, tags_in

_BLOCK = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
# Everything else (authors, weights, layouts, menus) steers the site and is not shown to readers.
_SENTENCES = ("brief", "description", "summary", "abstract")
_LABELLED = ("codes", "requires", "since", "parameters", "notes", "example", "examples")
_MARKS_ONLY = ("true", "false", "null", "")


def split(text: str) -> tuple[dict[str, object], str]:
    """Part a page into the fields of its front matter and its body.

    Every value is text, a list or a mapping: nothing is turned into a number or a date. A block
    that is not valid YAML, or not a mapping, is taken for part of the body.
    """
    found = _BLOCK.match(text)
    if found is None:
        return {}, text
    try:
        events = yaml.parse(found[1], Loader=yaml.BaseLoader)
        # Aliases can be nested until a few lines stand for gigabytes; no page needs them.
        if any(isinstance(event, yaml.AliasEvent) for event in events):
            return {}, text
        fields = yaml.BaseLoader(found[1]).get_single_data()
    except (yaml.YAMLError, RecursionError):
        return {}, text
    if not isinstance(fields, dict):
        return {}, text
    return {str(key): value for key, value in fields.items()}, text[found.end() :]


def title(fields: Mapping[str, object]) -> str:
    """Return the title that the front matter gives, or an empty string."""
    value = fields.get("title")
    return flow(value) if isinstance(value, str) else ""


def said(fields: Mapping[str, object], builder: Builder) -> None:
    """Note the author, the date and the tags that a record of fields gives."""
    for key in ("author", "authors"):
        builder.says(author=", ".join(_names(fields.get(key))))
    date = fields.get("date")
    builder.says(date=date if isinstance(date, str) else "")
    for key in ("tags", "keywords"):
        value = fields.get(key)
        builder.says(tags=tags_in(value) if isinstance(value, str) else _names(value))


def _names(value: object) -> list[str]:
    """Return the texts of a value; of a record, what stands under ``name``."""
    entries = value if isinstance(value, list) else [value]
    named = [entry.get("name") if isinstance(entry, dict) else entry for entry in entries]
    return [entry for entry in named if isinstance(entry, str) and entry.strip()]


def render(fields: Mapping[str, object], builder: Builder, words: Callable[[str], str]) -> None:
    """Append the fields that the rendered page shows: summary, codes, parameters, examples.

    ``words`` takes the marks out of a piece of Markdown.
    """
    for key in _SENTENCES:
        value = fields.get(key)
        if isinstance(value, str):
            builder.paragraph(words(value))
    for key in _LABELLED:
        value = fields.get(key)
        if not value:
            continue
        entries = value if isinstance(value, list) else [value]
        if key != "notes" and all(isinstance(entry, str) for entry in entries):
            builder.paragraph(words(f"{key.capitalize()}: {_line(entries)}"))
            continue
        builder.paragraph(f"{key.capitalize()}:")
        for entry in entries:
            builder.item(words(_line(entry)))


def _line(value: object) -> str:
    """Write a value on one line, a record as its name and then what is said about it."""
    if isinstance(value, list):
        return ", ".join(_line(entry) for entry in value)
    if not isinstance(value, dict):
        return str(value)
    head = str(value.get("tag", ""))
    if value.get("optional") == "true":
        head += " (optional)"
    said = [
        _line(entry)
        for key, entry in value.items()
        if key not in ("tag", "optional") and entry not in _MARKS_ONLY
    ]
    return ": ".join(part for part in (head, "; ".join(filter(None, said))) if part)
