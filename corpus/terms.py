"""Reading text as words and codes, the same way for documents and for queries.

Words are lower-cased and lose their accents, except that ñ stays a letter of its own. A query also
loses the function words of English and Spanish: a document that shares only "de" has not matched.
User text is never an engine's query language here; the signs of :mod:`corpus.query_language` are
taken off first, and of the rest every character is part of a word or a code, or separates them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from corpus.codes import find_codes, fold_code
from corpus.query_language import Piece, take_apart
from corpus.query_terms import Filter, Phrase, Prefix, QueryTerms, Terms, shared, together, without
from corpus.stopwords import STOP_WORDS
from corpus.text import normalise_text

__all__ = [
    "MAX_PREFIXES",
    "MAX_QUERY_CHARACTERS",
    "MAX_QUERY_TERMS",
    "WORD",
    "QueryTerms",
    "capitals",
    "code_terms",
    "fold_words",
    "read_query",
    "without_capitals",
    "word_spans",
]

MAX_QUERY_CHARACTERS = 2_000
MAX_QUERY_TERMS = 64
MAX_PREFIXES = 8

WORD = re.compile(r"[^\W_]+", re.UNICODE)
_CAPITALS = re.compile(r"(?<![^\W_])[A-Z]{2,4}(?![^\W_])")
_SHOUTED_WORDS = 3


class _Unaccented(dict[int, str]):
    """Maps a letter with accents to its bare letter, computed once per letter."""

    def __missing__(self, codepoint: int) -> str:
        character = chr(codepoint)
        base = unicodedata.normalize("NFD", character)[0]
        folded = base if character != "ñ" and base.isalpha() else character
        self[codepoint] = folded
        return folded


_UNACCENTED = _Unaccented()


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


def capitals(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the words of 2 to 4 capitals, which are names and have no stem.

    In a line that is all in capitals they are words like the others.

    >>> text = "An ALM stops all pins"
    >>> [text[start:end] for start, end in capitals(text)]
    ['ALM']
    """
    start = 0
    for line in text.splitlines(keepends=True):
        if not (line.isupper() and len(WORD.findall(line)) >= _SHOUTED_WORDS):
            for match in _CAPITALS.finditer(line):
                yield start + match.start(), start + match.end()
        start += len(line)


def without_capitals(text: str) -> str:
    """The text with :func:`capitals` blanked out, at the same length."""
    spans = list(capitals(text))
    kept: list[str] = []
    copied = 0
    for start, end in spans:
        kept += (text[copied:start], " " * (end - start))
        copied = end
    return "".join((*kept, text[copied:])) if spans else text


def read_query(text: str) -> QueryTerms:
    """Read what a person typed. Never raises, and never means "everything"."""
    notes = []
    if len(text) > MAX_QUERY_CHARACTERS:
        text = text[:MAX_QUERY_CHARACTERS]
        notes.append(f"Only the first {MAX_QUERY_CHARACTERS:,} characters were read.")
    normalised = normalise_text(text.replace("\0", " "))
    parsed, complaints = take_apart(normalised)
    pieces = _bounded(parsed, notes)
    notes += complaints
    wanted = [piece for piece in pieces if not piece.excluded and piece.kind != "filter"]
    read = [_terms(piece) for piece in wanted]
    asked = _limited(together(read), notes)
    return QueryTerms(
        text=normalised.strip(),
        asked=asked,
        alternatives=_groups(wanted, read, asked),
        excluded=together(_excluded(piece, notes) for piece in pieces if piece.kind != "filter"),
        filters=tuple(
            Filter(piece.field, piece.text, piece.excluded, piece.values, _held_by(piece))
            for piece in pieces
            if piece.kind == "filter"
        ),
        semantic_text=" ".join(piece.text for piece in wanted).strip(),
        codes_only=bool(asked.codes) and all(map(_only_codes, wanted)),
        notes=tuple(notes),
    )


def code_terms(text: str) -> Terms:
    """One code as the field ``code:`` of a query reads it.

    >>> code_terms("AX 2041/B").codes
    ('ax2041b',)
    """
    return _held_by(Piece("filter", normalise_text(text).strip(), field="code"))


def _bounded(pieces: Iterable[Piece], notes: list[str]) -> list[Piece]:
    """At most so many prefixes, as each is work for the engine, and so many conditions."""
    bounded: list[Piece] = []
    prefixes = conditions = 0
    for piece in pieces:
        if piece.kind == "prefix":
            prefixes += 1
            if prefixes > MAX_PREFIXES:
                piece = replace(piece, kind="text")
        if piece.excluded or piece.kind == "filter":
            conditions += 1
            if conditions > MAX_QUERY_TERMS:
                continue
        bounded.append(piece)
    if prefixes > MAX_PREFIXES:
        notes.append(f"Only the first {MAX_PREFIXES} words with * stand for what they begin.")
    if conditions > MAX_QUERY_TERMS:
        notes.append(f"Only the first {MAX_QUERY_TERMS} exclusions and filters were read.")
    return bounded


def _terms(piece: Piece) -> Terms:
    """What a piece says on its own, as something to look for."""
    if piece.kind == "phrase":
        phrase = Phrase(tuple(WORD.findall(fold_words(piece.text))[:MAX_QUERY_TERMS]), piece.slop)
        return Terms(phrases=(phrase,)) if phrase.words else Terms()
    if piece.kind == "prefix":
        return Terms(prefixes=(_prefix(piece.text),))
    found: dict[str, str] = {}
    for code in find_codes(piece.text):
        found.setdefault(fold_code(code.text), code.text)
    guesses = {
        fold_code(spelling): spelling
        for spelling in _spaced(piece.text)
        if fold_code(spelling) not in found
    }
    words = dict.fromkeys(
        word for word in WORD.findall(fold_words(piece.text)) if word not in STOP_WORDS
    )
    plain = set(WORD.findall(fold_words(without_capitals(piece.text))))
    return Terms(
        words=tuple(words),
        codes=(*found, *guesses),
        spellings=(*found.values(), *guesses.values()),
        unstemmed=tuple(word for word in words if word not in plain),
        guesses=tuple(guesses),
    )


def _prefix(text: str) -> Prefix:
    """A word's beginning as words are folded, or a code's as codes are."""
    words = WORD.findall(fold_words(text))
    if len(words) == 1:
        return Prefix(words[0])
    folded = fold_code(text)
    plain = folded.replace(".", "").isalnum()
    return Prefix(folded if plain else "".join(WORD.findall(folded)))


def _spaced(text: str) -> Iterator[str]:
    """Neighbouring words that may be a code typed with a space, and are not in one already."""
    codes = list(find_codes(text))
    for first, second in pairwise(WORD.finditer(text)):
        if _short_letters(first.group()) and any(map(str.isdigit, second.group())):
            start, end = first.start(), second.end()
            if not any(code.start <= start and end <= code.end for code in codes):
                yield f"{first.group()} {second.group()}"


def _short_letters(word: str) -> bool:
    return word.isalpha() and len(word) <= 4 and word.lower() not in STOP_WORDS


def _excluded(piece: Piece, notes: list[str]) -> Terms:
    """What no document may hold: one code, one word, or words that stand together."""
    if not piece.excluded:
        return Terms()
    terms = _held_by(piece)
    if len(terms.words) == 1 and terms.words[0] in STOP_WORDS:
        notes.append(f"-{piece.text} was left out: nearly every document holds that word.")
        return Terms()
    return terms


def _held_by(piece: Piece) -> Terms:
    """The one thing that an excluded piece, or the value of a title or code, names."""
    if piece.kind == "phrase" or piece.quoted:
        return _terms(replace(piece, kind="phrase"))
    if piece.kind == "prefix":
        return _terms(piece)
    if piece.field not in ("", "title", "code"):
        return Terms()
    words = tuple(WORD.findall(fold_words(piece.text)))
    codes = [code.text for code in find_codes(piece.text)]
    whole = len(codes) == 1 and len("".join(WORD.findall(codes[0]))) == sum(map(len, words))
    if piece.field == "code" or (whole and not piece.field):
        spelling = codes[0] if whole else piece.text
        return Terms(codes=(fold_code(spelling),), spellings=(spelling,))
    if len(words) == 1:
        unstemmed = words if any(capitals(piece.text)) else ()
        return Terms(words=words, unstemmed=unstemmed)
    return Terms(phrases=(Phrase(words),)) if words else Terms()


def _limited(terms: Terms, notes: list[str]) -> Terms:
    """At most ``MAX_QUERY_TERMS``: phrases first, then codes, then words."""
    prefixes = terms.prefixes
    phrases = terms.phrases[: MAX_QUERY_TERMS - len(prefixes)]
    left = MAX_QUERY_TERMS - len(prefixes) - len(phrases)
    codes = terms.codes[:left]
    words = terms.words[: left - len(codes)]
    if len(words) < len(terms.words) or len(codes) < len(terms.codes):
        notes.append(f"Only the first {MAX_QUERY_TERMS} terms were searched by words.")
    return replace(
        terms,
        words=words,
        codes=codes,
        spellings=terms.spellings[: len(codes)],
        phrases=phrases,
        unstemmed=tuple(word for word in terms.unstemmed if word in words),
        guesses=tuple(code for code in terms.guesses if code in codes),
    )


def _groups(pieces: list[Piece], read: list[Terms], asked: Terms) -> tuple[Terms, ...]:
    """What OR joined, as far as it is still asked for; a term belongs to its first group."""
    members: dict[int, list[Terms]] = {}
    for piece, terms in zip(pieces, read, strict=True):
        if piece.group is not None:
            members.setdefault(piece.group, []).append(terms)
    groups = []
    left = asked
    for several in members.values():
        group = shared(left, together(several))
        left = without(left, group)
        if group:
            groups.append(group)
    return tuple(groups)


def _only_codes(piece: Piece) -> bool:
    """Whether nothing but codes, function words and signs is in a piece."""
    if piece.kind != "text":
        return False
    rest, copied = [], 0
    for code in find_codes(piece.text):
        rest.append(piece.text[copied : code.start])
        copied = code.end
    words = WORD.findall(fold_words(" ".join((*rest, piece.text[copied:]))))
    return all(word in STOP_WORDS for word in words)
