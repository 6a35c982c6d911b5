"""How one text became another, in a time that grows with their length and not with its square.

Lines that occur once in each text are fixed points (patience diff, Bram Cohen); only what lies
between two of them is compared in full, and only as long as the effort stays within a limit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import Match, SequenceMatcher

CONTEXT_LINES = 2
MOST_LINES = 1_000
"""Longer differences are cut here, with a line that says how many are left out."""

EFFORT = 2_000_000
"""How many pairs of lines are compared in full at most; the rest counts as replaced."""

_DEPTH = 8


def text_diff(before: str, after: str) -> tuple[str, ...]:
    """The hunks of a unified diff; what is said about the difference begins with a backslash."""
    old, new = before.splitlines(), after.splitlines()
    alignment = _Alignment(old, new)
    alignment.between(0, len(old), 0, len(new))
    lines = list(_hunks(old, new, alignment.blocks()))
    notes = []
    if alignment.given_up:
        notes.append("\\ long parts without a common line of their own are shown as replaced")
    if len(lines) > MOST_LINES:
        notes.append(
            f"\\ {len(lines) - MOST_LINES:,} more lines of this difference are left out; "
            "`python -m indexer show DOC --version N` prints each text"
        )
    return (*lines[:MOST_LINES], *notes)


@dataclass(slots=True)
class _Alignment:
    """Which lines of two texts are the same line: pairs of indexes that rise together."""

    old: Sequence[str]
    new: Sequence[str]
    pairs: list[tuple[int, int]] = field(default_factory=list)
    left: int = EFFORT
    given_up: bool = False

    def between(self, i: int, i_end: int, j: int, j_end: int, depth: int = 0) -> None:
        """Align ``old[i:i_end]`` with ``new[j:j_end]``."""
        old, new = self.old, self.new
        while i < i_end and j < j_end and old[i] == new[j]:
            self.pairs.append((i, j))
            i, j = i + 1, j + 1
        while i < i_end and j < j_end and old[i_end - 1] == new[j_end - 1]:
            i_end, j_end = i_end - 1, j_end - 1
            self.pairs.append((i_end, j_end))
        if i == i_end or j == j_end:
            return
        fixed = _fixed_points(old, new, i, i_end, j, j_end) if depth < _DEPTH else []
        if fixed:
            for next_i, next_j in [*fixed, (i_end, j_end)]:
                self.between(i, next_i, j, next_j, depth + 1)
                i, j = next_i, next_j
        else:
            self.in_full(i, i_end, j, j_end)

    def in_full(self, i: int, i_end: int, j: int, j_end: int) -> None:
        """Compare every line with every other, where that is still to be had."""
        effort = (i_end - i) * (j_end - j)
        if effort > self.left:
            self.given_up = True
            return
        self.left -= effort
        matcher = SequenceMatcher(None, self.old[i:i_end], self.new[j:j_end], autojunk=False)
        for block in matcher.get_matching_blocks():
            self.pairs += [(i + block.a + n, j + block.b + n) for n in range(block.size)]

    def blocks(self) -> list[tuple[int, int, int]]:
        """(index in old, in new, length) of each run of pairs, and an empty one at the end."""
        blocks: list[tuple[int, int, int]] = []
        for i, j in sorted(self.pairs):
            if blocks and (i, j) == (blocks[-1][0] + blocks[-1][2], blocks[-1][1] + blocks[-1][2]):
                blocks[-1] = (*blocks[-1][:2], blocks[-1][2] + 1)
            else:
                blocks.append((i, j, 1))
        return [*blocks, (len(self.old), len(self.new), 0)]


def _fixed_points(
    old: Sequence[str], new: Sequence[str], i: int, i_end: int, j: int, j_end: int
) -> list[tuple[int, int]]:
    """The longest rising row of pairs of lines that occur once on either side."""
    once_old = Counter(old[i:i_end])
    once_new = Counter(new[j:j_end])
    at = {new[n]: n for n in range(j, j_end) if once_new[new[n]] == 1 == once_old[new[n]]}
    pairs = [(n, at[old[n]]) for n in range(i, i_end) if old[n] in at]
    # Patience sorting: each pile's top is the smallest end of a row of that length.
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, position) in enumerate(pairs):
        pile = bisect_left(tops, position)
        before.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [position]
        ends[pile : pile + 1] = [index]
    row = []
    index = ends[-1] if ends else -1
    while index >= 0:
        row.append(pairs[index])
        index = before[index]
    return row[::-1]


class _Aligned(SequenceMatcher[str]):
    """Two texts whose common lines are known already."""

    def __init__(
        self, old: Sequence[str], new: Sequence[str], blocks: list[tuple[int, int, int]]
    ) -> None:
        super().__init__(None, old, new)
        self._blocks = [Match(*block) for block in blocks]

    def get_matching_blocks(self) -> list[Match]:
        return self._blocks


def _hunks(
    old: Sequence[str], new: Sequence[str], blocks: list[tuple[int, int, int]]
) -> Iterator[str]:
    for group in _Aligned(old, new, blocks).get_grouped_opcodes(CONTEXT_LINES):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[i:i_end])
            else:
                yield from (f"-{line}" for line in old[i:i_end])
                yield from (f"+{line}" for line in new[j:j_end])


def _range(start: int, stop: int) -> str:
    """The first line, from 1, and how many; an empty range names the line before it."""
    length = stop - start
    return f"{start + 1 if length else start},{length}"
