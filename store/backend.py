"""The seam between the query layer and whatever holds the two indexes.

A backend is one immutable generation: both indexes were built from the same passages of the same
corpus version. It ranks passages and knows nothing of fusion, and it answers no question but a
reader's. Whoever implements these protocols runs the contract test in
``tests/test_backend_contract.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from corpus.document import Passage
from corpus.query_terms import QueryTerms, Terms
from store.errors import CounterpointError
from store.manifest import Manifest


class EngineFailure(CounterpointError):
    """One engine could not answer; the message says which and why."""


@dataclass(frozen=True, slots=True)
class EngineHits:
    """Passages as one engine ranks them, best first, in columns of equal length.

    ``scores`` never increase. Passages of equal score may come in any order, and a limit may cut
    through them: asking deeper is how a caller sees the rest. ``exhausted`` means that the engine
    has nothing below the last one.
    """

    passage_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    scores: tuple[float, ...]
    exhausted: bool

    def __post_init__(self) -> None:
        if not len(self.passage_ids) == len(self.doc_ids) == len(self.scores):
            raise ValueError("the columns of hits differ in length")


LexicalFields = Literal["all", "codes", "title"]
"""What a question by words goes to: everything; whole codes alone; or titles alone."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a misspelt word or code may have been meant to be, and how many permitted documents
    have it."""

    text: str
    documents: int


CANDIDATES = 3
"""How many candidates a backend gives at most."""


class Backend(Protocol):
    """Two indexes of one generation, which are only ever asked for a reader."""

    @property
    def manifest(self) -> Manifest:
        """Of everything; readers are shown that of their :class:`View`."""
        ...

    def for_reader(self, groups: Collection[str]) -> View:
        """What a member of ``groups`` may read. It holds what it has opened, so ask once a search
        and not once an archive."""
        ...


class View(Protocol):
    """A generation as one reader sees it: a document that the reader may not read is not there.

    Every answer, and every score and order in it, is the one of a generation without such
    documents. Filters are another thing: ``permitted`` is the set of document ids that may be
    ranked, and leaves scores alone. None is no filter, an empty set permits nothing, and ids that
    are not there permit nothing either. ``limit`` is a number of passages, at least 1. Both
    searches raise :class:`EngineFailure` where the engine cannot answer.
    """

    @property
    def manifest(self) -> Manifest:
        """The generation's, with the counts of what this reader may read. Digests are of all."""
        ...

    @property
    def doc_ids(self) -> Sequence[str]:
        """Every document that is there, in ascending order."""
        ...

    def lexical(
        self,
        query: QueryTerms,
        limit: int,
        permitted: frozenset[str] | None,
        coverage: float = 0.0,
        fields: LexicalFields = "all",
    ) -> EngineHits:
        """Passages that match the query, by BM25.

        In the ``codes`` only the whole codes of the query are looked for, and in the ``title`` its
        words without stems and its codes; nothing else is a match or counts for one.

        A passage matches where the terms it holds carry at least ``coverage`` of the weight of all
        terms of the query, or as much as the rarest term there could be; with 0, any term will do.
        """
        ...

    def share_held(self, query: QueryTerms, permitted: frozenset[str] | None) -> float:
        """The greatest share of the query's weight, from 0 to 1, that one permitted passage holds.

        Terms are weighed as for ``coverage`` of :meth:`lexical`; a term that no passage holds
        weighs most of all.
        """
        ...

    def semantic(
        self,
        vector: NDArray[np.float32],
        limit: int,
        permitted: frozenset[str] | None,
        language: str = "",
    ) -> EngineHits:
        """Passages by cosine with a query's unit vector of shape (dimension,), as its encoder
        gave it, after both were centred; ``language`` is the query's, or empty.

        Equal cosines come by passage id. ``manifest.semantic`` says whether every vector was
        compared. Where it was not, scores are still the exact cosines, a permitted set still gives
        what filtering first gives, and the top of a list still does not depend on ``limit``; a
        backend may miss no more of the truly best passages than its stated recall leaves.
        """
        ...

    def matching_documents(self, terms: Terms, *, in_title: bool = False) -> frozenset[str]:
        """Every document of which a passage, or the title alone, holds any of ``terms``, filtered
        out or not.

        A word, code or phrase is held where a query of it alone would find the document; in a title
        it is held where it stands, without stems. A prefix stands for every word it begins.
        """
        ...

    def words_beginning(
        self, prefix: str, limit: int, permitted: frozenset[str] | None
    ) -> tuple[str, ...]:
        """The folded words and codes in permitted documents that begin with ``prefix``.

        The most frequent come first, at most ``limit`` of them.
        """
        ...

    def codes_beginning(
        self, prefix: str, limit: int, permitted: frozenset[str] | None
    ) -> tuple[str, ...]:
        """The folded codes alone of permitted documents that begin with ``prefix``, as above."""
        ...

    def near_words(self, word: str, permitted: frozenset[str] | None) -> tuple[Candidate, ...]:
        """The words of permitted documents that a folded ``word`` may be a misspelling of.

        They are within as many edits as :func:`corpus.spelling.edits_allowed` says; fewer edits
        come first, then more documents, then the alphabet. There are none where a permitted
        document holds the word itself, as a query of it alone would find it.
        """
        ...

    def near_codes(self, code: str, permitted: frozenset[str] | None) -> tuple[Candidate, ...]:
        """The folded codes of permitted documents that look like ``code``, a code as typed.

        They differ by characters that are mistaken for one another; more documents come first.
        There are none where a permitted document holds the code itself.
        """
        ...

    def passages(self, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """The passages named, from the very version the generation was built from; those that are
        not there are left out."""
        ...

    def explain(self, query: QueryTerms, passage_id: str) -> dict[str, Any]:
        """The lexical engine's own account of a passage's score, as nested data.

        :raises UnknownDocument: it is not there
        """
        ...
