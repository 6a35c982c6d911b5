"""What differs between two corpus versions, and how the text of a document changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from corpus.textdiff import text_diff
from store.catalogue import Catalogue, Version
from store.versions import DocumentState, Place, places_at, printable, states_at


@dataclass(frozen=True, slots=True)
class Change:
    """A document that is in both versions with other bytes; ``lines`` are a unified diff."""

    doc_id: str
    from_revision: int
    to_revision: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A document with the same bytes at other paths."""

    doc_id: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Redescription:
    """A document of which something else is said; ``fields`` are (name, before, after)."""

    doc_id: str
    fields: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """What happened between two versions, by document id."""

    older: int
    newer: int
    added: tuple[str, ...]
    retired: tuple[str, ...]
    changed: tuple[Change, ...]
    moved: tuple[Move, ...]
    described: tuple[Redescription, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the versions hold the same documents, at the same paths, described the same."""
        return not (self.added or self.retired or self.changed or self.moved or self.described)

    def summary(self) -> str:
        """One line for the end of a log."""
        anew = f", {len(self.described)} described anew" if self.described else ""
        return (
            f"version {self.older} to {self.newer}: {len(self.added)} added, "
            f"{len(self.changed)} changed, {len(self.moved)} moved, {len(self.retired)} retired"
            + anew
        )

    def lines(self) -> Iterator[str]:
        """The difference for a person; the last line is the summary."""
        for doc_id in self.added:
            yield f"added   {doc_id}"
        for doc_id in self.retired:
            yield f"retired {doc_id}"
        for move in self.moved:
            yield f"moved   {move.doc_id}: {', '.join(move.before)} -> {', '.join(move.after)}"
        for change in self.changed:
            yield f"changed {change.doc_id}: revision {change.from_revision} -> " + str(
                change.to_revision
            )
            yield from (f"    {line}" for line in change.lines)
        for redescription in self.described:
            for name, was, now in redescription.fields:
                yield f"now     {redescription.doc_id}: {name} {was or 'none'} -> {now or 'none'}"
        yield self.summary()


def compare(catalogue: Catalogue, older: Version, newer: Version) -> Difference:
    """Compare two versions, in either order of their numbers."""
    before, after = states_at(catalogue, older), states_at(catalogue, newer)
    was_at = _by_document(places_at(catalogue, older))
    is_at = _by_document(places_at(catalogue, newer))
    both = sorted(set(before) & set(after))
    return Difference(
        older=older.number,
        newer=newer.number,
        added=tuple(sorted(set(after) - set(before))),
        retired=tuple(sorted(set(before) - set(after))),
        changed=tuple(
            Change(
                doc_id,
                before[doc_id].revision,
                after[doc_id].revision,
                _text_diff(catalogue, older, newer, doc_id),
            )
            for doc_id in both
            if before[doc_id].sha256 != after[doc_id].sha256
        ),
        moved=tuple(
            Move(doc_id, was_at[doc_id], is_at[doc_id])
            for doc_id in both
            if before[doc_id].sha256 == after[doc_id].sha256 and was_at[doc_id] != is_at[doc_id]
        ),
        described=tuple(
            Redescription(doc_id, fields)
            for doc_id in both
            if (fields := _redescribed(before[doc_id], after[doc_id]))
        ),
    )


def difference_data(difference: Difference) -> dict[str, Any]:
    """The difference as JSON-ready data."""
    return {
        "from": difference.older,
        "to": difference.newer,
        "added": list(difference.added),
        "retired": list(difference.retired),
        "changed": [
            {
                "doc_id": change.doc_id,
                "from_revision": change.from_revision,
                "to_revision": change.to_revision,
                "diff": list(change.lines),
            }
            for change in difference.changed
        ],
        "moved": [
            {"doc_id": move.doc_id, "before": list(move.before), "after": list(move.after)}
            for move in difference.moved
        ],
        "described": [
            {
                "doc_id": redescription.doc_id,
                "fields": {
                    name: {"before": was, "after": now} for name, was, now in redescription.fields
                },
            }
            for redescription in difference.described
        ],
        "summary": difference.summary(),
    }


def _redescribed(before: DocumentState, after: DocumentState) -> tuple[tuple[str, str, str], ...]:
    was, now = _said(before), _said(after)
    return tuple((name, was[name], now[name]) for name in was if was[name] != now[name])


def _said(state: DocumentState) -> dict[str, str]:
    return {
        "title": state.title,
        "author": state.author,
        "date": state.dated,
        "language": state.language,
        "tags": ", ".join(state.tags),
        "groups": ", ".join(state.groups) or "everyone",
    }


def _text_diff(
    catalogue: Catalogue, older: Version, newer: Version, doc_id: str
) -> tuple[str, ...]:
    return text_diff(catalogue.text(older, doc_id), catalogue.text(newer, doc_id))


def _by_document(places: dict[Place, str]) -> dict[str, tuple[str, ...]]:
    paths: dict[str, list[str]] = {}
    for place in sorted(places):
        paths.setdefault(places[place], []).append(printable(place.path))
    return {doc_id: tuple(found) for doc_id, found in paths.items()}
