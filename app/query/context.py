"""Passages for a generator: the best ones that fit a budget of tokens, each with its source.

Passages are taken in fused order. What is counted is the very text that is handed over, citations
included, so that no rounding and no seam between two passages can take it over the budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.query.blocks import Block, Chosen, Source, blocks_of, in_words
from app.query.fuse import Contribution
from app.query.record import SearchRecord
from app.query.search import SearchResult
from corpus.resemblance import ALIKE, shared_runs, word_runs
from store.backend import View
from store.catalogue import Catalogue, split_passage_id
from store.database import damaged_database
from store.tokens import TokenCounter

MISSES = 5
"""Choosing ends with this many passages that did not fit: the tail of a long list would only be
searched for something small."""

_FETCHED = 32

Runs = NDArray[np.uint64]
Reason = Literal["does not fit", "nearly the same"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A passage that was looked at and not taken.

    ``tokens`` is what the context would have had with one that does not fit. ``like`` is the chosen
    passage that one is nearly the same as; of ``total`` runs of words of the two, ``shared`` are in
    both.
    """

    chosen: Chosen
    reason: Reason
    tokens: int = 0
    like: str = ""
    shared: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """The blocks of one search, ``text`` with them and their citations, and what is not in it.

    ``tokens`` are those of ``text``, never more than ``budget``. ``untried`` counts the passages
    further down that were not looked at.
    """

    result: SearchResult
    counter: TokenCounter
    budget: int
    text: str
    tokens: int
    blocks: tuple[Block, ...]
    left_out: tuple[LeftOut, ...]
    untried: int


def make_context(
    catalogue: Catalogue, view: View, result: SearchResult, counter: TokenCounter, budget: int
) -> Context:
    """The context for the answer to ``result``, which was searched as the reader of ``view``.

    :raises Damaged: the catalogue does not hold what the indexes found
    """
    record = result.record
    names = list(_in_fused_order(record))
    candidates = _candidates(catalogue, view, record, names)
    sources: dict[str, Source] = {}
    chosen: list[Chosen] = []
    runs: dict[str, Runs] = {}
    blocks: tuple[Block, ...] = ()
    text, tokens = "", 0
    left_out: list[LeftOut] = []
    tried = misses = 0
    for source, candidate in candidates:
        tried += 1
        mine = word_runs(candidate.passage.text)
        if twin := _twin(candidate, mine, runs):
            left_out.append(twin)
            continue
        sources[source.document.doc_id] = source
        longer = blocks_of([*chosen, candidate], sources)
        trial = in_words(longer, record)
        if (counted := counter.count(trial)) <= budget:
            chosen.append(candidate)
            runs[candidate.passage.passage_id] = mine
            blocks, text, tokens = longer, trial, counted
            continue
        left_out.append(LeftOut(candidate, "does not fit", counted))
        misses += 1
        if misses == MISSES:
            break
    untried = len(names) - tried
    return Context(result, counter, budget, text, tokens, blocks, tuple(left_out), untried)


def context_data(context: Context) -> dict[str, Any]:
    """A context as JSON-ready data; ``docs/context.md`` describes every field."""
    record = context.result.record
    return {
        "query": record.query,
        "protocol": {**record.protocol.as_data(), "hash": record.protocol.hash},
        "corpus_version": record.manifest.inputs.corpus_version,
        "record_id": record.record_id,
        "partial": context.result.partial,
        "notes": [*context.result.notes, *context.result.rules],
        "tokenizer": {"name": context.counter.name, "fingerprint": context.counter.fingerprint},
        "budget": context.budget,
        "tokens": context.tokens,
        "text": context.text,
        "blocks": [_block_data(block, record) for block in context.blocks],
        "left_out": [_left_out_data(one) for one in context.left_out],
        "untried": context.untried,
        "alike_from": str(ALIKE),
    }


def _in_fused_order(record: SearchRecord) -> Iterator[tuple[int, str]]:
    """The passages that earned ranks, each once, at the rank of the first hit that it earned one
    for; of several for one hit, the one of the greatest contribution first."""
    passages = {
        ranking.system: {hit.id: hit.passage_id for hit in ranking.hits}
        for ranking in record.rankings
    }
    seen: set[str] = set()
    for hit in record.fused:
        given = [part for part in hit.parts if isinstance(part, Contribution)]
        for part in sorted(given, key=lambda part: -part.value):
            if (name := passages[part.system][hit.id]) not in seen:
                seen.add(name)
                yield hit.rank, name


def _candidates(
    catalogue: Catalogue, view: View, record: SearchRecord, names: Sequence[tuple[int, str]]
) -> Iterator[tuple[Source, Chosen]]:
    version = catalogue.version(record.manifest.inputs.corpus_version)
    sources: dict[str, Source] = {}
    for start in range(0, len(names), _FETCHED):
        some = names[start : start + _FETCHED]
        passages = view.passages([name for _, name in some])
        new = {split_passage_id(name)[0] for _, name in some} - sources.keys()
        for document in catalogue.documents(version.number, sorted(new)):
            text = catalogue.text(version, document.doc_id)
            sources[document.doc_id] = Source(document, text)
        for rank, name in some:
            try:
                passage = passages[name]
                yield sources[passage.doc_id], Chosen(rank, passage)
            except KeyError as error:
                raise damaged_database(
                    catalogue.archive.catalogue,
                    f"version {version.number} lacks {error}, which was indexed",
                ) from error


def _twin(candidate: Chosen, mine: Runs, taken: Mapping[str, Runs]) -> LeftOut | None:
    """Why a passage is left out whose runs of words are ``mine``, where one taken is like it."""
    for name, runs in taken.items():
        shared, total = shared_runs(mine, runs)
        if total and shared >= ALIKE * total:
            return LeftOut(candidate, "nearly the same", like=name, shared=shared, total=total)
    return None


def _block_data(block: Block, record: SearchRecord) -> dict[str, Any]:
    document = block.source.document
    return {
        "number": block.number,
        "rank": block.rank,
        "text": block.text,
        "citation": {
            "doc_id": document.doc_id,
            "title": document.title,
            "revision": document.revision,
            "headings": list(block.passages[0].headings),
            "pages": list(block.pages),
            "ocr": any(one.ocr for one in block.passages),
            "start": block.start,
            "end": block.end,
            "passage_ids": [one.passage_id for one in block.passages],
            "corpus_version": record.manifest.inputs.corpus_version,
            "record_id": record.record_id,
        },
    }


def _left_out_data(one: LeftOut) -> dict[str, Any]:
    passage = one.chosen.passage
    said: dict[str, Any] = {
        "passage_id": passage.passage_id,
        "doc_id": passage.doc_id,
        "rank": one.chosen.rank,
        "reason": one.reason,
    }
    if one.reason == "does not fit":
        return {**said, "tokens": one.tokens}
    return {**said, "like": one.like, "resemblance": f"{one.shared}/{one.total}"}
