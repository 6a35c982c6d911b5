"""How long the what-if answers for the visible documents take.

    python -m bench.what_if [--shown 20] [--depth 100]

For two, three and five systems with random lists, some alike: milliseconds of processor time (the
middle and the slowest of several) for all pairs with their meetings, the order by k, by weight and
by depth, everything together, and that as JSON-ready data. Nothing here is a timed assertion.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

from app.query.depths import order_by_depth
from app.query.fuse import fuse
from app.query.protocol import Protocol, System
from app.query.ranking import Ranking, ranking_of
from app.query.spans import order_by_k, order_by_weight
from app.query.swaps import compare_all
from app.query.what_if import what_if

ROUNDS = 9


def main() -> None:
    """Print one table."""
    options = _options()
    print(f"{options.shown} documents, lists of {options.depth}: middle and slowest milliseconds")
    heads = ("pairs", "k", "weights", "depths", "all", "as data")
    print("systems " + " ".join(f"{head:>12}" for head in heads))
    for systems in (2, 3, 5):
        _measure(systems, options.depth, options.shown)


def _measure(systems: int, depth: int, shown: int) -> None:
    spent: dict[str, list[float]] = {}
    for number in range(ROUNDS):
        works = _works(*_case(random.Random(f"{systems} {number}"), systems, depth), shown)
        for name, work in works.items():
            started = time.process_time()
            work()
            spent.setdefault(name, []).append((time.process_time() - started) * 1e3)
    cells = [f"{statistics.median(all_):.0f} / {max(all_):.0f}" for all_ in spent.values()]
    print(f"{systems:>7} " + " ".join(f"{cell:>12}" for cell in cells))


def _works(
    rankings: list[Ranking], protocol: Protocol, shown: int
) -> dict[str, Callable[[], object]]:
    fused = fuse(rankings, protocol)
    hits = fused[:shown]
    names = [system.name for system in protocol.systems]
    comparisons = compare_all(hits)
    return {
        "pairs": lambda: compare_all(hits),
        "k": lambda: order_by_k(hits, comparisons),
        "weights": lambda: [order_by_weight(hits, protocol, name) for name in names],
        "depths": lambda: [
            order_by_depth(rankings, protocol, fused, name, shown) for name in names
        ],
        "all": lambda: what_if(rankings, protocol, fused, shown),
        "as data": lambda: what_if(rankings, protocol, fused, shown).as_data(),
    }


def _case(source: random.Random, systems: int, depth: int) -> tuple[list[Ranking], Protocol]:
    names = [f"d{number:04d}" for number in range(2 * depth)]
    rankings, members = [], []
    for number in range(systems):
        spread = source.choice((5, 30, 2 * depth))
        ids = sorted(names, key=lambda name: int(name[1:]) + source.gauss(0, spread))[:depth]
        rankings.append(ranking_of(f"s{number}", ids))
        weight = source.choice((Fraction(1), Fraction(1), Fraction("0.7")))
        members.append(System(f"s{number}", depth, weight))
    return rankings, Protocol(tuple(members), Fraction(source.choice((0, 60))))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.what_if", description=__doc__)
    parser.add_argument("--shown", type=int, default=20)
    parser.add_argument("--depth", type=int, default=100)
    return parser.parse_args()


if __name__ == "__main__":
    main()
