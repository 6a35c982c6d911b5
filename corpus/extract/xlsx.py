"""Spreadsheets (XLSX): the cells of every sheet as they are shown, row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from corpus.document import Extracted
from corpus.extract.build import Builder
from corpus.extract.number_format import format_code, shown
from corpus.extract.opc import OpcPackage, opened, required
from corpus.extract.sheet_rows import Row, SheetWriter
from corpus.extract.xml_parts import Element, attribute, child, children, is_on, local, stream

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

# A character that XML cannot hold is written by its number.
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_ADDRESS = re.compile(r"([A-Za-z]{1,3})(\d*)$")


@dataclass(frozen=True, slots=True)
class _Book:
    """What all sheets of a workbook share."""

    strings: list[str]
    codes: list[str]
    from_1904: bool


def read(path: Path) -> Extracted:
    """Extract a workbook: a heading for each sheet, then ``Row 2 | Header: value | …``.

    Numbers and dates are shown as their cells are formatted, formulas by the value that was stored
    when the file was last saved. Hidden sheets are read and noted. Raises NotExtractable for a
    damaged file. The package must have passed :func:`corpus.extract.office.check_package`.
    """
    builder = Builder()
    with opened(path) as package:
        part = package.main("xl/workbook.xml")
        workbook = required(package.tree(part), part)
        related = package.relations(part)
        parts = {relation.type: relation.part for relation in related.values()}
        book = _Book(
            list(_strings(package, parts.get("sharedStrings", ""))),
            _codes(package, parts.get("styles", "")),
            is_on(attribute(child(workbook, "workbookPr"), "date1904")),
        )
        writer = SheetWriter(builder)
        unvalued = 0
        read_parts: set[str] = set()
        for sheet in children(workbook, "sheets"):
            name = sheet.get("name") or ""
            relation = related.get(attribute(sheet, "id"))
            if relation is None or relation.type != "worksheet" or relation.part in read_parts:
                continue
            read_parts.add(relation.part)
            source = package.open(relation.part)
            if source is None:
                builder.notes.append(f"the sheet {name!r} is missing from the file")
                continue
            with source:
                reader = _SheetReader(book)
                writer.write(name, reader.rows(source, relation.part))
            unvalued += reader.unvalued
            if attribute(sheet, "state").lower() in ("hidden", "veryhidden"):
                builder.notes.append(f"the sheet {name!r} is hidden in the file and was read")
        if unvalued:
            builder.notes.append(_unvalued(unvalued))
        title = package.title()
        package.said(builder)
    return builder.finish(title or path.stem, MEDIA_TYPE)


def _unvalued(count: int) -> str:
    what = "1 formula has" if count == 1 else f"{count} formulas have"
    return f"{what} no stored value; open and save the file in a spreadsheet program to have it"


def _strings(package: OpcPackage, part: str) -> Iterator[str]:
    source = package.open(part)
    if source is not None:
        with source:
            for item in stream(source, "si", part):
                yield _text(item)


def _text(item: Element) -> str:
    """Return the text of a string item without the phonetic guide above it."""
    parts = []
    for piece in item:
        if local(piece) == "t":
            parts.append(piece.text or "")
        elif local(piece) == "r":
            parts += [run.text or "" for run in piece if local(run) == "t"]
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), "".join(parts))


def _codes(package: OpcPackage, part: str) -> list[str]:
    """Return the format code of every cell style, in the order cells number them."""
    root = package.tree(part)
    own = {
        _number(entry.get("numFmtId"), -1): entry.get("formatCode") or ""
        for entry in children(root, "numFmts")
    }
    return [format_code(_number(e.get("numFmtId"), 0), own) for e in children(root, "cellXfs")]


class _SheetReader:
    """Reads the rows of one sheet and counts the formulas whose value nobody stored."""

    def __init__(self, book: _Book) -> None:
        self.unvalued = 0
        self._book = book

    def rows(self, source: IO[bytes], part: str) -> Iterator[Row]:
        """Yield the rows that hold a filled cell; empty ones cost their markup alone."""
        number = 0
        for element in stream(source, "row", part):
            number = _number(element.get("r"), number + 1)
            cells: dict[int, str] = {}
            column = -1
            for cell in element:
                column = _column(cell.get("r") or "", column + 1)
                text = self._shown(cell)
                if text and not text.isspace():
                    cells[column] = text
            if cells:
                yield Row(number, cells)

    def _shown(self, cell: Element) -> str:
        kind = cell.get("t") or "n"
        if kind == "inlineStr":
            inline = child(cell, "is")
            return "" if inline is None else _text(inline)
        stored = child(cell, "v")
        raw = "" if stored is None else stored.text or ""
        if not raw:
            # A formula that gives an empty text is of the type "str" and is no gap.
            self.unvalued += kind != "str" and child(cell, "f") is not None
            return ""
        if kind == "s":
            index = _number(raw, -1)
            return self._book.strings[index] if 0 <= index < len(self._book.strings) else ""
        if kind == "b":
            return "TRUE" if is_on(raw) else "FALSE"
        if kind == "n":
            style = _number(cell.get("s"), 0)
            code = self._book.codes[style] if style < len(self._book.codes) else "General"
            return shown(raw, code, from_1904=self._book.from_1904)
        # Texts of formulas, errors such as #N/A, and dates in ISO 8601 stand as they are.
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), raw)


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else otherwise


def _column(address: str, otherwise: int) -> int:
    """Return the column, from 0, of an address such as ``AB12``."""
    found = _ADDRESS.match(address)
    if found is None:
        return otherwise
    number = 0
    for letter in found[1].upper():
        number = number * 26 + ord(letter) - 64
    return number - 1
