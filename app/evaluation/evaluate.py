"""Runs measured side by side: every fusion beside its sources, and against the best of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.evaluation.measures import JUDGED, Values, measured
from app.evaluation.qrels import Qrels
from app.evaluation.runs import Run
from app.evaluation.significance import SAME, by_chance, holm, intervals
from store.errors import BadInput

ENOUGH_TOPICS = 25
"""No winner is declared on fewer topics (Buckley and Voorhees, SIGIR 2000, ask for as many)."""

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Row:
    """A run and its figures. ``values`` has shape (topics, measures), ``means`` one per measure.

    ``found`` is the mean share of a topic's relevant documents anywhere in the run's lists, which
    no change of their order can raise. ``empty`` counts the topics for which nothing was shown.
    """

    run: Run
    values: Values = field(compare=False)
    means: tuple[float, ...]
    found: float
    empty: int

    @property
    def name(self) -> str:
        return self.run.name


@dataclass(frozen=True, slots=True)
class Comparison:
    """A fusion against the best of its sources under one measure, topic by topic.

    ``low`` and ``high`` bound the mean ``difference``; ``p`` is how often chance alone gives as
    much, ``corrected`` the same for all comparisons of the evaluation.
    """

    fusion: str
    source: str
    measure: str
    difference: float
    low: float
    high: float
    p: float
    corrected: float
    wins: int
    ties: int
    losses: int

    def verdict(self, topics: int) -> str:
        """``better``, ``worse`` or ``undecided``."""
        if topics < ENOUGH_TOPICS or self.corrected >= LEVEL:
            return "undecided"
        return "better" if self.difference > 0 else "worse"


@dataclass(frozen=True, slots=True)
class TopicDifference:
    """What one topic gave a fusion and the best of its sources under the first measure."""

    topic_id: str
    fused: float
    source: float

    @property
    def difference(self) -> float:
        return self.fused - self.source


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Rows and comparisons over one set of topics; the sources stand before the fusions."""

    topic_ids: tuple[str, ...]
    measures: tuple[str, ...]
    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]
    view: str
    notes: tuple[str, ...]

    def row(self, name: str) -> Row:
        """The row of that name."""
        return next(row for row in self.rows if row.name == name)

    def best_source(self, measure: str) -> str:
        """The name of the source with the highest mean, the first of equal ones."""
        return _best([row for row in self.rows if row.run.kind == "source"], self._column(measure))

    def by_topic(self, fusion: str) -> list[TopicDifference]:
        """Topics under the first measure, what the fusion lost most first."""
        against = next(one.source for one in self.comparisons if one.fusion == fusion)
        mine, other = self.row(fusion).values[:, 0], self.row(against).values[:, 0]
        entries = [
            TopicDifference(name, float(mine[index]), float(other[index]))
            for index, name in enumerate(self.topic_ids)
        ]
        return sorted(entries, key=lambda entry: (entry.difference, entry.topic_id))

    def _column(self, measure: str) -> int:
        return self.measures.index(measure)


def evaluate(
    runs: Sequence[Run], qrels: Qrels, topic_ids: Sequence[str], measures: Sequence[str]
) -> Evaluation:
    """Measure every run over every topic, and every fusion against its best source.

    ``measures`` are as `measure_names` gives them. The sources of each fusion must be among
    ``runs``.

    :raises BadInput: there is no topic, two runs have one name, or a fusion lacks a source
    """
    if not topic_ids:
        raise BadInput("there is no topic to evaluate on")
    names = [run.name for run in runs]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"two rows would be named {name!r}; give each a name of its own")
    for run in runs:
        if missing := set(run.sources) - set(names):
            raise BadInput(f"{run.name!r} is fused from {sorted(missing)[0]!r}, which has no row")
    ordered = sorted(runs, key=lambda run: run.kind == "fusion")
    rows = tuple(_row(run, qrels, topic_ids, measures) for run in ordered)
    return Evaluation(
        tuple(topic_ids),
        tuple(measures),
        rows,
        _comparisons(rows, measures),
        qrels.view,
        (*_notes(qrels, topic_ids), *qrels.notes),
    )


def _row(run: Run, qrels: Qrels, topic_ids: Sequence[str], measures: Sequence[str]) -> Row:
    values = measured(run, qrels, topic_ids, measures)
    shares = []
    for topic_id in topic_ids:
        relevant = qrels.relevant(topic_id)
        found = relevant.intersection(run.shown(topic_id))
        shares.append(len(found) / len(relevant) if relevant else 0.0)
    return Row(
        run,
        values,
        tuple(math.fsum(column) / len(topic_ids) for column in values.T.tolist()),
        math.fsum(shares) / len(topic_ids),
        sum(not run.shown(topic_id) for topic_id in topic_ids),
    )


def _comparisons(rows: Sequence[Row], measures: Sequence[str]) -> tuple[Comparison, ...]:
    pairs: list[tuple[Row, Row, int]] = []
    for row in rows:
        own = [other for other in rows if other.name in row.run.sources]
        for column, measure in enumerate(measures):
            if own and measure != JUDGED:
                best = _best(own, column)
                pairs.append((row, next(one for one in own if one.name == best), column))
    if not pairs:
        return ()
    differences = np.stack(
        [mine.values[:, column] - best.values[:, column] for mine, best, column in pairs], axis=1
    )
    low, high = intervals(differences)
    chances = by_chance(differences).tolist()
    corrected = holm(chances)
    return tuple(
        Comparison(
            mine.name,
            best.name,
            measures[column],
            mine.means[column] - best.means[column],
            float(low[index]),
            float(high[index]),
            chances[index],
            corrected[index],
            wins=int((differences[:, index] > SAME).sum()),
            ties=int((np.abs(differences[:, index]) <= SAME).sum()),
            losses=int((differences[:, index] < -SAME).sum()),
        )
        for index, (mine, best, column) in enumerate(pairs)
    )


def _best(rows: Sequence[Row], column: int) -> str:
    return max(rows, key=lambda row: row.means[column]).name


def _notes(qrels: Qrels, topic_ids: Sequence[str]) -> list[str]:
    notes = []
    if without := sum(not qrels.relevant(topic_id) for topic_id in topic_ids):
        notes.append(
            f"{without} of {len(topic_ids)} topics have no document labelled relevant; "
            "each counts as 0 in every row."
        )
    if len(topic_ids) < ENOUGH_TOPICS:
        notes.append(
            f"No winner is declared on fewer than {ENOUGH_TOPICS} topics, and there are "
            f"{len(topic_ids)}."
        )
    return notes
