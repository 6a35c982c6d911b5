"""A report as pieces of HTML, for the page and for the file. Every text from outside is escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from app.evaluation.evaluate import Comparison, Evaluation, Row
from app.evaluation.study import Report

Link = Callable[[str, str], str]
"""The address that opens a topic's search, from the topic's id and the name of a fusion."""

DIGITS = 4


def figures(evaluation: Evaluation) -> str:
    """Every run and its means; the best source under each measure is marked with a star."""
    best = {measure: evaluation.best_source(measure) for measure in evaluation.measures}
    heads = ["", *evaluation.measures, "found", "empty"]
    rows = "".join(_figures_of(row, evaluation.measures, best) for row in evaluation.rows)
    return (
        f'<div class="cp-scroll"><table class="cp-figures"><thead>{_heads(heads)}</thead>'
        f"<tbody>{rows}</tbody></table></div>"
        '<p class="cp-status">★ best source under the measure. Found: the share of the relevant '
        "documents anywhere in the lists, which no order can raise. Empty: topics for which "
        "nothing was shown.</p>"
    )


def comparisons(evaluation: Evaluation, fusion: str) -> str:
    """A fusion against the best of its sources, a line for each measure."""
    heads = ("", "difference", "95 % interval", "best source", "p", "corrected", "won", "tied")
    rows = "".join(
        _comparison(one, evaluation) for one in evaluation.comparisons if one.fusion == fusion
    )
    return (
        '<div class="cp-scroll"><table class="cp-figures">'
        f"<thead>{_heads([*heads, 'lost', ''])}</thead><tbody>{rows}</tbody></table></div>"
    )


def lost_topics(report: Report, fusion: str, link: Link | None = None) -> str:
    """The topics that the fusion lost under the first measure, worst first."""
    entries = [one for one in report.evaluation.by_topic(fusion) if one.difference < 0]
    measure = report.evaluation.measures[0]
    if not entries:
        return f'<p class="cp-status">No topic was lost under {escape(measure)}.</p>'
    rows = ""
    for entry in entries:
        query = escape(report.topics[entry.topic_id].query)
        if link is not None:
            href = escape(link(entry.topic_id, fusion))
            query = f'<a href="{href}" target="_self">{query}</a>'
        rows += (
            f'<tr><th>{escape(entry.topic_id)}</th><td class="cp-words">{query}</td>'
            f"<td>{signed(entry.difference)}</td>"
            f"<td>{entry.source:.{DIGITS}f}</td><td>{entry.fused:.{DIGITS}f}</td></tr>"
        )
    heads = (
        '<tr><th>topic</th><th class="cp-words">query</th>'
        "<th>difference</th><th>best source</th><th>fused</th></tr>"
    )
    return (
        f'<p class="cp-status">Topics lost under {escape(measure)}, worst first.</p>'
        f'<div class="cp-scroll"><table class="cp-figures"><thead>{heads}</thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def signed(number: float) -> str:
    """A difference for a reader: the sign always, and a minus that lines up.

    >>> signed(-0.25), signed(0.0)
    ('−0.2500', '+0.0000')
    """
    return f"{number:+.{DIGITS}f}".replace("-", "−")


def _heads(names: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in names)}</tr>"


def _figures_of(row: Row, measures: Sequence[str], best: dict[str, str]) -> str:
    cells = "".join(
        f"<td{' class=cp-best' if best[measure] == row.name else ''}>{mean:.{DIGITS}f}</td>"
        for measure, mean in zip(measures, row.means, strict=True)
    )
    kind = "cp-fused" if row.run.kind == "fusion" else "cp-source"
    return (
        f'<tr class="{kind}"><th>{escape(row.name)}</th>{cells}'
        f"<td>{row.found:.{DIGITS}f}</td><td>{row.empty}</td></tr>"
    )


def _comparison(one: Comparison, evaluation: Evaluation) -> str:
    return (
        f"<tr><th>{escape(one.measure)}</th><td>{signed(one.difference)}</td>"
        f"<td>{signed(one.low)} to {signed(one.high)}</td><td>{escape(one.source)}</td>"
        f"<td>{one.p:.{DIGITS}f}</td><td>{one.corrected:.{DIGITS}f}</td>"
        f"<td>{one.wins}</td><td>{one.ties}</td><td>{one.losses}</td>"
        f"<td>{one.verdict(len(evaluation.topic_ids))}</td></tr>"
    )
