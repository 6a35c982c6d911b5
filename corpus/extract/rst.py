"""reStructuredText, of Sphinx too: unknown roles and directives keep their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

import docutils.core
import docutils.utils
from docutils import ApplicationError, nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en

from corpus.document import Extracted
from corpus.extract import html, plain
from corpus.extract.build import Builder, flow, tags_in
from corpus.extract.plain import FALLBACK, decode
from corpus.text import clean

_DIRECTIVE = re.compile(r"^\s*\.\.\s+(?:\|[^|]+\|\s+)?([A-Za-z][\w:.+-]*?)::(?:\s|$)", re.M)
_ROLE = re.compile(r":([A-Za-z][\w:.+-]*):`")
_TARGET = re.compile(r"(?P<shown>.*\S)\s*<[^<>]*>", re.S)
# Their content is file names and addresses, not words.
_SILENT = frozenset({"toctree", "youtube", "vimeo", "include", "highlight", "meta", "contents"})
_CODE = frozenset({"code-block", "sourcecode", "literalinclude", "parsed-literal"})
_SETTINGS = {
    "report_level": 1,
    "halt_level": 5,
    "warning_stream": False,
    "file_insertion_enabled": False,
    "raw_enabled": True,
    "doctitle_xform": False,
    "syntax_highlight": "none",
    "line_length_limit": 10_000_000,
    "_disable_config": True,
}


def read(data: bytes, stem: str, *, fallback: str = FALLBACK) -> Extracted:
    """Extract a page; the title is its first heading, else the stem.

    What the parser cannot make sense of stays as the text it is; a page it gives up on is read as
    plain text, with a note.
    """
    decoded = decode(data, fallback=fallback)
    source = clean(decoded.text)
    _make_known(source)
    try:
        document = docutils.core.publish_doctree(source, settings_overrides=_SETTINGS)
    except (ApplicationError, docutils.utils.SystemMessage, RecursionError, ValueError) as error:
        text = plain.read(data, stem, fallback=fallback)
        note = f"read as plain text because its markup is broken: {flow(str(error))[:200]}"
        return Extracted(text.text, stem, "text/x-rst", text.blocks, (*text.notes, note))
    builder = Builder()
    builder.notes.extend(decoded.notes)
    _said(document, builder)
    _walk(document, builder, level=0)
    return builder.finish(builder.first_heading() or stem, "text/x-rst")


def _said(document: nodes.document, builder: Builder) -> None:
    """Note what the list of fields above the text gives, below the title or without one."""
    top = list(document.children)
    if top and isinstance(top[0], nodes.section):
        top = list(top[0].children)
    fields = next(
        (node for node in top if isinstance(node, (nodes.docinfo, nodes.field_list))), None
    )
    for node in () if fields is None else fields.children:
        name, value = type(node).__name__, node.astext()
        if isinstance(node, nodes.field):
            name, value = (part.astext() for part in node.children[:2])
        name = name.lower()
        builder.says(author=", ".join(value.split("\n\n")) if name in ("author", "authors") else "")
        builder.says(date=value if name in ("date", "created") else "")
        builder.says(tags=tags_in(value) if name in ("tags", "keywords") else ())


class _AnyOptions(dict[str, Any]):
    """Options of a directive nobody told us about: every name is accepted, as text."""

    def __missing__(self, key: str) -> Any:
        return directives.unchanged

    def __bool__(self) -> bool:
        return True


class _Unknown(Directive):
    """A directive of some extension: its argument and content are read as ordinary text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Any] = _AnyOptions()

    def run(self) -> list[nodes.Node]:
        if self.name in _SILENT:
            return []
        if self.name in _CODE:
            text = "\n".join(self.content)
            return [nodes.literal_block(text, text)] if text else []
        children: list[nodes.Node] = []
        if self.arguments:
            inline, messages = self.state.inline_text(self.arguments[0], self.lineno)
            children += [nodes.paragraph(self.arguments[0], "", *inline), *messages]
        body = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, body)
        return [*children, body]


def _role(
    name: str,
    rawtext: str,
    text: str,
    lineno: int,
    inliner: Any,
    options: Any = None,
    content: Any = None,
) -> tuple[list[Any], list[Any]]:
    """Show a role of some extension as its words: the part before ``<target>`` if there is one."""
    plain_text = docutils.utils.unescape(text)
    explicit = _TARGET.fullmatch(plain_text)
    return [nodes.inline(rawtext, explicit["shown"] if explicit else plain_text)], []


def _make_known(source: str) -> None:
    """Register what ``source`` uses and docutils does not know, so that nothing is an error."""
    for name in {found.lower() for found in _DIRECTIVE.findall(source)} | _SILENT | _CODE:
        if name in _SILENT | _CODE or name not in en.directives:
            directives.register_directive(name, _Unknown)
    for name in set(_ROLE.findall(source)):
        if name.lower() not in en.roles:
            roles.register_local_role(name, _role)


def _walk(node: nodes.Element, builder: Builder, level: int, marker: str | None = None) -> None:
    """Append the blocks below ``node``; ``marker`` goes before the first of them."""
    for child in node.children:
        if isinstance(child, (nodes.comment, nodes.substitution_definition, nodes.target)):
            continue
        if isinstance(child, nodes.section):
            _walk(child, builder, level + 1)
        elif isinstance(child, (nodes.title, nodes.rubric)):
            if isinstance(node, nodes.section):
                builder.heading(child.astext(), level)
            else:
                builder.paragraph(child.astext())
        elif isinstance(child, nodes.system_message):
            _salvage(child, builder)
        elif isinstance(child, nodes.raw):
            if "html" in child.get("format", ""):
                html.fragment(child.astext(), builder)
        elif isinstance(child, (nodes.literal_block, nodes.doctest_block, nodes.math_block)):
            builder.code(child.astext())
        elif isinstance(child, nodes.image):
            builder.paragraph(child.get("alt", ""))
        elif isinstance(child, nodes.line_block):
            builder.paragraph(" ".join(line.astext() for line in child.findall(nodes.line)))
        elif isinstance(child, nodes.list_item):
            _walk(child, builder, level, _marker(child))
        elif isinstance(child, (nodes.term, nodes.field_name)):
            builder.item(_inline(child), "")
        elif isinstance(child, nodes.row):
            builder.row([" ".join(_texts(cell)) for cell in child.children])
        elif isinstance(child, nodes.TextElement):
            if marker is None:
                builder.paragraph(_inline(child))
            else:
                builder.item(_inline(child), marker)
                marker = None
        elif isinstance(child, nodes.Element):
            _walk(child, builder, level)


def _marker(item: nodes.list_item) -> str:
    parent = item.parent
    if isinstance(parent, nodes.enumerated_list):
        return f"{parent.get('start', 1) + parent.index(item)}."
    return "-"


def _inline(node: nodes.TextElement) -> str:
    """Return the words of a paragraph, with what its pictures are of."""
    parts = []
    for child in node.findall():
        if isinstance(child, nodes.Text):
            parts.append(child.astext())
        elif isinstance(child, nodes.image):
            parts.append(f" {child.get('alt', '')} ")
    return "".join(parts)


def _texts(cell: nodes.Node) -> Iterator[str]:
    for element in cell.findall(nodes.TextElement):
        if not isinstance(element.parent, (nodes.TextElement, nodes.system_message)):
            yield _inline(element)


def _salvage(message: nodes.system_message, builder: Builder) -> None:
    """Keep the source that a parser error carries, which is in no other node."""
    if message.get("level", 0) >= 3:
        for block in message.findall(nodes.literal_block):
            builder.code(block.astext())
