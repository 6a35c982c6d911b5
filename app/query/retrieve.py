"""Asking each system to its own depth, and turning its passages into one rank per unit.

An engine ranks passages. For documents, a document takes the place of its best passage and ranks
are closed up *before* anything is fused: several passages of one manual are not several votes. The
engine is asked deeper until the depth is full and no tie at the cut is left open, so that the top n
of a list does not depend on how deep it was asked.
"""

from __future__ import annotations

from collections.abc import Callable

from app.query.protocol import System, Unit
from app.query.ranking import Found, Hit, Ranking
from store.backend import EngineFailure, EngineHits

Ask = Callable[[int], EngineHits]

FIRST_FACTOR = 3
"""How many passages are asked for per unit of depth, at first."""

MOST_FOUND = 8
"""How many passages of one document are remembered from an engine's answer."""


def retrieve(system: System, unit: Unit, ask: Ask) -> Ranking:
    """The ranking of one system. ``ask(limit)`` gives the engine's best passages.

    An engine that fails gives an unavailable ranking, not an empty one.
    """
    limit = system.depth * (FIRST_FACTOR if unit == "document" else 1) + 1
    try:
        while True:
            hits = ask(limit)
            best = _best(hits, unit)
            if hits.exhausted or _decided(best, hits, system.depth):
                break
            limit *= 2
    except EngineFailure as error:
        return Ranking(system.name, system.depth, (), exhausted=False, unavailable=str(error))
    ranked = sorted(best.items(), key=lambda entry: (-entry[1][0], entry[0]))
    found = _found(hits, {name for name, _ in ranked[: system.depth]}, unit)
    return Ranking(
        system.name,
        system.depth,
        tuple(
            Hit(name, rank, score, passage, tuple(found[name]))
            for rank, (name, (score, passage)) in enumerate(ranked[: system.depth], start=1)
        ),
        exhausted=hits.exhausted and len(ranked) <= system.depth,
    )


def _best(hits: EngineHits, unit: Unit) -> dict[str, tuple[float, str]]:
    """The best score of each unit and the passage that has it; equal passages by passage id."""
    best: dict[str, tuple[float, str]] = {}
    names = hits.doc_ids if unit == "document" else hits.passage_ids
    for name, passage, score in zip(names, hits.passage_ids, hits.scores, strict=True):
        known = best.get(name)
        if known is None or (-score, passage) < (-known[0], known[1]):
            best[name] = (score, passage)
    return best


def _found(hits: EngineHits, names: set[str], unit: Unit) -> dict[str, list[Found]]:
    """The first passages of each of ``names`` in the engine's answer, with their places in it.

    Passages that are equal to the last one may have been cut through, and are left out.
    """
    found: dict[str, list[Found]] = {name: [] for name in names}
    open_tie = None if hits.exhausted or not hits.scores else hits.scores[-1]
    ordered = sorted(
        (
            entry
            for entry in zip(hits.scores, hits.passage_ids, hits.doc_ids, strict=True)
            if entry[0] != open_tie
        ),
        key=lambda entry: (-entry[0], entry[1]),
    )
    for place, (_, passage, document) in enumerate(ordered, start=1):
        mine = found.get(document if unit == "document" else passage)
        if mine is not None and len(mine) < MOST_FOUND:
            mine.append(Found(passage, place))
    return found


def _decided(best: dict[str, tuple[float, str]], hits: EngineHits, depth: int) -> bool:
    """Whether nothing below the last hit could still enter the list or change its order."""
    if len(best) < depth:
        return False
    cut = sorted((score for score, _ in best.values()), reverse=True)[depth - 1]
    return hits.scores[-1] < cut
