"""Measures of a run, by ir_measures, over every topic of a set.

A library that sorts by score would break ties by its own rule, so it is given scores made from the
places: the first of n documents gets n, the last 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import ir_measures
import numpy as np
from numpy.typing import NDArray

from app.evaluation.qrels import Qrels
from app.evaluation.runs import Run
from store.errors import BadInput

DEFAULT_MEASURES = ("AP", "nDCG@10", "R@100", "RR", "P@10", "Success@1", "Success@5")

JUDGED = "Judged@10"
"""How much of what is measured was judged at all: stands beside every measure."""

Values = NDArray[np.float64]


def measure_names(given: Iterable[str]) -> tuple[str, ...]:
    """Check measures such as ``nDCG@10`` or ``AP(rel=2)`` and spell them as ir_measures does.

    Two spellings of one measure are one, and `JUDGED` is always the last.

    :raises BadInput: one of them is no measure, or there is none
    """
    names: list[str] = []
    for text in given:
        try:
            names.append(str(ir_measures.parse_measure(text)))
        except (NameError, ValueError, SyntaxError, TypeError, KeyError) as error:
            raise BadInput(
                f"{text!r} is no measure ({error}); measures are {', '.join(DEFAULT_MEASURES)} "
                "and others that ir_measures knows"
            ) from error
    asked = [name for name in dict.fromkeys(names) if name != JUDGED]
    if not asked:
        raise BadInput("an evaluation needs a measure, such as AP or nDCG@10")
    return (*asked, JUDGED)


def measured(run: Run, qrels: Qrels, topic_ids: Sequence[str], measures: Sequence[str]) -> Values:
    """The value of every measure for every topic, shape (topics, measures).

    A topic for which nothing was shown, or which has no label, is 0 everywhere.
    """
    rows = {topic_id: row for row, topic_id in enumerate(topic_ids)}
    columns = {name: column for column, name in enumerate(measures)}
    values = np.zeros((len(rows), len(columns)))
    labels = {topic_id: dict(qrels.of(topic_id)) for topic_id in rows if qrels.of(topic_id)}
    scores = {
        topic_id: {name: float(len(ids) - place) for place, name in enumerate(ids)}
        for topic_id in labels
        # An empty list is left out: ir_measures fills it in, or divides by its length.
        if (ids := run.shown(topic_id))
    }
    if not scores:
        return values
    parsed = [ir_measures.parse_measure(name) for name in measures]
    for metric in ir_measures.iter_calc(parsed, labels, scores):
        values[rows[metric.query_id], columns[str(metric.measure)]] = metric.value
    return values
