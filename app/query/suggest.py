"""What a reader may be about to type: codes and titles of documents that the reader may see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.query.correct import spelled
from app.query.search import Engines
from corpus.codes import fold_code
from corpus.scope import Scope
from corpus.terms import WORD, fold_words, read_query, word_spans
from corpus.text import normalise, normalise_text
from store.backend import EngineFailure, View
from store.catalogue import Catalogue
from store.scope import permitted_documents

LIMIT = 8
LEAST_TYPED = 2
"""Letters and digits before anything is suggested; one begins nearly everything."""
MOST_TYPED = 200
MOST_CODES = 4
"""At most so many suggestions are codes, so that titles are seen as well."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A code or title as a document has it, and the ``query`` that asks for it."""

    kind: Literal["code", "title"]
    text: str
    query: str


def suggest(
    engines: Engines, catalogue: Catalogue, scope: Scope, text: str, limit: int = LIMIT
) -> tuple[Completion, ...]:
    """The best ``limit`` completions of what was typed: codes that begin so, then titles.

    A title comes where each typed word begins one of its words, first of all where the title itself
    begins so; case and accents make no difference. Where the lexical engine cannot answer, there
    are titles alone.
    """
    typed = _read(text)
    if sum(map(str.isalnum, typed)) < LEAST_TYPED:
        return ()
    version = catalogue.version(engines.backend.manifest.inputs.corpus_version)
    view = engines.backend.for_reader(scope.groups)
    permitted = permitted_documents(catalogue, version, scope) if scope.filtered else None
    try:
        found = _codes(view, typed, min(limit, MOST_CODES), permitted)
    except EngineFailure:
        found = []
    named = frozenset(view.doc_ids) if permitted is None else permitted
    found += _titles(engines, catalogue, typed, named)
    unlike = {one.text: one for one in found if one.text != typed}
    return tuple(unlike.values())[:limit]


def begun(one: Completion, typed: str) -> tuple[tuple[int, int], ...]:
    """Half-open spans of the code or title that were typed already, in order."""
    typed = _read(typed)
    normalised = normalise(one.text)
    if one.kind == "code":
        beginnings = (fold_code(typed), fold_code(typed.rpartition(" ")[2]))
        whole = [(normalised.text, 0)]
        spans = _begun(whole, beginnings, fold_code)
    else:
        words = [
            (normalised.text[start:end], start) for _, start, end in word_spans(normalised.text)
        ]
        spans = _begun(words, WORD.findall(fold_words(typed)), fold_words)
    return tuple(normalised.original(start, end) for start, end in spans)


def _begun(
    words: Iterable[tuple[str, int]], beginnings: Sequence[str], fold: Callable[[str], str]
) -> Iterator[tuple[int, int]]:
    """The longest of the folded beginnings of each word; a word is given with its offset."""
    for word, start in words:
        folded = fold(word)
        if fitting := [one for one in beginnings if one and folded.startswith(one)]:
            longest = max(fitting, key=len)
            # The fold of a character may be none or several, so that lengths say nothing.
            ends = range(1, len(word) + 1)
            yield start, start + next(end for end in ends if fold(word[:end]).startswith(longest))


def completion_data(completion: Completion) -> dict[str, Any]:
    """A completion as JSON-ready data."""
    return {"kind": completion.kind, "text": completion.text, "query": completion.query}


def _read(text: str) -> str:
    return normalise_text(text[:MOST_TYPED].replace("\0", " ")).strip()


def _codes(
    view: View, typed: str, limit: int, permitted: frozenset[str] | None
) -> list[Completion]:
    """Codes that begin with all that was typed, or with its last word."""
    before, space, last = typed.rpartition(" ")
    found: list[Completion] = []
    for lead, beginning in (("", typed), (before + space, last))[: 2 if before else 1]:
        folded = fold_code(beginning)
        if sum(map(str.isalnum, folded)) < LEAST_TYPED:
            continue
        for code in view.codes_beginning(folded, limit, permitted):
            written = spelled(view, code, permitted)
            found.append(Completion("code", written, f"{lead}{written}"))
        if found:
            break
    return found


def _titles(
    engines: Engines, catalogue: Catalogue, typed: str, permitted: frozenset[str]
) -> list[Completion]:
    words = WORD.findall(fold_words(typed))
    whole = " " + " ".join(words)
    matching = [
        (not spaced.startswith(whole), len(title), title)
        for doc_id, title, spaced in engines.titles(catalogue)
        if doc_id in permitted and all(f" {word}" in spaced for word in words)
    ]
    return [Completion("title", title, _asking(title)) for _, _, title in sorted(matching)]


def _asking(title: str) -> str:
    """A query for a title: the title, or its words as a phrase where it holds signs."""
    read = read_query(title)
    asked = read.asked
    signs = asked.phrases or asked.prefixes or read.alternatives or read.narrowed or read.notes
    return f'"{" ".join(WORD.findall(title))}"' if signs else title
