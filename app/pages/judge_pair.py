"""One document for one topic: what is needed, what each grade means, and the keys that store it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import resources
from app.judging import Candidate, Queue, token
from app.label_states import change_since
from app.pages import judge_markup, judge_place, markup, trouble
from app.pages.judge_place import AGAIN, REASON, Sitting
from app.pools import POOL_DEPTH, build_pool
from app.query.protocol import Protocol
from app.query.reading import read_document
from app.queues import also_judged, next_topic, queues
from corpus.judging import Judgment, Topic
from store.judging import add_judgment, defer, deferred, judgments, now, topic
from store.pools import add_pools, pooled

_TYPED, _NOTE = "reason", "note"


def draw(sitting: Sitting, entry: Topic, text_revision: int) -> None:
    """Draw what this reviewer judges next for a topic, or that all is done.

    ``text_revision`` is the topic's text that the reviewer reads, whatever it is a moment later.
    """
    _see_to_pool(sitting, entry)
    catalogue, project = sitting.catalogue, sitting.project
    queue = queues(catalogue, sitting.version, project, sitting.judge, entry.topic_id)[
        entry.topic_id
    ]
    again = st.session_state.get(AGAIN, "")
    chosen = next((one for one in queue.candidates if one.doc_id == again), None)
    put_off = deferred(catalogue, entry.topic_id, sitting.judge, project.name)
    current = chosen or queue.upcoming(put_off)
    given = judgments(catalogue, entry.topic_id, project=project.name)
    last = queue.last_judged(label for label in given if label.judge == sitting.judge)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(
            "All topics",
            key="all",
            icon=":material/arrow_back:",
            type="tertiary",
            on_click=judge_place.go,
        )
        st.html(judge_markup.topic_head(queue), width="content")
    # A place of its own, empty or not: what follows then never moves from one element to another.
    with st.container(key="stored"):
        if last is not None:
            others = also_judged(given, entry.topic_id, last.doc_id, sitting.judge)
            title = catalogue.document(sitting.version.number, last.doc_id).title
            st.html(judge_markup.before(title, queue.labels[last.doc_id], others))
    if current is None:
        _finished(sitting, entry, queue)
        _undo(sitting, queue, last)
    else:
        panel, page = st.columns([2, 3], gap="large")
        with panel.container(key="panel"):
            _panel(sitting, entry, text_revision, queue, current, last)
        with page.container(key="judged"):
            _document(sitting, queue, current)
    st.html(judge_markup.order_note(queue, sitting.version.number))


def _see_to_pool(sitting: Sitting, entry: Topic) -> None:
    """A topic that nobody made a pool for gets the one of the default protocol, recorded."""
    if entry.topic_id in pooled(sitting.catalogue, sitting.project.name):
        return
    resources.load_encoder(sitting.serving)
    with st.spinner("Finding the documents to judge…"):
        made = build_pool(
            sitting.serving.engines,
            sitting.catalogue,
            sitting.project.name,
            entry.topic_id,
            [Protocol()],
            depth=POOL_DEPTH,
            builder=sitting.judge,
        )
        add_pools(sitting.catalogue, [made])


def _panel(
    sitting: Sitting,
    entry: Topic,
    text_revision: int,
    queue: Queue,
    current: Candidate,
    last: Candidate | None,
) -> None:
    label = queue.labels.get(current.doc_id)
    st.html(judge_markup.need(entry) + judge_markup.standing(label, current, queue))
    # The key names the document: a second click that arrives late cannot label the next one.
    mark = token(queue.seed, current.doc_id)
    blank = Judgment(
        topic_id=entry.topic_id,
        doc_id=current.doc_id,
        revision=current.revision,
        grade=None,
        judge=sitting.judge,
        judged_at=now(),
        corpus_version=sitting.version.number,
        blind=True,
        passage_id=current.passage_id,
        project=sitting.project.name,
        withdrawn=True,
        seed=queue.seed,
        topic_revision=text_revision,
    )
    with st.container(key="grades", gap="small"):
        for grade, words in reversed(list(enumerate(sitting.project.grades))):
            st.button(
                f"**{grade}** {markup.plain(words)}",
                key=f"grade-{grade}-{mark}",
                shortcut=str(grade),
                width="stretch",
                on_click=_save,
                args=(blank, mark, grade),
            )
    with st.container(horizontal=True, gap="small"):
        if label is not None and queue.state(current) == "to confirm":
            st.button(
                f"Confirm {judge_markup.grade_name(label.grade)}",
                key=f"confirm-{mark}",
                shortcut="Y",
                type="primary",
                on_click=_confirm,
                args=(blank, label),
            )
            st.button("Drop", key=f"drop-{mark}", on_click=_withdraw, args=(blank,))
        st.button("Unrateable", key=f"why-{mark}", shortcut="U", on_click=_ask_reason)
        st.button(
            "Later",
            key=f"later-{mark}",
            shortcut="S",
            on_click=_later,
            args=(entry.topic_id, current.doc_id, sitting.judge, sitting.project.name),
        )
        _undo(sitting, queue, last)
    if st.session_state.get(REASON):
        with st.form(f"unrateable-{mark}", border=False):
            st.text_input("Why can it not be rated?", key=_TYPED, max_chars=200)
            st.form_submit_button("Store as unrateable", on_click=_save, args=(blank, mark, None))
    st.text_input(
        "Note, stored with the label",
        key=f"{_NOTE}-{mark}",
        max_chars=1_000,
        placeholder="optional",
    )


def _document(sitting: Sitting, queue: Queue, current: Candidate) -> None:
    label = queue.labels.get(current.doc_id)
    if label is not None and queue.state(current) == "to confirm":
        lines = change_since(sitting.catalogue, sitting.version, current.doc_id, label.revision)
        if lines:
            st.html(judge_markup.change(lines))
    entry = read_document(
        sitting.catalogue, sitting.version, current.doc_id, current.passage_id, whole=True
    )
    whole = st.session_state.get("whole-judged", False)
    st.html(judge_markup.judged_document(entry, whole=whole))
    if entry.passages > 1:
        st.toggle("Show the whole text", key="whole-judged")


def _undo(sitting: Sitting, queue: Queue, last: Candidate | None) -> None:
    """Take back the last label of this topic: one more entry, which says that it does not stand."""
    st.button(
        "Undo",
        key="undo",
        shortcut="Z",
        icon=":material/undo:",
        disabled=last is None,
        on_click=_withdraw,
        args=(queue.labels[last.doc_id] if last else None,),
    )


def _finished(sitting: Sitting, entry: Topic, queue: Queue) -> None:
    all_queues = queues(sitting.catalogue, sitting.version, sitting.project, sitting.judge)
    following = next_topic(all_queues, sitting.judge, entry.topic_id)
    shown = topic(sitting.catalogue, following) if following else None
    st.html(judge_markup.finished(queue, shown))
    if following:
        st.button(
            "Next topic",
            key="next",
            type="primary",
            icon=":material/arrow_forward:",
            shortcut="N",
            on_click=judge_place.go,
            kwargs={"topic_id": following},
        )


def _save(blank: Judgment, mark: str, grade: int | None) -> None:
    """Store a label at the keypress, before anything is drawn."""
    reason = _one_line(_TYPED) if grade is None else ""
    if grade is None and not reason:
        return
    note = _one_line(f"{_NOTE}-{mark}")
    _store(replace(blank, grade=grade, reason=reason, note=note, withdrawn=False, judged_at=now()))


def _confirm(blank: Judgment, label: Judgment) -> None:
    """The same grade for the text in force."""
    _store(
        replace(
            blank,
            grade=label.grade,
            reason=label.reason,
            note=label.note,
            withdrawn=False,
            judged_at=now(),
        )
    )


def _withdraw(label: Judgment | None) -> None:
    if label is None:
        return
    taken = replace(
        label, grade=None, reason="", note="", withdrawn=True, judged_at=now(), topic_revision=0
    )
    _store(taken, again=label.doc_id)


def _store(label: Judgment, again: str = "") -> None:
    with trouble.kept(), resources.open_catalogue() as catalogue:
        add_judgment(catalogue, label)
        st.session_state[AGAIN] = again
        st.session_state[REASON] = False


def _one_line(key: str) -> str:
    return " ".join(str(st.session_state.get(key, "")).split())


def _ask_reason() -> None:
    st.session_state[REASON] = not st.session_state.get(REASON, False)


def _later(topic_id: str, doc_id: str, judge: str, project: str) -> None:
    with trouble.kept(), resources.open_catalogue() as catalogue:
        defer(catalogue, topic_id, doc_id, judge, project)
        st.session_state[AGAIN] = ""
        st.session_state[REASON] = False
