"""Which texts are nearly the same: signatures and resemblances, kept by content.

Both are derived from texts alone and hold for every version that has those texts in force; a mark
on a document is a question asked of one version, and of what its reader may see.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from corpus.document import Document
from corpus.resemblance import ALIKE, SIGNATURE_VERSION
from store.catalogue import Catalogue, Version
from store.database import writing

NEAREST = 3
"""The most documents that one document is said to be similar to."""

_MADE_BY = "extractor = :extractor AND method = :method"
_ALIKE = f"r.shared * {ALIKE.denominator} >= r.total * {ALIKE.numerator}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts by digest, or two documents of one version by id, the lower name first.

    ``shared / total`` is their resemblance: of ``total`` different runs of words that either of the
    two has, ``shared`` are in both.
    """

    one: str
    other: str
    shared: int
    total: int


@dataclass(frozen=True, slots=True)
class Similar:
    """A document that is nearly the same as the one asked about, with what a :class:`Pair` says."""

    document: Document
    shared: int
    total: int


# -- texts ---------------------------------------------------------------------------------------


def unsigned_texts(catalogue: Catalogue, version: Version) -> list[str]:
    """The digests of those texts of ``version`` that have no signature yet, ascending."""
    rows = catalogue.rows(
        f"SELECT DISTINCT s.sha256 FROM states AS s WHERE {_live('s')} AND NOT EXISTS "
        f"(SELECT 1 FROM signatures AS g WHERE g.sha256 = s.sha256 AND {_MADE_BY}) "
        "ORDER BY s.sha256",
        **_of(version),
    )
    return [row["sha256"] for row in rows]


def signatures_of(catalogue: Catalogue, version: Version) -> dict[str, bytes]:
    """The signature of every text of ``version`` by digest, ascending; texts without words are
    left out."""
    rows = catalogue.rows(
        "SELECT DISTINCT g.sha256, g.signature FROM states AS s JOIN signatures AS g "
        f"USING (sha256) WHERE {_live('s')} AND {_MADE_BY} AND length(g.signature) > 0 "
        "ORDER BY g.sha256",
        **_of(version),
    )
    return {row["sha256"]: bytes(row["signature"]) for row in rows}


def compared_texts(catalogue: Catalogue, version: Version) -> set[tuple[str, str]]:
    """The pairs of digests, the lower first, that were compared as ``version`` reads them."""
    rows = catalogue.rows(
        f"SELECT sha256, other FROM resemblances WHERE {_MADE_BY}",
        extractor=version.shape.extractor,
        method=SIGNATURE_VERSION,
    )
    return {(row["sha256"], row["other"]) for row in rows}


def add_signatures(catalogue: Catalogue, version: Version, signatures: Mapping[str, bytes]) -> None:
    """Keep signatures by digest, empty for a text without words."""
    with writing(catalogue.database) as db:
        db.table("signatures").insert_all(
            (
                {
                    "sha256": digest,
                    "extractor": version.shape.extractor,
                    "method": SIGNATURE_VERSION,
                    "signature": signature,
                }
                for digest, signature in signatures.items()
            ),
            ignore=True,
        )


def add_resemblances(catalogue: Catalogue, version: Version, compared: Iterable[Pair]) -> None:
    """Keep what comparing texts, as ``version`` reads them, came to."""
    with writing(catalogue.database) as db:
        db.table("resemblances").insert_all(
            (
                {
                    "sha256": pair.one,
                    "other": pair.other,
                    "extractor": version.shape.extractor,
                    "method": SIGNATURE_VERSION,
                    "shared": pair.shared,
                    "total": pair.total,
                }
                for pair in compared
            ),
            ignore=True,
        )


# -- documents -----------------------------------------------------------------------------------


def similar_pairs(catalogue: Catalogue, version: Version) -> list[Pair]:
    """All pairs of documents of ``version`` that are nearly the same, the most alike first.

    For a maintainer: this does not ask who may read them.
    """
    rows = catalogue.rows(
        "SELECT min(s.doc_id, t.doc_id) AS one, max(s.doc_id, t.doc_id) AS other, "
        "r.shared, r.total FROM resemblances AS r "
        "JOIN states AS s ON s.sha256 = r.sha256 JOIN states AS t ON t.sha256 = r.other "
        f"WHERE {_MADE_BY} AND {_ALIKE} AND {_live('s')} AND {_live('t')} "
        "ORDER BY r.shared * 1.0 / r.total DESC, 1, 2",
        **_of(version),
    )
    return [Pair(**row) for row in rows]


def similar_among(catalogue: Catalogue, version: Version, doc_ids: Collection[str]) -> list[Pair]:
    """The pairs of documents of ``version`` nearly the same, both of them among ``doc_ids``, by
    id."""
    rows = catalogue.rows(
        "SELECT min(s.doc_id, t.doc_id) AS one, max(s.doc_id, t.doc_id) AS other, "
        "r.shared, r.total FROM states AS s JOIN resemblances AS r ON r.sha256 = s.sha256 "
        "JOIN states AS t ON t.sha256 = r.other "
        "WHERE s.doc_id IN (SELECT value FROM json_each(:ids)) "
        "AND t.doc_id IN (SELECT value FROM json_each(:ids)) "
        f"AND {_MADE_BY} AND {_ALIKE} AND {_live('s')} AND {_live('t')} ORDER BY 1, 2",
        **_of(version),
        ids=json.dumps(list(doc_ids)),
    )
    return [Pair(**row) for row in rows]


def similar_documents(
    catalogue: Catalogue,
    version: Version,
    doc_ids: Collection[str],
    permitted: frozenset[str] | None,
) -> dict[str, tuple[Similar, ...]]:
    """For each of ``doc_ids`` that has any, the documents of ``version`` nearly the same as it.

    At most ``NEAREST`` each, the most alike first, ties by id. Only documents in ``permitted``
    (None: all) are named or counted.
    """
    directions = " UNION ALL ".join(
        f"SELECT s.doc_id, r.{theirs} AS found, r.shared, r.total "
        f"FROM states AS s JOIN resemblances AS r ON r.{ours} = s.sha256 "
        f"WHERE s.doc_id IN (SELECT value FROM json_each(:ids)) AND {_live('s')} "
        f"AND {_MADE_BY} AND {_ALIKE}"
        for ours, theirs in (("sha256", "other"), ("other", "sha256"))
    )
    rows = catalogue.rows(
        f"SELECT p.doc_id, s.doc_id AS other, p.shared, p.total FROM ({directions}) AS p "
        f"JOIN states AS s ON s.sha256 = p.found WHERE {_live('s')} "
        "ORDER BY p.shared * 1.0 / p.total DESC, other",
        **_of(version),
        ids=json.dumps(list(doc_ids)),
    )
    nearest: dict[str, list[tuple[str, int, int]]] = {}
    for row in rows:
        found = nearest.setdefault(row["doc_id"], [])
        if len(found) < NEAREST and (permitted is None or row["other"] in permitted):
            found.append((row["other"], row["shared"], row["total"]))
    others = {other for found in nearest.values() for other, _, _ in found}
    documents = {
        document.doc_id: document
        for document in catalogue.documents(version.number, sorted(others))
    }
    return {
        doc_id: tuple(Similar(documents[other], shared, total) for other, shared, total in found)
        for doc_id, found in nearest.items()
        if found
    }


def _live(state: str) -> str:
    """The condition on a row of ``states``, by its name in the query, of being in the version."""
    ended = f"{state}.to_version"
    return f"{state}.from_version <= :version AND ({ended} IS NULL OR {ended} > :version)"


def _of(version: Version) -> dict[str, str | int]:
    return {
        "version": version.number,
        "extractor": version.shape.extractor,
        "method": SIGNATURE_VERSION,
    }
