"""Keeping an archive in order: roll back, rebuild, prune, back up and restore.

All of them leave what is served alone until the moment they are done, and none touches a label.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from indexer.compare import Difference, compare
from indexer.publishing import encode_version, publish_version
from indexer.similar import compare_texts
from indexer.texts import Workshop, encoder_in_use
from store.archive import Archive
from store.backup import check_backup, copy_online, install
from store.catalogue import Catalogue, Version
from store.encoder import open_encoder
from store.errors import BadInput, NothingServed
from store.generations import (
    Removal,
    remove_generations,
    superfluous,
)
from store.lock import writer_lock
from store.vectors import VectorCache
from store.versions import commit_version, places_at, states_at


@dataclass(frozen=True, slots=True)
class Rollback:
    """What a roll back changes, and the version it made; none where it was only previewed, or
    where the newest version is the ``same`` already."""

    difference: Difference
    version: int | None
    same: bool = False


def roll_back(archive: Archive, number: int, *, preview: bool) -> Rollback:
    """Make a new version equal to version ``number`` and serve it.

    Nothing is taken out of the history. Files on disk stay as they are: the next ingest brings
    what they say now.

    :raises UnknownVersion: no version has that number
    """
    with writer_lock(archive), Catalogue(archive) as catalogue, VectorCache(archive) as cache:
        wanted = catalogue.version(number)
        latest = catalogue.versions()[-1]
        difference = compare(catalogue, latest, wanted)
        same = difference.is_empty and (latest.shape, latest.encoder) == (
            wanted.shape,
            wanted.encoder,
        )
        if preview:
            return Rollback(difference, None, same)
        if same:
            # The run that committed it may have been stopped before it was served.
            _serve(archive, catalogue, cache, latest, publish=True)
            return Rollback(difference, None, same)
        version = commit_version(
            catalogue,
            states=list(states_at(catalogue, wanted).values()),
            places=places_at(catalogue, wanted),
            shape=wanted.shape,
            encoder=wanted.encoder,
            message=f"rolled back to version {number}",
            changes={
                "added": len(difference.added),
                "changed": len(difference.changed),
                "moved": len(difference.moved),
                "described": len(difference.described),
                "retired": len(difference.retired),
            },
            at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        _serve(archive, catalogue, cache, version, publish=True)
        return Rollback(difference, version.number)


def rebuild(archive: Archive, number: int | None) -> str:
    """Build the indexes of a version from the catalogue alone, and return the generation's name.

    The newest version's are served; an older version's are only built.

    :raises NothingServed: the archive has no version yet
    """
    with writer_lock(archive), Catalogue(archive) as catalogue, VectorCache(archive) as cache:
        latest = catalogue.latest()
        if latest is None:
            raise NothingServed("there is no version to rebuild; ingest a folder first")
        version = latest if number is None else catalogue.version(number)
        return _serve(archive, catalogue, cache, version, publish=version == latest)


def _serve(
    archive: Archive, catalogue: Catalogue, cache: VectorCache, version: Version, *, publish: bool
) -> str:
    """Encode and compare what ``version`` needs, build its generation, publish it where asked."""
    name = version.encoder or encoder_in_use(catalogue)[0]
    workshop = Workshop(catalogue, cache, open_encoder(name), version.shape)
    encode_version(workshop, version)
    compare_texts(catalogue, version)
    return publish_version(workshop, archive, version, publish=publish)


def prune(archive: Archive, *, preview: bool) -> list[Removal]:
    """Remove generations that nobody needs, or only say which and why."""
    with writer_lock(archive):
        removals = superfluous(archive)
        if not preview:
            remove_generations(archive, removals)
        return removals


def back_up(archive: Archive, target: Path) -> int:
    """Copy the catalogue, with every version, label and record, to one file while all goes on.

    Returns its size in bytes.

    :raises BadInput: there is a file of that name
    """
    if target.exists():
        raise BadInput(f"{target} exists; name a new file, a backup is never overwritten")
    with Catalogue(archive) as catalogue:
        copy_online(catalogue.database.conn, target)
    check_backup(target)
    return target.stat().st_size


def restore(archive: Archive, backup: Path) -> str:
    """Put a backup in place as a new archive and build its indexes.

    :raises BadInput: the archive exists already
    :raises Damaged: the file is not a sound backup
    """
    check_backup(backup)
    with writer_lock(archive):
        if os.path.lexists(archive.catalogue):
            raise BadInput(
                f"{archive.root} holds an archive already; restore into another folder with "
                "--archive"
            )
        install(backup, archive.catalogue)
    return rebuild(archive, None)
