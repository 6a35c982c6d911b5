"""Labels as files: CSV and JSON lines with every field, TREC qrels and BEIR TSV with the grades.

A line that cannot be used is refused by its number and its reason, and the others are read.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from app.cells import decoded, encoded, guarded, unguarded
from app.qrels import Qrels
from corpus.judging import Judgment
from store.errors import BadInput

Format = Literal["csv", "jsonl", "trec", "beir"]

SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".qrels": "trec",
    ".trec": "trec",
    ".txt": "trec",
    ".tsv": "beir",
}
COLUMNS = tuple(field.name for field in fields(Judgment))
_NUMBERS = ("revision", "grade", "corpus_version", "topic_revision")
_TRUTHS = ("blind", "withdrawn")
_NAMES = {"query-id": "topic_id", "corpus-id": "doc_id", "score": "grade", "path": "doc_id"}
_NEEDED = ("topic_id", "doc_id", "grade")
_BEIR = ("query-id", "corpus-id", "score")
# A cell may hold a long note, but a file without line ends is no table.
csv.field_size_limit(1_000_000)


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that was not read: its number from 1, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Missing:
    """What stands for a field that a file does not have. ``revisions`` are those in force, by
    document, and ``places`` the documents that lie at a path; a file that does not say when its
    labels were given may name documents so."""

    judge: str
    judged_at: str
    corpus_version: int
    revisions: Mapping[str, int]
    places: Mapping[str, str]
    project: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A label and the line, from 1, it begins on. ``dated`` says that the file tells when it was
    given, so that the same label can be told from the same opinion."""

    number: int
    label: Judgment
    dated: bool


def format_of(path: Path, name: str | None) -> Format:
    """The format asked for, else the one that the file's name ends with.

    :raises BadInput: neither says
    """
    for suffix, known in SUFFIXES.items():
        if name == known or (name is None and path.suffix.lower() == suffix):
            return known
    raise BadInput(f"{path} does not say what it is; add --format csv, jsonl, trec or beir")


def read_labels(path: Path, form: Format, missing: Missing) -> tuple[list[Line], list[Refused]]:
    """The labels of a file in their order, and the lines that hold none.

    :raises BadInput: the file cannot be read as a whole: no UTF-8, or a table without its columns
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as UTF-8 text: {error}") from error
    lines: list[Line] = []
    refused: list[Refused] = []
    for number, found in _records(path, text, form):
        try:
            if isinstance(found, str):
                raise ValueError(found)
            label = _label(found, missing)
        except ValueError as error:
            refused.append(Refused(number, str(error)))
        else:
            lines.append(Line(number, label, bool(found.get("judged_at"))))
    return lines, refused


def _records(path: Path, text: str, form: Format) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Each record with the line it begins on: its fields, or what is wrong with it."""
    if form == "trec":
        yield from _trec(text)
    elif form == "jsonl":
        yield from _jsonl(text)
    else:
        yield from _table(path, text, form)


def _trec(text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        parts = line.split()
        if len(parts) == 4:
            topic_id, _, doc_id, grade = parts
            yield (
                number,
                {"topic_id": decoded(topic_id), "doc_id": decoded(doc_id), "grade": grade},
            )
        elif parts:
            yield number, f"a line of qrels is TOPIC 0 DOCUMENT GRADE, and this has {len(parts)}"


def _jsonl(text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except json.JSONDecodeError as error:
            yield number, f"this is no JSON: {error}"
            continue
        yield number, found if isinstance(found, dict) else "a line is one JSON object"


def _table(path: Path, text: str, form: Format) -> Iterator[tuple[int, dict[str, Any] | str]]:
    delimiter = _delimiter(text)
    plain = form == "beir" and text.partition("\n")[0].split(delimiter)[0].strip() == _BEIR[0]
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if plain else csv.QUOTE_MINIMAL,
    )
    back = decoded if plain else unguarded
    head = [_NAMES.get(name.strip(), name.strip()) for name in next(reader, [])]
    if lacking := [name for name in _NEEDED if name not in head]:
        raise BadInput(f"{path} has no column {lacking[0]!r} in its first line")
    if unknown := [name for name in head if name not in COLUMNS or head.count(name) > 1]:
        raise BadInput(f"the column {unknown[0]!r} of {path} is unknown or named twice")
    begins = reader.line_num + 1
    try:
        for row in reader:
            if row and len(row) != len(head):
                yield begins, f"{len(row)} cells, and the first line names {len(head)} columns"
            elif row:
                yield begins, dict(zip(head, map(back, row), strict=True))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise BadInput(f"line {begins} of {path} cannot be read: {error}") from error


def _delimiter(text: str) -> str:
    """A comma, or what a spreadsheet of another country writes in its place."""
    head = text.partition("\n")[0]
    return max(",;\t", key=head.count)


def _label(found: Mapping[str, Any], missing: Missing) -> Judgment:
    """:raises ValueError: a field cannot be used"""
    if unknown := sorted(set(found) - set(COLUMNS)):
        raise ValueError(f"there is no field {unknown[0]!r}")
    name = str(found.get("doc_id", ""))
    if name not in missing.revisions and not found.get("judged_at"):
        found = {**found, "doc_id": missing.places.get(name, found.get("doc_id"))}
    values: dict[str, Any] = {
        "judge": missing.judge,
        "judged_at": missing.judged_at,
        "corpus_version": missing.corpus_version,
        "note": missing.note,
        "blind": False,
        "revision": missing.revisions.get(str(found.get("doc_id")), 0),
    }
    for name, value in found.items():
        if name in _NUMBERS:
            read: Any = _number(name, value)
        elif name in _TRUTHS:
            read = _truth(name, value)
        elif isinstance(value, str):
            read = value
        else:
            raise ValueError(f"{name} is a text, not {value!r}")
        # An empty field is one that the file does not have, where empty says nothing.
        if read not in ("", None) or name in ("grade", "note"):
            values[name] = read
    if missing.project:
        values["project"] = missing.project
    for field in fields(Judgment):
        needed = field.default is MISSING and field.name not in ("grade",)
        if needed and values.get(field.name) in ("", None):
            more = "; say whose labels these are with --judge" if field.name == "judge" else ""
            raise ValueError(f"there is no {field.name}{more}")
    return Judgment(**{"grade": None, **values})


def _number(name: str, value: object) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().removeprefix("-").isdecimal():
        return int(value)
    raise ValueError(f"{name} is a whole number, not {value!r}")


def _truth(name: str, value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    known = {"true": True, "1": True, "false": False, "0": False, "": None}
    if not isinstance(value, str) or value.strip().lower() not in known:
        raise ValueError(f"{name} is true or false, not {value!r}")
    return known[value.strip().lower()]


def csv_text(labels: Iterable[Judgment]) -> str:
    """Every field of every label as CSV that is safe to open in a spreadsheet.

    It begins with a byte order mark, without which Excel misreads accents.
    """
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for label in labels:
        writer.writerow([_cell(getattr(label, name)) for name in COLUMNS])
    return "\ufeff" + written.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return guarded(value)
    return "" if value is None else str(value)


def jsonl_text(labels: Iterable[Judgment]) -> str:
    """Every field of every label, exactly, an object a line."""
    return "".join(
        json.dumps({name: getattr(label, name) for name in COLUMNS}, ensure_ascii=False) + "\n"
        for label in labels
    )


def trec_text(grades: Qrels) -> str:
    """Qrels as trec_eval reads them."""
    return "".join(
        f"{encoded(topic_id)} 0 {encoded(doc_id)} {grade}\n"
        for topic_id, judged in grades.items()
        for doc_id, grade in judged.items()
    )


def beir_text(grades: Qrels) -> str:
    """Qrels as BEIR writes them, with its header."""
    rows = [
        f"{encoded(topic_id)}\t{encoded(doc_id)}\t{grade}"
        for topic_id, judged in grades.items()
        for doc_id, grade in judged.items()
    ]
    return "\n".join(["\t".join(_BEIR), *rows]) + "\n"
