"""Ranked lists that other services made: TREC run files, and JSON.

A run holds one list for each of its topics. Its order is the order of its ranks, or of the JSON
list, and never that of the scores, which are only needed where scores are fused. What cannot be
read is refused by its line; what can be read in one way alone is read so, with a note.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from app.query.fusions import fusion_named
from app.query.protocol import DEFAULT_K, Protocol, exact_number
from app.query.ranking import Hit, Ranking
from app.query.systems import LIST, MAX_DEPTH, System
from store.errors import BadInput

NO_TOPIC = ""
"""The topic of a list that says none."""

NO_LIST = "the run has no list for this topic"


@dataclass(frozen=True, slots=True)
class Entry:
    """One place of a list; ``score`` is the other service's own, or None where it gave none."""

    id: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """The lists of one service by topic, best first; ``notes`` say how they had to be read."""

    name: str
    lists: Mapping[str, tuple[Entry, ...]]
    notes: tuple[str, ...] = ()

    @property
    def longest(self) -> int:
        """The length of its longest list."""
        return max(map(len, self.lists.values()), default=0)

    def ranking(self, topic: str, depth: int) -> Ranking:
        """The list of a topic, cut at ``depth``.

        What its service had below its end nobody knows, so it is never exhausted.
        """
        if topic not in self.lists:
            return Ranking(self.name, depth, (), exhausted=False, not_asked=NO_LIST)
        entries = self.lists[topic]
        hits = tuple(
            Hit(entry.id, rank, float(len(entries) - rank) if entry.score is None else entry.score)
            for rank, entry in enumerate(entries[:depth], start=1)
        )
        return Ranking(self.name, depth, hits, exhausted=False)


def read_runs(given: Sequence[str]) -> tuple[Run, ...]:
    """Read each ``FILE`` or ``NAME=FILE``; a run without a name has that of its file.

    A JSON list names no topic: beside runs of one topic it is of that topic.

    :raises BadInput: a file or a line cannot be read, two runs have one name, or a list without a
        topic is beside runs of several
    """
    runs: dict[str, Run] = {}
    for text in given:
        before, equals, after = text.partition("=")
        path, name = (Path(after), before) if equals and after else (Path(text), "")
        name = name or path.stem
        if name in runs:
            raise BadInput(f"two runs are named {name!r}; name one of them, as other={path}")
        runs[name] = read_run(name, path)
    topics = dict.fromkeys(topic for run in runs.values() for topic in run.lists)
    named = [topic for topic in topics if topic != NO_TOPIC]
    if NO_TOPIC not in topics or not named:
        return tuple(runs.values())
    if len(named) > 1:
        bare = next(run.name for run in runs.values() if NO_TOPIC in run.lists)
        raise BadInput(
            f"the list of {bare} says no topic, and the others have {len(named)}; "
            'write it as an object of lists by topic, {"topic": [...]}'
        )
    return tuple(
        Run(run.name, {topic or named[0]: one for topic, one in run.lists.items()}, run.notes)
        for run in runs.values()
    )


def read_run(name: str, path: Path) -> Run:
    """Read a TREC run, or JSON where the file begins as JSON does.

    :raises BadInput: it cannot be read
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the run {path} cannot be read: {error}") from error
    is_json = text.lstrip()[:1] in ("[", "{")
    try:
        run = _from_json(name, text) if is_json else _from_trec(name, text.split("\n"))
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
    if not run.lists:
        raise BadInput(f"{path} holds no list")
    return run


def _from_trec(name: str, lines: Iterable[str]) -> Run:
    """``topic Q0 document rank score tag``, a line for each document, in any order."""
    ranked: dict[str, dict[int, tuple[int, Entry]]] = {}
    places: dict[tuple[str, str], int] = {}
    for number, line in enumerate(lines, start=1):
        if not (columns := line.split()):
            continue
        where = f"line {number}"
        if len(columns) != 6:
            raise BadInput(
                f"{where} has {len(columns)} columns, not the six of a run: "
                "topic Q0 document rank score tag"
            )
        topic, _, doc_id, rank, score, _ = columns
        if not topic.isprintable():
            raise BadInput(f"{where} has {topic!r} for a topic, which is printable text")
        if not (rank.isascii() and rank.isdecimal()):
            raise BadInput(f"{where} has {rank!r} for a rank, which is a whole number")
        entry = Entry(_id(where, doc_id), _score(where, score))
        if (earlier := places.setdefault((topic, doc_id), number)) != number:
            raise BadInput(
                f"{where} has {doc_id!r} of topic {topic!r} again, after line {earlier}; "
                "a list gives each document one vote"
            )
        of_topic = ranked.setdefault(topic, {})
        if int(rank) in of_topic:
            raise BadInput(
                f"{where} gives rank {int(rank)} of topic {topic!r} again, "
                f"after line {of_topic[int(rank)][0]}; no two documents share one"
            )
        of_topic[int(rank)] = (number, entry)
    gaps = [topic for topic, one in ranked.items() if sorted(one) != [*range(1, len(one) + 1)]]
    lists = {topic: tuple(one[rank][1] for rank in sorted(one)) for topic, one in ranked.items()}
    notes = (
        f"The ranks of {_topics(gaps)} do not count from 1 without gaps; "
        "their order was kept and the ranks were closed up."
    )
    return Run(name, lists, (*([notes] if gaps else []), *_rising(lists)))


def _from_json(name: str, text: str) -> Run:
    """A list of ids, or of objects with an id and perhaps a score; or an object of such lists."""
    try:
        body = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"it is not JSON: {error}") from error
    if isinstance(body, dict) and not all(topic and topic.isprintable() for topic in body):
        raise BadInput("a topic has a name that is printable text")
    by_topic = body if isinstance(body, dict) else {NO_TOPIC: body}
    lists = {topic: _entries(topic, entries) for topic, entries in by_topic.items()}
    return Run(name, lists, _rising(lists))


def _entries(topic: str, body: object) -> tuple[Entry, ...]:
    of = f" of topic {topic!r}" if topic else ""
    if not isinstance(body, list):
        raise BadInput(f"the list{of} is not a list of ids, or of objects with an id and a score")
    entries = [_entry(f"entry {number}{of}", one) for number, one in enumerate(body, start=1)]
    places: dict[str, int] = {}
    for number, entry in enumerate(entries, start=1):
        if (earlier := places.setdefault(entry.id, number)) != number:
            raise BadInput(
                f"entry {number}{of} has {entry.id!r} again, after entry {earlier}; "
                "a list gives each document one vote"
            )
    return tuple(entries)


def _entry(where: str, one: object) -> Entry:
    if isinstance(one, dict):
        score = one.get("score")
        return Entry(_id(where, one.get("id")), None if score is None else _score(where, score))
    return Entry(_id(where, one))


def _id(where: str, value: object) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise BadInput(f"{where} has {value!r} for an id, which is printable text")
    return value


def _score(where: str, value: Any) -> float:
    try:
        score = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        raise BadInput(f"{where} has {value!r} for a score, which is a finite number")
    return score


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number that JSON has")


def _rising(lists: Mapping[str, Sequence[Entry]]) -> tuple[str, ...]:
    rising = [
        topic
        for topic, entries in lists.items()
        if any(
            one.score is not None and other.score is not None and one.score < other.score
            for one, other in pairwise(entries)
        )
    ]
    said = f"The scores of {_topics(rising)} rise somewhere down the list; ranks decide."
    return (said,) if rising else ()


def _topics(names: Sequence[str]) -> str:
    """
    >>> _topics(["3"]), _topics(["3", "4", "5"]), _topics([""])
    ("topic '3'", "topic '3' and 2 more", 'the list')
    """
    first = f"topic {names[0]!r}" if names and names[0] else "the list"
    return f"{first} and {len(names) - 1} more" if len(names) > 1 else first


def protocol_of(
    runs: Sequence[Run],
    *,
    k: object = DEFAULT_K,
    depths: Mapping[str, int] | None = None,
    weights: Mapping[str, object] | None = None,
    fusion: str = "rrf",
) -> Protocol:
    """The protocol that fuses ``runs``: each is a system, as deep as its longest list unless said.

    :raises BadInput: a value cannot be used or names no run, or scores are fused and a run has none
    """
    names = [run.name for run in runs]
    for name in (*(depths or {}), *(weights or {})):
        if name not in names:
            raise BadInput(f"there is no run {name!r}; there are {', '.join(names)}")
    if fusion_named(fusion).uses == "scores":
        for run in runs:
            if any(entry.score is None for entries in run.lists.values() for entry in entries):
                raise BadInput(f"{fusion} adds scores, and {run.name} has entries without one")
    return Protocol(
        tuple(
            System(
                run.name,
                (depths or {}).get(run.name, min(MAX_DEPTH, max(1, run.longest))),
                exact_number(f"the weight of {run.name}", (weights or {}).get(run.name, 1)),
                kind=LIST,
            )
            for run in runs
        ),
        k=exact_number("k", k),
        fusion=fusion,
    )
