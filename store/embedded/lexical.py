"""Asking the lexical index: Tantivy, of the passages of one reader's audiences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray

from corpus.codes import fold_code
from corpus.query_terms import QueryTerms, Terms
from corpus.spelling import edits_allowed, look_alike
from store.backend import CANDIDATES, Candidate, LexicalFields
from store.embedded.clauses import any_clause, clauses_of, membership_query
from store.embedded.coverage import Coverage, coverage_of
from store.embedded.vocabulary import Vocabulary, vocabulary_of

TERM_SET_LIMIT = 4_096
"""Up to so many permitted documents are named to the engine; beyond, its list is filtered."""

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]


class LexicalIndex:
    """An open lexical index; immutable, so any number of threads may search it."""

    def __init__(self, index: tantivy.Index) -> None:
        self._index = index
        self._schema = index.schema
        self._searcher = index.searcher()

    @property
    def passages(self) -> int:
        return self._searcher.num_docs

    def search(
        self,
        query: QueryTerms,
        limit: int,
        permitted: NDArray[np.bool_] | None,
        doc_of: Rows,
        share: float,
        fields: LexicalFields = "all",
    ) -> tuple[Rows, Scores, bool]:
        """The best ``limit`` matches, their scores, and whether there is nothing below them.

        ``permitted`` marks documents by number, ``doc_of`` gives the document of each row, and a
        match covers ``share`` of the query's weight in ``fields``.
        """
        clauses = clauses_of(self._schema, query, fields)
        wanted = any_clause(clauses)
        coverage = coverage_of(clauses, self._searcher, share)
        if not coverage.decides:
            return self._permitted(wanted, limit, permitted, doc_of)
        wanted = tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, wanted), (tantivy.Occur.Must, coverage.needed())]
        )
        asked = limit
        while True:
            rows, scores, exhausted = self._permitted(wanted, asked, permitted, doc_of)
            keep = self._covered(coverage, rows)
            if exhausted or int(keep.sum()) >= limit:
                rows, scores = rows[keep], scores[keep]
                return rows[:limit], scores[:limit], exhausted and len(rows) <= limit
            asked *= 4

    def share_held(
        self, query: QueryTerms, permitted: NDArray[np.bool_] | None, doc_of: Rows
    ) -> float:
        """See :meth:`store.backend.Backend.share_held`."""
        coverage = coverage_of(clauses_of(self._schema, query), self._searcher, 0.0)
        if not coverage.total:
            return 0.0
        _, held, _ = self._permitted(coverage.weighing(), 1, permitted, doc_of)
        return float(held[0]) / coverage.total if len(held) else 0.0

    def _covered(self, coverage: Coverage, rows: Rows) -> NDArray[np.bool_]:
        """Which of ``rows`` hold enough of the query."""
        if not len(rows):
            return np.zeros(0, dtype=np.bool_)
        among = tantivy.Query.term_set_query(self._schema, "row", [int(row) for row in rows])
        weighed = tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Must, coverage.weighing()),
                (tantivy.Occur.Must, tantivy.Query.const_score_query(among, 0.0)),
            ]
        )
        found, weights, _ = self._top(weighed, len(rows))
        return np.isin(rows, found[weights >= coverage.least])

    def _permitted(
        self,
        wanted: tantivy.Query,
        limit: int,
        permitted: NDArray[np.bool_] | None,
        doc_of: Rows,
    ) -> tuple[Rows, Scores, bool]:
        """The best ``limit`` permitted rows of ``wanted``, scores, and whether that is all."""
        if permitted is None:
            return self._top(wanted, limit)
        allowed = np.flatnonzero(permitted)
        if len(allowed) <= TERM_SET_LIMIT:
            return self._top(self._restricted(wanted, allowed), limit)
        asked = limit
        while True:
            rows, scores, exhausted = self._top(wanted, asked)
            keep = permitted[doc_of[rows]]
            if exhausted or int(keep.sum()) >= limit:
                rows, scores = rows[keep], scores[keep]
                return rows[:limit], scores[:limit], exhausted and len(rows) <= limit
            asked *= 4

    def documents(self, terms: Terms, *, in_title: bool) -> Rows:
        """The numbers of the documents of which a passage, or the title, holds any of ``terms``."""
        wanted = membership_query(self._schema, terms, in_title=in_title)
        hits = self._searcher.search(wanted, max(1, self.passages), count=False).hits
        found = self._searcher.fast_field_values("doc", [address for _, address in hits])
        return np.unique(np.array(found, dtype=np.int64))

    def beginning(
        self,
        prefix: str,
        limit: int,
        permitted: NDArray[np.bool_] | None,
        fields: Sequence[str] = ("words", "title", "headings", "codes"),
    ) -> list[str]:
        """The most frequent ``limit`` terms of permitted documents that begin with ``prefix``."""
        within = None if permitted is None else self._members(np.flatnonzero(permitted))
        counts: dict[str, int] = {}
        for field in fields:
            for term, count in self._searcher.terms_with_prefix(field, prefix, within, limit):
                if count:
                    counts[term] = max(count, counts.get(term, 0))
        return sorted(counts, key=lambda term: (-counts[term], term))[:limit]

    def near_words(
        self, word: str, permitted: NDArray[np.bool_] | None, doc_of: Rows
    ) -> tuple[Candidate, ...]:
        """See :meth:`store.backend.Backend.near_words`; documents by number."""
        edits = edits_allowed(word)
        if not edits or self._holds(Terms(words=(word,)), permitted, doc_of):
            return ()
        found: list[Candidate] = []
        for ring in self._vocabulary.near(word, edits):
            found += self._counted(("words", "title", "headings"), ring, permitted)
            if len(found) >= CANDIDATES:
                break
        return tuple(found[:CANDIDATES])

    def near_codes(
        self, code: str, permitted: NDArray[np.bool_] | None, doc_of: Rows
    ) -> tuple[Candidate, ...]:
        """See :meth:`store.backend.Backend.near_codes`; documents by number."""
        folded = fold_code(code)
        alike = self._vocabulary.codes.get(look_alike(folded), ())
        if not alike or self._holds(Terms(codes=(folded,), spellings=(code,)), permitted, doc_of):
            return ()
        return tuple(self._counted(("codes",), alike, permitted)[:CANDIDATES])

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return vocabulary_of(self._searcher)

    def _holds(self, terms: Terms, permitted: NDArray[np.bool_] | None, doc_of: Rows) -> bool:
        """Whether a permitted document holds any of ``terms``."""
        if permitted is None:
            clauses = clauses_of(self._schema, QueryTerms("", terms))
            entries = [entry for clause in clauses if not clause.every for entry in clause.entries]
            if any(self._searcher.doc_freq(field, term) for field, term in entries):
                return True
        wanted = membership_query(self._schema, terms, in_title=False)
        return len(self._permitted(wanted, 1, permitted, doc_of)[0]) > 0

    def _counted(
        self, fields: Sequence[str], terms: Iterable[str], permitted: NDArray[np.bool_] | None
    ) -> list[Candidate]:
        """Those of ``terms`` that permitted documents have, the most frequent first."""
        counted = []
        for term in terms:
            wanted = tantivy.Query.boolean_query(
                [
                    (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, field, term))
                    for field in fields
                ]
            )
            hits = self._searcher.search(wanted, max(1, self.passages), count=False).hits
            found = self._searcher.fast_field_values("doc", [address for _, address in hits])
            documents = np.unique(np.array(found, dtype=np.int64))
            if permitted is not None:
                documents = documents[permitted[documents]]
            if len(documents):
                counted.append(Candidate(term, len(documents)))
        return sorted(counted, key=lambda one: (-one.documents, one.text))

    def explain(self, query: QueryTerms, row: int) -> dict[str, Any]:
        """The engine's own account of one passage's score."""
        wanted = any_clause(clauses_of(self._schema, query))
        address = self._address(wanted, row)
        if address is None:
            return {"value": 0.0, "description": "no term of the query is in this passage"}
        account: dict[str, Any] = json.loads(wanted.explain(self._searcher, address).to_json())
        return account

    def _address(self, wanted: tantivy.Query, row: int) -> tantivy.DocAddress | None:
        hits = self._searcher.search(wanted, max(1, self.passages), count=False).hits
        addresses = [address for _, address in hits]
        rows = self._searcher.fast_field_values("row", addresses)
        return addresses[rows.index(row)] if row in rows else None

    def _restricted(self, wanted: tantivy.Query, allowed: Rows) -> tantivy.Query:
        # A constant score of zero: membership decides, and BM25 stays what it was.
        member = tantivy.Query.const_score_query(self._members(allowed), 0.0)
        return tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, wanted), (tantivy.Occur.Must, member)]
        )

    def _members(self, documents: Rows) -> tantivy.Query:
        return tantivy.Query.term_set_query(self._schema, "doc", [int(doc) for doc in documents])

    def _top(self, wanted: tantivy.Query, limit: int) -> tuple[Rows, Scores, bool]:
        asked = min(limit, max(1, self.passages))
        hits = self._searcher.search(wanted, asked, count=False).hits
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        return (
            np.array(rows, dtype=np.int64),
            np.array([score for score, _ in hits], dtype=np.float32),
            len(hits) < limit,
        )
