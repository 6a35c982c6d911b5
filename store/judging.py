"""Topics and judgments on disk: primary data, added to and never changed.

A topic that is edited gets a new revision, and a label keeps the revision it was given under.
Labels name documents by id and revision without a foreign key: nothing that happens to a document
can take a label with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

from corpus.judging import DEFAULT_PROJECT, Judgment, Topic, query_key, standing
from store.catalogue import Catalogue
from store.database import writing
from store.errors import UnknownProject, UnknownTopic

_NEWEST = "revision = (SELECT max(revision) FROM topics AS n WHERE n.topic_id = t.topic_id)"
_FIELDS = tuple(field.name for field in fields(Judgment))


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
                    "tags": json.dumps(topic.tags, ensure_ascii=False),
                    "revision": known[1] + 1 if known else 1,
                    "query_key": query_key(topic.query),
                    "written_at": now(),
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
    return topic_and_revision(catalogue, topic_id)[0]


def topic_and_revision(catalogue: Catalogue, topic_id: str) -> tuple[Topic, int]:
    """The newest text of a topic, and which revision that is.

    :raises UnknownTopic: nobody wrote it
    """
    known = _newest(catalogue, topic_id)
    if known is None:
        raise UnknownTopic(f"there is no topic {topic_id!r}")
    return known


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
    :raises UnknownProject: nobody made its project
    """
    add_judgments(catalogue, [judgment])


def add_judgments(catalogue: Catalogue, given: Sequence[Judgment]) -> None:
    """Add labels in the order given, all or none.

    :raises UnknownTopic: nobody wrote one of their topics
    :raises UnknownProject: nobody made one of their projects
    """
    with writing(catalogue.database) as db:
        made = {row["name"] for row in db.query("SELECT name FROM projects")}
        newest: dict[str, int] = {}
        for judgment in given:
            if judgment.project not in made:
                raise UnknownProject(f"there is no project {judgment.project!r} to judge in")
            if judgment.topic_id not in newest:
                known = _newest(catalogue, judgment.topic_id)
                if known is None:
                    raise UnknownTopic(f"there is no topic {judgment.topic_id!r} to judge for")
                newest[judgment.topic_id] = known[1]
            revision = judgment.topic_revision or newest[judgment.topic_id]
            db.table("judgments").insert({**asdict(judgment), "topic_revision": revision})


def judgments(
    catalogue: Catalogue,
    topic_id: str | None = None,
    judge: str | None = None,
    project: str | None = None,
) -> list[Judgment]:
    """Every label ever given, in the order given; of one topic, judge or project where asked."""
    rows = catalogue.database.query(
        "SELECT * FROM judgments WHERE (:topic IS NULL OR topic_id = :topic) "
        "AND (:judge IS NULL OR judge = :judge) AND (:project IS NULL OR project = :project) "
        "ORDER BY judgment_id",
        {"topic": topic_id, "judge": judge, "project": project},
    )
    return [
        Judgment(
            **{
                **{name: row[name] for name in _FIELDS},
                "blind": bool(row["blind"]),
                "withdrawn": bool(row["withdrawn"]),
            }
        )
        for row in rows
    ]


def standing_labels(
    catalogue: Catalogue, topic_id: str, judge: str, project: str = DEFAULT_PROJECT
) -> dict[str, Judgment]:
    """What one judge says now of each document for one topic: the last label given, unless it was
    withdrawn."""
    return {
        judgment.doc_id: judgment
        for judgment in standing(judgments(catalogue, topic_id, judge, project))
        if judgment.role == "judge"
    }


def topic_revisions(catalogue: Catalogue) -> frozenset[tuple[str, int]]:
    """Every topic with each of its revisions."""
    rows = catalogue.database.query("SELECT topic_id, revision FROM topics")
    return frozenset((row["topic_id"], row["revision"]) for row in rows)


def defer(
    catalogue: Catalogue, topic_id: str, doc_id: str, judge: str, project: str = DEFAULT_PROJECT
) -> None:
    """Put a document off: it comes after the others in this judge's queue, for good."""
    with writing(catalogue.database) as db:
        db.table("deferrals").insert(
            {
                "project": project,
                "topic_id": topic_id,
                "doc_id": doc_id,
                "judge": judge,
                "deferred_at": now(),
            }
        )


def deferred(
    catalogue: Catalogue, topic_id: str, judge: str, project: str = DEFAULT_PROJECT
) -> tuple[str, ...]:
    """The documents that a judge put off for a topic; the one put off last comes last."""
    rows = catalogue.database.query(
        "SELECT doc_id FROM deferrals WHERE project = :project AND topic_id = :topic "
        "AND judge = :judge GROUP BY doc_id ORDER BY max(deferral_id)",
        {"project": project, "topic": topic_id, "judge": judge},
    )
    return tuple(row["doc_id"] for row in rows)


def now() -> str:
    """The time of what is stored now: ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _newest(catalogue: Catalogue, topic_id: str) -> tuple[Topic, int] | None:
    rows = list(
        catalogue.database.query(
            "SELECT * FROM topics WHERE topic_id = :id ORDER BY revision DESC LIMIT 1",
            {"id": topic_id},
        )
    )
    return (_topic(rows[0]), rows[0]["revision"]) if rows else None


def _topic(row: dict[str, Any]) -> Topic:
    tags = tuple(json.loads(row["tags"]))
    return Topic(row["topic_id"], row["query"], row["need"], row["author"], row["split"], tags)
