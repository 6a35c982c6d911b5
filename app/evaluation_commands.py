"""``python -m app evaluate`` and the commands on what it kept."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from pathlib import Path
from typing import Any, get_args

from app.evaluation.html_report import html_report
from app.evaluation.measures import DEFAULT_MEASURES
from app.evaluation.protocols import read_protocols
from app.evaluation.render import report_data, report_lines
from app.evaluation.request import Opening, Request
from app.evaluation.study import Report, study, study_of_files
from app.evaluation.sweep import DEFAULT_GRID, read_grid
from app.evaluation.tuning import tune, tuning_data, tuning_lines
from app.evaluation.validate import difference, validate
from app.qrels import DEFAULT_VIEW, View
from app.query.record import canonical
from app.query.search import Engines
from corpus.judging import DEFAULT_PROJECT, Split
from store.archive import existing_archive
from store.catalogue import Catalogue
from store.errors import BadInput
from store.evaluation import experiment, experiments, freeze, looks

# What argparse gives for a group of commands has no public name.
Commands = Any

PROGRESS_EVERY = 25


def add_commands(commands: Commands, where: argparse.ArgumentParser) -> None:
    """Declare the commands; ``where`` has the options that lead to an archive."""
    command = commands.add_parser(
        "evaluate", parents=[where], help="measure fusions beside their sources"
    )
    command.add_argument(
        "--topics",
        type=Path,
        metavar="FILE",
        help="topics in TOML, or queries in JSON Lines (default: those of the archive)",
    )
    command.add_argument(
        "--qrels",
        type=Path,
        metavar="FILE",
        help="grades as TREC qrels or BEIR TSV (default: the labels of the archive)",
    )
    command.add_argument(
        "--project",
        default=DEFAULT_PROJECT,
        help="the judging project whose labels count (default: %(default)s)",
    )
    command.add_argument(
        "--view",
        choices=get_args(View),
        default=DEFAULT_VIEW,
        help="the one grade of a document that several judges labelled (default: %(default)s)",
    )
    command.add_argument(
        "--run",
        dest="lists",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a TREC run as a source, in the place of searching; may be repeated",
    )
    command.add_argument("--split", choices=["dev", "test"], default="dev")
    command.add_argument(
        "--protocol",
        action="append",
        default=[],
        metavar="P",
        help="a TOML file, or k=10,depth=50,weight.lexical=2; may be repeated",
    )
    command.add_argument(
        "--measures",
        default=",".join(DEFAULT_MEASURES),
        metavar="LIST",
        help="parted by commas; differences per topic are of the first (default: %(default)s)",
    )
    command.add_argument("--reason", default="", help="why the test split is opened")
    command.add_argument(
        "--frozen",
        action="append",
        default=[],
        metavar="HASH",
        help="a protocol that will not change any more, to be evaluated on the test split",
    )
    command.add_argument(
        "--freeze", action="store_true", help="freeze the protocols evaluated, for the test split"
    )
    command.add_argument(
        "--as", dest="who", default="", metavar="NAME", help="who looks (default: the login name)"
    )
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.add_argument(
        "--html", type=Path, metavar="FILE", help="write the report to a file that needs no other"
    )
    command.set_defaults(run=_evaluate)

    command = commands.add_parser(
        "sweep", parents=[where], help="choose k, depths and weights on the topics for development"
    )
    command.add_argument("--topics", type=Path, metavar="FILE", help="as of evaluate")
    command.add_argument("--qrels", type=Path, metavar="FILE", help="as of evaluate")
    command.add_argument(
        "--grid",
        default=DEFAULT_GRID,
        help="axes parted by commas, values by semicolons (default: %(default)s)",
    )
    command.add_argument("--measure", default=DEFAULT_MEASURES[0], help="(default: %(default)s)")
    command.add_argument("--json", action="store_true", help="print every point as JSON")
    command.set_defaults(run=_sweep)

    command = commands.add_parser(
        "looks", parents=[where], help="every look at the test split that was ever taken"
    )
    command.set_defaults(run=_looks)

    command = commands.add_parser(
        "experiments", parents=[where], help="the evaluations that were kept"
    )
    command.set_defaults(run=_experiments)

    command = commands.add_parser(
        "validate", parents=[where], help="say whether a kept evaluation still holds"
    )
    command.add_argument("experiment", metavar="ID")
    command.set_defaults(run=_validate)

    command = commands.add_parser(
        "compare", parents=[where], help="say in what two kept evaluations differ"
    )
    command.add_argument("first", metavar="ID")
    command.add_argument("second", metavar="ID")
    command.set_defaults(run=_compare)


def _evaluate(options: argparse.Namespace) -> int:
    request = Request(
        split=_split(options.split),
        protocols=read_protocols(options.protocol),
        measures=tuple(filter(None, options.measures.split(","))),
        topics=options.topics,
        qrels=options.qrels,
        runs=tuple(_named_file(text) for text in options.lists),
        project=options.project,
        view=options.view,
    )
    report = _report(options, request)
    if options.html is not None:
        _write(options.html, html_report(report))
    if options.json:
        print(json.dumps(report_data(report), ensure_ascii=False, indent=2))
    else:
        print("\n".join(report_lines(report)))
    return 0


def _report(options: argparse.Namespace, request: Request) -> Report:
    if request.runs and request.qrels is not None:
        if options.freeze or options.frozen or options.reason:
            raise BadInput("runs and labels from files are not sealed, so there is nothing to open")
        return study_of_files(request)
    archive = existing_archive(options.archive)
    engines = Engines(archive)
    opening = Opening(options.who or getpass.getuser(), options.reason, tuple(options.frozen))
    with Catalogue(archive) as catalogue:
        report = study(engines, catalogue, request, opening, _said)
        if options.freeze:
            bodies = {one.hash: canonical(one.as_data()) for one in report.protocols.values()}
            count = freeze(catalogue, bodies, opening.who)
            print(f"{count} of {len(bodies)} protocols newly frozen", file=sys.stderr)
    return report


def _sweep(options: argparse.Namespace) -> int:
    request = Request(measures=(options.measure,), topics=options.topics, qrels=options.qrels)
    points = read_grid(options.grid)
    archive = existing_archive(options.archive)
    with Catalogue(archive) as catalogue:
        tuning = tune(Engines(archive), catalogue, request, points, _said)
    if options.json:
        print(json.dumps(tuning_data(tuning), ensure_ascii=False, indent=2))
    else:
        print("\n".join(tuning_lines(tuning)))
    return 0


def _said(done: int, total: int) -> None:
    if done % PROGRESS_EVERY == 0 or done == total:
        print(f"{done} of {total} searches", file=sys.stderr)


def _looks(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        ledger = looks(catalogue)
    for look in ledger:
        protocols = ", ".join(name.removeprefix("sha256:")[:8] for name in look.protocols)
        print(f"{look.number:>3}  {look.looked_at}  {look.looked_by}: {look.reason}")
        print(
            f"     protocol {protocols}, {len(look.topics)} topics, version {look.corpus_version}"
        )
        print(f"     {look.result}")
    print(f"{len(ledger)} looks at the test split")
    return 0


def _experiments(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        kept = experiments(catalogue)
    for one in kept:
        asked = json.loads(one.body)["asked"]
        names = ", ".join(name for name, _ in asked["protocols"])
        print(f"{one.experiment_id}  {one.kept_at}  {one.kept_by}  {asked['split']}: {names}")
    print(f"{len(kept)} experiments")
    return 0


def _validate(options: argparse.Namespace) -> int:
    archive = existing_archive(options.archive)
    with Catalogue(archive) as catalogue:
        kept = experiment(catalogue, options.experiment)
        found = validate(Engines(archive), catalogue, kept)
    print("\n".join([found.state, *(f"  {reason}" for reason in found.reasons)]))
    return 0 if found.state == "VALID" else 1


def _compare(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        found = difference(
            experiment(catalogue, options.first), experiment(catalogue, options.second)
        )
    lines = [*found.inputs, *found.fields] or ["nothing differs"]
    print("\n".join([*lines, *([f"warning: {found.warning}"] if found.warning else [])]))
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error}") from error


def _split(text: str) -> Split:
    return "test" if text == "test" else "dev"


def _named_file(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise BadInput(f"a run is written NAME=FILE, such as lexical=bm25.run, not {text!r}")
    return name, Path(path)
