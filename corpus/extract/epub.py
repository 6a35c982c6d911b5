"""EPUB books: the chapters in reading order, each read as the page of HTML that it is."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZipFile

from selectolax.lexbor import LexborHTMLParser

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract import html
from corpus.extract.build import Builder, flow, tags_in
from corpus.extract.plain import FALLBACK, decode
from corpus.extract.xml_parts import Element, attribute, child, children, local, parse

MEDIA_TYPE = "application/epub+zip"

_CHAPTERS = ("application/xhtml+xml", "text/html")
_CONTAINER = "META-INF/container.xml"
# XHTML may close any element in its own tag, where HTML would read on to the end of the page.
_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s[^<>]*)?)/>")
# Left as they are: elements that are always empty, and those of drawings and formulas.
_EMPTY = re.compile(
    r"(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|svg|math|path|rect|circle"
    r"|line|use|image|g|polygon|polyline|ellipse)$",
    re.I,
)


def read(path: Path, *, fallback: str = FALLBACK) -> Extracted:
    """Extract a book: the files of its spine in order, each under its heading.

    A file without a heading of its own goes by its entry in the table of contents. Raises
    NotExtractable for a damaged book and for one whose text is encrypted. The package must have
    passed :func:`corpus.extract.office.check_package`.
    """
    builder = Builder()
    with ZipFile(path) as archive:
        book = _Book(archive)
        for place in book.spine:
            data = book.bytes(place)
            if data is None:
                builder.notes.append(f"the chapter {place} is missing from the book")
                continue
            decoded = decode(data, declared=html.declared_charset(data), fallback=fallback)
            builder.notes.extend(f"{place}: {note}" for note in decoded.notes)
            page = LexborHTMLParser(_CLOSED.sub(_opened, decoded.text))
            if page.body is None:
                continue
            if page.css_first("h1, h2, h3, h4, h5, h6") is None:
                builder.heading(book.labels.get(place, ""), 1)
            html.walk(page.body, builder)
        title = book.title
        builder.says(
            author=", ".join(book.stated("creator")),
            date=next(iter(book.stated("date")), ""),
            tags=[tag for text in book.stated("subject") for tag in tags_in(text)],
        )
    return builder.finish(title or builder.first_heading() or path.stem, MEDIA_TYPE)


def _opened(match: re.Match[str]) -> str:
    """Write an element closed in its own tag the way HTML understands it."""
    if _EMPTY.match(match[1]) or ":" in match[1]:
        return match[0]
    return f"<{match[1]}{match[2]}></{match[1]}>"


class _Book:
    """The package document of a book: its title, its spine, the labels of its contents."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._names = {name.lower(): name for name in archive.namelist()}
        container = self._tree(_CONTAINER)
        roots = container.iter("{*}rootfile") if container is not None else iter(())
        place = next((attribute(root, "full-path") for root in roots), "")
        package = self._tree(place)
        if package is None:
            raise NotExtractable("the book names no package document; replace it by a whole copy")
        self._folder = posixpath.dirname(place)
        self._metadata = child(package, "metadata")
        self.title = next(iter(self.stated("title")), "")
        items = {attribute(item, "id"): item for item in children(package, "manifest")}
        self.spine = self._spine(package, items)
        self.labels = dict(self._labels(items))
        self._refuse_encrypted()

    def stated(self, name: str) -> list[str]:
        """Return what the metadata says under a name of Dublin Core, entry by entry."""
        found = () if self._metadata is None else self._metadata.iter(f"{{*}}{name}")
        return [flow("".join(map(str, element.itertext()))) for element in found]

    def bytes(self, place: str) -> bytes | None:
        """Return a file of the book, or None where it is missing."""
        name = self._names.get(place.lower())
        return None if name is None else self._archive.read(name)

    def _tree(self, place: str) -> Element | None:
        data = self.bytes(place) if place else None
        return None if data is None else parse(data, place)

    def _place(self, folder: str, reference: str) -> str:
        path = unquote(reference.partition("#")[0])
        return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")

    def _spine(self, package: Element, items: dict[str, Element]) -> list[str]:
        places = []
        for reference in children(package, "spine"):
            item = items.get(attribute(reference, "idref"))
            if item is not None and attribute(item, "media-type").lower() in _CHAPTERS:
                places.append(self._place(self._folder, attribute(item, "href")))
        return list(dict.fromkeys(places))

    def _labels(self, items: dict[str, Element]) -> Iterator[tuple[str, str]]:
        """Yield the label of each file in the table of contents; later pairs come first-hand."""
        for item in items.values():
            place = self._place(self._folder, attribute(item, "href"))
            folder = posixpath.dirname(place)
            pairs: list[tuple[str, str]] = []
            if attribute(item, "media-type").lower() == "application/x-dtbncx+xml":
                root = self._tree(place)
                for point in root.iter("{*}navPoint") if root is not None else ():
                    label = child(point, "navLabel", "text")
                    source = attribute(child(point, "content"), "src")
                    pairs.append((source, flow((label.text or "") if label is not None else "")))
            elif "nav" in attribute(item, "properties").split():
                text = decode(self.bytes(place) or b"").text
                for link in LexborHTMLParser(text).css("nav a[href]"):
                    pairs.append((link.attributes.get("href") or "", flow(link.text())))
            # The first entry that leads into a file names its beginning.
            for source, label_text in reversed(pairs):
                yield self._place(folder, source), label_text

    def _refuse_encrypted(self) -> None:
        """Raise where chapters are encrypted; that fonts are is common and no matter."""
        root = self._tree("META-INF/encryption.xml")
        encrypted = {
            self._place("", attribute(reference, "URI")).lower()
            for reference in (() if root is None else root.iter())
            if local(reference) == "CipherReference"
        }
        if any(place.lower() in encrypted for place in self.spine):
            raise NotExtractable(
                "the text of the book is encrypted (copy protection); replace it by an open copy"
            )
