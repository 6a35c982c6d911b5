"""Reading and extending the catalogue: every text, every version, which document was where.

The catalogue is the primary data of an archive. Texts and passages are immutable and addressed by
content, so they can be added in short transactions long before a version that uses them is
committed; :mod:`store.versions` commits one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from sqlite_utils import Database

from corpus.document import Block, Document, Extracted, Passage, Span, passage_id
from store.archive import Archive
from store.database import open_database, writing
from store.errors import UnknownDocument, UnknownVersion
from store.migrations import catalogue_migrations

_LIVE = "from_version <= :version AND (to_version IS NULL OR to_version > :version)"


@dataclass(frozen=True, slots=True)
class Shape:
    """The two settings that decide how bytes become passages.

    ``extractor`` is the extractor's version; ``splitter`` names the split rule, its limits and the
    tokenizer that counts.
    """

    extractor: str
    splitter: str


@dataclass(frozen=True, slots=True)
class Version:
    """One committed change of the corpus.

    ``encoder`` names the encoder that the archive used then; empty in archives of before it was
    recorded.
    """

    number: int
    parent: int | None
    committed_at: str
    message: str
    shape: Shape
    encoder: str
    documents: int
    passages: int
    changes: dict[str, int]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the bytes of a file could not be read by one extractor version."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of a text beside its words."""

    title: str
    language: str
    media_type: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LivePassages:
    """How many passages a live revision has, in one version's shape."""

    doc_id: str
    revision: int
    shape_id: int
    passages: int


class Catalogue:
    """An open catalogue. Belongs to the thread that opened it; close it, or use ``with``."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.database: Database = open_database(archive.catalogue, catalogue_migrations)

    def __enter__(self) -> Catalogue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.database.close()

    def integrity(self) -> list[str]:
        """What SQLite finds wrong with the file, a sentence each; nothing where all is well."""
        found = [row[0] for row in self.database.execute("PRAGMA integrity_check").fetchall()]
        broken = self.database.execute("PRAGMA foreign_key_check").fetchall()
        problems = [f"the catalogue is damaged: {text}" for text in found if text != "ok"]
        problems += [f"a row of {row[0]} refers to a missing row of {row[2]}" for row in broken]
        return problems

    # -- versions --------------------------------------------------------------------------------

    def versions(self) -> list[Version]:
        """All versions, oldest first."""
        return [_version(row) for row in self._rows("SELECT * FROM versions ORDER BY number")]

    def latest(self) -> Version | None:
        """The newest version, or None in an archive where nothing was committed yet."""
        rows = list(self._rows("SELECT * FROM versions ORDER BY number DESC LIMIT 1"))
        return _version(rows[0]) if rows else None

    def version(self, number: int) -> Version:
        """:raises UnknownVersion: no version has that number"""
        rows = list(self._rows("SELECT * FROM versions WHERE number = :number", number=number))
        if not rows:
            raise UnknownVersion(
                f"there is no corpus version {number}; `python -m indexer versions` lists them"
            )
        return _version(rows[0])

    # -- documents -------------------------------------------------------------------------------

    def documents(self, version: int, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """The documents live in ``version``, by id; only ``doc_ids`` where given."""
        chosen = ""
        parameters: dict[str, Any] = {"version": version}
        if doc_ids is not None:
            chosen = " AND doc_id IN (SELECT value FROM json_each(:ids))"
            parameters = {"version": version, "ids": json.dumps(list(doc_ids))}
        places: dict[str, list[str]] = {}
        for row in self._rows(
            f"SELECT doc_id, path FROM locations WHERE {_LIVE}{chosen} ORDER BY path_bytes",
            **parameters,
        ):
            places.setdefault(row["doc_id"], []).append(row["path"])
        return [
            Document(
                doc_id=row["doc_id"],
                revision=row["revision"],
                sha256=row["sha256"],
                title=row["title"],
                language=row["language"],
                media_type=row["media_type"],
                locations=tuple(places.get(row["doc_id"], ())),
                modified=row["modified"],
                groups=tuple(json.loads(row["groups"])),
                tags=tuple(json.loads(row["tags"])),
            )
            for row in self._rows(
                f"SELECT * FROM states WHERE {_LIVE}{chosen} ORDER BY doc_id", **parameters
            )
        ]

    def document(self, version: int, doc_id: str) -> Document:
        """:raises UnknownDocument: it is not live in that version"""
        found = self.documents(version, [doc_id])
        if not found:
            raise UnknownDocument(f"version {version} has no document {doc_id!r}")
        return found[0]

    def text(self, version: Version, doc_id: str) -> str:
        """The extracted text of a document as it stands in ``version``.

        :raises UnknownDocument: it is not live in that version
        """
        rows = list(
            self._rows(
                "SELECT e.text FROM states AS s JOIN extractions AS e "
                "ON e.sha256 = s.sha256 AND e.extractor = :extractor "
                f"WHERE s.doc_id = :doc_id AND {_LIVE}",
                version=version.number,
                doc_id=doc_id,
                extractor=version.shape.extractor,
            )
        )
        if not rows:
            raise UnknownDocument(f"version {version.number} has no document {doc_id!r}")
        text: str = rows[0]["text"]
        return text

    # -- passages --------------------------------------------------------------------------------

    def live_passages(self, version: Version) -> list[LivePassages]:
        """How many passages each live document has, by document id."""
        return [
            LivePassages(row["doc_id"], row["revision"], row["shape_id"], row["passages"])
            for row in self._rows(
                "SELECT s.doc_id, s.revision, h.shape_id, h.passages FROM states AS s "
                "JOIN shapes AS h ON h.sha256 = s.sha256 "
                "AND h.extractor = :extractor AND h.splitter = :splitter "
                f"WHERE {_LIVE} ORDER BY s.doc_id",
                version=version.number,
                extractor=version.shape.extractor,
                splitter=version.shape.splitter,
            )
        ]

    def passages(self, version: Version, doc_id: str) -> list[Passage]:
        """All passages of a document in reading order, as cut for ``version``."""
        rows = list(
            self._rows(
                "SELECT s.doc_id, s.revision, e.text, p.* FROM states AS s "
                "JOIN shapes AS h ON h.sha256 = s.sha256 "
                "AND h.extractor = :extractor AND h.splitter = :splitter "
                "JOIN extractions AS e ON e.sha256 = s.sha256 AND e.extractor = :extractor "
                "JOIN passages AS p ON p.shape_id = h.shape_id "
                f"WHERE s.doc_id = :doc_id AND {_LIVE} ORDER BY p.ordinal",
                version=version.number,
                extractor=version.shape.extractor,
                splitter=version.shape.splitter,
                doc_id=doc_id,
            )
        )
        return [_passage(row) for row in rows]

    def passages_by_id(self, version: Version, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """The passages named, each with its text; ids that are not live are left out."""
        wanted = [[*split_passage_id(name), name] for name in passage_ids]
        rows = self._rows(
            "SELECT s.doc_id, s.revision, "
            'substr(e.text, p.start + 1, p."end" - p.start) AS passage_text, p.* '
            "FROM json_each(:wanted) AS w "
            "JOIN states AS s ON s.doc_id = w.value ->> 0 AND s.revision = w.value ->> 1 "
            "JOIN shapes AS h ON h.sha256 = s.sha256 "
            "AND h.extractor = :extractor AND h.splitter = :splitter "
            "JOIN extractions AS e ON e.sha256 = s.sha256 AND e.extractor = :extractor "
            "JOIN passages AS p ON p.shape_id = h.shape_id AND p.ordinal = w.value ->> 2 "
            f"WHERE {_LIVE}",
            version=version.number,
            extractor=version.shape.extractor,
            splitter=version.shape.splitter,
            wanted=json.dumps(wanted),
        )
        return {passage.passage_id: passage for passage in map(_passage, rows)}

    def spans(self, shape_id: int) -> list[tuple[Span, bytes]]:
        """The spans of one text in reading order, each with the hash of what is encoded."""
        return [
            (_span(row), row["text_hash"])
            for row in self._rows(
                "SELECT * FROM passages WHERE shape_id = :shape_id ORDER BY ordinal",
                shape_id=shape_id,
            )
        ]

    # -- texts -----------------------------------------------------------------------------------

    def extraction(self, sha256: str, extractor: str) -> Extracted | None:
        """What ``extractor`` read from those bytes, or None where it did not or could not."""
        rows = list(
            self._rows(
                "SELECT * FROM extractions WHERE sha256 = :sha256 AND extractor = :extractor",
                sha256=sha256,
                extractor=extractor,
            )
        )
        if not rows:
            return None
        row = rows[0]
        blocks = tuple(
            Block(kind, start, end, page, tuple(headings))
            for kind, start, end, page, headings in json.loads(row["blocks"])
        )
        return Extracted(
            row["text"], row["title"], row["media_type"], blocks, tuple(json.loads(row["notes"]))
        )

    def failures(self, digests: Iterable[str], extractor: str) -> dict[str, Failure]:
        """Why ``extractor`` could not read some bytes, for those of ``digests`` where it failed."""
        rows = self._rows(
            "SELECT * FROM failures WHERE extractor = :extractor "
            "AND sha256 IN (SELECT value FROM json_each(:digests))",
            extractor=extractor,
            digests=json.dumps(list(digests)),
        )
        return {row["sha256"]: Failure(row["stage"], row["reason"]) for row in rows}

    def heads(self, digests: Iterable[str], extractor: str) -> dict[str, Head]:
        """What the extractor found out about some bytes beside their text."""
        rows = self._rows(
            "SELECT sha256, title, language, media_type, notes FROM extractions "
            "WHERE extractor = :extractor "
            "AND sha256 IN (SELECT value FROM json_each(:digests))",
            extractor=extractor,
            digests=json.dumps(list(digests)),
        )
        return {
            row["sha256"]: Head(
                row["title"], row["language"], row["media_type"], tuple(json.loads(row["notes"]))
            )
            for row in rows
        }

    def known_texts(self, extractor: str) -> set[str]:
        """The digests of all bytes that ``extractor`` has read or failed to read."""
        rows = self._rows(
            "SELECT sha256 FROM extractions WHERE extractor = :extractor "
            "UNION SELECT sha256 FROM failures WHERE extractor = :extractor",
            extractor=extractor,
        )
        return {row["sha256"] for row in rows}

    def shaped_texts(self, shape: Shape) -> set[str]:
        """The digests of all bytes that are cut into passages in that shape."""
        rows = self._rows(
            "SELECT sha256 FROM shapes WHERE extractor = :extractor AND splitter = :splitter",
            extractor=shape.extractor,
            splitter=shape.splitter,
        )
        return {row["sha256"] for row in rows}

    def text_hashes(self, shape: Shape, digests: Iterable[str]) -> dict[bytes, str]:
        """What has to be encoded for some bytes: each passage's hash, and one text it is in."""
        rows = self._rows(
            "SELECT p.text_hash, h.sha256 FROM shapes AS h JOIN passages AS p USING (shape_id) "
            "WHERE h.extractor = :extractor AND h.splitter = :splitter "
            "AND h.sha256 IN (SELECT value FROM json_each(:digests)) "
            "ORDER BY h.sha256, p.ordinal",
            extractor=shape.extractor,
            splitter=shape.splitter,
            digests=json.dumps(list(digests)),
        )
        hashes: dict[bytes, str] = {}
        for row in rows:
            hashes.setdefault(bytes(row["text_hash"]), row["sha256"])
        return hashes

    def cut_text(self, shape: Shape, sha256: str) -> tuple[Extracted, list[tuple[Span, bytes]]]:
        """A text and how it is cut, each span with the hash of what is encoded.

        :raises KeyError: the bytes were not read or not cut in that shape
        """
        known = self.extraction(sha256, shape.extractor)
        row = self.database.execute(
            "SELECT shape_id FROM shapes WHERE sha256 = ? AND extractor = ? AND splitter = ?",
            [sha256, shape.extractor, shape.splitter],
        ).fetchone()
        if known is None or row is None:
            raise KeyError(sha256)
        return known, self.spans(row[0])

    def add_extraction(
        self, sha256: str, extractor: str, extracted: Extracted, language: str
    ) -> None:
        """Keep what was read from some bytes; a second call with the same bytes changes nothing."""
        with writing(self.database) as db:
            db.table("extractions").insert(
                {
                    "sha256": sha256,
                    "extractor": extractor,
                    "text": extracted.text,
                    "title": extracted.title,
                    "language": language,
                    "media_type": extracted.media_type,
                    "blocks": _json([astuple(block) for block in extracted.blocks]),
                    "notes": _json(extracted.notes),
                },
                ignore=True,
            )

    def add_failure(self, sha256: str, extractor: str, failure: Failure, at: str) -> None:
        """Keep why some bytes cannot be read, so that the next run need not try again."""
        with writing(self.database) as db:
            db.table("failures").insert(
                {
                    "sha256": sha256,
                    "extractor": extractor,
                    "stage": failure.stage,
                    "reason": failure.reason,
                    "failed_at": at,
                },
                ignore=True,
            )

    def add_passages(self, sha256: str, shape: Shape, spans: Sequence[tuple[Span, bytes]]) -> None:
        """Keep how one text is cut; a second call with the same text and shape changes nothing."""
        with writing(self.database) as db:
            taken = db.execute(
                "INSERT INTO shapes (sha256, extractor, splitter, passages) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (sha256, extractor, splitter) DO NOTHING RETURNING shape_id",
                [sha256, shape.extractor, shape.splitter, len(spans)],
            ).fetchone()
            if taken is None:
                return
            db.table("passages").insert_all(
                {
                    "shape_id": taken[0],
                    "ordinal": ordinal,
                    "start": span.start,
                    "end": span.end,
                    "page": span.page,
                    "headings": _json(span.headings),
                    "text_hash": text_hash,
                }
                for ordinal, (span, text_hash) in enumerate(spans)
            )

    def _rows(self, sql: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        return self.database.query(sql, parameters)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _version(row: dict[str, Any]) -> Version:
    return Version(
        number=row["number"],
        parent=row["parent"],
        committed_at=row["committed_at"],
        message=row["message"],
        shape=Shape(row["extractor"], row["splitter"]),
        encoder=row["encoder"],
        documents=row["documents"],
        passages=row["passages"],
        changes=json.loads(row["changes"]),
        fingerprint=row["fingerprint"],
    )


def _span(row: dict[str, Any]) -> Span:
    return Span(row["start"], row["end"], row["page"], tuple(json.loads(row["headings"])))


def _passage(row: dict[str, Any]) -> Passage:
    text = row.get("passage_text")
    return Passage(
        passage_id=passage_id(row["doc_id"], row["revision"], row["ordinal"]),
        doc_id=row["doc_id"],
        revision=row["revision"],
        start=row["start"],
        end=row["end"],
        text=row["text"][row["start"] : row["end"]] if text is None else text,
        page=row["page"],
        headings=tuple(json.loads(row["headings"])),
    )


def split_passage_id(name: str) -> tuple[str, int, int]:
    """Take a passage id apart; ids of documents may hold any character, so read from the right."""
    document, _, tail = name.rpartition("@")
    revision, _, ordinal = tail.partition("#")
    return document, int(revision), int(ordinal)
