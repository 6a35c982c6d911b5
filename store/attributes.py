"""What documents say of themselves, as something to rank them by."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from store.catalogue import Catalogue, Version

Attribute = Literal["date", "modified"]

_COLUMNS: dict[Attribute, str] = {"date": "dated", "modified": "modified"}


@dataclass(frozen=True, slots=True)
class Dated:
    """A document with the day that an attribute gives it, ``YYYY-MM-DD``."""

    doc_id: str
    revision: int
    day: str


def dated_documents(
    catalogue: Catalogue, version: Version, attribute: Attribute, doc_ids: Collection[str]
) -> list[Dated]:
    """Those of ``doc_ids`` that have the attribute and at least one passage, by id.

    ``date`` is the calendar date that the document states, as written there, and ``modified`` the
    UTC day of its file.
    """
    column = _COLUMNS[attribute]
    rows = catalogue.rows(
        f"SELECT s.doc_id, s.revision, substr(s.{column}, 1, 10) AS day "
        "FROM json_each(:ids) AS w JOIN states AS s ON s.doc_id = w.value "
        "JOIN shapes AS h ON h.sha256 = s.sha256 AND h.title = s.title "
        "AND h.extractor = :extractor AND h.splitter = :splitter "
        "JOIN passages AS p ON p.shape_id = h.shape_id AND p.ordinal = 0 "
        "WHERE s.from_version <= :version "
        "AND (s.to_version IS NULL OR s.to_version > :version) "
        f"AND s.{column} <> '' ORDER BY s.doc_id",
        ids=json.dumps(sorted(doc_ids)),
        version=version.number,
        extractor=version.shape.extractor,
        splitter=version.shape.splitter,
    )
    return [Dated(row["doc_id"], row["revision"], row["day"]) for row in rows]
