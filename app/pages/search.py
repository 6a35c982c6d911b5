"""The search page: ask, see both lists and how they were fused."""

from __future__ import annotations

import streamlit as st

from app import resources
from app.pages import (
    account,
    controls,
    corrections,
    facet_markup,
    frame,
    markup,
    result_markup,
    results,
    search_box,
    trouble,
)
from app.pages.address import Address
from app.query.facets import facets
from app.query.likeness import alike_here
from app.query.protocol import Protocol
from app.query.search import SearchResult, search
from app.query.suggest import suggest
from app.resources import Served
from corpus.codes import fold_code
from corpus.scope import Scope
from store.catalogue import Catalogue
from store.errors import BadInput
from store.judging import topics

BEGINNINGS = 4  # codes and titles that begin with what was typed, named in one line


def draw() -> None:
    serving = resources.served()
    address = controls.asked()
    search_box.draw(address, controls.ask)
    refused = misread = ""
    try:
        protocol = address.protocol()
    except BadInput as error:
        protocol, refused = None, f"{error}."
    try:
        scope = address.scope
    except BadInput as error:
        scope, misread = Scope(), f"{error}."
    with resources.open_catalogue() as catalogue:
        counts = controls.toolbar(serving, catalogue, address, protocol, refused)
        if protocol is None:
            st.html(markup.state("This protocol cannot be used", refused))
        elif misread:
            st.html(markup.state("These filters cannot be used", misread))
        elif not address.q.strip():
            _landing(serving, catalogue)
        else:
            result = _searched(serving, catalogue, address, protocol, scope)
            if result.record.fused:
                counted = facets(catalogue, result)
                counts.html(facet_markup.counts(counted, address, account.reviewer()))
            _answer(serving, catalogue, address, result)


def _answer(serving: Served, catalogue: Catalogue, address: Address, result: SearchResult) -> None:
    if result.notes:
        st.html(markup.notices(result.notes))
    if result.rules:
        st.html(markup.remarks(result.rules))
    if result.record.suggestions:
        st.html(corrections.announced(result.record, address, account.reviewer()))
    found = suggest(serving.engines, catalogue, result.record.scope, address.q, BEGINNINGS)
    # Another spelling of what was typed is found already, and no beginning of anything.
    if further := [one for one in found if fold_code(one.query) != fold_code(address.q)]:
        st.html(corrections.completions(further, address, account.reviewer()))
    if result.partial:
        trouble.repair()
    if not result.record.fused:
        results.nothing(address, result)
        return
    results.VIEWS[address.view](serving, catalogue, result, address)
    st.html(result_markup.footer(result))
    if alike := alike_here(result.record.rankings, result.record.protocol):
        st.html(markup.remarks(alike))


def _searched(
    serving: Served, catalogue: Catalogue, address: Address, protocol: Protocol, scope: Scope
) -> SearchResult:
    """The answer to what was asked; asked once, however often the page is drawn."""
    key = (serving.key, address.q, protocol.hash, scope)
    if st.session_state.get(controls.ANSWER, (None,))[0] != key:
        resources.load_encoder(serving)
        result = search(
            serving.engines,
            catalogue,
            address.q,
            protocol,
            scope,
            searcher=account.reviewer(),
        )
        st.session_state[controls.ANSWER] = (key, result)
    kept: SearchResult = st.session_state[controls.ANSWER][1]
    return kept


def _landing(serving: Served, catalogue: Catalogue) -> None:
    documents, passages = resources.readable(serving.key, serving)
    if not documents:
        st.html(
            markup.state(
                "This archive is empty",
                "its newest version has no documents. Read a folder into it, then search.",
            )
        )
        trouble.repair()
        return
    st.html(
        markup.state(
            "What are you looking for?",
            "type a part code, an error message or a description, in English or Spanish. "
            f"{documents:,} documents in {passages:,} passages are searched "
            "by words and by meaning.",
        )
        + markup.examples(topics(catalogue), account.reviewer())
    )
    # While the reader types, so that the first search does not wait for it.
    resources.load_encoder_aside(serving)


frame.draw(draw)
