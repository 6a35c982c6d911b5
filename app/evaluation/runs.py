"""What a system or a fusion showed for each topic, in the order it showed it.

The order of a run is the order of its lists. No score is kept, so that nothing can sort it again:
measures are given scores made from the places (`app.evaluation.measures`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.query.fuse import fuse
from app.query.protocol import MAX_DEPTH, Protocol
from app.query.ranking import Ranking, ranking_of
from store.catalogue import split_passage_id
from store.errors import BadInput

Kind = Literal["source", "fusion"]


@dataclass(frozen=True, slots=True)
class Run:
    """The lists of one row of an evaluation, by topic id, best first.

    A topic without a list is one for which nothing was shown. ``sources`` are the names of the runs
    that a fusion was made from, and are empty for a source.

    :raises BadInput: an id stands in one list twice
    """

    name: str
    kind: Kind
    lists: Mapping[str, tuple[str, ...]]
    sources: tuple[str, ...] = ()
    protocol: Protocol | None = None

    def __post_init__(self) -> None:
        for topic_id, ids in self.lists.items():
            if len(set(ids)) != len(ids):
                twice = next(name for name in ids if ids.count(name) > 1)
                raise BadInput(f"run {self.name!r} has {twice!r} twice for topic {topic_id!r}")

    def shown(self, topic_id: str) -> tuple[str, ...]:
        """The list for a topic, empty where there is none."""
        return self.lists.get(topic_id, ())


def fused_run(
    name: str,
    protocol: Protocol,
    rankings: Mapping[str, Sequence[Ranking]],
    sources: Sequence[str],
) -> Run:
    """Fuse each topic's rankings, which are those of the protocol's systems at its depths."""
    lists = {
        topic_id: documents([hit.id for hit in fuse(of_topic, protocol)], protocol)
        for topic_id, of_topic in rankings.items()
    }
    return Run(name, "fusion", lists, tuple(sources), protocol)


def fused_from_runs(name: str, protocol: Protocol, runs: Sequence[Run]) -> Run:
    """Fuse runs, each the system of its own name; a list is cut at the depth of its system."""
    topic_ids = dict.fromkeys(topic_id for run in runs for topic_id in run.lists)
    depths = {system.name: system.depth for system in protocol.systems}
    rankings = {
        topic_id: [
            ranking_of(run.name, run.shown(topic_id), depth=depths[run.name]) for run in runs
        ]
        for topic_id in topic_ids
    }
    return fused_run(name, protocol, rankings, [run.name for run in runs])


def documents(ids: Sequence[str], protocol: Protocol) -> tuple[str, ...]:
    """The documents of a displayed list: labels are of documents, so that of several passages of
    one document the first counts."""
    if protocol.unit == "document":
        return tuple(ids)
    return tuple(dict.fromkeys(split_passage_id(name)[0] for name in ids))


def read_trec_run(name: str, path: Path) -> Run:
    """Read ``topic Q0 document rank score tag`` lines, ordered by the rank column.

    :raises BadInput: the file cannot be read, a line is not of that form, or two documents of one
        topic have the same rank
    """
    ranked: dict[str, dict[int, str]] = {}
    for number, line in enumerate(lines_of(path), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 6 or not fields[3].isdecimal():
            raise BadInput(
                f"line {number} of {path} is not `topic Q0 document rank score tag` "
                f"with a whole rank: {line[:80]!r}"
            )
        topic_id, _, doc_id, rank = fields[:4]
        of_topic = ranked.setdefault(topic_id, {})
        if int(rank) in of_topic:
            raise BadInput(
                f"line {number} of {path} gives topic {topic_id!r} rank {rank} again; "
                "a run says the order by its ranks, and no two documents share one"
            )
        of_topic[int(rank)] = doc_id
    if not ranked:
        raise BadInput(f"{path} holds no line of a run")
    lists = {
        topic_id: tuple(of_topic[rank] for rank in sorted(of_topic))
        for topic_id, of_topic in ranked.items()
    }
    longest = max(len(ids) for ids in lists.values())
    if longest > MAX_DEPTH:
        raise BadInput(f"{path} has a list of {longest:,}; at most {MAX_DEPTH:,} are fused")
    return Run(name, "source", lists)


def lines_of(path: Path) -> list[str]:
    """The lines of a text file, without a byte order mark.

    :raises BadInput: it cannot be read as UTF-8
    """
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
