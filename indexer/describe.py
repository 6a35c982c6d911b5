"""What the next version says of each document beside its words, and who may read it.

A sidecar stands above the rules of ``archive.toml``, these above what the file says of itself.
Where the same bytes lie at several places, the first place that says something decides, tags add
up, and a group may read only what it may read at every place.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from indexer.given import SUFFIX, Given, read_sidecar
from indexer.settings import Settings, titled
from store.errors import BadInput
from store.texts import Failure, Head
from store.versions import DocumentState, Place, printable


@dataclass(frozen=True, slots=True)
class Said:
    """What a maintainer says of the file at one place; the title of ``rules`` is a template."""

    sidecar: Given
    rules: Given


@dataclass(frozen=True, slots=True)
class Description:
    """What a version records of a document; empty ``groups`` mean everyone."""

    title: str
    author: str
    dated: str
    language: str
    tags: tuple[str, ...]
    groups: tuple[str, ...]


def said_of(
    settings: Settings, files: Mapping[Place, bytes | None]
) -> tuple[dict[Place, Said], dict[Place, Failure]]:
    """What is said of each file, given as place to absolute path, and which sidecars are unusable.

    The path is None for what lies inside a container, which only rules can speak of.
    """
    said: dict[Place, Said] = {}
    refused: dict[Place, Failure] = {}
    for place, path in files.items():
        sidecar = Given()
        if path is not None and os.path.lexists(path + SUFFIX):
            try:
                sidecar = read_sidecar(path + SUFFIX)
            except BadInput as error:
                refused[place] = Failure("metadata", str(error))
        said[place] = Said(sidecar, settings.given(place.path))
    return said, refused


def with_copies(
    refused: Mapping[Place, Failure],
    digests: Mapping[Place, str],
    live: Mapping[Place, str],
) -> tuple[dict[Place, Failure], set[str]]:
    """Refuse the copies of what is refused, and name the digests that stay as they were.

    ``digests`` is what was seen at each place, ``live`` what the newest version has there. Who may
    read a file whose sidecar cannot be used is unknown, and so it is for the same bytes elsewhere.
    """
    because: dict[str, Place] = {}
    for place in sorted(refused, reverse=True):
        for digest in (digests.get(place), live.get(place)):
            if digest is not None:
                because[digest] = place
    everywhere = dict(refused)
    for place, digest in digests.items():
        if digest in because:
            other = printable(because[digest].path)
            reason = f"the same bytes lie at {other}, which is refused for its metadata"
            everywhere.setdefault(place, Failure("metadata", reason))
    return everywhere, set(because)


def describe(
    found: Mapping[Place, str],
    said: Mapping[Place, Said],
    states: Iterable[DocumentState],
    heads: Mapping[str, Head],
    headings: Mapping[str, str],
) -> tuple[dict[str, Description], dict[Place, Failure]]:
    """Describe every text of ``found`` (place to digest), and refuse what no group may read.

    ``said`` holds the places whose files were looked at and are those of ``found``. A text with a
    place that was not looked at keeps its state, and its groups can only become fewer. Live texts
    that are not in ``found`` keep their state as well. ``headings`` is the first heading of texts.
    """
    described = {state.sha256: _as_it_was(state) for state in states}
    at: dict[str, list[Place]] = {}
    for place in sorted(found):
        at.setdefault(found[place], []).append(place)
    refused: dict[Place, Failure] = {}
    for digest, places in at.items():
        looked_at = [place for place in places if place in said]
        given = [
            _given(said[place], place, heads[digest], headings.get(digest, ""))
            for place in looked_at
        ]
        was = described.get(digest)
        whole = len(looked_at) == len(places) or was is None
        groups = [entry.groups or () for entry in given]
        allowed = common_groups(groups if whole or was is None else [was.groups, *groups])
        if allowed is None:
            names = ", ".join(printable(place.path) for place in places)
            reason = (
                f"no group may read it at all of its places ({names}); give them a group in "
                "common, or remove a copy"
            )
            refused.update(dict.fromkeys(looked_at, Failure("metadata", reason)))
        elif whole or was is None:
            described[digest] = _fresh(given, heads[digest], allowed)
        else:
            described[digest] = Description(
                was.title, was.author, was.dated, was.language, was.tags, allowed
            )
    return described, refused


def common_groups(lists: Sequence[Collection[str]]) -> tuple[str, ...] | None:
    """The groups that are in every list that restricts; None where there is no such group.

    An empty list restricts nothing, and the empty answer means everyone.

    >>> common_groups([["board", "staff"], [], ["staff"]]), common_groups([[], []])
    (('staff',), ())
    """
    restricting = [set(groups) for groups in lists if groups]
    if not restricting:
        return ()
    return tuple(sorted(set.intersection(*restricting))) or None


def _given(said: Said, place: Place, head: Head, heading: str) -> Given:
    template = said.rules.title
    title = titled(template, place.path, heading, head.title) if template else ""
    rules = Given(
        title=title or None,
        language=said.rules.language,
        tags=said.rules.tags,
        groups=said.rules.groups,
    )
    return said.sidecar.over(rules)


def _fresh(given: Sequence[Given], head: Head, groups: tuple[str, ...]) -> Description:
    first = Given()
    for entry in given:
        first = first.over(entry)
    listed = [entry.tags for entry in given if entry.tags is not None]
    tags = dict.fromkeys(tag for entry in listed for tag in entry)
    return Description(
        title=first.title or head.title,
        author=first.author or head.author,
        dated=first.date or head.dated,
        language=first.language or head.language,
        tags=tuple(tags) if listed else head.tags,
        groups=groups,
    )


def _as_it_was(state: DocumentState) -> Description:
    return Description(
        state.title, state.author, state.dated, state.language, state.tags, state.groups
    )
