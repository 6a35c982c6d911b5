"""What becomes of a label when its document changes.

The measure is the share of words that the text judged and the text in force have in common: twice
the number of words in both, counted with their repetitions, over the number of words of the two
together, exact and from 0 to 1. Words are what white space parts, so a changed figure is a changed
word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from corpus.judging import Judgment
from corpus.textdiff import text_diff
from store.catalogue import Catalogue, Version
from store.revisions import revision_text

State = Literal["in force", "carried", "to confirm", "parked"]

STATES: dict[State, str] = {
    "in force": "given to the revision in force",
    "carried": "given to an older revision with the same text, and counts for this one",
    "to confirm": "given to an older revision whose text changed a little, and waits for the judge",
    "parked": "given to a text that changed much or is not here, and is set aside",
}

CHANGED_LITTLE = Fraction(3, 4)
"""Texts with at least this share of words in common changed a little."""

Judged = tuple[str, int]
"""A document and the revision of it that a label was given to."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of the labels of one revision, and the share of words that decided it; None where
    there are no two texts to compare."""

    state: State
    share: Fraction | None


def shared_words(before: str, after: str) -> Fraction:
    """The measure of this module.

    >>> shared_words("torque 16 N·m, dry", "torque 15 N·m, dry")
    Fraction(3, 4)
    """
    old, new = Counter(before.split()), Counter(after.split())
    total = old.total() + new.total()
    return Fraction(2 * (old & new).total(), total) if total else Fraction(1)


def state_of_change(before: str, after: str) -> Standing:
    """What becomes of labels given to ``before`` when ``after`` is in force."""
    if before.split() == after.split():
        return Standing("carried", Fraction(1))
    share = shared_words(before, after)
    return Standing("to confirm" if share >= CHANGED_LITTLE else "parked", share)


def label_states(
    catalogue: Catalogue, version: Version, labels: Iterable[Judgment]
) -> dict[Judged, Standing]:
    """The state, in ``version``, of the labels of every revision that ``labels`` name.

    Of a label that does not know its revision, as an imported one of a document that came later,
    nobody can say what text it was given to: it is to be confirmed.
    """
    judged = {(label.doc_id, label.revision) for label in labels}
    live = {
        document.doc_id: document.revision
        for document in catalogue.documents(version.number, sorted({name for name, _ in judged}))
    }
    states = {}
    for doc_id, revision in sorted(judged):
        if doc_id not in live:
            states[doc_id, revision] = Standing("parked", None)
        elif live[doc_id] == revision:
            states[doc_id, revision] = Standing("in force", None)
        elif (before := revision_text(catalogue, version, doc_id, revision)) is None:
            states[doc_id, revision] = Standing("to confirm", None)
        else:
            states[doc_id, revision] = state_of_change(before, catalogue.text(version, doc_id))
    return states


def change_since(
    catalogue: Catalogue, version: Version, doc_id: str, revision: int
) -> tuple[str, ...]:
    """The lines of a unified diff from the revision judged to the one in ``version``; none where
    the older text is not here."""
    before = revision_text(catalogue, version, doc_id, revision)
    return () if before is None else text_diff(before, catalogue.text(version, doc_id))
