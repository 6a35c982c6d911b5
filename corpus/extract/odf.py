"""What OpenDocument texts, spreadsheets and presentations share: names, styles, running text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from corpus.errors import NotExtractable
from corpus.extract.build import Builder, flow, tags_in
from corpus.extract.xml_parts import Element, parse

_URN = "urn:oasis:names:tc:opendocument:xmlns:"
_PREFIXES = {
    f"{_URN}{name}:1.0": prefix
    for name, prefix in {
        "office": "office",
        "text": "text",
        "table": "table",
        "drawing": "draw",
        "style": "style",
        "presentation": "presentation",
    }.items()
}
_NAMESPACES = {prefix: uri for uri, prefix in _PREFIXES.items()}
_LONGEST_CHAIN = 20
_DEEPEST = 100
# Not on the page, or not part of the sentence it is anchored in.
_UNSEEN = frozenset(
    {
        "office:annotation",
        "text:note",
        "text:ruby-text",
        "text:tracked-changes",
        "text:page-number",
        "text:page-count",
        "text:hidden-text",
        "draw:frame",
        "draw:custom-shape",
    }
)
_BREAKS = {"text:line-break": "\n", "text:tab": "\t"}
_MOST_SPACES = 100


@dataclass(frozen=True, slots=True)
class OdfPackage:
    """The parsed parts of an OpenDocument file; ``styles`` holds headers and footers as well."""

    body: Element
    content: Element
    styles: Element | None
    meta: Element | None

    @property
    def title(self) -> str:
        """The title among the file's properties, or an empty string."""
        return flow(next(iter(self._stated("title")), ""))

    def said(self, builder: Builder) -> None:
        """Note the author, the date and the keywords among the properties."""
        for key in ("initial-creator", "creator"):
            builder.says(author=next(iter(self._stated(key)), ""))
        for key in ("creation-date", "date"):
            builder.says(date=next(iter(self._stated(key)), ""))
        builder.says(tags=[tag for text in self._stated("keyword") for tag in tags_in(text)])

    def _stated(self, key: str) -> list[str]:
        found = () if self.meta is None else self.meta.iter(f"{{*}}{key}")
        return ["".join(map(str, element.itertext())) for element in found]


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph or text style with what it inherits: its names, and whether it is unseen."""

    names: frozenset[str] = frozenset()
    is_hidden: bool = False


def load(path: Path, body: str) -> OdfPackage:
    """Parse the package at ``path``, whose content is an ``office:`` element called ``body``.

    Raises NotExtractable for a damaged file. The package must have passed
    :func:`corpus.extract.office.check_package`.
    """
    with ZipFile(path) as archive:
        names = set(archive.namelist())
        roots = {
            part: parse(archive.read(part), part)
            for part in ("content.xml", "styles.xml", "meta.xml")
            if part in names
        }
    content = roots.get("content.xml")
    found = (
        None if content is None else next(content.iter(f"{{{_NAMESPACES['office']}}}{body}"), None)
    )
    if content is None or found is None:
        raise NotExtractable("its part content.xml is missing or empty; replace it by a whole copy")
    return OdfPackage(found, content, roots.get("styles.xml"), roots.get("meta.xml"))


def name(element: Element) -> str:
    """Return an element's name with its usual prefix, such as ``text:p``."""
    tag = element.tag
    if not isinstance(tag, str):
        return ""
    namespace, _, plain = tag[1:].partition("}")
    return f"{_PREFIXES.get(namespace, '')}:{plain}"


def get(element: Element, prefixed: str) -> str:
    """Return an attribute by its prefixed name, or an empty string."""
    prefix, _, plain = prefixed.partition(":")
    return str(element.get(f"{{{_NAMESPACES[prefix]}}}{plain}") or "")


def number(text: str, otherwise: int) -> int:
    """Return a count that an attribute states, or ``otherwise`` where it states none."""
    return int(text) if text.isdecimal() and len(text) < 9 else otherwise


def styles(package: OdfPackage) -> dict[str, Style]:
    """Return the styles of a file by name, each with the names of those it descends from."""
    elements: dict[str, Element] = {}
    for root in (package.styles, package.content):
        for element in () if root is None else root.iter(f"{{{_NAMESPACES['style']}}}style"):
            if get(element, "style:family") in ("paragraph", "text"):
                elements[get(element, "style:name")] = element
    return {identifier: _resolved(identifier, elements) for identifier in elements}


def _resolved(identifier: str, elements: dict[str, Element]) -> Style:
    names: set[str] = set()
    hidden: bool | None = None
    for _ in range(_LONGEST_CHAIN):
        names.add(identifier)
        element = elements.get(identifier)
        if element is None:
            break
        for properties in element:
            stated = get(properties, "text:display")
            if stated and hidden is None:
                hidden = stated == "none"
        identifier = get(element, "style:parent-style-name")
    return Style(frozenset(names), bool(hidden))


def words(paragraph: Element, known: dict[str, Style]) -> str:
    """Return the text of a paragraph as it is on the page, line breaks and tabs kept."""
    return "".join(_pieces(paragraph, known))


def _pieces(parent: Element, known: dict[str, Style], depth: int = 0) -> Iterator[str]:
    yield parent.text or ""
    for piece in parent:
        kind = name(piece)
        if kind in _BREAKS:
            yield _BREAKS[kind]
        elif kind == "text:s":
            yield " " * min(number(get(piece, "text:c"), 1), _MOST_SPACES)
        elif kind not in _UNSEEN and depth < _DEEPEST:
            style = known.get(get(piece, "text:style-name"))
            if style is None or not style.is_hidden:
                yield from _pieces(piece, known, depth + 1)
        yield piece.tail or ""
