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
class Unit:
    """One thing that was asked for: ``found`` matches whatever holds any of it, ``held`` scores how
    much of ``weight`` that is."""

    found: tantivy.Query
    held: tantivy.Query
    weight: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """What one query weighs, and the least weight of a match.

    ``decides`` is false where whatever satisfies a clause is a match.
    """

    units: tuple[Unit, ...]
    least: float
    decides: bool

    @property
    def total(self) -> float:
        """What the whole query weighs."""
        return sum(unit.weight for unit in self.units)

    def weighing(self) -> tantivy.Query:
        """A query whose score is the weight that a passage holds."""
        return _any_of([unit.held for unit in self.units])

    def needed(self) -> tantivy.Query:
        """A query that every match satisfies: one of the units without which the others, all
        together, weigh too little. It spares the engine most of what cannot match."""
        ascending = sorted(self.units, key=lambda unit: unit.weight)
        together, spared = 0.0, 0
        while together + ascending[spared].weight < self.least:
            together += ascending[spared].weight
            spared += 1
        return tantivy.Query.const_score_query(
            _any_of([unit.found for unit in ascending[spared:]]), 0.0
        )


def coverage_of(clauses: Sequence[Clause], searcher: tantivy.Searcher, share: float) -> Coverage:
    """Weigh ``clauses`` in the index of ``searcher``; a match holds ``share`` (0 to 1) of it all.

    A code and the words that are nothing but its pieces are one unit: whoever holds the code holds
    all of it. A guess that no passage satisfies is not counted: nobody asked for it.
    """
    asked = [_weighed(clause, searcher) for clause in clauses if not clause.guess]
    words = {entry.clause.text: entry for entry in asked if not entry.clause.pieces}
    units = []
    for code in (entry for entry in asked if entry.clause.pieces):
        own = [words.pop(piece) for piece in code.clause.pieces if piece in words]
        units.append(_unit(code, own))
    units += [_unit(word, ()) for word in words.values()]
    rarest = _rarity(searcher.num_docs, 1)
    whole = sum(unit.weight for unit in units)
    least = max(0.0, min(share * whole, rarest) - _ROUNDING)
    return Coverage(tuple(units), least, decides=least > 0 and len(asked) > 1)


@dataclass(frozen=True, slots=True)
class _Weighed:
    clause: Clause
    weight: float

    @property
    def constant(self) -> tantivy.Query:
        return tantivy.Query.const_score_query(self.clause.query, self.weight)


def _weighed(clause: Clause, searcher: tantivy.Searcher) -> _Weighed:
    return _Weighed(clause, _rarity(searcher.num_docs, _frequency(clause, searcher)))


def _unit(first: _Weighed, pieces: Sequence[_Weighed]) -> Unit:
    """A word, or a code with the words it consists of: those weigh no more than the whole."""
    if not pieces:
        return Unit(first.clause.query, first.constant, first.weight)
    weight = max(first.weight, sum(piece.weight for piece in pieces))
    held = tantivy.Query.disjunction_max_query(
        [
            _Weighed(first.clause, weight).constant,
            _any_of([piece.constant for piece in pieces]),
        ],
        0.0,
    )
    return Unit(_any_of([one.clause.query for one in (first, *pieces)]), held, weight)


def _any_of(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def _frequency(clause: Clause, searcher: tantivy.Searcher) -> int:
    """In how many passages a clause may be satisfied: by its most frequent term, or for a phrase
    by its rarest."""
    found = [searcher.doc_freq(field, term) for field, term in clause.entries]
    return (min if clause.every else max)(found, default=0)


def _rarity(passages: int, found: int) -> float:
    found = min(found, passages)
    return math.log1p((passages - found + 0.5) / (found + 0.5))
