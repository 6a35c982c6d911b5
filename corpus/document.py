"""What an archive is made of: a document, its passages, and the text they are cut from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

BlockKind = Literal["heading", "paragraph", "item", "row", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """One structural unit of an extracted text, in reading order.

    ``start`` and ``end`` are half-open code-point offsets into the extracted text. ``page`` counts
    from 1 and is None where the format has no pages. ``headings`` is the path of headings in force,
    outermost first; a heading block's own text is the last entry of its path. ``ocr`` says that the
    text was recognised in a picture, and may hold errors.
    """

    kind: BlockKind
    start: int
    end: int
    page: int | None = None
    headings: tuple[str, ...] = ()
    ocr: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"a block must span text, got [{self.start}, {self.end})")
        if self.page is not None and self.page < 1:
            raise ValueError(f"pages count from 1, got {self.page}")


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of one file, with the structure that passages are cut along.

    ``text`` is what offsets count in, free of NUL, lone surrogates and carriage returns. Blocks do
    not overlap and are in ascending order. ``notes`` are sentences for the ingest report (an
    encoding that had to be guessed, pages without text). ``author``, ``dated`` and ``tags`` are
    what the file says of itself, empty where it says nothing; ``dated`` is ISO 8601 as written
    there, a day or a time with its own offset. ``waiting`` counts the pages that hold
    a picture and no text, and were not recognised.
    """

    text: str
    title: str
    media_type: str
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    author: str = ""
    dated: str = ""
    tags: tuple[str, ...] = ()
    waiting: int = 0

    def __post_init__(self) -> None:
        position = 0
        for block in self.blocks:
            if block.start < position or block.end > len(self.text):
                raise ValueError(f"block [{block.start}, {block.end}) is out of order or bounds")
            position = block.end


@dataclass(frozen=True, slots=True)
class Document:
    """One document as it stands in one corpus version.

    ``doc_id`` is opaque and stable through edits and renames. ``groups`` says who may read it, and
    empty means everyone. ``locations`` are paths relative to their source folder. ``modified`` is
    the file's time, ISO 8601 in UTC; ``dated`` the date that the document states, as written, or
    empty.
    """

    doc_id: str
    revision: int
    sha256: str
    title: str
    language: str
    media_type: str
    locations: tuple[str, ...]
    modified: str
    groups: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    author: str = ""
    dated: str = ""

    def __post_init__(self) -> None:
        if not self.doc_id:
            raise ValueError("a document needs an id")
        if self.revision < 1:
            raise ValueError(f"revisions count from 1, got {self.revision} for {self.doc_id!r}")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a passage lies in an extracted text, before it belongs to a document.

    ``start`` and ``end`` are half-open code-point offsets into the extracted text. ``ocr`` says
    that some of it was recognised in a picture. ``language`` is an ISO 639-1 code, or empty.
    """

    start: int
    end: int
    page: int | None = None
    headings: tuple[str, ...] = ()
    ocr: bool = False
    language: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit that engines index: a contiguous stretch of one revision's text.

    ``text == extracted.text[start:end]``, and string order of passage ids within a document is
    reading order.
    """

    passage_id: str
    doc_id: str
    revision: int
    start: int
    end: int
    text: str = field(repr=False)
    page: int | None = None
    headings: tuple[str, ...] = ()
    ocr: bool = False
    language: str = ""

    def __post_init__(self) -> None:
        if len(self.text) != self.end - self.start:
            raise ValueError(f"{self.passage_id}: text and offsets differ in length")


def passage_id(doc_id: str, revision: int, ordinal: int) -> str:
    """Name the passage at ``ordinal`` (from 0) of a revision.

    >>> passage_id("pumps/hx-204.md", 3, 7)
    'pumps/hx-204.md@3#00007'
    """
    return f"{doc_id}@{revision}#{ordinal:05d}"
