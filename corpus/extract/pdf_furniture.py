"""What comes back on the pages of a PDF: running heads, feet, page numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from corpus.extract.pdf_layout import Line, Page

_REPEATED_ON = 4
_NUMBERED_SHARE = 0.4
_NUMBER = re.compile(r"(?<!\S)(?:\d{1,5}|[ivxlc]{1,7})(?!\S)", re.I)
_TOTAL = re.compile(r"\s*(?:/|of|de|von|sur|di)\s*\d{1,5}$", re.I)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def without_furniture(pages: Sequence[Page]) -> list[Page]:
    """Drop running heads, feet and page numbers, but keep every wording once.

    They are the outermost lines that repeat at one height on several pages, or that carry a number
    which counts with the pages. A code that only a running head has is thus not lost.
    """
    seen = Counter(_folded(line.text) for page in pages for line in _inner(page))
    repeated = _repeated(pages)
    offset = _numbering(pages)
    dropped: set[int] = set()
    for page in pages:
        for line in _outermost(page, 2):
            if line.text in repeated and _place(line) in repeated[line.text]:
                wording = line.text
            elif offset is not None and line in _outermost(page, 1):
                bare = _without_number(line.text, page.number + offset)
                if bare is None:
                    continue
                wording = bare
            else:
                continue
            seen[_folded(wording)] += 1
            if seen[_folded(wording)] > 1 or not any(map(str.isalpha, wording)):
                dropped.add(id(line))
    if not dropped:
        return list(pages)
    return [
        Page(page.number, [region for region in _kept(page, dropped) if region]) for page in pages
    ]


def _kept(page: Page, dropped: set[int]) -> list[list[Line]]:
    return [[line for line in region if id(line) not in dropped] for region in page.regions]


def _outermost(page: Page, count: int) -> list[Line]:
    """Return the first and last ``count`` lines of a page, by height."""
    lines = sorted(
        (line for region in page.regions for line in region), key=lambda line: line.bottom
    )
    return lines if len(lines) <= 2 * count else [*lines[:count], *lines[-count:]]


def _inner(page: Page) -> list[Line]:
    outermost = {id(line) for line in _outermost(page, 2)}
    return [line for region in page.regions for line in region if id(line) not in outermost]


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _place(line: Line) -> int:
    return round(line.bottom / 4)


def _repeated(pages: Sequence[Page]) -> dict[str, set[int]]:
    """Return the lines that stand at one height of several pages, with those heights."""
    places: dict[tuple[str, int], int] = defaultdict(int)
    for page in pages:
        for line in _outermost(page, 2):
            places[line.text, _place(line)] += 1
    found: dict[str, set[int]] = defaultdict(set)
    for (text, place), count in places.items():
        if count >= _REPEATED_ON:
            found[text].add(place)
    return found


def _numbering(pages: Sequence[Page]) -> int | None:
    """Return what printed page numbers differ by from those counted here, or None."""
    offsets: Counter[int] = Counter()
    for page in pages:
        lines = _outermost(page, 1)
        offsets.update({n - page.number for line in lines for n in _numbers(line.text)})
    if not offsets:
        return None
    offset, count = offsets.most_common(1)[0]
    return offset if count >= max(_REPEATED_ON, _NUMBERED_SHARE * len(pages)) else None


def _numbers(text: str) -> set[int]:
    return {int(found) for found in _NUMBER.findall(text) if found.isdecimal()}


def _without_number(text: str, number: int) -> str | None:
    """Take the page number off the end or beginning of a line; None if it has none there.

    Pages before the first are often numbered in Roman numerals of their own.
    """
    text = _TOTAL.sub("", text)
    found = list(_NUMBER.finditer(text))
    for match in (found[-1:] + found[:1]) if found else []:
        at_edge = match.start() == 0 or match.end() == len(text)
        printed = match[0]
        if at_edge and (printed == str(number) or (number <= 0 and _is_roman(printed))):
            return (text[: match.start()] + text[match.end() :]).strip(" |")
    return None


def _is_roman(text: str) -> bool:
    return all(letter in _ROMAN for letter in text.casefold())
