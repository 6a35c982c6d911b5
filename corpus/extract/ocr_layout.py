"""From what tesseract answers (hOCR) to lines in columns, as drawn text of a PDF is laid out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from corpus.extract.build import flow
from corpus.extract.pdf_layout import Line, Page
from corpus.extract.xml_parts import Element, parse

# Words with less confidence (percent) were noise in scans: specks, frames, drawings.
_LEAST_CONFIDENCE = 25.0
# Wider than in drawn text: justified print has wide gaps after full stops.
_CELL_GAP = 2.0
# From this many times the usual size on, a line is large; below, sizes are measuring errors.
_LARGE = 1.4
# A printed dot before an item comes back as one of these, lower than a small letter.
_DOTS = frozenset("e©¢*°«»o•·-")
_DOT_HEIGHT = 0.85
_BOX = re.compile(r"\bbbox (-?\d+) (-?\d+) (-?\d+) (-?\d+)")
_FIGURE = re.compile(
    r"\b(baseline|x_size|x_descenders|x_ascenders|x_wconf|textangle) (-?[\d.]+)(?: (-?[\d.]+))?"
)

_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    box: _Box


@dataclass(frozen=True, slots=True)
class _Row:
    """The words of one line in a frame turned upright, in pixels; ``base`` is where the line ends
    below at its left end, ``slope`` how far it falls per pixel to the right."""

    words: tuple[_Word, ...]
    base: float
    slope: float
    size: float
    small: float


def lay_out(hocr: bytes, width: int, height: int, scale: float) -> list[list[Line]]:
    """Return the lines of a page in the reading order that tesseract found, column by column.

    ``width`` and ``height`` are those of the picture in pixels, ``scale`` its pixels per point.
    Lines that slope, as on a sheet that lay askew, are levelled.
    """
    rows = list(_rows(parse(hocr, "hOCR"), width, height))
    slope = median(row.slope for row in rows) if rows else 0.0
    columns: list[list[Line]] = []
    for row in rows:
        line = _line(row, slope, scale)
        if columns and _goes_on(columns[-1][-1], line):
            columns[-1].append(line)
        else:
            columns.append([line])
    return columns


def level_sizes(pages: Sequence[Page], recognised: Collection[int]) -> list[Page]:
    """Give recognised lines one size, that of the text of the document, but for large ones.

    Sizes measured in a scan vary from line to line, and what varies would look like headings.
    ``recognised`` are the numbers of the pages that were recognised.
    """
    drawn = [page for page in pages if page.number not in recognised]
    body = median(_sizes(drawn) or _sizes(pages) or [1.0])
    return [_levelled(page, body) if page.number in recognised else page for page in pages]


def _levelled(page: Page, body: float) -> Page:
    usual = median(_sizes([page]) or [1.0])
    return Page(
        page.number,
        [
            [
                replace(line, size=body if line.size < _LARGE * usual else body * line.size / usual)
                for line in region
            ]
            for region in page.regions
        ],
    )


def _sizes(pages: Sequence[Page]) -> list[float]:
    return [line.size for page in pages for region in page.regions for line in region]


def _goes_on(before: Line, line: Line) -> bool:
    """Say whether a line stands below another in the same column."""
    overlap = min(before.x1, line.x1) - max(before.x0, line.x0)
    return line.bottom > before.bottom and overlap > 0


def _rows(page: Element, width: int, height: int) -> Iterator[_Row]:
    for element in page.iter("{*}span"):
        title = element.get("title") or ""
        figures = _figures(title)
        if "x_size" not in figures:
            continue
        angle = round(figures.get("textangle", (0.0, 0.0))[0]) % 360
        words = []
        for child in element.iter("{*}span"):
            about = child.get("title") or ""
            confidence = _figures(about).get("x_wconf", (-1.0, 0.0))[0]
            text = flow("".join(child.itertext()))
            if confidence >= _LEAST_CONFIDENCE and text:
                words.append(_Word(text, _upright(_box(about), angle, width, height)))
        if not any(map(str.isalnum, "".join(word.text for word in words))):
            continue
        x0, _, _, bottom = _upright(_box(title), angle, width, height)
        slope, offset = figures.get("baseline", (0.0, -figures["x_descenders"][0]))
        size, below = figures["x_size"][0], figures["x_descenders"][0]
        small = size - below - figures["x_ascenders"][0]
        yield _Row(tuple(words), bottom + offset + below - slope * x0, slope, size, small)


def _figures(title: str) -> dict[str, tuple[float, float]]:
    return {found[1]: (float(found[2]), float(found[3] or 0)) for found in _FIGURE.finditer(title)}


def _box(title: str) -> _Box:
    found = _BOX.search(title)
    if found is None:
        return 0.0, 0.0, 0.0, 0.0
    x0, y0, x1, y1 = map(float, found.groups())
    return x0, y0, x1, y1


def _upright(box: _Box, angle: int, width: int, height: int) -> _Box:
    """Turn a box of text that stands ``angle`` degrees anticlockwise of upright."""
    x0, y0, x1, y1 = box
    if angle == 90:
        return height - y1, x0, height - y0, x1
    if angle == 180:
        return width - x1, height - y1, width - x0, height - y0
    if angle == 270:
        return y0, width - x1, y1, width - x0
    return box


def _line(row: _Row, slope: float, scale: float) -> Line:
    """Put a row together, in points; what wide gaps part are cells."""
    words = list(row.words)
    if len(words) > 1 and _is_dot(words[0], row):
        words[0] = replace(words[0], text="•")
    cells, starts = [words[0].text], [words[0].box[0]]
    for before, word in pairwise(words):
        if word.box[0] - before.box[2] > _CELL_GAP * row.size and cells[-1] != "•":
            cells.append(word.text)
            starts.append(word.box[0])
        else:
            cells[-1] += f" {word.text}"
    x0, x1 = words[0].box[0], words[-1].box[2]
    # On the page as it would lie level: what the line falls more or less than the page stays.
    bottom = row.base + (row.slope - slope) * (x0 + x1) / 2
    return Line(
        tuple(cells),
        x0 / scale,
        (bottom - row.size) / scale,
        x1 / scale,
        bottom / scale,
        row.size / scale,
        False,
        False,
        tuple(start / scale for start in starts),
    )


def _is_dot(word: _Word, row: _Row) -> bool:
    _, top, _, bottom = word.box
    return word.text in _DOTS and bottom - top < _DOT_HEIGHT * row.small
