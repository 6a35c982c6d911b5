"""Passages as blocks of text, each under a citation that says where it stands.

Whatever is cited can be found again: offsets count in the text of a revision, and a record names
the corpus version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.query.record import SearchRecord
from corpus.document import Document, Passage
from store.catalogue import split_passage_id

_LOOKS_CITED = re.compile(r"^(?=\[\d+\])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """What passages are cut from: a document of the record's corpus version, and its whole text."""

    document: Document
    text: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """A passage at its rank in the fused order; of a document's passages several may share one."""

    rank: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring passages of one document as one text, ``source.text[start:end]``.

    ``number`` counts from 1 and is what the block is cited by; ``rank`` is the best one of its
    passages, which are in reading order.
    """

    number: int
    rank: int
    source: Source
    passages: tuple[Passage, ...]
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def pages(self) -> tuple[int, ...]:
        """The pages on which its passages begin, ascending; none where there are no pages."""
        return tuple(sorted({one.page for one in self.passages if one.page is not None}))


def blocks_of(chosen: Sequence[Chosen], sources: Mapping[str, Source]) -> tuple[Block, ...]:
    """Documents in the order of their best ranks, the passages of each in reading order.

    Passages that overlap, or have nothing but white space between them, are one block.
    """
    best: dict[str, int] = {}
    for one in chosen:
        name = one.passage.doc_id
        best[name] = min(one.rank, best.get(name, one.rank))
    ordered = sorted(
        chosen,
        key=lambda one: (best[one.passage.doc_id], one.passage.doc_id, one.passage.start, one.rank),
    )
    blocks: list[Block] = []
    for one in ordered:
        passage, source = one.passage, sources[one.passage.doc_id]
        last = blocks[-1] if blocks else None
        if last and last.source is source and not source.text[last.end : passage.start].strip():
            blocks[-1] = Block(
                last.number,
                min(last.rank, one.rank),
                source,
                (*last.passages, passage),
                last.start,
                max(last.end, passage.end),
            )
        else:
            number = len(blocks) + 1
            blocks.append(Block(number, one.rank, source, (passage,), passage.start, passage.end))
    return tuple(blocks)


def in_words(blocks: Sequence[Block], record: SearchRecord) -> str:
    """The blocks as text, each under its numbered citation; empty without any.

    A line of a document that begins as a citation does is moved in by a space.
    """
    if not blocks:
        return ""
    version = record.manifest.inputs.corpus_version
    parts = [f"Search record {record.record_id}, corpus version {version}"]
    parts += [f"{_citation(one)}\n{_LOOKS_CITED.sub(' ', one.text)}" for one in blocks]
    return "\n\n".join(parts)


def _citation(block: Block) -> str:
    document = block.source.document
    headings = block.passages[0].headings
    path = [document.title, *(headings[1:] if headings[:1] == (document.title,) else headings)]
    ordinals = [f"{split_passage_id(one.passage_id)[2]:05d}" for one in block.passages]
    about = [f"document {document.doc_id}", f"revision {document.revision}"]
    if block.pages:
        about.append(f"page {', '.join(map(str, block.pages))}")
    about.append(f"characters {block.start}-{block.end}")
    about.append(f"passage {', '.join(ordinals)}")
    if any(one.ocr for one in block.passages):
        about.append("recognised from a scan")
    # Titles and headings are a document's own words, and may hold line breaks.
    return " ".join(f"[{block.number}] {' > '.join(path)} ({'; '.join(about)})".split())
