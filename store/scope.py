"""Resolving what a reader may and wants to see to one set of documents, in SQLite, once a search.

Both engines receive the same set, so that neither can rank what the other may not.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from corpus.scope import Scope
from corpus.terms import fold_words
from store.catalogue import Catalogue, Version

# The calendar date as the document writes it, else the UTC day of the file's time.
_DAY = "substr(coalesce(nullif(s.dated, ''), s.modified), 1, 10)"


def permitted_documents(
    catalogue: Catalogue, version: Version, scope: Scope
) -> frozenset[str] | None:
    """The ids of the documents of ``version`` inside ``scope``; None where nothing restricts.

    None and the empty set are different: nothing may be ranked in the second case. Which documents
    hold the codes of ``scope`` only an engine can tell; they are no part of this.
    """
    conditions = [
        "(json_array_length(s.groups) = 0 OR EXISTS (SELECT 1 FROM json_each(s.groups) AS g "
        "WHERE g.value IN (SELECT value FROM json_each(:groups))))"
    ]
    if scope.languages is not None:
        conditions.append("s.language IN (SELECT value FROM json_each(:languages))")
    if scope.media_types is not None:
        conditions.append("s.media_type IN (SELECT value FROM json_each(:media_types))")
    if scope.folder is not None:
        conditions.append(
            "EXISTS (SELECT 1 FROM locations AS l WHERE l.doc_id = s.doc_id "
            "AND l.from_version <= :version AND (l.to_version IS NULL OR l.to_version > :version) "
            "AND (l.path = :folder OR substr(l.path, 1, length(:folder) + 1) = :folder || '/'))"
        )
    if scope.tags is not None:
        conditions.append(
            "EXISTS (SELECT 1 FROM json_each(s.tags) AS t "
            "WHERE t.value IN (SELECT value FROM json_each(:tags)))"
        )
    if scope.since is not None:
        conditions.append(f"{_DAY} >= :since")
    if scope.until is not None:
        conditions.append(f"{_DAY} <= :until")
    rows = catalogue.database.query(
        "SELECT s.doc_id FROM states AS s WHERE s.from_version <= :version "
        "AND (s.to_version IS NULL OR s.to_version > :version) AND " + " AND ".join(conditions),
        {
            "version": version.number,
            "groups": json.dumps(scope.groups),
            "languages": json.dumps(scope.languages),
            "media_types": json.dumps(scope.media_types),
            "tags": json.dumps(scope.tags),
            "since": scope.since,
            "until": scope.until,
            "folder": (scope.folder or "").strip("/"),
        },
    )
    permitted = frozenset(row["doc_id"] for row in rows)
    return None if len(permitted) == version.documents else permitted


def documents_at(
    catalogue: Catalogue, version: Version, places: Sequence[str], among: Collection[str]
) -> frozenset[str]:
    """Those documents ``among`` some of ``version`` that lie where a path holds one of ``places``.

    Case, accents and the direction of slashes do not matter.
    """
    wanted = [_folded_path(place) for place in places]
    rows = catalogue.database.query(
        "SELECT doc_id, path FROM locations WHERE from_version <= :version "
        "AND (to_version IS NULL OR to_version > :version)",
        {"version": version.number},
    )
    return frozenset(
        row["doc_id"]
        for row in rows
        if row["doc_id"] in among
        and any(place in path for path in [_folded_path(row["path"])] for place in wanted)
    )


def _folded_path(path: str) -> str:
    return fold_words(path).replace("\\", "/")
