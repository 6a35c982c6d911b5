"""The judging page: one document at a time, without rank, engine, score or source."""

from __future__ import annotations

import shlex

import streamlit as st

from app import resources
from app.judging import Candidate, Pool, Queue, make_queue, now, token
from app.pages import account, address, controls, frame, markup, reading_markup, trouble
from app.query.reading import read_document
from app.resources import Served
from corpus.judging import GRADES, Judgment, Topic
from store.catalogue import Catalogue
from store.judging import add_judgment, judgments, standing_labels, topic, topics

_LATER, _AGAIN, _REASON, _TYPED = "later", "again", "giving-reason", "reason"


def draw() -> None:
    controls.leave_search()
    name = account.reviewer()
    if not name:
        st.html(markup.state("Sign in to judge", "your labels are stored under your name."))
        account.form("page")
        return
    serving = resources.served()
    topic_id = st.query_params.get("topic", "")
    with resources.open_catalogue() as catalogue:
        if topic_id:
            _judge(serving, catalogue, topic(catalogue, topic_id), name)
        else:
            _topics(serving, catalogue, name)


def _topics(serving: Served, catalogue: Catalogue, name: str) -> None:
    known = topics(catalogue)
    if not known:
        st.html(markup.state("There are no topics yet", "write them in a file, then type:"))
        root = shlex.quote(str(serving.engines.archive.root))
        st.code(
            f"python -m app topics import FILE.toml --archive {root}",
            language=None,
            wrap_lines=True,
        )
        return
    with st.spinner(f"Finding the documents to judge for {len(known)} topics…"):
        queues = [_queue(serving, catalogue, entry, name)[1] for entry in known]
    st.html(reading_markup.topics_head(queues))
    with st.container(gap=None):
        for place, (entry, queue) in enumerate(zip(known, queues, strict=True)):
            left, right = st.columns([8, 1], gap="small", vertical_alignment="center")
            left.html(reading_markup.topic_row(entry, queue))
            right.button(
                "Judge" if queue.pending() else "Review",
                key=f"open-{place}",
                width="stretch",
                on_click=_open,
                args=(entry.topic_id,),
            )


def _queue(serving: Served, catalogue: Catalogue, entry: Topic, name: str) -> tuple[Pool, Queue]:
    found = resources.topic_pool(serving.key, entry.query, serving)
    labels = standing_labels(catalogue, entry.topic_id, name)
    return found, make_queue(found.candidates, labels, name, entry.topic_id)


def _judge(serving: Served, catalogue: Catalogue, entry: Topic, name: str) -> None:
    resources.load_encoder(serving)
    found, queue = _queue(serving, catalogue, entry, name)
    given = judgments(catalogue, entry.topic_id, name)
    again = st.session_state.get(_AGAIN, "")
    chosen = next((one for one in queue.candidates if one.doc_id == again), None)
    current = chosen or queue.upcoming(st.session_state.get(_LATER, ()))
    before = queue.previous(given, again)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(
            "All topics", key="all", icon=":material/arrow_back:", type="tertiary", on_click=_open
        )
        st.html(reading_markup.topic_head(queue), width="content")
    if found.notes:
        st.html(markup.notices(found.notes))
    if current is None:
        _finished(serving, catalogue, entry, queue, name)
        _undo(before)
    else:
        panel, page = st.columns([2, 3], gap="large")
        with panel.container(key="panel"):
            _panel(entry, found, queue, current, before, name)
        with page.container(key="judged"):
            _document(serving, catalogue, found, current)
    st.html(reading_markup.order_note(queue.seed, found))


def _panel(
    entry: Topic,
    found: Pool,
    queue: Queue,
    current: Candidate,
    before: Candidate | None,
    name: str,
) -> None:
    st.html(
        reading_markup.need(entry)
        + reading_markup.standing(queue.labels.get(current.doc_id), current)
    )
    # The key names the document: a second click that arrives late cannot label the next one.
    mark = token(queue.seed, current.doc_id)
    give = (entry.topic_id, found, current, name)
    for grade, words in sorted(GRADES.items(), reverse=True):
        st.button(
            f"**{grade}** {words}",
            key=f"grade-{grade}-{mark}",
            shortcut=str(grade),
            width="stretch",
            on_click=_save,
            args=(*give, grade),
        )
    with st.container(horizontal=True, gap="small"):
        st.button("Unrateable", key=f"why-{mark}", shortcut="U", on_click=_ask_reason)
        st.button("Later", key=f"later-{mark}", shortcut="S", on_click=_later, args=(current,))
        _undo(before)
    if st.session_state.get(_REASON):
        with st.form(f"unrateable-{mark}", border=False):
            st.text_input("Why can it not be rated?", key=_TYPED, max_chars=200)
            st.form_submit_button("Store as unrateable", on_click=_save, args=(*give, None))


def _document(serving: Served, catalogue: Catalogue, found: Pool, current: Candidate) -> None:
    version = catalogue.version(found.corpus_version)
    entry = read_document(catalogue, version, current.doc_id, current.passage_id, whole=True)
    whole = st.session_state.get("whole-judged", False)
    st.html(reading_markup.judged_document(entry, whole=whole))
    if entry.passages > 1:
        st.toggle("Show the whole text", key="whole-judged")


def _undo(before: Candidate | None) -> None:
    st.button(
        "Undo",
        key="undo",
        shortcut="Z",
        icon=":material/undo:",
        disabled=before is None,
        on_click=_back,
        args=(before.doc_id if before else "",),
    )


def _finished(serving: Served, catalogue: Catalogue, entry: Topic, queue: Queue, name: str) -> None:
    rest = [
        other
        for other in topics(catalogue)
        if other.topic_id != entry.topic_id and _queue(serving, catalogue, other, name)[1].pending()
    ]
    st.html(reading_markup.finished(queue, rest[0] if rest else None))
    if rest:
        st.button(
            "Next topic",
            key="next",
            type="primary",
            icon=":material/arrow_forward:",
            on_click=_open,
            args=(rest[0].topic_id,),
        )


def _save(topic_id: str, found: Pool, current: Candidate, name: str, grade: int | None) -> None:
    reason = " ".join(str(st.session_state.get(_TYPED, "")).split()) if grade is None else ""
    if grade is None and not reason:
        return
    with trouble.kept(), resources.open_catalogue() as catalogue:
        add_judgment(
            catalogue,
            Judgment(
                topic_id=topic_id,
                doc_id=current.doc_id,
                revision=current.revision,
                grade=grade,
                judge=name,
                judged_at=now(),
                corpus_version=found.corpus_version,
                blind=True,
                passage_id=current.passage_id,
                reason=reason,
            ),
        )
        st.session_state[_AGAIN] = ""
        st.session_state[_REASON] = False


def _open(topic_id: str = "") -> None:
    st.query_params.from_dict(address.judge_parameters(topic_id, account.reviewer()))
    for key in (_LATER, _AGAIN, _REASON):
        st.session_state.pop(key, None)


def _ask_reason() -> None:
    st.session_state[_REASON] = not st.session_state.get(_REASON, False)


def _later(current: Candidate) -> None:
    put_off = st.session_state.get(_LATER, ())
    st.session_state[_LATER] = (
        *(name for name in put_off if name != current.doc_id),
        current.doc_id,
    )
    st.session_state[_AGAIN] = ""
    st.session_state[_REASON] = False


def _back(doc_id: str) -> None:
    st.session_state[_AGAIN] = doc_id
    st.session_state[_REASON] = False


frame.draw(draw)
