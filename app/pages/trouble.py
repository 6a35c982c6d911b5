"""Errors in words: what is wrong, and the exact command that mends it. Never a traceback."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from app import resources
from app.pages import markup
from store.archive import archive_at
from store.errors import CounterpointError, Damaged, NoArchive, NothingServed, UnknownDocument

_KEPT = "trouble"
_TITLES = {
    NoArchive: "There is no archive here yet",
    NothingServed: "There is nothing to search yet",
    Damaged: "The index is damaged",
    UnknownDocument: "There is no such document",
}


@contextmanager
def told() -> Iterator[None]:
    """Draw the errors of a page as a state of the page."""
    try:
        yield
    except CounterpointError as error:
        title = _TITLES.get(type(error), "This cannot be shown")
        st.html(markup.state(title, f"{error}."))
        if isinstance(error, NoArchive | NothingServed | Damaged):
            _command(error)


@contextmanager
def kept() -> Iterator[None]:
    """For callbacks, which run before anything is drawn: keep an error for the page to draw."""
    try:
        yield
    except CounterpointError as error:
        st.session_state[_KEPT] = f"Nothing was stored: {error}."


def draw_kept() -> None:
    """Say what went wrong in a callback, once."""
    if trouble := st.session_state.pop(_KEPT, ""):
        st.html(markup.notices([trouble]))


def repair() -> None:
    """The command that builds what is damaged again."""
    st.code(resources.ingest_command(), language=None, wrap_lines=True)


def _command(error: CounterpointError) -> None:
    if isinstance(error, NoArchive):
        root = shlex.quote(str(archive_at(None).root))
        st.code(f"python -m indexer ingest PATH --archive {root}", language=None, wrap_lines=True)
        st.caption("PATH is the folder of your documents. Then reload this page.")
    else:
        repair()
        st.caption("Nothing is lost: documents, topics and labels are kept. Then reload this page.")
