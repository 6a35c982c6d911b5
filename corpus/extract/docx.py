"""Word files: everything a reader sees on the pages, in document order."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
from corpus.extract.office import check_package

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_P, _TBL, _TR, _TC = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_TEXT = frozenset({qn("w:t"), qn("m:t")})
_BREAKS = {
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:tab"): "\t",
    qn("w:ptab"): "\t",
    qn("w:noBreakHyphen"): "-",
}
_FIELD = qn("w:fldChar")
_BOX = qn("w:txbxContent")
_ALTERNATES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Choice"
# Deleted text, properties and the phonetic guides above a line are not on the page.
_UNSEEN = frozenset({qn("w:del"), qn("w:moveFrom"), qn("w:rt"), qn("w:pPr")})
# Lists that Word generates: they repeat headings and captions, with numbers of pages.
_GENERATED = re.compile(r"(?:toc|index) (?:[1-9]|heading)$|table of (?:figures|authorities)$", re.I)
_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|STYLEREF)\b", re.I)
_LETTERS_OF_A_TITLE = 3
_LONGEST_COVER_LINE = 100
_GENERIC_TITLE = re.compile(
    r"(?:word document|documento?\s*\d*|untitled|microsoft word.*|\d+[.)] .*)$", re.I
)
_DEEPEST = 12


def read(path: Path) -> Extracted:
    """Extract a Word file: body, tables row by row, text boxes, notes, headers and footers.

    Headers and footers come last, each wording once. Generated tables of contents and indexes are
    left out. Raises NotExtractable for a damaged file and for one that would unpack to a size no
    document has.
    """
    check_package(path)
    try:
        document = docx.Document(str(path))
    except (PackageNotFoundError, BadZipFile, KeyError, ValueError, SyntaxError) as error:
        raise NotExtractable(f"the Word file is damaged: {flow(str(error))[:200]}") from error
    builder = Builder()
    reader = _Reader(document, builder)
    reader.blocks(document.element.body)
    reader.notes()
    reader.margins()
    return builder.finish(_title(document, reader, path.stem), MEDIA_TYPE)


def _title(document: Document, reader: _Reader, stem: str) -> str:
    """Choose the title: the property, the paragraph styled so, the first line of a cover."""
    for candidate in (flow(document.core_properties.title or ""), reader.title, reader.cover):
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

    def blocks(self, parent: BaseOxmlElement, depth: int = 0) -> None:
        """Append the paragraphs and tables below ``parent``, looking into its wrappers."""
        for child in parent:
            if child.tag == _P:
                self._paragraph(child, depth)
            elif child.tag == _TBL:
                self._end_listing()
                self._table(child, depth)
            elif child.tag not in _UNSEEN and depth < _DEEPEST:
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
                    wording = flow(_words(margin._element, boxes=True))
                    if wording and wording not in seen:
                        seen.add(wording)
                        self.blocks(margin._element)

    def notes(self) -> None:
        """Append footnotes and endnotes, which Word keeps in parts of their own."""
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
        text = "" if _GENERATED.match(style.name) else _words(paragraph)
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
        for box in _boxes(paragraph) if depth < _DEEPEST else ():
            self._end_listing()
            self.blocks(box, depth + 1)

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
        for row in _within(table, _TR):
            cells = list(_within(row, _TC))
            texts = [flow(_cell_words(cell)) for cell in cells]
            if sum(map(bool, texts)) == 1 and len(texts) == 1 and depth < _DEEPEST:
                self.blocks(cells[0], depth + 1)
                self._end_listing()
                continue
            self.builder.row(texts)
            if depth < _DEEPEST:
                for cell in cells:
                    for nested in _within(cell, _TBL):
                        self._table(nested, depth + 1)
                    for box in _boxes(cell):
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


def _within(parent: BaseOxmlElement, tag: str) -> Iterator[BaseOxmlElement]:
    """Yield the nearest descendants called ``tag``, through content controls and the like."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag not in (_P, _TBL, _BOX) and child.tag not in _UNSEEN:
            yield from _within(child, tag)


def _pieces(parent: BaseOxmlElement, boxes: bool, fields: list[str]) -> Iterator[str]:
    """Yield the visible text below ``parent``; ``fields`` are the instructions of open fields."""
    for child in parent:
        tag = child.tag
        if tag == _FIELD:
            kind = child.get(qn("w:fldCharType"))
            if kind == "begin":
                fields.append("")
            elif kind == "end" and fields:
                fields.pop()
        elif tag == qn("w:instrText"):
            if fields:
                fields[-1] += child.text or ""
        elif tag == qn("w:fldSimple") and _PAGE_FIELD.match(child.get(qn("w:instr")) or ""):
            continue
        elif tag in _TEXT:
            if not any(map(_PAGE_FIELD.match, fields)):
                yield child.text or ""
        elif tag in _BREAKS:
            yield _BREAKS[tag]
        elif tag == qn("w:sym"):
            yield _symbol(child)
        elif tag == _ALTERNATES:
            yield from _pieces(_chosen(child), boxes, fields)
        elif tag not in _UNSEEN and (boxes or tag != _BOX):
            yield " " if tag == _P else ""
            yield from _pieces(child, boxes, fields)


def _words(parent: BaseOxmlElement, boxes: bool = False) -> str:
    """Return the text of a paragraph; that of text boxes anchored in it only on demand."""
    return "".join(_pieces(parent, boxes, []))


def _cell_words(cell: BaseOxmlElement) -> str:
    """Return the text of a cell without that of tables nested in it."""
    return " ".join(_words(paragraph) for paragraph in _within(cell, _P))


def _symbol(element: BaseOxmlElement) -> str:
    """Return a symbol given by number; those of symbol fonts have no character of their own."""
    try:
        code = int(element.get(qn("w:char")) or "", 16)
    except ValueError:
        return ""
    return "" if 0xE000 <= code <= 0xF8FF or not 0 < code < 0x110000 else chr(code)


def _chosen(alternates: BaseOxmlElement) -> BaseOxmlElement:
    """Return the one branch of alternate content that is read: the first choice."""
    choice = alternates.find(_CHOICE)
    fallback = alternates.find(_FALLBACK)
    return next((branch for branch in (choice, fallback) if branch is not None), alternates)


def _boxes(parent: BaseOxmlElement) -> Iterator[BaseOxmlElement]:
    """Yield the text boxes anchored in a paragraph or cell, once each."""
    for child in parent:
        if child.tag == _BOX:
            yield child
        elif child.tag == _ALTERNATES:
            yield from _boxes(_chosen(child))
        elif child.tag not in _UNSEEN and child.tag != _TBL:
            yield from _boxes(child)
