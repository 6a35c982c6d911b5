"""Extracted text is cut into passages: along its structure, and never over the encoder's limit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from corpus.document import Extracted, Span
from corpus.language import detect

SPLIT_VERSION = "2"
"""Part of a corpus version's fingerprint: changes whenever any passage would be cut elsewhere."""

CountTokens = Callable[[Sequence[str]], Sequence[int]]
"""How many tokens an encoder makes of each text, its special tokens included."""

_TITLE_BYTES = 96
_HEADINGS_BYTES = 160
# No text worth reading packs more characters into a token. Some tokenizers give one token to a
# word they cannot read, however long, so tokens alone do not bound a passage.
_CHARACTERS_PER_TOKEN = 8
# Below these shares of the limit a passage is small, and joins a neighbour where it may.
_SMALL = 0.25
_TINY = 0.06
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


def embedding_text(title: str, headings: Sequence[str], text: str) -> str:
    """Return what is encoded for a passage: document title and heading path, then its text.

    Title and path are each cut to a bounded length, the innermost headings kept; a heading that
    repeats the title, or with which the text itself begins, is left out.

    >>> embedding_text("Pump HX-204", ("Pump HX-204", "Seals"), "Replace both.")
    'Pump HX-204\\nSeals\\nReplace both.'
    """
    title = _bounded(title.strip(), _TITLE_BYTES)
    path: list[str] = []
    room = _HEADINGS_BYTES
    for heading in reversed(headings):
        if heading == title or (not path and text.startswith(heading)):
            continue
        kept = _bounded(heading, room)
        room -= len(kept.encode("utf-8", errors="replace")) + 3
        path.append(kept)
        if room < 12:
            break
    lines = (title, " > ".join(reversed(path)), text)
    return "\n".join(line for line in lines if line)


def _bounded(text: str, limit: int) -> str:
    data = text.encode("utf-8", errors="replace")
    return text if len(data) <= limit else data[:limit].decode("utf-8", errors="ignore").rstrip()


@dataclass(frozen=True, slots=True)
class _Unit:
    """A block, or a piece of one that is too long: what passages are put together from."""

    start: int
    end: int
    page: int | None
    headings: tuple[str, ...]
    is_heading: bool
    tokens: int


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
    limit = _Limit(title, count_tokens, max_tokens)
    units = _units(extracted, limit)
    spans = [_span(group) for group in _packed(units, limit)]
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


class _Limit:
    """The encoder's limit, and what is left of it beside the title and each heading path."""

    def __init__(self, title: str, count_tokens: CountTokens, max_tokens: int) -> None:
        self.characters = max(1, max_tokens * _CHARACTERS_PER_TOKEN)
        self.max_tokens = max_tokens
        self._title = title
        self._count = count_tokens
        self.special = self._count([""])[0]
        self._room: dict[tuple[str, ...], int] = {}

    def count(self, text: str, spans: Sequence[Span]) -> Sequence[int]:
        """Count the tokens of spans as they will be encoded."""
        return self._count(
            [embedding_text(self._title, s.headings, text[s.start : s.end]) for s in spans]
        )

    def bare(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of texts without special ones."""
        return [max(0, tokens - self.special) for tokens in self._count(texts)] if texts else []

    def learn(self, paths: Iterable[tuple[str, ...]]) -> None:
        """Count what the titles and heading paths take, all in one batch."""
        unknown = [path for path in dict.fromkeys(paths) if path not in self._room]
        if unknown:
            taken = self._count([embedding_text(self._title, path, "") for path in unknown])
            for path, tokens in zip(unknown, taken, strict=True):
                self._room[path] = max(1, self.max_tokens - tokens)

    def room(self, path: tuple[str, ...]) -> int:
        """Return how many tokens of text fit beside the title and this heading path."""
        self.learn([path])
        return self._room[path]


def _units(extracted: Extracted, limit: _Limit) -> list[_Unit]:
    """Measure the blocks, cutting those that are too long, until every unit fits by itself."""
    text = extracted.text
    todo = _covering(extracted)
    limit.learn(unit.headings for unit in todo)
    done: list[_Unit] = []
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
                done.append(_Unit(*_place(unit), unit.headings, unit.is_heading, tokens))
            else:
                pieces.extend(_cut_unit(text, unit, -(-tokens // max(1, int(0.9 * room)))))
        todo = pieces
    return sorted(done, key=lambda unit: unit.start)


def _place(unit: _Unit) -> tuple[int, int, int | None]:
    return unit.start, unit.end, unit.page


def _covering(extracted: Extracted) -> list[_Unit]:
    """Return the blocks as units, with units for any visible text that no block covers."""
    text = extracted.text
    found: list[_Unit] = []

    def add(start: int, end: int, page: int | None, path: tuple[str, ...], head: bool) -> None:
        start, end = _trimmed(text, start, end)
        if start < end:
            found.append(_Unit(start, end, page, path, head, 0))

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


def _cut_unit(text: str, unit: _Unit, parts: int) -> list[_Unit]:
    return [
        _Unit(start, end, unit.page, unit.headings, unit.is_heading, 0)
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


def _packed(units: list[_Unit], limit: _Limit) -> list[list[_Unit]]:
    """Put neighbouring units together into groups that fit."""
    groups: list[list[_Unit]] = []
    for section in _sections(units):
        groups.extend(_filled(section, limit))
    return _joined(groups, limit)


def _sections(units: list[_Unit]) -> list[list[_Unit]]:
    """Part the units where the heading path changes."""
    sections: list[list[_Unit]] = []
    for unit in units:
        same = bool(sections) and sections[-1][-1].headings == unit.headings
        # A heading of the same words begins a section of its own, but not the rest of a cut one.
        if same and (not unit.is_heading or sections[-1][-1].is_heading):
            sections[-1].append(unit)
        else:
            sections.append([unit])
    return sections


def _filled(section: list[_Unit], limit: _Limit) -> list[list[_Unit]]:
    """Divide one section into groups of like size, as few as the limit allows."""
    room = limit.room(section[0].headings)
    groups: list[list[_Unit]] = []
    used = 0
    left = sum(unit.tokens for unit in section)
    aim = _aim(left, room)
    for unit in section:
        size = groups[-1][-1].end - groups[-1][0].start if groups else 0
        fits = used + unit.tokens <= room and size + unit.end - unit.start < limit.characters
        only_heading = bool(groups) and all(member.is_heading for member in groups[-1])
        if groups and fits and (only_heading or used + unit.tokens / 2 <= aim):
            groups[-1].append(unit)
            used += unit.tokens
        else:
            groups.append([unit])
            used = unit.tokens
            aim = _aim(left, room)
        left -= unit.tokens
    return groups


def _aim(tokens: int, room: int) -> float:
    """Return the size of a passage when ``tokens`` are shared out evenly over as few as fit."""
    return tokens / max(1, -(-tokens // room))


def _joined(groups: list[list[_Unit]], limit: _Limit) -> list[list[_Unit]]:
    """Join groups that are too small to stand alone: lone headings, short sections, remnants.

    A lone heading goes to what it is the heading of. Short sections under one parent go together,
    and whatever is tiny after that goes to the neighbour it has more headings in common with.
    """
    joined: list[list[_Unit]] = []
    for group in groups:
        before = joined[-1] if joined else None
        if before and all(unit.is_heading for unit in before) and _below(before, group):
            fits = _fits(before, group, limit)
        else:
            fits = bool(before) and _are_short(joined[-1], group, limit)
        if fits:
            joined[-1] = joined[-1] + group
        else:
            joined.append(group)
    return _without_tiny(joined, limit)


def _below(before: list[_Unit], after: list[_Unit]) -> bool:
    path = before[-1].headings
    return after[0].headings[: len(path)] == path


def _are_short(before: list[_Unit], after: list[_Unit], limit: _Limit) -> bool:
    """Say whether two sections are short enough to share a passage.

    Across a top heading both must be on the top level themselves, and one hardly a section.
    """
    smaller, larger = sorted((_size(before), _size(after)))
    paths = before[-1].headings, after[0].headings
    if paths[0][:1] == paths[1][:1]:
        short = _SMALL
    elif max(map(len, paths)) <= 1:
        short = _SMALL / 2
    else:
        return False
    return (
        smaller < short * limit.max_tokens
        and larger < 2 * _SMALL * limit.max_tokens
        and _fits(before, after, limit)
    )


def _without_tiny(groups: list[list[_Unit]], limit: _Limit) -> list[list[_Unit]]:
    kept: list[list[_Unit]] = []
    for index, group in enumerate(groups):
        if kept and min(_size(kept[-1]), _size(group)) < _TINY * limit.max_tokens:
            following = groups[index + 1] if index + 1 < len(groups) else None
            nearer = (
                _size(group) < _TINY * limit.max_tokens
                and following is not None
                and len(_common([*group, *following])) > len(_common([*kept[-1], *group]))
                and _fits(group, following, limit)
            )
            if not nearer and _fits(kept[-1], group, limit):
                kept[-1] = kept[-1] + group
                continue
        kept.append(group)
    return kept


def _size(group: list[_Unit]) -> int:
    return sum(unit.tokens for unit in group)


def _fits(before: list[_Unit], after: list[_Unit], limit: _Limit) -> bool:
    room = limit.room(_common([*before, *after]))
    length = after[-1].end - before[0].start
    return _size(before) + _size(after) <= room and length <= limit.characters


def _common(units: Sequence[_Unit]) -> tuple[str, ...]:
    """Return the heading path that all units share."""
    path = units[0].headings
    for unit in units[1:]:
        shared = 0
        for ours, theirs in zip(path, unit.headings, strict=False):
            if ours != theirs:
                break
            shared += 1
        path = path[:shared]
    return path


def _span(group: list[_Unit]) -> Span:
    return Span(group[0].start, group[-1].end, group[0].page, _common(group))


def _smaller(text: str, span: Span, extracted: Extracted, tokens: int, limit: _Limit) -> list[Span]:
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
