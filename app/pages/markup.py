"""HTML made from values: what several screens share. Every text from outside is escaped here.

A text is cut at its marks first and each piece escaped by itself, so that no markup in a document
can close or open what surrounds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

from app.pages.address import Address, search_link
from app.query.group import Folded
from app.query.protocol import DEFAULT_CORRECTIONS, DEFAULT_COVERAGE, DEFAULT_GROUP, Protocol
from corpus.document import Document
from corpus.judging import Topic
from corpus.resemblance import RUN, percent
from store.similar import Similar

EXAMPLES = 5

_LANGUAGES = {"en": "English", "es": "Spanish", "": "unknown"}

Link = Callable[[str, str], str]
"""The address of a document, from its id and a passage id."""

_MARKDOWN = frozenset(r"\`*_{}[]()<>#+-!|~$:.")
_COMMAND = re.compile(r"`([^`\n]+)`")


def letter(system: str) -> str:
    """The letter that stands for a system beside its colour.

    >>> letter("lexical")
    'L'
    """
    return system[:1].upper()


def marked(text: str, marks: Sequence[tuple[int, int]]) -> str:
    """``text`` escaped, with the half-open spans ``marks`` in mark elements."""
    pieces, done = [], 0
    for start, end in marks:
        pieces += [escape(text[done:start]), f"<mark>{escape(text[start:end])}</mark>"]
        done = end
    return "".join([*pieces, escape(text[done:])])


def sentence(text: str) -> str:
    """A sentence of ours, which may quote outside text, with `commands` as code.

    >>> sentence("run `python -m indexer status` <now>")
    'run <code>python -m indexer status</code> &lt;now&gt;'
    """
    return _COMMAND.sub(r"<code>\1</code>", escape(text, quote=False))


def notices(notes: Sequence[str]) -> str:
    """Sentences that need attention but stop nothing."""
    return "".join(f'<p class="cp-note">{sentence(_capital(note))}</p>' for note in notes)


def remarks(sentences: Sequence[str]) -> str:
    """Sentences that explain what is shown and need no attention."""
    return "".join(f'<p class="cp-status">{sentence(_capital(text))}</p>' for text in sentences)


def plain(text: str) -> str:
    """A text of somebody's for a label of Streamlit's, which would read Markdown in it.

    >>> plain("*never* :red[x]")
    '\\\\*never\\\\* \\\\:red\\\\[x\\\\]'
    """
    return "".join(f"\\{one}" if one in _MARKDOWN else one for one in text)


def state(title: str, text: str) -> str:
    """A page or list that has nothing to show: what is so, and what to do."""
    return f'<div class="cp-state"><h2>{escape(title)}</h2><p>{sentence(_capital(text))}</p></div>'


def anchor(text: str, href: str, name: str = "cp-title") -> str:
    """A link of ours that opens in the same tab."""
    return f'<a class="{name}" href="{escape(href)}" target="_self">{escape(text)}</a>'


def similar_to(document: Document, similar: Sequence[Similar], address: Link) -> str:
    """Which other documents are nearly the same, with links, and how nearly."""
    if not similar:
        return ""
    items = ", ".join(
        f"{anchor(_told_apart(document, entry.document), address(entry.document.doc_id, ''))} "
        f'<span title="{entry.shared:,} of {entry.total:,} runs of {RUN} words are in both">'
        f"({percent(entry.shared, entry.total)} % the same wording)</span>"
        for entry in similar
    )
    return f'<div class="cp-similar">similar to {items}</div>'


def folded_below(document: Document, folded: Sequence[Folded], address: Link) -> str:
    """What is shown under a document as nearly the same, with links and the ranks that it has."""
    if not folded:
        return ""
    items = ", ".join(
        f"{anchor(_told_apart(document, one.document), address(one.document.doc_id, ''))} "
        f'<span title="{one.shared:,} of {one.total:,} runs of {RUN} words are in both">'
        f"(rank {one.hit.rank}, {percent(one.shared, one.total)} % the same wording)</span>"
        for one in folded
    )
    return f'<div class="cp-similar">and {len(folded)} nearly the same: {items}</div>'


def _told_apart(document: Document, other: Document) -> str:
    """The other one's title, with its place where both have the same."""
    if other.title != document.title or not other.locations:
        return other.title
    return f"{other.title}, {other.locations[0]}"


def signed_in(name: str) -> str:
    """Who is signed in."""
    return f'<span class="cp-name">{escape(name)}</span>'


def status(
    version: int,
    newest: int,
    protocol: Protocol | None,
    address: Address,
) -> str:
    """What is searched and under which protocol."""
    force = "in force" if version == newest else f"not the newest, which is {newest}"
    scope = [", ".join(address.languages)] if address.languages else []
    scope += [f"type {' or '.join(address.types)}"] if address.types else []
    scope += [f"below {address.folder}"] if address.folder else []
    scope += [f"tagged {' or '.join(address.tags)}"] if address.tags else []
    scope += [f"holding {' or '.join(address.codes)}"] if address.codes else []
    scope += [f"since {address.since}"] if address.since else []
    scope += [f"until {address.until}"] if address.until else []
    items = [f"Version {version}, {force}", *scope]
    if protocol is not None:
        depths = "/".join(str(system.depth) for system in protocol.systems)
        weights = [str(system.weight) for system in protocol.systems]
        items += [f"protocol {protocol.short_hash}", f"k {protocol.k}", f"depth {depths}"]
        if set(weights) != {"1"}:
            items.append(f"weights {':'.join(weights)}")
        for system in protocol.systems:
            if system.coverage not in (None, DEFAULT_COVERAGE):
                items.append(f"coverage {system.coverage}")
        if all(system.emphasis is None for system in protocol.systems):
            items.append("weights fixed")
        if protocol.corrections != DEFAULT_CORRECTIONS:
            items.append(f"corrections {protocol.corrections}")
        if protocol.unit != "document":
            items.append(f"one rank per {protocol.unit}")
        if protocol.group != DEFAULT_GROUP:
            items.append(f"{protocol.group} grouped")
    return f'<p class="cp-status">{" · ".join(escape(item) for item in items)}</p>'


def language_name(code: str) -> str:
    """A language for a reader, or its code."""
    return _LANGUAGES.get(code, code)


def examples(topics: Iterable[Topic], reviewer: str) -> str:
    """A few queries that people of this archive wrote down."""
    written = [topic for topic in topics if topic.split == "dev" and topic.query != topic.need]
    items = "".join(
        f"<li>{anchor(topic.query, search_link(Address(q=topic.query), reviewer))}</li>"
        for topic in written[:EXAMPLES]
    )
    return f'<ul class="cp-examples" aria-label="Examples">{items}</ul>' if items else ""


def ocr_label(recognised: bool) -> str:
    """The mark of text that was recognised in a picture, nothing for other text."""
    if not recognised:
        return ""
    return '<span class="cp-ocr" title="recognised from a scan; may contain errors">OCR</span>'


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values in one wrapping line."""
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs
    )
    return f'<dl class="cp-facts">{items}</dl>'


def _capital(text: str) -> str:
    """A message begins a sentence here; the symbol k stays as it is."""
    return text if text.startswith("k ") else text[:1].upper() + text[1:]
