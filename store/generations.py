"""Which generation is served, switching to another one, and which old ones are kept.

``CURRENT`` holds one name and is replaced atomically, so a reader sees the old generation or the
new one and nothing between.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from store.archive import Archive
from store.errors import Damaged, NothingServed
from store.filesystem import remove
from store.manifest import MANIFEST_NAME, Manifest, check_files, read_manifest

KEPT = 2
"""How many generations stay on disk: the one served and the one before it, which readers that
opened it may still hold."""


def current_generation(archive: Archive) -> str:
    """The name of the generation being served.

    :raises NothingServed: nothing was published yet
    :raises Damaged: ``CURRENT`` is there and cannot be read
    """
    try:
        name = _named(archive)
        there = bool(name) and (archive.generations / name / MANIFEST_NAME).is_file()
    except (OSError, ValueError) as error:
        raise Damaged(
            f"{archive.current}, which names the indexes to search, cannot be read ({error}); "
            "run `python -m indexer ingest` to publish them again"
        ) from error
    if not there:
        raise NothingServed(
            f"the archive in {archive.root} has no index to search; "
            f"run `python -m indexer ingest PATH --archive {archive.root}`"
        )
    return name


def served_name(archive: Archive) -> str:
    """The name in ``CURRENT``, or nothing where there is none that can be read."""
    try:
        return _named(archive)
    except (OSError, ValueError):
        return ""


def is_sound(archive: Archive, name: str) -> bool:
    """Whether a generation of that name is on disk with every file as its manifest says."""
    folder = archive.generations / name
    try:
        check_files(folder, read_manifest(folder), "")
    except Damaged:
        return False
    return True


def is_served(archive: Archive, name: str) -> bool:
    """Whether ``name`` is the generation that readers open."""
    return served_name(archive) == name


def serving_manifest(archive: Archive) -> Manifest | None:
    """The manifest of the generation being served, or None where there is none that can be read."""
    try:
        return read_manifest(archive.generations / current_generation(archive))
    except (NothingServed, Damaged):
        return None


def generation_of_version(archive: Archive, number: int, preferred: str = "") -> str:
    """The name of a sound generation of a corpus version, or nothing where none is on disk.

    ``preferred`` is taken where it is one; else the newest.
    """
    found = []
    for folder in sorted(archive.generations.glob(f"{number:06d}-*")):
        if is_sound(archive, folder.name):
            found.append(((folder / MANIFEST_NAME).stat().st_mtime_ns, folder.name))
    names = [name for _, name in sorted(found)]
    return preferred if preferred in names else (names or [""])[-1]


def publish(archive: Archive, name: str) -> None:
    """Serve the generation ``name`` from now on, durably."""
    _sync_folder(archive.generations)
    beside = archive.current.with_name(f".CURRENT.{os.getpid()}")
    with beside.open("w", encoding="utf-8") as handle:
        handle.write(name + "\n")
        handle.flush()
        os.fsync(handle.fileno())
    if archive.current.is_dir() and not archive.current.is_symlink():
        # Nothing of ours is a folder of that name, and no file can take the place of one.
        remove(archive.current)
    beside.replace(archive.current)
    _sync_folder(archive.root)


@dataclass(frozen=True, slots=True)
class Removal:
    """A folder of ``generations/`` that nobody needs, why, and its size in bytes."""

    name: str
    reason: str
    size: int


def superfluous(archive: Archive) -> list[Removal]:
    """What a killed ingest left half made, and whole generations beyond the ones kept.

    The one being served is never among them.
    """
    if not archive.generations.is_dir():
        return []
    serving = served_name(archive)
    removals, whole = [], []
    for folder in sorted(archive.generations.iterdir()):
        if folder.name.startswith("."):
            removals.append(_removal(folder, "left half made by a run that was stopped"))
        elif not (folder / MANIFEST_NAME).is_file():
            removals.append(_removal(folder, "incomplete, it has no manifest"))
        elif folder.name != serving:
            whole.append(folder)
    whole.sort(key=lambda folder: (folder / MANIFEST_NAME).stat().st_mtime_ns, reverse=True)
    removals += [
        _removal(folder, f"not served, and not among the {KEPT} that stay")
        for folder in whole[KEPT - 1 :]
    ]
    return removals


def _removal(folder: Path, reason: str) -> Removal:
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Removal(folder.name, reason, size)


def remove_generations(archive: Archive, removals: Iterable[Removal]) -> None:
    """Delete the folders named. Only for the holder of the writer's lock."""
    for removal in removals:
        remove(archive.generations / removal.name)


def clean_up(archive: Archive) -> None:
    """Remove everything superfluous. Only for the holder of the writer's lock."""
    for leftover in archive.root.glob(".CURRENT.*"):
        remove(leftover)
    remove_generations(archive, superfluous(archive))


def _named(archive: Archive) -> str:
    """:raises ValueError: it holds what is not text"""
    try:
        return archive.current.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def _sync_folder(folder: os.PathLike[str]) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
