"""Deciding which document each file is, from digests and places alone.

Pure: what was live, what was found, what ever was; a plan comes out. The rules, in order:

1. bytes that a live document has are that document, wherever they lie now (same, moved, copied);
2. a place whose document's bytes are nowhere any more holds an edit of that document;
3. bytes, then places, of a document that was retired bring it back;
4. everything else is a new document, named after its path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from store.versions import History, Place, printable

Outcome = Literal["added", "changed", "unchanged", "moved", "copied", "restored"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The next version: which document is at each place, and in which revision.

    ``outcomes`` says what happened to each place that was given, ``retired`` which documents are
    nowhere any more.
    """

    places: dict[Place, str]
    revisions: dict[str, tuple[int, str]]
    outcomes: dict[Place, Outcome]
    retired: tuple[str, ...]

    @property
    def changes_anything(self) -> bool:
        return bool(self.retired) or any(
            outcome != "unchanged" for outcome in self.outcomes.values()
        )


def make_plan(found: Mapping[Place, str], history: History) -> Plan:
    """Plan the version in which ``found`` (place to digest) is all there is."""
    by_digest: dict[str, list[Place]] = {}
    for place in sorted(found):
        by_digest.setdefault(found[place], []).append(place)

    document_of = _assign(by_digest, history)
    revisions = _revisions(document_of, history)
    places = {place: document_of[digest] for place, digest in found.items()}
    retired = tuple(sorted(set(history.live) - set(document_of.values())))
    outcomes = _outcomes(places, document_of, by_digest, history)
    return Plan(places, revisions, outcomes, retired)


def _assign(by_digest: Mapping[str, list[Place]], history: History) -> dict[str, str]:
    """Which document each digest is."""
    document_of: dict[str, str] = {}
    claimed: set[str] = set()

    def claim(digest: str, candidates: Iterable[str | None]) -> None:
        for doc_id in candidates:
            if doc_id is not None and doc_id not in claimed:
                document_of[digest] = doc_id
                claimed.add(doc_id)
                return

    live_with = {digest: doc_id for doc_id, digest in sorted(history.live.items(), reverse=True)}
    once_with: dict[str, list[str]] = {}
    for doc_id, _, digest in reversed(history.revisions):
        if doc_id not in history.live:
            once_with.setdefault(digest, []).append(doc_id)

    def rest() -> list[str]:
        return [digest for digest in by_digest if digest not in document_of]

    for digest in rest():
        claim(digest, [live_with.get(digest)])
    for digest in rest():
        claim(digest, (history.places.get(place) for place in by_digest[digest]))
    for digest in rest():
        claim(digest, once_with.get(digest, ()))
    for digest in rest():
        claim(digest, (history.last_at.get(place) for place in by_digest[digest]))

    taken = {doc_id for doc_id, _, _ in history.revisions} | set(document_of.values())
    for digest in rest():
        document_of[digest] = _new_id(by_digest[digest][0], taken)
        taken.add(document_of[digest])
    return document_of


def _revisions(document_of: Mapping[str, str], history: History) -> dict[str, tuple[int, str]]:
    """The revision of each document: the one with those bytes, or the next."""
    known = {(doc_id, digest): revision for doc_id, revision, digest in history.revisions}
    newest: dict[str, int] = {}
    for doc_id, revision, _ in history.revisions:
        newest[doc_id] = max(revision, newest.get(doc_id, 0))
    return {
        doc_id: (known.get((doc_id, digest), newest.get(doc_id, 0) + 1), digest)
        for digest, doc_id in document_of.items()
    }


def _outcomes(
    places: Mapping[Place, str],
    document_of: Mapping[str, str],
    by_digest: Mapping[str, list[Place]],
    history: History,
) -> dict[Place, Outcome]:
    ever = {doc_id for doc_id, _, _ in history.revisions}
    was_at: dict[str, set[Place]] = {}
    for place, doc_id in history.places.items():
        was_at.setdefault(doc_id, set()).add(place)
    outcomes: dict[Place, Outcome] = {}
    for digest, at in by_digest.items():
        doc_id = document_of[digest]
        before = was_at.get(doc_id, set())
        stays = bool(before & set(at))
        for index, place in enumerate(at):
            if doc_id not in ever:
                outcome: Outcome = "added" if index == 0 else "copied"
            elif doc_id not in history.live:
                outcome = "restored" if index == 0 else "copied"
            elif history.live[doc_id] != digest:
                outcome = "changed" if place in before else "copied"
            elif place in before:
                outcome = "unchanged"
            else:
                outcome = "copied" if stays or index > 0 else "moved"
            outcomes[place] = outcome
    return outcomes


def _new_id(place: Place, taken: set[str]) -> str:
    """The path as text, with a number behind it where that name was ever used."""
    base = printable(place.path)
    name, number = base, 2
    while name in taken:
        name, number = f"{base}~{number}", number + 1
    return name
