"""``python -m app example``: the five-document study on paper, as data and as figures."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from app.example_figures import figures
from app.query.fuse import Contribution, FusedHit
from app.query.study import LISTS, RELEVANT, Setting, Study, average_precision, study
from store.errors import BadInput

DATA = "example.json"


def run(options: argparse.Namespace) -> int:
    """Print the study, or its data, and write what was asked for."""
    found = study()
    data = json.dumps(found.as_data(), ensure_ascii=False, indent=2) + "\n"
    print(data if options.json else "\n".join(lines(found)), end="" if options.json else "\n")
    if options.out:
        folder = Path(options.out)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / DATA).write_text(data, encoding="utf-8")
            for name, png in figures(found).items():
                (folder / name).write_bytes(png)
        except OSError as error:
            raise BadInput(
                f"the example cannot be written to {folder}: {error.strerror}"
            ) from error
    return 0


def lines(found: Study) -> Iterator[str]:
    """The study as a reader sees it."""
    yield f"Five documents, two lists; relevant are {' and '.join(sorted(RELEVANT))}."
    for name, precision in found.lists.items():
        yield f"  {name}  {' '.join(LISTS[name])}  average precision {_number(precision)}"
    zero, sixty = found.setting("k = 0"), found.setting("k = 60")
    yield ""
    yield f"  {'':<10}{'L1':>3}{'L2':>4}   {'score at k = 0':<24}{'score at k = 60'}"
    at_sixty = {hit.id: hit for hit in sixty.fused}
    for hit in sorted(zero.fused, key=lambda one: one.id):
        ranks = "".join(f"{part.rank:>4}" for part in hit.parts if isinstance(part, Contribution))
        other = at_sixty[hit.id]
        yield f"  document {hit.id}{ranks}   {_place(hit):<24}{_place(other)}"
    yield ""
    for span in found.by_k:
        precision = average_precision(span.order, RELEVANT)
        yield f"  k in {span!s:<34}{' '.join(span.order)}   {_number(precision)}"
    yield ""
    for setting in found.settings:
        yield from _said(setting)
    name, best = max(found.lists.items(), key=lambda entry: entry[1])
    yield ""
    yield f"{name} alone has {_number(best)}: a fusion is measured against the best of its lists."


def _said(setting: Setting) -> Iterator[str]:
    order = " ".join(setting.fused.ids)
    yield f"  {setting.said:<58}{order:<11}{_number(setting.average_precision)}"


def _place(hit: FusedHit) -> str:
    return f"{hit.rank}. {hit.score} ≈ {float(hit.score):.4f}"


def _number(value: Fraction) -> str:
    """A fraction, with its decimal where it has one."""
    return str(value) if value.denominator == 1 else f"{value} ≈ {float(value):.4f}"
