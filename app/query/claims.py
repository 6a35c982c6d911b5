"""The sentences of a text beside the passages of a search that are most like them.

This is support for a reader's own check and no verdict: a passage may hold every word of a sentence
and say the opposite, and one that shares none may say the same in another language.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.query.claim_terms import Held, Term, held_by, terms_of
from app.query.record import ratio
from app.query.recorded import Recorded, RecordedSearch
from app.query.search import Engines
from corpus.errors import NotExtractable
from corpus.extract import extract
from corpus.language import query_language
from corpus.passage_limit import embedding_text
from corpus.sentences import sentences
from store.centring import FILE_NAME, read_centre
from store.errors import BadInput
from store.vectors import kept_vectors

LEAST = Fraction(1, 2)
"""A passage that holds less of a sentence's terms does not support it by its words."""

NEAREST = 2
"""The most passages of a sentence by each of the two likenesses."""

_ITEM = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)])\s+")

NOTE = (
    "Likeness is no proof: a passage can hold every word of a sentence and say the opposite. "
    "Read the passages."
)


@dataclass(frozen=True, slots=True)
class Support:
    """A passage beside a sentence. ``lacking`` are the sentence's terms that are not in it, and
    ``quote`` is its own sentence with most of the others.

    ``meaning`` is the cosine of the two under the archive's encoder, None where it is not known.
    """

    recorded: Recorded
    held: int
    lacking: tuple[str, ...]
    quote: str
    meaning: float | None


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that says something that can be looked for; ``number`` counts from 1.

    ``nearest`` are the passages most like it by words, then those by meaning that are not among
    them. ``nowhere`` are its numbers and codes that no passage of the record holds.
    """

    number: int
    text: str
    terms: tuple[Term, ...]
    nearest: tuple[Support, ...]
    nowhere: tuple[str, ...]

    def supported(self, least: Fraction) -> bool:
        """Whether one passage holds at least the share ``least`` of its terms."""
        return any(one.held >= least * len(self.terms) for one in self.nearest)


@dataclass(frozen=True, slots=True)
class Checked:
    """A text beside a record. ``skipped`` counts headings, code blocks, and sentences without a
    term; ``notes`` say what could not be done."""

    record: RecordedSearch
    claims: tuple[Claim, ...]
    skipped: int
    least: Fraction
    notes: tuple[str, ...]


def sentences_of(path: Path) -> tuple[list[str], int]:
    """The sentences of a file, and how many headings and code blocks were passed over.

    :raises BadInput: the file cannot be read
    """
    try:
        extracted = extract(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}") from error
    except NotExtractable as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
    found: list[str] = []
    skipped = 0
    for block in extracted.blocks:
        if block.kind in ("heading", "code"):
            skipped += 1
            continue
        text = extracted.text[block.start : block.end]
        if block.kind == "item" and (mark := _ITEM.match(text)):
            text = text[mark.end() :]
        found += [" ".join(text[start:end].split()) for start, end in sentences(text)]
    return found, skipped


def check_claims(
    texts: Sequence[str],
    record: RecordedSearch,
    meanings: NDArray[np.float32] | None,
    *,
    skipped: int = 0,
    least: Fraction = LEAST,
    notes: Sequence[str] = (),
) -> Checked:
    """Set each of the sentences ``texts`` beside the passages of ``record``.

    ``meanings``, shape (texts, passages), are their cosines, NaN where one is not known.
    """
    holdings = [held_by(_seen(one)) for one in record.passages]
    claims: list[Claim] = []
    for row, text in enumerate(texts):
        if terms := terms_of(text):
            cosines = None if meanings is None else meanings[row]
            claims.append(_claim(len(claims) + 1, text, terms, record.passages, holdings, cosines))
    passed_over = skipped + len(texts) - len(claims)
    return Checked(record, tuple(claims), passed_over, least, tuple(notes))


def meanings_of(
    engines: Engines, texts: Sequence[str], record: RecordedSearch
) -> NDArray[np.float32]:
    """The cosines of sentences with passages, shape (texts, passages), as the semantic engine
    compares them; NaN for a passage that is longer than the encoder reads.

    :raises CounterpointError: the archive's encoder is not here, or fails
    """
    encoder = engines.encoder()
    wanted = [
        embedding_text(one.document.title, one.passage.headings, one.passage.text)
        for one in record.passages
    ]
    hashes = [hashlib.sha256(text.encode()).digest() for text in wanted]
    kept = kept_vectors(engines.archive, hashes, encoder.fingerprint, encoder.dimension)
    new = {key: text for key, text in zip(hashes, wanted, strict=True) if key not in kept}
    counts = encoder.count_tokens(list(new.values()))
    short = [key for key, count in zip(new, counts, strict=True) if count <= encoder.max_tokens]
    if short:
        made = encoder.encode_passages([new[key] for key in short])
        kept.update(zip(short, made, strict=True))
    unknown = np.full(encoder.dimension, np.nan, np.float32)
    if not texts or not hashes:
        return np.empty((len(texts), len(hashes)), np.float32)
    passages = np.stack([kept.get(key, unknown) for key in hashes])
    queries = [encoder.encode_query(text) for text in texts]
    folder = engines.archive.generations / engines.backend.manifest.name / "semantic"
    # Generations of before there was a centre compare vectors as the encoder gave them.
    if (folder / FILE_NAME).is_file():
        centre = read_centre(folder)
        passages = centre.passage_vectors(
            passages, [one.passage.language for one in record.passages]
        )
        queries = [
            centre.query_vector(vector, query_language(text))
            for vector, text in zip(queries, texts, strict=True)
        ]
    cosines: NDArray[np.float32] = np.stack(queries) @ passages.T
    return cosines


def checked_data(checked: Checked) -> dict[str, Any]:
    """A checked text as JSON-ready data; ``docs/context.md`` describes every field."""
    return {
        "record_id": checked.record.record_id,
        "query": checked.record.query,
        "corpus_version": checked.record.corpus_version,
        "passages": len(checked.record.passages),
        "note": NOTE,
        "notes": list(checked.notes),
        "least": str(checked.least),
        "skipped": checked.skipped,
        "sentences": [_claim_data(one, checked.least) for one in checked.claims],
        "without_support": [
            one.number for one in checked.claims if not one.supported(checked.least)
        ],
    }


def _claim(
    number: int,
    text: str,
    terms: tuple[Term, ...],
    passages: Sequence[Recorded],
    holdings: Sequence[Held],
    cosines: NDArray[np.float32] | None,
) -> Claim:
    held = [sum(term in holding for term in terms) for holding in holdings]
    known = {
        index: float(value)
        for index, value in enumerate(cosines if cosines is not None else ())
        if not np.isnan(value)
    }
    # Passages come in fused order, which settles what is equal in both.
    by_words = sorted(
        (index for index, count in enumerate(held) if count),
        key=lambda index: (-held[index], -known.get(index, -1.0), index),
    )
    by_meaning = sorted(known, key=lambda index: (-known[index], index))
    chosen = dict.fromkeys((*by_words[:NEAREST], *by_meaning[:NEAREST]))
    return Claim(
        number,
        text,
        terms,
        tuple(
            Support(
                passages[index],
                held[index],
                tuple(term.text for term in terms if term not in holdings[index]),
                _quote(passages[index].passage.text, terms),
                known.get(index),
            )
            for index in chosen
        ),
        tuple(
            term.text
            for term in terms
            if term.kind != "word" and not any(term in holding for holding in holdings)
        ),
    )


def _seen(one: Recorded) -> str:
    """What both engines know a passage by: its title and headings stand for it as its words do."""
    return "\n".join((one.document.title, *one.passage.headings, one.passage.text))


def _quote(text: str, terms: Sequence[Term]) -> str:
    """The sentence of a passage with most of ``terms``, the first of several; on one line."""
    pieces = [" ".join(text[start:end].split()) for start, end in sentences(text)]
    if not pieces:
        return ""
    counts = [sum(term in holding for term in terms) for holding in map(held_by, pieces)]
    return pieces[counts.index(max(counts))]


def _claim_data(claim: Claim, least: Fraction) -> dict[str, Any]:
    return {
        "number": claim.number,
        "text": claim.text,
        "terms": [term.text for term in claim.terms],
        "supported_by_words": claim.supported(least),
        "nowhere": list(claim.nowhere),
        "nearest": [
            {
                "passage_id": one.recorded.passage.passage_id,
                "doc_id": one.recorded.document.doc_id,
                "title": one.recorded.document.title,
                "page": one.recorded.passage.page,
                "rank": one.recorded.rank,
                "words": ratio(one.held, len(claim.terms)),
                "meaning": None if one.meaning is None else round(one.meaning, 4),
                "lacking": list(one.lacking),
                "quote": one.quote,
            }
            for one in claim.nearest
        ],
    }
