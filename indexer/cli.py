"""``python -m indexer``: the maintainer's commands.

Exit codes: 0 done, 1 finished with failures, 2 usage or input, 3 busy, 4 damaged, 130 interrupted.
Data goes to stdout, progress to stderr, and the last line is a one-line summary.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from indexer.checking import verify
from indexer.compare import compare, difference_data
from indexer.ingest import Request, ingest
from indexer.status import (
    document_data,
    document_lines,
    read_status,
    status_lines,
    version_lines,
    versions_data,
)
from indexer.upkeep import back_up, prune, rebuild, restore, roll_back
from store.archive import archive_at, existing_archive
from store.catalogue import Catalogue
from store.errors import CounterpointError, Damaged, is_full_disk, no_space

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except CounterpointError as error:
        return _refuse(options, str(error), error.exit_code)
    except KeyboardInterrupt:
        return _refuse(
            options,
            "interrupted; what was served before is still served, run the command again to go on",
            INTERRUPTED,
        )
    except OSError as error:
        if is_full_disk(error):
            full = no_space(archive_at(options.archive).root)
            return _refuse(options, str(full), full.exit_code)
        where = f" ({error.filename})" if error.filename else ""
        return _refuse(
            options,
            f"{error.strerror or error}{where}; what was served before is still served",
            2,
        )
    return code


def _ingest(options: argparse.Namespace) -> int:
    request = Request(
        paths=tuple(Path(path) for path in options.paths),
        message=options.message,
        encoder=options.encoder,
        allow_retire=options.allow_retire,
    )
    report = ingest(archive_at(options.archive), request)
    _print(options, report.as_data(), [*report.lines(), report.summary()])
    return report.exit_code


def _status(options: argparse.Namespace) -> int:
    status = read_status(existing_archive(options.archive))
    _print(options, status, status_lines(status))
    return 0


def _versions(options: argparse.Namespace) -> int:
    versions = versions_data(existing_archive(options.archive))
    _print(options, versions, version_lines(versions))
    return 0


def _diff(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        difference = compare(
            catalogue, catalogue.version(options.older), catalogue.version(options.newer)
        )
    _print(options, difference_data(difference), list(difference.lines()))
    return 0


def _show(options: argparse.Namespace) -> int:
    data = document_data(existing_archive(options.archive), options.document, options.version)
    _print(options, data, document_lines(data))
    return 0


def _rollback(options: argparse.Namespace) -> int:
    done = roll_back(existing_archive(options.archive), options.number, preview=not options.yes)
    data = {**difference_data(done.difference), "new_version": done.version}
    if done.version is not None:
        last = f"version {done.version} is version {options.number} again, and is served"
    elif options.yes:
        last = f"the newest version equals version {options.number} already; nothing was changed"
    else:
        last = "nothing was changed; to do this, say --yes"
    _print(options, {**data, "summary": last}, [*done.difference.lines(), last])
    return 0


def _rebuild(options: argparse.Namespace) -> int:
    name = rebuild(existing_archive(options.archive), options.version)
    last = f"generation {name} is built"
    _print(options, {"generation": name, "summary": last}, [last])
    return 0


def _verify(options: argparse.Namespace) -> int:
    problems = list(verify(existing_archive(options.archive)))
    last = f"{len(problems)} problems found" if problems else "everything is as it should be"
    _print(options, {"problems": problems, "summary": last}, [*problems, last])
    return Damaged.exit_code if problems else 0


def _prune(options: argparse.Namespace) -> int:
    removals = prune(existing_archive(options.archive), preview=not options.yes)
    lines = [f"{removal.name}: {removal.reason}" for removal in removals]
    done = "removed" if options.yes else "would go; to remove them, say --yes"
    last = f"{len(removals)} generations {done}"
    data = {"removals": [asdict(removal) for removal in removals], "summary": last}
    _print(options, data, [*lines, last])
    return 0


def _backup(options: argparse.Namespace) -> int:
    size = back_up(existing_archive(options.archive), Path(options.file))
    last = f"{options.file} holds the whole catalogue, {size:,} bytes, and was checked"
    _print(options, {"file": options.file, "bytes": size, "summary": last}, [last])
    return 0


def _restore(options: argparse.Namespace) -> int:
    archive = archive_at(options.archive)
    name = restore(archive, Path(options.file))
    last = f"{archive.root} is restored and generation {name} is served"
    _print(options, {"generation": name, "summary": last}, [last])
    return 0


def _print(options: argparse.Namespace, data: Any, lines: Sequence[str]) -> None:
    if options.json:
        print(json.dumps(data, ensure_ascii=False, indent=2))
    else:
        print("\n".join(lines))


def _refuse(options: argparse.Namespace, message: str, code: int) -> int:
    if options.json:
        print(json.dumps({"error": message, "exit_code": code}, ensure_ascii=False))
    print(f"indexer: {message}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m indexer", description="Keep an archive's corpus and indexes up to date."
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--archive",
        metavar="DIR",
        help="the archive's folder (default: $COUNTERPOINT_ARCHIVE, else ./archive)",
    )
    common.add_argument("--json", action="store_true", help="print the result as JSON")
    commands = parser.add_subparsers(dest="command", required=True)

    command = commands.add_parser(
        "ingest", parents=[common], help="read folders or files into a new corpus version"
    )
    command.add_argument("paths", nargs="+", metavar="PATH", help="a folder or a file")
    command.add_argument("--message", default="", metavar="TEXT", help="why, for the version list")
    command.add_argument(
        "--encoder",
        default="",
        metavar="NAME",
        help="e5, minilm, or a sentence-transformers model (default: the one in use, else e5)",
    )
    command.add_argument(
        "--allow-retire",
        action="store_true",
        help="go on even if many documents' files are gone",
    )
    command.set_defaults(run=_ingest)

    command = commands.add_parser(
        "status", parents=[common], help="what is served, and how the last ingest ended"
    )
    command.set_defaults(run=_status)

    command = commands.add_parser(
        "diff", parents=[common], help="what differs between two corpus versions"
    )
    command.add_argument("older", type=int, metavar="A")
    command.add_argument("newer", type=int, metavar="B")
    command.set_defaults(run=_diff)

    command = commands.add_parser("show", parents=[common], help="one document, in any version")
    command.add_argument("document", metavar="DOC", help="its id or one of its paths")
    command.add_argument("--version", type=int, metavar="N", help="default: the newest")
    command.set_defaults(run=_show)

    command = commands.add_parser(
        "rollback", parents=[common], help="make a new version equal to an old one"
    )
    command.add_argument("number", type=int, metavar="N")
    command.add_argument("--yes", action="store_true", help="do it; else only show what changes")
    command.set_defaults(run=_rollback)

    command = commands.add_parser(
        "rebuild", parents=[common], help="build the indexes again from the catalogue"
    )
    command.add_argument("--version", type=int, metavar="N", help="default: the newest")
    command.set_defaults(run=_rebuild)

    command = commands.add_parser(
        "verify", parents=[common], help="check the catalogue and both indexes against each other"
    )
    command.set_defaults(run=_verify)

    command = commands.add_parser(
        "prune", parents=[common], help="remove generations that nobody needs, never a label"
    )
    command.add_argument("--yes", action="store_true", help="do it; else only say which and why")
    command.set_defaults(run=_prune)

    command = commands.add_parser(
        "backup", parents=[common], help="copy the catalogue to one file while all goes on"
    )
    command.add_argument("file", metavar="FILE")
    command.set_defaults(run=_backup)

    command = commands.add_parser(
        "restore", parents=[common], help="make a new archive from a backup, which is checked first"
    )
    command.add_argument("file", metavar="FILE")
    command.set_defaults(run=_restore)

    command = commands.add_parser("versions", parents=[common], help="list all corpus versions")
    command.set_defaults(run=_versions)
    return parser
