"""Which generation is served, switching to another one, and which old ones are kept.

``CURRENT`` holds one name and is replaced atomically, so a reader sees the old generation or the
new one and nothing between.
"""

from __future__ import annotations

import os
import shutil

from store.archive import Archive
from store.errors import Damaged, NothingServed
from store.manifest import MANIFEST_NAME, Manifest, check_files, read_manifest

KEPT = 2
"""How many generations stay on disk: the one served and the one before it, which readers that
opened it may still hold."""


def current_generation(archive: Archive) -> str:
    """The name of the generation being served.

    :raises NothingServed: nothing was published yet
    """
    name = _serving(archive)
    if not name or not (archive.generations / name / MANIFEST_NAME).is_file():
        raise NothingServed(
            f"the archive in {archive.root} has no index to search; "
            f"run `python -m indexer ingest PATH --archive {archive.root}`"
        )
    return name


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
    return _serving(archive) == name


def serving_manifest(archive: Archive) -> Manifest | None:
    """The manifest of the generation being served, or None where there is none that can be read."""
    try:
        return read_manifest(archive.generations / current_generation(archive))
    except (NothingServed, Damaged):
        return None


def publish(archive: Archive, name: str) -> None:
    """Serve the generation ``name`` from now on, durably."""
    _sync_folder(archive.generations)
    beside = archive.current.with_name(f".CURRENT.{os.getpid()}")
    with beside.open("w", encoding="utf-8") as handle:
        handle.write(name + "\n")
        handle.flush()
        os.fsync(handle.fileno())
    beside.replace(archive.current)
    _sync_folder(archive.root)


def clean_up(archive: Archive) -> None:
    """Remove what a killed ingest left half made, and generations beyond the ones kept.

    Only for the holder of the writer's lock.
    """
    for leftover in archive.root.glob(".CURRENT.*"):
        leftover.unlink()
    if not archive.generations.is_dir():
        return
    serving = _serving(archive)
    whole = []
    for folder in archive.generations.iterdir():
        if folder.name.startswith("."):
            shutil.rmtree(folder)
        elif folder.name != serving:
            whole.append(folder)
    whole.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in whole[KEPT - 1 :]:
        shutil.rmtree(folder)


def _serving(archive: Archive) -> str:
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
