"""Office Open XML packages: parts, and the relations that lead from one to the next."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import unquote
from zipfile import ZipFile

from corpus.errors import NotExtractable
from corpus.extract.build import Builder, flow, tags_in
from corpus.extract.xml_parts import Element, attribute, local, parse

_LETTERS_OF_A_TITLE = 3
_GENERIC_TITLE = re.compile(
    r"(?:powerpoint[ -]presentation|presentaci[oó]n de powerpoint|präsentation|presentation\d*|"
    r"microsoft (?:power|ex).*|untitled|(?:slide|diapositiva|sheet|book|libro|workbook) *\d*)$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Relation:
    """Where a part leads: the last word of the relation's type, and the part it targets."""

    type: str
    part: str


class OpcPackage:
    """An open package whose parts are looked up without regard to the case of their names."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._names = {name.lower(): name for name in archive.namelist()}

    def open(self, part: str) -> IO[bytes] | None:
        """Open a part for reading, or return None where the package lacks it."""
        name = self._names.get(part.lower())
        return None if name is None else self._archive.open(name)

    def tree(self, part: str) -> Element | None:
        """Return a part's root element, or None where the package lacks it."""
        name = self._names.get(part.lower())
        return None if name is None else parse(self._archive.read(name), part)

    def relations(self, part: str) -> dict[str, Relation]:
        """Return the relations of a part to other parts of the package, by their ids."""
        folder, _, name = part.rpartition("/")
        root = self.tree(f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels")
        found = {}
        for entry in () if root is None else root:
            if attribute(entry, "TargetMode").lower() == "external":
                continue
            target = unquote(attribute(entry, "Target"))
            place = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = attribute(entry, "Type").rpartition("/")[2]
            found[attribute(entry, "Id")] = Relation(kind, place)
        return found

    def main(self, usual: str) -> str:
        """Return the name of the main part; ``usual`` where the package does not say."""
        related = self.relations("")
        return next((r.part for r in related.values() if r.type == "officeDocument"), usual)

    def title(self) -> str:
        """Return the title among the package's properties, unless a program made it up."""
        title = flow(self.properties().get("title", ""))
        letters = sum(map(str.isalpha, title))
        generic = letters < _LETTERS_OF_A_TITLE or _GENERIC_TITLE.match(title)
        return "" if generic else title

    def properties(self) -> dict[str, str]:
        """Return the package's core properties as they are written, the first of each name."""
        related = self.relations("").values()
        part = next((r.part for r in related if r.type == "core-properties"), "docProps/core.xml")
        root = self.tree(part)
        found: dict[str, str] = {}
        for entry in () if root is None else root:
            found.setdefault(local(entry), "".join(map(str, entry.itertext())))
        return found

    def said(self, builder: Builder) -> None:
        """Note the author, the date and the keywords among the properties."""
        stated = self.properties()
        builder.says(
            author=stated.get("creator", ""),
            date=stated.get("created", ""),
            tags=tags_in(stated.get("keywords", "")),
        )


@contextmanager
def opened(path: Path) -> Iterator[OpcPackage]:
    """Open the package at ``path``, which has passed the guard of :mod:`corpus.extract.office`."""
    with ZipFile(path) as archive:
        yield OpcPackage(archive)


def required(root: Element | None, part: str) -> Element:
    """Return ``root``; raises NotExtractable where the part called ``part`` is missing."""
    if root is None:
        raise NotExtractable(f"its part {part} is missing; replace it by a whole copy")
    return root
