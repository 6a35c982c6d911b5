"""A report as one HTML file that needs nothing else: no script, font or picture from outside."""

from __future__ import annotations

from html import escape

from app.evaluation.evaluate import TopicDifference
from app.evaluation.fragments import comparisons, figures, lost_topics, signed
from app.evaluation.render import correction, heading
from app.evaluation.study import Report

_STYLE = """
:root { color-scheme: light dark; --line: light-dark(#dde3e6, #2c373d);
  --muted: light-dark(#55636b, #a3b1b8); }
body { font: 16px/1.5 sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem } h2 { font-size: 1.15rem; margin: 2rem 0 .25rem }
p { margin: .4rem 0 } .note { border-left: 3px solid #b45309; padding-left: .75rem }
.muted, .cp-status { color: var(--muted); font-size: .9rem; overflow-wrap: anywhere }
.cp-scroll { overflow-x: auto }
table { border-collapse: collapse; margin-bottom: .75rem; font-size: .9rem;
  font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .2rem 0 .2rem .9rem; white-space: nowrap; font-weight: 400 }
thead th { color: var(--muted) } th:first-child { text-align: left; padding-left: 0 }
tbody tr { border-top: 1px solid var(--line) } .cp-fused th { font-weight: 600 }
td.cp-best::before { content: "★ " }
td.cp-words, th.cp-words { text-align: left; white-space: normal; min-width: 12rem;
  overflow-wrap: anywhere }
svg { max-width: 100%; height: auto } svg text { fill: currentColor; font: 12px sans-serif }
"""

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 720, 120, 20, 18, 28
_COLOURS = {"lost": "#c2410c", "tied": "#8a949a", "won": "#0f766e"}


def html_report(report: Report) -> str:
    """The whole file. Texts of topics, names and protocols are escaped."""
    evaluation = report.evaluation
    parts = [
        f"<h1>{escape(heading(report))}</h1>",
        *(f'<p class="note">{escape(note)}</p>' for note in report.notes),
        figures(evaluation),
        f'<p class="muted">{escape(correction(evaluation))}</p>',
    ]
    for fusion, protocol in report.protocols.items():
        parts += [
            f"<h2>{escape(fusion)}, against the best of its sources</h2>",
            f'<p class="muted">protocol {escape(protocol.hash)}</p>',
            lost_topics(report, fusion),
            comparisons(evaluation, fusion),
            _dots(evaluation.by_topic(fusion), evaluation.measures[0]),
        ]
    parts.append(f'<p class="muted">experiment {escape(report.experiment_id)}</p>')
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Evaluation</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{chr(10).join(parts)}\n</body></html>\n"
    )


def _dots(entries: list[TopicDifference], measure: str) -> str:
    """A dot for each topic, as SVG: left of the line it was lost, right of it won."""
    reach = max((abs(entry.difference) for entry in entries), default=0.0) or 1.0
    half = (_WIDTH - _LEFT - _RIGHT) / 2
    middle = _LEFT + half
    height = _TOP + _ROW * len(entries) + 8
    drawn = [
        f'<text x="{_LEFT}" y="14">{signed(-reach)}</text>',
        f'<text x="{middle}" y="14" text-anchor="middle">0</text>',
        f'<text x="{_WIDTH - _RIGHT}" y="14" text-anchor="end">{signed(reach)}</text>',
        f'<line x1="{middle}" x2="{middle}" y1="{_TOP - 8}" y2="{height}" stroke="#8a949a"/>',
    ]
    for row, entry in enumerate(entries):
        x, y = middle + half * entry.difference / reach, _TOP + _ROW * row + _ROW / 2
        kind = "lost" if entry.difference < 0 else "won" if entry.difference > 0 else "tied"
        name = escape(entry.topic_id)
        drawn.append(
            f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{name}</text>'
            f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{_COLOURS[kind]}">'
            f"<title>{name}: {signed(entry.difference)}, {kind}</title></circle>"
        )
    label = f"{measure} for each topic, the fusion minus its best source"
    return (
        f'<p class="muted">{escape(label)}</p>'
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img" '
        f'aria-label="{escape(label)}">{"".join(drawn)}</svg>'
    )
