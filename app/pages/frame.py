"""Which pages there are, and that each of them is drawn inside the frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st

from app.pages.style import MARK

_inside: ContextVar[bool] = ContextVar("inside the frame", default=False)


def navigation() -> st.Page:
    """Declare the pages and say which one is asked for."""
    # Before the pages: a Material symbol of theirs would be fetched from a server of Google's.
    st.set_page_config(page_title="Counterpoint", page_icon=MARK, layout="wide")
    return st.navigation(
        [
            st.Page("pages/search.py", title="Search", icon=":material/search:", default=True),
            st.Page("pages/judge.py", title="Judge", icon=":material/fact_check:"),
            st.Page("pages/evaluate.py", title="Evaluate", icon=":material/monitoring:"),
            st.Page("pages/document.py", title="Document", visibility="hidden"),
        ],
        position="top",
    )


@contextmanager
def inside() -> Iterator[None]:
    """What the frame runs a page in."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def draw(page: Callable[[], None]) -> None:
    """Draw a page.

    Until navigation is declared for the first time in a process, Streamlit takes a folder named
    ``pages`` for the declaration and would run the script of a page without the frame, where that
    page's address is the first one asked for. Then navigation is declared here, and the run starts
    over.
    """
    if not _inside.get():
        navigation()
        st.rerun()
    page()
