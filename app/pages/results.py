"""The three views of one answer: the fused rows, the lists side by side, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from app import resources
from app.judging import now, topic_of_query
from app.pages import account, controls, markup, result_markup, trouble
from app.pages.address import VIEWS as NAMES
from app.pages.address import Address, document_link
from app.query.group import folds
from app.query.present import Row, rows
from app.query.search import SearchResult
from app.query.side_by_side import columns
from app.resources import Served
from corpus.judging import GRADES, Judgment
from store.catalogue import Catalogue
from store.judging import add_judgment, standing_labels, topic_for_query, topics

LIST_LENGTH = 20


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
        st.html(result_markup.legend())
        topic = topic_of_query(topics(catalogue), address.q)
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


def _linker(address: Address, name: str) -> markup.Link:
    return lambda doc_id, passage_id: document_link(doc_id, passage_id, address, name)


View = Callable[[Served, Catalogue, SearchResult, Address], None]

VIEWS: dict[str, View] = dict(zip(NAMES, (_fused, _side_by_side, _why), strict=True))
