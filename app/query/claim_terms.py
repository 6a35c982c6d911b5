"""What a sentence says that can be looked for in a text: its words, numbers and codes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from corpus.codes import code_forms, find_codes, part_forms, pieces
from corpus.quantities import number_forms, shaped_forms
from corpus.stopwords import STOP_WORDS
from corpus.terms import WORD, fold_words
from corpus.text import normalise_text
from store.stems import stems

_CITED = re.compile(r"\[\d+(?:\s*[,;-]\s*\d+)*\]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

Kind = Literal["word", "number", "code"]


@dataclass(frozen=True, slots=True)
class Term:
    """One word, number or code of a sentence, as typed, and what a text that holds it has.

    ``forms`` are folded codes, or words with their stems; ``spaced`` is a code as words between
    spaces, empty where only one spelling is the same code.
    """

    kind: Kind
    text: str
    forms: frozenset[str]
    spaced: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """What a text has: its words and their stems, the forms of its codes and numbers, and its words
    in order between spaces."""

    words: frozenset[str]
    figures: frozenset[str]
    spaced: str

    def __contains__(self, term: Term) -> bool:
        if term.kind == "word":
            return not term.forms.isdisjoint(self.words)
        if not term.forms.isdisjoint(self.figures):
            return True
        return bool(term.spaced) and term.spaced in self.spaced


def terms_of(sentence: str) -> tuple[Term, ...]:
    """The terms of a sentence in order, each once. Function words and citations
    such as [2] are none."""
    text = _CITED.sub(" ", normalise_text(sentence))
    found: list[tuple[int, str, Term]] = []
    for code in find_codes(text):
        forms = code_forms(code.text)
        spaced = "" if shaped_forms(code.text) else f" {' '.join(pieces(code.text))} "
        found.append((code.start, forms[0], Term("code", code.text, frozenset(forms), spaced)))
    for match in WORD.finditer(_without_codes(text)):
        word = fold_words(match.group())
        if any(map(str.isdigit, word)):
            found.append((match.start(), word, Term("number", match.group(), frozenset((word,)))))
        elif word not in STOP_WORDS:
            found.append((match.start(), word, Term("word", match.group(), _word_forms(word))))
    once: dict[tuple[Kind, str], Term] = {}
    for _, form, term in sorted(found, key=lambda entry: entry[0]):
        once.setdefault((term.kind, form), term)
    return tuple(once.values())


def held_by(text: str) -> Held:
    """What ``text`` holds of any sentence's terms."""
    normal = normalise_text(text)
    figures: set[str] = set()
    everything = WORD.findall(fold_words(normal))
    words = set(everything)
    for code in find_codes(normal):
        words.update(pieces(code.text))
        forms = code_forms(code.text)
        figures.update(forms, part_forms(code.text))
        if shaped_forms(code.text) and (number := _NUMBER.match(code.text.lstrip("-+"))):
            figures.update(number_forms(number[0]))
    plain = WORD.findall(fold_words(_without_codes(normal)))
    figures.update(word for word in plain if any(map(str.isdigit, word)))
    return Held(
        words=frozenset(form for word in words for form in _word_forms(word)),
        figures=frozenset(figures),
        spaced=f" {' '.join(everything)} ",
    )


def _word_forms(word: str) -> frozenset[str]:
    """A folded word and its stems, each stem with the language that it is one of."""
    return frozenset((word, *(f"{language} {stem}" for language, stem in stems(word))))


def _without_codes(text: str) -> str:
    """The text with its codes blanked out, at the same length."""
    kept: list[str] = []
    copied = 0
    for code in find_codes(text):
        kept += (text[copied : code.start], " " * (code.end - code.start))
        copied = code.end
    return "".join((*kept, text[copied:]))
