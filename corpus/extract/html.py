"""HTML: what a reader of the page sees, without its scripts and its navigation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from corpus.document import Extracted
from corpus.extract.build import Builder, flow, tags_in
from corpus.extract.charset import believable
from corpus.extract.plain import FALLBACK, decode


def _names(*groups: str) -> frozenset[str]:
    return frozenset(name for group in groups for name in group.split())


_UNSEEN = _names(
    "script style template noscript head title svg canvas audio video",
    "iframe object embed select datalist input button textarea nav",
)
_NAVIGATION = _names(
    "nav navbar navheader navfooter navigation toc lot breadcrumb breadcrumbs sidebar skip-link"
)
_BLOCKS = _names(
    "address article aside blockquote body center dd details dialog div dl dt fieldset",
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu ol p pre",
    "section summary table caption tbody td tfoot th thead tr ul",
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_META = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
_XML = re.compile(rb"\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)", re.I)
_AUTHOR = ("author", "dc.creator", "dcterms.creator", "article:author")
_DATE = ("date", "dc.date", "dcterms.date", "dcterms.created", "article:published_time")
_DECLARED_WITHIN = 4096
_HIDING = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.I
)
_DEEPEST_TABLE = 8
# In the only filled cell of a row, these show that the table is there for the layout.
_FRAMED = "p, ul, ol, dl, div, h1, h2, h3, h4, h5, h6"


def read(data: bytes, stem: str, *, fallback: str = FALLBACK) -> Extracted:
    """Extract a page; its title is that of its head, else its first heading, else the stem."""
    decoded = decode(data, declared=declared_charset(data), fallback=fallback)
    tree = LexborHTMLParser(decoded.text)
    builder = Builder()
    builder.notes.extend(decoded.notes)
    _said(tree, builder)
    if tree.body is not None:
        walk(tree.body, builder)
    head_title = tree.css_first("head > title")
    title = flow(head_title.text()) if head_title is not None else ""
    return builder.finish(title or builder.first_heading() or stem, "text/html")


def _said(tree: LexborHTMLParser, builder: Builder) -> None:
    """Note the author, the date and the keywords that the head of a page gives."""
    found: dict[str, str] = {}
    for node in tree.css("head > meta[content]"):
        attributes = node.attributes
        name = (attributes.get("name") or attributes.get("property") or "").lower()
        found.setdefault(name, attributes.get("content") or "")
    for name in _AUTHOR:
        builder.says(author=found.get(name, ""))
    for name in _DATE:
        builder.says(date=found.get(name, ""))
    builder.says(tags=tags_in(found.get("keywords", "")))


def declared_charset(data: bytes) -> str | None:
    """Return the encoding that a page declares in its beginning and can be believed, or None."""
    head = data[:_DECLARED_WITHIN]
    found = _XML.match(head) or _META.search(head)
    if found is None:
        return None
    name = found[1].decode("ascii", errors="replace").lower()
    # A declaration that can be read byte by byte is not in two or four bytes a character.
    return None if name.startswith(("utf-16", "utf-32")) else believable(name, data)


def fragment(markup: str, builder: Builder) -> None:
    """Append what is to be read in a piece of HTML to ``builder``."""
    body = LexborHTMLParser(markup).body
    if body is not None:
        walk(body, builder)


class _Flow:
    """Inline text gathered until a block begins or ends, then given to the builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.parts: list[str] = []
        self.lists: list[int | None] = []
        self.marker: str | None = None
        self.heading: int | None = None

    def flush(self) -> None:
        """End the block being gathered."""
        text = flow("".join(self.parts))
        self.parts.clear()
        if not text:
            return
        if self.heading is not None:
            self.builder.heading(text, self.heading)
        elif self.marker is not None:
            self.builder.item(text, self.marker)
            self.marker = None
        else:
            self.builder.paragraph(text)

    def begin_item(self) -> None:
        """Note the marker of the list item that begins here."""
        self.marker = "-"
        if self.lists and (number := self.lists[-1]) is not None:
            self.marker = f"{number}."
            self.lists[-1] = number + 1


def walk(root: LexborNode, builder: Builder, depth: int = 0) -> None:
    """Append the blocks below ``root`` to ``builder``; ``depth`` counts enclosing tables."""
    state = _Flow(builder)
    for node, entering in _events(root, stop=lambda node: node.tag in ("pre", "table")):
        tag = node.tag
        if tag == "-text":
            if entering:
                state.parts.append(node.text_content or "")
            continue
        if tag == "br" or tag == "img":
            if entering:
                state.parts.append(" " if tag == "br" else f" {node.attributes.get('alt') or ''} ")
            continue
        if tag not in _BLOCKS:
            continue
        state.flush()
        if tag in _HEADINGS:
            state.heading = _HEADINGS[tag] if entering else None
        elif tag in ("ul", "menu", "ol"):
            if entering:
                state.lists.append(_start(node) if tag == "ol" else None)
            elif state.lists:
                state.lists.pop()
        elif tag in ("li", "dt"):
            if entering and tag == "li":
                state.begin_item()
            else:
                state.marker = "" if entering else None
        elif tag == "pre" and entering:
            builder.code(_preformatted(node))
        elif tag == "table" and entering:
            _table(node, builder, depth)
    state.flush()


def _events(
    root: LexborNode, stop: Callable[[LexborNode], bool]
) -> Iterator[tuple[LexborNode, bool]]:
    """Yield every node below ``root`` on entering and, for elements, on leaving it.

    Unseen and navigational elements are passed over, and nothing below a node that ``stop``
    accepts is visited. There is no recursion, so depth is not limited by the stack.
    """
    stack: list[tuple[LexborNode, bool]] = [(child, True) for child in _children(root)]
    while stack:
        node, entering = stack.pop()
        if not entering:
            yield node, False
            continue
        if node.is_text_node:
            yield node, True
        elif node.is_element_node and not _passed_over(node):
            yield node, True
            stack.append((node, False))
            if not stop(node):
                stack.extend((child, True) for child in _children(node))


def _children(node: LexborNode) -> list[LexborNode]:
    return list(node.iter(include_text=True))[::-1]


def _passed_over(node: LexborNode) -> bool:
    if node.tag in _UNSEEN:
        return True
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("role") == "navigation":
        return True
    if _HIDING.search(attributes.get("style") or ""):
        return True
    # Icons are hidden from being read aloud, and so is a page behind a dialog, which is text.
    if (attributes.get("aria-hidden") or "").lower() == "true" and node.tag not in _BLOCKS:
        return True
    names = (attributes.get("class") or "").lower().split()
    return (attributes.get("id") or "").lower() in _NAVIGATION or not _NAVIGATION.isdisjoint(names)


def _start(node: LexborNode) -> int:
    start = node.attributes.get("start") or ""
    return int(start) if start.isdecimal() and len(start) < 9 else 1


def _preformatted(node: LexborNode) -> str:
    parts = []
    for child, entering in _events(node, stop=lambda _: False):
        if child.tag == "-text":
            parts.append(child.text_content or "")
        elif child.tag == "br" and entering:
            parts.append("\n")
    return "".join(parts)


def _table(table: LexborNode, builder: Builder, depth: int) -> None:
    """Append a table row by row; a row that only frames running text is that text."""
    for part, entering in _events(table, stop=lambda node: node.tag in ("tr", "caption")):
        if not entering or part.tag not in ("tr", "caption"):
            continue
        if part.tag == "caption":
            builder.paragraph(_inline(part))
            continue
        cells = [
            cell
            for cell, opening in _events(part, stop=lambda node: node.tag in ("td", "th"))
            if opening and cell.tag in ("td", "th")
        ]
        texts = [flow(_inline(cell)) for cell in cells]
        filled = [cell for cell, text in zip(cells, texts, strict=True) if text]
        nested = any(cell.css_first("table, pre") is not None for cell in filled)
        frame = len(cells) == 1 or (len(filled) == 1 and filled[0].css_first(_FRAMED) is not None)
        if depth < _DEEPEST_TABLE and (nested or frame):
            for cell in filled:
                walk(cell, builder, depth + 1)
        else:
            builder.row(texts)


def _inline(node: LexborNode) -> str:
    """Return all text below a node on one line, its blocks parted by a space."""
    parts = []
    for child, entering in _events(node, stop=lambda _: False):
        if child.tag == "-text":
            parts.append(child.text_content or "")
        elif child.tag in _BLOCKS or (child.tag == "br" and entering):
            parts.append(" ")
    return "".join(parts)
