"""The page of figures: fusions beside their sources, and the topics that were lost."""

from __future__ import annotations

import streamlit as st

from app import resources
from app.evaluation import fragments
from app.evaluation.protocols import read_protocols
from app.evaluation.render import correction, heading
from app.evaluation.request import Opening, Request
from app.evaluation.study import Report, study
from app.pages import account, controls, evaluation_markup, frame, markup
from app.resources import Served
from corpus.judging import Split
from store.catalogue import Catalogue
from store.evaluation import looks

_REPORT, _ASKED = "evaluation", "evaluation-asked"


def draw() -> None:
    controls.leave_search()
    serving = resources.served()
    with resources.open_catalogue() as catalogue:
        asked = _form(catalogue)
        if asked is not None:
            st.session_state.pop(_REPORT, None)
            st.session_state[_REPORT] = (serving.key, _evaluated(serving, catalogue, *asked))
    key, report = st.session_state.get(_REPORT, (None, None))
    if report is None:
        text = "choose a split and protocols. Every source list of a fusion is a row of its own."
        st.html(markup.state("Nothing was evaluated yet", text))
        return
    if key != serving.key:
        st.html(markup.notices(["these figures are of an archive that has changed since"]))
    _draw_report(report)


def _form(catalogue: Catalogue) -> tuple[Request, Opening] | None:
    """What is asked to be evaluated, or None where nothing is asked now."""
    split = st.segmented_control("Topics", ["dev", "test"], default="dev", key="evaluate-split")
    chosen: Split = "test" if split == "test" else "dev"
    who, reason, frozen = account.reviewer(), "", ""
    with st.form("evaluate", border=False):
        written = st.text_area(
            "Protocols, one a line",
            "default",
            key="evaluate-protocols",
            help="`default`, or such as `k=10,depth=50,weight.lexical=2`",
            height=90,
        )
        if chosen == "test":
            times = len(looks(catalogue))
            st.html(
                markup.notices(
                    [
                        "the test split is sealed. Opening it needs your name, a reason and "
                        f"frozen protocols, and is entered in the ledger, which holds {times} "
                        "looks until now"
                    ]
                )
            )
            reason = st.text_input("Why it is opened", key="evaluate-reason", max_chars=200)
            frozen = st.text_input(
                "Protocols frozen with this look, by hash",
                key="evaluate-frozen",
                help="the eight letters that stand after a protocol's name in a report on dev",
            )
        st.form_submit_button("Evaluate", type="primary", on_click=_ask)
    if not st.session_state.pop(_ASKED, False):
        return None
    lines = [line.strip() for line in written.splitlines() if line.strip()]
    # A path would be one on the server's disk, which the page has no business to read.
    typed = [line for line in lines if not line.endswith(".toml")]
    request = Request(split=chosen, protocols=read_protocols(typed))
    return request, Opening(who, reason, tuple(frozen.replace(",", " ").split()))


def _ask() -> None:
    st.session_state[_ASKED] = True


def _evaluated(serving: Served, catalogue: Catalogue, request: Request, opening: Opening) -> Report:
    resources.load_encoder(serving)
    bar = st.progress(0.0, "Searching for every topic…")
    try:
        return study(
            serving.engines,
            catalogue,
            request,
            opening,
            lambda done, total: _said(bar, done, total),
        )
    finally:
        bar.empty()


def _said(bar: st.delta_generator.DeltaGenerator, done: int, total: int) -> None:
    bar.progress(done / total, f"{done} of {total} searches")


def _draw_report(report: Report) -> None:
    evaluation, name = report.evaluation, account.reviewer()
    st.html(f'<p class="cp-status">{markup.sentence(heading(report))}</p>')
    st.html(markup.notices(report.notes))
    st.html(fragments.figures(evaluation))
    for fusion, protocol in report.protocols.items():
        title = f"{fusion}, against the best of its sources"
        st.html(
            f'<h2 class="cp-h2">{markup.sentence(title)}</h2>'
            f'<p class="cp-status">protocol {protocol.short_hash}</p>'
        )
        st.html(
            fragments.lost_topics(
                report,
                fusion,
                lambda topic_id, of: evaluation_markup.topic_link(report, topic_id, of, name),
            )
        )
        st.html(fragments.comparisons(evaluation, fusion))
        st.vega_lite_chart(evaluation_markup.dot_plot(report, fusion, name), width="stretch")
    st.html(markup.remarks([correction(evaluation), f"experiment {report.experiment_id}"]))


frame.draw(draw)
