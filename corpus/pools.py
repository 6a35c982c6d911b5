"""What is judged for a topic, and what brought each document there."""

from __future__ import annotations

from dataclasses import dataclass

FUSED = "fused"
BY_HAND = "by hand"


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A document that one list brought into a pool.

    ``protocol`` is a hash and ``found_in`` the name of a system, or ``fused``; ``rank`` counts from
    1. A document added by hand has no protocol and no rank. None of these is ever shown to a judge.
    """

    doc_id: str
    revision: int
    passage_id: str
    protocol: str = ""
    found_in: str = BY_HAND
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """One addition to what is judged for a topic in a project; a pool is the union of them.

    ``protocols`` are the canonical JSON of those that were asked, ``depth`` how many documents of
    each list were taken, ``groups`` the memberships of who built it.
    """

    project: str
    topic_id: str
    topic_revision: int
    corpus_version: int
    depth: int
    protocols: tuple[str, ...]
    groups: tuple[str, ...]
    builder: str
    built_at: str
    entries: tuple[PoolEntry, ...]
