"""A generation on this disk, opened for reading."""

from __future__ import annotations

import bisect
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from corpus.document import Passage, passage_id
from corpus.query_terms import QueryTerms, Terms
from store.archive import Archive
from store.backend import Candidate, EngineFailure, EngineHits
from store.catalogue import Catalogue, split_passage_id
from store.embedded.build import DOCUMENTS_NAME
from store.embedded.lexical import LexicalIndex, open_lexical
from store.embedded.semantic import SemanticIndex, open_semantic
from store.errors import CounterpointError, Damaged, NothingServed, UnknownDocument
from store.generations import current_generation, served_name
from store.manifest import Manifest, check_files, read_manifest

T = TypeVar("T")


class EmbeddedBackend:
    """One generation, immutable and safe for any number of threads.

    An engine whose files are damaged is left closed and says so when it is asked; the other one
    keeps answering.
    """

    def __init__(
        self,
        archive: Archive,
        manifest: Manifest,
        documents: Sequence[tuple[str, int, int]],
        lexical: LexicalIndex | CounterpointError,
        semantic: SemanticIndex | CounterpointError,
    ) -> None:
        self.manifest = manifest
        self.doc_ids: Sequence[str] = tuple(doc_id for doc_id, _, _ in documents)
        self._archive = archive
        self._revisions = tuple(revision for _, revision, _ in documents)
        sizes = np.array([size for _, _, size in documents], dtype=np.int64)
        self._first_row = np.concatenate(([0], np.cumsum(sizes)))[:-1] if len(sizes) else sizes
        self._doc_of = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        self._lexical = lexical
        self._semantic = semantic

    @property
    def whole(self) -> bool:
        """Whether both engines are open."""
        return not any(
            isinstance(part, CounterpointError) for part in (self._lexical, self._semantic)
        )

    def lexical(
        self,
        query: QueryTerms,
        limit: int,
        permitted: frozenset[str] | None,
        coverage: float = 0.0,
    ) -> EngineHits:
        return self._among(
            permitted,
            _NOTHING,
            lambda index, allowed: self._hits(
                index.search(query, limit, allowed, self._doc_of, coverage)
            ),
        )

    def share_held(self, query: QueryTerms, permitted: frozenset[str] | None) -> float:
        return self._among(
            permitted,
            0.0,
            lambda index, allowed: index.share_held(query, allowed, self._doc_of),
        )

    def semantic(
        self,
        vector: NDArray[np.float32],
        limit: int,
        permitted: frozenset[str] | None,
        language: str = "",
    ) -> EngineHits:
        index = _opened(self._semantic, "semantic")
        if permitted is not None and not permitted:
            return _NOTHING
        allowed = self._permitted_documents(permitted)
        rows = None if allowed is None else allowed[self._doc_of]
        return self._hits(_guarded("semantic", lambda: index.search(vector, language, limit, rows)))

    def matching_documents(self, terms: Terms, *, in_title: bool = False) -> frozenset[str]:
        index = _opened(self._lexical, "lexical")
        numbers = _guarded("lexical", lambda: index.documents(terms, in_title=in_title))
        return frozenset(self.doc_ids[number] for number in numbers)

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
        return self._among(
            permitted, (), lambda index, allowed: index.near_words(word, allowed, self._doc_of)
        )

    def near_codes(self, code: str, permitted: frozenset[str] | None) -> tuple[Candidate, ...]:
        return self._among(
            permitted, (), lambda index, allowed: index.near_codes(code, allowed, self._doc_of)
        )

    def passages(self, passage_ids: Sequence[str]) -> dict[str, Passage]:
        with Catalogue(self._archive) as catalogue:
            version = catalogue.version(self.manifest.inputs.corpus_version)
            return catalogue.passages_by_id(version, passage_ids)

    def explain(self, query: QueryTerms, passage_id: str) -> dict[str, Any]:
        index = _opened(self._lexical, "lexical")
        row = self._row(passage_id)
        return _guarded("lexical", lambda: index.explain(query, row))

    def _among(
        self,
        permitted: frozenset[str] | None,
        nothing: T,
        ask: Callable[[LexicalIndex, NDArray[np.bool_] | None], T],
    ) -> T:
        """What the lexical engine answers of the permitted documents; ``nothing`` without any.

        :raises EngineFailure: its files are damaged, or it fails
        """
        index = _opened(self._lexical, "lexical")
        if permitted is not None and not permitted:
            return nothing
        allowed = self._permitted_documents(permitted)
        return _guarded("lexical", lambda: ask(index, allowed))

    def _row(self, name: str) -> int:
        doc_id, revision, ordinal = split_passage_id(name)
        number = bisect.bisect_left(self.doc_ids, doc_id)
        known = number < len(self.doc_ids) and self.doc_ids[number] == doc_id
        if not known or self._revisions[number] != revision:
            raise UnknownDocument(f"generation {self.manifest.name} has no passage {name!r}")
        return int(self._first_row[number]) + ordinal

    def _permitted_documents(self, permitted: frozenset[str] | None) -> NDArray[np.bool_] | None:
        if permitted is None:
            return None
        return np.fromiter(
            (doc_id in permitted for doc_id in self.doc_ids),
            dtype=np.bool_,
            count=len(self.doc_ids),
        )

    def _hits(self, found: tuple[NDArray[np.int64], NDArray[np.float32], bool]) -> EngineHits:
        rows, scores, exhausted = found
        documents = self._doc_of[rows]
        ordinals = rows - self._first_row[documents]
        return EngineHits(
            passage_ids=tuple(
                passage_id(self.doc_ids[doc], self._revisions[doc], int(ordinal))
                for doc, ordinal in zip(documents, ordinals, strict=True)
            ),
            doc_ids=tuple(self.doc_ids[doc] for doc in documents),
            scores=tuple(scores.tolist()),
            exhausted=exhausted,
        )


_NOTHING = EngineHits((), (), (), exhausted=True)


def open_backend(archive: Archive) -> EmbeddedBackend:
    """Open the generation being served.

    :raises NothingServed: nothing was published yet
    :raises Damaged: the manifest or the list of documents cannot be read
    """
    while True:
        name = served_name(archive)
        try:
            backend = _open(archive, current_generation(archive))
        except (NothingServed, Damaged):
            backend = None
            if served_name(archive) == name:
                raise
        # One that was replaced, and then removed, while it was being opened is not damaged.
        if backend is not None and (backend.whole or served_name(archive) == name):
            return backend


def _open(archive: Archive, name: str) -> EmbeddedBackend:
    folder = archive.generations / name
    manifest = read_manifest(folder)
    check_files(folder, manifest, DOCUMENTS_NAME)
    return EmbeddedBackend(
        archive,
        manifest,
        generation_documents(folder),
        _open_part(folder, manifest, "lexical/", open_lexical),
        _open_part(folder, manifest, "semantic/", partial(open_semantic, form=manifest.semantic)),
    )


def generation_documents(folder: Path) -> list[tuple[str, int, int]]:
    """Each document of a generation with its revision and number of passages, by id."""
    body = json.loads((folder / DOCUMENTS_NAME).read_text(encoding="utf-8"))
    return [(doc_id, revision, passages) for doc_id, revision, passages in body]


def passage_counts(folder: Path) -> tuple[int, int]:
    """How many passages the lexical and the semantic index in ``folder`` hold.

    :raises Damaged: one of them cannot be opened
    """
    return open_lexical(folder / "lexical").passages, open_semantic(folder / "semantic").passages


def _open_part(
    folder: Path, manifest: Manifest, part: str, opener: Callable[[Path], T]
) -> T | CounterpointError:
    try:
        check_files(folder, manifest, part)
        return opener(folder / part)
    except Damaged as error:
        return error


def _opened(index: T | CounterpointError, system: str) -> T:
    if isinstance(index, CounterpointError):
        raise EngineFailure(f"the {system} engine is unavailable: {index}") from index
    return index


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
