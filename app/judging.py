"""The reviewer's queue: which documents are judged for a topic, in which order, what comes next.

Blind by construction: a candidate carries no rank, engine or score, and its place in the queue
depends on the reviewer and the topic alone.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from app.label_states import State
from corpus.judging import Judgment, Topic, query_key, standing
from store.errors import BadInput

MAX_NAME = 60

_COUNTING: tuple[State, ...] = ("in force", "carried")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document to judge, in one revision, by the passage that it was found for."""

    doc_id: str
    revision: int
    passage_id: str


@dataclass(frozen=True, slots=True)
class Queue:
    """One reviewer's way through a pool.

    ``labels`` is what the reviewer says now of each document, and ``states`` what became of those
    labels as documents changed. ``others`` is by how many other judges a document was labelled;
    with ``enough`` of them it is not offered any more (None: everybody judges everything).
    """

    seed: str
    candidates: tuple[Candidate, ...]
    labels: Mapping[str, Judgment]
    states: Mapping[str, State] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)
    enough: int | None = None

    @property
    def judged(self) -> int:
        """How many candidates have a label of this reviewer that counts for the text in force."""
        return sum(self.state(entry) in _COUNTING for entry in self.candidates)

    @property
    def total(self) -> int:
        """How many documents are this reviewer's: judged, or still to be judged."""
        return self.judged + len(self.pending())

    def state(self, entry: Candidate) -> State | None:
        """What became of this reviewer's label of a document; None where there is no label."""
        label = self.labels.get(entry.doc_id)
        if label is None:
            return None
        default: State = "in force" if label.revision == entry.revision else "to confirm"
        return self.states.get(entry.doc_id, default)

    def pending(self) -> tuple[Candidate, ...]:
        """What is to be judged, in the order it is offered: the least judged first, and after all
        of those the documents whose text changed a little under this reviewer's label."""
        least_first = sorted(self.candidates, key=lambda entry: self.others.get(entry.doc_id, 0))
        new = [
            entry
            for entry in least_first
            if self.state(entry) in (None, "parked")
            and (self.enough is None or self.others.get(entry.doc_id, 0) < self.enough)
        ]
        return (*new, *(entry for entry in least_first if self.state(entry) == "to confirm"))

    def upcoming(self, later: Sequence[str] = ()) -> Candidate | None:
        """What to judge next; documents put off for ``later`` come after the others, in the order
        they were put off."""
        put_off = list(later)
        return min(
            self.pending(),
            key=lambda entry: put_off.index(entry.doc_id) + 1 if entry.doc_id in put_off else 0,
            default=None,
        )

    def last_judged(self, given: Iterable[Judgment]) -> Candidate | None:
        """The candidate that this reviewer labelled last, of labels in the order given, leaving out
        what was withdrawn."""
        mine = {entry.doc_id: entry for entry in self.candidates}
        labelled = [
            label
            for label in standing(given)
            if label.doc_id in mine and label.doc_id in self.labels and label.role == "judge"
        ]
        return mine[labelled[-1].doc_id] if labelled else None


def order_seed(judge: str, topic_id: str) -> str:
    """Eight hexadecimal digits that decide the order in which ``judge`` sees a topic's pool."""
    return hashlib.sha256(f"{judge}\0{topic_id}".encode()).hexdigest()[:8]


def make_queue(
    candidates: Iterable[Candidate],
    labels: Mapping[str, Judgment],
    judge: str,
    topic_id: str,
    *,
    states: Mapping[str, State] | None = None,
    others: Mapping[str, int] | None = None,
    enough: int | None = None,
) -> Queue:
    """Put a pool in the reviewer's order.

    Each document has a place of its own, so that one that joins the pool leaves the order of the
    others as it was.
    """
    seed = order_seed(judge, topic_id)
    shuffled = sorted(candidates, key=lambda entry: (token(seed, entry.doc_id), entry.doc_id))
    return Queue(seed, tuple(shuffled), labels, states or {}, others or {}, enough)


def others_judged(judgments: Iterable[Judgment], judge: str) -> dict[str, Counter[str]]:
    """By how many judges other than ``judge`` each document was labelled, by topic id."""
    counted: dict[str, Counter[str]] = {}
    for label in standing(judgments):
        if label.judge != judge and label.role == "judge":
            counted.setdefault(label.topic_id, Counter())[label.doc_id] += 1
    return counted


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
