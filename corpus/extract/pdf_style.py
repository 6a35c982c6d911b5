"""What a PDF as a whole says about its lines: the size of its text, and which are headings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from corpus.extract.build import flow
from corpus.extract.pdf_layout import Line, Page, line_step

BULLET = re.compile(r"[•◦▪●○■□‣∙➢✓–—*−-]\s+")

_LARGER = 1.15
_LARGE = 1.4
_LONGEST_HEADING = 140
_LONGEST_TITLE = 120
_MOST_HEADINGS = 0.25
_WIDEST_MARKED = 0.85
_SEEN_WITH_OUTLINE = 3
_LOWEST = 4
_NUMBERING = re.compile(
    r"(?:(?:chapter|appendix|section|cap[ií]tulo|ap[eé]ndice|anexo)\s+)?"
    r"(?:\d{1,3}(?:\.\d+)*|[A-Z](?:\.\d+)+|(?:[A-Z]|[IVXLC]+)(?=[.:]))[.:]?\s+",
    re.I,
)
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")

_Look = tuple[float, bool]


class Style:
    """The body size of a document, its heading levels, and how often it uses each word.

    ``outline`` holds the bookmarks: page number to (level, title). A line with the words of a
    bookmark of its page is a heading of that level, and so are lines that look the same.
    """

    def __init__(
        self, pages: Sequence[Page], outline: Mapping[int, Sequence[tuple[int, str]]]
    ) -> None:
        self._outline = {
            number: {_key(title): level for level, title in entries}
            for number, entries in outline.items()
        }
        lines = [line for page in pages for region in page.regions for line in region]
        sizes: Counter[float] = Counter()
        for line in lines:
            sizes[_rounded(line.size)] += len(line.text)
        self.body = sizes.most_common(1)[0][0] if sizes else 1.0
        marked = sum(len(line.text) for line in lines if line.marked)
        self._marked_body = marked * 2 > sum(sizes.values())
        self._headings = self._levels(pages, len(lines))
        self.words = Counter(
            word.casefold() for line in lines for word in _WORDS.findall(line.text)
        )
        self.largest = _largest([page for page in pages if page.number <= 2], self.body)

    def level(self, line: Line) -> int:
        """Return the heading level of a line, or 0 for a line that is no heading."""
        return self._headings.get(id(line), 0)

    def _levels(self, pages: Sequence[Page], count: int) -> dict[int, int]:
        """Decide on all headings at once: those of the outline, then those that stand out."""
        levels: dict[int, int] = {}
        looks: dict[_Look, Counter[int]] = defaultdict(Counter)
        candidates: dict[_Look, list[Line]] = defaultdict(list)
        for page in pages:
            entries = self._outline.get(page.number, {})
            for region in page.regions:
                for line, stands_out in zip(region, self._standing_out(region), strict=True):
                    level = entries.get(_key(line.text), 0) if len(line.text) < 200 else 0
                    if level:
                        levels[id(line)] = level
                        looks[_look(line)][level] += 1
                    elif stands_out:
                        candidates[_look(line)].append(line)
        least = _SEEN_WITH_OUTLINE if levels else 1
        kept = {look: _leftmost(lines, self.body) for look, lines in candidates.items()}
        kept = {
            look: lines
            for look, lines in kept.items()
            if len(lines) >= least or -look[0] >= _LARGE * self.body
        }
        if sum(map(len, kept.values())) > max(_MOST_HEADINGS * count, 2):
            kept = {look: lines for look, lines in kept.items() if -look[0] >= _LARGE * self.body}
        if sum(map(len, kept.values())) > max(_MOST_HEADINGS * count, 2):
            kept = {}
        deepest = max(levels.values(), default=0)
        unknown = sorted(look for look in kept if look not in looks)
        for look, lines in kept.items():
            if look in looks:
                level = looks[look].most_common(1)[0][0]
            else:
                level = deepest + min(unknown.index(look) + 1, _LOWEST)
            levels.update((id(line), level) for line in lines)
        return levels

    def _standing_out(self, region: list[Line]) -> list[bool]:
        """Say of each line of a column whether it looks like a heading where it stands."""
        left = min(line.x0 for line in region)
        right = max(line.x1 for line in region)
        leading = line_step(region)
        found: list[bool] = []
        for index, line in enumerate(region):
            step = line.bottom - region[index - 1].bottom if index else 0.0
            apart = index == 0 or found[-1] or not 0 < step < 1.2 * leading
            middle = (line.x0 + line.x1 - left - right) / 2
            at_left = line.x0 < left + 0.6 * self.body
            placed = at_left or abs(middle) < 1.5 * self.body
            large = line.size >= _LARGER * self.body
            marked = (
                line.marked
                and not self._marked_body
                and line.size >= 0.93 * self.body
                and apart
                and line.x1 - line.x0 < _WIDEST_MARKED * (right - left)
                and not line.text.endswith(":")
                and not BULLET.match(line.text)
            )
            found.append(placed and (large or marked) and _reads_as_heading(line))
        return found


def _reads_as_heading(line: Line) -> bool:
    text = line.text
    if line.mono or len(line.cells) > 1 or not 2 <= len(text) <= _LONGEST_HEADING:
        return False
    letters = sum(map(str.isalpha, text))
    return letters >= max(2, len(text) // 3) and not text.endswith((".", ",", ";", "…"))


def _leftmost(lines: list[Line], body: float) -> list[Line]:
    """Keep the lines of one look that begin furthest left in their column, not indented ones.

    Bold terms in a list look like headings; they differ in where they begin.
    """
    starts = Counter(round(line.x0) for line in lines)
    often = [x for x, count in starts.items() if count >= max(1, len(lines) // 10)]
    left = min(often, default=0)
    far = 12 * body
    return [line for line in lines if line.x0 <= left + body or line.x0 >= left + far]


def _look(line: Line) -> _Look:
    """Return how a line looks, largest and marked first in sorting order."""
    return -_rounded(line.size), not line.marked


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _key(title: str) -> str:
    """Fold a heading to what it shares with its bookmark: no numbering, no marks, no case."""
    numbering = _NUMBERING.match(title.strip())
    bare = title.strip()[numbering.end() :] if numbering else title
    return "".join(filter(str.isalnum, (bare or title).casefold()))


def _largest(pages: Sequence[Page], body: float) -> str:
    """Return the largest lines of the first pages that have large ones, as one title."""
    for page in pages:
        large = [
            line
            for region in page.regions
            for line in region
            if line.size >= 1.3 * body and sum(map(str.isalpha, line.text)) >= 3
        ]
        if large:
            size = max(line.size for line in large)
            words = [line.text for line in large if line.size > 0.95 * size]
            title = flow(" ".join(words))
            return title if len(title) <= _LONGEST_TITLE else words[0][:_LONGEST_TITLE]
    return ""
