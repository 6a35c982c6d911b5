"""From the characters of a PDF page to segments: stretches of one line without a wide gap."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from corpus.extract.build import flow

HYPHEN = "\ufffe"
"""What the reader of PDFs puts in place of a hyphen that it takes for a break inside a word."""

# In units of a character's height: from where a gap is a space, and from where it parts segments.
_SPACE_GAP = 0.17
_WIDE_GAP = 1.0
_MONO = re.compile(
    r"mono|courier|consol|typewriter|cmtt|fixed|menlo|lettergothic|sftt|NimbusMon", re.I
)
_MARKED = re.compile(
    r"bold|black|heavy|demi|semibd|-bd|cmbx|sfbx|,b|italic|oblique|slanted|cmti|sfti", re.I
)
_FIXED_PITCH = 1


@dataclass(frozen=True, slots=True)
class Segment:
    """Characters in a row, in a frame turned so that text runs right and lines run down.

    ``turn`` counts quarter turns anticlockwise from upright. Lengths are in points; ``size`` is
    the height of the characters. ``marked`` is bold or italic, ``mono`` a typewriter font, and
    ``hidden`` text is not drawn but can be searched, as behind a scan.
    """

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    turn: int = 0
    marked: bool = False
    mono: bool = False
    hidden: bool = False

    @property
    def size(self) -> float:
        """Height in points."""
        return self.bottom - self.top


_Box = tuple[float, float, float, float]


def segments(page: pdfium.PdfTextPage) -> list[Segment]:
    """Return the segments of a page in the order they are drawn, doubled ones once."""
    found: list[Segment] = []
    for line in _drawn_lines(page.raw):
        found.extend(_parts(page.raw, line))
    return _once(found)


def _drawn_lines(textpage: Any) -> Iterator[list[tuple[int, int]]]:
    """Yield (index, code) of the characters between line ends, as the library sees lines."""
    line: list[tuple[int, int]] = []
    for index in range(raw.FPDFText_CountChars(textpage)):
        code = raw.FPDFText_GetUnicode(textpage, index)
        if code in (10, 13):
            if line:
                yield line
                line = []
        elif code in (2, 0xFFFE):
            line.append((index, 0xFFFE))
            yield line
            line = []
        elif code:
            line.append((index, code))
    if line:
        yield line


def _parts(textpage: Any, line: list[tuple[int, int]]) -> Iterator[Segment]:
    """Cut one line where a wide gap or another height begins, and describe each part."""
    rect = raw.FS_RECTF()
    inked: list[tuple[int, str, _Box, bool]] = []
    spaced = False
    for index, code in line:
        character = chr(code)
        if character.isspace():
            spaced = True
            continue
        if not raw.FPDFText_GetLooseCharBox(textpage, index, rect):
            continue
        inked.append((index, character, (rect.left, rect.bottom, rect.right, rect.top), spaced))
        spaced = False
    if not inked:
        return
    turn = _turn(textpage, [(index, box) for index, _, box, _ in inked])
    words: list[str] = []
    indices: list[int] = []
    x0 = top = x1 = bottom = 0.0
    for index, character, box, after_space in inked:
        left, high, right, low = _turned(box, turn)
        if words:
            height = max(min(low - high, bottom - top), 0.1)
            gap = left - x1
            overlap = min(low, bottom) - max(high, top)
            if gap > _WIDE_GAP * height or gap < -3 * height or overlap < 0.4 * height:
                yield _segment(textpage, words, indices, (x0, top, x1, bottom), turn)
                words, indices = [], []
            elif gap > _SPACE_GAP * height or (after_space and not _closed(gap / height)):
                words.append(" ")
        if not words:
            x0, top, x1, bottom = left, high, right, low
        words.append(character)
        indices.append(index)
        x1, top, bottom = max(x1, right), min(top, high), max(bottom, low)
    yield _segment(textpage, words, indices, (x0, top, x1, bottom), turn)


def _closed(gap: float) -> bool:
    """Say whether letters touch although a space is written between them: a kerned pair."""
    return -0.05 < gap < 0.03


def _turn(textpage: Any, inked: list[tuple[int, _Box]]) -> int:
    """Return how many quarter turns anticlockwise the characters of a line are set."""
    angle = raw.FPDFText_GetCharAngle(textpage, inked[0][0])
    quarters = round(angle / (math.pi / 2)) % 4 if angle > 0 else 0
    first, last = inked[0][1], inked[-1][1]
    rise = (last[1] + last[3]) - (first[1] + first[3])
    if quarters % 2 and rise:
        return 1 if rise > 0 else 3
    return quarters


def _turned(box: _Box, turn: int) -> _Box:
    """Turn a box (left, bottom, right, top; y upwards) to (left, top, right, bottom; y down)."""
    left, bottom, right, top = box
    if turn == 0:
        return left, -top, right, -bottom
    if turn == 1:
        return bottom, left, top, right
    if turn == 2:
        return -right, bottom, -left, top
    return -top, -right, -bottom, -left


def _segment(textpage: Any, words: list[str], indices: list[int], box: _Box, turn: int) -> Segment:
    # The library's own weight is not to be trusted: it calls Times-Roman nearly bold.
    middle = indices[len(indices) // 2]
    fonts = {_font(textpage, index) for index in (indices[0], middle, indices[-1])}
    marked = all(_MARKED.search(name) for name, _ in fonts)
    mono = all(_MONO.search(name) or flags & _FIXED_PITCH for name, flags in fonts)
    drawn = raw.FPDFText_GetTextObject(textpage, middle)
    mode = raw.FPDFTextObj_GetTextRenderMode(drawn) if drawn else 0
    hidden = mode == raw.FPDF_TEXTRENDERMODE_INVISIBLE
    return Segment("".join(words), *box, turn, marked, mono, hidden)


_name_buffer = ctypes.create_string_buffer(128)


def _font(textpage: Any, index: int) -> tuple[str, int]:
    flags = ctypes.c_int(0)
    length = raw.FPDFText_GetFontInfo(textpage, index, _name_buffer, 128, ctypes.byref(flags))
    name = _name_buffer.raw[: max(0, min(length, 128) - 1)].decode("utf-8", errors="replace")
    return name, max(0, flags.value)


def _once(found: list[Segment]) -> list[Segment]:
    """Drop what is drawn twice: shadows, and recognised text under the same visible text."""
    kept: list[Segment] = []
    drawn: dict[str, list[Segment]] = {}
    for segment in found:
        key = flow(segment.text)
        if any(_same_place(segment, other) for other in drawn.get(key, ())):
            continue
        drawn.setdefault(key, []).append(segment)
        kept.append(segment)
    visible = [segment for segment in kept if not segment.hidden]
    if not visible or len(visible) == len(kept):
        return kept
    return [
        replace(segment, text=rest)
        for segment in kept
        if (rest := _unseen_words(segment, visible) if segment.hidden else segment.text)
    ]


def _same_place(one: Segment, other: Segment) -> bool:
    near = 0.3 * min(one.size, other.size)
    return (
        one.turn == other.turn and abs(one.x0 - other.x0) < near and abs(one.top - other.top) < near
    )


def _unseen_words(hidden: Segment, visible: list[Segment]) -> str:
    """Return the text of a hidden segment, or nothing where visible text says the same."""
    shown = " ".join(
        segment.text
        for segment in visible
        if segment.turn == hidden.turn
        and min(segment.bottom, hidden.bottom) - max(segment.top, hidden.top)
        > 0.4 * min(segment.size, hidden.size)
        and min(segment.x1, hidden.x1) > max(segment.x0, hidden.x0)
    )
    words = set(re.findall(r"\w+", shown.casefold()))
    wanted = re.findall(r"\w+", hidden.text.casefold())
    return "" if wanted and words.issuperset(wanted) else hidden.text
