"""Building pools and settling what grades mean, from the list of topics."""

from __future__ import annotations

import streamlit as st

from app import resources
from app.pages import account, judge_place, markup, trouble
from app.pages.judge_place import Sitting
from app.pools import POOL_DEPTH, build_pool, candidates, counts, read_protocol
from app.resources import Served
from corpus.judging import MAX_JUDGES, Project
from store.errors import BadInput
from store.judging import judgments, topics
from store.pools import add_pools, pooled
from store.projects import add_project, change_project, is_frozen

_TOPICS, _DEPTH, _PROTOCOLS, _HAND = "pool-topics", "pool-depth", "pool-protocols", "pool-hand"
_REPORT = "pool-report"
EVERYBODY = 0
"""What stands for no limit in the field for the number of judges."""


def form(sitting: Sitting) -> None:
    """Which topics, which protocols, how deep."""
    known = [entry.topic_id for entry in topics(sitting.catalogue)]
    found = pooled(sitting.catalogue, sitting.project.name)
    with st.form("pools", border=False):
        st.multiselect(
            "Topics",
            known,
            default=[name for name in known if name not in found],
            key=_TOPICS,
        )
        st.number_input("Documents of each list", 1, 1_000, POOL_DEPTH, key=_DEPTH)
        st.text_area(
            "Protocols, one a line",
            "default",
            key=_PROTOCOLS,
            help="`default`, or such as `k=10,depth=50,weight.lexical=2,semantic=always`",
        )
        st.text_area("Documents added by hand, one id a line", key=_HAND)
        st.form_submit_button(
            "Build", type="primary", on_click=_build, args=(sitting.serving, sitting.project.name)
        )
    st.caption("What brought a document here is recorded, and never shown to a judge.")


def draw_report() -> None:
    """What the last build did, once."""
    if report := st.session_state.pop(_REPORT, ""):
        st.html(markup.notices([report]))


def _build(serving: Served, project: str) -> None:
    with trouble.kept(), resources.open_catalogue() as catalogue:
        chosen: list[str] = st.session_state[_TOPICS]
        protocols = [read_protocol(line) for line in _lines(_PROTOCOLS)]
        if not chosen or not (protocols or _lines(_HAND)):
            raise BadInput("a pool needs a topic, and a protocol or a document")
        made = [
            build_pool(
                serving.engines,
                catalogue,
                project,
                topic_id,
                protocols,
                depth=int(st.session_state[_DEPTH]),
                by_hand=_lines(_HAND),
                builder=account.reviewer(),
            )
            for topic_id in chosen
        ]
        add_pools(catalogue, made)
        version = catalogue.version(serving.engines.backend.manifest.inputs.corpus_version)
        found = candidates(catalogue, version, pooled(catalogue, project))
        shown = {
            topic_id: {entry.doc_id: entry.passage_id for entry in entries}
            for topic_id, entries in found.items()
            if topic_id in chosen
        }
        counted = counts(shown, judgments(catalogue, project=project))
        st.session_state[_REPORT] = (
            f"Pools of {len(counted)} topics hold {sum(one.documents for one in counted):,} "
            f"documents, {sum(one.unjudged for one in counted):,} of them not judged by anybody."
        )


def project_form(sitting: Sitting) -> None:
    """What the grades of this project mean, to read, to change, or to make another project of."""
    project = sitting.project
    if is_frozen(sitting.catalogue, project.name):
        st.caption("The first label fixed what the grades mean. Other words need a new project.")
    with st.form("project", border=False):
        for grade, words in reversed(list(enumerate(project.grades))):
            key = _key(f"sentence-{grade}", project)
            st.text_input(f"Grade {grade}", words, key=key, max_chars=300)
        st.number_input(
            "Judges of each document (0: everybody)",
            EVERYBODY,
            MAX_JUDGES,
            project.judges_per_pair or EVERYBODY,
            key=_key("judges", project),
        )
        st.form_submit_button("Save", key="project-save", on_click=_change, args=(project,))
        st.text_input("Name of a new project", key=_key("name", project), max_chars=60)
        st.form_submit_button("Make it", key="project-make", on_click=_make, args=(project,))


def _key(field: str, project: Project) -> str:
    """Fields of several projects are not one field."""
    return f"{field}-of-{project.name}"


def _change(project: Project) -> None:
    with trouble.kept(), resources.open_catalogue() as catalogue:
        change_project(catalogue, _typed(project.name, project))


def _make(project: Project) -> None:
    with trouble.kept(), resources.open_catalogue() as catalogue:
        made = _typed(_text("name", project), project)
        add_project(catalogue, made, account.reviewer())
        judge_place.open_project(made.name)


def _typed(name: str, project: Project) -> Project:
    zero, one, two, three = (_text(f"sentence-{grade}", project) for grade in range(4))
    judges = int(st.session_state[_key("judges", project)])
    try:
        return Project(name, (zero, one, two, three), None if judges == EVERYBODY else judges)
    except ValueError as error:
        raise BadInput(str(error)) from error


def _text(field: str, project: Project) -> str:
    return " ".join(str(st.session_state[_key(field, project)]).split())


def _lines(key: str) -> list[str]:
    return [line.strip() for line in str(st.session_state[key]).splitlines() if line.strip()]
