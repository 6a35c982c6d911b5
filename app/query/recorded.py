"""The passages that a kept search named, from the corpus version it was made on."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from corpus.document import Document, Passage
from corpus.scope import Scope
from store.catalogue import Catalogue
from store.database import damaged_database
from store.errors import UnknownRecord
from store.records import read_record
from store.scope import permitted_documents


@dataclass(frozen=True, slots=True)
class Recorded:
    """A passage of a record with its document; ``rank`` is that of the fused hit it earned."""

    rank: int
    passage: Passage
    document: Document


@dataclass(frozen=True, slots=True)
class RecordedSearch:
    """What a reader may see of a kept search, passages in fused order, each once."""

    record_id: str
    query: str
    corpus_version: int
    passages: tuple[Recorded, ...]


def recorded_search(
    catalogue: Catalogue, record_id: str, groups: Collection[str] = ()
) -> RecordedSearch:
    """The search ``record_id`` for a member of ``groups``.

    A document must be permitted in the version of the record, and in the newest one as far as it is
    still there.

    :raises Damaged: the catalogue does not hold what was found then
    :raises UnknownRecord: none of that name was kept, or it was made for members of other groups
    """
    body: dict[str, Any] = json.loads(read_record(catalogue, record_id))
    if not set(body["scope"]["groups"]) <= set(groups):
        raise UnknownRecord(f"no search record {record_id!r} was kept in this archive")
    version = catalogue.version(body["corpus_version"])
    ranks: dict[str, int] = {}
    earned: dict[str, list[str]] = {}
    for ranking in body["rankings"].values():
        for hit_id, _, _, name in ranking["hits"]:
            earned.setdefault(hit_id, []).append(name)
    for hit in body["fused"]:
        for name in earned.get(hit["id"], ()):
            ranks.setdefault(name, hit["rank"])
    passages = catalogue.passages_by_id(version, list(ranks))
    if lost := ranks.keys() - passages.keys():
        raise damaged_database(
            catalogue.archive.catalogue,
            f"version {version.number} lacks {min(lost)!r}, which a search found",
        )
    named = sorted({passage.doc_id for passage in passages.values()})
    documents = {one.doc_id: one for one in catalogue.documents(version.number, named)}
    reader = Scope(groups=tuple(groups))
    permitted = permitted_documents(catalogue, version, reader)
    newest = catalogue.latest() or version
    still = {one.doc_id for one in catalogue.documents(newest.number, named)}
    allowed = permitted_documents(catalogue, newest, reader)
    return RecordedSearch(
        record_id,
        body["query"],
        version.number,
        tuple(
            Recorded(rank, passages[name], documents[doc_id])
            for name, rank in ranks.items()
            for doc_id in [passages[name].doc_id]
            if permitted is None or doc_id in permitted
            if allowed is None or doc_id in allowed or doc_id not in still
        ),
    )
