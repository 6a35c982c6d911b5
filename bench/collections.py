"""nDCG@10 of each source list and of their fusion on collections with judgments.

    python -m bench.collections FOLDER... --work DIR [--encoder NAME] [--coverage SHARE] [--k K]

A FOLDER has the BEIR layout: `corpus.jsonl` (or `.gz`), `queries.jsonl` and `qrels/test.tsv`. Its
corpus is ingested once into DIR/NAME, as any maintainer would ingest it, and every judged query is
searched. The best of the three is marked *; the last columns are the fusion's gain over the better
source list, and the probability of a gain or loss as large by chance (10,000 random sign flips of
the differences per query, always with the same seed). Nothing here is a timed assertion, and no
search is kept.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterator
from pathlib import Path

import ir_measures
import numpy as np
from ir_measures import nDCG

from app.query.protocol import DEFAULT_ASKED, DEFAULT_COVERAGE, make_protocol
from app.query.search import Engines, search
from indexer.ingest import Request, ingest
from store.archive import Archive
from store.catalogue import Catalogue

MEASURE = nDCG @ 10
SYSTEMS = ("lexical", "semantic", "fused")
FLIPS = 10_000

Run = dict[str, dict[str, float]]


def main() -> None:
    """Ingest, search and print a line for each collection."""
    options = _options()
    print(f"{'collection':14}{'topics':>7}" + "".join(f"{name:>11}" for name in SYSTEMS), end="")
    print(f"{'gain':>9}{'p':>8}")
    for folder in options.folders:
        print(_line(folder, options), flush=True)


def _line(folder: Path, options: argparse.Namespace) -> str:
    archive = Archive(options.work / folder.name)
    corpus = next(path for path in sorted(folder.glob("corpus.jsonl*")))
    ingest(archive, Request((corpus,), encoder=options.encoder))
    qrels = _qrels(folder / "qrels" / "test.tsv")
    queries = {name: text for name, text in _queries(folder) if name in qrels}
    runs = _runs(archive, queries, options)
    values = {name: _per_query(qrels, runs[name], sorted(queries)) for name in SYSTEMS}
    means = {name: float(values[name].mean()) for name in SYSTEMS}
    best = max(means.values())
    better = max(SYSTEMS[:2], key=lambda name: means[name])
    gains = values["fused"] - values[better]
    cells = "".join(
        f"{means[name]:>10.3f}" + ("*" if means[name] == best else " ") for name in SYSTEMS
    )
    return f"{folder.name:14}{len(queries):>7}{cells}{gains.mean():>+9.3f}{_by_chance(gains):>8.3f}"


def _runs(archive: Archive, queries: dict[str, str], options: argparse.Namespace) -> dict[str, Run]:
    """The first ten documents of every list for every query, scored by place."""
    engines = Engines(archive)
    version = engines.backend.manifest.inputs.corpus_version
    protocol = make_protocol(k=options.k, coverage=options.coverage, asked=options.semantic)
    runs: dict[str, Run] = {name: {} for name in SYSTEMS}
    with Catalogue(archive) as catalogue:
        names = {
            document.doc_id: [place.partition("/")[2] for place in document.locations]
            for document in catalogue.documents(version)
        }
        for name, text in queries.items():
            record = search(engines, catalogue, text, protocol, keep=False).record
            lists = {
                ranking.system: [hit.id for hit in ranking.hits] for ranking in record.rankings
            }
            lists["fused"] = [hit.id for hit in record.fused]
            for system, ids in lists.items():
                # Equal texts are one document here and several in the collection.
                found = [own for doc_id in ids for own in names[doc_id]][:10]
                runs[system][name] = {own: float(-place) for place, own in enumerate(found)}
    return runs


def _per_query(
    qrels: dict[str, dict[str, int]], run: Run, names: list[str]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    found = {
        metric.query_id: metric.value for metric in ir_measures.iter_calc([MEASURE], qrels, run)
    }
    return np.array([found.get(name, 0.0) for name in names])


def _by_chance(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """How often random signs give a mean as far from zero as the one that was measured."""
    random = np.random.default_rng(20_000)
    seen = abs(differences.mean())
    signs = random.choice((-1.0, 1.0), size=(FLIPS, len(differences)))
    means = np.abs(signs @ differences) / len(differences)
    return float((means >= seen - 1e-12).mean())


def _queries(folder: Path) -> Iterator[tuple[str, str]]:
    with (folder / "queries.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["_id"], row["text"]


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            qrels.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    return qrels


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--work", type=Path, required=True, metavar="DIR")
    parser.add_argument("--encoder", default="")
    parser.add_argument("--k", default="60")
    parser.add_argument("--coverage", default=str(DEFAULT_COVERAGE))
    parser.add_argument("--semantic", default=DEFAULT_ASKED)
    return parser.parse_args()


if __name__ == "__main__":
    main()
