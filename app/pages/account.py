"""Who is signed in: a name, given by the reviewer, that labels are stored under."""

from __future__ import annotations

import streamlit as st

from app.judging import MAX_NAME, judge_name
from app.pages import markup
from app.pages.address import REVIEWER
from store.errors import BadInput

_NAME, _TYPED, _REFUSED = "reviewer", "typed-name", "refused-name"


def reviewer() -> str:
    """The name signed in, or an empty string. A reload finds it in the address."""
    if _NAME not in st.session_state:
        try:
            st.session_state[_NAME] = judge_name(st.query_params.get(REVIEWER, ""))
        except BadInput:
            st.session_state[_NAME] = ""
    name: str = st.session_state[_NAME]
    return name


def draw() -> None:
    """The corner that says who is signed in, and the way in and out."""
    name = reviewer()
    if name != st.query_params.get(REVIEWER, ""):
        _remember(name)
    with st.container(key="account", horizontal=True, vertical_alignment="center", gap="small"):
        if name:
            st.html(markup.signed_in(name), width="content")
            st.button("Sign out", key="sign-out", type="tertiary", on_click=_leave)
        else:
            with st.popover("Sign in", icon=":material/person:", type="tertiary"):
                form("corner")


def form(place: str) -> None:
    """The form to sign in with; ``place`` tells two of them on one page apart."""
    key = f"{_TYPED}-{place}"
    refused = st.session_state.pop(f"{_REFUSED}-{key}", "")
    with st.form(f"sign-in-{place}", border=False, width=420):
        st.text_input("Your name", key=key, max_chars=MAX_NAME, autocomplete="name")
        st.form_submit_button("Sign in", type="primary", on_click=_enter, args=(key,))
    if refused:
        st.html(markup.notices([refused]))
    st.caption("Labels are stored under this name. The address of the page keeps you signed in.")


def _enter(key: str) -> None:
    try:
        name = judge_name(st.session_state[key])
    except BadInput as error:
        st.session_state[f"{_REFUSED}-{key}"] = f"{error}."
        return
    st.session_state[_NAME] = name
    _remember(name)


def _leave() -> None:
    st.session_state[_NAME] = ""
    _remember("")


def _remember(name: str) -> None:
    others = {key: value for key, value in st.query_params.to_dict().items() if key != REVIEWER}
    st.query_params.from_dict({**others, **({REVIEWER: name} if name else {})})
