"""PDF: text with page numbers, in reading order, from the drawn characters themselves.

The PDF library must not be used from two threads at once; ``read`` opens and closes everything it
uses and keeps nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract.build import Builder, flow, tags_in
from corpus.extract.ocr import NotRecognised, Picture, Recognise, scale_for
from corpus.extract.ocr_layout import level_sizes
from corpus.extract.ocr_notes import marked, numbered, refusals
from corpus.extract.pdf_blocks import compose
from corpus.extract.pdf_glyphs import segments
from corpus.extract.pdf_layout import Page, regions

MEDIA_TYPE = "application/pdf"

_GENERIC_TITLE = re.compile(
    r"(untitled|unknown|title|documento?\d*|microsoft (word|excel|powerpoint).*"
    r"|.*\.(docx?|odt|rtf|tex|dvi|indd|xlsx?|pptx?|pdf|ps|html?|fm|book)|\W*|\d+)$",
    re.I,
)


@dataclass(slots=True)
class _Found:
    """What the pages of one file came to, by page number."""

    pages: dict[int, Page] = field(default_factory=dict)
    pictures: list[int] = field(default_factory=list)
    hidden: list[int] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    recognised: list[int] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)

    @property
    def textless(self) -> list[int]:
        return [number for number, page in self.pages.items() if not page.regions]

    @property
    def scans(self) -> list[int]:
        """The pages to recognise: those that hold a picture and no text; where the whole file has
        neither, all that have no text, as letters may be drawn as mere lines."""
        textless = self.textless
        return self.pictures or (textless if len(textless) == len(self.pages) else [])


def read(path: Path, recognise: Recognise | None = None) -> Extracted:
    """Extract a PDF; its title is that of its metadata where it reads like one.

    Pages that hold a picture and no text are recognised where there is something to ``recognise``
    them with, and counted as waiting where there is not. Raises NotExtractable when a password is
    needed, when the file is damaged beyond repair, and when no page has text.
    """
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        raise NotExtractable(_cannot_open(error)) from error
    try:
        return _read(document, path.stem, recognise)
    finally:
        document.close()


def _cannot_open(error: pdfium.PdfiumError) -> str:
    if "password" in str(error).lower():
        return "the PDF needs a password to be opened; save it without one"
    return "the PDF is damaged beyond repair; replace it by a whole copy"


def _read(document: pdfium.PdfDocument, stem: str, recognise: Recognise | None) -> Extracted:
    count = len(document)
    if count == 0:
        raise NotExtractable("the PDF is damaged: it has no pages that can be found")
    found = _Found()
    for number in range(1, count + 1):
        try:
            page = document[number - 1]
        except pdfium.PdfiumError:
            found.broken.append(number)
            continue
        try:
            _look_at(page, number, found)
        finally:
            page.close()
    scans = found.scans
    waiting = 0 if recognise else len(scans)
    if recognise:
        for number in scans:
            _recognise(document, number, recognise, found)
    if len(found.textless) == len(found.pages):
        raise _without_text(found, count, waiting)
    builder = Builder()
    if raw.FPDF_GetSecurityHandlerRevision(document.raw) != -1:
        builder.notes.append(
            "its owner restricts copying or changes (owner password); the text was read anyway"
        )
    unread = [n for n in scans if n in found.textless and n not in found.refused]
    for numbers, what in (
        (found.broken, "could not be read"),
        (found.recognised, "recognised from a picture (OCR), may contain errors"),
        (
            unread,
            "a picture in which no text was recognised"
            if recognise
            else "without text but with a picture, may need OCR",
        ),
        (found.hidden, "with hidden text (a recognition layer), which was read too"),
    ):
        if numbers:
            builder.notes.append(f"{numbered(numbers)} of {count}: {what}")
    builder.notes += refusals(found.refused)
    builder.says(
        author=document.get_metadata_value("Author"),
        date=document.get_metadata_value("CreationDate"),
        tags=tags_in(document.get_metadata_value("Keywords")),
    )
    pages = level_sizes(list(found.pages.values()), found.recognised)
    largest = compose(pages, _outline(document), builder)
    extracted = builder.finish(_title(document, largest, stem), MEDIA_TYPE)
    return replace(marked(extracted, found.recognised), waiting=waiting)


def _look_at(page: pdfium.PdfPage, number: int, found: _Found) -> None:
    textpage = page.get_textpage()
    try:
        drawn = segments(textpage)
    finally:
        textpage.close()
    if any(segment.hidden for segment in drawn):
        found.hidden.append(number)
    if not drawn and any(True for _ in page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)):
        found.pictures.append(number)
    found.pages[number] = Page(number, regions(drawn))


def _recognise(
    document: pdfium.PdfDocument, number: int, recognise: Recognise, found: _Found
) -> None:
    page = document[number - 1]
    try:
        picture = _drawn(page)
        lines = recognise(picture)
    except (NotRecognised, pdfium.PdfiumError) as error:
        found.refused[number] = str(error)
        return
    finally:
        page.close()
    if lines:
        found.recognised.append(number)
        found.pages[number] = Page(number, lines)


def _drawn(page: pdfium.PdfPage) -> Picture:
    """Draw a page as grey pixels, as finely as letters need and memory allows."""
    scale = scale_for(*page.get_size())
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        rows = memoryview(bitmap.buffer).cast("B")
        width, height, stride = bitmap.width, bitmap.height, bitmap.stride
        pixels = b"".join(rows[y * stride : y * stride + width] for y in range(height))
    finally:
        bitmap.close()
    return Picture(width, height, pixels, scale)


def _without_text(found: _Found, count: int, waiting: int) -> NotExtractable:
    if found.broken and not found.pages:
        return NotExtractable("the PDF is damaged: none of its pages can be read")
    said = "its only page has no" if count == 1 else f"none of its {count} pages has any"
    if waiting:
        return NotExtractable(f"no text, needs OCR: {said} text", stage="text", waiting=waiting)
    why = "".join(f"; {note}" for note in refusals(found.refused))
    return NotExtractable(f"no text: {said} text, and none was recognised{why}", stage="text")


def _outline(document: pdfium.PdfDocument) -> dict[int, list[tuple[int, str]]]:
    """Return the bookmarks: for each page number, (level from 1, title) in order."""
    found: dict[int, list[tuple[int, str]]] = {}
    try:
        for bookmark in document.get_toc(max_depth=6):
            destination = bookmark.get_dest()
            index = None if destination is None else destination.get_index()
            title = flow(bookmark.get_title())
            if index is not None and title:
                found.setdefault(index + 1, []).append((bookmark.level + 1, title))
    except pdfium.PdfiumError:
        return found
    return found


def _title(document: pdfium.PdfDocument, largest: str, stem: str) -> str:
    title = flow(document.get_metadata_value("Title"))
    if not _GENERIC_TITLE.match(title) and title.casefold() != stem.casefold():
        return title
    return largest or stem
