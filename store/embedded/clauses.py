"""A query as the engine's query: one clause for each thing that was asked for.

A clause is satisfied by its best field, see ``TIE_BREAKER``. It names the terms of the index that
it may match, so that how rare it is can be looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import tantivy

from corpus.codes import code_forms, exact_form, part_forms, pieces
from corpus.query_terms import Phrase, Prefix, QueryTerms, Terms, without
from corpus.terms import WORD, fold_words
from store.backend import LexicalFields
from store.embedded.analysis import LANGUAGES, TIE_BREAKER, WEIGHTS, analyzers

LEAST_NUMBER = 4
"""Digits from which a whole number may also be the value of one written in groups, as 1,234."""

WORD_IN_CODE = 0.5
"""What a word counts, in parts of its field's weight, where it is only a piece of a code."""

_PLAIN = ("words", "title", "headings")

Entry = tuple[str, str]  # field, term


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing asked for and the query that scores it.

    ``entries`` are (field, term) pairs of the index. Any of them matches, unless ``every`` is true:
    then the clause is a phrase, and as frequent as its rarest entry at most. A ``guess`` may well
    match nothing, and its absence says nothing: two words that could be one code. ``pieces`` are
    the words that a code consists of, itself where it is but one; nothing else has any.
    """

    text: str
    query: tantivy.Query
    entries: tuple[Entry, ...]
    every: bool = False
    guess: bool = False
    pieces: tuple[str, ...] = ()


def clauses_of(
    index_schema: tantivy.Schema, query: QueryTerms, fields: LexicalFields = "all"
) -> tuple[Clause, ...]:
    """The clauses of a query; what OR joined is one clause. None where nothing is asked for."""
    each = {"all": _each, "codes": _each_code, "title": _each_in_title}[fields]
    alone = query.asked
    for group in query.alternatives:
        alone = without(alone, group)
    return (
        *each(index_schema, alone),
        *(
            _either(clauses)
            for group in query.alternatives
            if (clauses := tuple(each(index_schema, group)))
        ),
    )


def any_clause(clauses: Sequence[Clause]) -> tantivy.Query:
    """Whatever matches one of ``clauses``, scored by the sum of those it matches."""
    if not clauses:
        return tantivy.Query.empty_query()
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, c.query) for c in clauses])


def membership_query(
    index_schema: tantivy.Schema, terms: Terms, *, in_title: bool
) -> tantivy.Query:
    """Whatever holds any of ``terms``, without a score; a prefix stands for all it begins."""
    queries = [clause.query for clause in _each(index_schema, terms)] if not in_title else []
    if in_title:
        words = [Phrase((word,)) for word in terms.words]
        queries += [
            _phrase_in(index_schema, "title", phrase) for phrase in (*terms.phrases, *words)
        ]
    for prefix in terms.prefixes:
        pattern = prefix.text.replace(".", "[.]") + ".*"
        queries += [
            tantivy.Query.regex_query(index_schema, field, pattern)
            for field in (("title",) if in_title else (*_PLAIN, "codes"))
        ]
    if not queries:
        return tantivy.Query.empty_query()
    anything = tantivy.Query.boolean_query([(tantivy.Occur.Should, one) for one in queries])
    return tantivy.Query.const_score_query(anything, 1.0)


def _each(index_schema: tantivy.Schema, terms: Terms) -> Iterator[Clause]:
    stemless = set(terms.unstemmed)
    for word in terms.words:
        yield _word(index_schema, word, stemmed=word not in stemless)
    for code, spelling in zip(terms.codes, terms.spellings, strict=True):
        yield _code(index_schema, code, spelling, guess=code in terms.guesses)
    for phrase in terms.phrases:
        yield _phrase(index_schema, phrase)
    for prefix in terms.prefixes:
        yield _prefix(index_schema, prefix)


def _each_code(index_schema: tantivy.Schema, terms: Terms) -> Iterator[Clause]:
    """The codes as whole codes: not as parts of longer ones, and not spelled out in words."""
    for code, spelling in zip(terms.codes, terms.spellings, strict=True):
        weighed = [("exact", exact_form(spelling), WEIGHTS["exact"])]
        forms = dict.fromkeys((code, *code_forms(spelling)))
        weighed += [("codes", form, WEIGHTS["codes"]) for form in forms]
        yield Clause(
            spelling,
            _best(index_schema, weighed),
            _entries(weighed),
            guess=code in terms.guesses,
            pieces=(code,),
        )


def _each_in_title(index_schema: tantivy.Schema, terms: Terms) -> Iterator[Clause]:
    def clause(text: str, phrase: Phrase, *, guess: bool, pieces: tuple[str, ...]) -> Clause:
        return Clause(
            text,
            _phrase_in(index_schema, "title", phrase, WEIGHTS["title"]),
            tuple(("title", word) for word in phrase.words),
            every=True,
            guess=guess,
            pieces=pieces,
        )

    for word in terms.words:
        yield clause(word, Phrase((word,)), guess=False, pieces=())
    for code, spelling in zip(terms.codes, terms.spellings, strict=True):
        spelled_out = tuple(WORD.findall(fold_words(spelling))) or (code,)
        yield clause(spelling, Phrase(spelled_out), guess=code in terms.guesses, pieces=spelled_out)
    for phrase in terms.phrases:
        yield clause(" ".join(phrase.words), phrase, guess=False, pieces=())
    for prefix in terms.prefixes:
        weighed = [("title", word, WEIGHTS["title"]) for word in prefix.words]
        if weighed:
            text = f"{prefix.text}*"
            yield Clause(text, _best(index_schema, weighed, tie=0.0), _entries(weighed))


def _either(clauses: tuple[Clause, ...]) -> Clause:
    """What OR joined, scored by the best of it."""
    return Clause(
        " OR ".join(clause.text for clause in clauses),
        tantivy.Query.disjunction_max_query([clause.query for clause in clauses], 0.0),
        tuple(entry for clause in clauses for entry in clause.entries),
        guess=all(clause.guess for clause in clauses),
    )


def _word(index_schema: tantivy.Schema, word: str, *, stemmed: bool) -> Clause:
    weighed = [(field, word, WEIGHTS[field]) for field in _PLAIN]
    if stemmed:
        weighed += [
            (language, stem, WEIGHTS[language])
            for language in LANGUAGES
            for stem in analyzers()[language].analyze(word)
        ]
    weighed.append(("parts", word, WEIGHTS["parts"] * WORD_IN_CODE))
    if word.isdigit() and len(word) >= LEAST_NUMBER:
        weighed.append(("codes", word, WEIGHTS["codes"] * WORD_IN_CODE))
    return Clause(word, _best(index_schema, weighed), _entries(weighed))


def _code(index_schema: tantivy.Schema, code: str, spelling: str, *, guess: bool) -> Clause:
    forms = dict.fromkeys((code, *code_forms(spelling)))
    weighed = [("exact", exact_form(spelling), WEIGHTS["exact"])]
    weighed += [("codes", form, WEIGHTS["codes"]) for form in forms]
    weighed += [("parts", form, WEIGHTS["parts"]) for form in forms]
    apart = pieces(spelling)
    spelled_out = (
        [_phrase_in(index_schema, "words", Phrase(apart), WEIGHTS["words"])]
        if len(apart) > 1 and not guess and part_forms(spelling)
        else []
    )
    return Clause(
        spelling,
        _best(index_schema, weighed, spelled_out),
        _entries(weighed),
        guess=guess,
        pieces=tuple(dict.fromkeys((*apart, *WORD.findall(fold_words(spelling))))) or (code,),
    )


def _phrase(index_schema: tantivy.Schema, phrase: Phrase) -> Clause:
    return Clause(
        " ".join(phrase.words),
        tantivy.Query.disjunction_max_query(
            [_phrase_in(index_schema, field, phrase, WEIGHTS[field]) for field in _PLAIN],
            TIE_BREAKER,
        ),
        tuple(("words", word) for word in phrase.words),
        every=True,
    )


def _prefix(index_schema: tantivy.Schema, prefix: Prefix) -> Clause:
    weighed = [
        (field, word, WEIGHTS["words"]) for word in prefix.words for field in (*_PLAIN, "codes")
    ]
    if not weighed:
        return Clause(f"{prefix.text}*", tantivy.Query.empty_query(), ())
    return Clause(f"{prefix.text}*", _best(index_schema, weighed, tie=0.0), _entries(weighed))


def _phrase_in(
    index_schema: tantivy.Schema, field: str, phrase: Phrase, weight: float = 1.0
) -> tantivy.Query:
    # The engine panics at a phrase of one word.
    words: list[str | tuple[int, str]] = list(phrase.words)
    query = (
        tantivy.Query.phrase_query(index_schema, field, words, phrase.slop)
        if len(words) > 1
        else tantivy.Query.term_query(index_schema, field, phrase.words[0])
    )
    return tantivy.Query.boost_query(query, weight)


def _best(
    index_schema: tantivy.Schema,
    weighed: Sequence[tuple[str, str, float]],
    others: Sequence[tantivy.Query] = (),
    *,
    tie: float = TIE_BREAKER,
) -> tantivy.Query:
    return tantivy.Query.disjunction_max_query(
        [
            *(
                tantivy.Query.boost_query(
                    tantivy.Query.term_query(index_schema, field, term), weight
                )
                for field, term, weight in weighed
            ),
            *others,
        ],
        tie,
    )


def _entries(weighed: Sequence[tuple[str, str, float]]) -> tuple[Entry, ...]:
    return tuple((field, term) for field, term, _ in weighed)
