"""Two records side by side: which decisions differ, and which ranks moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.query.stored_record import StoredRecord


@dataclass(frozen=True, slots=True)
class Moved:
    """A document's fused rank in both records; None where it is not among the fused documents."""

    id: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """``asked`` are differences of query, scope and corpus version, ``protocol`` those of the
    protocol: what, in the one, in the other. ``moved`` are documents among the first of either
    whose rank is not the same."""

    asked: tuple[tuple[str, Any, Any], ...]
    protocol: tuple[tuple[str, Any, Any], ...]
    moved: tuple[Moved, ...]
    shown: int

    @property
    def warning(self) -> str:
        """Why the difference of the two orders cannot be laid to one decision, or nothing."""
        several = len(self.protocol) + len(self.asked)
        return (
            f"{several} things differ: what moved cannot be laid to one of them"
            if several > 1
            else ""
        )

    def as_data(self) -> dict[str, Any]:
        return {
            "asked": [list(entry) for entry in self.asked],
            "protocol": [list(entry) for entry in self.protocol],
            "moved": [
                {"id": one.id, "before": one.before, "after": one.after} for one in self.moved
            ],
            "shown": self.shown,
            "warning": self.warning,
        }


def compare(one: StoredRecord, other: StoredRecord, shown: int) -> Comparison:
    """Compare two records by their first ``shown`` fused documents."""
    asked = [
        (name, one.body[name], other.body[name])
        for name in ("query", "corpus_version", "generation")
        if one.body[name] != other.body[name]
    ]
    asked += _differing("scope", one.body["scope"], other.body["scope"])
    own = dict(one.body["protocol"])
    own.pop("hash")
    others = dict(other.body["protocol"])
    others.pop("hash")
    before, after = _ranks(one), _ranks(other)
    first = {name for ranks in (before, after) for name, rank in ranks.items() if rank <= shown}
    moved = [
        Moved(name, before.get(name), after.get(name))
        for name in first
        if before.get(name) != after.get(name)
    ]
    moved.sort(key=lambda entry: (entry.after or len(after) + 1, entry.before or 0, entry.id))
    return Comparison(tuple(asked), tuple(_differing("", own, others)), tuple(moved), shown)


def _ranks(record: StoredRecord) -> dict[str, int]:
    return {hit["id"]: hit["rank"] for hit in record.body["fused"]}


def _differing(path: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """The places at which two JSON values differ, systems by their names."""
    if path == "systems":
        one, other = ({entry["name"]: entry for entry in side} for side in (one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}):
            inner = f"{path}.{key}" if path else key
            yield from _differing(inner, one.get(key), other.get(key))
    elif one != other:
        yield path, one, other
