"""nDCG@10 of each source list and of their fusion on collections with judgments.

    python -m bench.collections FOLDER... --work DIR [--encoder NAME] [--coverage SHARE] [--k K]
        [--weighting HOW] [--semantic WHEN]

A FOLDER has the BEIR layout, see :mod:`bench.judged`. Its corpus is ingested once into DIR/NAME and
every judged query is searched. The best of the three is marked *; the last columns are the fusion's
gain over the better source list, and the probability of a gain or loss as large by chance (10,000
random sign flips of the differences per query, always with the same seed). Nothing here is a timed
assertion, and no search is kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from app.query.protocol import DEFAULT_ASKED, DEFAULT_COVERAGE, DEFAULT_WEIGHTING, make_protocol
from app.query.search import Engines, search
from bench.judged import Judged, Values, load_collection
from store.catalogue import Catalogue

SYSTEMS = ("lexical", "semantic", "fused")
FLIPS = 10_000

Orders = dict[str, list[str]]


def main() -> None:
    """Ingest, search and print a line for each collection."""
    options = _options()
    print(f"{'collection':14}{'topics':>7}" + "".join(f"{name:>11}" for name in SYSTEMS), end="")
    print(f"{'gain':>9}{'p':>8}")
    for folder in options.folders:
        judged = load_collection(folder, options.work, options.encoder)
        print(_line(judged, options), flush=True)


def _line(judged: Judged, options: argparse.Namespace) -> str:
    values = {name: judged.ndcg(orders) for name, orders in _orders(judged, options).items()}
    means = {name: float(values[name].mean()) for name in SYSTEMS}
    best = max(means.values())
    better = max(SYSTEMS[:2], key=lambda name: means[name])
    gains = values["fused"] - values[better]
    cells = "".join(
        f"{means[name]:>10.3f}" + ("*" if means[name] == best else " ") for name in SYSTEMS
    )
    return (
        f"{judged.name:14}{len(judged.queries):>7}{cells}"
        f"{gains.mean():>+9.3f}{_by_chance(gains):>8.3f}"
    )


def _orders(judged: Judged, options: argparse.Namespace) -> dict[str, Orders]:
    """Every list of every query, by system, as document ids."""
    engines = Engines(judged.archive)
    protocol = make_protocol(
        k=options.k,
        coverage=options.coverage,
        asked=options.semantic,
        weighting=options.weighting,
    )
    orders: dict[str, Orders] = {name: {} for name in SYSTEMS}
    with Catalogue(judged.archive) as catalogue:
        for name, text in judged.queries.items():
            record = search(engines, catalogue, text, protocol, keep=False).record
            for ranking in record.rankings:
                orders[ranking.system][name] = [hit.id for hit in ranking.hits]
            orders["fused"][name] = [hit.id for hit in record.fused]
    return orders


def _by_chance(differences: Values) -> float:
    """How often random signs give a mean as far from zero as the one that was measured."""
    random = np.random.default_rng(20_000)
    seen = abs(differences.mean())
    signs = random.choice((-1.0, 1.0), size=(FLIPS, len(differences)))
    means = np.abs(signs @ differences) / len(differences)
    return float((means >= seen - 1e-12).mean())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--work", type=Path, required=True, metavar="DIR")
    parser.add_argument("--encoder", default="")
    parser.add_argument("--k", default="60")
    parser.add_argument("--coverage", default=str(DEFAULT_COVERAGE))
    parser.add_argument("--semantic", default=DEFAULT_ASKED)
    parser.add_argument("--weighting", default=DEFAULT_WEIGHTING)
    return parser.parse_args()


if __name__ == "__main__":
    main()
