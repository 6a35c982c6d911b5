"""Markdown: CommonMark with tables, the front matter of site generators, and their tags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from corpus.document import Extracted
from corpus.extract import front_matter, html
from corpus.extract.build import Builder, flow
from corpus.extract.plain import FALLBACK, decode
from corpus.text import clean

_FENCE = re.compile(r" {0,3}(?:[-*+>] +)*(`{3,}|~{3,})")
# Every stretch is bounded, so that a page of nothing but opening braces takes no longer.
_TAGS = re.compile(
    r"(?P<code>(?<!`)(`+)(?!`).{1,500}?(?<!`)\2(?!`))"
    r"|\{\{[<%]\s*comment\s*[%>]\}\}.{0,4000}?\{\{[<%]\s*/comment\s*[%>]\}\}"
    r"|\{\{[<%]\s*(?P<short>/?.{0,300}?)\s*[%>]\}\}"
    r"|\{%.{0,300}?%\}"
    r"|\{\{\s*[\w.\[\]'\"-]+\s*(?:\|[^{}]*)?\}\}",
    re.S,
)
_ARGUMENT = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
# What a reader of the rendered page sees of a short code, first match wins.
_SHOWN = ("text", "name", "title", "caption", "alt", "file", "term_id")
_FEATURE = ("for_k8s_version", "state")
_ATTRIBUTES = re.compile(r"\s*\{:?\s*[#.][^{}]*\}\s*$")


def read(data: bytes, stem: str, *, fallback: str = FALLBACK) -> Extracted:
    """Extract a Markdown page as plain text; addresses of links and pictures are left out.

    The title is that of the front matter, else the first heading, else the stem.
    """
    decoded = decode(data, fallback=fallback)
    builder = Builder()
    builder.notes.extend(decoded.notes)
    fields, body = front_matter.split(clean(decoded.text))
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse(_untagged(body))
    title = front_matter.title(fields)
    front_matter.said(fields, builder)
    if title and _first_heading(tokens) != title:
        builder.heading(title, 1)
    front_matter.render(
        fields, builder, lambda text: "".join(map(_inline, parser.parseInline(_untagged(text))))
    )
    _walk(tokens, builder)
    return builder.finish(title or builder.first_heading() or stem, "text/markdown")


def _untagged(body: str) -> str:
    """Replace the tags of site generators by what they show, outside of code."""
    parts: list[str] = []
    plain: list[str] = []
    fence = ""
    for line in body.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            parts.append(line)
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        elif mark:
            parts += (_TAGS.sub(_shown, "".join(plain)), line)
            plain.clear()
            fence = mark[1]
        else:
            plain.append(line)
    parts.append(_TAGS.sub(_shown, "".join(plain)))
    return "".join(parts)


def _shown(tag: re.Match[str]) -> str:
    """Return the visible part of a site generator's tag, often nothing."""
    if tag["code"]:
        return tag[0]
    name, _, rest = (tag["short"] or "").partition(" ")
    if not name or name.startswith("/"):
        return ""
    given = {key: str(a or b or c) for key, a, b, c in _ARGUMENT.findall(rest)}
    if name == "feature-state":
        return " ".join(given[key] for key in _FEATURE if key in given)
    for key in _SHOWN:
        if given.get(key):
            return given[key]
    quoted = _QUOTED.search(rest) if name == "heading" else None
    return str(quoted[1] or quoted[2] or "") if quoted else ""


def _first_heading(tokens: Sequence[Token]) -> str:
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            return _heading_text(content)
    return ""


def _heading_text(token: Token) -> str:
    return flow(_ATTRIBUTES.sub("", _inline(token)))


def _walk(tokens: Sequence[Token], builder: Builder) -> None:
    lists: list[int | None] = []
    marker: str | None = None
    heading: int | None = None
    cells: list[str] | None = None
    for token in tokens:
        kind = token.type
        if kind == "heading_open":
            heading = int(token.tag[1:])
        elif kind == "heading_close":
            heading = None
        elif kind in ("bullet_list_open", "ordered_list_open"):
            ordered = kind == "ordered_list_open"
            lists.append(int(token.attrGet("start") or 1) if ordered else None)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif kind == "list_item_open":
            number = lists[-1]
            marker = "-" if number is None else f"{number}."
            lists[-1] = None if number is None else number + 1
        elif kind == "list_item_close":
            marker = None
        elif kind == "tr_open":
            cells = []
        elif kind == "tr_close" and cells is not None:
            builder.row(cells)
            cells = None
        elif kind in ("fence", "code_block"):
            builder.code(token.content)
        elif kind == "html_block":
            html.fragment(token.content, builder)
        elif kind == "inline":
            if cells is not None:
                cells.append(_inline(token))
            elif heading is not None:
                builder.heading(_heading_text(token), heading)
            elif marker is not None:
                builder.item(_inline(token), marker)
                marker = None
            else:
                builder.paragraph(_ATTRIBUTES.sub("", _inline(token)))


def _inline(token: Token) -> str:
    """Return the readable text of an inline token: words, code, and what pictures are of."""
    parts = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "html_inline":
            parts.append(" " if child.content.lower().startswith("<br") else "")
        elif child.type == "image":
            parts.append(_inline(child))
        else:
            parts.append(child.content)
    return "".join(parts)
