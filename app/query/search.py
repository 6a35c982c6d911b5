"""A search: retrieve from each system, fuse, name what is absent, keep the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from app.query.asking import Answers, Question, ask_all, refuse_unanswerable, timed
from app.query.correct import Suggestion, applied, corrected, suggestions
from app.query.emphasis import share_in_words
from app.query.explain import settle_absences
from app.query.fuse import fuse
from app.query.narrow import expanded, narrowed
from app.query.protocol import Protocol
from app.query.ranking import Ranking
from app.query.read_as import read_as
from app.query.record import SearchRecord
from corpus.query_terms import QueryTerms
from corpus.scope import Scope
from corpus.terms import WORD, fold_words, read_query
from store.archive import Archive
from store.backend import Backend, EngineFailure, View
from store.catalogue import Catalogue, Version
from store.embedded import open_backend, open_generation
from store.encoder import Encoder, open_encoder
from store.errors import CounterpointError, Damaged, UnknownVersion
from store.records import keep_record, keeps_searches

NOTHING_ASKED = "There is no word or code in this query to look for."
ONLY_CONDITIONS = (
    "This query only filters and excludes; add a word, a code or a phrase to look for."
)


class Engines:
    """One generation opened for searching, shared by all threads of a process.

    The encoder is opened by the first search that needs it, stays open for the generations that
    follow, and must be the one that the semantic index was built with.
    """

    def __init__(self, archive: Archive, generation: str = "") -> None:
        """Open what is served, or the ``generation`` of that name.

        :raises NothingServed: nothing was published yet
        :raises Damaged: the generation cannot be read
        """
        self.archive = archive
        self.backend: Backend = (
            open_generation(archive, generation) if generation else open_backend(archive)
        )
        self._titles: tuple[tuple[str, str, str], ...] | None = None

    def titles(self, catalogue: Catalogue) -> tuple[tuple[str, str, str], ...]:
        """Every document's id, title, and the title's folded words with a space before each.

        Whoever shows them leaves out what the reader may not see. They are read once.
        """
        if self._titles is None:
            version = self.backend.manifest.inputs.corpus_version
            self._titles = tuple(
                (doc_id, title, "".join(f" {word}" for word in WORD.findall(fold_words(title))))
                for doc_id, title in catalogue.titles(version)
            )
        return self._titles

    def encode(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a query, shape (dimension,).

        :raises EngineFailure: the encoder is not here, or is not the one the index was built with
        """
        try:
            return self.encoder().encode_query(text)
        except CounterpointError as error:
            raise EngineFailure(f"the semantic engine is unavailable: {error}") from error

    def encoder(self) -> Encoder:
        """The encoder that the served index was built with.

        :raises CounterpointError: it is not here, or is another one now
        """
        inputs = self.backend.manifest.inputs
        with _opening:
            encoder = _shared_encoder(inputs.encoder_name)
        if encoder.fingerprint != inputs.encoder:
            raise EngineFailure(
                f"the index was built with encoder {inputs.encoder} but {inputs.encoder_name} is "
                f"now {encoder.fingerprint}; run `python -m indexer ingest` to build it again"
            )
        return encoder


_opening = Lock()


@lru_cache(maxsize=2)
def _shared_encoder(name: str) -> Encoder:
    return open_encoder(name)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to one search. ``timings_ms`` are wall-clock milliseconds per step.

    ``notes`` are sentences for the reader: what was cut, which engine failed, whether the record
    could not be kept.
    """

    record: SearchRecord
    notes: tuple[str, ...]
    timings_ms: Mapping[str, float] = field(compare=False)

    @property
    def rules(self) -> tuple[str, ...]:
        """Sentences on what the protocol decided for this query: no trouble, but not hidden."""
        silent = [
            f"The {ranking.system} system was not asked: {ranking.not_asked}."
            for ranking in self.record.rankings
            if ranking.not_asked
        ]
        # Said of a list on its own too: the sums beside it have the weight in them.
        return (*silent, *self._weighed())

    def _weighed(self) -> list[str]:
        protocol = self.record.protocol
        held = {ranking.system: ranking.held for ranking in self.record.rankings if ranking.hits}
        plain, weights = protocol.effective_weights, protocol.weights_for(held)
        return [
            f"The {system.name} list weighs {weight}: one passage holds "
            f"{share_in_words(share)} of what was asked."
            for system, before, weight in zip(protocol.systems, plain, weights, strict=True)
            if (share := held.get(system.name)) is not None and weight != before
        ]

    @property
    def partial(self) -> bool:
        """Whether an engine could not answer, so that the fused list lacks its votes."""
        return any(ranking.unavailable for ranking in self.record.rankings)


def search(
    engines: Engines,
    catalogue: Catalogue,
    query: str,
    protocol: Protocol,
    scope: Scope | None = None,
    *,
    searcher: str = "",
    keep: bool = True,
) -> SearchResult:
    """Ask every system of ``protocol`` and fuse what they say.

    A query without a word or code to look for asks no engine and finds nothing, with a note. What
    it excludes or filters binds every system; where that cannot be told, none is asked.

    :raises BadInput: the protocol has a system that no engine answers for
    """
    refuse_unanswerable(protocol)
    scope = scope or Scope()
    view = engines.backend.for_reader(scope.groups)
    timings: dict[str, float] = {}
    terms = read_query(query)
    given: tuple[Suggestion, ...] = ()
    permitted: frozenset[str] | None = None
    undecided = ""
    with timed(timings, "scope"):
        version = _version_of(view, catalogue)
        try:
            permitted = narrowed(view, catalogue, version, scope, terms)
            terms = expanded(view, terms, permitted)
        except EngineFailure as error:
            undecided = f"what this query excludes or abbreviates cannot be told: {error}"
    text = terms.text
    if protocol.corrections != "off" and terms.searchable and not undecided:
        with timed(timings, "correct"):
            given = _suggestions(view, terms, permitted)
            if given and protocol.corrections == "apply":
                terms = read_query(corrected(text, given))
                permitted = narrowed(view, catalogue, version, scope, terms)
                terms = expanded(view, terms, permitted)
    notes = [*terms.notes, *filter(None, [read_as(terms)])]
    if protocol.corrections == "apply":
        notes += map(applied, given)
    if terms.searchable and not undecided:
        question = Question(
            view, catalogue, version, terms, permitted, protocol.unit, engines.encode, timings
        )
        answers = ask_all(protocol, question)
    else:
        if not terms.searchable:
            notes.append(NOTHING_ASKED if not terms.narrowed else ONLY_CONDITIONS)
        empty = tuple(
            Ranking(system.name, system.depth, (), exhausted=not undecided, unavailable=undecided)
            for system in protocol.systems
        )
        answers = Answers(empty, {})
    rankings = answers.rankings
    notes += dict.fromkeys(ranking.unavailable for ranking in rankings if ranking.unavailable)
    with timed(timings, "fuse"):
        candidates = fuse(rankings, protocol)
    with timed(timings, "explain"):
        fused = settle_absences(view, terms, candidates, protocol, answers.places)
    record = SearchRecord(
        query,
        terms,
        protocol,
        scope,
        view.manifest,
        rankings,
        fused,
        tuple(notes),
        text,
        given,
    )
    if keep and keeps_searches():
        with timed(timings, "record"):
            keep_record(catalogue, record.record_id, record.body, searcher)
    return SearchResult(record, tuple(notes), timings)


def _suggestions(
    view: View, terms: QueryTerms, permitted: frozenset[str] | None
) -> tuple[Suggestion, ...]:
    try:
        return suggestions(view, terms, permitted)
    except EngineFailure:
        # The lexical ranking is unavailable then, and says why.
        return ()


def _version_of(view: View, catalogue: Catalogue) -> Version:
    """The corpus version that the indexes were built from.

    :raises Damaged: the catalogue holds another one, or none, of that number
    """
    inputs = view.manifest.inputs
    try:
        version = catalogue.version(inputs.corpus_version)
    except UnknownVersion:
        version = None
    if version is None or version.fingerprint != inputs.corpus_fingerprint:
        raise Damaged(
            f"the indexes were built from a version {inputs.corpus_version} that the catalogue "
            "does not hold; run `python -m indexer rebuild` to build them from what it holds"
        )
    return version
