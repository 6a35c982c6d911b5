"""Why a document is where it is: the parts that were summed, and the names of what is absent.

Nothing is computed a second time here: the parts shown are the parts that decided the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from app.query.asking import FIELDS
from app.query.fuse import Absence, Contribution, FusedHit, Part, Reason, ScoredContribution
from app.query.prior import Places
from app.query.protocol import Protocol, Unit
from app.query.record import ratio
from app.query.systems import BY_WORDS, PRIOR, System
from corpus.query_terms import QueryTerms
from store.backend import EngineFailure, View


def settle_absences(
    view: View,
    terms: QueryTerms,
    fused: Sequence[FusedHit],
    protocol: Protocol,
    places: Mapping[str, Places] | None = None,
) -> tuple[FusedHit, ...]:
    """Tell "below the depth" from "not matched" where a list was cut before its end.

    Every passage has a vector, so beyond the semantic depth a document is below it. Beyond the
    depth of a system by words it may match too little, or nothing at all: one question restricted
    to these documents decides. A prior knows the place of every document that has one: ``places``.
    """
    settled = tuple(fused)
    for system in protocol.systems:
        open_cases = [
            hit.id
            for hit in settled
            for part in hit.parts
            if _open(part) and part.system == system.name
        ]
        if not open_cases:
            continue
        ranks: Mapping[str, int | None]
        if system.kind in BY_WORDS:
            try:
                ranks = dict.fromkeys(_matching(view, terms, open_cases, system, protocol.unit))
            except EngineFailure:
                continue
        elif system.kind == PRIOR and places and system.name in places:
            ranks = places[system.name]
        else:
            continue
        cases = set(open_cases)
        settled = tuple(
            replace(hit, parts=tuple(_decided(part, system, hit.id, ranks) for part in hit.parts))
            if hit.id in cases
            else hit
            for hit in settled
        )
    return settled


def _open(part: Part) -> bool:
    return isinstance(part, Absence) and part.reason is Reason.BELOW_DEPTH


def _matching(
    view: View, terms: QueryTerms, ids: Sequence[str], system: System, unit: Unit
) -> set[str]:
    """Which of ``ids`` hold enough of the query to be matches."""
    by_passage = unit == "passage"
    documents = frozenset(name.rpartition("@")[0] for name in ids) if by_passage else frozenset(ids)
    share = float(system.coverage or 0)
    most = view.manifest.passages + 1
    hits = view.lexical(terms, most, documents, share, FIELDS[system.kind])
    return set(hits.passage_ids if by_passage else hits.doc_ids)


def _decided(part: Part, system: System, name: str, ranks: Mapping[str, int | None]) -> Part:
    """A part with an open reason settled: below depth where ``ranks`` has the id, with its rank
    where that is known, and else not matched."""
    if not isinstance(part, Absence) or part.system != system.name:
        return part
    if name in ranks:
        return replace(part, rank=ranks[name])
    return replace(part, reason=Reason.NOT_MATCHED)


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


def sum_in_words(hit: FusedHit) -> str:
    """All parts of a score and their sum, exact and as a decimal.

    >>> first = Contribution("a", 1, Fraction(1), Fraction(1, 61))
    >>> parts = (first, Absence("b", Reason.BELOW_DEPTH, 9))
    >>> sum_in_words(FusedHit("d", 1, parts))
    'a rank 1, b not in the top 9: 1/61 ≈ 0.0164'
    """
    parts = ", ".join(f"{part.system} {part_in_words(part)}" for part in hit.parts)
    given = [part for part in hit.parts if isinstance(part, Contribution)]
    sums = " + ".join(map(amount, given))
    score = hit.score
    if isinstance(given[0], ScoredContribution):
        return f"{parts}: {sums} ≈ {float(score):.6f}"
    exact = ratio(score.numerator, score.denominator)
    equation = f"{sums} = {exact}" if "+" in sums else exact
    return f"{parts}: {equation} ≈ {float(score):.4f}"
