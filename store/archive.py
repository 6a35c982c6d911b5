"""Where an archive keeps its files.

archive/
├── catalogue.db      primary data: every version, text, topic, judgment and search record
├── vectors.db        a cache of passage vectors; may be deleted, then costs encoding again
├── generations/      one folder per published pair of indexes; may be deleted and rebuilt
├── CURRENT           the name of the generation being served
└── ingest.lock       locked by the operating system while an ingest runs; never deleted
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from store.errors import Damaged, NoArchive

ARCHIVE_VARIABLE = "COUNTERPOINT_ARCHIVE"


@dataclass(frozen=True, slots=True)
class Archive:
    """The folder of one archive."""

    root: Path

    @property
    def catalogue(self) -> Path:
        return self.root / "catalogue.db"

    @property
    def vectors(self) -> Path:
        return self.root / "vectors.db"

    @property
    def generations(self) -> Path:
        return self.root / "generations"

    @property
    def current(self) -> Path:
        return self.root / "CURRENT"

    @property
    def lock(self) -> Path:
        return self.root / "ingest.lock"


def archive_at(folder: str | Path | None) -> Archive:
    """The archive in ``folder``, or in ``$COUNTERPOINT_ARCHIVE``, or in ``./archive``.

    :raises NoArchive: there is a file of that name
    """
    root = Path(folder or os.environ.get(ARCHIVE_VARIABLE) or "archive").expanduser()
    if root.is_file():
        raise NoArchive(f"{root} is a file; an archive is a folder, name one with --archive")
    return Archive(root)


def existing_archive(folder: str | Path | None) -> Archive:
    """Like :func:`archive_at`, for a reader.

    :raises NoArchive: the folder holds no catalogue
    :raises Damaged: it held one, and indexes were built from it
    """
    archive = archive_at(folder)
    refuse_lost_catalogue(archive)
    if not archive.catalogue.is_file():
        raise NoArchive(
            f"there is no archive in {archive.root}; make one with "
            f"`python -m indexer ingest PATH --archive {archive.root}`"
        )
    return archive


def refuse_lost_catalogue(archive: Archive) -> None:
    """Never begin anew, without a word, where a catalogue with labels in it used to be.

    :raises Damaged: the catalogue is missing or empty although something was published from it
    """
    path = archive.catalogue
    if archive.current.exists() and not (path.is_file() and path.stat().st_size):
        raise Damaged(
            f"{path} is {'empty' if path.is_file() else 'missing'}, although indexes were built "
            "from it; move what is left of it out of the folder and run `python -m indexer restore "
            f"BACKUP --archive {archive.root}`, or delete {archive.current} to begin without its "
            "labels"
        )
