"""The judging page: my topics, and the way to what is judged, to pools and to agreement."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import streamlit as st

from app import resources
from app.pages import (
    account,
    controls,
    frame,
    judge_agreement,
    judge_markup,
    judge_pair,
    judge_place,
    judge_pools,
    markup,
)
from app.pages.judge_place import AGREEMENT, PROJECT, TOPIC, VIEW, Sitting
from app.queues import next_topic, queues
from corpus.judging import DEFAULT_PROJECT
from store.judging import topic_and_revision, topics
from store.projects import project, projects


def draw() -> None:
    controls.leave_search()
    name = account.reviewer()
    if not name:
        st.html(markup.state("Sign in to judge", "your labels are stored under your name."))
        account.form("page")
        return
    serving = resources.served()
    with resources.open_catalogue() as catalogue:
        version = catalogue.version(serving.engines.backend.manifest.inputs.corpus_version)
        chosen = project(catalogue, st.query_params.get(PROJECT, DEFAULT_PROJECT))
        sitting = Sitting(serving, catalogue, version, chosen, name)
        topic_id = st.query_params.get(TOPIC, "")
        view: Callable[[Sitting], None] = _topics
        if st.query_params.get(VIEW) == AGREEMENT:
            view = judge_agreement.draw
        if topic_id:
            judge_pair.draw(sitting, *topic_and_revision(catalogue, topic_id))
        else:
            view(sitting)


def _topics(sitting: Sitting) -> None:
    known = topics(sitting.catalogue)
    if not known:
        st.html(markup.state("There are no topics yet", "write them in a file, then type:"))
        root = shlex.quote(str(sitting.serving.engines.archive.root))
        command = f"python -m app topics import FILE.toml --archive {root}"
        st.code(command, language=None, wrap_lines=True)
        return
    found = queues(sitting.catalogue, sitting.version, sitting.project, sitting.judge)
    without = [entry for entry in known if entry.topic_id not in found]
    st.html(judge_markup.topics_head(sitting.project, found.values(), len(without)))
    first = without[0].topic_id if without else ""
    _ways(sitting, next_topic(found, sitting.judge) or first)
    judge_pools.draw_report()
    # Pools that wait for this reviewer come first, then those that wait for a pool.
    waiting = [one for one in known if one.topic_id in found and found[one.topic_id].pending()]
    done = [one for one in known if one not in waiting and one not in without]
    with st.container(gap=None):
        for place, entry in enumerate([*waiting, *without, *done]):
            queue = found.get(entry.topic_id)
            left, right = st.columns([8, 1], gap="small", vertical_alignment="center")
            left.html(judge_markup.topic_row(entry, queue))
            right.button(
                "Review" if queue and not queue.pending() else "Judge",
                key=f"open-{place}",
                width="stretch",
                on_click=judge_place.go,
                kwargs={"topic_id": entry.topic_id},
            )


def _ways(sitting: Sitting, following: str) -> None:
    """What can be done here besides opening one topic."""
    with st.container(key="judge-ways", horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Judge next",
            key="judge-next",
            type="primary",
            shortcut="N",
            disabled=not following,
            on_click=judge_place.go,
            kwargs={"topic_id": following},
        )
        st.button(
            "Agreement",
            key="agreement",
            icon=":material/balance:",
            on_click=judge_place.go,
            kwargs={"view": AGREEMENT},
        )
        with st.popover("Pools", icon=":material/library_add:"):
            judge_pools.form(sitting)
        with st.popover("Project", icon=":material/rule:"):
            judge_pools.project_form(sitting)
        names = [entry.name for entry in projects(sitting.catalogue)]
        if len(names) > 1:
            st.selectbox(
                "Project",
                names,
                index=names.index(sitting.project.name),
                key="choose-project",
                label_visibility="collapsed",
                width=220,
                on_change=judge_place.choose_project,
            )


frame.draw(draw)
