"""Reading text as words and codes, the same way for documents and for queries.

Words are lower-cased and lose their accents, except that ñ stays a letter of its own. A query also
loses the function words of English and Spanish: a document that shares only "de" has not matched.
User text is never an engine's query language here; every character is either part of a word or a
code, or it separates them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from corpus.codes import find_codes, fold_code
from corpus.stopwords import STOP_WORDS
from corpus.text import normalise_text

MAX_QUERY_CHARACTERS = 2_000
MAX_QUERY_TERMS = 64

WORD = re.compile(r"[^\W_]+", re.UNICODE)


class _Unaccented(dict[int, str]):
    """Maps a letter with accents to its bare letter, computed once per letter."""

    def __missing__(self, codepoint: int) -> str:
        character = chr(codepoint)
        base = unicodedata.normalize("NFD", character)[0]
        folded = base if character != "ñ" and base.isalpha() else character
        self[codepoint] = folded
        return folded


_UNACCENTED = _Unaccented()


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a query says, read as terms.

    ``words`` are folded content words and ``codes`` folded codes, each once and in order.
    ``notes`` are sentences for the person who typed: what was cut or left out.
    """

    text: str
    words: tuple[str, ...]
    codes: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def searchable(self) -> bool:
        """Whether there is anything to look for; otherwise neither engine is asked."""
        return bool(self.words or self.codes)


def fold_words(text: str) -> str:
    """Normalise, lower-case and remove accents; ñ is kept, and so is every separator.

    >>> fold_words("Presión de la VÁLVULA, año")
    'presion de la valvula, año'
    """
    folded = normalise_text(text).lower()
    return folded if folded.isascii() else folded.translate(_UNACCENTED)


def word_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of ``text`` as it stands, folded, with half-open code-point offsets."""
    for match in WORD.finditer(text):
        yield fold_words(match.group()), match.start(), match.end()


def read_query(text: str) -> QueryTerms:
    """Read what a person typed. Never raises, and never means "everything"."""
    notes = []
    if len(text) > MAX_QUERY_CHARACTERS:
        text = text[:MAX_QUERY_CHARACTERS]
        notes.append(f"Only the first {MAX_QUERY_CHARACTERS:,} characters were read.")
    normalised = normalise_text(text.replace("\0", " "))
    codes = list(dict.fromkeys(_query_codes(normalised)))
    words = list(
        dict.fromkeys(
            word for word in WORD.findall(fold_words(normalised)) if word not in STOP_WORDS
        )
    )
    if len(words) + len(codes) > MAX_QUERY_TERMS:
        codes = codes[:MAX_QUERY_TERMS]
        words = words[: MAX_QUERY_TERMS - len(codes)]
        notes.append(f"Only the first {MAX_QUERY_TERMS} terms were searched by words.")
    return QueryTerms(normalised.strip(), tuple(words), tuple(codes), tuple(notes))


def _query_codes(text: str) -> Iterator[str]:
    """Codes as typed, and neighbouring words that may be a code typed with spaces."""
    for code in find_codes(text):
        yield fold_code(code.text)
    words = WORD.findall(text)
    for first, second in pairwise(words):
        if _short_letters(first) and any(character.isdigit() for character in second):
            yield fold_code(first + second)


def _short_letters(word: str) -> bool:
    return word.isalpha() and len(word) <= 4 and word.lower() not in STOP_WORDS
