"""OpenDocument spreadsheets (ODS): the cells of every sheet as they are shown, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus.document import Extracted
from corpus.extract.build import Builder, flow
from corpus.extract.odf import Style, get, load, name, number, styles, words
from corpus.extract.sheet_rows import Row, SheetWriter
from corpus.extract.xml_parts import Element

MEDIA_TYPE = "application/vnd.oasis.opendocument.spreadsheet"

_CELLS = ("table:table-cell", "table:covered-table-cell")
_GROUPS = frozenset({"table:table-rows", "table:table-row-group", "table:table-header-rows"})
_WIDEST = 16_384
_DEEPEST = 20


def read(path: Path) -> Extracted:
    """Extract an ODS file: a heading for each sheet, then ``Row 2 | Header: value | …``.

    The file itself holds each cell's text as it is shown. Equal rows in succession, which it holds
    once, are one block. Hidden sheets are read and noted. Raises NotExtractable for a damaged
    file. The package must have passed :func:`corpus.extract.office.check_package`.
    """
    package = load(path, "spreadsheet")
    known = styles(package)
    hidden = _hidden_tables(package.content)
    builder = Builder()
    package.said(builder)
    writer = SheetWriter(builder)
    for sheet in package.body:
        if name(sheet) == "table:table":
            title = get(sheet, "table:name")
            writer.write(title, _rows(sheet, known))
            if get(sheet, "table:style-name") in hidden:
                builder.notes.append(f"the sheet {title!r} is hidden in the file and was read")
    return builder.finish(package.title or path.stem, MEDIA_TYPE)


def _rows(sheet: Element, known: dict[str, Style]) -> Iterator[Row]:
    position = 1
    for row in _row_elements(sheet):
        repeated = max(1, number(get(row, "table:number-rows-repeated"), 1))
        cells: dict[int, str] = {}
        column = 0
        for cell in row:
            if name(cell) not in _CELLS:
                continue
            count = max(1, number(get(cell, "table:number-columns-repeated"), 1))
            text = flow(" ".join(words(p, known) for p in cell if name(p) == "text:p"))
            if text:
                cells.update(dict.fromkeys(range(column, min(column + count, _WIDEST)), text))
            column += count
        if cells:
            yield Row(position, cells, position + repeated - 1)
        position += repeated


def _row_elements(parent: Element, depth: int = 0) -> Iterator[Element]:
    for element in parent:
        kind = name(element)
        if kind == "table:table-row":
            yield element
        elif kind in _GROUPS and depth < _DEEPEST:
            yield from _row_elements(element, depth + 1)


def _hidden_tables(content: Element) -> set[str]:
    """Return the names of the table styles that hide their sheet."""
    return {
        get(style, "style:name")
        for style in content.iter()
        if name(style) == "style:style"
        for properties in style
        if get(properties, "table:display") == "false"
    }
