"""Asking every system of a protocol the question of one search, in the order that rules need."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.query.emphasis import share_held
from app.query.prior import Places, prior_ranking
from app.query.protocol import Protocol, Unit
from app.query.ranking import Ranking
from app.query.retrieve import Ask, retrieve
from app.query.systems import BY_WORDS, CODES, ENGINES, LEXICAL, PRIOR, SEMANTIC, TITLE, System
from corpus.language import query_language
from corpus.query_terms import QueryTerms
from store.backend import EngineHits, LexicalFields, View
from store.catalogue import Catalogue, Version
from store.errors import BadInput

CODES_ALONE = "the query is codes alone, and documents with them were found by words"
NO_CODE = "the query has no code"

FIELDS: Mapping[str, LexicalFields] = {LEXICAL: "all", CODES: "codes", TITLE: "title"}
"""What the lexical engine looks at for each kind of system that it answers for."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the systems are asked, of which documents, and for whom.

    ``encode`` gives the unit vector of a text, ``timings`` receives milliseconds by step.
    """

    view: View
    catalogue: Catalogue
    version: Version
    terms: QueryTerms
    permitted: frozenset[str] | None
    unit: Unit
    encode: Callable[[str], NDArray[np.float32]]
    timings: dict[str, float]
    vectors: list[NDArray[np.float32]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Answers:
    """The rankings in protocol order, and for each prior the place of every document that it
    ranks, below its depth as well."""

    rankings: tuple[Ranking, ...]
    places: Mapping[str, Places]


def refuse_unanswerable(protocol: Protocol) -> None:
    """:raises BadInput: a system is of no kind that an engine answers for"""
    for system in protocol.systems:
        if system.kind not in ENGINES:
            raise BadInput(
                f"no engine answers for a system of kind {system.kind!r}; "
                f"there are {', '.join(ENGINES)}"
            )


def ask_all(protocol: Protocol, question: Question) -> Answers:
    """The ranking of every system: those by words first, which others wait for, priors last."""
    found: dict[str, Ranking] = {}
    places: dict[str, Places] = {}
    for system in sorted(protocol.systems, key=_turn):
        if system.kind == PRIOR:
            others = [found[one.name] for one in protocol.systems if one.kind != PRIOR]
            with timed(question.timings, system.name):
                found[system.name], places[system.name] = _prior(system, question, others)
        else:
            first = [
                found[one.name]
                for one in protocol.systems
                if one.name in found and one.kind in (LEXICAL, CODES)
            ]
            found[system.name] = _ranking(system, question, first)
    return Answers(tuple(found[system.name] for system in protocol.systems), places)


def _turn(system: System) -> int:
    if system.kind in (LEXICAL, CODES):
        return 0
    return 2 if system.kind == PRIOR else 1


def _prior(system: System, question: Question, others: list[Ranking]) -> tuple[Ranking, Places]:
    permitted = question.permitted
    return prior_ranking(
        system,
        question.unit,
        question.catalogue,
        question.version,
        others,
        [one for one in question.view.doc_ids if permitted is None or one in permitted],
    )


def _ranking(system: System, question: Question, earlier: list[Ranking]) -> Ranking:
    silent = _silenced(system, question, earlier)
    if silent:
        return Ranking(system.name, system.depth, (), exhausted=True, not_asked=silent)
    timings = question.timings
    encoded = timings.get("encode", 0.0)
    with timed(timings, system.name):
        ranking = retrieve(system, question.unit, _ask(system, question))
        if system.emphasis is not None and ranking.hits:
            share = question.view.share_held(question.terms, question.permitted)
            ranking = replace(ranking, held=share_held(share))
    if system.kind == CODES and not ranking.hits and not ranking.unavailable:
        ranking = _without_guesses(ranking, question.terms)
    # Encoding happens inside the first question and is a step of its own.
    spent = timings.get("encode", 0.0) - encoded
    timings[system.name] = round(timings[system.name] - spent, 3)
    return ranking


def _silenced(system: System, question: Question, earlier: list[Ranking]) -> str:
    """The rule by which a system is not asked, or nothing."""
    terms = question.terms
    if system.asked == "where the query has a code" and not terms.codes:
        return NO_CODE
    if system.asked == "unless codes alone match" and terms.codes_only:
        return CODES_ALONE if any(ranking.hits for ranking in earlier) else ""
    return ""


def _without_guesses(ranking: Ranking, terms: QueryTerms) -> Ranking:
    """Two words that might be one code, and are none that any document has, were not a code."""
    if set(terms.codes) <= set(terms.asked.guesses):
        return replace(ranking, not_asked=NO_CODE)
    return ranking


def _ask(system: System, question: Question) -> Ask:
    view, terms, permitted = question.view, question.terms, question.permitted
    if system.kind in BY_WORDS:
        share, fields = float(system.coverage or 0), FIELDS[system.kind]
        return lambda limit: view.lexical(terms, limit, permitted, share, fields)
    if system.kind != SEMANTIC:
        raise ValueError(f"no engine answers for a system of kind {system.kind!r}")

    def ask(limit: int) -> EngineHits:
        if not question.vectors:
            with timed(question.timings, "encode"):
                question.vectors.append(question.encode(terms.semantic_text))
        language = query_language(terms.semantic_text)
        return view.semantic(question.vectors[0], limit, permitted, language)

    return ask


@contextmanager
def timed(timings: dict[str, float], step: str) -> Iterator[None]:
    """Write how long the block took, in milliseconds, under the name of the step."""
    started = time.perf_counter()
    try:
        yield
    finally:
        timings[step] = round((time.perf_counter() - started) * 1000, 3)
