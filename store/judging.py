"""Topics and judgments on disk: primary data, added to and never changed.

A topic that is edited gets a new revision, and a label keeps the revision it was given under.
Labels name documents by id and revision without a foreign key: nothing that happens to a document
can take a label with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from corpus.judging import Judgment, Topic, query_key
from store.catalogue import Catalogue
from store.database import writing
from store.errors import UnknownTopic

_NEWEST = "revision = (SELECT max(revision) FROM topics AS n WHERE n.topic_id = t.topic_id)"


def add_topics(catalogue: Catalogue, topics: Iterable[Topic]) -> int:
    """Add topics; one whose text differs from the known one becomes its next revision.

    Returns how many were new or edited.
    """
    written = 0
    with writing(catalogue.database) as db:
        for topic in topics:
            known = _newest(catalogue, topic.topic_id)
            if known is not None and known[0] == topic:
                continue
            db.table("topics").insert(
                {
                    **asdict(topic),
                    "revision": known[1] + 1 if known else 1,
                    "query_key": query_key(topic.query),
                    "written_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                }
            )
            written += 1
    return written


def topics(catalogue: Catalogue) -> list[Topic]:
    """Every topic in its newest revision, by id."""
    rows = catalogue.database.query(f"SELECT * FROM topics AS t WHERE {_NEWEST} ORDER BY topic_id")
    return [_topic(row) for row in rows]


def topic(catalogue: Catalogue, topic_id: str) -> Topic:
    """:raises UnknownTopic: nobody wrote it"""
    known = _newest(catalogue, topic_id)
    if known is None:
        raise UnknownTopic(f"there is no topic {topic_id!r}")
    return known[0]


def topic_for_query(catalogue: Catalogue, query: str, author: str) -> Topic:
    """The topic that stands for a query typed in the search box, made where there is none.

    Spellings that differ in case, spacing or composition are one query.
    """
    key = query_key(query)
    rows = list(
        catalogue.database.query(
            f"SELECT * FROM topics AS t WHERE query_key = :key AND {_NEWEST} "
            "ORDER BY topic_id LIMIT 1",
            {"key": key},
        )
    )
    if rows:
        return _topic(rows[0])
    made = Topic(
        topic_id=f"q-{hashlib.sha256(key.encode()).hexdigest()[:12]}",
        query=query.strip(),
        need=query.strip(),
        author=author,
        split="dev",
    )
    add_topics(catalogue, [made])
    return made


def add_judgment(catalogue: Catalogue, judgment: Judgment) -> None:
    """Add one label. A change of mind is one more label, and the last one counts.

    :raises UnknownTopic: nobody wrote its topic
    """
    known = _newest(catalogue, judgment.topic_id)
    if known is None:
        raise UnknownTopic(f"there is no topic {judgment.topic_id!r} to judge for")
    with writing(catalogue.database) as db:
        db.table("judgments").insert({**asdict(judgment), "topic_revision": known[1]})


def judgments(
    catalogue: Catalogue, topic_id: str | None = None, judge: str | None = None
) -> list[Judgment]:
    """Every label ever given, in the order given; of one topic or one judge where asked."""
    rows = catalogue.database.query(
        "SELECT * FROM judgments WHERE (:topic IS NULL OR topic_id = :topic) "
        "AND (:judge IS NULL OR judge = :judge) ORDER BY judgment_id",
        {"topic": topic_id, "judge": judge},
    )
    return [
        Judgment(
            topic_id=row["topic_id"],
            doc_id=row["doc_id"],
            revision=row["revision"],
            grade=row["grade"],
            judge=row["judge"],
            judged_at=row["judged_at"],
            corpus_version=row["corpus_version"],
            blind=bool(row["blind"]),
            passage_id=row["passage_id"],
            protocol=row["protocol"],
            reason=row["reason"],
        )
        for row in rows
    ]


def standing_labels(catalogue: Catalogue, topic_id: str, judge: str) -> dict[str, Judgment]:
    """What one judge says now of each document for one topic: the last label given."""
    return {judgment.doc_id: judgment for judgment in judgments(catalogue, topic_id, judge)}


def _newest(catalogue: Catalogue, topic_id: str) -> tuple[Topic, int] | None:
    rows = list(
        catalogue.database.query(
            "SELECT * FROM topics WHERE topic_id = :id ORDER BY revision DESC LIMIT 1",
            {"id": topic_id},
        )
    )
    return (_topic(rows[0]), rows[0]["revision"]) if rows else None


def _topic(row: dict[str, Any]) -> Topic:
    return Topic(row["topic_id"], row["query"], row["need"], row["author"], row["split"])
