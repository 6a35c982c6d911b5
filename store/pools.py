"""Pools on disk: recorded once, added to, never changed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from corpus.pools import Pool, PoolEntry
from store.catalogue import Catalogue
from store.database import writing
from store.projects import project


def add_pools(catalogue: Catalogue, pools: Sequence[Pool]) -> None:
    """Record additions to pools, all or none.

    :raises UnknownProject: nobody made one of their projects
    """
    with writing(catalogue.database) as db:
        for pool in pools:
            project(catalogue, pool.project)
            pool_id = (
                db.table("pools")
                .insert(
                    {
                        "project": pool.project,
                        "topic_id": pool.topic_id,
                        "topic_revision": pool.topic_revision,
                        "corpus_version": pool.corpus_version,
                        "depth": pool.depth,
                        "protocols": json.dumps(pool.protocols),
                        "groups": json.dumps(pool.groups),
                        "builder": pool.builder,
                        "built_at": pool.built_at,
                    }
                )
                .last_pk
            )
            db.table("pool_entries").insert_all(
                {
                    "pool_id": pool_id,
                    "doc_id": entry.doc_id,
                    "revision": entry.revision,
                    "passage_id": entry.passage_id,
                    "protocol": entry.protocol,
                    "found_in": entry.found_in,
                    "rank": entry.rank,
                }
                for entry in pool.entries
            )


def pools(catalogue: Catalogue, project: str, topic_id: str) -> list[Pool]:
    """Every addition to the pool of a topic, in the order made, with what brought each document."""
    made = []
    for row in list(
        catalogue.rows(
            "SELECT * FROM pools WHERE project = :project AND topic_id = :topic ORDER BY pool_id",
            project=project,
            topic=topic_id,
        )
    ):
        entries = catalogue.rows(
            "SELECT * FROM pool_entries WHERE pool_id = :pool ORDER BY entry_id",
            pool=row["pool_id"],
        )
        made.append(
            Pool(
                row["project"],
                row["topic_id"],
                row["topic_revision"],
                row["corpus_version"],
                row["depth"],
                tuple(json.loads(row["protocols"])),
                tuple(json.loads(row["groups"])),
                row["builder"],
                row["built_at"],
                tuple(
                    PoolEntry(
                        entry["doc_id"],
                        entry["revision"],
                        entry["passage_id"],
                        entry["protocol"],
                        entry["found_in"],
                        entry["rank"],
                    )
                    for entry in entries
                ),
            )
        )
    return made


def pooled(catalogue: Catalogue, project: str) -> dict[str, dict[str, str]]:
    """For every topic with a pool in a project its documents, each with the passage that it was
    found for last. Nothing here says what found it."""
    found: dict[str, dict[str, str]] = {}
    for row in catalogue.rows(
        "SELECT p.topic_id, e.doc_id, e.passage_id FROM pools AS p "
        "LEFT JOIN pool_entries AS e ON e.pool_id = p.pool_id "
        "WHERE p.project = :project ORDER BY e.entry_id",
        project=project,
    ):
        documents = found.setdefault(row["topic_id"], {})
        if row["doc_id"] is not None:
            documents[row["doc_id"]] = row["passage_id"]
    return found
