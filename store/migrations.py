"""The schema of the catalogue and of the vector cache, as numbered steps that only ever grow.

A row of ``states`` or ``locations`` is live in version N when
``from_version <= N AND (to_version IS NULL OR to_version > N)``. Texts are addressed by the digest
of the bytes they came from together with the extractor's version, passages by a text and a split
rule; both are immutable, so that any old version can be rebuilt. Nothing here cascades.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

catalogue_migrations = Migrations("catalogue")
vector_migrations = Migrations("vectors")


@catalogue_migrations(name="0001_corpus")
def _corpus(db: Database) -> None:
    db.table("sources").create(
        {"source_id": int, "root": str, "root_bytes": bytes},
        pk="source_id",
        not_null={"root", "root_bytes"},
        strict=True,
    )
    db.table("sources").create_index(["root_bytes"], unique=True)

    db.table("versions").create(
        {
            "number": int,
            "parent": int,
            "committed_at": str,
            "message": str,
            "extractor": str,
            "splitter": str,
            "documents": int,
            "passages": int,
            "changes": str,
            "fingerprint": str,
        },
        pk="number",
        not_null={"committed_at", "message", "extractor", "splitter", "fingerprint", "changes"},
        strict=True,
    )

    db.table("revisions").create(
        {"doc_id": str, "revision": int, "sha256": str, "size": int, "first_version": int},
        pk=("doc_id", "revision"),
        not_null={"sha256", "size"},
        strict=True,
    )
    db.table("revisions").create_index(["sha256"])

    db.table("states").create(
        {
            "state_id": int,
            "doc_id": str,
            "revision": int,
            "sha256": str,
            "title": str,
            "language": str,
            "media_type": str,
            "modified": str,
            "groups": str,
            "tags": str,
            "from_version": int,
            "to_version": int,
        },
        pk="state_id",
        not_null={"doc_id", "revision", "sha256", "groups", "tags", "from_version"},
        strict=True,
    )
    db.table("states").create_index(["doc_id", "from_version"])
    db.table("states").create_index(["to_version", "from_version"])

    db.table("locations").create(
        {
            "location_id": int,
            "source_id": int,
            "path": str,
            "path_bytes": bytes,
            "doc_id": str,
            "from_version": int,
            "to_version": int,
        },
        pk="location_id",
        not_null={"source_id", "path", "path_bytes", "doc_id", "from_version"},
        foreign_keys=[("source_id", "sources", "source_id")],
        strict=True,
    )
    db.table("locations").create_index(["doc_id", "from_version"])
    db.table("locations").create_index(["source_id", "path_bytes"])

    db.table("extractions").create(
        {
            "sha256": str,
            "extractor": str,
            "text": str,
            "title": str,
            "language": str,
            "media_type": str,
            "blocks": str,
            "notes": str,
        },
        pk=("sha256", "extractor"),
        not_null={"text", "title", "language", "media_type", "blocks", "notes"},
        strict=True,
    )
    db.table("failures").create(
        {"sha256": str, "extractor": str, "stage": str, "reason": str, "failed_at": str},
        pk=("sha256", "extractor"),
        not_null={"stage", "reason", "failed_at"},
        strict=True,
    )

    db.table("shapes").create(
        {"shape_id": int, "sha256": str, "extractor": str, "splitter": str, "passages": int},
        pk="shape_id",
        not_null={"sha256", "extractor", "splitter", "passages"},
        strict=True,
    )
    db.table("shapes").create_index(["sha256", "extractor", "splitter"], unique=True)
    db.table("passages").create(
        {
            "shape_id": int,
            "ordinal": int,
            "start": int,
            "end": int,
            "page": int,
            "headings": str,
            "text_hash": bytes,
        },
        pk=("shape_id", "ordinal"),
        not_null={"start", "end", "headings", "text_hash"},
        foreign_keys=[("shape_id", "shapes", "shape_id")],
        strict=True,
    )

    db.table("ingests").create(
        {
            "ingest_id": int,
            "started_at": str,
            "finished_at": str,
            "outcome": str,
            "version": int,
            "report": str,
        },
        pk="ingest_id",
        not_null={"started_at", "finished_at", "outcome", "report"},
        strict=True,
    )


@catalogue_migrations(name="0002_judging")
def _judging(db: Database) -> None:
    db.table("topics").create(
        {
            "topic_id": str,
            "revision": int,
            "query": str,
            "query_key": str,
            "need": str,
            "author": str,
            "split": str,
            "written_at": str,
        },
        pk=("topic_id", "revision"),
        not_null={"query", "query_key", "need", "author", "split", "written_at"},
        strict=True,
    )
    db.table("topics").create_index(["query_key"])
    db.table("judgments").create(
        {
            "judgment_id": int,
            "topic_id": str,
            "topic_revision": int,
            "doc_id": str,
            "revision": int,
            "passage_id": str,
            "grade": int,
            "reason": str,
            "judge": str,
            "blind": int,
            "protocol": str,
            "corpus_version": int,
            "judged_at": str,
        },
        pk="judgment_id",
        not_null={"topic_id", "topic_revision", "doc_id", "revision", "judge", "blind"},
        foreign_keys=[],
        strict=True,
    )
    db.table("judgments").create_index(["topic_id", "doc_id"])
    db.table("judgments").create_index(["doc_id"])
    _append_only(db, "judgments")


@catalogue_migrations(name="0003_records")
def _records(db: Database) -> None:
    db.table("records").create(
        {"record_id": str, "body": str},
        pk="record_id",
        not_null={"body"},
        strict=True,
    )
    db.table("searches").create(
        {"search_id": int, "record_id": str, "searched_at": str, "searcher": str},
        pk="search_id",
        not_null={"record_id", "searched_at", "searcher"},
        strict=True,
    )
    db.table("searches").create_index(["record_id"])
    _append_only(db, "records")


@catalogue_migrations(name="0004_encoder_of_a_version")
def _encoder_of_a_version(db: Database) -> None:
    # Which encoder an archive uses is a choice of its maintainer, not derived data.
    db.table("versions").add_column("encoder", str, not_null_default="")


@catalogue_migrations(name="0005_metadata")
def _metadata(db: Database) -> None:
    for table in ("extractions", "states"):
        db.table(table).add_column("author", str, not_null_default="")
        db.table(table).add_column("dated", str, not_null_default="")
    db.table("extractions").add_column("tags", str, not_null_default="[]")
    db.table("passages").add_column("ocr", int, not_null_default=0)
    db.table("passages").add_column("language", str, not_null_default="")
    # A title may be given by a maintainer, and it is encoded with every passage: what was cut
    # until now was cut under the title that the file itself gave.
    db.table("shapes").add_column("title", str, not_null_default="")
    db.execute(
        "UPDATE shapes SET title = coalesce((SELECT e.title FROM extractions AS e "
        "WHERE e.sha256 = shapes.sha256 AND e.extractor = shapes.extractor), '')"
    )
    db.execute("DROP INDEX idx_shapes_sha256_extractor_splitter")
    db.table("shapes").create_index(["sha256", "title", "extractor", "splitter"], unique=True)


@catalogue_migrations(name="0006_ocr")
def _ocr(db: Database) -> None:
    for table in ("extractions", "failures"):
        db.table(table).add_column("waiting", int, not_null_default=0)


@catalogue_migrations(name="0007_signatures")
def _signatures(db: Database) -> None:
    # Derived data of texts, like passages: ``method`` names the rule they were made by.
    db.table("signatures").create(
        {"sha256": str, "extractor": str, "method": str, "signature": bytes},
        pk=("sha256", "extractor", "method"),
        not_null={"signature"},
        strict=True,
    )
    db.table("resemblances").create(
        {
            "sha256": str,
            "other": str,
            "extractor": str,
            "method": str,
            "shared": int,
            "total": int,
        },
        pk=("sha256", "other", "extractor", "method"),
        not_null={"shared", "total"},
        strict=True,
    )
    db.table("resemblances").create_index(["other"])
    db.table("states").create_index(["sha256"])


@catalogue_migrations(name="0008_evaluation")
def _evaluation(db: Database) -> None:
    db.table("frozen_protocols").create(
        {"frozen_id": int, "protocol": str, "body": str, "frozen_by": str, "frozen_at": str},
        pk="frozen_id",
        not_null={"protocol", "body", "frozen_by", "frozen_at"},
        strict=True,
    )
    # One row for each time that figures on sealed topics were shown to somebody.
    db.table("looks").create(
        {
            "look_id": int,
            "looked_by": str,
            "looked_at": str,
            "reason": str,
            "protocols": str,
            "topics": str,
            "corpus_version": int,
            "generation": str,
            "experiment": str,
            "result": str,
        },
        pk="look_id",
        not_null={"looked_by", "looked_at", "reason", "protocols", "topics", "result"},
        strict=True,
    )
    db.table("experiments").create(
        {"experiment_id": str, "body": str, "kept_by": str, "kept_at": str},
        pk="experiment_id",
        not_null={"body", "kept_by", "kept_at"},
        strict=True,
    )
    for table in ("frozen_protocols", "looks", "experiments"):
        _append_only(db, table)


@catalogue_migrations(name="0009_projects")
def _projects(db: Database) -> None:
    db.table("topics").add_column("tags", str, not_null_default="[]")
    for column, default in (("note", ""), ("project", "default"), ("role", "judge"), ("seed", "")):
        db.table("judgments").add_column(column, str, not_null_default=default)
    db.table("judgments").add_column("withdrawn", int, not_null_default=0)
    db.table("judgments").create_index(["project", "topic_id"])

    db.table("projects").create(
        {"name": str, "judges_per_pair": int, "author": str, "created_at": str},
        pk="name",
        not_null={"author", "created_at"},
        strict=True,
    )
    db.table("project_grades").create(
        {"project": str, "grade": int, "sentence": str},
        pk=("project", "grade"),
        not_null={"sentence"},
        strict=True,
    )
    # What was judged before there were projects is one, under the words it was judged by.
    db.table("projects").insert(
        {"name": "default", "judges_per_pair": None, "author": "", "created_at": ""}
    )
    db.table("project_grades").insert_all(
        {"project": "default", "grade": grade, "sentence": sentence}
        for grade, sentence in enumerate(_FIRST_GRADES)
    )
    _never(db, "projects", "DELETE", "a project is never removed")
    _never(db, "projects", "UPDATE OF name", "a project keeps its name")
    for verb, row in (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")):
        db.execute(
            f"CREATE TRIGGER project_grades_frozen_{verb.lower()} BEFORE {verb} ON project_grades "
            f"WHEN EXISTS (SELECT 1 FROM judgments WHERE project = {row}.project) "
            "BEGIN SELECT RAISE(ABORT, 'the first label froze the grades of its project'); END"
        )

    db.table("pools").create(
        {
            "pool_id": int,
            "project": str,
            "topic_id": str,
            "topic_revision": int,
            "corpus_version": int,
            "depth": int,
            "protocols": str,
            "groups": str,
            "builder": str,
            "built_at": str,
        },
        pk="pool_id",
        not_null={"project", "topic_id", "topic_revision", "corpus_version", "depth", "built_at"}
        | {"protocols", "groups", "builder"},
        strict=True,
    )
    db.table("pools").create_index(["project", "topic_id"])
    # A row for each list that brought a document; one added by hand has no list and no rank.
    db.table("pool_entries").create(
        {
            "entry_id": int,
            "pool_id": int,
            "doc_id": str,
            "revision": int,
            "passage_id": str,
            "protocol": str,
            "found_in": str,
            "rank": int,
        },
        pk="entry_id",
        not_null={"pool_id", "doc_id", "revision", "passage_id", "protocol", "found_in"},
        foreign_keys=[("pool_id", "pools", "pool_id")],
        strict=True,
    )
    db.table("pool_entries").create_index(["pool_id"])
    db.table("deferrals").create(
        {"deferral_id": int, "project": str, "topic_id": str, "doc_id": str, "judge": str}
        | {"deferred_at": str},
        pk="deferral_id",
        not_null={"project", "topic_id", "doc_id", "judge", "deferred_at"},
        strict=True,
    )
    db.table("deferrals").create_index(["project", "topic_id", "judge"])
    for table in ("pools", "pool_entries", "deferrals"):
        _append_only(db, table)


_FIRST_GRADES = (
    "Not relevant to the need.",
    "On the subject and useful as background, but does not answer.",
    "Answers an essential part of the need, or all of it with detours.",
    "Answers the need completely; a technician could act on it alone.",
)


def _never(db: Database, table: str, verb: str, why: str) -> None:
    name = verb.lower().replace(" ", "_")
    db.execute(
        f"CREATE TRIGGER {table}_never_{name} BEFORE {verb} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{why}'); END"
    )


@catalogue_migrations(name="0010_pins")
def _pins(db: Database) -> None:
    # A mark on a record, put and taken away: not primary data, as records themselves are.
    db.table("pins").create(
        {"record_id": str, "pinned_at": str, "note": str},
        pk="record_id",
        foreign_keys=[("record_id", "records", "record_id")],
        not_null={"pinned_at", "note"},
        strict=True,
    )


def _append_only(db: Database, table: str) -> None:
    """Make SQLite itself refuse to change or remove what a person gave."""
    for verb in ("UPDATE", "DELETE"):
        db.execute(
            f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
        )


@vector_migrations(name="0001_vectors")
def _vectors(db: Database) -> None:
    db.table("vectors").create(
        {"text_hash": bytes, "encoder": str, "vector": bytes},
        pk=("text_hash", "encoder"),
        not_null={"vector"},
        strict=True,
    )
