"""Keeping an archive in order: roll back, rebuild, verify, prune, back up and restore.

All of them leave what is served alone until the moment they are done, and none touches a label.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from indexer.compare import Difference, compare
from indexer.publishing import publish_version
from indexer.similar import compare_texts
from indexer.texts import Workshop, encode_new, encoder_in_use
from store.archive import Archive
from store.backup import check_backup, copy_online, install
from store.catalogue import Catalogue, Version
from store.embedded import generation_documents, passage_counts
from store.encoder import open_encoder
from store.errors import BadInput, CounterpointError, Damaged, NothingServed
from store.generations import (
    Removal,
    current_generation,
    remove_generations,
    superfluous,
)
from store.lock import writer_lock
from store.manifest import check_files, read_manifest
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
        if preview or same:
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
    titles = {state.sha256: state.title for state in states_at(catalogue, version).values()}
    failures = encode_new(workshop, titles).failures
    if failures:
        raise Damaged(f"{len(failures)} texts of version {version.number} cannot be encoded")
    compare_texts(catalogue, version)
    return publish_version(workshop, archive, version, publish=publish)


def verify(archive: Archive) -> Iterator[str]:
    """Everything that is wrong with an archive, a sentence each; nothing where all is well."""
    with Catalogue(archive) as catalogue:
        yield from catalogue.integrity()
        latest = catalogue.latest()
        try:
            name = current_generation(archive)
            manifest = read_manifest(archive.generations / name)
        except (NothingServed, Damaged) as error:
            yield str(error)
            return
        inputs = manifest.inputs
        if latest is not None and inputs.corpus_version != latest.number:
            yield (
                f"version {latest.number} is committed but version {inputs.corpus_version} is "
                "served; run the ingest again to finish it"
            )
        try:
            version = catalogue.version(inputs.corpus_version)
        except CounterpointError as error:
            yield str(error)
            return
        if version.fingerprint != inputs.corpus_fingerprint:
            yield f"generation {name} was built from another version {version.number}"
        try:
            check_files(archive.generations / name, manifest, "")
            lexical, semantic = passage_counts(archive.generations / name)
        except Damaged as error:
            yield str(error)
            return
        live = catalogue.live_passages(version)
        wanted = [(entry.doc_id, entry.revision, entry.passages) for entry in live]
        if generation_documents(archive.generations / name) != wanted:
            yield f"generation {name} lists other documents than version {version.number}"
        total = sum(passages for _, _, passages in wanted)
        for engine, count in (("lexical", lexical), ("semantic", semantic)):
            if count != total:
                yield f"the {engine} index holds {count} passages, the catalogue {total}"


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
    if archive.catalogue.exists():
        raise BadInput(
            f"{archive.root} holds an archive already; restore into another folder with --archive"
        )
    archive.root.mkdir(parents=True, exist_ok=True)
    install(backup, archive.catalogue)
    return rebuild(archive, None)
