"""Word files: everything a reader sees on the pages, in document order."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import BadZipFile

import docx
from docx.document import Document
from docx.opc.exceptions import PackageNotFoundError
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml
from docx.oxml.xmlchemy import BaseOxmlElement

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract.build import Builder, flow
from corpus.extract.docx_styles import (
    Numbering,
    Style,
    is_mono,
    number_of,
    outline_level,
    styles,
    value,
)
from corpus.extract.docx_text import UNSEEN, boxes, cell_words, is_prompt, within, words
from corpus.extract.opc import opened

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_P, _TBL, _TR, _TC = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_DELETED_END = f"{qn('w:pPr')}/{qn('w:rPr')}/{qn('w:del')}"
_DELETED_ROW = f"{qn('w:trPr')}/{qn('w:del')}"
# Lists that Word generates: they repeat headings and captions, with numbers of pages.
_GENERATED = re.compile(r"(?:toc|index) (?:[1-9]|heading)$|table of (?:figures|authorities)$", re.I)
_LETTERS_OF_A_TITLE = 3
_LONGEST_COVER_LINE = 100
_GENERIC_TITLE = re.compile(
    r"(?:word document|documento?\s*\d*|untitled|microsoft word.*|\d+[.)] .*)$", re.I
)
_DEEPEST = 12
# The last is what python-docx meets where a part is not of the type it expects.
_DAMAGE = (
    PackageNotFoundError,
    BadZipFile,
    KeyError,
    ValueError,
    SyntaxError,
    AttributeError,
)


def read(path: Path) -> Extracted:
    """Extract a Word file: body, tables row by row, text boxes, notes, headers and footers.

    Headers and footers come last, each wording once. Generated tables of contents and indexes are
    left out. Tracked changes count as accepted, and comments are left out. Raises NotExtractable
    for a damaged file. The package must have passed :func:`corpus.extract.office.check_package`.
    """
    builder = Builder()
    try:
        document = docx.Document(str(path))
        property_title = document.core_properties.title
        with opened(path) as package:
            package.said(builder)
        reader = _Reader(document, builder)
    except _DAMAGE as error:
        raise NotExtractable(f"the Word file is damaged: {flow(str(error))[:200]}") from error
    reader.blocks(document.element.body)
    reader.notes()
    reader.margins()
    return builder.finish(_title(property_title, reader, path.stem), MEDIA_TYPE)


def _title(stated: str, reader: _Reader, stem: str) -> str:
    """Choose the title: the property, the paragraph styled so, the first line of a cover."""
    for candidate in (flow(stated or ""), reader.title, reader.cover):
        letters = sum(map(str.isalpha, candidate))
        if letters >= _LETTERS_OF_A_TITLE and not _GENERIC_TITLE.match(candidate):
            return candidate
    return reader.builder.first_heading() or stem


class _Reader:
    """Walks the parts of one document and gives their blocks to a builder."""

    def __init__(self, document: Document, builder: Builder) -> None:
        self.builder = builder
        self.title = ""
        self.cover = ""
        self._document = document
        self._styles = styles(document)
        self._numbering = Numbering(document)
        self._listing: list[str] = []
        self._carried = ""

    def blocks(self, parent: BaseOxmlElement, depth: int = 0) -> None:
        """Append the paragraphs and tables below ``parent``, looking into its wrappers."""
        for child in parent:
            if is_prompt(child):
                continue
            if child.tag == _P:
                self._paragraph(child, depth)
            elif child.tag == _TBL:
                self._end_listing()
                self._table(child, depth)
            elif child.tag not in UNSEEN and depth < _DEEPEST:
                self.blocks(child, depth + 1)
        if depth == 0 or parent.tag == _TC:
            self._end_listing()

    def margins(self) -> None:
        """Append the headers, then the footers, of all sections, each wording once."""
        self.builder.leave_headings()
        seen: set[str] = set()
        for which in ("header", "footer"):
            for section in self._document.sections:
                for kind in (f"first_page_{which}", which, f"even_page_{which}"):
                    margin = getattr(section, kind)
                    if margin.is_linked_to_previous:
                        continue
                    wording = flow(words(margin._element, with_boxes=True))
                    if wording and wording not in seen:
                        seen.add(wording)
                        self.blocks(margin._element)

    def notes(self) -> None:
        """Append footnotes and endnotes, which Word keeps in parts of their own."""
        self.builder.leave_headings()
        for relation in self._document.part.rels.values():
            if relation.is_external or not relation.reltype.endswith(("/footnotes", "/endnotes")):
                continue
            root = parse_xml(relation.target_part.blob)
            for note in root:
                if note.get(qn("w:type")) is None:
                    self.blocks(note)

    def _paragraph(self, paragraph: BaseOxmlElement, depth: int) -> None:
        properties = paragraph.find(qn("w:pPr"))
        named = None if properties is None else properties.find(qn("w:pStyle"))
        style = self._styles.get(value(named), Style())
        text = "" if _GENERATED.match(style.name) else self._joined(paragraph)
        level, number = style.level, style.number
        if properties is not None:
            stated = outline_level(properties)
            level = level if stated is None else stated
            number = _placed(number_of(properties), number)
        if not level and text.strip() and _is_listing(paragraph, style):
            self._listing.append(text)
        else:
            self._end_listing()
            self._running(flow(text), style, level, number)
        for box in boxes(paragraph) if depth < _DEEPEST else ():
            self._end_listing()
            self.blocks(box, depth + 1)

    def _joined(self, paragraph: BaseOxmlElement) -> str:
        """Return a paragraph's text, or "" where it is joined to the next one.

        Accepting the deletion of a paragraph's end makes one of it and the paragraph below.
        """
        text = self._carried + words(paragraph)
        following = paragraph.getnext()
        is_joined = (
            paragraph.find(_DELETED_END) is not None
            and following is not None
            and following.tag == _P
        )
        self._carried = text if is_joined else ""
        return "" if is_joined else text

    def _running(self, text: str, style: Style, level: int, number: tuple[str, int] | None) -> None:
        if not text:
            return
        before_headings = not self.builder.first_heading()
        if style.name.lower() == "title":
            self.title = self.title or text
        elif self.builder.is_empty and not level and len(text) <= _LONGEST_COVER_LINE:
            self.cover = text
        if level:
            self.builder.heading(text, level)
        elif style.name.lower() == "title" and before_headings:
            self.builder.heading(text, 1)
            self.builder.leave_headings()
        elif number is not None and number[0] != "0":
            self.builder.item(text, self._numbering.marker(number))
        else:
            self.builder.paragraph(text)

    def _end_listing(self) -> None:
        if self._listing:
            self.builder.code("\n".join(self._listing))
            self._listing.clear()

    def _table(self, table: BaseOxmlElement, depth: int) -> None:
        """Append a table by rows, nested ones after the row they are in."""
        for row in within(table, _TR):
            if row.find(_DELETED_ROW) is not None:
                continue
            cells = list(within(row, _TC))
            texts = [flow(cell_words(cell)) for cell in cells]
            if sum(map(bool, texts)) == 1 and len(texts) == 1 and depth < _DEEPEST:
                self.blocks(cells[0], depth + 1)
                self._end_listing()
                continue
            self.builder.row(texts)
            if depth < _DEEPEST:
                for cell in cells:
                    for nested in within(cell, _TBL):
                        self._table(nested, depth + 1)
                    for box in boxes(cell):
                        self.blocks(box, depth + 1)


def _placed(
    own: tuple[str, int] | None, inherited: tuple[str, int] | None
) -> tuple[str, int] | None:
    """Combine a paragraph's own list and level with those of its style."""
    if own is None or own[0]:
        return own or inherited
    return None if inherited is None else (inherited[0], own[1])


def _is_listing(paragraph: BaseOxmlElement, style: Style) -> bool:
    """Say whether all words of a paragraph are set in a typewriter font."""
    runs = [run for run in paragraph.iter(qn("w:r")) if run.find(qn("w:t")) is not None]
    stated = [is_mono(run.find(qn("w:rPr"))) for run in runs]
    return bool(runs) and all(style.mono if mono is None else mono for mono in stated)
