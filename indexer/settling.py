"""What is at each place of the next version: what was found there, or what was there before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from indexer.looking import SeenFile
from indexer.sources import Target
from store.catalogue import Catalogue
from store.texts import Failure
from store.versions import (
    Place,
    live_places,
    live_states,
)


@dataclass(frozen=True, slots=True)
class Troubles:
    """Why texts cannot be had, by digest: ``lasting`` speaks of the bytes themselves, ``passing``
    of this run only, so that it says nothing against what was read of the same bytes before."""

    lasting: Mapping[str, Failure]
    passing: Mapping[str, Failure]

    def of(self, digest: str) -> Failure | None:
        return self.lasting.get(digest) or self.passing.get(digest)


@dataclass(frozen=True, slots=True)
class Settled:
    """The digest at each place of the next version, and why files are not, or not yet, in it."""

    found: dict[Place, str]
    failed: dict[Place, Failure]


def settle(
    catalogue: Catalogue,
    targets: Sequence[Target],
    seen: Mapping[Place, SeenFile],
    troubles: Troubles,
    refused: Mapping[Place, Failure],
    frozen: Set[str],
) -> Settled:
    """The digest at each place of the next version.

    A place that this run did not look at, whose file cannot be read now or whose document is
    refused for its metadata keeps what it had.
    """
    states = live_states(catalogue)
    places = live_places(catalogue)
    found: dict[Place, str] = {}
    failed: dict[Place, Failure] = {}
    for place, file in seen.items():
        failure = refused.get(place) or troubles.of(file.digest)
        if failure is not None:
            kept = "; its last good revision stays in force" if place in places else ""
            failed[place] = replace(failure, reason=failure.reason + kept)
        else:
            found[place] = file.digest
    unreadable = set(seen) - set(found)
    for place, doc_id in places.items():
        looked_at = any(target.covers(place) for target in targets)
        # What cannot be read now may be a container, so what lay inside it is kept as well.
        lost = any(outer in unreadable for outer in _around(place))
        kept = states[doc_id].sha256
        if place in found or kept in troubles.lasting:
            continue
        if lost or kept in frozen or not looked_at:
            found[place] = kept
    return Settled(found, failed)


def _around(place: Place) -> Iterator[Place]:
    """The place itself and every one that it could lie inside of."""
    parts = place.path.split(b"/")
    for length in range(len(parts), 0, -1):
        yield Place(place.source_id, b"/".join(parts[:length]))
