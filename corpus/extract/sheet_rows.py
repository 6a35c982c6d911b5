"""Sheets of a spreadsheet become blocks: one a row, naming its row and its columns' headers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from corpus.errors import NotExtractable
from corpus.extract.build import Builder, flow

MAX_CELL_CHARACTERS = 64 * 1024 * 1024
"""Characters that all rows may come to: a few bytes can repeat one long text without end."""

# What a cell adds besides its text and header; it bounds sheets of millions of tiny cells.
_FRAME = 8
_HEADER_WITHIN = 10
_FEWEST_LABELS = 2
# A column filled in fewer rows than one in this many holds remarks, which need no header.
_RARELY = 10
_NUMBER = re.compile(r"[-+]?[\d.,\s]*\d[\d.,\s]*%?")


@dataclass(frozen=True, slots=True)
class Row:
    """The filled cells of one row, or of several equal rows in succession, by column from 0."""

    first: int
    cells: dict[int, str]
    last: int = 0

    @property
    def label(self) -> str:
        """What a citation calls it: ``Row 12``, or ``Rows 12-40`` for equal ones."""
        return f"Rows {self.first}-{self.last}" if self.last > self.first else f"Row {self.first}"


@dataclass(slots=True)
class SheetWriter:
    """Writes sheets to a builder and stops one that would come to more text than there is."""

    builder: Builder
    characters: int = field(default=0, init=False)

    def write(self, name: str, rows: Iterable[Row]) -> None:
        """Append a sheet: its name as a heading, then ``Row 2 | Header: value | …``.

        A sheet without a filled cell is left out. Raises NotExtractable past
        ``MAX_CELL_CHARACTERS``.
        """
        filled = []
        for row in rows:
            self._count(sum(map(len, row.cells.values())) + len(row.cells) * _FRAME)
            if row.cells:
                filled.append(row)
        if not filled:
            return
        self.builder.leave_headings()
        self.builder.heading(name, 1)
        at = _header_at(filled)
        header: dict[int, str] = {}
        for index, row in enumerate(filled):
            if index == at:
                header = {column: flow(text) for column, text in row.cells.items()}
                self.builder.row([row.label, *row.cells.values()])
                continue
            self._count(sum(len(header.get(column, "")) for column in row.cells))
            labelled = (
                f"{header[column]}: {text}" if header.get(column) else text
                for column, text in row.cells.items()
            )
            self.builder.row([row.label, *labelled])

    def _count(self, characters: int) -> None:
        self.characters += characters
        if self.characters > MAX_CELL_CHARACTERS:
            raise NotExtractable(
                f"its cells come to more than {MAX_CELL_CHARACTERS // 2**20} million characters; "
                "split it into smaller files"
            )


def _header_at(rows: list[Row]) -> int | None:
    """Find the header: an early row of distinct labels, none a number, with data below it.

    It labels all columns but one, so that a title above the table is not taken for it.
    """
    counts = Counter(column for row in rows for column in row.cells)
    usual = sum(count * _RARELY >= len(rows) for count in counts.values())
    for index, row in enumerate(rows[:_HEADER_WITHIN]):
        labels = [flow(text) for text in row.cells.values()]
        if len(labels) < max(_FEWEST_LABELS, usual - 1) or len(set(labels)) < len(labels):
            continue
        if any(_NUMBER.fullmatch(label) for label in labels) or index + 1 == len(rows):
            return None
        return index
    return None
