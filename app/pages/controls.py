"""The widgets of the search page, all bound to its address.

The address is the truth: a callback writes it, and each run sets the widgets from it. So Back, a
reload and a link all show the same page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import resources
from app.pages import markup
from app.pages.address import NAMES, REVIEWER, STEP, VIEWS, Address, read_address
from app.query.protocol import Corrections, Group, Protocol, Weighting
from app.query.systems import SEMANTIC, asked_of
from app.resources import Served
from store.catalogue import Catalogue

ANSWER = "answer"
_LAST, _PAGE, _HERE = "last-search", "page", "search"


def asked() -> Address:
    """The address, or the last search of this session where the reader comes from another page."""
    known = st.query_params.to_dict()
    arrived = st.session_state.get(_PAGE) != _HERE
    if arrived and not NAMES.intersection(known) and _LAST in st.session_state:
        _go(st.session_state[_LAST])
    st.session_state[_PAGE] = _HERE
    address = read_address(st.query_params.to_dict())
    st.session_state[_LAST] = address
    return address


def leave_search(last: Address | None = None) -> None:
    """Called by the other pages: the next visit to the search page restores the last search."""
    st.session_state[_PAGE] = ""
    if last is not None:
        st.session_state[_LAST] = last


def ask(query: str) -> None:
    """Search for this, again even where it was searched for last."""
    st.session_state.pop(ANSWER, None)
    _write("q", query)


def toolbar(
    serving: Served, catalogue: Catalogue, address: Address, protocol: Protocol | None, refused: str
) -> DeltaGenerator:
    """What is searched under which protocol, and where to change it.

    Returns the place, among the filters, for what the candidates of an answer are.
    """
    version = serving.engines.backend.manifest.inputs.corpus_version
    latest = catalogue.latest()
    newest = latest.number if latest else version
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="toolbar"):
        st.html(markup.status(version, newest, protocol, address))
        with st.popover("Filters", icon=":material/filter_list:", type="tertiary"):
            counts = st.container()
            _filters(serving, address)
        with st.popover("Protocol", icon=":material/tune:", type="tertiary"):
            _protocol(address, refused)
        if address.q.strip():
            st.segmented_control(
                "View",
                VIEWS,
                key=_synced("view", address.view),
                required=True,
                label_visibility="collapsed",
                on_change=_changed,
                args=("view",),
            )
    return counts


def show_more(address: Address, total: int) -> None:
    """The button for the next rows of the same fused order."""
    more = min(STEP, total - address.shown)
    if more > 0:
        st.button(
            f"Show {more} more",
            key="more",
            icon=":material/expand_more:",
            on_click=_go,
            args=(replace(address, n=str(address.shown + STEP)),),
        )


def clear_filters(address: Address) -> None:
    st.button("Search everything", key="clear", on_click=_go, args=(unfiltered(address),))


def unfiltered(address: Address) -> Address:
    """The same question asked of everything."""
    return replace(address, lang="", type="", folder="", tag="", code="", since="", until="")


def _filters(serving: Served, address: Address) -> None:
    languages, folders, tags, types = resources.places(serving.key, serving)
    left, right = st.columns(2)
    with left:
        _some("lang", "Language", languages, address.languages, markup.language_name)
        st.selectbox(
            "Folder",
            ["", *sorted({*folders, *([address.folder] if address.folder else [])})],
            key=_synced("folder", address.folder),
            format_func=lambda folder: folder or "All folders",
            on_change=_changed,
            args=("folder",),
        )
    with right:
        _some("type", "Type", types, address.types)
        _some("tag", "Tags", tags, address.tags)
    _field("code", "Holds the code (several: A; B)", address.code)
    left, right = st.columns(2)
    with left:
        _field("since", "Dated since (2024-02-29)", address.since)
    with right:
        _field("until", "Dated until", address.until)


def _protocol(address: Address, refused: str) -> None:
    if refused:
        st.html(markup.notices([refused]))
    _field("k", "k, the constant of w / (k + rank)", address.k)
    left, right = st.columns(2)
    with left:
        _field("dl", "Lexical depth", address.dl)
        _field("wl", "Lexical weight", address.wl)
        _field("cov", "Share of the query in a lexical match", address.cov)
    with right:
        _field("ds", "Semantic depth", address.ds)
        _field("ws", "Semantic weight", address.ws)
        st.selectbox(
            "Semantic system asked",
            asked_of(SEMANTIC),
            key=_synced("asked", address.asked),
            on_change=_changed,
            args=("asked",),
        )
    st.segmented_control(
        "Lexical weight",
        get_args(Weighting),
        key=_synced("weighting", address.weighting),
        required=True,
        on_change=_changed,
        args=("weighting",),
    )
    st.segmented_control(
        "A correction of an unknown word",
        get_args(Corrections),
        key=_synced("corrections", address.corrections),
        required=True,
        on_change=_changed,
        args=("corrections",),
    )
    st.segmented_control(
        "One rank per",
        ("document", "passage"),
        key=_synced("unit", address.unit),
        required=True,
        on_change=_changed,
        args=("unit",),
    )
    st.segmented_control(
        "Documents nearly the same, under the first",
        get_args(Group),
        key=_synced("group", address.group),
        required=True,
        on_change=_changed,
        args=("group",),
    )


def _some(
    name: str,
    label: str,
    known: Iterable[str],
    chosen: Iterable[str],
    shown: Callable[[str], str] = str,
) -> None:
    """A filter of which several values may be chosen; no choice is all of them."""
    st.multiselect(
        label,
        sorted({*known, *chosen}),
        key=_synced(name, list(chosen)),
        format_func=shown,
        placeholder="All",
        on_change=_changed,
        args=(name,),
    )


def _field(name: str, label: str, value: str) -> None:
    st.text_input(label, key=_synced(name, value), max_chars=40, on_change=_changed, args=(name,))


def _synced(name: str, value: object) -> str:
    """The key of the widget for a parameter, with the address's value in it."""
    key = f"ask-{name}"
    if st.session_state.get(key) != value:
        st.session_state[key] = value
    return key


def _changed(name: str) -> None:
    value = st.session_state[f"ask-{name}"]
    _write(name, ",".join(value) if isinstance(value, list) else str(value or ""))


def _write(name: str, text: str) -> None:
    shown = {} if name == "view" else {"n": str(STEP)}
    _go(replace(read_address(st.query_params.to_dict()), **{name: text, **shown}))


def _go(address: Address) -> None:
    name = st.query_params.get(REVIEWER, "")
    st.query_params.from_dict({**address.parameters(), **({REVIEWER: name} if name else {})})
