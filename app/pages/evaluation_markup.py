"""What the page Evaluate draws beside the tables of a report: links and the dot plot."""

from __future__ import annotations

from typing import Any

from app.evaluation.fragments import signed
from app.evaluation.study import Report
from app.evaluation.sweep import Swept
from app.pages.address import Address, search_link
from app.query.protocol import DEFAULT_WEIGHTING, LEXICAL, SEMANTIC, Protocol

DOT_ROW = 18
"""Pixels for a topic of the dot plot."""

CELL = 26
"""Pixels for a point of a heat map."""

PANELS = 3
"""Heat maps beside one another."""

TICKS = 6
OUTCOMES = ["lost", "tied", "won"]


def topic_link(report: Report, topic_id: str, fusion: str, reviewer: str) -> str:
    """The address of a topic's search under the protocol of a fusion."""
    address = _address(report.topics[topic_id].query, report.protocols[fusion])
    return search_link(address, reviewer)


def dot_plot(report: Report, fusion: str, reviewer: str) -> dict[str, Any]:
    """A dot for each topic, as a Vega-Lite chart: what the fusion won or lost against its best
    source.

    Worst first, as in the table. A click opens the topic's search.
    """
    rows = [
        {
            "topic": entry.topic_id,
            "query": report.topics[entry.topic_id].query,
            "difference": entry.difference,
            "said": signed(entry.difference),
            "outcome": _outcome(entry.difference),
            "href": topic_link(report, entry.topic_id, fusion, reviewer),
        }
        for entry in report.evaluation.by_topic(fusion)
    ]
    shapes = {"domain": OUTCOMES, "range": ["triangle-left", "circle", "triangle-right"]}
    colours = {"domain": OUTCOMES, "range": ["#c2410c", "#8a949a", "#0f766e"]}
    title = f"{report.evaluation.measures[0]}: {fusion} minus its best source"
    return {
        "data": {"values": rows},
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "height": {"step": DOT_ROW},
        "encoding": {
            "x": {
                "field": "difference",
                "type": "quantitative",
                "title": title,
                "axis": {"tickCount": TICKS},
            },
            "y": {
                "field": "topic",
                "type": "nominal",
                "sort": [row["topic"] for row in rows],
                "title": None,
                "axis": {"labelOverlap": False},
            },
            "shape": {"field": "outcome", "scale": shapes, "legend": {"orient": "top"}},
            "color": {"field": "outcome", "scale": colours, "title": None},
            "href": {"field": "href"},
            "tooltip": [{"field": "topic"}, {"field": "query"}, {"field": "said"}],
        },
    }


def heat_map(swept: Swept) -> dict[str, Any]:
    """The mean of every point of a grid, as a Vega-Lite chart: the first two axes that vary are
    those of the map, and every value of the others has a map of its own."""
    points = [dict(point.values) for point in swept.points]
    values = {key: list(dict.fromkeys(point[key] for point in points)) for key in points[0]}
    varied = [key for key, known in values.items() if len(known) > 1] or list(values)
    across, down, rest = varied[0], varied[1] if varied[1:] else "", varied[2:]
    rows = [
        {
            "x": point[across],
            "y": point[down] if down else "",
            "panel": ", ".join(f"{key} {point[key]}" for key in rest),
            "mean": mean,
            "point": swept.points[number].name,
        }
        for number, (point, mean) in enumerate(zip(points, swept.means(), strict=True))
    ]
    chart = {
        "mark": "rect",
        "width": {"step": CELL},
        "height": {"step": CELL},
        "encoding": {
            "x": {"field": "x", "sort": values[across], "title": across, "axis": {"labelAngle": 0}},
            "y": {"field": "y", "sort": values.get(down, []), "title": down or None},
            "color": {
                "field": "mean",
                "type": "quantitative",
                "title": swept.measure,
                "scale": {"zero": False, "scheme": "viridis"},
            },
            "tooltip": [
                {"field": "point"},
                {"field": "mean", "type": "quantitative", "format": ".4f"},
            ],
        },
    }
    if not rest:
        return {"data": {"values": rows}, **chart}
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    facet = {"field": "panel", "sort": panels, "title": None}
    return {"data": {"values": rows}, "facet": facet, "columns": PANELS, "spec": chart}


def _outcome(difference: float) -> str:
    return "lost" if difference < 0 else "won" if difference > 0 else "tied"


def _address(query: str, protocol: Protocol) -> Address:
    lexical, semantic = (
        next(system for system in protocol.systems if system.name == name)
        for name in (LEXICAL, SEMANTIC)
    )
    return Address(
        q=query,
        k=str(protocol.k),
        dl=str(lexical.depth),
        ds=str(semantic.depth),
        wl=str(lexical.weight),
        ws=str(semantic.weight),
        cov=str(lexical.coverage),
        asked=semantic.asked,
        weighting=DEFAULT_WEIGHTING if lexical.emphasis else "fixed",
        corrections=protocol.corrections,
        unit=protocol.unit,
    )
