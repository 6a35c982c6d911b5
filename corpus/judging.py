"""What relevance is judged on and how: topics, grades and judgments."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

Split = Literal["dev", "test"]

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

    def __post_init__(self) -> None:
        if not self.topic_id or not self.query.strip():
            raise ValueError("a topic needs an id and a query")
        if self.split not in ("dev", "test"):
            raise ValueError(f"topic {self.topic_id!r}: split is dev or test, not {self.split!r}")


@dataclass(frozen=True, slots=True)
class Judgment:
    """One reviewer's label of one document for one topic, never changed once given.

    ``grade`` is 0 to 3, or None for *unrateable*, which then needs a ``reason``. ``protocol`` is
    the hash of the protocol under which the document was seen, empty when it was judged blind.
    ``judged_at`` is ISO 8601 in UTC.
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

    def __post_init__(self) -> None:
        if self.grade is not None and (self.grade not in GRADES or isinstance(self.grade, bool)):
            raise ValueError(f"a grade is 0, 1, 2 or 3, not {self.grade!r}")
        if self.grade is None and not self.reason:
            raise ValueError("an unrateable document needs a reason")
        if not self.judge.strip():
            raise ValueError("a judgment needs the name of its judge")


def query_key(query: str) -> str:
    """Fold a query to the key under which its labels meet: NFC, case-folded, spaces collapsed.

    >>> query_key("  Relé  AX-2041 ")
    'relé ax-2041'
    """
    return " ".join(unicodedata.normalize("NFC", query).casefold().split())
