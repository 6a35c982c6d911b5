"""Topics as files: TOML that people write, JSON lines as BEIR has them, and TSV."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from app.cells import guarded, unguarded
from corpus.judging import Topic
from store.errors import BadInput

Format = Literal["toml", "jsonl", "tsv"]

_FIELDS = ("id", "query", "need", "author", "split")
_BEIR = {"_id": "id", "text": "query"}
_TSV = {"query-id": "id", "topic_id": "id", "qid": "id", "text": "query"}


def topic_format(path: Path, name: str | None) -> Format:
    """The format asked for, else the one that the file's name ends with.

    :raises BadInput: neither says
    """
    wanted = name or path.suffix.lower().removeprefix(".")
    if wanted in ("toml", "jsonl", "tsv"):
        return wanted  # type: ignore[return-value]
    raise BadInput(f"{path} does not say what it is; add --format toml, jsonl or tsv")


def read_topics(path: Path, form: Format = "toml", author: str = "") -> list[Topic]:
    """The topics of a file, each with id, query, need, author, split and tags.

    A TOML file has ``[[topics]]`` with all but the tags. In the other two, what is missing is: for
    the need the query, for the author ``author``, for the split ``dev``.

    :raises BadInput: the file is not such a file; the message names the entry
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as UTF-8 text: {error}") from error
    if form == "toml":
        return _read_toml(path, text)
    entries = _jsonl(path, text) if form == "jsonl" else _tsv(path, text)
    filled = [
        {"need": entry.get("query"), "author": author, "split": "dev"}
        | {name: value for name, value in entry.items() if value != ""}
        for entry in entries
    ]
    if not filled:
        raise BadInput(f"{path} holds no topics")
    return [_topic(path, number, entry) for number, entry in enumerate(filled, start=1)]


def topics_text(topics: Iterable[Topic], form: Format) -> str:
    """Topics as a file that :func:`read_topics` reads back exactly; a TSV is safe to open in a
    spreadsheet."""
    if form == "jsonl":
        return "".join(json.dumps(_beir(one), ensure_ascii=False) + "\n" for one in topics)
    if form == "tsv":
        written = io.StringIO()
        writer = csv.writer(written, delimiter="\t", lineterminator="\r\n")
        writer.writerow([*_FIELDS, "tags"])
        for one in topics:
            cells = [one.topic_id, one.query, one.need, one.author, one.split, _tags(one)]
            writer.writerow([guarded(cell) for cell in cells])
        return "\ufeff" + written.getvalue()
    return "\n".join(_toml(one) for one in topics)


def _tags(one: Topic) -> str:
    return json.dumps(one.tags, ensure_ascii=False) if one.tags else ""


def _beir(one: Topic) -> dict[str, Any]:
    more = {"need": one.need, "author": one.author, "split": one.split, "tags": list(one.tags)}
    return {"_id": one.topic_id, "text": one.query, "metadata": more}


def _toml(one: Topic) -> str:
    named = zip(_FIELDS, (one.topic_id, one.query, one.need, one.author, one.split), strict=True)
    lines = [f"{name} = {_toml_text(value)}" for name, value in named]
    if one.tags:
        lines.append(f"tags = [{', '.join(map(_toml_text, one.tags))}]")
    return "\n".join(["[[topics]]", *lines]) + "\n"


def _toml_text(text: str) -> str:
    # The two languages escape alike, but for one character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _read_toml(path: Path, text: str) -> list[Topic]:
    try:
        body = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} cannot be read as TOML: {error}") from error
    entries = body.get("topics")
    if not isinstance(entries, list) or not entries:
        raise BadInput(f"{path} holds no [[topics]]")
    return [_topic(path, number, entry) for number, entry in enumerate(entries, start=1)]


def _jsonl(path: Path, text: str) -> list[dict[str, Any]]:
    entries = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            body = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadInput(f"line {number} of {path} is no JSON: {error}") from error
        if not isinstance(body, dict):
            raise BadInput(f"line {number} of {path} is no JSON object")
        more = body.pop("metadata", None)
        # What else a public collection says of its queries is not ours to keep.
        kept = {
            name: value
            for name, value in (more if isinstance(more, dict) else {}).items()
            if name in (*_FIELDS, "tags")
        }
        entries.append(kept | {_BEIR.get(name, name): value for name, value in body.items()})
    return entries


def _tsv(path: Path, text: str) -> list[dict[str, Any]]:
    """With a header that names the columns, or without one: id, query."""
    named = {_TSV.get(name.strip(), name.strip()) for name in text.partition("\n")[0].split("\t")}
    with_head = {"id", "query"} <= named
    # Without a header it was not written by a spreadsheet or by us, and a quote is a quote.
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter="\t",
        quoting=csv.QUOTE_MINIMAL if with_head else csv.QUOTE_NONE,
    )
    rows = [row for row in reader if row]
    head = [_TSV.get(name, name) for name in rows.pop(0)] if with_head else ["id", "query"]
    entries = []
    for number, row in enumerate(rows, start=1):
        if len(row) != len(head):
            raise BadInput(f"topic {number} of {path} has {len(row)} cells, not {len(head)}")
        entry: dict[str, Any] = dict(zip(head, map(unguarded, row), strict=True))
        if tags := entry.pop("tags", ""):
            try:
                entry["tags"] = json.loads(tags)
            except json.JSONDecodeError as error:
                raise BadInput(
                    f'topic {number} of {path}: tags are written as ["a", "b"]'
                ) from error
        entries.append(entry)
    return entries


def _topic(path: Path, number: int, entry: object) -> Topic:
    if not isinstance(entry, dict):
        raise BadInput(f"topic {number} of {path} is not a table; write it as [[topics]]")
    if unknown := sorted(set(entry) - {*_FIELDS, "tags"}):
        raise BadInput(f"topic {number} of {path} has an unknown key {unknown[0]!r}")
    for name in _FIELDS:
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            more = "; give it with --author" if name == "author" else ""
            raise BadInput(f"topic {number} of {path} needs a text for {name!r}{more}")
    tags = entry.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise BadInput(f"topic {number} of {path}: tags are a list of texts")
    named = [entry[name] for name in _FIELDS]
    try:
        return Topic(named[0], named[1], named[2], named[3], named[4], tuple(tags))
    except ValueError as error:
        raise BadInput(f"topic {number} of {path}: {error}") from error
