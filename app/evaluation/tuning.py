"""A sweep over an archive's topics for development, beside what it has to beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.evaluation.candidates import Progress, retrieve_candidates, runs_of
from app.evaluation.evaluate import ENOUGH_TOPICS, evaluate
from app.evaluation.measures import measure_names
from app.evaluation.protocols import Parameters
from app.evaluation.refuse import field_of
from app.evaluation.request import Request
from app.evaluation.study import gather, require_labels, sealed_among
from app.evaluation.sweep import Swept, measure_of, sweep
from app.query.protocol import Protocol
from app.query.search import Engines
from store.catalogue import Catalogue
from store.errors import BadInput, Sealed

TOLD = 10
"""How many points are printed, the best first."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """A sweep, with the default protocol and its best source under the same measure and topics."""

    swept: Swept
    default: float
    source: str
    source_mean: float

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the figures has to know."""
        topics = len(self.swept.topic_ids)
        few = (
            (f"Hardly more than chance can be chosen on fewer than {ENOUGH_TOPICS} topics.",)
            if topics < ENOUGH_TOPICS
            else ()
        )
        return (
            f"The best of {len(self.swept.points):,} points looks good on the {topics} topics it "
            "was chosen on; the out-of-fold figure says what choosing is worth on others.",
            *few,
        )


def tune(
    engines: Engines,
    catalogue: Catalogue,
    request: Request,
    points: Sequence[Parameters],
    progress: Progress | None = None,
) -> Tuning:
    """Sweep ``points`` on topics for development, under the first measure of the request.

    :raises Sealed: some topic is in the test split, on which nothing may be chosen
    :raises BadInput: what was asked cannot be used
    """
    measure = measure_names(request.measures)[0]
    measure_of(measure)
    if request.runs:
        raise BadInput("a sweep searches an archive; runs from files are compared by evaluate")
    material = gather(engines, catalogue, request)
    if request.split == "test" or sealed_among(catalogue, material.topics):
        raise Sealed("a sweep chooses settings, and nothing may be chosen on the test split")
    require_labels(material.topics, material.qrels)
    default = Parameters().protocol()
    protocols = [default, *(point.protocol() for point in points)]
    deepest = [_deep(default, protocols)]
    retrieved = retrieve_candidates(
        engines, catalogue, material.topics, deepest, request.scope, progress
    )
    topic_ids = [topic.topic_id for topic in material.topics]
    (lists,) = retrieved.values()
    swept = sweep(field_of(lists, material.qrels, topic_ids), points, measure)
    plain = evaluate(
        runs_of([("default", default)], retrieved), material.qrels, topic_ids, [measure]
    )
    source = plain.best_source(measure)
    return Tuning(swept, plain.row("default").means[0], source, plain.row(source).means[0])


def tuning_data(tuning: Tuning) -> dict[str, Any]:
    """JSON-ready; every figure unrounded."""
    swept = tuning.swept
    return {
        "measure": swept.measure,
        "topics": len(swept.topic_ids),
        "notes": list(tuning.notes),
        "chosen": swept.points[swept.chosen].name,
        "in_sample": swept.in_sample,
        "out_of_fold": swept.out_of_fold,
        "default": tuning.default,
        "best_source": tuning.source,
        "best_source_mean": tuning.source_mean,
        "folds": [
            {"topics": list(fold.topic_ids), "chosen": swept.points[fold.chosen].name}
            for fold in swept.folds
        ],
        "points": [
            {"point": dict(point.values), "mean": mean}
            for point, mean in zip(swept.points, swept.means(), strict=True)
        ],
    }


def tuning_lines(tuning: Tuning) -> list[str]:
    """A sweep for a terminal."""
    swept = tuning.swept
    means = swept.means()
    order = sorted(range(len(means)), key=lambda number: (-means[number], number))
    lines = [
        f"{swept.measure} over {len(swept.topic_ids)} topics of the dev split",
        *(f"note: {note}" for note in tuning.notes),
        "",
        f"chosen        {swept.points[swept.chosen].name}",
        f"in sample     {swept.in_sample:.4f}",
        f"out of fold   {swept.out_of_fold:.4f}",
        f"default       {tuning.default:.4f}",
        f"best source   {tuning.source_mean:.4f}  {tuning.source}",
        "",
        "chosen without each fold:",
        *(
            f"  {swept.points[fold.chosen].name}  (without {', '.join(fold.topic_ids)})"
            for fold in swept.folds
        ),
        "",
        "best points:",
    ]
    return lines + [f"  {means[one]:.4f}  {swept.points[one].name}" for one in order[:TOLD]]


def _deep(default: Protocol, protocols: Sequence[Protocol]) -> Protocol:
    """The default protocol, as deep as any of ``protocols``."""
    depths = {
        system.name: max(
            one.depth
            for protocol in protocols
            for one in protocol.systems
            if one.name == system.name
        )
        for system in default.systems
    }
    written = tuple((f"depth.{name}", str(depth)) for name, depth in depths.items())
    return Parameters("deepest", written).protocol()
