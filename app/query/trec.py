"""A record's lists as TREC runs: topic, Q0, id, rank, score, tag, for tools that read nothing else.

The last digits of a record's id stand for the topic. A run is ordered by its scores, and readers
of the format sort by them again: so that equal fused scores keep their order, the score written is
the number of entries below and including the entry, and the exact ones stay in the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from app.query.stored_record import StoredRecord


def trec_lines(record: StoredRecord) -> Iterator[str]:
    """One line for each entry of every source list and of the fusion, which are told by their tag.

    Ids are percent-encoded where they hold white space or a percent sign.
    """
    topic = record.record_id.removeprefix("sha256:")[:12]
    for system, ranking in record.body["rankings"].items():
        yield from _lines(topic, system, [hit[0] for hit in ranking["hits"]])
    yield from _lines(topic, "fused", [hit["id"] for hit in record.body["fused"]])


def _lines(topic: str, tag: str, ids: Sequence[str]) -> Iterator[str]:
    for rank, name in enumerate(ids, start=1):
        written = (
            quote(name, safe="/:@#!$&'()*+,;=?[]~")
            if any(c.isspace() or c == "%" for c in name)
            else name
        )
        yield f"{topic} Q0 {written} {rank} {len(ids) - rank + 1} {tag}\n"
