"""Collections with judgments, as archives that can be searched.

A collection is a folder in the BEIR layout (`corpus.jsonl` or `.gz`, `queries.jsonl`,
`qrels/test.tsv`), ingested as any maintainer would ingest it, or a file of technician queries with
the archive that holds their answers.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ir_measures
import numpy as np
from ir_measures import nDCG
from numpy.typing import NDArray

from indexer.ingest import Request, ingest
from store.archive import Archive, existing_archive
from store.catalogue import Catalogue
from store.embedded import open_backend

CUTOFF = 10
MEASURE = nDCG @ CUTOFF

Qrels = Mapping[str, Mapping[str, int]]
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """``queries`` are text by id, ``qrels`` grades by query and by the collection's own names,
    ``own`` those names for each document id: equal texts are one document here."""

    name: str
    archive: Archive
    queries: Mapping[str, str]
    qrels: Qrels
    own: Mapping[str, Sequence[str]]

    def ndcg(self, orders: Mapping[str, Sequence[str]]) -> Values:
        """nDCG@10 of the orders of document ids, one for each query, in the order of queries."""
        run = {
            query: {name: -float(place) for place, name in enumerate(self._names(query, ids))}
            for query, ids in orders.items()
        }
        found = {
            metric.query_id: metric.value
            for metric in ir_measures.iter_calc([MEASURE], self.qrels, run)
        }
        return np.array([found.get(query, 0.0) for query in self.queries])

    def _names(self, query: str, ids: Sequence[str]) -> list[str]:
        names = [name for doc_id in ids[:CUTOFF] for name in self.own[doc_id]]
        return list(dict.fromkeys(names))[:CUTOFF]


def load_collection(folder: Path, work: Path, encoder: str = "") -> Judged:
    """Ingest the collection of ``folder`` into ``work``; what is there already costs nothing."""
    archive = Archive(work / folder.name)
    corpus = next(path for path in sorted(folder.glob("corpus.jsonl*")))
    ingest(archive, Request((corpus,), encoder=encoder))
    qrels = _qrels(folder / "qrels" / "test.tsv")
    queries = {name: text for name, text in _queries(folder) if name in qrels}
    own = {
        doc_id: [place.partition("/")[2] for place in places]
        for doc_id, places in _locations(archive).items()
    }
    return Judged(folder.name, archive, queries, qrels, own)


def load_technician(queries: Path, archive: Path) -> Judged:
    """The queries of a file whose lines have `id`, `query` and `relevant`, a list of paths."""
    lines = [json.loads(line) for line in queries.read_text(encoding="utf-8").splitlines()]
    opened = existing_archive(archive)
    return Judged(
        "technician",
        opened,
        {line["id"]: line["query"] for line in lines},
        {line["id"]: dict.fromkeys(line["relevant"], 1) for line in lines},
        {doc_id: places[:1] for doc_id, places in _locations(opened).items()},
    )


def _locations(archive: Archive) -> dict[str, tuple[str, ...]]:
    version = open_backend(archive).manifest.inputs.corpus_version
    with Catalogue(archive) as catalogue:
        return {document.doc_id: document.locations for document in catalogue.documents(version)}


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
