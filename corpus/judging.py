"""What relevance is judged on and how: topics, projects, grades and judgments."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

Split = Literal["dev", "test"]
Role = Literal["judge", "adjudicator"]

DEFAULT_PROJECT = "default"
MAX_JUDGES = 50

GRADES: dict[int, str] = {
    3: "Answers the need completely; a technician could act on it alone.",
    2: "Answers an essential part of the need, or all of it with detours.",
    1: "On the subject and useful as background, but does not answer.",
    0: "Not relevant to the need.",
}


@dataclass(frozen=True, slots=True)
class Topic:
    """An information need with the query that stands for it.

    ``need`` is the need in words, which is what judges read; ``author`` wrote it; ``split`` says
    whether settings may be chosen on it (``dev``) or only reported (``test``).
    """

    topic_id: str
    query: str
    need: str
    author: str
    split: Split
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.topic_id or not self.query.strip():
            raise ValueError("a topic needs an id and a query")
        if self.split not in ("dev", "test"):
            raise ValueError(f"topic {self.topic_id!r}: split is dev or test, not {self.split!r}")


@dataclass(frozen=True, slots=True)
class Project:
    """What one effort of judging agreed on: what each grade means, and how many judge a pair.

    ``grades`` are the sentences that define 0, 1, 2 and 3, in that order. They may be changed until
    the project's first label and never after. ``judges_per_pair`` is after how many reviewers'
    labels a document of a topic is not offered to another one; None lets everybody judge all.
    """

    name: str
    grades: tuple[str, str, str, str] = (GRADES[0], GRADES[1], GRADES[2], GRADES[3])
    judges_per_pair: int | None = None

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("a project needs a name")
        if len(self.grades) != len(GRADES) or not all(text.strip() for text in self.grades):
            raise ValueError(f"project {self.name!r}: each grade 0 to 3 is defined in a sentence")
        if self.judges_per_pair is not None and not 1 <= self.judges_per_pair <= MAX_JUDGES:
            raise ValueError(
                f"project {self.name!r}: from 1 to {MAX_JUDGES} judge a pair, "
                f"not {self.judges_per_pair}"
            )


@dataclass(frozen=True, slots=True)
class Judgment:
    """One reviewer's label of one document for one topic, never changed once given.

    ``grade`` is 0 to 3, or None for *unrateable*, which then needs a ``reason``. ``protocol`` is
    the hash of the protocol under which the document was seen, empty when it was judged blind.
    ``judged_at`` is ISO 8601 in UTC. An ``adjudicator`` settles what judges disagree on; that is
    one more label, beside theirs.

    ``withdrawn`` takes back what this judge said last, in this role, of this document: then there
    is no label of theirs until the next one. ``seed`` shuffled the queue that the document was
    offered in. ``topic_revision`` is the topic's text that was read, and 0 stands for its newest.
    """

    topic_id: str
    doc_id: str
    revision: int
    grade: int | None
    judge: str
    judged_at: str
    corpus_version: int
    blind: bool
    passage_id: str = ""
    protocol: str = ""
    reason: str = ""
    note: str = ""
    project: str = DEFAULT_PROJECT
    role: Role = "judge"
    withdrawn: bool = False
    seed: str = ""
    topic_revision: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if self.grade is not None and (self.grade not in GRADES or isinstance(self.grade, bool)):
            raise ValueError(f"a grade is 0, 1, 2 or 3, not {self.grade!r}")
        if self.withdrawn and self.grade is not None:
            raise ValueError("what withdraws a label has no grade")
        if self.grade is None and not self.withdrawn and not self.reason:
            raise ValueError("an unrateable document needs a reason")
        if self.role not in get_args(Role):
            raise ValueError(f"a role is judge or adjudicator, not {self.role!r}")
        if not self.judge.strip():
            raise ValueError("a judgment needs the name of its judge")


def query_key(query: str) -> str:
    """Fold a query to the key under which its labels meet: NFC, case-folded, spaces collapsed.

    >>> query_key("  Relé  AX-2041 ")
    'relé ax-2041'
    """
    return " ".join(unicodedata.normalize("NFC", query).casefold().split())


def standing(judgments: Iterable[Judgment]) -> list[Judgment]:
    """Of labels in the order given, what each judge says now of each document for each topic.

    The last one of a judge in a role counts; where that withdraws, there is none. What is returned
    is in the order given.
    """
    last: dict[tuple[str, str, str, str, str], Judgment] = {}
    for judgment in judgments:
        key = (
            judgment.project,
            judgment.topic_id,
            judgment.doc_id,
            judgment.judge,
            judgment.role,
        )
        last.pop(key, None)
        if not judgment.withdrawn:
            last[key] = judgment
    return list(last.values())
