"""The figures of the five-document study, drawn from its numbers.

Each is a Vega-Lite specification, which is data; the renderer makes the same bytes of it every time
(as long as it is the same version), on any machine: its font comes with it.
"""

from __future__ import annotations

from typing import Any

from app.query.fuse import Contribution
from app.query.study import Study

Spec = dict[str, Any]

FONT = "Liberation Sans"
TEXT = "#1b2226"
COLOURS = {"L1": "#b45309", "L2": "#1d5fbf", "fusion": "#55636b"}
SCALE = 2.0
"""Pixels of a figure to one of its units."""

CONFIG: Spec = {
    "font": FONT,
    "background": "#ffffff",
    "axis": {"labelColor": TEXT, "titleColor": TEXT, "titleFontWeight": "normal"},
    "title": {"color": TEXT, "anchor": "start", "fontWeight": "normal"},
    "view": {"stroke": None},
}


def figures(found: Study) -> dict[str, bytes]:
    """Each figure as a PNG, by file name."""
    # Loads a renderer of tens of megabytes, which no other command needs.
    import vl_convert

    return {
        f"{name}.png": vl_convert.vegalite_to_png(spec, scale=SCALE)
        for name, spec in specifications(found).items()
    }


def specifications(found: Study) -> dict[str, Spec]:
    """Each figure as a Vega-Lite specification, by name."""
    drawn = {
        "scores-by-k": _scores_by_k(found),
        "contributions": _contributions(found),
        "average-precision": _average_precision(found),
    }
    return {name: spec | {"config": CONFIG} for name, spec in drawn.items()}


def _scores_by_k(found: Study) -> Spec:
    """Every score as a share of the highest one, and where A and C change places."""
    rows = [
        {"k": k, "document": name, "share": float(score / max(scores.values()))}
        for k, scores in enumerate(found.scores)
        for name, score in scores.items()
    ]
    swaps = [
        {"k": float(span.start.decimal(9)), "said": f"k = {span.start}"} for span in found.by_k[1:]
    ]
    return {
        "title": "Where the order depends on k",
        "width": 520,
        "height": 300,
        "layer": [
            {
                "data": {"values": rows},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": _measured("k", "k"),
                    "y": _measured("share", "score, as a share of the highest", zero=False),
                    "color": {"field": "document", "type": "nominal"},
                    "strokeDash": {"field": "document", "type": "nominal"},
                },
            },
            {
                "data": {"values": swaps},
                "mark": {"type": "rule", "color": TEXT, "strokeDash": [2, 3]},
                "encoding": {"x": _measured("k", "k")},
            },
            {
                "data": {"values": swaps},
                "mark": {"type": "text", "align": "left", "dx": 6, "color": TEXT},
                "encoding": {
                    "x": _measured("k", "k"),
                    "y": {"value": 280},
                    "text": {"field": "said"},
                },
            },
        ],
    }


def _contributions(found: Study) -> Spec:
    """What each list gives each document, at two k."""
    rows = [
        {
            "setting": name,
            "document": hit.id,
            "list": part.system,
            "value": float(part.value),
        }
        for name in ("k = 0", "k = 60")
        for hit in found.setting(name).fused
        for part in hit.parts
        if isinstance(part, Contribution)
    ]
    return {
        "title": "What each list gives a document",
        "data": {"values": rows},
        "facet": {"column": {"field": "setting", "type": "nominal", "title": None}},
        "resolve": {"scale": {"x": "independent"}},
        "spec": {
            "width": 250,
            "height": 150,
            "mark": "bar",
            "encoding": {
                "x": _measured("value", "1/(k + rank)"),
                "y": {"field": "document", "type": "nominal", "title": None},
                "color": _coloured("list", ["L1", "L2"]),
                "order": {"field": "list"},
            },
        },
    }


def _average_precision(found: Study) -> Spec:
    """Of each list alone and of each fusion, in the order in which they are told."""
    precisions = [(f"{name} alone", value, name) for name, value in found.lists.items()]
    precisions += [(one.said, one.average_precision, "fusion") for one in found.settings]
    rows = [
        {"of": said, "precision": float(value), "exact": str(value), "kind": kind}
        for said, value, kind in precisions
    ]
    along = _measured("precision", "average precision") | {"scale": {"domain": [0, 1.1]}}
    place = {
        "field": "of",
        "type": "nominal",
        "title": None,
        "sort": None,
        "axis": {"labelLimit": 400},
    }
    return {
        "title": "Each list alone, and what was made of the two",
        "width": 420,
        "height": 210,
        "data": {"values": rows},
        "layer": [
            {
                "mark": "bar",
                "encoding": {"x": along, "y": place, "color": _coloured("kind", list(COLOURS))},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 4, "color": TEXT},
                "encoding": {"x": along, "y": place, "text": {"field": "exact"}},
            },
        ],
    }


def _measured(field: str, title: str, *, zero: bool = True) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": zero}}


def _coloured(field: str, names: list[str]) -> Spec:
    scale = {"domain": names, "range": [COLOURS[name] for name in names]}
    return {"field": field, "type": "nominal", "title": None, "scale": scale}
