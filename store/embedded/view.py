"""One generation as a reader sees it: the passages of the reader's audiences, and no others."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from corpus.document import Passage, passage_id
from corpus.query_terms import QueryTerms, Terms
from store.archive import Archive
from store.backend import Candidate, EngineFailure, EngineHits, LexicalFields
from store.catalogue import Catalogue, split_passage_id
from store.embedded.documents import Documents
from store.embedded.lexical import LexicalIndex
from store.embedded.semantic import EXACT_UP_TO, SemanticIndex
from store.errors import CounterpointError, Damaged, UnknownDocument
from store.manifest import Manifest, SemanticForm

T = TypeVar("T")
Marks = NDArray[np.bool_]


class EmbeddedView:
    """What the members of some audiences may read; immutable and safe for any number of threads.

    ``lexical`` opens the engine, by the first question that needs it. An engine whose files are
    damaged is given as what is wrong with them. Documents and rows have the numbers that they have
    in the generation.
    """

    def __init__(
        self,
        archive: Archive,
        manifest: Manifest,
        documents: Documents,
        audiences: Sequence[int],
        lexical: Callable[[], LexicalIndex] | CounterpointError,
        semantic: SemanticIndex | CounterpointError,
    ) -> None:
        self._archive = archive
        self._documents = documents
        self._readable: Marks = np.isin(documents.audience_of, audiences)
        self._numbers = np.flatnonzero(self._readable)
        self.doc_ids: Sequence[str] = tuple(
            documents.entries[number].doc_id for number in self._numbers
        )
        passages = sum(documents.entries[number].passages for number in self._numbers)
        self.manifest = _seen(manifest, len(self.doc_ids), passages)
        self._exact = self.manifest.semantic.search == "exact"
        self._lexical = lexical
        self._semantic = semantic

    @property
    def whole(self) -> bool:
        """Whether both engines can be asked."""
        try:
            return self._index is not None and not isinstance(self._semantic, CounterpointError)
        except EngineFailure:
            return False

    def lexical(
        self,
        query: QueryTerms,
        limit: int,
        permitted: frozenset[str] | None,
        coverage: float = 0.0,
        fields: LexicalFields = "all",
    ) -> EngineHits:
        return self._among(
            permitted,
            _NOTHING,
            lambda index, allowed: self._hits(
                index.search(query, limit, allowed, self._documents.doc_of, coverage, fields)
            ),
        )

    def share_held(self, query: QueryTerms, permitted: frozenset[str] | None) -> float:
        doc_of = self._documents.doc_of
        return self._among(
            permitted, 0.0, lambda index, allowed: index.share_held(query, allowed, doc_of)
        )

    def semantic(
        self,
        vector: NDArray[np.float32],
        limit: int,
        permitted: frozenset[str] | None,
        language: str = "",
    ) -> EngineHits:
        if isinstance(self._semantic, CounterpointError):
            raise _unavailable("semantic", self._semantic) from self._semantic
        index = self._semantic
        allowed = self._allowed(permitted)
        rows = self._rows if allowed is None else allowed[self._documents.doc_of]
        if rows is not None and not rows.any():
            return _NOTHING
        return self._hits(
            _guarded("semantic", lambda: index.search(vector, language, limit, rows, self._exact))
        )

    def matching_documents(self, terms: Terms, *, in_title: bool = False) -> frozenset[str]:
        index = self._index
        numbers = _guarded("lexical", lambda: index.documents(terms, in_title=in_title))
        return frozenset(self._documents.entries[number].doc_id for number in numbers)

    def words_beginning(
        self, prefix: str, limit: int, permitted: frozenset[str] | None
    ) -> tuple[str, ...]:
        return self._among(
            permitted, (), lambda index, allowed: tuple(index.beginning(prefix, limit, allowed))
        )

    def codes_beginning(
        self, prefix: str, limit: int, permitted: frozenset[str] | None
    ) -> tuple[str, ...]:
        return self._among(
            permitted,
            (),
            lambda index, allowed: tuple(index.beginning(prefix, limit, allowed, ("codes",))),
        )

    def near_words(self, word: str, permitted: frozenset[str] | None) -> tuple[Candidate, ...]:
        doc_of = self._documents.doc_of
        return self._among(
            permitted, (), lambda index, allowed: index.near_words(word, allowed, doc_of)
        )

    def near_codes(self, code: str, permitted: frozenset[str] | None) -> tuple[Candidate, ...]:
        doc_of = self._documents.doc_of
        return self._among(
            permitted, (), lambda index, allowed: index.near_codes(code, allowed, doc_of)
        )

    def passages(self, passage_ids: Sequence[str]) -> dict[str, Passage]:
        there = [
            name for name in passage_ids if self._number(split_passage_id(name)[0]) is not None
        ]
        with Catalogue(self._archive) as catalogue:
            version = catalogue.version(self.manifest.inputs.corpus_version)
            return catalogue.passages_by_id(version, there)

    def explain(self, query: QueryTerms, passage_id: str) -> dict[str, Any]:
        index = self._index
        row = self._row(passage_id)
        return _guarded("lexical", lambda: index.explain(query, row))

    @cached_property
    def _index(self) -> LexicalIndex:
        """:raises EngineFailure: its files are damaged"""
        if isinstance(self._lexical, CounterpointError):
            raise _unavailable("lexical", self._lexical) from self._lexical
        try:
            return self._lexical()
        except Damaged as error:
            raise _unavailable("lexical", error) from error

    def _among(
        self,
        permitted: frozenset[str] | None,
        nothing: T,
        ask: Callable[[LexicalIndex, Marks | None], T],
    ) -> T:
        """What the lexical engine answers of the permitted documents; ``nothing`` without any.

        :raises EngineFailure: its files are damaged, or it fails
        """
        index = self._index
        allowed = self._allowed(permitted)
        if allowed is not None and not allowed.any():
            return nothing
        return _guarded("lexical", lambda: ask(index, allowed))

    def _allowed(self, permitted: frozenset[str] | None) -> Marks | None:
        """The documents that a filter permits, marked by number; None where it permits all.

        So a filter that leaves out only what the reader cannot see is no filter here.
        """
        if permitted is None:
            return None
        chosen = np.fromiter(
            (doc_id in permitted for doc_id in self.doc_ids),
            dtype=np.bool_,
            count=len(self.doc_ids),
        )
        if chosen.all():
            return None
        marks = np.zeros_like(self._readable)
        marks[self._numbers[chosen]] = True
        return marks

    @cached_property
    def _rows(self) -> Marks | None:
        """The rows of the reader's documents; None where that is every row."""
        return None if self._readable.all() else self._readable[self._documents.doc_of]

    def _number(self, doc_id: str) -> int | None:
        place = bisect.bisect_left(self.doc_ids, doc_id)
        known = place < len(self.doc_ids) and self.doc_ids[place] == doc_id
        return int(self._numbers[place]) if known else None

    def _row(self, name: str) -> int:
        doc_id, revision, ordinal = split_passage_id(name)
        number = self._number(doc_id)
        if number is None or self._documents.entries[number].revision != revision:
            raise UnknownDocument(f"generation {self.manifest.name} has no passage {name!r}")
        return int(self._documents.first_row[number]) + ordinal

    def _hits(self, found: tuple[NDArray[np.int64], NDArray[np.float32], bool]) -> EngineHits:
        rows, scores, exhausted = found
        numbers = self._documents.doc_of[rows]
        ordinals = rows - self._documents.first_row[numbers]
        entries = [self._documents.entries[number] for number in numbers]
        return EngineHits(
            passage_ids=tuple(
                passage_id(entry.doc_id, entry.revision, int(ordinal))
                for entry, ordinal in zip(entries, ordinals, strict=True)
            ),
            doc_ids=tuple(entry.doc_id for entry in entries),
            scores=tuple(scores.tolist()),
            exhausted=exhausted,
        )


_NOTHING = EngineHits((), (), (), exhausted=True)


def _seen(manifest: Manifest, documents: int, passages: int) -> Manifest:
    """The manifest with the counts of what a reader may read.

    Who may read only a part of it, and no more than is always compared exactly, is told nothing of
    copies that the rest made worth while.
    """
    if documents == manifest.documents:
        return manifest
    form = manifest.semantic if passages > EXACT_UP_TO else SemanticForm()
    return replace(manifest, documents=documents, passages=passages, semantic=form)


def _unavailable(system: str, error: CounterpointError) -> EngineFailure:
    return EngineFailure(f"the {system} engine is unavailable: {error}")


def _guarded(system: str, ask: Callable[[], T]) -> T:
    """Turn whatever an engine throws into its failure.

    A panic in the engine's Rust code arrives as a BaseException that no ordinary handler sees.
    """
    try:
        return ask()
    except (ValueError, RuntimeError, OSError) as error:
        raise EngineFailure(f"the {system} engine failed: {error}") from error
    except BaseException as error:
        if type(error).__module__ != "pyo3_runtime":
            raise
        raise EngineFailure(f"the {system} engine failed: {error}") from error
