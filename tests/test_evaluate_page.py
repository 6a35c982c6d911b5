"""The page Evaluate: the figures of the command, lost topics that open, and the same seal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.cli import main
from app.evaluation.evaluate import evaluate
from app.evaluation.fragments import figures
from app.evaluation.measures import measure_names
from app.evaluation.qrels import Qrels
from app.evaluation.runs import Run
from app.query.protocol import make_protocol
from store.archive import ARCHIVE_VARIABLE
from store.catalogue import Catalogue
from store.evaluation import looks
from tests.conftest import Workplace
from tests.test_evaluate_command import judged, judged_once  # noqa: F401
from tests.test_pages import body, click, opened, shown


@pytest.fixture
def page(judged: Workplace, monkeypatch: pytest.MonkeyPatch) -> AppTest:  # noqa: F811
    monkeypatch.setenv(ARCHIVE_VARIABLE, str(judged.archive.root))
    return opened("evaluate", **{"as": "Ana"})


def evaluated(page: AppTest, protocols: str = "default") -> str:
    page.text_area(key="evaluate-protocols").set_value(protocols)
    return body(click(page, "FormSubmitter:evaluate-Evaluate"))


def test_the_page_shows_the_figures_of_the_command(
    page: AppTest,
    judged: Workplace,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "Nothing was evaluated yet" in body(page)
    text = evaluated(page, "default\nk=1,depth=2,weight.lexical=1/9")
    where = ["evaluate", "--json", f"--archive={judged.archive.root}"]
    assert main([*where, "--protocol=default", "--protocol=k=1,depth=2,weight.lexical=1/9"]) == 0
    report = json.loads(capsys.readouterr().out)
    for row in report["rows"]:
        drawn = text.partition(f"<th>{row['name']}</th>")[2].partition("</tr>")[0]
        figures_drawn = re.findall(r">([\d.]+)</td>", drawn)
        assert figures_drawn == [
            *(f"{mean:.4f}" for mean in row["means"].values()),
            f"{row['found']:.4f}",
            str(row["empty"]),
        ]
    assert f"Experiment {report['experiment']}" in text
    for note in report["notes"]:
        assert note in text


def test_a_lost_topic_leads_to_its_search_under_the_protocol_that_lost(page: AppTest) -> None:
    text = evaluated(page, "k=1,weight.semantic=50,semantic=always,weighting=fixed")
    assert "Topics lost under AP, worst first." in text
    assert "./?q=gland+screws&k=1&ws=50&asked=always&weighting=fixed&as=Ana" in text


def test_the_page_is_no_way_around_the_seal(
    page: AppTest,
    judged: Workplace,  # noqa: F811
) -> None:
    page.segmented_control(key="evaluate-split").set_value("test")
    shown(page.run())
    assert "the test split is sealed" in body(page).lower()
    assert "say why it is opened" in evaluated(page)
    page.text_input(key="evaluate-reason").set_value("release 1")
    assert "is not frozen" in evaluated(page)
    with Catalogue(judged.archive) as catalogue:
        assert looks(catalogue) == []
    page.text_input(key="evaluate-frozen").set_value(make_protocol().short_hash)
    text = evaluated(page)
    assert "Look 1 at the test split, by Ana: release 1. It was looked at 0 times before." in text
    # Drawing the page again is no second look.
    shown(page.run())
    with Catalogue(judged.archive) as catalogue:
        assert [look.looked_by for look in looks(catalogue)] == ["Ana"]


def test_a_protocol_that_cannot_be_used_is_one_sentence(page: AppTest, tmp_path: Path) -> None:
    assert "a protocol has no 'q'" in evaluated(page, "q=1").lower()
    # No file of the server's disk is read.
    written = tmp_path / "p.toml"
    written.write_text("k = 1", encoding="utf-8")
    assert "files are read by the command" in evaluated(page, str(written))


def test_a_sweep_says_what_its_choice_is_worth_on_other_topics(
    page: AppTest,
    judged: Workplace,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    grid = "k=0;60, depth=1;50, weight.lexical=1;9"
    page.text_area(key="sweep-grid").set_value(grid)
    text = body(click(page, "FormSubmitter:sweep-Sweep"))
    assert main(["sweep", "--json", f"--archive={judged.archive.root}", f"--grid={grid}"]) == 0
    found = json.loads(capsys.readouterr().out)
    for key in ("in_sample", "out_of_fold", "default", "best_source_mean"):
        assert f"<dd>{found[key]:.4f}</dd>" in text
    assert f"<dd>{found['chosen']}</dd>" in text
    assert found["notes"][0] in text
    page.text_area(key="sweep-grid").set_value("coverage=0")
    assert "cannot change 'coverage'" in body(click(page, "FormSubmitter:sweep-Sweep"))


def test_texts_from_outside_are_escaped() -> None:
    run = Run("<b>", "source", {"<i>": ("a",)})
    evaluation = evaluate([run], Qrels({"<i>": {"a": 1}}, "g"), ["<i>"], measure_names(["AP"]))
    assert "&lt;b&gt;" in figures(evaluation)
    assert "<b>" not in figures(evaluation)
