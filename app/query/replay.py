"""Asking a kept search again, of the version it was made on, and saying whether the answer stands.

There are three verdicts and no guess: *valid*, the same lists and the same order; *drifted*, with
the first difference and what of the record's fingerprints changed; *cannot check*, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.query.search import Engines, search
from app.query.stored_record import StoredRecord
from store.archive import Archive
from store.catalogue import Catalogue
from store.centring import centre_of
from store.embedded import build_generation
from store.embedded.build import EncoderIdentity
from store.encoder import open_encoder
from store.errors import CounterpointError
from store.generations import generation_of_version
from store.lock import writer_lock
from store.vectors import VectorCache

SCORE_TOLERANCE = 1e-4
"""Engine scores that differ by no more, in parts of the larger, are the same number computed
elsewhere: another processor or batch moves their last digits."""


class Verdict(StrEnum):
    """What a replay says of a record."""

    VALID = "VALID"
    DRIFTED = "DRIFTED"
    CANNOT_CHECK = "CANNOT CHECK"


@dataclass(frozen=True, slots=True)
class Replay:
    """The verdict on one record, a sentence for it, and the fingerprints that changed."""

    record_id: str
    verdict: Verdict
    sentence: str
    changed: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        return {
            "record_id": self.record_id,
            "verdict": str(self.verdict),
            "sentence": self.sentence,
            "changed": list(self.changed),
        }


def replay(
    archive: Archive, catalogue: Catalogue, record: StoredRecord, *, rebuild: bool = False
) -> Replay:
    """Search again as ``record`` says, and compare.

    The indexes of its corpus version must be on disk; with ``rebuild`` they are built from the
    catalogue where they are not.
    """

    def cannot(reason: object) -> Replay:
        return Replay(record.record_id, Verdict.CANNOT_CHECK, str(reason))

    silent = [name for name, ranking in record.body["rankings"].items() if ranking["unavailable"]]
    if silent:
        return cannot(f"the {silent[0]} system was unavailable when the record was made")
    try:
        version = catalogue.version(record.corpus_version)
        recorded = record.body["fingerprints"]["corpus"]
        if version.fingerprint != recorded:
            return cannot(
                f"version {version.number} of this archive is {version.fingerprint}, and the "
                f"record is of {recorded}: it was made on another archive"
            )
        name = generation_of_version(archive, version.number, record.body["generation"])
        if not name and not rebuild:
            return cannot(
                f"the indexes of version {version.number} are no longer on disk; "
                "add --rebuild to build them from the catalogue"
            )
        if not name:
            name = _rebuilt(archive, catalogue, version.number)
        again = search(
            Engines(archive, name),
            catalogue,
            record.query,
            record.protocol,
            record.scope,
            keep=False,
        )
    except CounterpointError as error:
        return cannot(error)
    if again.partial:
        return cannot(" ".join(again.notes))
    return compared(record, again.record.as_data(), again.record.record_id)


def compared(record: StoredRecord, now: Mapping[str, Any], now_id: str) -> Replay:
    """The verdict on ``record``, given the data of the same search made again."""
    if now_id == record.record_id:
        return Replay(record.record_id, Verdict.VALID, "identical, to the last byte")
    changed = tuple(_changed(record.body, now))
    causes = ", ".join(changed) or "nothing that a record names"
    difference = next(_differences(record.body, now), "")
    if difference:
        sentence = f"{difference}; changed since: {causes}"
        return Replay(record.record_id, Verdict.DRIFTED, sentence, changed)
    return Replay(
        record.record_id,
        Verdict.VALID,
        f"the same lists in the same order, with the same fused scores; changed since: {causes}",
        changed,
    )


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """The fingerprints that differ, those of what decides most first."""
    old, new = before["fingerprints"], now["fingerprints"]
    for name in old:
        if old[name] != new.get(name) and name != "generation":
            yield f"{name.replace('_', ' ')} ({_short(old[name])} → {_short(new.get(name))})"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What differs in the answer, in the order in which one thing follows from another."""
    if before["read"] != now["read"]:
        yield "the query is read as something else"
    for system, old in before["rankings"].items():
        new = now["rankings"].get(system)
        if new is None:
            yield f"there is no {system} list"
            continue
        yield from _list_differences(system, old["hits"], new["hits"])
        for key in ("held", "not_asked", "exhausted"):
            if old.get(key) != new.get(key):
                what = key.replace("_", " ")
                yield f"{what} of the {system} list is {new[key]!r}, was {old[key]!r}"
    old_order = [(hit["id"], hit["score"]) for hit in before["fused"]]
    new_order = [(hit["id"], hit["score"]) for hit in now["fused"]]
    for place, (one, other) in enumerate(zip(old_order, new_order, strict=False), start=1):
        if one != other:
            yield f"fused rank {place} is {other[0]} with {other[1]}, was {one[0]} with {one[1]}"
    if len(old_order) != len(new_order):
        yield f"there are {len(new_order)} fused documents, were {len(old_order)}"


def _list_differences(system: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[str]:
    for one, other in zip(old, new, strict=False):
        if one[0] != other[0]:
            yield f"rank {one[1]} of the {system} list is {other[0]}, was {one[0]}"
        elif abs(one[2] - other[2]) > SCORE_TOLERANCE * max(abs(one[2]), abs(other[2])):
            yield f"{one[0]} has the {system} score {other[2]:.6g}, had {one[2]:.6g}"
        elif one[3] != other[3]:
            yield f"{one[0]} is ranked by passage {other[3]} in the {system} list, was by {one[3]}"
    if len(old) != len(new):
        yield f"the {system} list has {len(new)} entries, had {len(old)}"


def _rebuilt(archive: Archive, catalogue: Catalogue, number: int) -> str:
    """Build the indexes of a version from the catalogue and the cached vectors, beside the served
    ones.

    :raises CounterpointError: another process writes, or a vector is missing
    """
    version = catalogue.version(number)
    with writer_lock(archive), VectorCache(archive) as cache:
        encoder = open_encoder(version.encoder)
        try:
            return build_generation(
                archive,
                catalogue,
                cache,
                version,
                EncoderIdentity(encoder.name, encoder.fingerprint, encoder.dimension),
                centre_of(encoder, cache),
            ).name
        except KeyError as error:
            raise CounterpointError(
                f"vectors of version {number} are not cached any more; run "
                f"`python -m indexer rebuild --version {number}` to encode them again"
            ) from error
