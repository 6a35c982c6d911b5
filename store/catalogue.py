"""Reading the catalogue: every version, and which document was where and what it said.

The catalogue is the primary data of an archive. :mod:`store.texts` adds to it what was read from
files, and :mod:`store.versions` commits versions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlite_utils import Database

from corpus.document import Document, Passage, passage_id
from store.archive import Archive, refuse_lost_catalogue
from store.database import damaged_database, open_database
from store.errors import UnknownDocument, UnknownVersion
from store.migrations import catalogue_migrations

T = TypeVar("T")

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
class LivePassages:
    """How many passages a live revision has, in one version's shape."""

    doc_id: str
    revision: int
    shape_id: int
    passages: int


class Catalogue:
    """An open catalogue. Belongs to the thread that opened it; close it, or use ``with``.

    :raises Damaged: the file is missing though it was there, is no catalogue, or a damaged one
    """

    def __init__(self, archive: Archive) -> None:
        refuse_lost_catalogue(archive)
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
        page = self.database.execute("PRAGMA page_size").fetchone()[0]
        if self.archive.catalogue.stat().st_size % page:
            # SQLite reads zeros for what a file lost at its end.
            problems.append("the catalogue is damaged: the file has lost its end or was added to")
        problems += [f"a row of {row[0]} refers to a missing row of {row[2]}" for row in broken]
        return problems

    # -- versions --------------------------------------------------------------------------------

    def versions(self) -> list[Version]:
        """All versions, oldest first."""
        rows = self.rows("SELECT * FROM versions ORDER BY number")
        return [self._read(_version, row) for row in rows]

    def latest(self) -> Version | None:
        """The newest version, or None in an archive where nothing was committed yet."""
        rows = list(self.rows("SELECT * FROM versions ORDER BY number DESC LIMIT 1"))
        return self._read(_version, rows[0]) if rows else None

    def version(self, number: int) -> Version:
        """:raises UnknownVersion: no version has that number"""
        rows = list(self.rows("SELECT * FROM versions WHERE number = :number", number=number))
        if not rows:
            raise UnknownVersion(
                f"there is no corpus version {number}; `python -m indexer versions` lists them"
            )
        return self._read(_version, rows[0])

    # -- documents -------------------------------------------------------------------------------

    def documents(self, version: int, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """The documents live in ``version``, by id; only ``doc_ids`` where given."""
        chosen = ""
        parameters: dict[str, Any] = {"version": version}
        if doc_ids is not None:
            chosen = " AND doc_id IN (SELECT value FROM json_each(:ids))"
            parameters = {"version": version, "ids": json.dumps(list(doc_ids))}
        places: dict[str, list[str]] = {}
        for row in self.rows(
            f"SELECT doc_id, path FROM locations WHERE {_LIVE}{chosen} ORDER BY path_bytes",
            **parameters,
        ):
            places.setdefault(row["doc_id"], []).append(row["path"])
        return [
            self._read(_document, {**row, "locations": places.get(row["doc_id"], ())})
            for row in self.rows(
                f"SELECT * FROM states WHERE {_LIVE}{chosen} ORDER BY doc_id", **parameters
            )
        ]

    def titles(self, version: int) -> list[tuple[str, str]]:
        """The id and the title of every document live in ``version``, by id."""
        rows = self.rows(
            f"SELECT doc_id, title FROM states WHERE {_LIVE} ORDER BY doc_id", version=version
        )
        return [(row["doc_id"], row["title"]) for row in rows]

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
            self.rows(
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
            for row in self.rows(
                "SELECT s.doc_id, s.revision, h.shape_id, h.passages FROM states AS s "
                "JOIN shapes AS h ON h.sha256 = s.sha256 AND h.title = s.title "
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
            self.rows(
                "SELECT s.doc_id, s.revision, e.text, p.* FROM states AS s "
                "JOIN shapes AS h ON h.sha256 = s.sha256 AND h.title = s.title "
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
        return [self._read(_passage, row) for row in rows]

    def passages_by_id(self, version: Version, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """The passages named, each with its text; ids that are not live are left out."""
        wanted = [[*split_passage_id(name), name] for name in passage_ids]
        rows = self.rows(
            "SELECT s.doc_id, s.revision, "
            'substr(e.text, p.start + 1, p."end" - p.start) AS passage_text, p.* '
            "FROM json_each(:wanted) AS w "
            "JOIN states AS s ON s.doc_id = w.value ->> 0 AND s.revision = w.value ->> 1 "
            "JOIN shapes AS h ON h.sha256 = s.sha256 AND h.title = s.title "
            "AND h.extractor = :extractor AND h.splitter = :splitter "
            "JOIN extractions AS e ON e.sha256 = s.sha256 AND e.extractor = :extractor "
            "JOIN passages AS p ON p.shape_id = h.shape_id AND p.ordinal = w.value ->> 2 "
            f"WHERE {_LIVE}",
            version=version.number,
            extractor=version.shape.extractor,
            splitter=version.shape.splitter,
            wanted=json.dumps(wanted),
        )
        passages = [self._read(_passage, row) for row in rows]
        return {passage.passage_id: passage for passage in passages}

    def rows(self, sql: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """The rows of a query, as dictionaries; for the modules of ``store``."""
        return self.database.query(sql, parameters)

    def _read(self, make: Callable[[dict[str, Any]], T], row: dict[str, Any]) -> T:
        """Make a value of a row; a row that none can be made of was not written by this program."""
        try:
            return make(row)
        except (ValueError, TypeError) as error:
            raise damaged_database(
                self.archive.catalogue, f"a row cannot be understood: {error}"
            ) from error


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


def _document(row: dict[str, Any]) -> Document:
    return Document(
        doc_id=row["doc_id"],
        revision=row["revision"],
        sha256=row["sha256"],
        title=row["title"],
        language=row["language"],
        media_type=row["media_type"],
        locations=tuple(row["locations"]),
        modified=row["modified"],
        groups=tuple(json.loads(row["groups"])),
        tags=tuple(json.loads(row["tags"])),
        author=row["author"],
        dated=row["dated"],
    )


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
        ocr=bool(row["ocr"]),
        language=row["language"],
    )


def split_passage_id(name: str) -> tuple[str, int, int]:
    """Take a passage id apart; ids of documents may hold any character, so read from the right."""
    document, _, tail = name.rpartition("@")
    revision, _, ordinal = tail.partition("#")
    return document, int(revision), int(ordinal)
