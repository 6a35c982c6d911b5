"""``python -m indexer``: the maintainer's commands.

Exit codes: 0 done, 1 finished with failures, 2 usage or input, 3 busy, 4 damaged, 130 interrupted.
Data goes to stdout, progress to stderr, and the last line is a one-line summary.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from indexer.ingest import Request, ingest
from indexer.status import read_status, status_lines, version_lines, versions_data
from store.archive import archive_at, existing_archive
from store.errors import CounterpointError

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

    command = commands.add_parser("versions", parents=[common], help="list all corpus versions")
    command.set_defaults(run=_versions)
    return parser
