"""HTML of a document that is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from app.pages.markup import Link, anchor, facts, marked, ocr_label, similar_to
from app.query.reading import Reading


def document_head(entry: Reading, address: Link) -> str:
    """What the document is, which of its states is shown, and what is nearly the same."""
    document = entry.document
    headings = list(entry.passage.headings) if entry.passage else []
    if headings[:1] == [document.title]:
        headings.pop(0)
    page = entry.passage.page if entry.passage else None
    pairs = [
        ("version", str(entry.version)),
        ("revision", str(document.revision)),
        ("language", document.language or "unknown"),
        ("author", document.author),
        ("date", document.dated),
        ("tags", ", ".join(document.tags)),
        ("page", str(page) if page else ""),
        (
            "location" if len(document.locations) == 1 else "locations",
            ", ".join(document.locations),
        ),
        ("under", " › ".join(headings)),
    ]
    return (
        f'<h1 class="cp-h1">{escape(document.title)}</h1>'
        f"{facts([(name, value) for name, value in pairs if value])}"
        f"{similar_to(document, entry.similar, address)}"
    )


def steps(entry: Reading, results: str, previous: str, following: str) -> str:
    """Where this passage stands in its document, with links to its neighbours and the results."""
    where = (
        f"passage {entry.number} of {entry.passages}"
        if entry.number
        else f"{entry.passages} passages"
    )
    before = anchor("‹ previous", previous, "cp-step") if previous else _no_step("‹ previous")
    after = anchor("next ›", following, "cp-step") if following else _no_step("next ›")
    back = anchor("‹ results", results, "cp-step") if results else ""
    return (
        f'<p class="cp-steps">{back}{before}<span>{where}{ocr_label(entry.ocr)}</span>{after}</p>'
    )


def _no_step(text: str) -> str:
    return f'<span class="cp-step cp-off">{text}</span>'


def reading(entry: Reading, marks: Callable[[str], Sequence[tuple[int, int]]]) -> str:
    """The text of a document with its passage set off; ``marks`` finds what the query matched."""

    def piece(text: str) -> str:
        return marked(text, marks(text))

    head, tail = entry.left_out
    passage = f'<span class="cp-passage">{piece(entry.shown)}</span>' if entry.passage else ""
    return (
        f"{_gap(head, 'before')}"
        f'<div class="cp-text">{piece(entry.before)}{passage}{piece(entry.after)}</div>'
        f"{_gap(tail, 'after')}"
    )


def _gap(characters: int, where: str) -> str:
    if not characters:
        return ""
    return f'<p class="cp-gap">{characters:,} characters {where} this are not shown</p>'
