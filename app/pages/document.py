"""The document view: the passage that was found, inside its text."""

from __future__ import annotations

import streamlit as st

from app import resources
from app.pages import account, controls, frame, markup, reading_markup
from app.pages.address import Address, document_link, read_address, search_link
from app.query.highlight import marks_in
from app.query.reading import WHOLE, Reading, read_document
from corpus.terms import read_query
from store.errors import UnknownDocument


def draw() -> None:
    doc_id, passage_id = (st.query_params.get(name, "") for name in ("doc", "passage"))
    found_by = read_address(st.query_params.to_dict())
    controls.leave_search(found_by)
    if not doc_id:
        raise UnknownDocument("this address names no document; open one from the search page")
    number = resources.served().engines.backend.manifest.inputs.corpus_version
    whole = bool(st.session_state.get("whole"))
    with resources.open_catalogue() as catalogue:
        version = catalogue.version(number)
        entry = read_document(catalogue, version, doc_id, passage_id, whole=whole)
    terms = read_query(found_by.q)
    name = account.reviewer()
    st.html(
        reading_markup.document_head(
            entry, lambda other, passage: document_link(other, passage, found_by, name)
        )
    )
    if entry.note:
        st.html(markup.notices([entry.note]))
    _steps(entry, found_by)
    st.html(reading_markup.reading(entry, lambda text: marks_in(text, terms)))
    st.caption("Citation")
    st.code(entry.citation, language=None, wrap_lines=True)


def _steps(entry: Reading, found_by: Address) -> None:
    """Back to the list, the passages before and after, and the whole text."""
    name = account.reviewer()
    doc_id = entry.document.doc_id

    def link(passage_id: str) -> str:
        return document_link(doc_id, passage_id, found_by, name) if passage_id else ""

    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.html(
            reading_markup.steps(
                entry,
                search_link(found_by, name) if found_by.q else "",
                link(entry.previous),
                link(entry.following),
            ),
            width="content",
        )
        if len(entry.before + entry.shown + entry.after) + sum(entry.left_out) > WHOLE:
            st.toggle("Show the whole text", key="whole")


frame.draw(draw)
