"""``python -m app fuse``: fuse ranked lists that other services made, with every part shown."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from app.query.explain import sum_in_words
from app.query.fuse import FusedList, fuse
from app.query.fusions import FUSIONS
from app.query.lists import Run, protocol_of, read_runs
from app.query.protocol import DEFAULT_K, Protocol
from app.query.record import part_data, ratio
from app.system_values import pairs, whole
from store.errors import BadInput

ROWS = 10


def add_commands(commands: Any) -> None:
    """Add ``fuse`` to the subparsers of the command line."""
    command = commands.add_parser("fuse", help="fuse ranked lists from TREC run files and JSON")
    command.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="a file, or NAME=FILE: a TREC run, a JSON list of ids or of objects with an id and "
        "perhaps a score, or an object of such lists by topic",
    )
    command.add_argument("--k", default=str(DEFAULT_K), help="as in a search (default: 60)")
    command.add_argument(
        "--depth",
        action="append",
        default=[],
        metavar="RUN=N",
        help="where a run's lists are cut (default: the longest is not)",
    )
    command.add_argument(
        "--weight",
        action="append",
        default=[],
        metavar="RUN=W",
        help="what its vote weighs, as 2, 0.1 or 1/4 (default: 1)",
    )
    command.add_argument("--fusion", choices=list(FUSIONS), default="rrf")
    command.add_argument(
        "--limit", type=int, help=f"rows of each topic (default: {ROWS}; with --json all)"
    )
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    command.set_defaults(run=_fuse)


def _fuse(options: argparse.Namespace) -> int:
    if options.limit is not None and options.limit < 1:
        raise BadInput(f"--limit is a number of rows, at least 1, not {options.limit}")
    runs = read_runs(options.runs)
    protocol = protocol_of(
        runs,
        k=options.k,
        depths={name: whole(name, value) for name, value in pairs("--depth", options.depth)},
        weights=dict(pairs("--weight", options.weight)),
        fusion=options.fusion,
    )
    fused = {
        topic: fuse(
            [
                run.ranking(topic, system.depth)
                for run, system in zip(runs, protocol.systems, strict=True)
            ],
            protocol,
        )
        for topic in dict.fromkeys(topic for run in runs for topic in run.lists)
    }
    if options.json:
        body = _data(runs, protocol, fused, options.limit)
        print(json.dumps(body, ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(runs, protocol, fused, options.limit or ROWS)))
    return 0


def _lines(
    runs: Sequence[Run], protocol: Protocol, fused: Mapping[str, FusedList], limit: int
) -> list[str]:
    systems = ", ".join(f"{system.name} to depth {system.depth}" for system in protocol.systems)
    by = f"k = {protocol.k}" if FUSIONS[protocol.fusion].k else f"fused by {protocol.fusion}"
    lines = [f"protocol {protocol.short_hash} ({by}; {systems})"]
    lines += [f"note: {run.name}: {note}" for run in runs for note in run.notes]
    for topic, hits in fused.items():
        lines += [f"topic {topic}"] if topic else []
        lines += [f"{hit.rank:>3}  {hit.id}  {sum_in_words(hit)}" for hit in hits[:limit]]
    candidates = sum(map(len, fused.values()))
    return [*lines, f"{candidates} candidates of {len(fused)} topic{'s' * (len(fused) != 1)}"]


def _data(
    runs: Sequence[Run], protocol: Protocol, fused: Mapping[str, FusedList], limit: int | None
) -> dict[str, Any]:
    return {
        "protocol": {**protocol.as_data(), "hash": protocol.hash},
        "runs": [{"name": run.name, "notes": list(run.notes)} for run in runs],
        "topics": [
            {
                "topic": topic,
                "candidates": len(hits),
                "fused": [
                    {
                        "id": hit.id,
                        "rank": hit.rank,
                        "score": ratio(hit.score.numerator, hit.score.denominator),
                        "score_decimal": f"{float(hit.score):.12f}",
                        "parts": part_data(hit.parts),
                    }
                    for hit in hits[:limit]
                ],
            }
            for topic, hits in fused.items()
        ],
    }
