"""How text becomes the terms of the lexical index.

Python normalises, folds and finds codes; the engine tokenises and stems, by analyzers that are
registered at every open and used for queries as well, so that both ends cannot differ.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import tantivy

from corpus.codes import code_forms, exact_form, find_codes, part_forms
from corpus.terms import fold_words, without_capitals
from corpus.text import normalise_text

ANALYZER_VERSION = 4

LANGUAGES = {"en": "english", "es": "spanish"}

WEIGHTS: dict[str, float] = {
    "en": 1.0,
    "es": 1.0,
    "words": 0.8,
    "title": 0.8,
    "headings": 0.4,
    "exact": 6.0,
    "codes": 3.0,
    "parts": 1.0,
}
"""What a match in each field counts; part of the analyzer's fingerprint."""

TIE_BREAKER = 0.2
"""How much the other fields of a term add to its best one (0 the best alone, 1 their sum)."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The text fields of one passage, ready for the engine."""

    en: str
    es: str
    words: str
    title: str
    headings: str
    exact: str
    codes: str
    parts: str


def fields_of(text: str, title: str, headings: Sequence[str], language: str) -> Fields:
    """Prepare a passage. Text of an unknown language is stemmed as both languages.

    Short names in capitals have no stem and stay out of the stemmed text.
    """
    words = fold_words(text)
    stemmed = fold_words(without_capitals(text))
    path = " ".join(headings)
    found = list(find_codes(normalise_text(f"{title}\n{path}\n{text}")))
    known = language in LANGUAGES
    return Fields(
        en=stemmed if language == "en" or not known else "",
        es=stemmed if language == "es" or not known else "",
        words=words,
        title=fold_words(title),
        headings=fold_words(path),
        exact=" ".join(exact_form(code.text) for code in found),
        codes=" ".join(form for code in found for form in code_forms(code.text)),
        parts=" ".join(form for code in found for form in part_forms(code.text)),
    )


@cache
def analyzers() -> dict[str, tantivy.TextAnalyzer]:
    """The engine's analyzers by name; text they meet is folded already."""
    words = tantivy.Tokenizer.regex(r"[\p{L}\p{N}]+")
    named = {
        name: tantivy.TextAnalyzerBuilder(words).filter(tantivy.Filter.stemmer(language)).build()
        for name, language in LANGUAGES.items()
    }
    named["plain"] = tantivy.TextAnalyzerBuilder(words).build()
    named["codes"] = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    return named


def schema() -> tantivy.Schema:
    """The fields of the lexical index; ``row`` numbers passages, ``doc`` documents, from 0."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("en", tokenizer_name="en")
    builder.add_text_field("es", tokenizer_name="es")
    for name in ("words", "title", "headings"):
        builder.add_text_field(name, tokenizer_name="plain")
    for name in ("exact", "codes", "parts"):
        builder.add_text_field(name, tokenizer_name="codes", index_option="freq")
    builder.add_unsigned_field("row", indexed=True, fast=True)
    builder.add_unsigned_field("doc", indexed=True, fast=True)
    return builder.build()


def analyzer_fingerprint() -> str:
    """Names everything that decides which terms a text or a query becomes and what they weigh."""
    settings = {
        "version": ANALYZER_VERSION,
        "languages": LANGUAGES,
        "weights": WEIGHTS,
        "tie_breaker": TIE_BREAKER,
    }
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    return f"analyzer-{ANALYZER_VERSION}-{digest[:12]}"
