"""Every table of docs/fusion.md is what the product computes."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from app.query.fuse import Contribution
from app.query.fusions import FUSIONS
from app.query.likeness import ALIKE, LEAST_SEARCHES, P
from app.query.study import LISTS, RELEVANT, average_precision, study

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "fusion.md").read_text(encoding="utf-8")


def table(head: str) -> list[list[str]]:
    """The cells below the header line that begins with ``head``."""
    _, _, after = TEXT.partition(f"\n| {head} |")
    rows = []
    for line in after.splitlines()[2:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{value} ≈ {float(value):.4f}"


def test_the_rules_are_those_there_are() -> None:
    words = {True: "yes", False: "no"}
    assert table("name") == [
        [f"`{one.name}`", one.uses, words[one.k], words[one.weights], one.gives, one.assumes]
        for one in FUSIONS.values()
    ]


def test_the_scores_of_the_study_are_those_of_fusing() -> None:
    found = study()
    scores = [{hit.id: hit for hit in found.setting(name).fused} for name in ("k = 0", "k = 60")]
    assert table("document") == [
        [
            name,
            *(str(part.rank) for part in scores[0][name].parts if isinstance(part, Contribution)),
            *(f"{hits[name].score} ≈ {float(hits[name].score):.4f}" for hits in scores),
        ]
        for name in LISTS["L1"]
    ]


def test_the_orders_and_precisions_of_the_study_are_those_of_fusing() -> None:
    found = study()
    lists = [
        [f"{name} alone", " ".join(LISTS[name]), number(precision)]
        for name, precision in found.lists.items()
    ]
    fusions = [
        [one.said, " ".join(one.fused.ids), number(one.average_precision)] for one in found.settings
    ]
    assert table("list or fusion") == lists + fusions


def test_the_order_by_k_is_the_one_computed() -> None:
    spans = study().by_k
    assert table("k") == [
        [str(span), " ".join(span.order), number(average_precision(span.order, RELEVANT))]
        for span in spans
    ]
    assert f"at k = {spans[1].start}:" in TEXT


def test_the_numbers_in_its_prose_are_the_ones_in_use() -> None:
    said = re.sub(r"\s+", " ", TEXT)
    assert f"p = {float(P)}, extrapolated" in said
    assert f"mean of {ALIKE} over at least {LEAST_SEARCHES} searches" in said
    sizes = [study().setting(name).fused[0].score for name in ("k = 0", "k = 60")]
    assert 45 < sizes[0] / sizes[1] < 55  # "a fiftieth"
