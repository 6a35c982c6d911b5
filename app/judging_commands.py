"""The commands for topics and labels: ``python -m app topics | labels``."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from app import label_files, topic_files
from app.label_import import Imported, import_labels
from app.qrels import DEFAULT_VIEW, VIEWS, qrels, view_named
from corpus.judging import DEFAULT_PROJECT
from store.archive import existing_archive
from store.catalogue import Catalogue
from store.errors import BadInput
from store.judging import add_topics, judgments, topics
from store.projects import project

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

STDOUT = "-"
LISTED = 20
"""How many refused lines or unknown documents a report names before it only counts them."""


def add_commands(commands: Commands, where: argparse.ArgumentParser) -> None:
    """Add the commands of judging to those of the program; ``where`` names the archive."""
    _topics(commands.add_parser("topics", help="what is judged: read or write topics"), where)
    _labels(commands.add_parser("labels", help="who judged what: read or write labels"), where)


def _topics(parser: argparse.ArgumentParser, where: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    command = actions.add_parser("import", parents=[where], help="add topics of a file")
    command.add_argument("file", metavar="FILE")
    command.add_argument("--format", choices=get_args(topic_files.Format))
    command.add_argument("--author", default="", metavar="NAME", help="who wrote those that do not")
    command.add_argument("--dry-run", action="store_true", help="read and report, add nothing")
    command.set_defaults(run=_import_topics)
    command = actions.add_parser("export", parents=[where], help="write all topics to a file")
    command.add_argument("file", metavar="FILE", help="the file, or - for the terminal")
    command.add_argument("--format", choices=get_args(topic_files.Format))
    command.set_defaults(run=_export_topics)


def _labels(parser: argparse.ArgumentParser, where: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    command = actions.add_parser("import", parents=[where], help="add labels of a file")
    command.add_argument("file", metavar="FILE")
    command.add_argument("--format", choices=get_args(label_files.Format))
    command.add_argument("--judge", default="", metavar="NAME", help="who gave those without one")
    command.add_argument("--project", default="", help="the project they are for, whatever it says")
    command.add_argument("--dry-run", action="store_true", help="read and report, add nothing")
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.set_defaults(run=_import_labels)
    command = actions.add_parser(
        "export",
        parents=[where],
        help="write labels to a file: CSV and JSON lines hold every one, qrels a view of them",
    )
    command.add_argument("file", metavar="FILE", help="the file, or - for the terminal")
    command.add_argument("--format", choices=get_args(label_files.Format))
    command.add_argument("--project", metavar="NAME", help="only that project (qrels: default)")
    command.add_argument(
        "--view",
        choices=list(VIEWS),
        help=f"qrels: which grade stands for several (default: {DEFAULT_VIEW})",
    )
    command.set_defaults(run=_export_labels)


def _import_topics(options: argparse.Namespace) -> int:
    path = Path(options.file)
    read = topic_files.read_topics(
        path, topic_files.topic_format(path, options.format), options.author
    )
    with Catalogue(existing_archive(options.archive)) as catalogue:
        if options.dry_run:
            known = set(topics(catalogue))
            print(f"{len(set(read) - known)} of {len(read)} topics are new or edited; none added")
            return 0
        written = add_topics(catalogue, read)
    print(f"{written} of {len(read)} topics new or edited")
    return 0


def _export_topics(options: argparse.Namespace) -> int:
    form = topic_files.topic_format(Path(options.file), options.format)
    with Catalogue(existing_archive(options.archive)) as catalogue:
        known = topics(catalogue)
    _write(options.file, topic_files.topics_text(known, form), f"{len(known)} topics")
    return 0


def _import_labels(options: argparse.Namespace) -> int:
    path = Path(options.file)
    form = label_files.format_of(path, options.format)
    with Catalogue(existing_archive(options.archive)) as catalogue:
        done = import_labels(
            catalogue,
            path,
            form,
            judge=options.judge,
            project=options.project,
            dry_run=options.dry_run,
        )
    if options.json:
        print(json.dumps(asdict(done), ensure_ascii=False, indent=2))
    else:
        print("\n".join(_report(done)))
    return 1 if done.refused else 0


def _report(done: Imported) -> list[str]:
    lines = [f"line {entry.line}: {entry.reason}" for entry in done.refused[:LISTED]]
    if (more := len(done.refused) - LISTED) > 0:
        lines.append(f"and {more} more lines; --json names them all")
    lines += [f"no such document here: {name}" for name in done.unknown_documents[:LISTED]]
    if (more := len(done.unknown_documents) - LISTED) > 0:
        lines.append(f"and {more} more documents; --json names them all")
    if done.moved:
        lines.append(
            f"{done.moved} labels were given under a text of their topic that is not here; they "
            "count for its newest one"
        )
    added = "would be added" if done.dry_run else "added"
    return [*lines, f"{done.added} {added}, {done.known} known, {len(done.refused)} lines refused"]


def _export_labels(options: argparse.Namespace) -> int:
    form = label_files.format_of(Path(options.file), options.format)
    merged = form in ("trec", "beir")
    if options.view and not merged:
        raise BadInput(f"--view is for qrels: {form} holds every label as it was given")
    name = options.project or (DEFAULT_PROJECT if merged else None)
    with Catalogue(existing_archive(options.archive)) as catalogue:
        if name is not None:
            project(catalogue, name)
        given = judgments(catalogue, project=name)
    if merged:
        view = view_named(options.view or DEFAULT_VIEW)
        grades = qrels(given, view)
        text = label_files.trec_text(grades) if form == "trec" else label_files.beir_text(grades)
        said = f"{sum(map(len, grades.values()))} pairs, {view}: {VIEWS[view]}"
    else:
        text = label_files.csv_text(given) if form == "csv" else label_files.jsonl_text(given)
        said = f"{len(given)} labels"
    _write(options.file, text, said)
    return 0


def _write(name: str, text: str, said: str) -> None:
    """Data goes where it was asked, and what was done is said where it cannot mix with it."""
    if name == STDOUT:
        print(text, end="")
        print(said, file=sys.stderr)
        return
    try:
        Path(name).write_bytes(text.encode())
    except OSError as error:
        raise BadInput(f"{name} cannot be written: {error.strerror}") from error
    print(f"{said} written to {name}")
