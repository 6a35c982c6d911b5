"""What a query says, as values: what to look for, what to leave out, and where to look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """Folded words that stand in this order; ``slop`` is how many places they may be moved."""

    words: tuple[str, ...]
    slop: int = 0


@dataclass(frozen=True, slots=True)
class Prefix:
    """The folded beginning of words or codes, and which ``words`` of an index it stands for.

    The words are empty until an index was asked.
    """

    text: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """What may be looked for, each once and in order.

    ``words`` are folded; those of them in ``unstemmed`` match as they are and not by their stem.
    ``codes`` are folded codes and ``spellings`` how each was typed, of the same length. A code in
    ``guesses`` is two neighbouring words that may be one code typed with a space.
    """

    words: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    spellings: tuple[str, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    prefixes: tuple[Prefix, ...] = ()
    unstemmed: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.spellings):
            raise ValueError("codes and their spellings differ in number")

    def __bool__(self) -> bool:
        return bool(self.words or self.codes or self.phrases or self.prefixes)


@dataclass(frozen=True, slots=True)
class Filter:
    """``field:value`` as typed, and what it stands for.

    ``values`` are media types, languages, tags, a day, or a piece of a path; a title or a code is
    matched by its ``terms``.
    """

    field: str
    value: str
    excluded: bool
    values: tuple[str, ...]
    terms: Terms = Terms()


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a query says, read as terms.

    ``asked`` is everything a document may earn a rank by. Of ``alternatives``, each drawn from
    ``asked``, one is as good as all. A document that holds anything of ``excluded``, or is outside
    a filter, is in no list. ``semantic_text`` is the query in plain words, without exclusions,
    filters and signs. ``notes`` are sentences for the person who typed: what was cut or left out.
    """

    text: str
    asked: Terms
    alternatives: tuple[Terms, ...] = ()
    excluded: Terms = Terms()
    filters: tuple[Filter, ...] = ()
    semantic_text: str = ""
    codes_only: bool = False
    notes: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        return self.asked.words

    @property
    def codes(self) -> tuple[str, ...]:
        return self.asked.codes

    @property
    def searchable(self) -> bool:
        """Whether there is anything to look for; otherwise neither engine is asked."""
        return bool(self.asked)

    @property
    def narrowed(self) -> bool:
        """Whether the query itself restricts which documents may be ranked."""
        return bool(self.excluded or self.filters)


def together(several: Iterable[Terms]) -> Terms:
    """All of them as one, each term once and in order."""
    parts = list(several)
    spelled: dict[str, str] = {}
    for part in parts:
        for code, spelling in zip(part.codes, part.spellings, strict=True):
            spelled.setdefault(code, spelling)
    stemmed = {word for part in parts for word in part.words if word not in part.unstemmed}
    sure = {code for part in parts for code in part.codes if code not in part.guesses}
    unstemmed = dict.fromkeys(word for part in parts for word in part.unstemmed)
    return Terms(
        words=tuple(dict.fromkeys(word for part in parts for word in part.words)),
        codes=tuple(spelled),
        spellings=tuple(spelled.values()),
        phrases=tuple(dict.fromkeys(phrase for part in parts for phrase in part.phrases)),
        prefixes=tuple(dict.fromkeys(prefix for part in parts for prefix in part.prefixes)),
        unstemmed=tuple(word for word in unstemmed if word not in stemmed),
        guesses=tuple(code for code in spelled if code not in sure),
    )


def shared(terms: Terms, other: Terms) -> Terms:
    """Those of ``terms`` that are also in ``other``."""
    return _only(terms, set(other.words), set(other.codes), set(other.phrases), set(other.prefixes))


def without(terms: Terms, other: Terms) -> Terms:
    """Those of ``terms`` that are not in ``other``."""
    return _only(
        terms,
        set(terms.words) - set(other.words),
        set(terms.codes) - set(other.codes),
        set(terms.phrases) - set(other.phrases),
        set(terms.prefixes) - set(other.prefixes),
    )


def _only(
    terms: Terms, words: set[str], codes: set[str], phrases: set[Phrase], prefixes: set[Prefix]
) -> Terms:
    kept = [pair for pair in zip(terms.codes, terms.spellings, strict=True) if pair[0] in codes]
    return Terms(
        words=tuple(word for word in terms.words if word in words),
        codes=tuple(code for code, _ in kept),
        spellings=tuple(spelling for _, spelling in kept),
        phrases=tuple(phrase for phrase in terms.phrases if phrase in phrases),
        prefixes=tuple(prefix for prefix in terms.prefixes if prefix in prefixes),
        unstemmed=tuple(word for word in terms.unstemmed if word in words),
        guesses=tuple(code for code in terms.guesses if code in codes),
    )
