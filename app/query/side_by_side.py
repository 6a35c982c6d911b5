"""Each system's list next to the fused order: where a document came from and where it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.query.fuse import Contribution
from app.query.present import best_passages
from app.query.search import SearchResult
from corpus.document import Document
from store.catalogue import Catalogue

FUSED = "fused"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a list. ``ranks`` gives its place in every list that has it, fused included."""

    id: str
    document: Document
    passage_id: str
    ranks: dict[str, int]


@dataclass(frozen=True, slots=True)
class Column:
    """The head of one list.

    ``depth`` is how deep the system was asked, 0 for the fused order; ``length`` is how many
    entries the whole list has.
    """

    name: str
    entries: tuple[Entry, ...]
    length: int
    depth: int = 0
    exhausted: bool = True
    unavailable: str = ""
    not_asked: str = ""


def columns(catalogue: Catalogue, result: SearchResult, length: int) -> tuple[Column, ...]:
    """The first ``length`` entries of every list: the first system, the fusion, the others."""
    record = result.record
    heads = {
        ranking.system: [hit.id for hit in ranking.hits[:length]] for ranking in record.rankings
    }
    heads[FUSED] = [hit.id for hit in record.fused[:length]]
    entries = _entries(catalogue, result, {name for head in heads.values() for name in head})
    lists = [
        Column(
            ranking.system,
            _named(heads[ranking.system], entries),
            len(ranking.hits),
            ranking.depth,
            ranking.exhausted,
            ranking.unavailable,
            ranking.not_asked,
        )
        for ranking in record.rankings
    ]
    fused = Column(FUSED, _named(heads[FUSED], entries), len(record.fused))
    return (*lists[:1], fused, *lists[1:])


def _named(names: Sequence[str], entries: dict[str, Entry]) -> tuple[Entry, ...]:
    return tuple(entries[name] for name in names)


def _entries(catalogue: Catalogue, result: SearchResult, names: set[str]) -> dict[str, Entry]:
    record = result.record
    by_passage = record.protocol.unit == "passage"
    doc_of = {name: name.rpartition("@")[0] if by_passage else name for name in names}
    documents = {
        document.doc_id: document
        for document in catalogue.documents(
            record.manifest.inputs.corpus_version, sorted(set(doc_of.values()))
        )
    }
    best = best_passages(result)
    return {
        hit.id: Entry(
            hit.id,
            documents[doc_of[hit.id]],
            best[hit.id],
            {
                FUSED: hit.rank,
                **{part.system: part.rank for part in hit.parts if isinstance(part, Contribution)},
            },
        )
        for hit in record.fused
        if hit.id in names
    }
