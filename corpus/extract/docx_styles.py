"""What a Word file's styles and numbering say about a paragraph."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from docx.document import Document
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement

_HEADING = re.compile(r"heading ([1-9])$", re.I)
_MONO = re.compile(r"courier|consol|mono|typewriter|menlo|lucida sans t|r_ansi|fixedsys", re.I)
_LONGEST_CHAIN = 20


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style, what it inherits included. ``level`` is 0 unless it is a heading."""

    name: str = ""
    level: int = 0
    mono: bool = False
    number: tuple[str, int] | None = None


def value(element: Any) -> str:
    """Return the ``w:val`` of an element that may be missing."""
    return "" if element is None else str(element.get(qn("w:val")) or "")


def is_mono(properties: BaseOxmlElement | None) -> bool | None:
    """Say whether run properties name a typewriter font; None where they name no font."""
    fonts = None if properties is None else properties.find(qn("w:rFonts"))
    name = "" if fonts is None else fonts.get(qn("w:ascii")) or fonts.get(qn("w:hAnsi")) or ""
    return bool(_MONO.search(name)) if name else None


def outline_level(properties: BaseOxmlElement) -> int | None:
    """Return the level of a heading that paragraph properties state, 0 for body text, or None."""
    stated = value(properties.find(qn("w:outlineLvl")))
    if not stated.isdecimal():
        return None
    level = _number(stated, 9)
    return level + 1 if level < 9 else 0


def number_of(properties: BaseOxmlElement) -> tuple[str, int] | None:
    """Return the list and its level that paragraph properties put a paragraph in, or None."""
    numbering = properties.find(qn("w:numPr"))
    if numbering is None:
        return None
    level = _number(value(numbering.find(qn("w:ilvl"))), 0)
    return value(numbering.find(qn("w:numId"))), level


def styles(document: Document) -> dict[str, Style]:
    """Return the paragraph styles of a document by id, each with what it inherits."""
    elements = {
        element.get(qn("w:styleId")): element
        for element in document.styles.element
        if element.tag == qn("w:style")
    }
    return {identifier: _resolved(element, elements) for identifier, element in elements.items()}


def _resolved(element: BaseOxmlElement, elements: dict[str, BaseOxmlElement]) -> Style:
    level: int | None = None
    mono: bool | None = None
    number: tuple[str, int] | None = None
    ancestor: BaseOxmlElement | None = element
    for _ in range(_LONGEST_CHAIN):
        if ancestor is None:
            break
        heading = _HEADING.match(value(ancestor.find(qn("w:name"))))
        properties = ancestor.find(qn("w:pPr"))
        if level is None and heading:
            level = int(heading[1])
        if properties is not None:
            level = outline_level(properties) if level is None else level
            number = number or number_of(properties)
        if mono is None:
            mono = is_mono(ancestor.find(qn("w:rPr")))
        ancestor = elements.get(value(ancestor.find(qn("w:basedOn"))))
    return Style(value(element.find(qn("w:name"))), level or 0, bool(mono), number)


class Numbering:
    """Counts the numbered lists of a document as their items come by.

    Lists made from one definition count on together, as Word does it; one that says where it
    starts begins anew at its first item.
    """

    def __init__(self, document: Document) -> None:
        self._definitions: dict[str, str] = {}
        self._levels: dict[str, dict[int, tuple[str, int]]] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        self._counts: dict[tuple[str, int], int] = {}
        for relation in document.part.rels.values():
            if relation.reltype.endswith("/numbering") and not relation.is_external:
                self._read(relation.target_part)

    def _read(self, part: Any) -> None:
        for definition in part.element.findall(qn("w:abstractNum")):
            self._levels[str(definition.get(qn("w:abstractNumId")))] = {
                _place(level): (
                    value(level.find(qn("w:numFmt"))),
                    _number(value(level.find(qn("w:start"))), 1),
                )
                for level in definition.findall(qn("w:lvl"))
            }
        for number in part.element.findall(qn("w:num")):
            identifier = str(number.get(qn("w:numId")))
            self._definitions[identifier] = value(number.find(qn("w:abstractNumId")))
            for override in number.findall(qn("w:lvlOverride")):
                start = value(override.find(qn("w:startOverride")))
                if start:
                    self._restarts[identifier, _place(override)] = _number(start, 1)

    def marker(self, number: tuple[str, int]) -> str:
        """Return what stands before the next item of a list: ``-``, a number or a letter."""
        identifier, level = number
        definition = self._definitions.get(identifier, "")
        style, start = self._levels.get(definition, {}).get(level, ("bullet", 1))
        for deeper in [key for key in self._counts if key[0] == definition and key[1] > level]:
            del self._counts[deeper]
        following = self._counts.get((definition, level), start - 1) + 1
        count = self._restarts.pop((identifier, level), following)
        self._counts[definition, level] = count
        if style in ("bullet", "none", ""):
            return "-"
        if style in ("lowerLetter", "upperLetter") and 1 <= count <= 26:
            letter = chr(ord("a") + count - 1)
            return f"{letter if style == 'lowerLetter' else letter.upper()}."
        return f"{count}."


def _place(level: BaseOxmlElement) -> int:
    return _number(level.get(qn("w:ilvl")) or "", 0)


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else default
