"""Keeping search records: content-addressed bodies that never change, and who asked when."""

from __future__ import annotations

from datetime import UTC, datetime

from store.catalogue import Catalogue
from store.database import writing
from store.errors import UnknownRecord


def keep_record(catalogue: Catalogue, record_id: str, body: str, searcher: str) -> None:
    """Keep a search record; the same record again only adds who asked and when."""
    with writing(catalogue.database) as db:
        db.table("records").insert({"record_id": record_id, "body": body}, ignore=True)
        db.table("searches").insert(
            {
                "record_id": record_id,
                "searched_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "searcher": searcher,
            }
        )


def read_record(catalogue: Catalogue, record_id: str) -> str:
    """The canonical JSON of a record.

    :raises UnknownRecord: no search of that name was kept
    """
    row = catalogue.database.execute(
        "SELECT body FROM records WHERE record_id = ?", [record_id]
    ).fetchone()
    if row is None:
        raise UnknownRecord(f"no search record {record_id!r} was kept in this archive")
    body: str = row[0]
    return body


def recent_records(catalogue: Catalogue, last: int) -> list[str]:
    """The canonical JSON of the ``last`` different records, the one searched latest first."""
    rows = catalogue.database.execute(
        "SELECT r.body FROM records AS r "
        "JOIN (SELECT record_id, max(search_id) AS latest FROM searches GROUP BY record_id) AS s "
        "ON s.record_id = r.record_id ORDER BY s.latest DESC LIMIT ?",
        [last],
    ).fetchall()
    return [row[0] for row in rows]
