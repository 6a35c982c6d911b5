"""A kept search record, read back: its canonical JSON becomes protocol, scope and lists again.

A record names itself by the SHA-256 of its bytes, so one that was changed is found out, and a
protocol that reads back to another hash is not the one that was used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.query.protocol import Protocol
from app.query.protocol_data import protocol_from_data
from app.query.record import SCHEMA, canonical
from corpus.scope import Scope
from store.errors import BadInput

_LISTS = ("languages", "media_types", "groups", "tags", "codes")


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as it was kept; ``body`` is its data, ``record_id`` the name of its bytes."""

    record_id: str
    body: Mapping[str, Any]

    @property
    def query(self) -> str:
        query: str = self.body["query"]
        return query

    @property
    def corpus_version(self) -> int:
        version: int = self.body["corpus_version"]
        return version

    @property
    def scope(self) -> Scope:
        given = dict(self.body["scope"])
        for name in _LISTS:
            if given.get(name) is not None:
                given[name] = tuple(given[name])
        return Scope(**given)

    @property
    def protocol(self) -> Protocol:
        """:raises BadInput: this program reads another protocol out of it than was used"""
        protocol = protocol_from_data(self.body["protocol"])
        if protocol.hash != self.body["protocol"]["hash"]:
            raise BadInput(
                f"the protocol of record {self.record_id} reads as {protocol.hash} here, "
                f"and was {self.body['protocol']['hash']}"
            )
        return protocol


def read_stored(text: str, record_id: str = "") -> StoredRecord:
    """Read the canonical JSON of a record, or the same JSON written in another layout.

    :raises BadInput: it is no record, is not the one that ``record_id`` names, or was written under
        a schema that this program does not read
    """
    try:
        body = json.loads(text)
        schema = body["schema"]
    except (ValueError, KeyError, TypeError):
        raise BadInput("this is not the JSON of a search record") from None
    found = f"sha256:{hashlib.sha256(canonical(body).encode()).hexdigest()}"
    if record_id and found != record_id:
        raise BadInput(f"record {record_id} was changed since it was kept: its bytes name {found}")
    if schema != SCHEMA:
        raise BadInput(
            f"record {found} was written under schema {schema}, and this program replays {SCHEMA}"
        )
    return StoredRecord(found, body)
