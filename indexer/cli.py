"""``python -m indexer``: the maintainer's commands.

Exit codes: 0 done, 1 finished with failures, 2 usage or input, 3 busy, 4 damaged, 130 interrupted.
Data goes to stdout, progress to stderr, and the last line is a one-line summary.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from indexer.checking import verify
from indexer.compare import compare, difference_data
from indexer.debounce import Patience
from indexer.ingest import Request, ingest
from indexer.output import BadUsage, Parser, answer, answer_line, refuse
from indexer.sensor import POLL_S
from indexer.status import (
    document_data,
    document_lines,
    read_status,
    status_lines,
    version_lines,
    versions_data,
)
from indexer.upkeep import back_up, prune, rebuild, restore, roll_back
from indexer.watch import Attempt, watch
from store.archive import archive_at, existing_archive
from store.catalogue import Catalogue
from store.errors import BadInput, CounterpointError, Damaged, from_system

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    typed = sys.argv[1:] if arguments is None else arguments
    no = partial(refuse, as_json="--json" in typed)
    try:
        options = _parser().parse_args(typed)
    except BadUsage as error:
        print(error.usage, file=sys.stderr, end="")
        return no(str(error), error.exit_code)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except CounterpointError as error:
        return no(str(error), error.exit_code)
    except KeyboardInterrupt:
        return no(
            "interrupted; what was served before is still served, run the command again to go on",
            INTERRUPTED,
        )
    except BrokenPipeError:
        # Whoever read the answer has seen enough of it; nothing is left to be flushed at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        told = from_system(error, archive_at(options.archive).root)
        return no(str(told), told.exit_code)
    return code


def _ingest(options: argparse.Namespace) -> int:
    request = _request(options, allow_retire=options.allow_retire)
    report = ingest(archive_at(options.archive), request)
    lines = [*report.lines(), report.summary()]
    return answer(report.as_data(), lines, as_json=options.json, exit_code=report.exit_code)


def _request(options: argparse.Namespace, *, allow_retire: bool = False) -> Request:
    paths = tuple(Path(path) for path in options.paths)
    return Request(paths, options.message, options.encoder, allow_retire)


def _watch(options: argparse.Namespace) -> int:
    if min(options.quiet, options.longest) < 0 or (options.poll is not None and options.poll <= 0):
        raise BadInput("seconds are counted from 0, and --poll waits longer than 0")
    archive = archive_at(options.archive) if options.paths else existing_archive(options.archive)
    done = watch(
        archive,
        _request(options),
        Patience(options.quiet, options.longest),
        poll=options.poll,
        tell=partial(_tell, as_json=options.json),
        say=lambda sentence: print(f"indexer: {sentence}", file=sys.stderr, flush=True),
    )
    last = f"stopped after {done} ingest{'' if done == 1 else 's'}"
    answer_line({"ingests": done, "summary": last, "exit_code": 0}, last, as_json=options.json)
    return 0


def _tell(attempt: Attempt, *, as_json: bool) -> None:
    answer_line(attempt.as_data(), attempt.line(), as_json=as_json)


def _status(options: argparse.Namespace) -> int:
    status = read_status(existing_archive(options.archive))
    return answer(status, status_lines(status), as_json=options.json)


def _versions(options: argparse.Namespace) -> int:
    versions = versions_data(existing_archive(options.archive))
    return answer({"versions": versions}, version_lines(versions), as_json=options.json)


def _diff(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        difference = compare(
            catalogue, catalogue.version(options.older), catalogue.version(options.newer)
        )
    lines = list(difference.lines())
    return answer(difference_data(difference), lines, as_json=options.json)


def _show(options: argparse.Namespace) -> int:
    data = document_data(existing_archive(options.archive), options.document, options.version)
    return answer(data, document_lines(data), as_json=options.json)


def _rollback(options: argparse.Namespace) -> int:
    done = roll_back(existing_archive(options.archive), options.number, preview=not options.yes)
    data = {**difference_data(done.difference), "new_version": done.version}
    if done.version is not None:
        last = f"version {done.version} is version {options.number} again, and is served"
    elif done.same:
        last = f"the newest version equals version {options.number} already; nothing was changed"
    else:
        last = "nothing was changed; to do this, say --yes"
    return answer(data, [*done.difference.lines(), last], as_json=options.json)


def _rebuild(options: argparse.Namespace) -> int:
    name = rebuild(existing_archive(options.archive), options.version)
    return answer({"generation": name}, [f"generation {name} is built"], as_json=options.json)


def _verify(options: argparse.Namespace) -> int:
    problems = list(verify(existing_archive(options.archive)))
    last = f"{len(problems)} problems found" if problems else "everything is as it should be"
    code = Damaged.exit_code if problems else 0
    lines = [*problems, last]
    return answer({"problems": problems}, lines, as_json=options.json, exit_code=code)


def _prune(options: argparse.Namespace) -> int:
    removals = prune(existing_archive(options.archive), preview=not options.yes)
    lines = [f"{removal.name}: {removal.reason}" for removal in removals]
    size = sum(removal.size for removal in removals)
    count = f"{len(removals)} generation{'' if len(removals) == 1 else 's'}"
    if not removals:
        last = "no generation can go; the one served and the one before it stay"
    elif options.yes:
        last = f"{count} removed, {size:,} bytes; every version and every label is kept"
    else:
        last = (
            f"{count} would go, {size:,} bytes; every version and label stays. To do it, say --yes"
        )
    data = {"removals": [asdict(removal) for removal in removals], "bytes": size}
    return answer(data, [*lines, last], as_json=options.json)


def _backup(options: argparse.Namespace) -> int:
    size = back_up(existing_archive(options.archive), Path(options.file))
    last = f"{options.file} holds the whole catalogue, {size:,} bytes, and was checked"
    return answer({"file": options.file, "bytes": size}, [last], as_json=options.json)


def _restore(options: argparse.Namespace) -> int:
    archive = archive_at(options.archive)
    name = restore(archive, Path(options.file))
    last = f"{archive.root} is restored and generation {name} is served"
    return answer({"generation": name}, [last], as_json=options.json)


def _parser() -> Parser:
    parser = Parser(
        prog="python -m indexer",
        description="Keep an archive's corpus and indexes up to date.",
        epilog="exit codes: 0 done, 1 finished with failures, 2 usage or input, 3 busy, "
        "4 damaged, 130 interrupted",
    )
    common = Parser(add_help=False)
    common.add_argument(
        "--archive",
        metavar="DIR",
        help="the archive's folder (default: $COUNTERPOINT_ARCHIVE, else ./archive)",
    )
    common.add_argument("--json", action="store_true", help="print the result as JSON")
    feeding = Parser(add_help=False)
    feeding.add_argument("--message", default="", metavar="TEXT", help="why, for the version list")
    feeding.add_argument(
        "--encoder",
        default="",
        metavar="NAME",
        help="e5, minilm, or a sentence-transformers model (default: the one in use, else e5)",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def add(
        name: str,
        run: Callable[[argparse.Namespace], int],
        purpose: str,
        *parents: Parser,
    ) -> Parser:
        sentence = f"{purpose[0].upper()}{purpose[1:]}."
        command = commands.add_parser(
            name, parents=[common, *parents], help=purpose, description=sentence
        )
        command.set_defaults(run=run)
        return command

    command = add("ingest", _ingest, "read folders or files into a new corpus version", feeding)
    command.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="a folder or a file (default: the sources in the archive's archive.toml)",
    )
    command.add_argument(
        "--allow-retire",
        action="store_true",
        help="go on even if many documents' files are gone",
    )

    command = add("watch", _watch, "ingest now, and again whenever files have changed", feeding)
    command.add_argument(
        "paths", nargs="*", metavar="PATH", help="a folder (default: all the archive is fed from)"
    )
    command.add_argument(
        "--quiet",
        type=float,
        default=2.0,
        metavar="SECONDS",
        help="ingest once nothing has changed for so long (default: 2)",
    )
    command.add_argument(
        "--longest",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="ingest so long after a change whatever else goes on changing (default: 60)",
    )
    command.add_argument(
        "--poll",
        type=float,
        metavar="SECONDS",
        help="look for changes so often instead of being told by the system, which network shares "
        f"do not do (default there: {POLL_S:g})",
    )

    add("status", _status, "say what is served, and how the last ingest ended")
    add("versions", _versions, "list all corpus versions, newest first")

    command = add("diff", _diff, "say what differs between two corpus versions")
    command.add_argument("older", type=int, metavar="A", help="a version's number")
    command.add_argument("newer", type=int, metavar="B", help="the one to compare it with")

    command = add("show", _show, "print one document with its text, in any version")
    command.add_argument("document", metavar="DOC", help="its id or one of its paths")
    command.add_argument("--version", type=int, metavar="N", help="default: the newest")

    command = add("rollback", _rollback, "make a new version equal to an old one")
    command.add_argument("number", type=int, metavar="N", help="the old version's number")
    command.add_argument("--yes", action="store_true", help="do it; else only show what changes")

    command = add("rebuild", _rebuild, "build the indexes again from the catalogue")
    command.add_argument("--version", type=int, metavar="N", help="default: the newest")

    add("verify", _verify, "check the catalogue and both indexes against each other")

    command = add("prune", _prune, "remove generations that nobody needs, never a label")
    command.add_argument("--yes", action="store_true", help="do it; else only say which and why")

    command = add("backup", _backup, "copy the catalogue to one file while all goes on")
    command.add_argument("file", metavar="FILE", help="a file that is not there yet")

    command = add("restore", _restore, "make a new archive from a backup, which is checked first")
    command.add_argument("file", metavar="FILE", help="what backup wrote")
    return parser
