"""Keeping search records: content-addressed bodies that never change, and who asked when.

Records are kept for good; a pin only marks one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime

from store.catalogue import Catalogue
from store.database import writing
from store.errors import BadInput, UnknownRecord

KEEP_VARIABLE = "COUNTERPOINT_KEEP_SEARCHES"

LEAST_NAMED = 6
"""Hexadecimal digits that are enough to name a record, if no other begins so."""


@dataclass(frozen=True, slots=True)
class KeptSearch:
    """One record with its last search: when (UTC), by whom, and how often there was one.

    ``pinned`` is when it was marked, or empty; ``note`` is the reason that was given.
    """

    record_id: str
    body: str
    searched_at: str
    searcher: str
    searches: int
    pinned: str = ""
    note: str = ""


def keeps_searches() -> bool:
    """Whether searches are kept: yes, unless ``$COUNTERPOINT_KEEP_SEARCHES`` says no.

    :raises BadInput: it says neither yes nor no
    """
    chosen = os.environ.get(KEEP_VARIABLE, "yes").strip().lower()
    if chosen not in ("yes", "no"):
        raise BadInput(f"{KEEP_VARIABLE} is yes or no, not {chosen!r}")
    return chosen == "yes"


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


def find_record(catalogue: Catalogue, named: str) -> str:
    """The full id of the record that ``named`` begins: an id, or its first hexadecimal digits.

    :raises UnknownRecord: no kept record begins so
    :raises BadInput: several do, or too few digits are given
    """
    digits = named.removeprefix("sha256:").lower()
    if len(digits) < LEAST_NAMED or not set(digits) <= set("0123456789abcdef"):
        raise BadInput(
            f"a record is named by its id, or by at least {LEAST_NAMED} of its hexadecimal digits, "
            f"not by {named!r}"
        )
    rows = catalogue.database.execute(
        "SELECT record_id FROM records WHERE record_id >= ? AND record_id < ? LIMIT 2",
        [f"sha256:{digits}", f"sha256:{digits}g"],
    ).fetchall()
    if not rows:
        raise UnknownRecord(f"no search record {named!r} was kept in this archive")
    if len(rows) > 1:
        raise BadInput(f"several records begin with {named!r}; give more of the one that is meant")
    record_id: str = rows[0][0]
    return record_id


def kept_searches(
    catalogue: Catalogue, limit: int, *, pinned: bool = False, searcher: str = ""
) -> list[KeptSearch]:
    """The last ``limit`` records by their newest search, the newest first.

    With ``pinned`` only those that are; with ``searcher`` only those that this person asked.
    """
    rows = catalogue.database.query(
        "SELECT r.record_id, r.body, max(s.searched_at) AS searched_at, s.searcher, "
        "count(*) AS searches, coalesce(p.pinned_at, '') AS pinned, coalesce(p.note, '') AS note "
        "FROM searches AS s JOIN records AS r USING (record_id) LEFT JOIN pins AS p "
        "USING (record_id) WHERE (NOT :pinned OR p.record_id IS NOT NULL) "
        "AND (:searcher = '' OR s.searcher = :searcher) "
        "GROUP BY r.record_id ORDER BY max(s.search_id) DESC LIMIT :limit",
        {"pinned": pinned, "searcher": searcher, "limit": limit},
    )
    return [KeptSearch(**row) for row in rows]


def pin_record(catalogue: Catalogue, record_id: str, note: str) -> None:
    """Mark a record as one to be found again; a new note takes the place of the old one."""
    with writing(catalogue.database) as db:
        db.table("pins").upsert(
            {
                "record_id": record_id,
                "pinned_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "note": note,
            },
            pk="record_id",
        )


def unpin_record(catalogue: Catalogue, record_id: str) -> bool:
    """Take the mark away; false where there was none."""
    with writing(catalogue.database) as db:
        return bool(db.execute("DELETE FROM pins WHERE record_id = ?", [record_id]).rowcount)
