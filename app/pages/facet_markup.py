"""HTML of what the candidates of an answer are, with links that narrow the search.

A count is of the fused candidates and says so; it is not how much the archive holds.
"""

from __future__ import annotations

from dataclasses import replace
from html import escape

from app.pages.address import STEP, Address, search_link
from app.pages.markup import anchor, language_name
from app.query.facets import Facet, Facets

MOST_VALUES = 8
"""How many values of a field are shown, the most frequent ones."""

_PARAMETERS = {"language": "lang", "type": "type", "folder": "folder", "tag": "tag"}


def counts(counted: Facets, address: Address, reviewer: str) -> str:
    """Each field's values with their counts; nothing where there is no candidate."""
    lines = "".join(
        f"<dt>{facet.field}</dt><dd>{_values(facet, address, reviewer)}</dd>"
        for facet in counted.facets
        if facet.counts
    )
    if not lines:
        return ""
    said = counted.said[:1].upper() + counted.said[1:]
    return f'<div class="cp-facets"><p>{said}:</p><dl>{lines}</dl></div>'


def _values(facet: Facet, address: Address, reviewer: str) -> str:
    shown = "".join(
        f"<span>{_value(facet.field, value, address, reviewer)} {count:,}</span>"
        for value, count in facet.counts[:MOST_VALUES]
    )
    more = len(facet.counts) - MOST_VALUES
    return shown + (f"<span>and {more:,} more</span>" if more > 0 else "")


def _value(field: str, value: str, address: Address, reviewer: str) -> str:
    """The value as a link that narrows the search to it, unless it is narrowed so already."""
    name = _PARAMETERS[field]
    text = language_name(value) if field == "language" else value
    # A comma parts values in an address, and the empty language cannot be written there.
    if value == getattr(address, name):
        return f"<b>{escape(text)}</b>"
    if not value or (field != "folder" and "," in value):
        return escape(text)
    narrowed = replace(address, **{name: value, "n": str(STEP)})
    return anchor(text, search_link(narrowed, reviewer), "")
