"""Which passages of a document to read: its best ones, in reading order.

They are taken from what the engines returned before passages collapsed to documents, so that no
engine is asked for them. A document's rank comes from one passage of each list and is not touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from app.query.fuse import FusedHit
from app.query.highlight import Snippet, snippet, sought_in
from app.query.protocol import Protocol
from app.query.ranking import Ranking
from corpus.document import Passage
from corpus.query_terms import QueryTerms
from store.catalogue import split_passage_id

SHOWN = 3
"""How many passages of a document are shown."""

SHORT_SNIPPET = 120
"""Characters of a passage that is not the first to read."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may be shown. ``earned`` says that its document has its best contribution from
    it, ``near`` that a list of passages would hold it at the depth that was asked."""

    passage_id: str
    earned: bool
    near: bool


@dataclass(frozen=True, slots=True)
class Extract:
    """A passage of a row and what is shown of it; ``first`` is the one to read first."""

    passage: Passage
    snippet: Snippet
    earned: bool
    first: bool


def candidate_passages(
    rankings: Sequence[Ranking],
    protocol: Protocol,
    hits: Sequence[FusedHit],
    earned: Mapping[str, str],
) -> dict[str, tuple[Candidate, ...]]:
    """For each hit the passages that the engines returned of it, best first.

    ``earned`` names the passage that earned each hit its best contribution, which comes first. The
    others are ordered as documents are: by the sum of weight / (k + place), then by id.
    """
    names = [system.name for system in protocol.systems]
    weights = dict(zip(names, protocol.effective_weights, strict=True))
    scores: dict[str, dict[str, Fraction]] = {hit.id: {} for hit in hits}
    near = {earned[hit.id] for hit in hits}
    for ranking in rankings:
        for hit in ranking.hits:
            if (mine := scores.get(hit.id)) is None:
                continue
            for found in hit.found:
                value = weights[ranking.system] / (protocol.k + found.place)
                mine[found.passage_id] = mine.get(found.passage_id, Fraction(0)) + value
                if found.place <= ranking.depth:
                    near.add(found.passage_id)
    return {
        name: tuple(
            Candidate(passage_id, passage_id == earned[name], passage_id in near)
            for passage_id in sorted(
                {earned[name], *mine},
                key=lambda one: (one != earned[name], -mine.get(one, Fraction(0)), one),
            )
        )
        for name, mine in scores.items()
    }


def best_extracts(
    candidates: Sequence[Candidate], passages: Mapping[str, Passage], terms: QueryTerms
) -> tuple[Extract, tuple[Extract, ...]]:
    """The passage to read first, and up to ``SHOWN`` passages with it among them, in reading order.

    The first one is the passage that earned the rank, unless a code or phrase of the query stands
    in another one and not in that. Passages that say the same are shown once.
    """
    first = _first(candidates, passages, terms)
    earned = next(entry for entry in candidates if entry.earned)
    chosen: dict[str, Candidate] = {}
    for entry in (first, earned, *(entry for entry in candidates if entry.near)):
        if len(chosen) < SHOWN:
            chosen.setdefault(_said(passages[entry.passage_id]), entry)
    extracts = {
        entry.passage_id: _extract(passages[entry.passage_id], entry, terms, entry == first)
        for entry in chosen.values()
    }
    return extracts[first.passage_id], tuple(extracts[name] for name in sorted(extracts))


def place_of(passage: Passage, title: str) -> str:
    """Where a passage stands in its document: its page and the heading above it, or its number."""
    page = [f"p. {passage.page}"] if passage.page else []
    inner = passage.headings[1:] if passage.headings[:1] == (title,) else passage.headings
    number = split_passage_id(passage.passage_id)[2] + 1
    return " · ".join([*page, *inner[-1:]]) or f"passage {number}"


def _first(
    candidates: Sequence[Candidate], passages: Mapping[str, Passage], terms: QueryTerms
) -> Candidate:
    """The one with most of the query's codes and phrases; of several the best one."""

    def held(entry: Candidate) -> tuple[int, int]:
        places = sought_in(passages[entry.passage_id].text, terms)
        itself = {place.number for place in places if place.itself}
        return len(itself), len({place.number for place in places})

    wanted = len(terms.asked.codes) + len(terms.asked.phrases)
    best, most = candidates[0], (0, 0)
    for entry in candidates if wanted and len(candidates) > 1 else ():
        # Candidates come best first, and nothing holds more than everything.
        if (holds := held(entry)) > most:
            best, most = entry, holds
        if most[0] == wanted:
            break
    return best


def _said(passage: Passage) -> str:
    return " ".join(passage.text.split())


def _extract(passage: Passage, entry: Candidate, terms: QueryTerms, first: bool) -> Extract:
    piece = snippet(passage.text, terms) if first else snippet(passage.text, terms, SHORT_SNIPPET)
    return Extract(passage, piece, entry.earned, first)
