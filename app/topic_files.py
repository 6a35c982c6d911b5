"""Reading topics that people wrote in a TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path

from corpus.judging import Topic
from store.errors import BadInput

_FIELDS = ("id", "query", "need", "author", "split")


def read_topics(path: Path) -> list[Topic]:
    """The ``[[topics]]`` of a file, each with id, query, need, author and split.

    :raises BadInput: the file is not such a file; the message names the entry
    """
    try:
        body = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} cannot be read as TOML: {error}") from error
    entries = body.get("topics")
    if not isinstance(entries, list) or not entries:
        raise BadInput(f"{path} holds no [[topics]]")
    return [_topic(path, number, entry) for number, entry in enumerate(entries, start=1)]


def _topic(path: Path, number: int, entry: object) -> Topic:
    if not isinstance(entry, dict):
        raise BadInput(f"topic {number} of {path} is not a table; write it as [[topics]]")
    if unknown := sorted(set(entry) - set(_FIELDS)):
        raise BadInput(f"topic {number} of {path} has an unknown key {unknown[0]!r}")
    for name in _FIELDS:
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise BadInput(f"topic {number} of {path} needs a text for {name!r}")
    try:
        return Topic(entry["id"], entry["query"], entry["need"], entry["author"], entry["split"])
    except ValueError as error:
        raise BadInput(f"topic {number} of {path}: {error}") from error
