"""The rows a reader sees: fused hits with what is known of their documents and passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.query.best_passages import Extract, best_extracts, candidate_passages
from app.query.correct import suggestion_data
from app.query.facets import Facets
from app.query.fuse import Contribution, FusedHit
from app.query.group import Fold, Folded, folded_under, folds, standing
from app.query.highlight import Snippet
from app.query.read_as import read_data
from app.query.record import part_data, ratio
from app.query.search import Engines, SearchResult
from corpus.document import Document, Passage
from store.catalogue import Catalogue
from store.database import damaged_database
from store.similar import Similar, similar_documents

DECIMALS = 12
"""Digits of ``score_decimal``: enough to tell apart what the fraction tells apart at k = 60."""


@dataclass(frozen=True, slots=True)
class Row:
    """One fused hit with its document, from the very version it was ranked in.

    ``passage`` is the one to read first, with its ``snippet``; ``extracts`` are the best ones of
    the document in reading order, ``passage`` among them. ``similar`` are documents nearly the same
    as it that this reader may see, ranked here or not. ``fold`` says what this row stands under
    where the protocol groups, and ``folded`` what stands under it.
    """

    hit: FusedHit
    document: Document
    passage: Passage
    snippet: Snippet
    similar: tuple[Similar, ...] = ()
    extracts: tuple[Extract, ...] = ()
    fold: Fold | None = None
    folded: tuple[Folded, ...] = ()


def rows(
    engines: Engines,
    catalogue: Catalogue,
    result: SearchResult,
    start: int,
    end: int,
    *,
    fold: bool = False,
) -> list[Row]:
    """The fused hits at half-open places [start, end) of the one fused order, for showing.

    With ``fold``, places are counted without the hits that the protocol folds under others.

    :raises Damaged: the catalogue does not hold what the indexes found
    """
    record = result.record
    version = record.manifest.inputs.corpus_version
    found = folds(catalogue, record)
    hits = (standing(record.fused, found) if fold else record.fused)[start:end]
    below = folded_under(catalogue, record, found, [hit.id for hit in hits])
    best = best_passages(result)
    candidates = candidate_passages(record.rankings, record.protocol, hits, best)
    view = engines.backend.for_reader(record.scope.groups)
    passages = view.passages([entry.passage_id for hit in hits for entry in candidates[hit.id]])
    documents = {
        document.doc_id: document
        for document in catalogue.documents(
            version, sorted({passage.doc_id for passage in passages.values()})
        )
    }
    # Whatever the filters, but never outside of what this reader may see.
    similar = similar_documents(
        catalogue, catalogue.version(version), sorted(documents), frozenset(view.doc_ids)
    )
    shown = []
    try:
        for hit in hits:
            first, extracts = best_extracts(candidates[hit.id], passages, record.terms)
            document = documents[first.passage.doc_id]
            alike = similar.get(document.doc_id, ())
            shown.append(
                Row(
                    hit,
                    document,
                    first.passage,
                    first.snippet,
                    alike,
                    extracts,
                    found.get(hit.id),
                    below.get(hit.id, ()),
                )
            )
    except KeyError as error:
        raise damaged_database(
            catalogue.archive.catalogue, f"version {version} lacks {error}, which was indexed"
        ) from error
    return shown


def best_passages(result: SearchResult) -> dict[str, str]:
    """For each fused id the passage that earned it its best contribution."""
    passages: dict[str, dict[str, str]] = {
        ranking.system: {hit.id: hit.passage_id for hit in ranking.hits}
        for ranking in result.record.rankings
    }
    best = {}
    for hit in result.record.fused:
        parts = [part for part in hit.parts if isinstance(part, Contribution)]
        strongest = max(parts, key=lambda part: part.value)
        best[hit.id] = passages[strongest.system][hit.id]
    return best


def overlap(result: SearchResult) -> int:
    """How many candidates are in every system's list."""
    return sum(
        all(isinstance(part, Contribution) for part in hit.parts) for hit in result.record.fused
    )


def result_data(
    result: SearchResult, shown: Sequence[Row], counted: Facets | None = None
) -> dict[str, Any]:
    """A search as JSON-ready data; ``docs/search-json.md`` describes every field."""
    record = result.record
    by_passage = record.protocol.unit == "passage"

    def doc_id(name: str) -> str:
        return name.rpartition("@")[0] if by_passage else name

    return {
        "query": record.query,
        "read": read_data(record.terms),
        "suggestions": suggestion_data(record.text, record.suggestions),
        "protocol": {**record.protocol.as_data(), "hash": record.protocol.hash},
        "corpus_version": record.manifest.inputs.corpus_version,
        "generation": record.manifest.name,
        "semantic_index": asdict(record.manifest.semantic),
        "partial": result.partial,
        "notes": list(result.notes),
        "rankings": {
            ranking.system: [
                {
                    "doc_id": doc_id(hit.id),
                    "rank": hit.rank,
                    "score": hit.score,
                    "passage_id": hit.passage_id,
                }
                for hit in ranking.hits
            ]
            for ranking in record.rankings
        },
        "systems": {
            ranking.system: {
                "depth": ranking.depth,
                "exhausted": ranking.exhausted,
                "unavailable": ranking.unavailable or None,
                "not_asked": ranking.not_asked or None,
                "held": None if ranking.held is None else str(ranking.held),
            }
            for ranking in record.rankings
        },
        "fused": [_row_data(row) for row in shown],
        "candidates": len(record.fused),
        "in_every_list": overlap(result),
        "facets": counted.as_data() if counted else None,
        "timings_ms": dict(result.timings_ms),
        "record_id": record.record_id,
    }


def _row_data(row: Row) -> dict[str, Any]:
    return {
        "doc_id": row.document.doc_id,
        "rank": row.hit.rank,
        "title": row.document.title,
        "revision": row.document.revision,
        "language": row.document.language,
        "author": row.document.author,
        "date": row.document.dated,
        "tags": list(row.document.tags),
        "locations": list(row.document.locations),
        "passage_id": row.passage.passage_id,
        "page": row.passage.page,
        "ocr": row.passage.ocr,
        "passages": [_extract_data(extract) for extract in row.extracts],
        "score": ratio(row.hit.score.numerator, row.hit.score.denominator),
        "score_decimal": f"{float(row.hit.score):.{DECIMALS}f}",
        "parts": part_data(row.hit.parts),
        "similar": [
            {
                "doc_id": entry.document.doc_id,
                "title": entry.document.title,
                "resemblance": f"{entry.shared}/{entry.total}",
            }
            for entry in row.similar
        ],
        "grouped_under": row.fold.under if row.fold else None,
    }


def _extract_data(extract: Extract) -> dict[str, Any]:
    return {
        "passage_id": extract.passage.passage_id,
        "page": extract.passage.page,
        "headings": list(extract.passage.headings),
        "ocr": extract.passage.ocr,
        "snippet": extract.snippet.text,
        "earned_rank": extract.earned,
    }
