"""From the lines of all pages of a PDF to headings, paragraphs, list items, rows and listings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from corpus.extract.build import Builder
from corpus.extract.pdf_furniture import without_furniture
from corpus.extract.pdf_glyphs import HYPHEN
from corpus.extract.pdf_layout import LEADER, Line, Page, line_step
from corpus.extract.pdf_style import BULLET, Style

_ITEM = re.compile(r"(?:[•◦▪●○■□‣∙➢✓–—*−-]|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s+\S")
_CONTINUES = re.compile(r"[^\W\d_A-Z]+[,.;:)]?(?:\s|$)")
_ENDED = re.compile(r"[.!?:;…][\"'”’)\]]*$")
_HYPHENS = ("-", "\u00ad", "\u2010", HYPHEN)
_WORD_BREAK = re.compile(r"([^\W\d_]+)[-\u00ad\u2010\ufffe]$")


def compose(
    pages: Sequence[Page], outline: Mapping[int, list[tuple[int, str]]], builder: Builder
) -> str:
    """Append the blocks of all pages; return the largest heading of the first pages, if any.

    ``outline`` holds the bookmarks: page number to (level, title).
    """
    pages = without_furniture(pages)
    style = Style(pages, outline)
    for page in pages:
        for region in page.regions:
            for group in _groups(region, style):
                _append(group, style, page.number, builder)
    return style.largest


def _groups(region: list[Line], style: Style) -> Iterator[tuple[str, list[Line]]]:
    """Part the lines of a column into blocks, each named by its kind."""
    kinds = _kinds(region, style)
    leading = line_step(region)
    right = max(line.x1 for line in region)
    group: list[Line] = []
    kind = ""
    for line, own in zip(region, kinds, strict=True):
        if group and (own != kind or _begins(line, group, own, leading, right, style)):
            yield kind, group
            group = []
        group.append(line)
        kind = own
    if group:
        yield kind, group


def _kinds(region: list[Line], style: Style) -> list[str]:
    kinds = []
    for index, line in enumerate(region):
        neighbours = region[max(0, index - 1) : index] + region[index + 1 : index + 2]
        level = style.level(line)
        if level:
            kinds.append(f"heading{level}")
        elif line.mono:
            kinds.append("code")
        elif (
            _is_contents(line)
            or len(line.cells) > 2
            or (
                len(line.cells) == 2
                and any(len(other.cells) > 1 and _aligned(line, other) for other in neighbours)
            )
        ):
            kinds.append("row")
        else:
            kinds.append("text")
    return kinds


def _is_contents(line: Line) -> bool:
    """Say whether a line is an entry of a table of contents: words, leaders, a page number."""
    _, leader, number = line.text.rpartition(f" {LEADER} ")
    return bool(leader) and number.isalnum()


def _aligned(line: Line, other: Line) -> bool:
    return any(abs(a - b) < 4 for a in line.starts[1:] for b in other.starts[1:])


def _begins(
    line: Line, group: list[Line], kind: str, leading: float, right: float, style: Style
) -> bool:
    """Say whether ``line`` begins a new block after the lines of ``group``, of the same kind."""
    before = group[-1]
    step = line.bottom - before.bottom
    if kind == "row":
        return True
    if kind == "code":
        return step > 2.5 * leading or step < 0
    if abs(line.size - before.size) > 0.12 * before.size or step < 0:
        return True
    if kind.startswith("heading"):
        return step > 1.6 * line.size or bool(re.match(r"\d+(?:\.\d+)*\.?\s", line.text))
    if step > 1.35 * max(leading, 0.9 * line.size) or _ITEM.match(line.text):
        return True
    em = style.body
    ended = bool(_ENDED.search(before.text))
    if (ended or not _CONTINUES.match(line.text)) and _is_cut_short(before, line, group, right):
        return True
    if line.x0 > before.x0 + 0.8 * em:
        hanging = len(group) == 1 and not ended
        return not hanging and not _ITEM.match(group[0].text)
    return line.x0 < before.x0 - 0.8 * em and len(group) > 1 and ended


def _is_cut_short(before: Line, line: Line, group: list[Line], right: float) -> bool:
    """Say whether a line ends although the first word of the next would have fitted on it.

    Not so in a paragraph that is set narrower than its column, whose lines all end alike.
    """
    width = (line.x1 - line.x0) / max(1, len(line.text))
    word = len(line.text.split(maxsplit=1)[0]) + 1 if line.text else 1
    if before.x1 + word * width + before.size > right:
        return False
    return len(group) < 2 or abs(group[-2].x1 - before.x1) > before.size


def _append(group: tuple[str, list[Line]], style: Style, page: int, builder: Builder) -> None:
    kind, lines = group
    if kind.startswith("heading"):
        builder.heading(_joined(lines, style), int(kind.removeprefix("heading")), page)
    elif kind == "code":
        builder.code(_listing(lines), page)
    elif kind == "row":
        for line in lines:
            builder.row([_plain(cell) for cell in line.cells], page)
    else:
        text = _joined(lines, style)
        if _ITEM.match(text):
            bullet = BULLET.match(text)
            builder.item(text[bullet.end() :] if bullet else text, "-" if bullet else "", page)
        else:
            builder.paragraph(text, page)


def _plain(text: str) -> str:
    return text.replace(HYPHEN, "-").replace("\u00ad", "")


def _listing(lines: list[Line]) -> str:
    """Set a listing with its indentation, counted in widths of a character."""
    left = min(line.x0 for line in lines)
    widths = [(line.x1 - line.x0) / len(line.text) for line in lines if len(line.text) > 3]
    width = max(median(widths), 1.0) if widths else 6.0
    rows = []
    for line in lines:
        indent = min(int((line.x0 - left) / width + 0.5), 40)
        rows.append(" " * indent + _plain("  ".join(line.cells)))
    return "\n".join(rows)


def _joined(lines: list[Line], style: Style) -> str:
    """Join the lines of a paragraph, words broken at a line end made whole again."""
    text = lines[0].text
    for line in lines[1:]:
        text = join(text, line.text, style.words)
    return _plain(text)


def join(text: str, following: str, words: Mapping[str, int]) -> str:
    """Join two lines. A hyphen at the end goes if it only broke a word, and stays in a code.

    ``words`` counts the words of the document; it settles whether a hyphen belongs to the word.

    >>> join("routine mainte-", "nance of relay", {})
    'routine maintenance of relay'
    >>> join("relay AX-", "2041 and", {})
    'relay AX-2041 and'
    """
    if not text.endswith(_HYPHENS):
        return f"{text} {following}"
    end = _WORD_BREAK.search(text)
    if end is None:
        if re.search(r"\w[-\u2010\ufffe]$", text) and re.match(r"\w", following):
            return text + following
        return f"{text} {following}"
    start = re.match(r"[^\W\d_]+", following)
    if text.endswith("\u00ad") and start:
        return text[:-1] + following
    code = re.search(r"[\d_./\\-][^\s]*$", text[: end.start(1)]) if end.start(1) else None
    if start is None or not start[0].islower() or not end[1][-1].islower():
        return text + following
    rest = re.match(r"\S*", following)
    if (rest and re.search(r"[\d_]", rest[0])) or (code and not code[0].isspace()):
        return text + following
    whole = (end[1] + start[0]).casefold()
    hyphenated = f"{end[1]}-{start[0]}".casefold()
    if words.get(hyphenated, 0) > words.get(whole, 0):
        return f"{text[:-1]}-{following}"
    return text[:-1] + following
