"""Committing a corpus version: which documents are live, in which revision, at which paths.

A version is one transaction. Rows are only ever added, or closed by giving them the version in
which they stopped being true.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from store.catalogue import Catalogue, Shape, Version
from store.database import writing


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A file's place: its source folder and its path below it, as the bytes on disk."""

    source_id: int
    path: bytes


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What a version says of one live document."""

    doc_id: str
    revision: int
    sha256: str
    size: int
    title: str
    language: str
    media_type: str
    modified: str
    groups: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    author: str = ""
    dated: str = ""

    def same_as(self, other: DocumentState) -> bool:
        """Whether nothing that a version records differs; a touched file is not a change."""
        return _compared(self) == _compared(other)


def _compared(state: DocumentState) -> tuple[object, ...]:
    return (
        state.doc_id,
        state.revision,
        state.sha256,
        state.title,
        state.language,
        state.media_type,
        state.groups,
        state.tags,
        state.author,
        state.dated,
    )


def printable(path: bytes) -> str:
    """A path as text that can be shown and stored on one line; what cannot be shown is escaped.

    >>> printable(b"v\\xe1lvula.txt")
    'v\\\\xe1lvula.txt'
    """
    text = path.decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


_NEWEST = "to_version IS NULL"
_AT = "from_version <= :version AND (to_version IS NULL OR to_version > :version)"


def live_states(catalogue: Catalogue) -> dict[str, DocumentState]:
    """The state of every document that the newest version holds, by id."""
    return _states(catalogue, _NEWEST, {})


def live_places(catalogue: Catalogue) -> dict[Place, str]:
    """Which document is at which place in the newest version."""
    return _places(catalogue, _NEWEST, {})


def states_at(catalogue: Catalogue, version: Version) -> dict[str, DocumentState]:
    """The state of every document that ``version`` held, by id."""
    return _states(catalogue, _AT, {"version": version.number})


def places_at(catalogue: Catalogue, version: Version) -> dict[Place, str]:
    """Which document was at which place in ``version``."""
    return _places(catalogue, _AT, {"version": version.number})


def _states(
    catalogue: Catalogue, condition: str, parameters: dict[str, int]
) -> dict[str, DocumentState]:
    rows = catalogue.database.query(
        "SELECT s.*, r.size FROM states AS s JOIN revisions AS r USING (doc_id, revision) "
        f"WHERE {condition} ORDER BY s.doc_id",
        parameters,
    )
    return {
        row["doc_id"]: DocumentState(
            doc_id=row["doc_id"],
            revision=row["revision"],
            sha256=row["sha256"],
            size=row["size"],
            title=row["title"],
            language=row["language"],
            media_type=row["media_type"],
            modified=row["modified"],
            groups=tuple(json.loads(row["groups"])),
            tags=tuple(json.loads(row["tags"])),
            author=row["author"],
            dated=row["dated"],
        )
        for row in rows
    }


def _places(catalogue: Catalogue, condition: str, parameters: dict[str, int]) -> dict[Place, str]:
    rows = catalogue.database.query(
        f"SELECT source_id, path_bytes, doc_id FROM locations WHERE {condition}", parameters
    )
    return {Place(row["source_id"], bytes(row["path_bytes"])): row["doc_id"] for row in rows}


@dataclass(frozen=True, slots=True)
class History:
    """What the catalogue knows of the past.

    ``live`` is the digest of each live document, ``places`` the document at each live place,
    ``revisions`` every (document, revision, digest) there ever was in ascending order, and
    ``last_at`` the document that was last at each place, live or not.
    """

    live: Mapping[str, str]
    places: Mapping[Place, str]
    revisions: tuple[tuple[str, int, str], ...]
    last_at: Mapping[Place, str]


def history(catalogue: Catalogue) -> History:
    """Everything that decides which document a file is."""
    query = catalogue.database.query
    return History(
        live={doc_id: state.sha256 for doc_id, state in live_states(catalogue).items()},
        places=live_places(catalogue),
        revisions=tuple(
            (row["doc_id"], row["revision"], row["sha256"])
            for row in query("SELECT * FROM revisions ORDER BY first_version, doc_id, revision")
        ),
        last_at={
            Place(row["source_id"], bytes(row["path_bytes"])): row["doc_id"]
            for row in query("SELECT * FROM locations ORDER BY from_version")
        },
    )


def commit_version(
    catalogue: Catalogue,
    *,
    states: Sequence[DocumentState],
    places: dict[Place, str],
    shape: Shape,
    encoder: str,
    message: str,
    changes: dict[str, int],
    at: str,
) -> Version:
    """Make ``states`` at ``places`` the newest version, in one transaction."""
    was = live_states(catalogue)
    was_at = live_places(catalogue)
    now = {state.doc_id: state for state in states}
    latest = catalogue.latest()
    number = latest.number + 1 if latest else 1

    gone = [doc_id for doc_id, state in was.items() if not _kept(state, now.get(doc_id))]
    new = [state for state in states if not _kept(was.get(state.doc_id), state)]
    left = [place for place, doc_id in was_at.items() if places.get(place) != doc_id]
    taken = {place: doc for place, doc in places.items() if was_at.get(place) != doc}

    with writing(catalogue.database) as db:
        db.conn.executemany(
            "UPDATE states SET to_version = ? WHERE doc_id = ? AND to_version IS NULL",
            [(number, doc_id) for doc_id in gone],
        )
        db.conn.executemany(
            "UPDATE locations SET to_version = ? "
            "WHERE source_id = ? AND path_bytes = ? AND to_version IS NULL",
            [(number, place.source_id, place.path) for place in left],
        )
        db.table("revisions").insert_all(
            (
                {
                    "doc_id": state.doc_id,
                    "revision": state.revision,
                    "sha256": state.sha256,
                    "size": state.size,
                    "first_version": number,
                }
                for state in new
            ),
            ignore=True,
        )
        db.table("states").insert_all(
            {
                "doc_id": state.doc_id,
                "revision": state.revision,
                "sha256": state.sha256,
                "title": state.title,
                "language": state.language,
                "media_type": state.media_type,
                "modified": state.modified,
                "groups": json.dumps(state.groups),
                "tags": json.dumps(state.tags),
                "author": state.author,
                "dated": state.dated,
                "from_version": number,
            }
            for state in new
        )
        db.table("locations").insert_all(
            {
                "source_id": place.source_id,
                "path": printable(place.path),
                "path_bytes": place.path,
                "doc_id": doc_id,
                "from_version": number,
            }
            for place, doc_id in sorted(taken.items())
        )
        passages = db.execute(
            "SELECT coalesce(sum(h.passages), 0) FROM states AS s JOIN shapes AS h "
            "ON h.sha256 = s.sha256 AND h.title = s.title AND h.extractor = ? AND h.splitter = ? "
            "WHERE s.to_version IS NULL",
            [shape.extractor, shape.splitter],
        ).fetchone()[0]
        db.table("versions").insert(
            {
                "number": number,
                "parent": latest.number if latest else None,
                "committed_at": at,
                "message": message,
                "extractor": shape.extractor,
                "splitter": shape.splitter,
                "encoder": encoder,
                "documents": len(states),
                "passages": passages,
                "changes": json.dumps(changes),
                "fingerprint": fingerprint(states, shape),
            }
        )
    return catalogue.version(number)


def fingerprint(states: Sequence[DocumentState], shape: Shape) -> str:
    """Name the content of a version: the same documents in the same shape have the same name.

    All that can change an answer counts: bytes, title, language, type, groups, tags and date. The
    name is stored with the version and never computed again.
    """
    digest = hashlib.sha256()
    for part in (shape.extractor, shape.splitter):
        digest.update(part.encode() + b"\0")
    for state in sorted(states, key=lambda state: state.doc_id):
        parts = (
            state.doc_id,
            state.sha256,
            state.title,
            state.language,
            state.media_type,
            state.groups,
            state.tags,
            state.dated,
        )
        digest.update(json.dumps(parts).encode() + b"\n")
    return f"sha256:{digest.hexdigest()}"


def _kept(was: DocumentState | None, now: DocumentState | None) -> bool:
    return was is not None and now is not None and was.same_as(now)
