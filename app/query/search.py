"""A search: retrieve from each system, fuse, name what is absent, keep the record."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from app.query.correct import Suggestion, applied, corrected, suggestions
from app.query.emphasis import share_held, share_in_words
from app.query.explain import settle_absences
from app.query.fuse import fuse
from app.query.narrow import expanded, narrowed
from app.query.protocol import LEXICAL, SEMANTIC, Protocol, System
from app.query.ranking import Ranking
from app.query.read_as import read_as
from app.query.record import SearchRecord
from app.query.retrieve import Ask, retrieve
from corpus.language import query_language
from corpus.query_terms import QueryTerms
from corpus.scope import Scope
from corpus.terms import WORD, fold_words, read_query
from store.archive import Archive
from store.backend import Backend, EngineFailure, EngineHits, View
from store.catalogue import Catalogue, Version
from store.embedded import open_backend
from store.encoder import Encoder, open_encoder
from store.errors import CounterpointError, Damaged, UnknownVersion
from store.records import keep_record

NOTHING_ASKED = "There is no word or code in this query to look for."
ONLY_CONDITIONS = (
    "This query only filters and excludes; add a word, a code or a phrase to look for."
)


CODES_ALONE = "the query is codes alone, and documents with them were found by words"


class Engines:
    """One generation opened for searching, shared by all threads of a process.

    The encoder is opened by the first search that needs it, stays open for the generations that
    follow, and must be the one that the semantic index was built with.
    """

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.backend: Backend = open_backend(archive)
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
        weighed = [] if silent else self._weighed()
        return (*silent, *weighed)

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
    """
    scope = scope or Scope()
    view = engines.backend.for_reader(scope.groups)
    timings: dict[str, float] = {}
    terms = read_query(query)
    given: tuple[Suggestion, ...] = ()
    permitted: frozenset[str] | None = None
    undecided = ""
    with _timed(timings, "scope"):
        version = _version_of(view, catalogue)
        try:
            permitted = narrowed(view, catalogue, version, scope, terms)
            terms = expanded(view, terms, permitted)
        except EngineFailure as error:
            undecided = f"what this query excludes or abbreviates cannot be told: {error}"
    text = terms.text
    if protocol.corrections != "off" and terms.searchable and not undecided:
        with _timed(timings, "correct"):
            given = _suggestions(view, terms, permitted)
            if given and protocol.corrections == "apply":
                terms = read_query(corrected(text, given))
                permitted = narrowed(view, catalogue, version, scope, terms)
                terms = expanded(view, terms, permitted)
    notes = [*terms.notes, *filter(None, [read_as(terms)])]
    if protocol.corrections == "apply":
        notes += map(applied, given)
    if terms.searchable and not undecided:
        rankings = _rankings(engines, view, protocol, terms, permitted, timings)
    else:
        if not terms.searchable:
            notes.append(NOTHING_ASKED if not terms.narrowed else ONLY_CONDITIONS)
        rankings = tuple(
            Ranking(system.name, system.depth, (), exhausted=not undecided, unavailable=undecided)
            for system in protocol.systems
        )
    notes += dict.fromkeys(ranking.unavailable for ranking in rankings if ranking.unavailable)
    with _timed(timings, "fuse"):
        candidates = fuse(rankings, protocol)
    with _timed(timings, "explain"):
        fused = settle_absences(view, terms, candidates, protocol)
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
    if keep:
        with _timed(timings, "record"):
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


def _rankings(
    engines: Engines,
    view: View,
    protocol: Protocol,
    terms: QueryTerms,
    permitted: frozenset[str] | None,
    timings: dict[str, float],
) -> tuple[Ranking, ...]:
    """The ranking of every system, in protocol order; the lexical one is asked first."""
    found: dict[str, Ranking] = {}
    for system in sorted(protocol.systems, key=lambda system: system.name != LEXICAL):
        lexical = found.get(LEXICAL)
        codes_answer = terms.codes_only and lexical is not None and bool(lexical.hits)
        if codes_answer and system.asked == "unless codes alone match":
            found[system.name] = Ranking(
                system.name, system.depth, (), exhausted=True, not_asked=CODES_ALONE
            )
        else:
            found[system.name] = _ranking(
                engines, view, system, protocol, terms, permitted, timings
            )
    return tuple(found[system.name] for system in protocol.systems)


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


def _ranking(
    engines: Engines,
    view: View,
    system: System,
    protocol: Protocol,
    terms: QueryTerms,
    permitted: frozenset[str] | None,
    timings: dict[str, float],
) -> Ranking:
    ask = _ask(engines, view, system, terms, permitted, timings)
    with _timed(timings, system.name):
        ranking = retrieve(system, protocol.unit, ask)
        if system.emphasis is not None and ranking.hits:
            ranking = replace(ranking, held=share_held(view.share_held(terms, permitted)))
    # Encoding happens inside the first question and is a step of its own.
    if system.name == SEMANTIC:
        timings[SEMANTIC] = round(timings[SEMANTIC] - timings.get("encode", 0.0), 3)
    return ranking


def _ask(
    engines: Engines,
    view: View,
    system: System,
    terms: QueryTerms,
    permitted: frozenset[str] | None,
    timings: dict[str, float],
) -> Ask:
    if system.name == LEXICAL:
        share = float(system.coverage or 0)
        return lambda limit: view.lexical(terms, limit, permitted, share)
    if system.name != SEMANTIC:
        raise ValueError(f"no engine answers for a system named {system.name!r}")
    vectors: list[NDArray[np.float32]] = []

    def ask(limit: int) -> EngineHits:
        if not vectors:
            with _timed(timings, "encode"):
                vectors.append(engines.encode(terms.semantic_text))
        language = query_language(terms.semantic_text)
        return view.semantic(vectors[0], limit, permitted, language)

    return ask


@contextmanager
def _timed(timings: dict[str, float], step: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        timings[step] = round((time.perf_counter() - started) * 1000, 3)
