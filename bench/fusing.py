"""How long it takes to fuse two lists exactly, against the same sum in plain floats.

    python -m bench.fusing [--length 1000]
    python -m bench.fusing --check 100000 [--seed 1]

The first form fuses two lists that share none, a third, two thirds and all of their documents, at
several k, and prints milliseconds (the fastest of many runs) and the ratio to a dictionary of
floats sorted with ties by id, measured in the same run; then what it costs to look at every hit as
well. The second compares the order with that of fractions on so many random and hostile cases and
ends at the first difference. Nothing here is a timed assertion.
"""

from __future__ import annotations

import argparse
import random
import sys
import timeit
from collections.abc import Callable, Sequence
from fractions import Fraction

from app.query.exact_order import exact_order
from app.query.fuse import fuse
from app.query.fusions import reciprocal
from app.query.protocol import Protocol, System
from app.query.ranking import ranking_of

Weighted = list[tuple[list[str], Fraction]]
KINDS = ("plain", "large k", "decimal weights", "huge ratios", "copies")
REPEATS = 25


def main() -> int:
    """Measure, or check."""
    options = _options()
    if options.check:
        return _check(options.check, options.seed)
    print(f"two lists of {options.length:,}, milliseconds")
    print(f"{'shared':>7} {'k':>14} {'exact':>7} {'floats':>7} {'ratio':>6} {'with hits':>10}")
    for shared in (0, options.length // 3, 2 * options.length // 3, options.length):
        for k in (0, 60, Fraction("60.5"), 10**12):
            _measure(options.length, shared, Fraction(k))
    return 0


def _measure(length: int, shared: int, k: Fraction) -> None:
    source = random.Random(shared)
    names = [f"document-{number:05d}" for number in range(2 * length - shared)]
    source.shuffle(names)
    lists = [names[:length], names[length - shared :]]
    for ids in lists:
        source.shuffle(ids)
    rankings = [ranking_of(name, ids) for name, ids in zip(("one", "two"), lists, strict=True)]
    protocol = Protocol((System("one", length), System("two", length)), k)
    constant = float(k)
    exact = _milliseconds(lambda: fuse(rankings, protocol))
    floats = _milliseconds(lambda: _plain(lists, constant))
    hits = _milliseconds(lambda: list(fuse(rankings, protocol)))
    print(
        f"{shared:>7} {k!s:>14} {exact:>7.2f} {floats:>7.2f} {exact / floats:>6.2f} {hits:>10.2f}"
    )


def _milliseconds(work: Callable[[], object]) -> float:
    return min(timeit.repeat(work, number=1, repeat=REPEATS)) * 1e3


def _plain(lists: Sequence[Sequence[str]], k: float) -> list[tuple[str, float]]:
    """What most programs do."""
    sums: dict[str, float] = {}
    for ids in lists:
        for rank, name in enumerate(ids, start=1):
            sums[name] = sums.get(name, 0.0) + 1 / (k + rank)
    return sorted(sums.items(), key=lambda entry: (-entry[1], entry[0]))


def _check(cases: int, seed: int) -> int:
    source = random.Random(seed)
    for number in range(1, cases + 1):
        kind = source.choice(KINDS)
        given, k = random_case(source, kind, source.choice((3, 8, 30, 100)))
        votes = [reciprocal(ranking_of("list", ids), weight, k) for ids, weight in given]
        if exact_order(votes) != slow_order(given, k):
            print(f"case {number} differs ({kind}): k = {k}, {given}")
            return 1
    print(f"{cases:,} cases: every order is that of fractions")
    return 0


def slow_order(given: Weighted, k: Fraction) -> list[str]:
    """The order by definition: every sum a fraction, equal sums by id."""
    sums: dict[str, Fraction] = {}
    for ids, weight in given:
        for rank, name in enumerate(ids, start=1):
            sums[name] = sums.get(name, Fraction(0)) + weight / (k + rank)
    return sorted(sums, key=lambda name: (-sums[name], name))


def random_case(source: random.Random, kind: str, length: int) -> tuple[Weighted, Fraction]:
    """Lists of at most ``length`` ids with weights, and a k; ``kind`` is one of ``KINDS``."""
    names = [f"d{number:04d}" for number in range(max(2, source.randrange(length, 2 * length)))]
    count = source.randrange(1, 5)
    lists = [source.sample(names, source.randrange(1, min(length, len(names)) + 1))] * count
    if kind != "copies":
        lists = [source.sample(ids, source.randrange(1, len(ids) + 1)) for ids in lists]
        # Some swapped neighbours make many sums that are equal or almost so.
        for ids in lists[1:]:
            if source.random() < 0.5:
                ids[:] = sorted(lists[0], key=lambda name: source.gauss(lists[0].index(name), 2))
    weights = {
        "decimal weights": lambda: Fraction(source.choice(("0.1", "0.2", "0.3", "0.7", "1.1"))),
        "huge ratios": lambda: Fraction(10) ** source.randrange(-12, 13),
    }.get(kind, lambda: Fraction(1))
    k = {
        "large k": Fraction(10 ** source.randrange(6, 13)),
        "decimal weights": Fraction(source.randrange(0, 1000), 10),
    }.get(kind, Fraction(source.choice((0, 1, 60, 100))))
    return [(ids, weights()) for ids in lists], k


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.fusing", description=__doc__)
    parser.add_argument("--length", type=int, default=1000, help="entries of a list")
    parser.add_argument("--check", type=int, default=0, metavar="CASES")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
