"""Tables as text files (CSV, TSV): a row is a unit, and its cells carry their headers."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract.build import Builder, flow
from corpus.extract.plain import FALLBACK, decode
from corpus.text import clean

_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 50
_HEADER_WITHIN = 5
_NUMBER = re.compile(r"[-+]?[\d.,\s]*\d[\d.,\s]*%?")


def read(data: bytes, stem: str, *, tabs: bool = False, fallback: str = FALLBACK) -> Extracted:
    """Extract a table: one block a row, ``Header: value | Header: value``.

    Values stay the text they are: leading zeros are kept and formulas are not run. Rows before a
    header, and all rows where none is found, are cells joined by `` | ``. ``tabs`` says that the
    name promises tab-separated values.
    """
    decoded = decode(data, fallback=fallback)
    builder = Builder()
    builder.notes.extend(decoded.notes)
    text = clean(decoded.text)
    rows = _rows(text, "\t" if tabs and "\t" in text else _delimiter(text))
    width = max((len(row) for row in rows), default=0)
    at = _header_at(rows, width)
    header: list[str] = []
    for index, row in enumerate(rows):
        if index == at:
            header = row
            builder.row(row)
        elif header:
            builder.row(_labelled(header, row))
        else:
            builder.row(row)
    return builder.finish(stem, "text/tab-separated-values" if tabs else "text/csv")


def _rows(text: str, delimiter: str) -> list[list[str]]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [[flow(cell) for cell in row] for row in reader]
    except csv.Error as error:
        raise NotExtractable(f"the table cannot be read at line {reader.line_num}: {error}") from (
            error
        )


def _delimiter(text: str) -> str:
    """Choose the delimiter that gives most rows of the beginning the same number of cells."""

    def agreement(delimiter: str) -> tuple[int, int]:
        sample = islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 50)
        widths = [len(row) for row in sample if row]
        usual = max(set(widths), key=widths.count, default=1)
        return (widths.count(usual), usual) if usual > 1 else (0, 0)

    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    return max(_DELIMITERS, key=agreement)


def _header_at(rows: list[list[str]], width: int) -> int | None:
    """Find the header: an early row of distinct labels, none a number, with data below it."""
    for index, row in enumerate(rows[:_HEADER_WITHIN]):
        labels = [cell for cell in row if cell]
        if len(labels) < max(1, width - 1) or len(set(labels)) < len(labels):
            continue
        if any(_NUMBER.fullmatch(label) for label in labels) or index + 1 == len(rows):
            return None
        return index
    return None


def _labelled(header: list[str], row: list[str]) -> list[str]:
    cells = []
    for index, cell in enumerate(row):
        label = header[index] if index < len(header) else ""
        if cell:
            cells.append(f"{label}: {cell}" if label else cell)
    return cells
