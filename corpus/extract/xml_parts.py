"""XML parts of packages, parsed so that nothing outside the part is ever read or expanded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TypeAlias

from lxml import etree

from corpus.errors import NotExtractable

Element: TypeAlias = etree._Element


def parse(data: bytes, name: str) -> Element:
    """Parse one part; ``name`` is what a message calls it.

    Entities stay unexpanded, no other file and no network is read, and comments and processing
    instructions are dropped. Raises NotExtractable for what is not well-formed.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=False,
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise NotExtractable(_damaged(name, error)) from error


def stream(source: IO[bytes], tag: str, name: str) -> Iterator[Element]:
    """Yield the elements with local name ``tag``, each emptied once the next is asked for.

    For parts too long to be held as a tree. Raises like :func:`parse`.
    """
    events = etree.iterparse(
        source,
        events=("end",),
        tag=f"{{*}}{tag}",
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=False,
        resolve_entities=False,
    )
    try:
        for _, element in events:
            yield element
            element.clear()
            parent = element.getparent()
            while parent is not None and (before := element.getprevious()) is not None:
                parent.remove(before)
    except etree.XMLSyntaxError as error:
        raise NotExtractable(_damaged(name, error)) from error


def local(element: Element) -> str:
    """Return an element's name without its namespace.

    Transitional and strict files differ in namespaces alone.
    """
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(parent: Element | None, *path: str) -> Element | None:
    """Return the first descendant along local names, or None."""
    for step in path:
        if parent is None:
            return None
        parent = next((found for found in parent if local(found) == step), None)
    return parent


def children(parent: Element | None, *path: str) -> list[Element]:
    """Return the children of the descendant that :func:`child` finds, none where there is none."""
    found = child(parent, *path)
    return [] if found is None else list(found)


def attribute(element: Element | None, name: str) -> str:
    """Return an attribute by local name whatever its namespace, or an empty string."""
    if element is None:
        return ""
    plain = element.get(name)
    if plain is not None:
        return str(plain)
    ending = "}" + name
    return next((str(v) for key, v in element.attrib.items() if str(key).endswith(ending)), "")


def is_on(value: str) -> bool:
    """Say whether an XML truth value is true."""
    return value.lower() in ("1", "true", "on")


def _damaged(name: str, error: Exception) -> str:
    return f"its part {name} is damaged ({str(error)[:200]}); replace it by a whole copy"
