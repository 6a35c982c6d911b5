"""OpenDocument texts (ODT) and presentations (ODP): what is on the pages, in document order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus.document import Extracted
from corpus.extract.build import Builder, flow
from corpus.extract.odf import OdfPackage, get, load, name, number, styles, words
from corpus.extract.xml_parts import Element

MEDIA_TYPE = "application/vnd.oasis.opendocument.text"
SLIDES_MEDIA_TYPE = "application/vnd.oasis.opendocument.presentation"

_FRAMES = ("draw:frame", "draw:custom-shape")
# Deleted text, comments, form definitions, and lists that repeat headings with page numbers.
_UNSEEN = frozenset(
    {
        "text:tracked-changes",
        "office:annotation",
        "office:forms",
        "text:sequence-decls",
        "text:variable-decls",
        "text:table-of-content",
        "text:alphabetical-index",
        "text:illustration-index",
        "text:table-index",
        "text:object-index",
        "text:user-index",
        "table:covered-table-cell",
        "presentation:notes",
    }
)
_MARGINS = ("header", "header-first", "header-left", "footer", "footer-first", "footer-left")
_SLIDE_FURNITURE = ("header", "footer", "date-time", "page-number")
_PREFORMATTED = frozenset({"Preformatted_20_Text", "Preformatted Text", "Source_20_Text"})
_DEEPEST = 100
_MOST_REPEATED = 64


def read(path: Path) -> Extracted:
    """Extract an ODT file: headings, lists, tables by rows, text boxes; then notes and margins.

    Tracked deletions, comments, hidden text and generated tables of contents are left out.
    Footnotes and endnotes follow the body, headers and footers come last, each wording once.
    Raises NotExtractable for a damaged file. The package must have passed
    :func:`corpus.extract.office.check_package`.
    """
    package = load(path, "text")
    builder = Builder()
    package.said(builder)
    reader = _Reader(package, builder)
    reader.blocks(package.body)
    reader.notes()
    reader.margins()
    title = package.title or reader.title or builder.first_heading() or path.stem
    return builder.finish(title, MEDIA_TYPE)


def read_slides(path: Path) -> Extracted:
    """Extract an ODP file: each slide is a page, with its title as heading and notes at its end."""
    package = load(path, "presentation")
    builder = Builder()
    package.said(builder)
    reader = _Reader(package, builder)
    slides = [element for element in package.body if name(element) == "draw:page"]
    for page, slide in enumerate(slides, start=1):
        reader.slide(slide, page)
    return builder.finish(package.title or builder.first_heading() or path.stem, SLIDES_MEDIA_TYPE)


class _Reader:
    """Walks the parts of one file and gives their blocks to a builder."""

    def __init__(self, package: OdfPackage, builder: Builder) -> None:
        self.title = ""
        self._builder = builder
        self._package = package
        self._styles = styles(package)
        self._ordered = _ordered_levels(package)
        self._page: int | None = None
        self._notes: list[Element] = []
        self._listing: list[str] = []

    def blocks(self, parent: Element, depth: int = 0) -> None:
        """Append the paragraphs, lists and tables below ``parent``, looking into its wrappers."""
        for element in parent:
            kind = name(element)
            if kind in _UNSEEN or depth > _DEEPEST or _is_hidden_section(element):
                continue
            if kind in ("text:p", "text:h"):
                self._paragraph(element, depth)
                continue
            self._end_listing()
            if kind in ("text:list", "text:numbered-paragraph"):
                self._list(element, get(element, "text:style-name"), 1, depth + 1)
            elif kind == "table:table":
                self._table(element, depth)
            else:
                self.blocks(element, depth + 1)
        self._end_listing()

    def slide(self, slide: Element, page: int) -> None:
        """Append one slide: its title, its shapes in their order, its notes."""
        self._page = page
        self._builder.leave_headings()
        shapes = [
            shape
            for shape in slide
            if get(shape, "presentation:class") not in _SLIDE_FURNITURE
            and name(shape) != "presentation:notes"
        ]
        title = next((s for s in shapes if get(s, "presentation:class") == "title"), None)
        if title is not None:
            said = [words(p, self._styles) for p in title.iter() if name(p) == "text:p"]
            self._builder.heading(" ".join(said), 1, page)
        for shape in shapes:
            if shape is not title:
                self.blocks(shape)
        for notes in slide:
            if name(notes) == "presentation:notes":
                bodies = [f for f in notes if get(f, "presentation:class") == "notes"]
                if any(flow("".join(str(t) for t in body.itertext())) for body in bodies):
                    self._builder.heading("Notes", 2, page)
                for body in bodies:
                    self.blocks(body)

    def notes(self) -> None:
        """Append the footnotes and endnotes met in the body."""
        self._builder.leave_headings()
        for note in self._notes:
            for part in note:
                if name(part) == "text:note-body":
                    self.blocks(part)

    def margins(self) -> None:
        """Append the headers, then the footers, of all page styles, each wording once."""
        self._builder.leave_headings()
        if self._package.styles is None:
            return
        seen: set[str] = set()
        margins = [
            element
            for element in self._package.styles.iter()
            if name(element).startswith("style:") and name(element)[6:] in _MARGINS
        ]
        for margin in sorted(margins, key=lambda found: name(found).startswith("style:footer")):
            wording = flow(
                " ".join(words(p, self._styles) for p in margin.iter() if name(p) == "text:p")
            )
            if wording and wording not in seen and get(margin, "style:display") != "false":
                seen.add(wording)
                self.blocks(margin)

    def _paragraph(self, paragraph: Element, depth: int, marker: str | None = None) -> None:
        style = self._styles.get(get(paragraph, "text:style-name"))
        names = style.names if style else frozenset()
        text = "" if style and style.is_hidden else words(paragraph, self._styles)
        is_heading = name(paragraph) == "text:h"
        if names & _PREFORMATTED and not is_heading and marker is None:
            self._listing.append(text)
        else:
            self._end_listing()
            if is_heading:
                level = number(get(paragraph, "text:outline-level"), 1)
                self._builder.heading(text, max(1, level), self._page)
            elif "Title" in names and not self.title and flow(text):
                self.title = flow(text)
                self._builder.heading(text, 1, self._page)
                self._builder.leave_headings()
            elif marker is not None:
                self._builder.item(text, marker, self._page)
            else:
                self._builder.paragraph(text, self._page)
        self._anchored(paragraph, depth)

    def _anchored(self, parent: Element, depth: int) -> None:
        """Append the text boxes anchored in a paragraph and keep its notes for the end."""
        for element in parent:
            kind = name(element)
            if kind == "text:note":
                self._notes.append(element)
            elif kind in _FRAMES:
                self._end_listing()
                self.blocks(element, depth + 1)
            elif kind not in _UNSEEN and depth < _DEEPEST:
                self._anchored(element, depth + 1)

    def _list(self, parent: Element, style: str, level: int, depth: int) -> None:
        """Append the items of a list; only an item's first paragraph carries its marker."""
        count = 0
        for item in parent:
            kind = name(item)
            if kind not in ("text:list-item", "text:list-header") or depth > _DEEPEST:
                continue
            marker: str | None = None
            if kind == "text:list-item":
                start = number(get(item, "text:start-value"), -1)
                count = start if start >= 0 else count + 1
                marker = f"{count}." if (style, level) in self._ordered else "-"
            for element in item:
                if name(element) == "text:list":
                    inner = get(element, "text:style-name") or style
                    self._list(element, inner, level + 1, depth + 1)
                elif name(element) in ("text:p", "text:h"):
                    self._paragraph(element, depth, marker)
                    marker = None
                else:
                    self.blocks(element, depth + 1)

    def _table(self, table: Element, depth: int) -> None:
        """Append a table by rows, nested tables and boxes after the row they are in."""
        for row in _within(table, "table:table-row"):
            cells = list(_within(row, "table:table-cell"))
            texts: list[str] = []
            for cell in cells:
                said = " ".join(words(p, self._styles) for p in _within(cell, "text:p", "text:h"))
                repeated = number(get(cell, "table:number-columns-repeated"), 1)
                texts += [flow(said)] * min(repeated, _MOST_REPEATED)
            if len(texts) == 1 and len(cells) == 1 and depth < _DEEPEST:
                self.blocks(cells[0], depth + 1)
                continue
            self._builder.row(texts, self._page)
            for cell in cells if depth < _DEEPEST else ():
                for nested in _within(cell, "table:table"):
                    self._table(nested, depth + 1)
                for paragraph in _within(cell, "text:p", "text:h"):
                    self._anchored(paragraph, depth + 1)

    def _end_listing(self) -> None:
        if self._listing:
            self._builder.code("\n".join(self._listing), self._page)
            self._listing.clear()


def _within(parent: Element, *kinds: str) -> Iterator[Element]:
    """Yield the nearest descendants of the given kinds, not those of nested tables or boxes."""
    for element in parent:
        kind = name(element)
        if kind in kinds:
            yield element
        elif kind not in _UNSEEN and kind not in ("table:table", "text:note", *_FRAMES):
            yield from _within(element, *kinds)


def _is_hidden_section(element: Element) -> bool:
    return get(element, "text:display") == "none"


def _ordered_levels(package: OdfPackage) -> set[tuple[str, int]]:
    """Return the (list style, level) pairs whose items are numbered."""
    ordered = set()
    for root in (package.styles, package.content):
        for level in () if root is None else root.iter():
            if name(level) != "text:list-level-style-number":
                continue
            holder = level.getparent()
            if holder is not None and get(level, "style:num-format"):
                ordered.add((get(holder, "style:name"), number(get(level, "text:level"), 1)))
    return ordered
