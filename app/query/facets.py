"""What the candidates of a search are, counted: how many in each language, of each type and so on.

Counted are the fused candidates, all of them and nothing else: what the filters or the reader's
groups rule out is in no list, and so in no count. A count is not how many documents of the archive
match; a list that was cut at its depth holds only its best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from app.query.search import SearchResult
from corpus.document import Document
from corpus.query_filters import KINDS
from store.catalogue import Catalogue

FIELDS = ("language", "type", "folder", "tag")


@dataclass(frozen=True, slots=True)
class Facet:
    """One field with its values and how many candidates have each, the most frequent first.

    A candidate with several values, such as tags, counts for each; one without any for none.
    """

    field: str
    counts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Facets:
    """Every field of :data:`FIELDS`, counted over ``candidates`` documents or passages."""

    candidates: int = 0
    unit: str = "document"
    facets: tuple[Facet, ...] = field(default=tuple(Facet(name, ()) for name in FIELDS))

    @property
    def said(self) -> str:
        """What is counted.

        >>> Facets(143).said, Facets(1, "passage").said
        ('of the 143 candidates', 'of the 1 candidate')
        """
        return f"of the {self.candidates:,} candidate{'' if self.candidates == 1 else 's'}"

    def as_data(self) -> dict[str, Any]:
        """JSON-ready; ``docs/search-json.md`` describes it."""
        return {
            "counted": f"fused {self.unit}s",
            "candidates": self.candidates,
            **{
                facet.field: [{"value": value, "count": count} for value, count in facet.counts]
                for facet in self.facets
            },
        }


def facets(catalogue: Catalogue, result: SearchResult) -> Facets:
    """Count the candidates of ``result`` in the version they were ranked in.

    Languages are ISO 639-1 codes, types short names such as ``pdf`` or else media types. Folders
    are those at the top, or the next ones below the folder that the search was restricted to.
    """
    record = result.record
    unit = record.protocol.unit
    weights = Counter(
        hit.id.rpartition("@")[0] if unit == "passage" else hit.id for hit in record.fused
    )
    counts: dict[str, Counter[str]] = {name: Counter() for name in FIELDS}
    above = record.scope.folder or ""
    documents = catalogue.documents(record.manifest.inputs.corpus_version, sorted(weights))
    for document in documents:
        for name, values in _values(document, above):
            for value in values:
                counts[name][value] += weights[document.doc_id]
    return Facets(
        len(record.fused),
        unit,
        tuple(
            Facet(name, tuple(sorted(counted.items(), key=lambda entry: (-entry[1], entry[0]))))
            for name, counted in counts.items()
        ),
    )


def _values(document: Document, above: str) -> Iterator[tuple[str, set[str]]]:
    yield "language", {document.language}
    yield "type", {KINDS.get(document.media_type, document.media_type)}
    yield "folder", set(_folders(document, above))
    yield "tag", set(document.tags)


def _folders(document: Document, above: str) -> Iterator[str]:
    """The folders just below ``above`` that the document lies in, as whole paths."""
    begin = f"{above.strip('/')}/" if above.strip("/") else ""
    for path in document.locations:
        name, slash, _ = path.removeprefix(begin).partition("/")
        if path.startswith(begin) and slash:
            yield begin + name
