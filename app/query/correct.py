"""What may have been meant by a word or code that no document has.

A correction is said, never made in silence: by default the answer is to the words as typed and the
suggestion stands beside it. Only documents that this reader may see decide whether a word is known,
and only words of theirs are suggested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from corpus.codes import code_forms, find_codes, fold_code
from corpus.query_filters import FIELDS
from corpus.query_language import take_apart
from corpus.query_terms import QueryTerms, Terms
from corpus.stopwords import STOP_WORDS
from corpus.terms import WORD, fold_words, read_query
from store.backend import Candidate, View

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What ``typed`` may have been meant to be, the likeliest first, never nothing.

    ``places`` are half-open offsets into the text of the query as it was read.
    """

    typed: str
    places: tuple[Place, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A word or a code of a query: what it is looked up by, and where it stands."""

    term: str
    code: bool
    typed: str
    place: Place


def suggestions(
    view: View, terms: QueryTerms, permitted: frozenset[str] | None
) -> tuple[Suggestion, ...]:
    """One for each word or code that none of the reader's documents has, in order.

    Candidates are from ``permitted``, where the query is searched. A word that only the filters
    keep away is spelled well, and nothing is suggested for it.

    :raises EngineFailure: the lexical engine cannot answer
    """
    found: dict[tuple[str, bool], Suggestion] = {}
    taken: list[Place] = []
    # The longest first: a code typed with a space is one thing, not its second half alone.
    for spot in sorted(_spots(terms), key=lambda s: s.place[0] - s.place[1]):
        start, end = spot.place
        if any(start < other_end and other_start < end for other_start, other_end in taken):
            continue
        known = found.get((spot.term, spot.code))
        if known is None:
            candidates = _candidates(view, spot, permitted)
            if terms.text[end : end + 1] == ":":
                # Before a colon the name of a field would be a sign.
                candidates = tuple(one for one in candidates if one.text not in FIELDS)
            if not candidates:
                continue
            known = Suggestion(spot.typed, (), candidates)
        found[spot.term, spot.code] = replace(known, places=(*known.places, spot.place))
        taken.append(spot.place)
    if permitted is not None:
        found = {key: one for key, one in found.items() if not _held(view, key, one)}
    in_order = (replace(one, places=tuple(sorted(one.places))) for one in found.values())
    return tuple(sorted(in_order, key=lambda one: one.places))


def corrected(text: str, given: Sequence[Suggestion], chosen: Candidate | None = None) -> str:
    """``text`` with every suggestion followed: by ``chosen`` where it is one of its candidates,
    else by its first.

    >>> given = [Suggestion("pmup", ((0, 4),), (Candidate("pump", 2),))]
    >>> corrected("pmup leaks", given)
    'pump leaks'
    """
    edits = [
        (place, chosen if chosen in one.candidates and chosen else one.candidates[0])
        for one in given
        for place in one.places
    ]
    for (start, end), candidate in sorted(edits, key=lambda edit: edit[0], reverse=True):
        text = f"{text[:start]}{candidate.text}{text[end:]}"
    return text


def suggestion_data(text: str, given: Sequence[Suggestion]) -> list[dict[str, Any]]:
    """Suggestions for a query's ``text`` as JSON-ready data."""
    return [
        {
            "term": one.typed,
            "candidates": [
                {
                    "text": candidate.text,
                    "documents": candidate.documents,
                    "query": corrected(text, given, candidate),
                }
                for candidate in one.candidates
            ],
        }
        for one in given
    ]


def applied(one: Suggestion) -> str:
    """The sentence that says what was searched instead."""
    return f"No document has {one.typed}; {one.candidates[0].text} was searched instead."


def spelled(view: View, code: str, permitted: frozenset[str] | None) -> str:
    """A folded code of a permitted document as a document spells it, where that can be found.

    A spelling that would be a sign of the query language is not used.
    """
    terms = Terms(codes=(code,), spellings=(code,))
    hits = view.lexical(QueryTerms(code, terms), 3, permitted)
    passages = view.passages(hits.passage_ids)
    for passage in (passages[name] for name in hits.passage_ids if name in passages):
        for written in find_codes(passage.text):
            read = read_query(written.text)
            if code in code_forms(written.text) and code in read.codes and not read.narrowed:
                return written.text
    return code


def _spots(terms: QueryTerms) -> Iterator[_Spot]:
    """The words and codes of a query that may be misspelt, where they stand.

    A code is a code as a whole, so its pieces are no words here; names in capitals are none either.
    """
    words = {*terms.words, *(word for phrase in terms.asked.phrases for word in phrase.words)}
    words -= {*STOP_WORDS, *terms.asked.unstemmed}
    for piece in take_apart(terms.text)[0]:
        if piece.excluded or piece.kind not in ("text", "phrase"):
            continue
        text = terms.text[piece.start : piece.end]
        codes = list(find_codes(text)) if piece.kind == "text" else []
        before: tuple[str, int] | None = None
        for match in WORD.finditer(text):
            start, end = match.span()
            inside = any(code.start < end and start < code.end for code in codes)
            if not inside and fold_words(match.group()) in words:
                place = piece.start + start, piece.start + end
                yield _Spot(fold_words(match.group()), False, match.group(), place)
            if before and any((code.start, code.end) == (start, end) for code in codes):
                typed = f"{before[0]} {match.group()}"
                if fold_code(typed) in terms.asked.guesses:
                    place = piece.start + before[1], piece.start + end
                    yield _Spot(fold_code(typed), True, typed, place)
            before = match.group(), start
        for code in codes:
            if fold_code(code.text) in terms.codes:
                place = piece.start + code.start, piece.start + code.end
                yield _Spot(fold_code(code.text), True, code.text, place)


def _candidates(view: View, spot: _Spot, permitted: frozenset[str] | None) -> tuple[Candidate, ...]:
    if not spot.code:
        return view.near_words(spot.term, permitted)
    return tuple(
        replace(candidate, text=spelled(view, candidate.text, permitted))
        for candidate in view.near_codes(spot.typed, permitted)
    )


def _held(view: View, key: tuple[str, bool], one: Suggestion) -> bool:
    """Whether a document that the reader may see holds a term, filtered out or not."""
    term, is_code = key
    terms = Terms(codes=(term,), spellings=(one.typed,)) if is_code else Terms(words=(term,))
    return bool(view.matching_documents(terms))
