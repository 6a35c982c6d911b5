"""One text and its blocks, put together piece by piece in reading order."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from corpus.document import Block, BlockKind, Extracted
from corpus.errors import NotExtractable
from corpus.extract.dates import iso_date
from corpus.text import clean, normalise_text

LONGEST_SAID = 200
"""Characters of an author or a tag; what is longer is no name, and is cut there."""
MOST_TAGS = 64

_WHITE = re.compile(r"\s+")
_CLOSE = frozenset({("item", "item"), ("row", "row")})
_BETWEEN_TAGS = re.compile(r"[,;\n]")
# What programs write where nobody said who it was.
_NOBODY = frozenset(
    [
        "anonymous",
        "unknown",
        "unspecified",
        "(anonymous)",
        "(unspecified)",
        "author",
        "none",
        "python-docx",
    ]
)


def flow(text: str) -> str:
    """Collapse every run of white space to one space: text whose line ends mean nothing."""
    return _WHITE.sub(" ", clean(text)).strip()


def tags_in(text: str) -> list[str]:
    """Part a line of keywords at its commas and semicolons.

    >>> tags_in("pump seals; HX-204, ")
    ['pump seals', 'HX-204']
    """
    return [tag for tag in map(flow, _BETWEEN_TAGS.split(text)) if tag]


class Builder:
    """Collects blocks, keeps the path of headings in force, and counts offsets."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0
        self._path: list[tuple[int, str]] = []
        self.notes: list[str] = []
        self._author = ""
        self._dated = ""
        self._tags: tuple[str, ...] = ()

    def says(self, *, author: str = "", date: str = "", tags: Iterable[str] = ()) -> None:
        """Note what the file says of itself, in its own words; what is said first stands."""
        author = flow(author)[:LONGEST_SAID].rstrip()
        if not self._author and author.casefold() not in _NOBODY:
            self._author = author
        self._dated = self._dated or iso_date(clean(date))
        if not self._tags:
            flowed = (flow(tag)[:LONGEST_SAID].rstrip() for tag in tags)
            self._tags = tuple(dict.fromkeys(tag for tag in flowed if tag))[:MOST_TAGS]

    def add(self, kind: BlockKind, text: str, page: int | None = None) -> None:
        """Append a block; one without visible text is left out.

        The text of a ``code`` block keeps its lines, that of any other is expected to be flowed or
        to have line ends that mean something.
        """
        text = textwrap.dedent(clean(text)).strip("\n").rstrip() if kind == "code" else text
        if not text or text.isspace():
            return
        if self._blocks:
            close = (self._blocks[-1].kind, kind) in _CLOSE
            self._write("\n" if close else "\n\n")
        start = self._length
        self._write(text)
        headings = tuple(heading for _, heading in self._path)
        self._blocks.append(Block(kind, start, self._length, page, headings))

    def heading(self, text: str, level: int, page: int | None = None) -> None:
        """Append a heading; it replaces those of its level and below (1 is the outermost)."""
        text = flow(text)
        if not text:
            return
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, text))
        self.add("heading", text, page)

    def paragraph(self, text: str, page: int | None = None) -> None:
        """Append a paragraph of running text."""
        self.add("paragraph", flow(text), page)

    def item(self, text: str, marker: str = "-", page: int | None = None) -> None:
        """Append a list item behind its marker, ``-`` or a number."""
        text = flow(text)
        if text:
            self.add("item", f"{marker} {text}" if marker else text, page)

    def row(self, cells: list[str], page: int | None = None) -> None:
        """Append a table row, its cells joined by `` | ``; empty cells at the end are dropped."""
        texts = [flow(cell) for cell in cells]
        while texts and not texts[-1]:
            texts.pop()
        if any(texts):
            self.add("row", " | ".join(texts).strip(), page)

    def code(self, text: str, page: int | None = None) -> None:
        """Append a listing, lines and inner indentation kept."""
        self.add("code", text.expandtabs(4), page)

    def leave_headings(self) -> None:
        """Begin a part that stands under no heading."""
        self._path.clear()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added yet."""
        return not self._blocks

    def first_heading(self) -> str:
        """Return the text of the first heading, or an empty string."""
        for block in self._blocks:
            if block.kind == "heading":
                return block.headings[-1]
        return ""

    def finish(self, title: str, media_type: str) -> Extracted:
        """Return the whole; raises NotExtractable where there is nothing to read."""
        text = "".join(self._parts)
        if not normalise_text(text).strip():
            raise NotExtractable("there is no text in it, only white space", stage="text")
        return Extracted(
            text,
            flow(title),
            media_type,
            tuple(self._blocks),
            tuple(self.notes),
            self._author,
            self._dated,
            self._tags,
        )

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
