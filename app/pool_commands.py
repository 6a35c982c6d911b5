"""The commands for projects, pools and agreement: ``python -m app projects | pool | agreement``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from app.agreement import Estimate, agreement
from app.pools import POOL_DEPTH, build_pool, counts, read_protocol
from app.query.search import Engines
from corpus.judging import DEFAULT_PROJECT, GRADES, Project, standing
from store.archive import existing_archive
from store.catalogue import Catalogue
from store.errors import BadInput
from store.judging import judgments, topics
from store.pools import add_pools, pooled
from store.projects import add_project, change_project, is_frozen, project, projects

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

COMMAND_LINE = "command line"
"""Who builds and makes what nobody is named for."""


def add_commands(commands: Commands, where: argparse.ArgumentParser) -> None:
    """Add these commands to those of the program; ``where`` names the archive."""
    command = commands.add_parser(
        "projects", parents=[where], help="list judging projects, make one or change one"
    )
    command.add_argument("name", metavar="NAME", nargs="?", help="the project to make or change")
    command.add_argument(
        "--grade",
        action="append",
        default=[],
        metavar="N=SENTENCE",
        help="what a grade from 0 to 3 means; fixed by the project's first label",
    )
    command.add_argument(
        "--judges",
        type=int,
        metavar="N",
        help="how many judge each document, 0 for everybody (default: everybody)",
    )
    command.set_defaults(run=_projects)

    parser = commands.add_parser("pool", help="what is judged: build pools and count them")
    actions = parser.add_subparsers(dest="action", required=True)
    command = actions.add_parser("build", parents=[where], help="find the documents to be judged")
    _of_project(command)
    command.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="ID",
        help="may be repeated (default: all that have no pool in the project)",
    )
    command.add_argument(
        "--protocol",
        action="append",
        default=[],
        metavar="P",
        help="default, or such as k=10,depth=50,weight.lexical=2; may be repeated",
    )
    command.add_argument(
        "--depth",
        type=int,
        default=POOL_DEPTH,
        help="documents of each list (default: %(default)s)",
    )
    command.add_argument(
        "--add", action="append", default=[], metavar="DOC", help="a document to judge besides"
    )
    command.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="G",
        help="search what that group may read; a judge is still given only what the judge may read",
    )
    command.add_argument("--by", default=COMMAND_LINE, metavar="NAME", help="who builds it")
    command.set_defaults(run=_build)
    command = actions.add_parser("status", parents=[where], help="how many are not judged yet")
    _of_project(command)
    command.add_argument("--json", action="store_true", help="print the counts as JSON")
    command.set_defaults(run=_status)

    command = commands.add_parser(
        "agreement", parents=[where], help="how far the judges of a project agree"
    )
    _of_project(command)
    command.add_argument("--seed", type=int, default=0, help="of the intervals (default: 0)")
    command.add_argument("--json", action="store_true", help="print it as JSON")
    command.set_defaults(run=_agreement)


def _of_project(command: argparse.ArgumentParser) -> None:
    command.add_argument("--project", default=DEFAULT_PROJECT, help="(default: %(default)s)")


def _projects(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        known = {entry.name: entry for entry in projects(catalogue)}
        if options.name is None:
            if options.grade or options.judges is not None:
                raise BadInput("name the project that --grade and --judges are for")
            for entry in known.values():
                print("\n".join(_project_lines(entry, frozen=is_frozen(catalogue, entry.name))))
            print(f"{len(known)} projects")
            return 0
        old = known.get(options.name, Project("new"))
        judges = old.judges_per_pair if options.judges is None else options.judges or None
        try:
            made = Project(options.name, _sentences(options.grade, old), judges)
        except ValueError as error:
            raise BadInput(str(error)) from error
        if options.name in known:
            change_project(catalogue, made)
        else:
            add_project(catalogue, made, COMMAND_LINE)
        print("\n".join(_project_lines(made, frozen=is_frozen(catalogue, made.name))))
        print(f"project {made.name} {'changed' if options.name in known else 'made'}")
    return 0


def _project_lines(entry: Project, *, frozen: bool) -> Iterator[str]:
    judges = entry.judges_per_pair or "everybody"
    state = "fixed by its labels" if frozen else "no label yet"
    yield f"{entry.name}  (judges of each document: {judges}; grades: {state})"
    yield from (f"  {grade}  {words}" for grade, words in enumerate(entry.grades))


def _sentences(given: list[str], old: Project) -> tuple[str, str, str, str]:
    words = dict(enumerate(old.grades))
    for text in given:
        grade, equals, sentence = text.partition("=")
        if not equals or grade not in map(str, GRADES):
            raise BadInput(f"--grade is written 3=SENTENCE, for 0 to 3, not {text!r}")
        words[int(grade)] = sentence.strip()
    return words[0], words[1], words[2], words[3]


def _build(options: argparse.Namespace) -> int:
    archive = existing_archive(options.archive)
    protocols = [read_protocol(text) for text in options.protocol]
    if not protocols and not options.add:
        protocols = [read_protocol("default")]
    engines = Engines(archive)
    with Catalogue(archive) as catalogue:
        project(catalogue, options.project)
        before = pooled(catalogue, options.project)
        wanted = options.topic or [
            entry.topic_id for entry in topics(catalogue) if entry.topic_id not in before
        ]
        if not wanted:
            raise BadInput("every topic has a pool; name the ones to add to with --topic")
        made = [
            build_pool(
                engines,
                catalogue,
                options.project,
                topic_id,
                protocols,
                depth=options.depth,
                by_hand=options.add,
                groups=tuple(options.group),
                builder=options.by,
            )
            for topic_id in wanted
        ]
        add_pools(catalogue, made)
        after = pooled(catalogue, options.project)
        labels = standing(judgments(catalogue, project=options.project))
    for one in counts({name: after[name] for name in wanted}, labels):
        new = one.documents - len(before.get(one.topic_id, {}))
        print(f"{one.topic_id}: {new} new, {one.documents} documents, {one.unjudged} unjudged")
    print(f"{len(made)} pools built from {len(protocols)} protocols to depth {options.depth}")
    return 0


def _status(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        project(catalogue, options.project)
        labels = standing(judgments(catalogue, project=options.project))
        counted = counts(pooled(catalogue, options.project), labels)
    if options.json:
        print(json.dumps([asdict(one) for one in counted], ensure_ascii=False, indent=2))
        return 0
    for one in counted:
        print(f"{one.topic_id}: {one.documents} documents, {one.unjudged} unjudged")
    unjudged = sum(one.unjudged for one in counted)
    print(f"{len(counted)} topics with a pool, {unjudged} documents unjudged")
    return 0


def _agreement(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        project(catalogue, options.project)
        found = agreement(judgments(catalogue, project=options.project), seed=options.seed)
    if options.json:
        body = {"project": options.project, "seed": options.seed, **asdict(found)}
        print(json.dumps(body, ensure_ascii=False, indent=2))
        return 0
    print(f"alpha (Krippendorff, ordinal)  {_estimate(found.alpha)}")
    for pair in found.kappas:
        print(f"kappa (quadratic weights)  {pair.first}, {pair.second}: {_estimate(pair.kappa)}")
    for one in found.disagreements:
        given = ", ".join(f"{name} {grade}" for name, grade in one.grades)
        settled = "open" if one.adjudicated is None else f"settled: {one.adjudicated.grade}"
        print(f"{one.topic_id}  {one.doc_id}: {given} ({settled})")
    left_out = f", {found.not_blind} labels not blind left out" if found.not_blind else ""
    print(f"{found.graded} graded pairs, {len(found.disagreements)} disagreements{left_out}")
    return 0


def _estimate(one: Estimate) -> str:
    if one.value is None:
        return f"not defined ({one.pairs} pairs)"
    interval = "" if one.low is None else f", 95 % interval {one.low:.3f} to {one.high:.3f}"
    return f"{one.value:.3f}{interval} ({one.pairs} pairs)"
