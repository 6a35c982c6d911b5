"""What each decision about the lists bought, and whether the weights hold on what they never saw.

    python -m bench.decisions FOLDER... --work DIR [--queries QUERIES.jsonl --archive DIR]

Two tables of nDCG@10, from one search of every query for each coverage:

- decisions: the fusion as it is by default, and with one decision after another taken back;
- folds: for each collection, the weights by share held that were best on all the *others*, and what
  they give on this one, beside its better source list and the default weights.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np

from app.query.emphasis import DEFAULT_EMPHASIS, Emphasis, Step
from app.query.fuse import fuse
from app.query.protocol import LEXICAL, SEMANTIC, Protocol, make_protocol
from app.query.ranking import Ranking
from app.query.search import Engines, search
from bench.judged import Judged, Values, load_collection, load_technician
from store.catalogue import Catalogue

Lists = Mapping[str, tuple[Ranking, ...]]

GRID = tuple(
    Emphasis((Step(Fraction(0), low), Step(from_middle, middle), Step(from_high, high)))
    for low, middle, high, from_middle, from_high in product(
        (Fraction(1, 3), Fraction(1, 2), Fraction(1)),
        (Fraction(4, 5), Fraction(1), Fraction(5, 4)),
        (Fraction(1), Fraction(2), Fraction(4)),
        (Fraction(3, 10), Fraction(1, 2)),
        (Fraction(7, 10), Fraction(9, 10)),
    )
)


@dataclass(frozen=True, slots=True)
class Searched:
    """One collection with the rankings of its queries, with coverage and without, all asked."""

    judged: Judged
    covered: Lists
    uncovered: Lists

    def fused(self, protocol: Protocol, lists: Lists | None = None) -> Values:
        """nDCG@10 of each query under ``protocol``."""
        lists = self.covered if lists is None else lists
        return self.judged.ndcg(
            {query: [hit.id for hit in fuse(some, protocol)] for query, some in lists.items()}
        )

    def better_list(self) -> float:
        """The better source list's mean."""
        return max(
            float(
                self.judged.ndcg(
                    {
                        query: [
                            hit.id
                            for ranking in some
                            if ranking.system == system
                            for hit in ranking.hits
                        ]
                        for query, some in self.covered.items()
                    }
                ).mean()
            )
            for system in (LEXICAL, SEMANTIC)
        )


def main() -> None:
    """Search once, fuse many times, print both tables."""
    options = _options()
    loaded = [load_collection(folder, options.work) for folder in options.folders]
    if options.queries:
        loaded.append(load_technician(options.queries, options.archive))
    searched = [_searched(judged) for judged in loaded]
    _decisions(searched)
    _folds(searched)


def _searched(judged: Judged) -> Searched:
    found = []
    for coverage in (None, 0):
        changed = {} if coverage is None else {"coverage": coverage}
        protocol = make_protocol(**changed)
        lists: dict[str, tuple[Ranking, ...]] = {}
        engines = Engines(judged.archive)
        with Catalogue(judged.archive) as catalogue:
            for name, text in judged.queries.items():
                record = search(engines, catalogue, text, protocol, keep=False).record
                lists[name] = record.rankings
        found.append(lists)
    return Searched(judged, *found)


def _decisions(searched: Sequence[Searched]) -> None:
    default, fixed = make_protocol(), make_protocol(weighting="fixed")
    rows: list[tuple[str, Callable[[Searched], float]]] = [
        ("better source list", Searched.better_list),
        ("default", lambda one: float(one.fused(default).mean())),
        ("weights fixed at 1:1", lambda one: float(one.fused(fixed).mean())),
        (
            "and coverage 0",
            lambda one: float(
                one.fused(make_protocol(weighting="fixed", coverage=0), one.uncovered).mean()
            ),
        ),
    ]
    print(f"{'nDCG@10 of the fusion':24}" + "".join(f"{one.judged.name:>14}" for one in searched))
    for name, value in rows:
        print(f"{name:24}" + "".join(f"{value(one):>14.3f}" for one in searched), flush=True)


def _folds(searched: Sequence[Searched]) -> None:
    default = make_protocol()
    means = np.array(
        [
            [float(one.fused(_with(default, emphasis)).mean()) for emphasis in GRID]
            for one in searched
        ]
    )
    better = np.array([one.better_list() for one in searched])
    gains = means - better[:, None]
    print(f"\n{'left out':14}{'better list':>13}{'chosen on others':>18}{'default':>10}  chosen")
    for place, one in enumerate(searched):
        others = np.delete(gains, place, axis=0).mean(axis=0)
        chosen = int(others.argmax())
        print(
            f"{one.judged.name:14}{better[place]:>13.3f}{means[place, chosen]:>18.3f}"
            f"{float(one.fused(default).mean()):>10.3f}  {GRID[chosen].as_data()}"
        )
    print(f"default: {DEFAULT_EMPHASIS.as_data()}, one of {len(GRID)} tried")


def _with(protocol: Protocol, emphasis: Emphasis) -> Protocol:
    systems = [
        replace(system, emphasis=emphasis) if system.name == LEXICAL else system
        for system in protocol.systems
    ]
    return replace(protocol, systems=tuple(systems))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--work", type=Path, required=True, metavar="DIR")
    parser.add_argument("--queries", type=Path, metavar="QUERIES.jsonl")
    parser.add_argument("--archive", type=Path, metavar="DIR")
    options = parser.parse_args()
    if bool(options.queries) != bool(options.archive):
        parser.error("--queries needs --archive, and the reverse")
    return options


if __name__ == "__main__":
    main()
