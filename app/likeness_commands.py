"""``python -m app likeness``: how much the systems of the last searches agreed."""

from __future__ import annotations

import argparse
import json
from typing import Any

from app.query.likeness import ALIKE, LEAST_SEARCHES, Likeness, likenesses
from app.query.protocol import Protocol
from app.query.protocol_data import protocol_from_data
from app.query.ranking import Ranking, ranking_of
from store.archive import existing_archive
from store.catalogue import Catalogue
from store.errors import BadInput
from store.records import kept_searches

LAST = 100


def add_commands(commands: Any, where: argparse.ArgumentParser) -> None:
    """Add ``likeness``; ``where`` has the options that lead to an archive."""
    command = commands.add_parser(
        "likeness", parents=[where], help="how much the systems agreed over the last searches"
    )
    command.add_argument(
        "--last",
        type=int,
        default=LAST,
        metavar="N",
        help="over so many kept searches, each different one once (default: %(default)s)",
    )
    command.add_argument("--json", action="store_true", help="print them as JSON")
    command.set_defaults(run=_likeness)


def _likeness(options: argparse.Namespace) -> int:
    if options.last < 1:
        raise BadInput(f"--last is a number of searches, at least 1, not {options.last}")
    with Catalogue(existing_archive(options.archive)) as catalogue:
        bodies = [one.body for one in kept_searches(catalogue, options.last)]
    searches: dict[Protocol, list[list[Ranking]]] = {}
    older = 0
    for body in map(json.loads, bodies):
        try:
            protocol = protocol_from_data(body["protocol"])
        except BadInput:
            older += 1
        else:
            searches.setdefault(protocol, []).append(_rankings(body, protocol))
    found = {protocol: likenesses(lists, protocol) for protocol, lists in searches.items()}
    if options.json:
        print(json.dumps([_data(*entry) for entry in found.items()], indent=2))
        return 0
    for protocol, pairs in found.items():
        print(f"protocol {protocol.short_hash}, searches: {len(searches[protocol])}")
        for pair in pairs:
            print(f"  {_line(pair)}")
        if not pairs:
            print("  no two systems were heard in one of them")
    if older:
        print(f"note: searches of a protocol that is no longer made were left out: {older}")
    print(f"{len(bodies)} of the last {options.last} different searches were kept")
    return 0


def _line(pair: Likeness) -> str:
    said = pair.sentence if pair.near_identical else f"{pair.first} and {pair.second}"
    numbers = f"RBO {pair.rbo:.3f}, overlap {pair.overlap:.3f}, {pair.searches} searches"
    return f"{said}: {numbers}" if not pair.near_identical else f"{said} ({numbers})"


def _rankings(body: dict[str, Any], protocol: Protocol) -> list[Ranking]:
    rankings = []
    for system in protocol.systems:
        kept = body["rankings"][system.name]
        ids = [hit[0] for hit in kept["hits"]]
        heard = not (kept["unavailable"] or kept["not_asked"])
        if heard:
            rankings.append(ranking_of(system.name, ids, depth=system.depth))
    return rankings


def _data(protocol: Protocol, pairs: tuple[Likeness, ...]) -> dict[str, Any]:
    return {
        "protocol": protocol.hash,
        "nearly_the_same_from": {"rbo": float(ALIKE), "searches": LEAST_SEARCHES},
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "searches": pair.searches,
                "rbo": pair.rbo,
                "overlap": pair.overlap,
                "votes": str(pair.votes),
                "family": pair.family,
                "nearly_the_same": pair.near_identical,
                "sentence": pair.sentence,
            }
            for pair in pairs
        ],
    }
