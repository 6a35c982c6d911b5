"""Success of each source list and of their fusion on queries with known answers.

    python -m bench.technician QUERIES.jsonl --archive DIR [--misses]

A line of QUERIES is an object with `id`, `query`, `kind` and `relevant` (paths below the source
folder). Lines with `needs_ocr` are left out unless the archive holds recognised text. A query
succeeds at n when one of its answers is among the first n documents. The best of the three is
marked *; a fusion that loses to one of its own source lists is therefore seen at once. Nothing here
is a timed assertion, and no search is kept.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from app.query.protocol import make_protocol
from app.query.search import Engines, search
from store.archive import existing_archive
from store.catalogue import Catalogue
from store.texts import recognised_texts

CUTOFFS = (1, 5, 10)
SYSTEMS = ("lexical", "semantic", "fused")

Ranks = dict[str, int | None]


def main() -> None:
    """Run every query once and print one table per kind and for all."""
    options = _options()
    lines = options.queries.read_text(encoding="utf-8").splitlines()
    recognised = _holds_recognised_text(options)
    queries = [
        query for query in map(json.loads, lines) if recognised or not query.get("needs_ocr")
    ]
    ranks = dict(_first_ranks(queries, options))
    kinds = defaultdict(list)
    for query in queries:
        kinds[query["kind"]].append(query["id"])
    print(f"{'kind':24}{'n':>4}  " + "".join(f"{system:>27}" for system in SYSTEMS))
    print(" " * 30 + "".join(f"{f's@{n}':>9}" for _ in SYSTEMS for n in CUTOFFS))
    for kind, ids in [*sorted(kinds.items()), ("all", [query["id"] for query in queries])]:
        print(_line(kind, [ranks[name] for name in ids]))
    if options.misses:
        for query in queries:
            found = ranks[query["id"]]
            if found["fused"] != 1:
                places = ", ".join(f"{system} {found[system] or '-'}" for system in SYSTEMS)
                print(f"{query['id']}  {query['kind']:22} {query['query'][:60]!r}: {places}")


def _holds_recognised_text(options: argparse.Namespace) -> bool:
    with Catalogue(existing_archive(options.archive)) as catalogue:
        latest = catalogue.latest()
        return latest is not None and bool(recognised_texts(catalogue, latest.shape.extractor))


def _first_ranks(
    queries: Sequence[Mapping[str, object]], options: argparse.Namespace
) -> Iterator[tuple[str, Ranks]]:
    """For each query the rank of its first relevant document in each list."""
    archive = existing_archive(options.archive)
    engines = Engines(archive)
    version = engines.backend.manifest.inputs.corpus_version
    protocol = make_protocol(k=options.k)
    every_list = make_protocol(k=options.k, asked="always")
    with Catalogue(archive) as catalogue:
        paths = {
            document.doc_id: set(document.locations) for document in catalogue.documents(version)
        }
        for query in queries:
            text = str(query["query"])
            result = search(engines, catalogue, text, protocol, keep=False)
            # A source list is shown for every query, also where the protocol did not ask for it.
            sources = search(engines, catalogue, text, every_list, keep=False)
            wanted = set(query["relevant"])  # type: ignore[call-overload]
            lists = {
                ranking.system: [hit.id for hit in ranking.hits]
                for ranking in sources.record.rankings
            }
            lists["fused"] = [hit.id for hit in result.record.fused]
            yield (
                str(query["id"]),
                {
                    system: next(
                        (rank for rank, name in enumerate(ids, 1) if paths[name] & wanted), None
                    )
                    for system, ids in lists.items()
                },
            )


def _line(kind: str, ranks: Sequence[Ranks]) -> str:
    cells = {
        (system, cutoff): sum((found[system] or cutoff + 1) <= cutoff for found in ranks)
        for system in SYSTEMS
        for cutoff in CUTOFFS
    }
    best = {cutoff: max(cells[system, cutoff] for system in SYSTEMS) for cutoff in CUTOFFS}
    text = "".join(
        f"{cells[system, cutoff] / len(ranks):>8.3f}"
        + ("*" if cells[system, cutoff] == best[cutoff] else " ")
        for system in SYSTEMS
        for cutoff in CUTOFFS
    )
    return f"{kind:24}{len(ranks):>4}  {text}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("queries", type=Path)
    parser.add_argument("--archive")
    parser.add_argument("--k", default="60")
    parser.add_argument("--misses", action="store_true", help="list queries not won by the fusion")
    return parser.parse_args()


if __name__ == "__main__":
    main()
