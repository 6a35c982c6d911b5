"""How much of a query a passage holds, and how much it has to hold to be a match.

A clause weighs what BM25 gives its rarity: ln(1 + (N - n + 1/2) / (n + 1/2)) for n of N passages;
a clause that no passage satisfies weighs most of all. A passage matches where the clauses it
satisfies weigh at least a stated share of them all, or at least as much as one that a single
passage satisfies: a rare code is a match whatever else was typed. So a document that shares only
the common words of a question in another language has not matched it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import tantivy

from store.embedded.clauses import Clause

_ROUNDING = 1e-4
"""The engine adds weights in single precision; what is reached on paper must be reached there."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The weight of each clause of one query, and the least weight of a match."""

    clauses: tuple[Clause, ...]
    weights: tuple[float, ...]
    least: float

    @property
    def decides(self) -> bool:
        """Whether some clause alone is too little to be a match."""
        return any(weight < self.least for weight in self.weights)

    def weighing(self) -> tantivy.Query:
        """A query whose score is the weight of the clauses that a passage satisfies."""
        return tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Should, tantivy.Query.const_score_query(clause.query, weight))
                for clause, weight in zip(self.clauses, self.weights, strict=True)
            ]
        )

    def needed(self) -> tantivy.Query:
        """A query that every match satisfies: one of the clauses without which the others, all
        together, weigh too little. It spares the engine most of what cannot match."""
        ascending = sorted(range(len(self.weights)), key=lambda index: self.weights[index])
        together, spared = 0.0, 0
        while together + self.weights[ascending[spared]] < self.least:
            together += self.weights[ascending[spared]]
            spared += 1
        chosen = [(tantivy.Occur.Should, self.clauses[index].query) for index in ascending[spared:]]
        return tantivy.Query.const_score_query(tantivy.Query.boolean_query(chosen), 0.0)


def coverage_of(clauses: Sequence[Clause], searcher: tantivy.Searcher, share: float) -> Coverage:
    """Weigh ``clauses`` in the index of ``searcher``; a match holds ``share`` (0 to 1) of it all.

    A guess that no passage satisfies is not counted: nobody asked for it.
    """
    passages = searcher.num_docs
    kept, weights = [], []
    for clause in clauses:
        found = _frequency(clause, searcher)
        if found or not clause.guess:
            kept.append(clause)
            weights.append(_rarity(passages, found))
    # A guess stands beside the words it is made of, and must not make them weigh less.
    total = sum(weight for clause, weight in zip(kept, weights, strict=True) if not clause.guess)
    least = min(share * total, _rarity(passages, 1)) - _ROUNDING
    return Coverage(tuple(kept), tuple(weights), max(0.0, least))


def _frequency(clause: Clause, searcher: tantivy.Searcher) -> int:
    """In how many passages a clause may be satisfied: by its most frequent term, or for a phrase
    by its rarest."""
    found = [searcher.doc_freq(field, term) for field, term in clause.entries]
    return (min if clause.every else max)(found, default=0)


def _rarity(passages: int, found: int) -> float:
    found = min(found, passages)
    return math.log1p((passages - found + 0.5) / (found + 0.5))
