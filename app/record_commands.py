"""``python -m app records`` and ``replay``: kept searches found, compared and asked again."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from app.query.compare_records import compare
from app.query.replay import Verdict, replay
from app.query.stored_record import StoredRecord, read_stored
from app.query.trec import trec_lines
from store.archive import existing_archive
from store.catalogue import Catalogue
from store.errors import BadInput
from store.records import (
    KeptSearch,
    find_record,
    kept_searches,
    pin_record,
    read_record,
    unpin_record,
)

FAILED = 1


def register(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], where: argparse.ArgumentParser
) -> None:
    """Add both commands to ``commands``; ``where`` are the flags that name the archive."""
    command = commands.add_parser(
        "replay",
        parents=[where],
        help="ask a kept search again, of the version it was made on: does the answer stand?",
    )
    command.add_argument("record", metavar="ID|FILE")
    command.add_argument(
        "--rebuild",
        action="store_true",
        help="build the indexes of that version where they are not on disk any more",
    )
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=_replay)

    command = commands.add_parser("records", help="kept searches")
    actions = command.add_subparsers(dest="action", required=True)
    action = actions.add_parser("list", parents=[where], help="the last ones")
    action.add_argument("--last", type=int, default=20, metavar="N")
    action.add_argument("--pinned", action="store_true", help="only pinned ones")
    action.add_argument("--by", default="", metavar="NAME", help="only those that NAME asked")
    action.add_argument("--json", action="store_true")
    action.set_defaults(run=_list)
    action = actions.add_parser("show", parents=[where], help="one, as its canonical JSON")
    action.add_argument("record", metavar="ID")
    action.set_defaults(run=_show)
    action = actions.add_parser(
        "compare", parents=[where], help="which protocol fields differ, and which ranks moved"
    )
    action.add_argument("one", metavar="ID|FILE")
    action.add_argument("other", metavar="ID|FILE")
    action.add_argument("--shown", type=int, default=10, metavar="N")
    action.add_argument("--json", action="store_true")
    action.set_defaults(run=_compare)
    action = actions.add_parser("pin", parents=[where], help="mark one, to find it again")
    action.add_argument("record", metavar="ID")
    action.add_argument("--note", default="")
    action.set_defaults(run=_pin)
    action = actions.add_parser("unpin", parents=[where], help="take the mark away")
    action.add_argument("record", metavar="ID")
    action.set_defaults(run=_unpin)
    action = actions.add_parser(
        "export", parents=[where], help="records as JSON lines, or their lists as a TREC run"
    )
    action.add_argument("records", nargs="+", metavar="ID")
    action.add_argument("--format", choices=("json", "trec"), default="json")
    action.set_defaults(run=_export)


def _replay(options: argparse.Namespace) -> int:
    archive = existing_archive(options.archive)
    with Catalogue(archive) as catalogue:
        answer = replay(
            archive, catalogue, _stored(catalogue, options.record), rebuild=options.rebuild
        )
    if options.json:
        _print_json(answer.as_data())
    else:
        print(f"{answer.verdict}: {answer.sentence} ({answer.record_id})")
    return 0 if answer.verdict is Verdict.VALID else FAILED


def _list(options: argparse.Namespace) -> int:
    if options.last < 1:
        raise BadInput(f"--last is a number of records, at least 1, not {options.last}")
    with Catalogue(existing_archive(options.archive)) as catalogue:
        found = kept_searches(catalogue, options.last, pinned=options.pinned, searcher=options.by)
    if options.json:
        _print_json([_summary(one) for one in found])
        return 0
    for one in found:
        summary = _summary(one)
        pinned = f"  pinned {one.note}".rstrip() if one.pinned else ""
        print(
            f"{one.record_id.removeprefix('sha256:')[:12]}  {one.searched_at}  "
            f"{one.searcher or '-'}  version {summary['corpus_version']}  "
            f"protocol {summary['protocol'].removeprefix('sha256:')[:8]}  "
            f"{summary['query']!r}{pinned}"
        )
    print(f"{len(found)} records; they are kept for good")
    return 0


def _summary(one: KeptSearch) -> dict[str, Any]:
    body = json.loads(one.body)
    return {
        "record_id": one.record_id,
        "searched_at": one.searched_at,
        "searcher": one.searcher,
        "searches": one.searches,
        "query": body["query"],
        "corpus_version": body["corpus_version"],
        "protocol": body["protocol"]["hash"],
        "pinned": one.pinned or None,
        "note": one.note,
    }


def _show(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        print(read_record(catalogue, find_record(catalogue, options.record)))
    return 0


def _compare(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        found = compare(
            _stored(catalogue, options.one), _stored(catalogue, options.other), options.shown
        )
    if options.json:
        _print_json(found.as_data())
        return 0
    for name, before, after in (*found.asked, *found.protocol):
        print(f"{name}: {before} → {after}")
    if found.warning:
        print(f"note: {found.warning}")
    for one in found.moved:
        print(f"{one.before or '-':>5} → {one.after or '-':<5} {one.id}")
    same = "the same" if not found.moved else f"{len(found.moved)} moved"
    print(f"the first {found.shown} of both: {same}")
    return 0


def _pin(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        record_id = find_record(catalogue, options.record)
        pin_record(catalogue, record_id, options.note)
    print(f"pinned {record_id}")
    return 0


def _unpin(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        record_id = find_record(catalogue, options.record)
        was = unpin_record(catalogue, record_id)
    print(f"unpinned {record_id}" if was else f"{record_id} was not pinned")
    return 0


def _export(options: argparse.Namespace) -> int:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        for named in options.records:
            stored = _stored(catalogue, named)
            if options.format == "json":
                print(json.dumps(dict(stored.body), sort_keys=True, ensure_ascii=False))
            else:
                sys.stdout.writelines(trec_lines(stored))
    return 0


def _stored(catalogue: Catalogue, named: str) -> StoredRecord:
    """A record by its id or its first digits, or from a file of its JSON."""
    path = Path(named)
    if path.suffix or path.is_file():
        try:
            return read_stored(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path} cannot be read ({error})") from error
    record_id = find_record(catalogue, named)
    return read_stored(read_record(catalogue, record_id), record_id)


def _print_json(data: object) -> None:
    print(json.dumps(data, ensure_ascii=False, indent=2))
