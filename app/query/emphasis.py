"""How much the vote of the lexical system counts, by what a single passage holds of the query.

Where one passage holds nearly all that was typed, each term weighed by its rarity, words tell which
document is meant. Where every passage holds only a small part of it, because the archive says it in
other words or in another language, they hardly do. The share is one number for a query, the same
for every document, so that a fusion stays one of ranks alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from store.errors import BadInput

DECIMALS = 4
"""Digits that a share is rounded to before it is compared: what the record says is what decided."""


@dataclass(frozen=True, slots=True)
class Step:
    """From the share ``held`` of a query's weight on, a weight is multiplied by ``factor``."""

    held: Fraction
    factor: Fraction


@dataclass(frozen=True, slots=True)
class Emphasis:
    """A step function of the share held; the first step begins at 0.

    :raises BadInput: the steps do not ascend from 0 to at most 1, or a factor is not above 0
    """

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        shares = [step.held for step in self.steps]
        ascending = all(one < next_one for one, next_one in pairwise(shares))
        if not shares or shares[0] != 0 or shares[-1] > 1 or not ascending:
            raise BadInput(
                "shares held ascend from 0 to at most 1, "
                f"not {', '.join(map(str, shares)) or 'nothing'}"
            )
        for step in self.steps:
            if step.factor <= 0:
                raise BadInput(f"a weight is multiplied by more than 0, not by {step.factor}")

    def factor(self, held: Fraction | None) -> Fraction:
        """What the weight is multiplied by; an unknown share changes nothing."""
        if held is None:
            return Fraction(1)
        return [step.factor for step in self.steps if step.held <= held][-1]

    def as_data(self) -> list[list[str]]:
        """Pairs of share and factor, exact, as text."""
        return [[str(step.held), str(step.factor)] for step in self.steps]


DEFAULT_EMPHASIS = Emphasis(
    (
        Step(Fraction(0), Fraction(1, 3)),
        Step(Fraction(3, 10), Fraction(4, 5)),
        Step(Fraction(9, 10), Fraction(4)),
    )
)
"""Chosen on the development queries of several collections: see docs/retrieval.md."""


def share_held(value: float) -> Fraction:
    """An engine's share as the fraction that decides, from 0 to 1."""
    unit = 10**DECIMALS
    return Fraction(min(unit, max(0, round(value * unit))), unit)


def share_in_words(held: Fraction) -> str:
    """A share for a reader.

    >>> share_in_words(Fraction(1)), share_in_words(Fraction(9999, 10000))
    ('all', '99 %')
    """
    return "all" if held == 1 else f"{int(held * 100)} %"
