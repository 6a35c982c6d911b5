"""Pools: which documents are judged for a topic, found by several protocols and by hand.

A pool is recorded with what brought each document to it, so that it can be asked later whether a
system was judged fairly. The queue that a judge sees is made from document ids and passages alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.evaluation.protocols import read_protocols
from app.judging import Candidate
from app.query.present import best_passages
from app.query.protocol import Protocol
from app.query.search import Engines, SearchResult, search
from corpus.document import passage_id
from corpus.judging import Judgment, Topic
from corpus.pools import FUSED, Pool, PoolEntry
from corpus.scope import Scope
from store.catalogue import Catalogue, Version, split_passage_id
from store.errors import BadInput, CounterpointError, UnknownDocument
from store.judging import now, topic_and_revision
from store.scope import permitted_documents

POOL_DEPTH = 20
"""How many documents of each list are judged unless it is said otherwise."""


class PoolIncomplete(CounterpointError):
    """An engine could not answer, and a pool without its list would be taken for a whole one."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Count:
    """How far the judging of one pool is. ``unjudged`` documents have no label of anybody."""

    topic_id: str
    documents: int
    unjudged: int


def read_protocol(text: str) -> Protocol:
    """A protocol as it is typed: ``default``, or such as ``k=10,depth=50,weight.lexical=2``.

    :raises BadInput: it cannot be read, or a value cannot be used; a file is not read, as the page
        would read one of the server's
    """
    if text.endswith(".toml"):
        raise BadInput(f"a pool's protocol is written k=10,depth=50,weight.lexical=2, not {text!r}")
    (one,) = read_protocols([text.strip()])
    return one.protocol()


def build_pool(
    engines: Engines,
    catalogue: Catalogue,
    project: str,
    topic_id: str,
    protocols: Sequence[Protocol],
    *,
    depth: int = POOL_DEPTH,
    by_hand: Sequence[str] = (),
    groups: tuple[str, ...] = (),
    builder: str,
) -> Pool:
    """Find what a topic's judges are to see: the first ``depth`` documents of every system and of
    the fusion of every protocol, within ``groups``, and those named ``by_hand``.

    Nothing is stored; :func:`store.pools.add_pools` records it.

    :raises PoolIncomplete: an engine could not answer
    :raises BadInput: a protocol does not look as deep as the pool
    :raises UnknownDocument: one added by hand is not in force, or not for these groups
    """
    topic, revision = topic_and_revision(catalogue, topic_id)
    if depth < 1:
        raise BadInput(f"the depth of a pool is at least 1, not {depth}")
    for protocol in protocols:
        if shallow := [one for one in protocol.systems if one.depth < depth]:
            raise BadInput(
                f"a pool of depth {depth} cannot be taken from {shallow[0].name}, which is asked "
                f"for {shallow[0].depth}; add depth={depth} to the protocol"
            )
    version = catalogue.version(engines.backend.manifest.inputs.corpus_version)
    scope = Scope(groups=groups)
    entries = [
        entry
        for protocol in protocols
        for entry in _found(
            search(engines, catalogue, topic.query, protocol, scope, keep=False), topic, depth
        )
    ]
    entries += _by_hand(catalogue, version, by_hand, scope)
    return Pool(
        project,
        topic_id,
        revision,
        version.number,
        depth,
        tuple(json.dumps(protocol.as_data(), sort_keys=True) for protocol in protocols),
        groups,
        builder,
        now(),
        tuple(entries),
    )


def _found(result: SearchResult, topic: Topic, depth: int) -> Iterator[PoolEntry]:
    record = result.record
    for ranking in record.rankings:
        if ranking.unavailable:
            raise PoolIncomplete(f"no pool was made for {topic.topic_id!r}: {ranking.unavailable}")
    best = best_passages(result)
    lists = {ranking.system: [hit.id for hit in ranking.hits] for ranking in record.rankings}
    lists[FUSED] = [hit.id for hit in record.fused]
    for name, ids in lists.items():
        for rank, one in enumerate(ids[:depth], start=1):
            doc_id, revision, _ = split_passage_id(best[one])
            yield PoolEntry(doc_id, revision, best[one], record.protocol.hash, name, rank)


def _by_hand(
    catalogue: Catalogue, version: Version, doc_ids: Sequence[str], scope: Scope
) -> Iterator[PoolEntry]:
    permitted = permitted_documents(catalogue, version, scope)
    for doc_id in doc_ids:
        if permitted is not None and doc_id not in permitted:
            raise UnknownDocument(f"version {version.number} has no document {doc_id!r}")
        revision = catalogue.document(version.number, doc_id).revision
        yield PoolEntry(doc_id, revision, passage_id(doc_id, revision, 0))


def candidates(
    catalogue: Catalogue,
    version: Version,
    pooled: Mapping[str, Mapping[str, str]],
    groups: tuple[str, ...] = (),
) -> dict[str, list[Candidate]]:
    """By topic, the documents of its pool that are in force and that a reader of ``groups`` may
    read, by id.

    ``pooled`` maps the documents of each topic to the passage that each was found for. A document
    that has changed since is opened at its beginning.
    """
    revisions = readable(
        catalogue, version, {doc_id for found in pooled.values() for doc_id in found}, groups
    )
    return {
        topic_id: [
            _candidate(doc_id, revisions[doc_id], name)
            for doc_id, name in sorted(found.items())
            if doc_id in revisions
        ]
        for topic_id, found in pooled.items()
    }


def readable(
    catalogue: Catalogue, version: Version, doc_ids: Iterable[str], groups: tuple[str, ...] = ()
) -> dict[str, int]:
    """Those of some documents that are in force and that a reader of ``groups`` may read, each with
    its revision."""
    permitted = permitted_documents(catalogue, version, Scope(groups=groups))
    return {
        document.doc_id: document.revision
        for document in catalogue.documents(version.number, sorted(doc_ids))
        if permitted is None or document.doc_id in permitted
    }


def _candidate(doc_id: str, revision: int, name: str) -> Candidate:
    same = split_passage_id(name)[1] == revision
    return Candidate(doc_id, revision, name if same else passage_id(doc_id, revision, 0))


def counts(
    pooled: Mapping[str, Mapping[str, str]], standing_labels: Iterable[Judgment]
) -> list[Count]:
    """How many documents each pool has and how many of them nobody judged, by topic."""
    judged = {(label.topic_id, label.doc_id) for label in standing_labels}
    return [
        Count(topic_id, len(documents), sum((topic_id, one) not in judged for one in documents))
        for topic_id, documents in sorted(pooled.items())
    ]
