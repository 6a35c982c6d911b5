"""The lists of each topic, asked once as deep as any protocol needs, and cut for each of them.

A list's first n entries do not depend on how deep it was asked, so that many protocols can be
compared for one retrieval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from app.evaluation.runs import Run, documents, fused_run
from app.query.asking import CODES_ALONE
from app.query.protocol import LEXICAL, Asked, Protocol, System
from app.query.ranking import Ranking
from app.query.search import Engines, search
from corpus.judging import Topic
from corpus.scope import Scope
from store.catalogue import Catalogue
from store.errors import CounterpointError

Progress = Callable[[int, int], object]
"""Called with how many searches are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the systems answered to one topic, each asked, by name.

    ``codes_only`` is whether the query is nothing but codes.
    """

    rankings: Mapping[str, Ranking]
    codes_only: bool

    @property
    def answered_by_codes(self) -> bool:
        """Whether a system that stays silent where codes alone match is silent here."""
        lexical = self.rankings.get(LEXICAL)
        return self.codes_only and lexical is not None and bool(lexical.hits)

    def ranking(self, system: System, asked: Asked) -> Ranking:
        """The list that a protocol with this system fuses, where it is asked as ``asked`` says."""
        whole = self.rankings[system.name]
        if asked == "unless codes alone match" and self.answered_by_codes:
            return Ranking(system.name, system.depth, (), exhausted=True, not_asked=CODES_ALONE)
        return replace(
            whole,
            depth=system.depth,
            hits=whole.hits[: system.depth],
            exhausted=whole.exhausted and len(whole.hits) <= system.depth,
        )


@dataclass(frozen=True, slots=True)
class Question:
    """What has to be asked anew: protocols that differ in nothing of this share their lists."""

    unit: str
    corrected: bool
    coverage: Fraction | None

    @classmethod
    def of(cls, protocol: Protocol) -> Question:
        coverage = [one.coverage for one in protocol.systems if one.name == LEXICAL]
        return cls(
            protocol.unit, protocol.corrections == "apply", coverage[0] if coverage else None
        )


Retrieved = Mapping[Question, Mapping[str, Candidates]]
"""The candidates of each topic, by topic id, for each question."""


def retrieve_candidates(
    engines: Engines,
    catalogue: Catalogue,
    topics: Sequence[Topic],
    protocols: Sequence[Protocol],
    scope: Scope,
    progress: Progress | None = None,
) -> Retrieved:
    """Search for every topic, once for each question that the protocols put. Nothing is kept.

    :raises CounterpointError: an engine could not answer; figures without it would mislead
    """
    deepest = _deepest(protocols)
    retrieved: dict[Question, dict[str, Candidates]] = {question: {} for question in deepest}
    total = len(deepest) * len(topics)
    for question, protocol in deepest.items():
        for topic in topics:
            record = search(engines, catalogue, topic.query, protocol, scope, keep=False).record
            for ranking in record.rankings:
                if ranking.unavailable:
                    raise CounterpointError(
                        f"topic {topic.topic_id!r} cannot be evaluated: {ranking.unavailable}"
                    )
            retrieved[question][topic.topic_id] = Candidates(
                {ranking.system: ranking for ranking in record.rankings}, record.terms.codes_only
            )
            if progress is not None:
                progress(sum(map(len, retrieved.values())), total)
    return retrieved


def runs_of(named: Sequence[tuple[str, Protocol]], retrieved: Retrieved) -> list[Run]:
    """A run for each source list and each fusion of the named protocols.

    Where a protocol does not ask a system about some topics, the list of that system asked about
    all of them is a source as well: it is what the fusion has to be better than.
    """
    sources: dict[_Source, dict[str, Ranking]] = {}
    of_protocol: list[tuple[str, Protocol, list[_Source], list[_Source]]] = []
    for name, protocol in named:
        question = Question.of(protocol)
        fused, also = [], []
        for system in protocol.systems:
            asked: list[Asked] = [system.asked, "always"]
            keys = [_Source(question, system.name, system.depth, one) for one in asked]
            for key in keys:
                sources[key] = {
                    topic_id: candidates.ranking(system, key.asked)
                    for topic_id, candidates in retrieved[question].items()
                }
            if sources[keys[0]] == sources[keys[1]]:
                keys = keys[1:]
            fused.append(keys[0])
            also += keys[1:]
        of_protocol.append((name, protocol, fused, also))
    same = _same(sources)
    used = list(dict.fromkeys(same[key] for *_, fused, also in of_protocol for key in fused + also))
    names = {key: same[key].told_apart(used) for key in sources}
    units = {Question.of(protocol): protocol for _, protocol in named}
    runs = [
        Run(
            names[key],
            "source",
            {
                topic_id: documents([hit.id for hit in ranking.hits], units[key.question])
                for topic_id, ranking in sources[key].items()
            },
        )
        for key in used
    ]
    for name, protocol, fused, also in of_protocol:
        rankings = {
            topic_id: [sources[key][topic_id] for key in fused]
            for topic_id in retrieved[Question.of(protocol)]
        }
        own = dict.fromkeys(names[key] for key in fused + also)
        runs.append(fused_run(name, protocol, rankings, list(own)))
    return runs


def _same(sources: Mapping[_Source, Mapping[str, Ranking]]) -> dict[_Source, _Source]:
    """For each source the first one of its system with the same lists: they share a row."""
    first: dict[object, _Source] = {}
    same = {}
    for key, rankings in sources.items():
        lists = tuple(tuple(hit.id for hit in ranking.hits) for ranking in rankings.values())
        same[key] = first.setdefault((key.system, key.question.unit, lists), key)
    return same


@dataclass(frozen=True, slots=True)
class _Source:
    """One source list: what decides it, and nothing else."""

    question: Question
    system: str
    depth: int
    asked: Asked

    def told_apart(self, all_of_them: Sequence[_Source]) -> str:
        """The system's name, with what sets the list apart from the others of the system."""
        others = [one for one in all_of_them if one.system == self.system and one != self]
        said = []
        if any(one.depth != self.depth for one in others):
            said.append(f"depth {self.depth}")
        if any(one.asked != self.asked for one in others):
            said.append("asked always" if self.asked == "always" else "not asked for codes alone")
        if any(one.question.coverage != self.question.coverage for one in others):
            said.append(f"coverage {self.question.coverage}")
        if any(one.question.unit != self.question.unit for one in others):
            said.append(f"by {self.question.unit}")
        if any(one.question.corrected != self.question.corrected for one in others):
            said.append("corrected" if self.question.corrected else "as typed")
        return f"{self.system} ({', '.join(said)})" if said else self.system


def _deepest(protocols: Sequence[Protocol]) -> dict[Question, Protocol]:
    """For each question a protocol that asks every system, as deep as any of them."""
    deepest: dict[Question, Protocol] = {}
    for protocol in protocols:
        question = Question.of(protocol)
        known = deepest.get(question)
        before = {system.name: system for system in known.systems} if known else {}
        systems = []
        for system in protocol.systems:
            other = before.pop(system.name, system)
            systems.append(
                replace(
                    system,
                    depth=max(system.depth, other.depth),
                    weight=Fraction(1),
                    asked="always",
                    emphasis=system.emphasis or other.emphasis,
                )
            )
        deepest[question] = Protocol(
            (*systems, *before.values()),
            unit=protocol.unit,
            corrections="apply" if question.corrected else "off",
        )
    return deepest
