"""The reviewer's queue: which documents are judged for a topic, in which order, what comes next.

Blind by construction: a candidate carries no rank, engine or score, and its place in the queue
depends on the reviewer and the topic alone.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from app.query.present import best_passages
from app.query.search import SearchResult
from corpus.judging import Judgment, Topic, query_key
from store.catalogue import split_passage_id
from store.errors import BadInput

POOL_DEPTH = 20
"""How many documents of each system's list are judged."""

MAX_NAME = 60


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document to judge, in one revision, by the passage that it was found for."""

    doc_id: str
    revision: int
    passage_id: str


@dataclass(frozen=True, slots=True)
class Pool:
    """What is judged for a topic, by document id; ``notes`` say which engine could not add to it.

    ``protocol`` is the hash of the protocol that found the candidates.
    """

    candidates: tuple[Candidate, ...]
    corpus_version: int
    protocol: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Queue:
    """One reviewer's way through a pool.

    ``labels`` is what the reviewer says now of each document. A label on an older revision stands,
    and its document is offered again to be confirmed or changed, after those without any.
    """

    seed: str
    candidates: tuple[Candidate, ...]
    labels: Mapping[str, Judgment]

    @property
    def judged(self) -> int:
        """How many candidates have a label on the revision in force."""
        return len(self.candidates) - len(self.pending())

    def pending(self) -> tuple[Candidate, ...]:
        """What has no label on the revision in force, in the order it is offered."""
        new = [entry for entry in self.candidates if entry.doc_id not in self.labels]
        old = [
            entry
            for entry in self.candidates
            if entry.doc_id in self.labels and self.labels[entry.doc_id].revision != entry.revision
        ]
        return (*new, *old)

    def upcoming(self, later: Sequence[str] = ()) -> Candidate | None:
        """What to judge next; documents put off for ``later`` come after the others, in the order
        they were put off."""
        put_off = list(later)
        return min(
            self.pending(),
            key=lambda entry: put_off.index(entry.doc_id) + 1 if entry.doc_id in put_off else 0,
            default=None,
        )

    def previous(self, given: Sequence[Judgment], current: str = "") -> Candidate | None:
        """The candidate labelled before ``current``, where ``given`` are labels in order.

        Without ``current``, or where it has no label yet, the one labelled last.
        """
        mine = {entry.doc_id: entry for entry in self.candidates}
        # A document labelled twice counts where it was labelled last.
        order = list(dict.fromkeys(label.doc_id for label in reversed(given)))
        order = [doc_id for doc_id in order if doc_id in mine]
        place = order.index(current) + 1 if current in order else 0
        return mine[order[place]] if place < len(order) else None


def pool(result: SearchResult, depth: int = POOL_DEPTH) -> Pool:
    """The union of the first ``depth`` documents of every list, each by its best passage."""
    record = result.record
    best = best_passages(result)
    names = {hit.id for ranking in record.rankings for hit in ranking.hits[:depth]}
    candidates = []
    for name in sorted(names):
        doc_id, revision, _ = split_passage_id(best[name])
        candidates.append(Candidate(doc_id, revision, best[name]))
    return Pool(
        tuple(candidates),
        record.manifest.inputs.corpus_version,
        record.protocol.hash,
        tuple(ranking.unavailable for ranking in record.rankings if ranking.unavailable),
    )


def order_seed(judge: str, topic_id: str) -> str:
    """Eight hexadecimal digits that decide the order in which ``judge`` sees a topic's pool."""
    return hashlib.sha256(f"{judge}\0{topic_id}".encode()).hexdigest()[:8]


def make_queue(
    candidates: Iterable[Candidate], labels: Mapping[str, Judgment], judge: str, topic_id: str
) -> Queue:
    """Put a pool in the reviewer's order.

    Each document has a place of its own, so that one that joins the pool leaves the order of the
    others as it was.
    """
    seed = order_seed(judge, topic_id)
    shuffled = sorted(candidates, key=lambda entry: (token(seed, entry.doc_id), entry.doc_id))
    return Queue(seed, tuple(shuffled), labels)


def token(seed: str, doc_id: str) -> str:
    """A name for a candidate that says nothing about its document."""
    return hashlib.sha256(f"{seed}\0{doc_id}".encode()).hexdigest()[:16]


def judge_name(text: str) -> str:
    """Read a reviewer's name: one spelling for what looks the same.

    >>> judge_name("  Zoë   O'Neil ")
    "Zoë O'Neil"

    :raises BadInput: it is empty, too long, or holds more than letters, digits and ``' - .``
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise BadInput("a reviewer needs a name")
    if len(name) > MAX_NAME:
        raise BadInput(f"a name has at most {MAX_NAME} characters, and this one has {len(name)}")
    for character in name:
        if unicodedata.category(character)[0] not in "LMN" and character not in " '’-.":
            raise BadInput(
                f"a name is written with letters, digits, spaces, ' - and ., not with {character!r}"
            )
    return name


def topic_of_query(topics: Iterable[Topic], query: str) -> Topic | None:
    """The topic that already stands for a query typed in the search box."""
    key = query_key(query)
    standing = [topic for topic in topics if query_key(topic.query) == key]
    return min(standing, key=lambda topic: topic.topic_id, default=None)


def now() -> str:
    """The time of a label given now: ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
