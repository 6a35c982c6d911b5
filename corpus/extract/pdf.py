"""PDF: text with page numbers, in reading order, from the drawn characters themselves.

The PDF library must not be used from two threads at once; ``read`` opens and closes everything it
uses and keeps nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract.build import Builder, flow, tags_in
from corpus.extract.pdf_blocks import compose
from corpus.extract.pdf_glyphs import segments
from corpus.extract.pdf_layout import Page, regions

MEDIA_TYPE = "application/pdf"

_GENERIC_TITLE = re.compile(
    r"(untitled|unknown|title|documento?\d*|microsoft (word|excel|powerpoint).*"
    r"|.*\.(docx?|odt|rtf|tex|dvi|indd|xlsx?|pptx?|pdf|ps|html?|fm|book)|\W*|\d+)$",
    re.I,
)
_MANY = 5


def read(path: Path) -> Extracted:
    """Extract a PDF; its title is that of its metadata where it reads like one.

    Raises NotExtractable when a password is needed, when the file is damaged beyond repair, and
    when no page has text.
    """
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        raise NotExtractable(_cannot_open(error)) from error
    try:
        return _read(document, path.stem)
    finally:
        document.close()


def _cannot_open(error: pdfium.PdfiumError) -> str:
    if "password" in str(error).lower():
        return "the PDF needs a password to be opened; save it without one"
    return "the PDF is damaged beyond repair; replace it by a whole copy"


def _read(document: pdfium.PdfDocument, stem: str) -> Extracted:
    count = len(document)
    if count == 0:
        raise NotExtractable("the PDF is damaged: it has no pages that can be found")
    builder = Builder()
    pages: list[Page] = []
    scanned: list[int] = []
    hidden: list[int] = []
    broken: list[int] = []
    for number in range(1, count + 1):
        try:
            page = document[number - 1]
        except pdfium.PdfiumError:
            broken.append(number)
            continue
        try:
            found = _page(page, number, scanned, hidden)
        finally:
            page.close()
        pages.append(found)
    if not any(page.regions for page in pages):
        if broken:
            raise NotExtractable("the PDF is damaged: none of its pages can be read")
        said = "its only page has no" if count == 1 else f"none of its {count} pages has any"
        raise NotExtractable(f"no text, needs OCR: {said} text", stage="text")
    if raw.FPDF_GetSecurityHandlerRevision(document.raw) != -1:
        builder.notes.append(
            "its owner restricts copying or changes (owner password); the text was read anyway"
        )
    for numbers, what in (
        (broken, "could not be read"),
        (scanned, "without text but with a picture, may need OCR"),
        (hidden, "with hidden text (a recognition layer), which was read too"),
    ):
        if numbers:
            builder.notes.append(f"{_numbered(numbers)} of {count}: {what}")
    builder.says(
        author=document.get_metadata_value("Author"),
        date=document.get_metadata_value("CreationDate"),
        tags=tags_in(document.get_metadata_value("Keywords")),
    )
    largest = compose(pages, _outline(document), builder)
    return builder.finish(_title(document, largest, stem), MEDIA_TYPE)


def _page(page: pdfium.PdfPage, number: int, scanned: list[int], hidden: list[int]) -> Page:
    textpage = page.get_textpage()
    try:
        found = segments(textpage)
    finally:
        textpage.close()
    if any(segment.hidden for segment in found):
        hidden.append(number)
    if not found and any(True for _ in page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)):
        scanned.append(number)
    return Page(number, regions(found))


def _numbered(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MANY]))
    if len(numbers) > _MANY:
        shown += f" and {len(numbers) - _MANY} more"
    return f"page {shown}" if len(numbers) == 1 else f"pages {shown}"


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
