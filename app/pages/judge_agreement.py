"""How far judges agree, where they do not, and settling it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import resources
from app.agreement import Disagreement, agreement
from app.judging import order_seed, token
from app.pages import judge_markup, judge_place, markup, trouble
from app.pages.judge_place import SETTLING, Sitting
from app.pools import readable
from app.query.reading import read_document
from app.queues import queues
from corpus.judging import Judgment, standing
from store.judging import add_judgment, judgments, now, topics

Pair = tuple[str, str]


def draw(sitting: Sitting) -> None:
    """The figures and the list; or the one disagreement that is being settled."""
    catalogue, project = sitting.catalogue, sitting.project
    given = judgments(catalogue, project=project.name)
    seen = readable(catalogue, sitting.version, {label.doc_id for label in given})
    given = [label for label in given if label.doc_id in seen]
    found = agreement(given)
    st.button(
        "All topics",
        key="all",
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=judge_place.go,
    )
    settling = st.session_state.get(SETTLING)
    chosen = [one for one in found.disagreements if (one.topic_id, one.doc_id) == settling]
    if chosen:
        _settle(sitting, chosen[0], given, seen[chosen[0].doc_id])
        return
    st.html(judge_markup.agreement(project.name, found))
    if not found.disagreements:
        st.html(markup.state("No judges differ", "nothing is to be settled."))
        return
    _list(sitting, found.disagreements, given)


def _list(sitting: Sitting, found: tuple[Disagreement, ...], given: list[Judgment]) -> None:
    catalogue = sitting.catalogue
    known = {entry.topic_id: entry for entry in topics(catalogue)}
    documents = catalogue.documents(sitting.version.number, sorted({one.doc_id for one in found}))
    titles = {document.doc_id: document.title for document in documents}
    # What still waits for this reviewer is not given away.
    waiting = {
        (topic_id, entry.doc_id)
        for topic_id, queue in queues(
            catalogue, sitting.version, sitting.project, sitting.judge
        ).items()
        for entry in queue.pending()
    }
    notes = _notes(given)
    with st.container(gap=None):
        for place, one in enumerate(found):
            pair = (one.topic_id, one.doc_id)
            left, right = st.columns([8, 1], gap="small", vertical_alignment="center")
            left.html(
                judge_markup.disagreement_row(
                    one,
                    known[one.topic_id],
                    titles[one.doc_id],
                    seen=pair not in waiting,
                    notes=notes.get(pair, {}),
                )
            )
            right.button(
                "Settle",
                key=f"settle-{place}",
                width="stretch",
                help="Shows who gave what. After that you are no blind judge of it any more."
                if pair in waiting
                else None,
                on_click=_open,
                args=(pair,),
            )


def _settle(sitting: Sitting, one: Disagreement, given: list[Judgment], revision: int) -> None:
    """The document, what each judge said of it, and the grades to settle it with."""
    entry = next(known for known in topics(sitting.catalogue) if known.topic_id == one.topic_id)
    shown = read_document(sitting.catalogue, sitting.version, one.doc_id, whole=True)
    blank = Judgment(
        topic_id=one.topic_id,
        doc_id=one.doc_id,
        revision=revision,
        grade=0,
        judge=sitting.judge,
        judged_at=now(),
        corpus_version=sitting.version.number,
        blind=False,
        project=sitting.project.name,
        role="adjudicator",
    )
    title = shown.document.title
    panel, page = st.columns([2, 3], gap="large")
    with panel.container(key="panel"):
        notes = _notes(given).get((one.topic_id, one.doc_id), {})
        st.html(
            judge_markup.need(entry)
            + judge_markup.disagreement_row(one, entry, title, seen=True, notes=notes)
        )
        mark = token(order_seed(sitting.judge, one.topic_id), one.doc_id)
        for grade, words in reversed(list(enumerate(sitting.project.grades))):
            st.button(
                f"**{grade}** {markup.plain(words)}",
                key=f"settle-grade-{grade}-{mark}",
                shortcut=str(grade),
                width="stretch",
                on_click=_save,
                args=(replace(blank, grade=grade),),
            )
        st.button("Back", key="settle-back", on_click=_open, args=(None,))
    with page.container(key="judged"):
        st.html(judge_markup.judged_document(shown, whole=True))


def _notes(given: list[Judgment]) -> dict[Pair, dict[str, str]]:
    notes: dict[Pair, dict[str, str]] = {}
    for label in standing(given):
        if label.role == "judge" and label.note:
            notes.setdefault((label.topic_id, label.doc_id), {})[label.judge] = label.note
    return notes


def _save(label: Judgment) -> None:
    with trouble.kept(), resources.open_catalogue() as catalogue:
        add_judgment(catalogue, replace(label, judged_at=now()))
        st.session_state[SETTLING] = None


def _open(pair: Pair | None) -> None:
    st.session_state[SETTLING] = pair
