"""Presentations (PPTX): the text of every slide, which counts as a page, and the notes below it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus.document import Extracted
from corpus.extract.build import Builder, flow
from corpus.extract.opc import OpcPackage, Relation, opened, required
from corpus.extract.xml_parts import Element, attribute, child, children, is_on, local

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"

_TITLES = ("title", "ctrTitle")
# Placeholders that repeat on every slide what is no part of its text.
_FURNITURE = ("sldNum", "dt", "sldImg", "hdr")
_BULLETED = ("body", "obj", "")
_DEEPEST = 12


def read(path: Path) -> Extracted:
    """Extract a presentation: title as heading, text, tables, diagrams, then the notes.

    Hidden slides are read and noted; slide numbers, dates and repeated footers are left out.
    Raises NotExtractable for a damaged file. The package must have passed
    :func:`corpus.extract.office.check_package`.
    """
    builder = Builder()
    with opened(path) as package:
        part = package.main("ppt/presentation.xml")
        presentation = required(package.tree(part), part)
        related = package.relations(part)
        footers: set[str] = set()
        read_parts: set[str] = set()
        for number, entry in enumerate(children(presentation, "sldIdLst"), start=1):
            relation = related.get(_relation_id(entry))
            if relation is None or relation.part in read_parts:
                continue
            read_parts.add(relation.part)
            slide = package.tree(relation.part)
            if slide is None:
                builder.notes.append(f"slide {number} is missing from the file")
                continue
            _Slide(package, relation.part, builder, number, footers).read(slide)
            if slide.get("show") is not None and not is_on(slide.get("show") or ""):
                builder.notes.append(f"slide {number} is hidden in the file and was read")
        title = package.title()
        package.said(builder)
    return builder.finish(title or builder.first_heading() or path.stem, MEDIA_TYPE)


def _relation_id(entry: Element) -> str:
    """Return the relation of a slide entry, which has a plain ``id`` of its own as well."""
    return next((str(v) for k, v in entry.attrib.items() if str(k).endswith("}id")), "")


class _Slide:
    """Reads one slide and gives its blocks to a builder."""

    def __init__(
        self, package: OpcPackage, part: str, builder: Builder, number: int, footers: set[str]
    ) -> None:
        self._package = package
        self._related = package.relations(part)
        self._builder = builder
        self._number = number
        self._footers = footers

    def read(self, slide: Element) -> None:
        """Append the title, the shapes in their order, and the notes."""
        shapes = list(_shapes(child(slide, "cSld", "spTree")))
        titles = [shape for shape in shapes if _role(shape) in _TITLES]
        self._builder.leave_headings()
        for shape in titles[:1]:
            text = " ".join(words for words, _ in _paragraphs(child(shape, "txBody")))
            self._builder.heading(text, 1, self._number)
        for shape in shapes:
            if shape not in titles[:1]:
                self._shape(shape)
        for relation in self._related.values():
            if relation.type == "notesSlide":
                self._notes(relation)

    def _shape(self, shape: Element) -> None:
        role = _role(shape)
        if role in _FURNITURE:
            return
        if local(shape) == "graphicFrame":
            self._graphic(shape)
            return
        body = child(shape, "txBody")
        if role == "ftr":
            wording = " ".join(words for words, _ in _paragraphs(body))
            if wording in self._footers:
                return
            self._footers.add(wording)
        for words, properties in _paragraphs(body):
            marker = _marker(properties, role)
            if marker:
                self._builder.item(words, marker, self._number)
            else:
                self._builder.paragraph(words, self._number)

    def _graphic(self, frame: Element) -> None:
        """Append a table by rows, or the texts of a diagram."""
        data = child(frame, "graphic", "graphicData")
        table = child(data, "tbl")
        for row in table if table is not None else ():
            if local(row) == "tr":
                cells = [cell for cell in row if local(cell) == "tc"]
                texts = [
                    " ".join(words for words, _ in _paragraphs(child(cell, "txBody")))
                    for cell in cells
                ]
                self._builder.row(texts, self._number)
        diagram = self._related.get(attribute(child(data, "relIds"), "dm"))
        root = None if diagram is None else self._package.tree(diagram.part)
        for point in () if root is None else root.iter("{*}pt"):
            for words, _ in _paragraphs(child(point, "t")):
                self._builder.item(words, "-", self._number)

    def _notes(self, relation: Relation) -> None:
        root = self._package.tree(relation.part)
        bodies = [
            shape
            for shape in _shapes(child(root, "cSld", "spTree"))
            if _role(shape) not in (*_FURNITURE, "ftr")
        ]
        texts = [words for shape in bodies for words, _ in _paragraphs(child(shape, "txBody"))]
        if any(texts):
            self._builder.heading("Notes", 2, self._number)
        for words in texts:
            self._builder.paragraph(words, self._number)


def _shapes(tree: Element | None, depth: int = 0) -> Iterator[Element]:
    """Yield the shapes that hold text or tables, out of their groups, without the hidden ones."""
    for shape in () if tree is None else tree:
        kind = local(shape)
        if kind == "AlternateContent" and depth < _DEEPEST:
            choice = child(shape, "Choice")
            yield from _shapes(
                choice if choice is not None else child(shape, "Fallback"), depth + 1
            )
        elif kind in ("sp", "cxnSp", "graphicFrame", "grpSp"):
            if is_on(attribute(_named(shape), "hidden")):
                continue
            if kind == "grpSp":
                yield from _shapes(shape, depth + 1) if depth < _DEEPEST else ()
            else:
                yield shape


def _named(shape: Element) -> Element | None:
    """Return the element with a shape's name, in which it also says that it is hidden."""
    holder = next((part for part in shape if local(part).startswith("nv")), None)
    return child(holder, "cNvPr")


def _role(shape: Element) -> str | None:
    """Return the type of placeholder a shape is, "" for one of the usual type, None for none."""
    holder = next((part for part in shape if local(part).startswith("nv")), None)
    placeholder = child(holder, "nvPr", "ph")
    return None if placeholder is None else placeholder.get("type") or ""


def _paragraphs(body: Element | None) -> Iterator[tuple[str, Element | None]]:
    """Yield the text of each paragraph that has any, with the paragraph's properties."""
    for paragraph in () if body is None else body:
        if local(paragraph) == "p":
            words = flow("".join(_pieces(paragraph)))
            if words:
                yield words, child(paragraph, "pPr")


def _pieces(parent: Element, depth: int = 0) -> Iterator[str]:
    for piece in parent:
        kind = local(piece)
        if kind == "t":
            yield piece.text or ""
        elif kind in ("br", "tab"):
            yield " "
        elif kind == "fld" and (piece.get("type") or "").lower().startswith(("slidenum", "date")):
            continue
        elif kind == "AlternateContent":
            choice = child(piece, "Choice")
            if choice is not None and depth < _DEEPEST:
                yield from _pieces(choice, depth + 1)
        elif kind not in ("pPr", "rPr", "endParaRPr") and depth < _DEEPEST:
            yield from _pieces(piece, depth + 1)


def _marker(properties: Element | None, role: str | None) -> str:
    """Return the marker of a list item; placeholders for text are lists unless they say not."""
    kinds = {local(piece) for piece in properties} if properties is not None else set()
    if "buNone" in kinds:
        return ""
    return "-" if role in _BULLETED or kinds & {"buChar", "buAutoNum", "buBlip"} else ""
