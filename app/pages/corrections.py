"""HTML that says which words no document has, and leads to what may have been meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from app.pages.address import STEP, Address, search_link
from app.pages.markup import anchor
from app.query.correct import Suggestion, corrected
from app.query.protocol import DEFAULT_CORRECTIONS
from app.query.record import SearchRecord
from app.query.suggest import Completion


def announced(record: SearchRecord, address: Address, reviewer: str) -> str:
    """A sentence for each suggestion with links to the corrected query; where the protocol has
    applied them, the link to the words as typed."""
    address = replace(address, n=str(STEP))
    if record.protocol.corrections == "apply":
        typed = search_link(replace(address, corrections=DEFAULT_CORRECTIONS), reviewer)
        return _note(anchor("Search for the words as typed", typed, "cp-meant"))
    return "".join(_note(_suggested(one, record, address, reviewer)) for one in record.suggestions)


def completions(found: Sequence[Completion], address: Address, reviewer: str) -> str:
    """One line of links to codes and titles that begin with what was typed."""
    links = " · ".join(
        anchor(
            one.text,
            search_link(replace(address, q=one.query, n=str(STEP)), reviewer),
            "cp-meant",
        )
        for one in found
    )
    return f'<p class="cp-hint">Begins so: {links}</p>'


def _suggested(one: Suggestion, record: SearchRecord, address: Address, reviewer: str) -> str:
    links = [
        anchor(
            candidate.text,
            search_link(
                replace(address, q=corrected(record.text, record.suggestions, candidate)), reviewer
            ),
            "cp-meant",
        )
        + f" ({candidate.documents:,})"
        for candidate in one.candidates
    ]
    return f"No document has <em>{escape(one.typed)}</em>. Search for {' or '.join(links)} instead."


def _note(html: str) -> str:
    return f'<p class="cp-note">{html}</p>'
