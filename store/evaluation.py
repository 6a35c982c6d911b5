"""Evaluations on disk: which protocols were frozen, who looked at sealed topics, what came out.

All of it is only ever added to. A topic that was in the test split in any revision stays sealed:
writing it anew as a topic for development does not open it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from corpus.judging import Topic, query_key
from store.catalogue import Catalogue
from store.database import writing
from store.errors import BadInput, UnknownExperiment

LEAST_PREFIX = 8
"""Letters of a hash that name an experiment without its others."""


@dataclass(frozen=True, slots=True)
class Look:
    """One time that figures on sealed topics were shown. ``protocols`` are hashes, ``topics`` the
    ids looked at, ``result`` the figures as JSON text; ``number`` counts from 1, 0 before it is
    kept."""

    looked_by: str
    reason: str
    protocols: tuple[str, ...]
    topics: tuple[str, ...]
    corpus_version: int
    generation: str
    experiment: str
    result: str
    looked_at: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class KeptExperiment:
    """An experiment as it was kept: ``body`` is canonical JSON."""

    experiment_id: str
    body: str
    kept_by: str
    kept_at: str


@dataclass(frozen=True, slots=True)
class SealedTopics:
    """What was ever in the test split, by id and by the key of its query."""

    topic_ids: frozenset[str]
    query_keys: frozenset[str]

    def holds(self, topic: Topic) -> bool:
        """Whether a topic is one of them, under its own id or under another one."""
        return topic.topic_id in self.topic_ids or query_key(topic.query) in self.query_keys


def sealed_topics(catalogue: Catalogue) -> SealedTopics:
    """Every topic that is or was kept for reporting."""
    rows = list(catalogue.rows("SELECT topic_id, query_key FROM topics WHERE split = 'test'"))
    return SealedTopics(
        frozenset(row["topic_id"] for row in rows), frozenset(row["query_key"] for row in rows)
    )


def freeze(catalogue: Catalogue, protocols: Mapping[str, str], who: str) -> int:
    """Freeze protocols, given as hash to canonical JSON; returns how many are new."""
    known = frozen_protocols(catalogue)
    new = [(name, body) for name, body in protocols.items() if name not in known]
    with writing(catalogue.database) as db:
        for name, body in new:
            db.table("frozen_protocols").insert(
                {"protocol": name, "body": body, "frozen_by": who, "frozen_at": _now()}
            )
    return len(new)


def frozen_protocols(catalogue: Catalogue) -> frozenset[str]:
    """The hashes of the protocols frozen until now."""
    return frozenset(
        row["protocol"] for row in catalogue.rows("SELECT protocol FROM frozen_protocols")
    )


def add_look(catalogue: Catalogue, look: Look) -> Look:
    """Enter a look in the ledger and return it with its number and time.

    The figures may be shown once this returns, never before.
    """
    at = _now()
    with writing(catalogue.database) as db:
        number = db.execute("SELECT coalesce(max(look_id), 0) + 1 FROM looks").fetchone()[0]
        db.table("looks").insert(
            {
                "look_id": number,
                "looked_by": look.looked_by,
                "looked_at": at,
                "reason": look.reason,
                "protocols": json.dumps(look.protocols),
                "topics": json.dumps(look.topics, ensure_ascii=False),
                "corpus_version": look.corpus_version,
                "generation": look.generation,
                "experiment": look.experiment,
                "result": look.result,
            }
        )
    return replace(look, looked_at=at, number=number)


def looks(catalogue: Catalogue) -> list[Look]:
    """The ledger, from the first look on."""
    return [
        Look(
            row["looked_by"],
            row["reason"],
            tuple(json.loads(row["protocols"])),
            tuple(json.loads(row["topics"])),
            row["corpus_version"],
            row["generation"],
            row["experiment"],
            row["result"],
            row["looked_at"],
            row["look_id"],
        )
        for row in catalogue.rows("SELECT * FROM looks ORDER BY look_id")
    ]


def keep_experiment(catalogue: Catalogue, experiment_id: str, body: str, who: str) -> None:
    """Keep an experiment; the same one again changes nothing."""
    with writing(catalogue.database) as db:
        db.table("experiments").insert(
            {"experiment_id": experiment_id, "body": body, "kept_by": who, "kept_at": _now()},
            ignore=True,
        )


def experiments(catalogue: Catalogue) -> list[KeptExperiment]:
    """Every experiment kept, in the order kept."""
    return [
        KeptExperiment(row["experiment_id"], row["body"], row["kept_by"], row["kept_at"])
        for row in catalogue.rows("SELECT * FROM experiments ORDER BY kept_at, experiment_id")
    ]


def experiment(catalogue: Catalogue, name: str) -> KeptExperiment:
    """The experiment with an id, or with an id that begins with ``name``.

    :raises UnknownExperiment: there is none
    :raises BadInput: ``name`` is short, or several begin with it
    """
    digits = name.removeprefix("sha256:")
    if len(digits) < LEAST_PREFIX:
        raise BadInput(
            f"an experiment is named by at least {LEAST_PREFIX} letters of its id, not by {name!r}"
        )
    found = [one for one in experiments(catalogue) if _digits(one).startswith(digits)]
    if not found:
        raise UnknownExperiment(
            f"no experiment {name!r} was kept in this archive; `python -m app experiments` lists "
            "those that were"
        )
    if len(found) > 1:
        raise BadInput(f"{len(found)} experiments begin with {name!r}; give more of the id")
    return found[0]


def _digits(one: KeptExperiment) -> str:
    return one.experiment_id.removeprefix("sha256:")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
