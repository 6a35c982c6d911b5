"""The five-document study: two lists, all that fusing them can teach, every number computed here.

Five documents, A to E. One list has them in order, the other as B C D E A; B and C are the relevant
ones. What decides whether the fusion is better than a list of its own is k, the depth, and how many
votes a list has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from app.query.fuse import FusedHit, FusedList, fuse
from app.query.protocol import Protocol, System
from app.query.ranking import Ranking, ranking_of
from app.query.record import part_data, ratio
from app.query.spans import Span, order_by_k, span_data
from app.query.swaps import compare_all

LISTS = {"L1": tuple("ABCDE"), "L2": tuple("BCDEA")}
RELEVANT = frozenset("BC")
LAST_K = 100
COPIES = 4
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to fuse the lists, in words, and what came out."""

    name: str
    said: str
    protocol: Protocol
    fused: FusedList

    @property
    def average_precision(self) -> Fraction:
        """Of the fused order."""
        return average_precision(self.fused.ids, RELEVANT)


@dataclass(frozen=True, slots=True)
class Study:
    """All of it: each list's own average precision, the settings, the order by k, and every
    document's score at each whole k from 0 to ``LAST_K``."""

    lists: dict[str, Fraction]
    settings: tuple[Setting, ...]
    by_k: tuple[Span, ...]
    scores: tuple[dict[str, Fraction], ...]

    def setting(self, name: str) -> Setting:
        """The setting of that name."""
        return next(one for one in self.settings if one.name == name)

    def as_data(self) -> dict[str, Any]:
        """JSON-ready: every number as a fraction and as a decimal, both text."""
        return {
            "lists": {
                name: {"ids": list(LISTS[name]), "average_precision": number_data(precision)}
                for name, precision in self.lists.items()
            },
            "relevant": sorted(RELEVANT),
            "settings": [
                {
                    "name": one.name,
                    "said": one.said,
                    "protocol": {**one.protocol.as_data(), "hash": one.protocol.hash},
                    "order": list(one.fused.ids),
                    "average_precision": number_data(one.average_precision),
                    "hits": [_hit_data(hit) for hit in one.fused],
                }
                for one in self.settings
            ],
            "by_k": [
                {
                    **span_data(span),
                    "average_precision": number_data(average_precision(span.order, RELEVANT)),
                }
                for span in self.by_k
            ],
            "scores_by_k": [
                {"k": k, "scores": {name: number_data(value) for name, value in scores.items()}}
                for k, scores in enumerate(self.scores)
            ],
        }


def number_data(value: Fraction) -> dict[str, str]:
    """A fraction and the decimal of it.

    >>> number_data(Fraction(7, 12))
    {'fraction': '7/12', 'decimal': '0.583333333333'}
    """
    # Whole numbers all the way: a float would round twice.
    digits = round(value * 10**DECIMALS)
    text = str(digits).rjust(DECIMALS + 1, "0")
    return {
        "fraction": ratio(value.numerator, value.denominator),
        "decimal": f"{text[:-DECIMALS]}.{text[-DECIMALS:]}",
    }


def _hit_data(hit: FusedHit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "rank": hit.rank,
        "score": number_data(hit.score),
        "parts": part_data(hit.parts),
    }


def average_precision(ids: Sequence[str], relevant: frozenset[str]) -> Fraction:
    """The mean, over all that is relevant, of the precision down to where it stands; what is not
    in ``ids`` counts as 0.

    >>> average_precision("ABCDE", frozenset("BC"))
    Fraction(7, 12)
    """
    total = Fraction(0)
    found = 0
    for place, name in enumerate(ids, start=1):
        if name in relevant:
            found += 1
            total += Fraction(found, place)
    return total / len(relevant)


def study() -> Study:
    """Fuse the lists in every way that the study looks at."""
    two = _protocol(("L1", "L2"))
    many = tuple(f"L1 copy {number}" for number in range(1, COPIES + 1))
    crowd = _protocol((*many, "L2"))
    settings = (
        _setting("k = 0", "both lists whole, k = 0", replace(two, k=Fraction(0))),
        _setting("k = 60", "both lists whole, k = 60", two),
        _setting("depth 2", "both lists cut at depth 2, k = 60", _cut(two, 2)),
        _setting("copies", f"{COPIES} copies of L1 and L2, k = 60, a vote for each", crowd),
        _setting(
            "weight 1/4",
            f"the copies with weight 1/{COPIES} each, k = 60",
            _changed(crowd, many, weight=Fraction(1, COPIES)),
        ),
        _setting(
            "family",
            "the copies as one family, which shares one vote, k = 60",
            _changed(crowd, many, family="L1"),
        ),
    )
    hits = settings[1].fused[:]
    by_whole_k = [
        {hit.id: hit.score for hit in sorted(_fused(replace(two, k=Fraction(k))), key=_by_id)}
        for k in range(LAST_K + 1)
    ]
    return Study(
        {name: average_precision(ids, RELEVANT) for name, ids in LISTS.items()},
        settings,
        order_by_k(hits, compare_all(hits)),
        tuple(by_whole_k),
    )


def _by_id(hit: FusedHit) -> str:
    return hit.id


def _protocol(names: Sequence[str]) -> Protocol:
    return Protocol(tuple(System(name, len(LISTS["L1"])) for name in names))


def _cut(protocol: Protocol, depth: int) -> Protocol:
    return replace(protocol, systems=tuple(replace(one, depth=depth) for one in protocol.systems))


def _changed(
    protocol: Protocol, names: Sequence[str], *, weight: Fraction = Fraction(1), family: str = ""
) -> Protocol:
    return replace(
        protocol,
        systems=tuple(
            replace(one, weight=weight, family=family or one.family) if one.name in names else one
            for one in protocol.systems
        ),
    )


def _setting(name: str, said: str, protocol: Protocol) -> Setting:
    return Setting(name, said, protocol, _fused(protocol))


def _fused(protocol: Protocol) -> FusedList:
    return fuse([_ranking(system) for system in protocol.systems], protocol)


def _ranking(system: System) -> Ranking:
    """The list that the system, or what it is a copy of, has."""
    return ranking_of(system.name, LISTS[system.name.partition(" ")[0]], depth=system.depth)
