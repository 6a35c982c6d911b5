"""HTML of what another k, depth or weight would do to the order on the screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from html import escape

from app.pages.markup import letter
from app.query.depths import DepthStep
from app.query.protocol import Protocol
from app.query.roots import compare, exactly
from app.query.spans import Span
from app.query.swaps import Kind
from app.query.what_if import WhatIf

MOST_SWAPS = 40
NO_THRESHOLD = (
    "A fused score has no meaning outside of its protocol: at another k, depth or weight the same "
    "document has another score, so no threshold carries over."
)

Titles = Mapping[str, str]


def what_if_tables(answer: WhatIf, protocol: Protocol, titles: Titles) -> str:
    """All answers as tables; ``titles`` names the documents on the screen, and maybe others."""
    places = {name: place for place, name in enumerate(answer.shown, start=1)}
    legend = "".join(
        f"<li value='{place}'>{escape(titles.get(name, name))}</li>"
        for name, place in places.items()
    )
    return (
        f'<p class="cp-hint">{escape(NO_THRESHOLD)}</p><ol class="cp-order">{legend}</ol>'
        + _by_k(answer, protocol, places)
        + _swaps(answer, places)
        + "".join(
            _by_depth(system.name, system.depth, answer.by_depth[system.name], places, titles)
            for system in protocol.systems
        )
        + "".join(
            _by_weight(system.name, system.weight, answer.by_weight[system.name], places)
            for system in protocol.systems
        )
    )


def _by_k(answer: WhatIf, protocol: Protocol, places: Mapping[str, int]) -> str:
    rows = [
        (f"{span}{_here(span, protocol.k)}", _order(span.order, places)) for span in answer.by_k
    ]
    return _table(f"The order as k runs; it is {protocol.k} here", ("k", "order"), rows)


def _swaps(answer: WhatIf, places: Mapping[str, int]) -> str:
    rows = [
        (
            f"k = {meeting.at}",
            f"{_number(meeting.ahead_above, places)} passes {_number(meeting.ahead_below, places)}",
            f"k = {meeting.below}: {_number(meeting.ahead_below, places)} ahead; "
            f"k = {meeting.above}: {_number(meeting.ahead_above, places)} ahead",
        )
        for one in answer.comparisons
        for meeting in one.meetings
        if meeting.kind is Kind.SWAP
    ]
    if not rows:
        return '<p class="cp-hint">No two of these documents swap at any k.</p>'
    more = f", the first {MOST_SWAPS} of {len(rows)}" if len(rows) > MOST_SWAPS else ""
    return _table(
        f"Where two documents swap, exactly{more}",
        ("at", "what", "on both sides"),
        rows[:MOST_SWAPS],
    )


def _by_depth(
    system: str,
    depth: int,
    steps: Sequence[DepthStep],
    places: Mapping[str, int],
    titles: Titles,
) -> str:
    rows = [
        (str(step.depth), "; ".join(_changes(step, places, titles)) or "as above") for step in steps
    ]
    return _table(
        f"{letter(system)} {system} read to another depth; it is {depth} here",
        ("depth", "what changes"),
        rows,
    )


def _changes(step: DepthStep, places: Mapping[str, int], titles: Titles) -> Iterator[str]:
    named = _number(step.document, places, titles)
    if step.passed:
        yield f"{named} passes {', '.join(_number(one, places, titles) for one in step.passed)}"
    if step.entered:
        yield f"{', '.join(_number(one, places, titles) for one in step.entered)} enters"
    if step.left:
        yield f"{', '.join(_number(one, places, titles) for one in step.left)} leaves"


def _by_weight(
    system: str, weight: Fraction, spans: Sequence[Span], places: Mapping[str, int]
) -> str:
    rows = [(f"{span}{_here(span, weight)}", _order(span.order, places)) for span in spans]
    return _table(
        f"{letter(system)} {system} with another weight; it is {weight} here",
        ("weight", "order"),
        rows,
    )


def _here(span: Span, value: Fraction) -> str:
    """A mark where ``value`` lies in ``span``."""
    point = exactly(value)
    after = compare(span.start, point)
    before = 1 if span.end is None else compare(span.end, point)
    inside = (after < 0 or (after == 0 and span.with_start)) and (
        before > 0 or (before == 0 and span.with_end)
    )
    return " ◂ here" if inside else ""


def _order(order: Sequence[str], places: Mapping[str, int]) -> str:
    return " ".join(str(places[name]) for name in order)


def _number(name: str, places: Mapping[str, int], titles: Titles | None = None) -> str:
    """A document as its number on the screen, or by title where it is not on it."""
    if name in places:
        return f"#{places[name]}"
    return (titles or {}).get(name, name)


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="cp-scroll"><table class="cp-why"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
