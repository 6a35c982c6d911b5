"""From the segments of a PDF page to lines in reading order: columns, rows, cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corpus.extract.pdf_glyphs import Segment

# A gutter is looked for in the middle half of a region, and may be crossed by few segments.
_GUTTER_WITHIN = (0.2, 0.8)
_GUTTER_WIDTH = 0.7
_COLUMN_LINES = 5
_COLUMN_FILL = 0.5
_COLUMN_CHARACTERS = 200
# In units of height: from where a gap within a row parts two cells.
_CELL_GAP = 1.25
LEADER = "…"
_LEADERS = re.compile(r"(?:[ |]*[.…·_]){4,}[ |]*")
_MARKER = re.compile(
    r"(?:[•◦▪●○■□‣∙·–—*−➢✓-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\d+(?:\.\d+)*\.?)$"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One printed line within its column; ``cells`` are what wide gaps part, left to right.

    ``starts`` says where each cell begins. Leaders of dots are one character, LEADER.
    """

    cells: tuple[str, ...]
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    marked: bool
    mono: bool
    starts: tuple[float, ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return " ".join(self.cells)


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of one page, grouped into columns in reading order."""

    number: int
    regions: list[list[Line]]


def line_step(lines: Sequence[Line]) -> float:
    """Return the usual distance from one line of running text to the next, in points.

    Taken from the closer lines, as a short column has more gaps than text.
    """
    size = median(line.size for line in lines)
    steps = sorted(step for a, b in pairwise(lines) if (step := b.bottom - a.bottom) > 0.5 * size)
    return min(max(steps[len(steps) // 4], size), 1.8 * size) if steps else 1.2 * size


def regions(segments: Sequence[Segment]) -> list[list[Line]]:
    """Return the lines of a page in reading order, grouped into columns read top to bottom.

    Text set sideways is laid out in its own frame, after the text of the direction that holds
    most characters.
    """
    turns: dict[int, list[Segment]] = {}
    for segment in segments:
        turns.setdefault(segment.turn, []).append(segment)
    by_weight = sorted(turns.values(), key=lambda group: -sum(len(s.text) for s in group))
    found: list[list[Line]] = []
    for group in by_weight:
        found.extend(_lines(column) for column in _columns(group, depth=0))
    return [lines for lines in found if lines]


def _columns(segments: list[Segment], depth: int) -> list[list[Segment]]:
    """Cut a region into columns in reading order; what crosses the gutter parts them in bands."""
    gutter = _gutter(segments) if depth < 3 else None
    if gutter is None:
        return [segments]
    crossing = sorted(
        (s for s in segments if s.x0 < gutter - 1 and s.x1 > gutter + 1), key=lambda s: s.top
    )
    rest = [s for s in segments if not (s.x0 < gutter - 1 and s.x1 > gutter + 1)]
    columns: list[list[Segment]] = []
    for band in _bands(crossing, rest):
        if isinstance(band, tuple):
            for side in band:
                if side := list(side):
                    left = [s for s in side if s.x1 <= gutter + 1]
                    right = [s for s in side if s.x1 > gutter + 1]
                    for part in (left, right):
                        if part:
                            columns.extend(_columns(part, depth + 1))
        else:
            columns.append(band)
    return columns


def _bands(
    crossing: list[Segment], rest: list[Segment]
) -> list[list[Segment] | tuple[list[Segment]]]:
    """Alternate what crosses the gutter with what lies beside it, from top to bottom."""
    bands: list[list[Segment] | tuple[list[Segment]]] = []
    remaining = sorted(rest, key=lambda s: s.top)
    for segment in crossing:
        middle = (segment.top + segment.bottom) / 2
        above = [s for s in remaining if (s.top + s.bottom) / 2 < middle]
        remaining = [s for s in remaining if (s.top + s.bottom) / 2 >= middle]
        if above:
            bands.append((above,))
        if bands and isinstance(bands[-1], list):
            bands[-1].append(segment)
        else:
            bands.append([segment])
    if remaining:
        bands.append((remaining,))
    return bands


def _gutter(segments: list[Segment]) -> float | None:
    """Find the x of a gutter between two columns of running text, or None.

    Two columns of a table also have a gap between them; columns of text differ in that their
    lines mostly fill them.
    """
    if len(segments) < 2 * _COLUMN_LINES:
        return None
    low = min(s.x0 for s in segments)
    high = max(s.x1 for s in segments)
    size = median(s.size for s in segments)
    best: tuple[float, float] | None = None
    edges = sorted({s.x1 for s in segments})
    allowed = max(2, len(segments) // 8)
    for edge in edges:
        if not _GUTTER_WITHIN[0] < (edge - low) / max(high - low, 1) < _GUTTER_WITHIN[1]:
            continue
        crossing = sum(s.x0 < edge - 1 and s.x1 > edge + 1 for s in segments)
        after = [s.x0 for s in segments if s.x0 >= edge - 1]
        if crossing > allowed or not after:
            continue
        width = min(after) - edge
        if width >= _GUTTER_WIDTH * size and (best is None or width > best[1]):
            best = (edge, width)
    if best is None:
        return None
    left = [s for s in segments if s.x1 <= best[0] + 1]
    right = [s for s in segments if s.x0 >= best[0] - 1]
    if all(_is_running_text(side) for side in (left, right)):
        return best[0] + best[1] / 2
    return None


def _is_running_text(side: list[Segment]) -> bool:
    if len(side) < _COLUMN_LINES or sum(len(s.text) for s in side) < _COLUMN_CHARACTERS:
        return False
    width = max(s.x1 for s in side) - min(s.x0 for s in side)
    return median(s.x1 - s.x0 for s in side) > _COLUMN_FILL * width


def _lines(segments: list[Segment]) -> list[Line]:
    """Gather segments that stand beside each other into lines, top to bottom."""
    rows: list[list[Segment]] = []
    top = bottom = 0.0
    for segment in sorted(segments, key=lambda s: (s.top + s.bottom, s.x0)):
        overlap = min(bottom, segment.bottom) - max(top, segment.top)
        if rows and overlap > 0.5 * min(bottom - top, segment.size):
            rows[-1].append(segment)
            if segment.size > bottom - top:
                top, bottom = segment.top, segment.bottom
        else:
            rows.append([segment])
            top, bottom = segment.top, segment.bottom
    return [_line(sorted(row, key=lambda s: s.x0)) for row in rows]


def _line(row: list[Segment]) -> Line:
    main = max(row, key=lambda s: len(s.text))
    cells, starts = [row[0].text], [row[0].x0]
    for before, segment in pairwise(row):
        gap = segment.x0 - before.x1
        if gap > _CELL_GAP * main.size and not _MARKER.match(cells[-1]):
            cells.append(segment.text)
            starts.append(segment.x0)
        else:
            close = gap < 0.15 * main.size and gap > -main.size
            cells[-1] += ("" if close else " ") + segment.text
    if _LEADERS.search(" ".join(cells)):
        cells, starts = [_LEADERS.sub(f" {LEADER} ", " ".join(cells)).strip()], starts[:1]
    letters = sum(len(s.text) for s in row)
    return Line(
        tuple(cells),
        row[0].x0,
        min(s.top for s in row),
        max(s.x1 for s in row),
        main.bottom,
        main.size,
        sum(len(s.text) for s in row if s.marked) > 0.9 * letters,
        sum(len(s.text) for s in row if s.mono) > 0.9 * letters,
        tuple(starts),
    )
