"""Extracted text is cut into passages: along its structure, and never over the encoder's limit."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from itertools import pairwise

from corpus.document import Extracted, Span
from corpus.language import detect
from corpus.packing import common, packed
from corpus.passage_limit import CountTokens, Limit, Unit

SPLIT_VERSION = "2"
"""Part of a corpus version's fingerprint: changes whenever any passage would be cut elsewhere."""

# Where a text may be cut, best first. The cut is at the end of the match.
_BOUNDARIES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n\s*\n\s*",
        r"\n\s*",
        r"(?<=[.!?…])[\"'”’»)\]]*\s+|[。！？]\s*",
        r"(?<=[;:])\s+|\s\|\s",
        r"\s+",
        r"(?<=[/\\,;|&=+_.-])",
    )
)


def split(extracted: Extracted, count_tokens: CountTokens, *, max_tokens: int) -> tuple[Span, ...]:
    """Cut a text into passages whose ``embedding_text`` has at most ``max_tokens`` tokens.

    Blocks under one heading are put together up to the limit; a passage goes beyond its section
    only where sections are short, and stays under their common heading. A block longer than the
    limit is cut at paragraphs, lines, sentences, clauses or words, within a word only where there
    is nothing else. Every character but white space is in exactly one span; spans are in order and
    begin and end with something visible. ``page`` is that of a span's first character, ``ocr`` says
    that any of its text was recognised in a picture, ``language`` is that of its own words.

    Raises ValueError if ``max_tokens`` leaves no room for a single character beside the title.
    """
    text, title = extracted.text, extracted.title
    limit = Limit(title, count_tokens, max_tokens)
    units = _units(extracted, limit)
    spans = [_span(group) for group in packed(units, limit)]
    whole: list[Span] = []
    # Tokens are not quite additive, so what was put together is counted again as it will be seen.
    pending = spans
    while pending:
        counts = limit.count(text, pending)
        unfinished: list[Span] = []
        for span, tokens in zip(pending, counts, strict=True):
            if tokens <= max_tokens and span.end - span.start <= limit.characters:
                whole.append(span)
            else:
                unfinished.extend(_smaller(text, span, extracted, tokens, limit))
        pending = unfinished
    recognised = [block for block in extracted.blocks if block.ocr]
    return tuple(
        replace(
            span,
            ocr=any(block.start < span.end and span.start < block.end for block in recognised),
            language=detect(text[span.start : span.end]),
        )
        for span in sorted(whole, key=lambda span: span.start)
    )


def _units(extracted: Extracted, limit: Limit) -> list[Unit]:
    """Measure the blocks, cutting those that are too long, until every unit fits by itself."""
    text = extracted.text
    todo = _covering(extracted)
    limit.learn(unit.headings for unit in todo)
    done: list[Unit] = []
    while todo:
        small, pieces = [], []
        for unit in todo:
            if unit.end - unit.start <= limit.characters:
                small.append(unit)
            else:
                parts = -(-(unit.end - unit.start) // (limit.characters // 2 or 1))
                pieces.extend(_cut_unit(text, unit, parts))
        counts = limit.bare([text[unit.start : unit.end] for unit in small])
        for unit, tokens in zip(small, counts, strict=True):
            room = limit.room(unit.headings)
            if tokens <= room or unit.end - unit.start == 1:
                done.append(Unit(*_place(unit), unit.headings, unit.is_heading, tokens))
            else:
                pieces.extend(_cut_unit(text, unit, -(-tokens // max(1, int(0.9 * room)))))
        todo = pieces
    return sorted(done, key=lambda unit: unit.start)


def _place(unit: Unit) -> tuple[int, int, int | None]:
    return unit.start, unit.end, unit.page


def _covering(extracted: Extracted) -> list[Unit]:
    """Return the blocks as units, with units for any visible text that no block covers."""
    text = extracted.text
    found: list[Unit] = []

    def add(start: int, end: int, page: int | None, path: tuple[str, ...], head: bool) -> None:
        start, end = _trimmed(text, start, end)
        if start < end:
            found.append(Unit(start, end, page, path, head, 0))

    position = 0
    page: int | None = None
    path: tuple[str, ...] = ()
    for block in extracted.blocks:
        add(position, block.start, page or block.page, path, False)
        page, path = block.page, block.headings
        add(block.start, block.end, page, path, block.kind == "heading")
        position = block.end
    add(position, len(text), page, path, False)
    return found


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _cut_unit(text: str, unit: Unit, parts: int) -> list[Unit]:
    return [
        Unit(start, end, unit.page, unit.headings, unit.is_heading, 0)
        for start, end in _cut(text, unit.start, unit.end, max(2, parts))
    ]


def _cut(text: str, start: int, end: int, parts: int) -> list[tuple[int, int]]:
    """Cut [start, end) into about ``parts`` stretches of like length, each trimmed.

    Each cut is at the best boundary near where an even division would put it.
    """
    step = (end - start) / parts
    cuts = [start]
    for index in range(1, parts):
        wanted = start + round(index * step)
        reach = int(step * 0.4)
        low, high = max(cuts[-1] + 1, wanted - reach), min(end - 1, wanted + reach)
        if low <= high:
            cuts.append(_boundary(text, low, min(max(wanted, low), high), high))
    cuts.append(end)
    stretches = (_trimmed(text, a, b) for a, b in pairwise(cuts))
    return [(a, b) for a, b in stretches if a < b]


def _boundary(text: str, low: int, wanted: int, high: int) -> int:
    """Return the best place in [low, high] to cut, the nearest to ``wanted`` of the best kind."""
    for pattern in _BOUNDARIES:
        ends = [
            found.end()
            for found in pattern.finditer(text, max(0, low - 2), high)
            if low <= found.end() <= high
        ]
        if ends:
            return min(ends, key=lambda position: abs(position - wanted))
    cut = wanted
    while cut > low and unicodedata.combining(text[cut]):
        cut -= 1
    return cut


def _span(group: list[Unit]) -> Span:
    return Span(group[0].start, group[-1].end, group[0].page, common(group))


def _smaller(text: str, span: Span, extracted: Extracted, tokens: int, limit: Limit) -> list[Span]:
    """Cut a span that turned out too large, or leave out headings where there is no more to cut."""
    if span.end - span.start > 1:
        parts = max(2, -(-tokens // max(1, limit.max_tokens)))
        return [
            Span(start, end, _page_at(extracted, start), span.headings)
            for start, end in _cut(text, span.start, span.end, parts)
        ]
    if span.headings:
        return [Span(span.start, span.end, span.page, span.headings[1:])]
    raise ValueError(
        f"a limit of {limit.max_tokens} tokens leaves no room for text beside the title "
        f"{extracted.title!r}"
    )


def _page_at(extracted: Extracted, position: int) -> int | None:
    page = None
    for block in extracted.blocks:
        if block.start > position:
            break
        page = block.page
    return page
