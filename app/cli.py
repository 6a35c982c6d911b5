"""``python -m app``: search from a terminal, or start the screens.

Exit codes: 0 done, 1 finished with an engine missing, 2 usage or input, 4 damaged, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from app import (
    evaluation_commands,
    example,
    judging_commands,
    pool_commands,
    record_commands,
)
from app.claims_cli import add_claims_options, run_claims
from app.context_cli import add_context_options, print_context
from app.fuse_commands import add_commands as add_fuse_commands
from app.likeness_commands import add_commands as add_likeness_commands
from app.protocol_commands import add_commands as add_protocol_commands
from app.query.best_passages import Extract, place_of
from app.query.correct import corrected
from app.query.explain import sum_in_words
from app.query.facets import Facets, facets
from app.query.fusions import FUSIONS
from app.query.present import Row, result_data, rows
from app.query.protocol import (
    DEFAULT_ASKED,
    DEFAULT_CORRECTIONS,
    DEFAULT_COVERAGE,
    DEFAULT_GROUP,
    DEFAULT_K,
    DEFAULT_WEIGHTING,
    Corrections,
    Group,
    Protocol,
    Unit,
    Weighting,
    make_protocol,
)
from app.query.protocol_file import read_protocol
from app.query.search import Engines, SearchResult, search
from app.query.suggest import LIMIT, completion_data, suggest
from app.query.systems import SEMANTIC, asked_of
from app.system_values import pairs, whole
from app.why_command import add_why_options, print_why
from corpus.query_filters import MEDIA_TYPES, media_types
from corpus.resemblance import percent
from corpus.scope import Scope
from store.archive import ARCHIVE_VARIABLE, archive_at, existing_archive
from store.catalogue import Catalogue
from store.errors import BadInput, CounterpointError

INTERRUPTED = 130
DEFAULT_PORT = 8501
PLAIN_OPTIONS = {
    "coverage": "coverage",
    "semantic": "asked",
    "weighting": "weighting",
    "corrections": "corrections",
    "fusion": "fusion",
    "unit": "unit",
}
"""Options of a search, and the parameter of ``make_protocol`` that each of them is."""

EXTRACT_CHARACTERS = 100
FACET_VALUES = 8


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without a command, start the screens."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(given or ["serve"])
    options.given = given
    try:
        code: int = options.run(options)
    except CounterpointError as error:
        print(f"app: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("app: interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


def _search(options: argparse.Namespace) -> int:
    protocol = _protocol(options)
    if options.group:
        protocol = replace(protocol, group=options.group)
    if options.limit < 1:
        raise BadInput(f"--limit is the number of rows to show, at least 1, not {options.limit}")
    archive = existing_archive(options.archive)
    scope = _scope(options)
    engines = Engines(archive)
    with Catalogue(archive) as catalogue:
        result = search(engines, catalogue, options.query, protocol, scope)
        # JSON has the fused order as it is, and names there what a row is grouped under.
        shown = rows(engines, catalogue, result, 0, options.limit, fold=not options.json)
        counted = facets(catalogue, result)
    if options.json:
        print(json.dumps(result_data(result, shown, counted), ensure_ascii=False, indent=2))
    else:
        *lines, summary = _lines(result, shown, counted)
        print("\n".join([*lines, *_corrections(result, options.given, options.protocol), summary]))
    return 1 if result.partial else 0


def _protocol(options: argparse.Namespace) -> Protocol:
    given = {
        name: value
        for name in ("k", "depth", "weight", *PLAIN_OPTIONS)
        if (value := getattr(options, name)) not in (None, [])
    }
    if options.protocol is not None:
        if given:
            raise BadInput(
                f"--{next(iter(given))} and --protocol both say what the protocol is; "
                f"leave the option out, or change {options.protocol}"
            )
        return read_protocol(Path(options.protocol))
    return make_protocol(
        k=given.get("k", DEFAULT_K),
        depths={name: whole(name, value) for name, value in pairs("--depth", options.depth)},
        weights=dict(pairs("--weight", options.weight)),
        **{
            "unit": options.default_unit,
            **{
                PLAIN_OPTIONS[name]: value for name, value in given.items() if name in PLAIN_OPTIONS
            },
        },
    )


def _scope(options: argparse.Namespace) -> Scope:
    try:
        return Scope(
            languages=tuple(options.lang) or None,
            folder=options.folder,
            media_types=media_types(options.type) or None,
            tags=tuple(options.tag) or None,
            since=options.since,
            until=options.until,
            codes=tuple(options.code) or None,
        )
    except ValueError as error:
        raise BadInput(str(error)) from error


def _why(options: argparse.Namespace) -> int:
    return print_why(options, _protocol(options), _scope(options))


def _context(options: argparse.Namespace) -> int:
    return print_context(options, _protocol(options), _scope(options))


def _suggest(options: argparse.Namespace) -> int:
    if options.limit < 1:
        raise BadInput(f"--limit is the number of suggestions, at least 1, not {options.limit}")
    archive = existing_archive(options.archive)
    engines = Engines(archive)
    with Catalogue(archive) as catalogue:
        found = suggest(engines, catalogue, Scope(), options.text, options.limit)
    if options.json:
        print(json.dumps([completion_data(one) for one in found], ensure_ascii=False, indent=2))
    else:
        print("\n".join(f"{one.kind:<6} {one.text}" for one in found))
    return 0


def _serve(options: argparse.Namespace) -> int:
    archive = archive_at(options.archive)
    script = Path(__file__).with_name("streamlit_app.py")
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += ["--server.port", str(options.port), "--server.address", options.address]
    environment = {**os.environ, ARCHIVE_VARIABLE: str(archive.root.resolve())}
    # From the repository's root, where the packages and .streamlit/config.toml are.
    return subprocess.call(command, env=environment, cwd=script.parents[1])


def _lines(result: SearchResult, shown: Sequence[Row], counted: Facets) -> list[str]:
    record = result.record
    lines = [
        f"version {record.manifest.inputs.corpus_version}, protocol {record.protocol.short_hash} "
        f"({_fused_by(record.protocol)}, one rank per {record.protocol.unit}"
        f"{_grouped(record.protocol)}), "
        f"semantic search {record.manifest.semantic.in_words}"
    ]
    for row in shown:
        page = f", page {row.passage.page}" if row.passage.page else ""
        page += ", OCR" if row.passage.ocr else ""
        document = row.document
        said = [document.author, document.dated[: len("2024-02-29")], ", ".join(document.tags)]
        about = "".join(f" · {text}" for text in said if text)
        lines += [
            f"{row.hit.rank:>3}  {document.title}",
            f"     {', '.join(document.locations)}{page}{about}",
            f"     {sum_in_words(row.hit)}",
        ]
        if len(row.extracts) > 1:
            lines += [_extract(extract, document.title) for extract in row.extracts]
        lines += [
            f"     similar to {entry.document.doc_id} "
            f"({percent(entry.shared, entry.total)} % the same wording)"
            for entry in row.similar
            if entry.document.doc_id not in {one.document.doc_id for one in row.folded}
        ]
        lines += _folded(row)
    lines += [f"note: {note}" for note in (*result.notes, *result.rules)]
    lines += _counted(counted)
    depths = ", ".join(f"{system.name} {system.depth}" for system in record.protocol.systems)
    total = sum(result.timings_ms.values())
    lines.append(f"{len(record.fused)} candidates (depth: {depths}) in {total:.0f} ms")
    return lines


def _folded(row: Row) -> list[str]:
    """What stands under a row, each at its own rank."""
    if not row.folded:
        return []
    lines = [
        f"     > {one.hit.rank:>3}  {one.document.title} ({one.document.doc_id}, "
        f"{percent(one.shared, one.total)} % the same wording)"
        for one in row.folded
    ]
    return [f"     and {len(row.folded)} nearly the same:", *lines]


def _extract(extract: Extract, title: str) -> str:
    """One of several passages of a document; a star marks the one that earned the rank."""
    mark = "*" if extract.earned else "-"
    text = " ".join(extract.snippet.text.split())[:EXTRACT_CHARACTERS]
    return f"     {mark} {place_of(extract.passage, title)}: {text}"


def _counted(counted: Facets) -> list[str]:
    """What the candidates are, a line for each field that tells them apart."""
    return [
        f"{counted.said}, by {facet.field}: "
        + ", ".join(f"{value or 'unknown'} {count}" for value, count in facet.counts[:FACET_VALUES])
        + (f", {more} more" if (more := len(facet.counts) - FACET_VALUES) > 0 else "")
        for facet in counted.facets
        if len(facet.counts) > 1
    ]


def _corrections(result: SearchResult, given: Sequence[str], file: str | None) -> list[str]:
    """What an unknown word may have been meant to be, and the command that searches for it; or the
    command that searches for the words as typed."""
    record = result.record
    if not record.suggestions:
        return []
    if record.protocol.corrections == "apply":
        if file is not None:
            return [f'as typed: write corrections = "{DEFAULT_CORRECTIONS}" in {file}']
        return [f"as typed: {_command(given)} --corrections {DEFAULT_CORRECTIONS}"]
    lines = []
    for one in record.suggestions:
        meant = " or ".join(f"{c.text} ({c.documents})" for c in one.candidates)
        lines.append(f"note: No document has {one.typed}. Perhaps {meant}")
    text = corrected(record.text, record.suggestions)
    changed = [text if argument == record.query else argument for argument in given]
    return [*lines, f"corrected: {_command(changed)}"]


def _command(given: Sequence[str]) -> str:
    return shlex.join(["python", "-m", "app", *given])


def _grouped(protocol: Protocol) -> str:
    return "" if protocol.group == DEFAULT_GROUP else f", {protocol.group} grouped"


def _fused_by(protocol: Protocol) -> str:
    return f"k = {protocol.k}" if FUSIONS[protocol.fusion].k else f"fused by {protocol.fusion}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m app", description="Search an archive and see why."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument(
        "--archive",
        metavar="DIR",
        help="the archive's folder (default: $COUNTERPOINT_ARCHIVE, else ./archive)",
    )

    command = commands.add_parser("search", parents=[where], help="search once")
    _add_question(command, unit="document")
    command.add_argument(
        "--group",
        choices=get_args(Group),
        help="whether documents nearly the same as one above them are shown under it; ranks stay "
        f"(default: {DEFAULT_GROUP})",
    )
    command.add_argument("--limit", type=int, default=10, help="rows to show (default: 10)")
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.set_defaults(run=_search)

    command = commands.add_parser(
        "why", parents=[where], help="where a document is in an answer, or why it is not there"
    )
    _add_question(command, unit="document")
    add_why_options(command)
    command.set_defaults(run=_why)

    command = commands.add_parser(
        "context", parents=[where], help="passages for a generator, under a budget of tokens"
    )
    _add_question(command, unit="passage")
    add_context_options(command)
    command.set_defaults(run=_context)

    command = commands.add_parser(
        "check-claims",
        parents=[where],
        help="the sentences of a text beside the passages of a search",
    )
    add_claims_options(command)
    command.set_defaults(run=run_claims)

    command = commands.add_parser(
        "suggest", parents=[where], help="codes and titles that begin with what was typed"
    )
    command.add_argument("text", metavar="TEXT")
    command.add_argument(
        "--limit", type=int, default=LIMIT, help="how many at most (default: %(default)s)"
    )
    command.add_argument("--json", action="store_true", help="print them as JSON")
    command.set_defaults(run=_suggest)

    evaluation_commands.add_commands(commands, where)
    judging_commands.add_commands(commands, where)
    pool_commands.add_commands(commands, where)
    record_commands.register(commands, where)
    add_protocol_commands(commands)
    add_fuse_commands(commands)
    add_likeness_commands(commands, where)

    command = commands.add_parser(
        "example", help="the five-document study: what k, depth and copies of a list do to a fusion"
    )
    command.add_argument(
        "--out", metavar="DIR", help="write the numbers there as JSON, and the figures"
    )
    command.add_argument("--json", action="store_true", help="print the numbers as JSON")
    command.set_defaults(run=example.run)

    command = commands.add_parser("serve", parents=[where], help="start the screens")
    command.add_argument("--port", type=int, default=DEFAULT_PORT)
    command.add_argument("--address", default="localhost")
    command.set_defaults(run=_serve)
    return parser


def _add_question(command: argparse.ArgumentParser, *, unit: Unit) -> None:
    """What is asked, of which documents, under which protocol."""
    command.add_argument("query", metavar="QUERY")
    command.add_argument(
        "--protocol",
        metavar="FILE",
        help="a TOML file that says the whole protocol, instead of the options down to --unit",
    )
    command.add_argument("--k", help=f"the constant of 1/(k + rank) (default: {DEFAULT_K})")
    command.add_argument(
        "--depth",
        action="append",
        default=[],
        metavar="SYSTEM=N",
        help="how deep a system is asked (default: 100)",
    )
    command.add_argument(
        "--weight",
        action="append",
        default=[],
        metavar="SYSTEM=W",
        help="what its vote weighs, as 2, 0.1 or 1/4 (default: 1)",
    )
    command.add_argument(
        "--coverage",
        metavar="SHARE",
        help="the least share of the query's weight in a match by words, from 0 to 1 "
        f"(default: {DEFAULT_COVERAGE})",
    )
    command.add_argument(
        "--semantic",
        choices=asked_of(SEMANTIC),
        help=f"when the semantic system is asked (default: {DEFAULT_ASKED})",
    )
    command.add_argument(
        "--weighting",
        choices=get_args(Weighting),
        help="whether the lexical weight is multiplied by what a single passage holds of the query "
        f"(default: {DEFAULT_WEIGHTING})",
    )
    command.add_argument(
        "--corrections",
        choices=get_args(Corrections),
        help="what becomes of a word that no document has: a correction is suggested, or searched "
        f"instead, or neither (default: {DEFAULT_CORRECTIONS})",
    )
    command.add_argument(
        "--fusion",
        choices=list(FUSIONS),
        help="how the lists are fused: by ranks, or by the engines' scores (default: rrf)",
    )
    command.add_argument(
        "--unit",
        choices=["document", "passage"],
        help=f"what is ranked (default: {unit})",
    )
    command.set_defaults(default_unit=unit)
    command.add_argument(
        "--lang",
        action="append",
        default=[],
        metavar="CODE",
        help="only documents in that language, such as en or es; may be repeated",
    )
    command.add_argument(
        "--type",
        action="append",
        default=[],
        metavar="KIND",
        help=f"only files of that kind ({', '.join(MEDIA_TYPES)}) or media type; may be repeated",
    )
    command.add_argument("--folder", metavar="F", help="only documents below that folder")
    command.add_argument(
        "--tag",
        action="append",
        default=[],
        metavar="TAG",
        help="only documents with that tag; may be repeated, one of them is enough",
    )
    command.add_argument(
        "--code",
        action="append",
        default=[],
        metavar="CODE",
        help="only documents that hold that code, in any spelling; may be repeated, one of them is "
        "enough",
    )
    command.add_argument("--since", metavar="DAY", help="only documents of that day or later")
    command.add_argument("--until", metavar="DAY", help="only documents of that day or earlier")
