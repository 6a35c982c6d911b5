"""Marking what a query matched in a text, at the right characters of the original.

Offsets are code points of the text as it is shown. A word is marked when it is a query word or
shares its stem in English or Spanish, a phrase where all of it stands, a word with * by its
beginning, and a code when it folds to a query code or holds one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus.codes import MOST_PIECES, code_forms, find_codes, part_forms, pieces
from corpus.query_terms import Phrase, QueryTerms, Terms
from corpus.terms import capitals, word_spans
from corpus.text import normalise
from store.stems import stems

SNIPPET_CHARACTERS = 240

FIRST_LINE = 40
"""How much of a snippet the narrowest screen is sure to show."""

Span = tuple[int, int]
Word = tuple[str, int, int]  # folded, start, end


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a passage: ``start`` is its offset there, ``marks`` are offsets in ``text``."""

    text: str
    start: int
    marks: tuple[tuple[int, int], ...]


def marks_in(text: str, query: QueryTerms) -> tuple[tuple[int, int], ...]:
    """Half-open spans of ``text`` that the query matched, in order and not overlapping."""
    normalised = normalise(text)
    words = list(word_spans(normalised.text))
    found = [*_word_marks(normalised.text, words, query.asked)]
    for phrase in query.asked.phrases:
        found += _phrase_marks(words, phrase)
    found += _code_marks(normalised.text, words, query.asked)
    return _merged([normalised.original(start, end) for start, end in found])


@dataclass(frozen=True, slots=True)
class Sought:
    """A code or phrase of a query where it stands in a text, as half-open offsets.

    ``number`` tells those of one query apart. ``itself`` is false where the code is only a part of
    a longer one.
    """

    number: int
    start: int
    end: int
    itself: bool = True


def sought_in(text: str, query: QueryTerms) -> tuple[Sought, ...]:
    """Every place of every code and phrase that the query names."""
    asked = query.asked
    if not asked.phrases and not asked.codes:
        return ()
    normalised = normalise(text)
    words = list(word_spans(normalised.text))
    codes = [(code, set(code_forms(code.text))) for code in find_codes(normalised.text)]
    places: list[tuple[int, int, int, bool]] = []
    for number, phrase in enumerate(asked.phrases):
        places += [(number, *_extent(spans), True) for spans in _phrases(words, phrase)]
    for number, spelling in enumerate(asked.spellings, start=len(asked.phrases)):
        forms = set(code_forms(spelling))
        if asked.codes[number - len(asked.phrases)] not in asked.guesses:
            for start, end in map(_extent, _apart(words, spelling)):
                longer = any(
                    code.start <= start and end <= code.end and forms.isdisjoint(own)
                    for code, own in codes
                )
                places.append((number, start, end, not longer))
        for code, own in codes:
            itself = not forms.isdisjoint(own)
            if itself or not forms.isdisjoint(part_forms(code.text)):
                places.append((number, code.start, code.end, itself))
    return tuple(
        Sought(number, *normalised.original(start, end), itself)
        for number, start, end, itself in places
    )


def _word_marks(text: str, words: Sequence[Word], asked: Terms) -> Iterator[Span]:
    """Words of the query, words of the same stem, and words that begin as a prefix."""
    wanted = set(asked.words)
    wanted_stems = {
        stem for word in asked.words if word not in asked.unstemmed for stem in stems(word)
    }
    stemless = set(capitals(text))
    beginnings = tuple(prefix.text for prefix in asked.prefixes)
    for word, start, end in words:
        if (
            word in wanted
            or word.startswith(beginnings)
            or ((start, end) not in stemless and not wanted_stems.isdisjoint(stems(word)))
        ):
            yield start, end


def _phrase_marks(words: Sequence[Word], phrase: Phrase) -> Iterator[Span]:
    for spans in _phrases(words, phrase):
        yield from spans


def _phrases(words: Sequence[Word], phrase: Phrase) -> Iterator[list[Span]]:
    """The words of a phrase wherever they stand, moved by no more than its slop together.

    Counted as the engine counts: each word's place is taken less its place in the phrase, and the
    places of all may spread over ``slop``.
    """
    places: dict[str, list[int]] = {word: [] for word in phrase.words}
    for place, (word, _, _) in enumerate(words):
        if word in places:
            places[word].append(place)
    moved = sorted(
        (place - number, number, place)
        for number, word in enumerate(phrase.words)
        for place in places[word]
    )
    count = Counter[int]()
    first = 0
    for last, (shift, number, _) in enumerate(moved):
        count[number] += 1
        while moved[first][0] < shift - phrase.slop:
            count[moved[first][1]] -= 1
            first += 1
        if all(count[wanted] for wanted in range(len(phrase.words))):
            yield [words[place][1:] for _, _, place in moved[first : last + 1]]


def _extent(spans: Sequence[Span]) -> Span:
    return min(start for start, _ in spans), max(end for _, end in spans)


def _apart(words: Sequence[Word], spelling: str) -> Iterator[list[Span]]:
    """A code where its pieces stand as words of their own."""
    apart = pieces(spelling)
    if 1 < len(apart) <= MOST_PIECES:
        yield from _phrases(words, Phrase(apart))


def _code_marks(text: str, words: Sequence[Word], asked: Terms) -> Iterator[Span]:
    """Codes of the query in any spelling, also where their pieces stand as words of their own."""
    forms = set(asked.codes)
    for code, spelling in zip(asked.codes, asked.spellings, strict=True):
        forms.update(code_forms(spelling))
        if code not in asked.guesses:
            for spans in _apart(words, spelling):
                yield from spans
    beginnings = tuple(prefix.text for prefix in asked.prefixes)
    if not forms and not beginnings:
        return
    for found in find_codes(text):
        own = code_forms(found.text)
        if not forms.isdisjoint((*own, *part_forms(found.text))) or any(
            form.startswith(beginnings) for form in own
        ):
            yield found.start, found.end


def snippet(text: str, query: QueryTerms, length: int = SNIPPET_CHARACTERS) -> Snippet:
    """The stretch of ``text`` of about ``length`` characters that holds most marks.

    Where a code or a phrase of the query stands in the text, the stretch begins near one, so that
    it is in view even where only the first line can be shown. It begins and ends between words, so
    that no character or accent is cut in two.
    """
    marks = marks_in(text, query)
    sought = sought_in(text, query)
    start = _best_start(text, marks, sought, length)
    end = min(len(text), start + length)
    if end < len(text):
        needed = [place.end for place in sought if place.start >= start and place.end <= end]
        space = text.rfind(" ", start, end)
        end = space if space >= max([start + length // 2 + 1, *needed]) else end
    inside = tuple(
        (max(first, start) - start, min(last, end) - start)
        for first, last in marks
        if first < end and last > start
    )
    return Snippet(text[start:end], start, inside)


def _best_start(text: str, marks: Sequence[Span], sought: Sequence[Sought], length: int) -> int:
    early = not sought or min(place.start for place in sought) < FIRST_LINE
    if not marks or (len(text) <= length and early):
        return 0
    # The stretch begins up to a sixth of its length before the first mark.
    reach = length - length // 6
    best, most = 0, (-1, -1, -1)
    for first in sorted({place.start for place in sought}) or [start for start, _ in marks]:
        inside = [place for place in sought if first <= place.start and place.end <= first + reach]
        covered = (
            len({place.number for place in inside if place.itself}),
            len({place.number for place in inside}),
            sum(1 for start, end in marks if start >= first and end <= first + reach),
        )
        if covered > most:
            best, most = first, covered
    # A little before the first mark, at the start of a line or sentence where one is near.
    latest = best if sought else len(text) - length
    earliest = max(0, min(best - length // 6, latest))
    for mark in ("\n", ". ", " "):
        found = text.rfind(mark, earliest, best)
        if found >= 0:
            return found + len(mark)
    return best if best - earliest > length // 3 else earliest


def _merged(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
