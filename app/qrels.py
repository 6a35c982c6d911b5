"""Relevance as one grade per document and topic: a stated view of what several judges said.

The labels themselves are never merged. A view leaves out what is unrateable or withdrawn, and a
pair that nobody could rate is unjudged in every view, which is not the same as irrelevant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from corpus.judging import Judgment, standing
from store.errors import BadInput

View = Literal["median", "majority", "minimum", "adjudicated"]
DEFAULT_VIEW: View = "median"

VIEWS: dict[View, str] = {
    "median": "the middle grade of the judges; of two middle grades the lower one",
    "majority": "the grade that most judges gave; of several such grades the lowest",
    "minimum": "the lowest grade that a judge gave",
    "adjudicated": "what the adjudicator said last, else the grade that all judges gave; a pair on "
    "which they differ and that was not adjudicated is unjudged",
}

Qrels = dict[str, dict[str, int]]
"""Grades 0 to 3 by topic id and document id, both ascending."""


def qrels(judgments: Iterable[Judgment], view: View = DEFAULT_VIEW) -> Qrels:
    """One grade for every pair that has one in ``view``, of labels in the order they were given.

    ``median``, ``majority`` and ``minimum`` are of the judges alone, whatever an adjudicator said.
    Labels of several projects are to be told apart before: their grades may mean different things.
    Of several adjudicators of one pair the last one counts.

    :raises BadInput: the labels are of several projects
    """
    last = standing(judgments)
    if len(names := sorted({label.project for label in last})) > 1:
        raise BadInput(f"labels of several projects are not one scale: {', '.join(names)}")
    votes: dict[tuple[str, str], list[int]] = {}
    settled: dict[tuple[str, str], int | None] = {}
    for label in last:
        pair = (label.topic_id, label.doc_id)
        if label.role == "adjudicator":
            settled[pair] = label.grade
        elif label.grade is not None:
            votes.setdefault(pair, []).append(label.grade)
    seen: Qrels = {}
    pairs = {*votes, *settled} if view == "adjudicated" else set(votes)
    for topic_id, doc_id in sorted(pairs):
        grade = _grade(votes.get((topic_id, doc_id), ()), settled, (topic_id, doc_id), view)
        if grade is not None:
            seen.setdefault(topic_id, {})[doc_id] = grade
    return seen


def _grade(
    votes: Sequence[int],
    settled: Mapping[tuple[str, str], int | None],
    pair: tuple[str, str],
    view: View,
) -> int | None:
    if view == "adjudicated":
        if pair in settled:
            return settled[pair]
        return votes[0] if len(set(votes)) == 1 else None
    if view == "median":
        return sorted(votes)[(len(votes) - 1) // 2]
    if view == "majority":
        counts = Counter(votes)
        return min(counts, key=lambda grade: (-counts[grade], grade))
    return min(votes)


def view_named(text: str) -> View:
    """:raises BadInput: there is no such view"""
    for name in VIEWS:
        if name == text:
            return name
    raise BadInput(f"a view of labels is {', '.join(get_args(View))}, not {text!r}")
