"""How a query was read, for the record as data and for the reader in one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corpus.query_terms import Filter, Phrase, QueryTerms, Terms, without


def read_data(terms: QueryTerms) -> dict[str, Any]:
    """The query's terms as JSON-ready data."""
    return {
        **_terms_data(terms.asked),
        "alternatives": [_terms_data(group) for group in terms.alternatives],
        "excluded": _terms_data(terms.excluded),
        "filters": [
            {
                "field": one.field,
                "value": one.value,
                "excluded": one.excluded,
                "values": list(one.values),
            }
            for one in terms.filters
        ],
    }


def _terms_data(terms: Terms) -> dict[str, Any]:
    return {
        "words": list(terms.words),
        "codes": list(terms.codes),
        "phrases": [{"words": list(phrase.words), "slop": phrase.slop} for phrase in terms.phrases],
        "prefixes": [
            {"text": prefix.text, "words": list(prefix.words)} for prefix in terms.prefixes
        ],
    }


def read_as(terms: QueryTerms) -> str:
    """One line for the reader where signs were used or something was cut; nothing otherwise.

    >>> from corpus.terms import read_query
    >>> read_as(read_query('"torque wrench" pump -leak type:pdf'))
    'Read as: pump, "torque wrench"; without leak; only type:pdf.'
    """
    signs = terms.asked.phrases or terms.asked.prefixes or terms.alternatives or terms.narrowed
    said = in_words(terms) if signs or terms.notes else ""
    return f"Read as: {said}." if said else ""


def in_words(terms: QueryTerms) -> str:
    """What is looked for, left out, and where.

    >>> from corpus.terms import read_query
    >>> in_words(read_query("error: 0x80070005"))
    'error, 0x80070005, code 0x80070005'
    """
    alone = terms.asked
    for group in terms.alternatives:
        alone = without(alone, group)
    asked = [*_named(alone), *(" OR ".join(_named(group)) for group in terms.alternatives)]
    said = [", ".join(asked)] if asked else []
    left_out = [*_named(terms.excluded), *(_filter(one) for one in terms.filters if one.excluded)]
    if left_out:
        said.append(f"without {', '.join(left_out)}")
    only = [_filter(one) for one in terms.filters if not one.excluded]
    if only:
        said.append(f"only {', '.join(only)}")
    return "; ".join(said)


def _named(terms: Terms) -> Iterator[str]:
    yield from terms.words
    for code, spelling in zip(terms.codes, terms.spellings, strict=True):
        if code not in terms.guesses:
            yield f"code {spelling}"
    yield from map(_phrase, terms.phrases)
    for prefix in terms.prefixes:
        yield f"{prefix.text}*"


def _phrase(phrase: Phrase) -> str:
    words = f'"{" ".join(phrase.words)}"'
    return f"{words}~{phrase.slop}" if phrase.slop else words


def _filter(one: Filter) -> str:
    return f'{one.field}:"{one.value}"' if " " in one.value else f"{one.field}:{one.value}"
