"""The views of one answer: the fused rows, the lists side by side, why, and what if."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from app import resources
from app.judging import topic_of_query
from app.pages import account, controls, markup, result_markup, trouble, what_if_markup
from app.pages.address import VIEWS as NAMES
from app.pages.address import Address, document_link
from app.query.group import folds
from app.query.present import Row, rows
from app.query.search import SearchResult
from app.query.side_by_side import columns
from app.query.what_if import what_if
from app.query.why_absent import why_absent
from app.resources import Served
from corpus.judging import GRADES, Judgment
from store.catalogue import Catalogue
from store.errors import BadInput, UnknownDocument
from store.judging import add_judgment, now, standing_labels, topic_for_query, topics

LIST_LENGTH = 20
SHOWN = 10  # documents of which "what if" speaks: more would not be read


def nothing(address: Address, result: SearchResult) -> None:
    """No document at all: say whether the query, the scope or an engine is the reason."""
    if address.filters:
        text = "no document inside these filters answers. Without them there may be some."
    elif result.partial:
        text = "an engine could not answer, and the other one found nothing."
    else:
        text = "try another word, a part code or an error message."
    st.html(markup.state("Nothing was found", text))
    if address.filters:
        controls.clear_filters(address)


def _fused(serving: Served, catalogue: Catalogue, result: SearchResult, address: Address) -> None:
    shown = rows(serving.engines, catalogue, result, 0, address.shown, fold=True)
    name = account.reviewer()
    link = _linker(address, name)
    if name:
        topic = topic_of_query(topics(catalogue), address.q)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.html(result_markup.legend(), width="content")
            if topic is None:
                st.button(
                    "Make it a topic",
                    key="make-topic",
                    type="tertiary",
                    icon=":material/add:",
                    on_click=_make_topic,
                    args=(address.q, name),
                )
        labels = standing_labels(catalogue, topic.topic_id, name) if topic else {}
        with st.container(gap=None):
            for entry in shown:
                _labelled_row(entry, result, labels, name, link)
    else:
        st.html(
            result_markup.sign_in_hint()
            + "".join(result_markup.row(entry, link) for entry in shown)
        )
    standing = len(result.record.fused) - len(folds(catalogue, result.record))
    controls.show_more(address, standing)


def _labelled_row(
    entry: Row,
    result: SearchResult,
    labels: Mapping[str, Judgment],
    name: str,
    link: markup.Link,
) -> None:
    label = labels.get(entry.document.doc_id)
    key = f"label-{entry.hit.id}"
    grade = label.grade if label else None
    if st.session_state.get(key) != grade:
        st.session_state[key] = grade
    left, right = st.columns([5, 1], gap="small", vertical_alignment="center")
    left.html(result_markup.row(entry, link))
    with right:
        st.segmented_control(
            f"Label of result {entry.hit.rank}",
            sorted(GRADES),
            key=key,
            required=True,
            label_visibility="collapsed",
            on_change=_store,
            args=(key, entry, result, name),
        )
        if remark := result_markup.label_remark(label, entry.document.revision):
            st.html(remark)


def _store(key: str, entry: Row, result: SearchResult, name: str) -> None:
    """Store a label at the click, before anything is drawn."""
    record = result.record
    with trouble.kept(), resources.open_catalogue() as catalogue:
        topic = topic_for_query(catalogue, record.query, name)
        add_judgment(
            catalogue,
            Judgment(
                topic_id=topic.topic_id,
                doc_id=entry.document.doc_id,
                revision=entry.document.revision,
                grade=st.session_state[key],
                judge=name,
                judged_at=now(),
                corpus_version=record.manifest.inputs.corpus_version,
                blind=False,
                passage_id=entry.passage.passage_id,
                protocol=record.protocol.hash,
            ),
        )


def _make_topic(query: str, name: str) -> None:
    with trouble.kept(), resources.open_catalogue() as catalogue:
        topic_for_query(catalogue, query, name)


def _side_by_side(
    serving: Served, catalogue: Catalogue, result: SearchResult, address: Address
) -> None:
    link = _linker(address, account.reviewer())
    st.html(result_markup.side_by_side(columns(catalogue, result, LIST_LENGTH), link))


def _why(serving: Served, catalogue: Catalogue, result: SearchResult, address: Address) -> None:
    link = _linker(address, account.reviewer())
    st.html(
        result_markup.why_table(rows(serving.engines, catalogue, result, 0, address.shown), link)
    )
    controls.show_more(address, len(result.record.fused))
    _why_not_here(serving, catalogue, result)


def _why_not_here(serving: Served, catalogue: Catalogue, result: SearchResult) -> None:
    """Where any document is in this answer, or the first cause for which it is not."""
    named = st.text_input("Why is this document not here? Its id, path or title", key="why-not")
    if not named.strip():
        return
    record = result.record
    try:
        answer = why_absent(
            serving.engines, catalogue, record.query, record.protocol, record.scope, named.strip()
        )
    except (BadInput, UnknownDocument) as error:
        st.html(markup.notices([f"{error}."]))
        return
    said = [one.sentence for one in answer.systems] if answer.hit else []
    st.html(markup.remarks([f"{answer.document.title}: {answer.sentence}", *said]))


def _what_if(serving: Served, catalogue: Catalogue, result: SearchResult, address: Address) -> None:
    record = result.record
    try:
        answer = what_if(record.rankings, record.protocol, record.fused, SHOWN)
    except BadInput as error:
        st.html(markup.notices([f"{error}."]))
        return
    named = columns(catalogue, result, LIST_LENGTH)
    titles = {entry.id: entry.document.title for column in named for entry in column.entries}
    st.html(what_if_markup.what_if_tables(answer, record.protocol, titles))


def _linker(address: Address, name: str) -> markup.Link:
    return lambda doc_id, passage_id: document_link(doc_id, passage_id, address, name)


View = Callable[[Served, Catalogue, SearchResult, Address], None]

VIEWS: dict[str, View] = dict(zip(NAMES, (_fused, _side_by_side, _why, _what_if), strict=True))
