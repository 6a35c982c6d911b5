"""The documents of a generation: in which rows of both indexes they are, and who may read them.

Documents that carry the same groups are one *audience*. What a reader may read is a union of whole
audiences, so an index that is kept for each of them can be put together for any reader.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE_NAME = "documents.json"

Groups = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One document: its revision, its number of passages, and the groups that may read it, sorted;
    none where everyone may."""

    doc_id: str
    revision: int
    passages: int
    groups: Groups


class Documents:
    """The documents of a generation by number, from 0 in ascending order of their ids.

    ``audiences`` are the different sets of groups, sorted, which puts everyone first.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)
        self.audiences: tuple[Groups, ...] = tuple(sorted({one.groups for one in self.entries}))

    @cached_property
    def audience_of(self) -> NDArray[np.int64]:
        """The number of each document's audience, shape (documents,)."""
        number = {groups: place for place, groups in enumerate(self.audiences)}
        return _numbers([number[one.groups] for one in self.entries])

    @cached_property
    def first_row(self) -> NDArray[np.int64]:
        """The row of each document's first passage, shape (documents,)."""
        sizes = _numbers([one.passages for one in self.entries])
        return np.cumsum(sizes) - sizes

    @cached_property
    def doc_of(self) -> NDArray[np.int64]:
        """The number of each row's document, shape (passages,)."""
        sizes = _numbers([one.passages for one in self.entries])
        return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)

    def readable_by(self, groups: Collection[str]) -> tuple[int, ...]:
        """The numbers of the audiences that a member of ``groups`` belongs to, ascending."""
        return tuple(
            number
            for number, audience in enumerate(self.audiences)
            if not audience or not set(groups).isdisjoint(audience)
        )


def write_documents(folder: Path, documents: Documents) -> None:
    """Write the list into a generation's folder."""
    body = [[one.doc_id, one.revision, one.passages, one.groups] for one in documents.entries]
    (folder / FILE_NAME).write_text(json.dumps(body), encoding="utf-8")


def read_documents(folder: Path) -> Documents:
    """The documents of the generation in ``folder``."""
    body = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
    return Documents(
        Entry(name, revision, size, tuple(groups)) for name, revision, size, groups in body
    )


def _numbers(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)
