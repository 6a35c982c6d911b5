"""Where in the judging pages a reviewer is, which the address says, and with what."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from app.pages import account, address
from app.resources import Served
from corpus.judging import DEFAULT_PROJECT, Project
from store.catalogue import Catalogue, Version

TOPIC, PROJECT, VIEW = "topic", "project", "view"
AGREEMENT = "agreement"
SETTLING, AGAIN, REASON = "settling", "again", "giving-reason"


@dataclass(frozen=True, slots=True)
class Sitting:
    """One run of a judging page: who judges in which project, of which version."""

    serving: Served
    catalogue: Catalogue
    version: Version
    project: Project
    judge: str


def go(topic_id: str = "", view: str = "") -> None:
    """Open a topic, a view, or without either the list of topics of the same project."""
    _write(st.query_params.get(PROJECT, ""), topic_id, view)


def choose_project(key: str = "choose-project") -> None:
    """Open the topics of the project chosen in the widget ``key``."""
    name = str(st.session_state[key])
    _write("" if name == DEFAULT_PROJECT else name, "", "")


def open_project(name: str) -> None:
    """Open the topics of a project."""
    _write(name, "", "")


def _write(project: str, topic_id: str, view: str) -> None:
    st.query_params.from_dict(address.judge_parameters(topic_id, account.reviewer(), project, view))
    for key in (SETTLING, AGAIN, REASON):
        st.session_state.pop(key, None)
