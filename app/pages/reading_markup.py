"""HTML of a document that is read or judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from app.judging import POOL_DEPTH, Candidate, Pool, Queue
from app.pages.markup import Link, anchor, facts, marked, ocr_label, similar_to
from app.query.reading import Reading
from corpus.judging import Judgment, Topic


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


def topics_head(queues: Sequence[Queue]) -> str:
    """How far this reviewer is with everything."""
    judged = sum(queue.judged for queue in queues)
    total = sum(len(queue.candidates) for queue in queues)
    return (
        '<h1 class="cp-h1">Topics</h1><p class="cp-status">'
        f"You have judged {judged:,} of {total:,} documents in {len(queues)} topics.</p>"
    )


def topic_row(topic: Topic, queue: Queue) -> str:
    """A topic with how far this reviewer is."""
    need = escape(topic.need) if topic.need != topic.query else ""
    return (
        f'<div class="cp-topic"><b>{escape(topic.query)}</b><span>{need}</span>'
        f"{_progress(queue)}</div>"
    )


def _progress(queue: Queue) -> str:
    total = len(queue.candidates)
    return (
        f'<span class="cp-progress"><progress max="{max(1, total)}" value="{queue.judged}">'
        f"</progress> {queue.judged} of {total}</span>"
    )


def topic_head(queue: Queue) -> str:
    """How far this reviewer is with a topic."""
    return f'<p class="cp-steps">{_progress(queue)}</p>'


def need(topic: Topic) -> str:
    """What the document is judged for."""
    query = f'<p class="cp-status">typed: {escape(topic.query)}</p>'
    return f'<div class="cp-need"><p>{escape(topic.need)}</p>{query}</div>'


def standing(label: Judgment | None, current: Candidate) -> str:
    """The reviewer's own label of this document, where there is one."""
    if label is None:
        return ""
    given = "unrateable" if label.grade is None else str(label.grade)
    text = (
        f"You gave {given} to revision {label.revision} of this document, which is now at "
        f"revision {current.revision}. Confirm it or change it."
        if label.revision != current.revision
        else f"Your label is {given}. A new one takes its place."
    )
    return f'<p class="cp-note">{escape(text)}</p>'


def judged_document(entry: Reading, *, whole: bool) -> str:
    """A document without its place, rank, engine or score."""
    title = f'<h2 class="cp-h2">{escape(entry.document.title)} {ocr_label(entry.ocr)}</h2>'
    if whole:
        return title + reading(entry, lambda text: ())
    return f'{title}<div class="cp-text">{escape(entry.shown)}</div>'


def finished(queue: Queue, following: Topic | None) -> str:
    """What was given for a topic, and what comes next."""
    total = len(queue.candidates)
    if not total:
        text = "No document was found for this topic, so there is nothing to judge."
    else:
        counts = [
            (name, sum(label.grade == grade for label in _labels(queue)))
            for name, grade in (("3", 3), ("2", 2), ("1", 1), ("0", 0), ("unrateable", None))
        ]
        given = ", ".join(f"{count} × {name}" for name, count in counts if count)
        text = f"You have judged all {total} documents of this topic: {given}."
    go_on = (
        f"Next: {escape(following.query)}"
        if following
        else "There is no topic left with documents to judge."
    )
    return f'<div class="cp-state"><h2>Done</h2><p>{text}</p><p>{go_on}</p></div>'


def _labels(queue: Queue) -> list[Judgment]:
    return [
        queue.labels[entry.doc_id] for entry in queue.candidates if entry.doc_id in queue.labels
    ]


def order_note(seed: str, pool: Pool) -> str:
    """How the documents were chosen and shuffled."""
    return (
        f'<p class="cp-foot">Blind, in an order of your own (seed {seed}) · pool: first '
        f"{POOL_DEPTH} of each list, version {pool.corpus_version}, protocol "
        f"{pool.protocol.removeprefix('sha256:')[:8]}</p>"
    )
