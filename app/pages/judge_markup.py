"""HTML of judging: topics, what is judged, and how far judges agree.

What is drawn for a judge knows no rank, engine, score, protocol or grade of anybody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from app.agreement import Agreement, Disagreement, Estimate
from app.judging import Candidate, Queue
from app.pages.markup import ocr_label
from app.pages.reading_markup import reading
from app.query.reading import Reading
from corpus.judging import Judgment, Project, Topic

UNRATEABLE = "unrateable"


def topics_head(project: Project, queues: Iterable[Queue], without: int) -> str:
    """How far this reviewer is with everything."""
    known = list(queues)
    judged = sum(queue.judged for queue in known)
    total = sum(queue.total for queue in known)
    rest = f" {without} more have no pool yet." if without else ""
    return (
        f'<h1 class="cp-h1">Topics of project {escape(project.name)}</h1><p class="cp-status">'
        f"You have judged {judged:,} of {total:,} documents in {len(known)} topics.{rest}</p>"
    )


def topic_row(topic: Topic, queue: Queue | None) -> str:
    """A topic with how far this reviewer is."""
    need = escape(topic.need) if topic.need != topic.query else ""
    far = _progress(queue) if queue else '<span class="cp-progress">no pool yet</span>'
    return f'<div class="cp-topic"><b>{escape(topic.query)}</b><span>{need}</span>{far}</div>'


def _progress(queue: Queue) -> str:
    return (
        f'<span class="cp-progress"><progress max="{max(1, queue.total)}" value="{queue.judged}">'
        f"</progress> {queue.judged} of {queue.total}</span>"
    )


def topic_head(queue: Queue) -> str:
    """How far this reviewer is with a topic."""
    return f'<p class="cp-steps">{_progress(queue)}</p>'


def need(topic: Topic) -> str:
    """What the document is judged for."""
    query = f'<p class="cp-status">typed: {escape(topic.query)}</p>'
    return f'<div class="cp-need"><p>{escape(topic.need)}</p>{query}</div>'


def grade_name(grade: int | None) -> str:
    """A grade in words or figures."""
    return UNRATEABLE if grade is None else str(grade)


def standing(label: Judgment | None, current: Candidate, queue: Queue) -> str:
    """The reviewer's own label of this document, where there is one."""
    if label is None:
        return ""
    given = grade_name(label.grade)
    now = f"revision {label.revision} of this document, which is now at revision {current.revision}"
    text = {
        "to confirm": f"You gave {given} to {now}. Confirm it, change it or drop it.",
        "parked": f"You gave {given} to {now}; its text changed much, so judge it anew.",
        "carried": f"You gave {given} to {now}, with the same text. A new one takes its place.",
    }.get(queue.state(current) or "", f"Your label is {given}. A new one takes its place.")
    return f'<p class="cp-note">{escape(text)}</p>'


def change(lines: Sequence[str]) -> str:
    """What changed in a document since it was judged."""
    kinds = {"+": "cp-added", "-": "cp-gone", "@": "cp-absent", "\\": "cp-absent"}
    drawn = "".join(
        f'<span class="{kinds.get(line[:1], "")}">{escape(line) or " "}</span>\n' for line in lines
    )
    return f'<div class="cp-name">What changed</div><div class="cp-text cp-change">{drawn}</div>'


def judged_document(entry: Reading, *, whole: bool) -> str:
    """A document without its place, rank, engine or score."""
    title = f'<h2 class="cp-h2">{escape(entry.document.title)} {ocr_label(entry.ocr)}</h2>'
    if whole or not entry.passage:
        return title + reading(entry, lambda text: ())
    return f'{title}<div class="cp-text">{escape(entry.shown)}</div>'


def before(title: str, label: Judgment, others: Sequence[str]) -> str:
    """What was stored last, and who else judged that document: never what they gave."""
    also = f"also judged by {', '.join(others)}" if others else "nobody else has judged it"
    text = f"Stored: {grade_name(label.grade)} for {title} · {also}"
    return f'<p class="cp-hint">{escape(text)}</p>'


def finished(queue: Queue, following: Topic | None) -> str:
    """What was given for a topic, and what comes next."""
    if not queue.candidates:
        text = "No document was found for this topic, so there is nothing to judge."
    else:
        labels = [
            queue.labels[entry.doc_id] for entry in queue.candidates if entry.doc_id in queue.labels
        ]
        counts = [
            (grade_name(grade), sum(label.grade == grade for label in labels))
            for grade in (3, 2, 1, 0, None)
        ]
        given = ", ".join(f"{count} × {name}" for name, count in counts if count) or "none yet"
        text = f"You have judged all {queue.total} documents of this topic: {given}."
        if left := len(queue.candidates) - queue.total:
            text += f" {left} more have enough judges."
    go_on = (
        f"Next: {escape(following.query)}"
        if following
        else "There is no topic left with documents to judge."
    )
    return f'<div class="cp-state"><h2>Done</h2><p>{text}</p><p>{go_on}</p></div>'


def order_note(queue: Queue, version: int) -> str:
    """That nothing but the document is shown, and what shuffled the order."""
    return (
        '<p class="cp-foot">Blind, least judged first, in an order of your own '
        f"(seed {queue.seed}) · version {version}</p>"
    )


def agreement(project: str, found: Agreement) -> str:
    """The coefficients with their intervals."""
    rows = [("Krippendorff's alpha, ordinal, all judges", found.alpha)] + [
        (f"weighted kappa, {pair.first} and {pair.second}", pair.kappa) for pair in found.kappas
    ]
    cells = "".join(
        f"<tr><td>{escape(name)}</td><td>{_figure(one.value)}</td><td>{_interval(one)}</td>"
        f"<td>{one.pairs}</td></tr>"
        for name, one in rows
    )
    left_out = f", {found.not_blind} labels not given blind are left out" if found.not_blind else ""
    return (
        f'<h1 class="cp-h1">Agreement in project {escape(project)}</h1>'
        '<div class="cp-scroll"><table class="cp-why"><tr><th>agreement</th><th>value</th>'
        f"<th>95 % interval</th><th>pairs</th></tr>{cells}</table></div>"
        f'<p class="cp-hint">{found.graded} documents of topics have a grade{left_out}. '
        "Intervals are bootstrapped over them, seed 0.</p>"
    )


def _figure(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3f}"


def _interval(one: Estimate) -> str:
    return "" if one.low is None or one.high is None else f"{one.low:.3f} to {one.high:.3f}"


def disagreement_row(
    one: Disagreement, topic: Topic, title: str, *, seen: bool, notes: Mapping[str, str]
) -> str:
    """A disagreement; ``seen`` says that this reader is done with it and may know who gave what."""
    if seen:
        given = ", ".join(
            f"{name} {grade}" + (f" ({notes[name]})" if notes.get(name) else "")
            for name, grade in one.grades
        )
    else:
        given = f"{len(one.grades)} judges differ"
    settled = f"settled: {grade_name(one.adjudicated.grade)}" if one.adjudicated else "open"
    return (
        f'<div class="cp-topic"><b>{escape(title)}</b><span>{escape(topic.query)} · '
        f'{escape(given)}</span><span class="cp-progress">{settled}</span></div>'
    )
