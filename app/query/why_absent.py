"""Why a document is not where somebody looks for it, or where it is.

Only documents that the reader may see are found by name. Of any other the answer is the one that a
name gets which nobody ever gave: nothing here tells the two apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.query.explain import part_in_words
from app.query.fuse import Contribution, FusedHit, Reason
from app.query.narrow import narrowed
from app.query.protocol import MAX_DEPTH, Protocol
from app.query.ranking import Ranking
from app.query.record import part_data
from app.query.search import Engines, SearchResult, search
from corpus.document import Document
from corpus.query_terms import together
from corpus.scope import Scope
from corpus.terms import code_terms, fold_words, read_query
from store.catalogue import Catalogue, Version
from store.errors import BadInput, UnknownDocument
from store.scope import permitted_documents

NAMED = 5
"""How many documents of an ambiguous name are listed."""

_FILTERS = ("languages", "folder", "media_types", "tags", "since", "until", "codes")


@dataclass(frozen=True, slots=True)
class SystemAnswer:
    """What one system says of the document: a rank in its list, or the first reason for none.

    ``true_rank`` is the place below the depth, found by asking as deep as :data:`MAX_DEPTH`; None
    where it is deeper still, or there is none.
    """

    system: str
    reason: Reason | None
    rank: int | None
    true_rank: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class WhyAbsent:
    """The answer for one document; ``hit`` is its place in the fused order where it has one."""

    document: Document
    query: str
    hit: FusedHit | None
    sentence: str
    systems: tuple[SystemAnswer, ...]

    def as_data(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "doc_id": self.document.doc_id,
            "title": self.document.title,
            "locations": list(self.document.locations),
            "rank": self.hit.rank if self.hit else None,
            "parts": part_data(self.hit.parts) if self.hit else [],
            "sentence": self.sentence,
            "systems": [
                {
                    "system": answer.system,
                    "reason": str(answer.reason) if answer.reason else None,
                    "rank": answer.rank,
                    "true_rank": answer.true_rank,
                    "sentence": answer.sentence,
                }
                for answer in self.systems
            ],
        }


def why_absent(
    engines: Engines,
    catalogue: Catalogue,
    query: str,
    protocol: Protocol,
    scope: Scope,
    named: str,
) -> WhyAbsent:
    """Say where the document ``named`` by id, path or title is in the answer to ``query``, or the
    first cause for which it is not there.

    :raises UnknownDocument: this reader has no document of that name
    :raises BadInput: several documents are named so
    """
    protocol = replace(protocol, unit="document")
    version = catalogue.version(engines.backend.manifest.inputs.corpus_version)
    document = find_document(catalogue, version, named, scope.groups)
    result = search(engines, catalogue, query, protocol, scope, keep=False)
    hit = next((one for one in result.record.fused if one.id == document.doc_id), None)
    if hit is not None:
        answers = [
            SystemAnswer(
                part.system,
                None if isinstance(part, Contribution) else part.reason,
                part.rank if isinstance(part, Contribution) else None,
                None if isinstance(part, Contribution) else part.rank,
                f"{part.system}: {part_in_words(part)}",
            )
            for part in hit.parts
        ]
        sentence = f"It is rank {hit.rank} of {len(result.record.fused)} in the fused order."
        return WhyAbsent(document, query, hit, sentence, tuple(answers))
    causes = list(_outside(engines, catalogue, query, protocol, scope, document.doc_id))
    if causes:
        return WhyAbsent(document, query, None, causes[0], ())
    answers = list(_each(engines, catalogue, result, document.doc_id))
    sentence = "It is in no list: " + "; ".join(answer.sentence for answer in answers) + "."
    return WhyAbsent(document, query, None, sentence, tuple(answers))


def find_document(
    catalogue: Catalogue, version: Version, named: str, groups: Sequence[str]
) -> Document:
    """The one document of ``version`` that a member of ``groups`` may see under that name: its id
    or a path, else its title, else a part of one path or title; case and accents do not matter.

    :raises UnknownDocument: there is none
    :raises BadInput: there are several
    """
    permitted = permitted_documents(catalogue, version, Scope(groups=tuple(groups)))
    documents = [
        document
        for document in catalogue.documents(version.number)
        if permitted is None or document.doc_id in permitted
    ]
    folded = fold_words(named.strip())
    tests: tuple[Callable[[Document], bool], ...] = (
        lambda one: named in (one.doc_id, *one.locations),
        lambda one: folded == fold_words(one.title),
        lambda one: any(folded in fold_words(text) for text in (one.title, *one.locations)),
    )
    for test in tests if folded else ():
        found = [document for document in documents if test(document)]
        if len(found) == 1:
            return found[0]
        if found:
            some = "; ".join(document.locations[0] for document in found[:NAMED])
            more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
            raise BadInput(f"{named!r} names several documents: {some}{more}; give one path")
    raise UnknownDocument(
        f"version {version.number} has no document {named!r} that you may see; "
        "give its id, its path or its title"
    )


def _outside(
    engines: Engines,
    catalogue: Catalogue,
    query: str,
    protocol: Protocol,
    scope: Scope,
    doc_id: str,
) -> Iterator[str]:
    """Why no system was even asked of the document: it has no text, or a filter is in the way."""
    view = engines.backend.for_reader(scope.groups)
    if doc_id not in view.doc_ids:
        yield "It is not in this index: it has no text that could be searched."
        return
    version = catalogue.version(view.manifest.inputs.corpus_version)
    for name in _FILTERS:
        value = getattr(scope, name)
        if value is None:
            continue
        only = Scope(groups=scope.groups, **{name: value})
        if not _within(engines, catalogue, version, only, doc_id):
            shown = value if isinstance(value, str) else ", ".join(value)
            yield f"It is filtered out: by {name.replace('_', ' ')} {shown}."
    if _ruled_out(engines, catalogue, query, protocol, scope, doc_id):
        yield "It is filtered out: by what the query itself excludes or filters."


def _within(
    engines: Engines, catalogue: Catalogue, version: Version, scope: Scope, doc_id: str
) -> bool:
    permitted = permitted_documents(catalogue, version, scope)
    if permitted is not None and doc_id not in permitted:
        return False
    if scope.codes is None:
        return True
    terms = together(map(code_terms, scope.codes))
    return doc_id in engines.backend.for_reader(scope.groups).matching_documents(terms)


def _ruled_out(
    engines: Engines,
    catalogue: Catalogue,
    query: str,
    protocol: Protocol,
    scope: Scope,
    doc_id: str,
) -> bool:
    view = engines.backend.for_reader(scope.groups)
    version = catalogue.version(view.manifest.inputs.corpus_version)
    terms = read_query(query)
    if not terms.narrowed:
        return False
    permitted = narrowed(view, catalogue, version, Scope(groups=scope.groups), terms)
    return permitted is not None and doc_id not in permitted


def _each(
    engines: Engines, catalogue: Catalogue, result: SearchResult, doc_id: str
) -> Iterator[SystemAnswer]:
    """What every system says of a document that none of them lists."""
    record = result.record
    deeper = replace(
        record.protocol,
        systems=tuple(replace(system, depth=MAX_DEPTH) for system in record.protocol.systems),
    )
    again = search(engines, catalogue, record.query, deeper, record.scope, keep=False)
    for shallow, deep in zip(record.rankings, again.record.rankings, strict=True):
        yield _answer(shallow, deep, doc_id)


def _answer(shallow: Ranking, deep: Ranking, doc_id: str) -> SystemAnswer:
    name, rank = shallow.system, deep.rank_of().get(doc_id)
    if shallow.unavailable:
        return SystemAnswer(
            name, Reason.UNAVAILABLE, None, None, f"{name} is unavailable ({shallow.unavailable})"
        )
    if shallow.not_asked:
        return SystemAnswer(
            name, Reason.NOT_ASKED, None, None, f"{name} was not asked ({shallow.not_asked})"
        )
    if rank is not None:
        return SystemAnswer(
            name,
            Reason.BELOW_DEPTH,
            None,
            rank,
            f"{name} ranks it {rank}, below the depth of {shallow.depth}",
        )
    if deep.exhausted:
        return SystemAnswer(name, Reason.NOT_MATCHED, None, None, f"{name} does not match it")
    return SystemAnswer(
        name, Reason.BELOW_DEPTH, None, None, f"{name} ranks it below {MAX_DEPTH:,}"
    )
