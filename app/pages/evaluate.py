"""The page of figures: fusions beside their sources, and the topics that were lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from app import resources
from app.evaluation import fragments
from app.evaluation.candidates import Progress
from app.evaluation.measures import DEFAULT_MEASURES
from app.evaluation.protocols import read_protocols
from app.evaluation.render import correction, heading
from app.evaluation.request import Opening, Request
from app.evaluation.study import Report, study
from app.evaluation.sweep import DEFAULT_GRID, read_grid
from app.evaluation.tuning import Tuning, tune
from app.pages import account, controls, evaluation_markup, frame, markup, trouble
from app.resources import Served
from corpus.judging import Split
from store.catalogue import Catalogue
from store.errors import BadInput
from store.evaluation import looks

_REPORT, _ASKED = "evaluation", "evaluation-asked"
_TUNING, _SWEEP = "tuning", "sweep-asked"


def draw() -> None:
    controls.leave_search()
    serving = resources.served()
    figures, choosing = st.tabs(["Figures", "Sweep"])
    with resources.open_catalogue() as catalogue:
        with figures, trouble.told():
            _figures(serving, catalogue)
        with choosing, trouble.told():
            _sweep(serving, catalogue)


def _figures(serving: Served, catalogue: Catalogue) -> None:
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
        st.form_submit_button("Evaluate", type="primary", on_click=_ask, args=(_ASKED,))
    if not st.session_state.pop(_ASKED, False):
        return None
    lines = [line.strip() for line in written.splitlines() if line.strip()]
    if any(line.endswith(".toml") for line in lines):
        # A path would be one on the server's disk, which the page has no business to read.
        raise BadInput("here a protocol is written in one line; files are read by the command")
    request = Request(split=chosen, protocols=read_protocols(lines))
    return request, Opening(who, reason, tuple(frozen.replace(",", " ").split()))


def _ask(which: str) -> None:
    st.session_state[which] = True


def _evaluated(serving: Served, catalogue: Catalogue, request: Request, opening: Opening) -> Report:
    with _progress(serving, "searches") as said:
        return study(serving.engines, catalogue, request, opening, said)


@contextmanager
def _progress(serving: Served, what: str) -> Iterator[Progress]:
    """A bar while something long is done; the encoder is loaded first."""
    resources.load_encoder(serving)
    bar = st.progress(0.0, "Searching for every topic…")
    try:
        yield lambda done, total: bar.progress(done / total, f"{done} of {total} {what}")
    finally:
        bar.empty()


def _sweep(serving: Served, catalogue: Catalogue) -> None:
    with st.form("sweep", border=False):
        grid = st.text_area(
            "Grid: axes parted by commas, values by semicolons",
            DEFAULT_GRID,
            key="sweep-grid",
            height=90,
        )
        measure = st.selectbox("Measure", DEFAULT_MEASURES, key="sweep-measure")
        st.form_submit_button("Sweep", type="primary", on_click=_ask, args=(_SWEEP,))
    if st.session_state.pop(_SWEEP, False):
        st.session_state.pop(_TUNING, None)
        points = read_grid(" ".join(grid.split()))
        with _progress(serving, "searches") as said:
            st.session_state[_TUNING] = tune(
                serving.engines, catalogue, Request(measures=(measure,)), points, said
            )
    tuning: Tuning | None = st.session_state.get(_TUNING)
    if tuning is None:
        text = "every point of the grid is tried on the topics of the dev split, and on no others."
        st.html(markup.state("Nothing was swept yet", text))
        return
    swept = tuning.swept
    st.html(markup.notices(tuning.notes))
    st.html(
        markup.facts(
            [
                ("chosen", swept.points[swept.chosen].name),
                (f"{swept.measure} in sample", f"{swept.in_sample:.4f}"),
                ("out of fold", f"{swept.out_of_fold:.4f}"),
                ("default protocol", f"{tuning.default:.4f}"),
                (f"best source, {tuning.source}", f"{tuning.source_mean:.4f}"),
            ]
        )
    )
    with st.container(key="heat"):
        st.vega_lite_chart(evaluation_markup.heat_map(swept), width="content")


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
