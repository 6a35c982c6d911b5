"""Which language a text is in, of those that archives here are written in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from lingua import Language, LanguageDetector, LanguageDetectorBuilder

from corpus.stopwords import ENGLISH, SPANISH
from corpus.terms import fold_words

SAMPLE = 4_000
"""How many characters are looked at, taken from several places of a longer text."""

LOOKED_AT = 200_000
"""How many characters of a longer text are read at all, from as many places."""

_PLACES = 8
_LEAST_LETTERS = 12
_LANGUAGES = (
    Language.ENGLISH,
    Language.SPANISH,
    Language.GERMAN,
    Language.FRENCH,
    Language.ITALIAN,
    Language.PORTUGUESE,
)
# Codes, paths, calls and names in capitals are no language; what is left are words.
_WORD = re.compile(r"(?<![\w/\\.@#$%&=_-])[^\W\d_]{2,}(?![\w/\\@#$%&=_(-]|\.\w)")
_FOREIGN = re.compile(r"[^a-zßà-öø-ÿœ]")
_PROSE_WORDS = 6
_PROSE_SHARE = 0.6
_ANY_WORD = re.compile(r"[^\W\d_]+")
_FUNCTION_WORDS = 2
_CLAUSE_WORDS = 4


def detect(text: str) -> str:
    """Return the ISO 639-1 code of the language of ``text``, or '' where nobody could tell.

    Known are English, Spanish, German, French, Italian and Portuguese. Running text decides where
    there is any. A text with hardly any words, such as a listing or a table of codes, has no
    language; one in several has that of the greater part.
    """
    votes: Counter[str] = Counter()
    for words in _samples(text):
        found = _detector().detect_language_of(words)
        if found is not None:
            votes[found.iso_code_639_1.name.lower()] += len(words)
    return votes.most_common(1)[0][0] if votes.total() >= _LEAST_LETTERS else ""


def query_language(text: str) -> str:
    """Return the language of a short query as an ISO 639-1 code, or '' where nobody could tell.

    Function words decide between English and Spanish where there are two of one that the other
    does not have; without them a query needs a whole clause before its letters say anything.
    """
    words = _ANY_WORD.findall(fold_words(text))
    english = sum(word in ENGLISH - SPANISH for word in words)
    spanish = sum(word in SPANISH - ENGLISH for word in words)
    if max(english, spanish) >= _FUNCTION_WORDS and english != spanish:
        return "en" if english > spanish else "es"
    return detect(text) if len(words) >= _CLAUSE_WORDS else ""


def _samples(text: str) -> Iterator[str]:
    """Yield words from several places, of the lines that are running text if there are enough."""
    text = _excerpt(text)
    lines = [_words(line) for line in text.splitlines()]
    prose = [
        " ".join(words)
        for words, line in zip(lines, text.splitlines(), strict=True)
        if len(words) >= max(_PROSE_WORDS, _PROSE_SHARE * len(line.split()))
    ]
    whole = " ".join(prose)
    if len(whole) < SAMPLE // _PLACES:
        whole = " ".join(" ".join(words) for words in lines if words)
    if len(whole) <= SAMPLE // _PLACES:
        yield whole
        return
    length = SAMPLE // _PLACES
    places = min(_PLACES, -(-len(whole) // length))
    step = (len(whole) - length) / (places - 1)
    for place in range(places):
        start = round(place * step)
        yield whole[start : start + length]


def _excerpt(text: str) -> str:
    """Whole lines from evenly spaced places of a long text, which show its language well enough."""
    if len(text) <= LOOKED_AT:
        return text
    length = LOOKED_AT // _PLACES
    step = (len(text) - length) / (_PLACES - 1)
    starts = (round(place * step) for place in range(_PLACES))
    pieces = (text[start : start + length] for start in starts)
    return "\n".join(piece[piece.find("\n") + 1 :] for piece in pieces)


def _words(line: str) -> list[str]:
    return [
        word
        for word in _WORD.findall(line)
        if not word.isupper() and not _FOREIGN.search(word.lower())
    ]


@cache
def _detector() -> LanguageDetector:
    return LanguageDetectorBuilder.from_languages(*_LANGUAGES).build()
