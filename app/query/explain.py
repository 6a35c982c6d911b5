"""Why a document is where it is: the parts that were summed, and the names of what is absent.

Nothing is computed a second time here: the parts shown are the parts that decided the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from app.query.fuse import Absence, Contribution, FusedHit, Part, Reason, ScoredContribution
from app.query.protocol import LEXICAL, Protocol
from corpus.query_terms import QueryTerms
from store.backend import EngineFailure, View


def settle_absences(
    view: View, terms: QueryTerms, fused: Sequence[FusedHit], protocol: Protocol
) -> tuple[FusedHit, ...]:
    """Tell "below the depth" from "not matched" where a list was cut before its end.

    Every passage has a vector, so beyond the semantic depth a document is below it. Beyond the
    lexical depth it may match too little, or nothing at all: one question restricted to these
    documents decides.
    """
    open_cases = [
        hit.id
        for hit in fused
        for part in hit.parts
        if isinstance(part, Absence)
        and part.system == LEXICAL
        and part.reason is Reason.BELOW_DEPTH
    ]
    if not open_cases:
        return tuple(fused)
    try:
        matching = _matching(view, terms, open_cases, protocol)
    except EngineFailure:
        return tuple(fused)
    unmatched = set(open_cases) - matching
    return tuple(
        replace(hit, parts=tuple(_not_matched(part) for part in hit.parts))
        if hit.id in unmatched
        else hit
        for hit in fused
    )


def _matching(view: View, terms: QueryTerms, ids: Sequence[str], protocol: Protocol) -> set[str]:
    """Which of ``ids`` hold enough of the query to be matches."""
    by_passage = protocol.unit == "passage"
    documents = frozenset(name.rpartition("@")[0] for name in ids) if by_passage else frozenset(ids)
    lexical = next(system for system in protocol.systems if system.name == LEXICAL)
    share = float(lexical.coverage or 0)
    hits = view.lexical(terms, view.manifest.passages + 1, documents, share)
    return set(hits.passage_ids if by_passage else hits.doc_ids)


def _not_matched(part: Part) -> Part:
    if isinstance(part, Absence) and part.system == LEXICAL:
        return replace(part, reason=Reason.NOT_MATCHED)
    return part


def share(part: Part, score: Fraction) -> Fraction:
    """The part's share of the fused score, from 0 to 1; absence has none."""
    if isinstance(part, Contribution) and score:
        return part.value / score
    return Fraction(0)


def amount(part: Contribution) -> str:
    """What the part gives: a fraction where it is one, a rounded decimal where it is a float.

    >>> amount(Contribution("lexical", 1, Fraction(1), Fraction(1, 61)))
    '1/61'
    """
    if isinstance(part, ScoredContribution):
        return f"{float(part.value):.6f}"
    return f"{part.value.numerator}/{part.value.denominator}"


def part_in_words(part: Part) -> str:
    """A part as a reader sees it.

    >>> from app.query.fuse import Absence, Reason
    >>> part_in_words(Absence("lexical", Reason.BELOW_DEPTH, 2))
    'not in the top 2'
    """
    if isinstance(part, Contribution):
        return f"rank {part.rank}"
    if part.reason is Reason.BELOW_DEPTH:
        known = f", rank {part.rank}" if part.rank is not None else ""
        return f"not in the top {part.depth}{known}"
    return str(part.reason)
