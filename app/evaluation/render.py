"""A report as lines of text and as data; both, and the page, show the same figures."""

from __future__ import annotations

from typing import Any

from app.evaluation.evaluate import LEVEL, Comparison, Evaluation
from app.evaluation.study import Report

LOST = 10
"""How many lost topics are printed for a fusion."""


def report_data(report: Report) -> dict[str, Any]:
    """JSON-ready; every figure unrounded."""
    evaluation = report.evaluation
    return {
        "experiment": report.experiment_id,
        "split": report.split,
        "corpus_version": report.corpus_version,
        "topics": len(evaluation.topic_ids),
        "labels": evaluation.view,
        "notes": list(report.notes),
        "protocols": {name: protocol.hash for name, protocol in report.protocols.items()},
        "looks_before": report.look.number - 1 if report.look else None,
        "measures": list(evaluation.measures),
        "rows": [
            {
                "name": row.name,
                "kind": row.run.kind,
                "sources": list(row.run.sources),
                "means": dict(zip(evaluation.measures, row.means, strict=True)),
                "found": row.found,
                "empty": row.empty,
                "by_topic": {
                    topic_id: dict(zip(evaluation.measures, values, strict=True))
                    for topic_id, values in zip(
                        evaluation.topic_ids, row.values.tolist(), strict=True
                    )
                },
            }
            for row in evaluation.rows
        ],
        "best_source": {name: evaluation.best_source(name) for name in evaluation.measures},
        "comparisons": [
            {
                "fusion": one.fusion,
                "source": one.source,
                "measure": one.measure,
                "difference": one.difference,
                "interval": [one.low, one.high],
                "p": one.p,
                "p_corrected": one.corrected,
                "wins": one.wins,
                "ties": one.ties,
                "losses": one.losses,
                "verdict": one.verdict(len(evaluation.topic_ids)),
            }
            for one in evaluation.comparisons
        ],
    }


def report_lines(report: Report) -> list[str]:
    """The report for a terminal."""
    evaluation = report.evaluation
    lines = [heading(report)]
    lines += [f"note: {note}" for note in report.notes]
    lines += ["", *_table(evaluation)]
    for name, protocol in report.protocols.items():
        lines += ["", f"{name} (protocol {protocol.short_hash}) against the best of its sources:"]
        lines += [
            f"  {one.measure:<10} {_gain(one, evaluation)}"
            for one in evaluation.comparisons
            if one.fusion == name
        ]
        lost = [entry for entry in evaluation.by_topic(name) if entry.difference < 0]
        if lost:
            lines.append(f"  lost under {evaluation.measures[0]}, worst first: {len(lost)}")
        lines += [
            f"    {entry.topic_id:<8} {entry.difference:+.4f}  "
            f"({entry.source:.4f} to {entry.fused:.4f})  {report.topics[entry.topic_id].query}"
            for entry in lost[:LOST]
        ]
    return [*lines, "", f"experiment {report.experiment_id}"]


def heading(report: Report) -> str:
    """What the figures are of, in one line."""
    count = len(report.evaluation.topic_ids)
    searched = f", version {report.corpus_version}" if report.corpus_version else ""
    return (
        f"{count} topic{'s' * (count != 1)} of the {report.split} split{searched}; "
        f"labels: {report.evaluation.view}"
    )


def correction(evaluation: Evaluation) -> str:
    """How the tests were corrected."""
    return (
        f"Chance: paired randomization test, two-sided; corrected by Holm over the "
        f"{len(evaluation.comparisons)} comparisons made; decided below {LEVEL}. "
        "Intervals: 95 %, bootstrap over topics."
    )


def _table(evaluation: Evaluation) -> list[str]:
    width = max(len(row.name) for row in evaluation.rows) + 2
    heads = [*evaluation.measures, "found", "empty"]
    lines = [" " * width + "".join(f"{head:>11}" for head in heads)]
    for row in evaluation.rows:
        cells = [
            f"{mean:>10.4f}" + ("*" if evaluation.best_source(measure) == row.name else " ")
            for measure, mean in zip(evaluation.measures, row.means, strict=True)
        ]
        lines.append(
            f"{row.name:<{width}}" + "".join(cells) + f"{row.found:>10.4f} {row.empty:>10}"
        )
    lines.append("* best source. found: share of the relevant documents anywhere in the lists.")
    lines.append(correction(evaluation))
    return lines


def _gain(one: Comparison, evaluation: Evaluation) -> str:
    return (
        f"{one.difference:+.4f} [{one.low:+.4f}, {one.high:+.4f}] to {one.source}, "
        f"p {one.p:.4f}, corrected {one.corrected:.4f}; {one.wins} won, {one.ties} tied, "
        f"{one.losses} lost: {one.verdict(len(evaluation.topic_ids))}"
    )
