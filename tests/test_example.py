"""``python -m app example``: the five-document study, computed by the product itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from app.cli import main
from app.example_figures import specifications
from app.query.study import LAST_K, average_precision, number_data, study


def test_the_study_ends_as_published() -> None:
    found = study()
    assert found.lists == {"L1": Fraction(7, 12), "L2": Fraction(1)}
    assert {
        one.name: ("".join(one.fused.ids), one.average_precision) for one in found.settings
    } == {
        "k = 0": ("BACDE", Fraction(5, 6)),
        "k = 60": ("BCADE", Fraction(1)),
        "depth 2": ("BAC", Fraction(5, 6)),
        "copies": ("ABCDE", Fraction(7, 12)),
        "weight 1/4": ("BCADE", Fraction(1)),
        "family": ("BCADE", Fraction(1)),
    }
    assert [(str(span), "".join(span.order)) for span in found.by_k] == [
        ("[0, 1 + 2√3 ≈ 4.4641]", "BACDE"),
        ("(1 + 2√3 ≈ 4.4641, ∞)", "BCADE"),
    ]
    assert len(found.scores) == LAST_K + 1
    assert found.scores[0]["A"] == Fraction(6, 5)
    assert [max(scores, key=scores.__getitem__) for scores in found.scores] == ["B"] * (LAST_K + 1)
    assert [k for k, scores in enumerate(found.scores) if scores["A"] > scores["C"]] == [
        0,
        1,
        2,
        3,
        4,
    ]


def test_the_remedy_by_weights_and_the_family_give_the_same_scores() -> None:
    weights, family = study().setting("weight 1/4").fused, study().setting("family").fused
    assert [hit.parts for hit in weights] == [hit.parts for hit in family]


def test_it_prints_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example"]) == 0
    out = capsys.readouterr().out
    for said in (
        r"L1  A B C D E  average precision 7/12 ≈ 0.5833",
        r"L2  B C D E A  average precision 1\n",
        r"document A   1   5   2. 6/5 ≈ 1.2000         3. 126/3965 ≈ 0.0318",
        r"k in \[0, 1 \+ 2√3 ≈ 4.4641\] +B A C D E   5/6 ≈ 0.8333",
        r"4 copies of L1 and L2, k = 60, a vote for each +A B C D E  7/12",
    ):
        assert re.search(said, out), said


def test_it_writes_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="the renderer of figures is not installed")
    folders = []
    for seed in ("0", "17"):
        folders.append(tmp_path / seed)
        subprocess.run(
            [sys.executable, "-m", "app", "example", "--out", str(folders[-1])],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
    names = ["average-precision.png", "contributions.png", "example.json", "scores-by-k.png"]
    for folder in folders:
        assert sorted(path.name for path in folder.iterdir()) == names
    for name in names:
        first, second = ((folder / name).read_bytes() for folder in folders)
        assert first == second
        if name.endswith(".png"):
            with Image.open(folders[0] / name) as image:
                assert min(image.size) > 300
                assert len(image.getcolors(10**6) or []) > 50
    assert json.loads((folders[0] / "example.json").read_text("utf-8")) == study().as_data()


def test_every_number_is_a_fraction_and_its_decimal() -> None:
    body = study().as_data()
    for setting in body["settings"]:
        for hit in setting["hits"]:
            values = [Fraction(part["value"]) for part in hit["parts"] if "value" in part]
            assert sum(values, Fraction(0)) == Fraction(hit["score"]["fraction"])
    assert [entry["k"] for entry in body["scores_by_k"]] == list(range(LAST_K + 1))
    assert body["lists"]["L1"]["average_precision"] == {
        "fraction": "7/12",
        "decimal": "0.583333333333",
    }


def test_the_figures_show_the_numbers_of_the_study() -> None:
    found = study()
    specs = specifications(found)
    lines, rules, _ = specs["scores-by-k"]["layer"]
    assert len(lines["data"]["values"]) == 5 * (LAST_K + 1)
    assert [row["said"] for row in rules["data"]["values"]] == ["k = 1 + 2√3 ≈ 4.4641"]
    assert [row["exact"] for row in specs["average-precision"]["data"]["values"]] == [
        *("7/12", "1", "5/6", "1", "5/6", "7/12", "1", "1")
    ]
    parts = specs["contributions"]["data"]["values"]
    assert sum(row["value"] for row in parts if row["setting"] == "k = 0") == pytest.approx(
        2 * sum(1 / rank for rank in range(1, 6))
    )


def test_the_data_can_be_printed_and_a_folder_that_cannot_be_written_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["example", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == study().as_data()
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["example", "--out", str(tmp_path / "file")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@given(st.fractions(0, 2))
def test_a_decimal_is_the_nearest_of_its_length(value: Fraction) -> None:
    shown = number_data(value)
    assert Fraction(shown["fraction"]) == value
    assert abs(Fraction(shown["decimal"]) - value) <= Fraction(1, 2 * 10**12)


@given(st.permutations("ABCDEFG"), st.sets(st.sampled_from("ABCDEFGH"), min_size=1))
def test_average_precision_is_over_all_that_is_relevant(
    order: list[str], relevant: set[str]
) -> None:
    precisions = [
        Fraction(len(relevant & set(order[: place + 1])), place + 1)
        for place, name in enumerate(order)
        if name in relevant
    ]
    found = average_precision(order, frozenset(relevant))
    assert found == sum(precisions, Fraction(0)) / len(relevant)
