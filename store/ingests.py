"""The log of ingests: when each ran, how it ended and what it reported."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from store.catalogue import Catalogue, Version
from store.database import writing


@dataclass(frozen=True, slots=True)
class Ingest:
    """One finished ingest."""

    ingest_id: int
    started_at: str
    finished_at: str
    outcome: str
    version: int
    report: dict[str, Any]


def keep_ingest(
    catalogue: Catalogue,
    started_at: str,
    finished_at: str,
    outcome: str,
    version: Version,
    report: dict[str, Any],
) -> None:
    """Add one ingest to the log."""
    with writing(catalogue.database) as db:
        db.table("ingests").insert(
            {
                "started_at": started_at,
                "finished_at": finished_at,
                "outcome": outcome,
                "version": version.number,
                "report": json.dumps(report, ensure_ascii=False),
            }
        )


def last_ingest(catalogue: Catalogue) -> Ingest | None:
    """The ingest that finished last, or None where none ever did."""
    rows = list(catalogue.database.query("SELECT * FROM ingests ORDER BY ingest_id DESC LIMIT 1"))
    if not rows:
        return None
    row = rows[0]
    return Ingest(
        ingest_id=row["ingest_id"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        outcome=row["outcome"],
        version=row["version"],
        report=json.loads(row["report"]),
    )
