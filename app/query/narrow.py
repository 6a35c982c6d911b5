"""What a query itself says of which documents may be ranked, resolved once for both systems.

A filter and an exclusion speak of documents: one passage, title or path is enough. Whatever a
document is left out by, it is in no list of any system.
"""

from __future__ import annotations

from dataclasses import replace

from corpus.query_terms import Filter, Prefix, QueryTerms, together
from corpus.scope import Scope
from corpus.terms import code_terms
from store.backend import View
from store.catalogue import Catalogue, Version
from store.scope import documents_at, permitted_documents

MAX_EXPANSIONS = 50
"""How many words one prefix stands for, the most frequent ones."""


def narrowed(
    view: View,
    catalogue: Catalogue,
    version: Version,
    scope: Scope,
    terms: QueryTerms,
) -> frozenset[str] | None:
    """The documents that ``scope`` permits and the query does not rule out; None means all that
    its reader may read.

    Filters of one field are alternatives, except that every date must hold; those of different
    fields must all hold.

    :raises EngineFailure: the lexical engine is needed to tell and cannot answer
    """
    permitted = permitted_documents(catalogue, version, scope) if scope.filtered else None
    if scope.codes is not None:
        holding = view.matching_documents(together(map(code_terms, scope.codes)))
        permitted = holding if permitted is None else permitted & holding
    if not terms.narrowed:
        return permitted
    allowed = permitted if permitted is not None else frozenset(view.doc_ids)
    wanted: dict[str, frozenset[str]] = {}
    for number, one in enumerate(terms.filters):
        found = _documents(view, catalogue, version, scope, one)
        if one.excluded:
            allowed -= found
        elif one.field in ("after", "before"):
            wanted[f"{one.field} {number}"] = found
        else:
            wanted[one.field] = wanted.get(one.field, frozenset()) | found
    for found in wanted.values():
        allowed &= found
    if terms.excluded:
        allowed -= view.matching_documents(terms.excluded)
    return allowed


def _documents(
    view: View, catalogue: Catalogue, version: Version, scope: Scope, one: Filter
) -> frozenset[str]:
    """The documents that one filter names, whether it wants them or not."""
    if one.field in ("title", "code"):
        return view.matching_documents(one.terms, in_title=one.field == "title")
    if one.field == "path":
        return documents_at(catalogue, version, one.values, frozenset(view.doc_ids))
    only = Scope(groups=scope.groups)
    match one.field:
        case "type":
            only = replace(only, media_types=one.values)
        case "lang":
            only = replace(only, languages=one.values)
        case "tag":
            only = replace(only, tags=one.values)
        case "after":
            only = replace(only, since=one.values[0])
        case "before":
            only = replace(only, until=one.values[0])
    found = permitted_documents(catalogue, version, only)
    return frozenset(view.doc_ids) if found is None else found


def expanded(view: View, terms: QueryTerms, permitted: frozenset[str] | None) -> QueryTerms:
    """The query with each prefix standing for the words it begins in the permitted documents.

    :raises EngineFailure: the lexical engine cannot answer
    """
    if not terms.asked.prefixes:
        return terms
    notes: list[str] = []
    known = {prefix: _expanded(view, prefix, permitted, notes) for prefix in terms.asked.prefixes}

    def put(prefixes: tuple[Prefix, ...]) -> tuple[Prefix, ...]:
        return tuple(known[prefix] for prefix in prefixes)

    return replace(
        terms,
        asked=replace(terms.asked, prefixes=put(terms.asked.prefixes)),
        alternatives=tuple(
            replace(group, prefixes=put(group.prefixes)) for group in terms.alternatives
        ),
        notes=(*terms.notes, *notes),
    )


def _expanded(
    view: View, prefix: Prefix, permitted: frozenset[str] | None, notes: list[str]
) -> Prefix:
    words = view.words_beginning(prefix.text, MAX_EXPANSIONS + 1, permitted)
    if len(words) > MAX_EXPANSIONS:
        notes.append(
            f"{prefix.text}* begins more than {MAX_EXPANSIONS} words; "
            f"the {MAX_EXPANSIONS} most frequent were searched."
        )
    return replace(prefix, words=words[:MAX_EXPANSIONS])
