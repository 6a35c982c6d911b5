"""Labels as grades to measure against: one grade for each topic and document, by a stated rule."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.evaluation.runs import lines_of
from app.qrels import DEFAULT_VIEW, VIEWS, View, qrels
from corpus.judging import Judgment, standing
from store.errors import BadInput

RELEVANT = 1
"""The least grade that counts as relevant where a measure knows only two kinds."""

UNKNOWN = "on documents that are not in this version"

_HEADS = {("query-id", "corpus-id", "score"), ("topic_id", "path", "grade")}


@dataclass(frozen=True, slots=True)
class Qrels:
    """Grades from 0 by topic id and document id. ``view`` says how they came from labels.

    A pair that is not here is unjudged, which is not the same as irrelevant.
    """

    grades: Mapping[str, Mapping[str, int]]
    view: str
    notes: tuple[str, ...] = ()

    def of(self, topic_id: str) -> Mapping[str, int]:
        """The graded documents of a topic."""
        return self.grades.get(topic_id, {})

    def relevant(self, topic_id: str) -> frozenset[str]:
        """The documents of a topic with a grade of at least `RELEVANT`."""
        return frozenset(name for name, grade in self.of(topic_id).items() if grade >= RELEVANT)


def qrels_of_labels(
    labels: Iterable[Judgment], revisions: Mapping[str, int], view: View = DEFAULT_VIEW
) -> Qrels:
    """The grades that stored labels of one project give in ``view``, where ``labels`` are in the
    order given.

    ``revisions`` are those in force, by document id: labels of other revisions count, and it is
    said how many they are.

    :raises BadInput: the labels are of several projects
    """
    given = list(labels)
    last = standing(given)
    graded = [label for label in last if label.grade is not None]
    known = [(label, revisions.get(label.doc_id)) for label in graded]
    counted = [
        (
            sum(revision not in (None, label.revision) for label, revision in known),
            "on an earlier revision of their document",
        ),
        (sum(revision is None for _, revision in known), UNKNOWN),
        (len(last) - len(graded), "that say unrateable, left out"),
    ]
    notes = tuple(f"Labels {what}: {count}." for count, what in counted if count)
    return Qrels(qrels(given, view), f"{view}: {VIEWS[view]}; unrateable is unjudged", notes)


def read_qrels(path: Path, names: Mapping[str, str] | None = None) -> Qrels:
    """Read ``topic 0 document grade`` lines, or the tab-separated columns ``query-id corpus-id
    score`` with their heading.

    ``names`` turns what the file calls a document into its id. A document that it does not know
    keeps its name: it cannot be found, and it counts among what should have been. Of two grades
    for one document the higher one counts, and a grade below 0 is 0.

    :raises BadInput: the file cannot be read, or a line is not of either form
    """
    grades: dict[str, dict[str, int]] = {}
    unknown = 0
    for number, topic_id, name, text in _rows(path):
        try:
            grade = max(0, int(text))
        except ValueError:
            raise BadInput(
                f"line {number} of {path}: a grade is a whole number, not {text!r}"
            ) from None
        doc_id = name if names is None else names.get(name, name)
        unknown += names is not None and name not in names
        of_topic = grades.setdefault(topic_id, {})
        of_topic[doc_id] = max(grade, of_topic.get(doc_id, 0))
    if not grades:
        raise BadInput(f"{path} holds no grade")
    notes = (f"Labels {UNKNOWN}: {unknown}.",) if unknown else ()
    return Qrels(grades, f"the grades of {path.name}", notes)


def _rows(path: Path) -> Iterable[tuple[int, str, str, str]]:
    lines = lines_of(path)
    table = list(csv.reader(lines[:1], delimiter="\t", quoting=csv.QUOTE_NONE))
    tabular = bool(table) and tuple(table[0]) in _HEADS
    for number, line in enumerate(lines, start=1):
        if not line.strip() or (tabular and number == 1):
            continue
        fields = line.rstrip("\r").split("\t") if tabular else line.split()
        if len(fields) != (3 if tabular else 4):
            raise BadInput(
                f"line {number} of {path} is neither `topic 0 document grade` nor, below a heading "
                f"`query-id corpus-id score`, three columns parted by tabs: {line[:80]!r}"
            )
        topic_id, name, grade = fields if tabular else (fields[0], fields[2], fields[3])
        yield number, topic_id, name, grade
