"""Which folders an archive is fed from, and which of them a run looks at."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.scan import Scan, scan_file, scan_folder
from store.catalogue import Catalogue
from store.database import writing
from store.errors import NoSource
from store.versions import Place, printable


@dataclass(frozen=True, slots=True)
class Source:
    """A folder that documents come from, by its real path."""

    source_id: int
    root: Path


@dataclass(frozen=True, slots=True)
class Target:
    """The part of a source that one run looks at: all of it, a folder in it, or one file."""

    source: Source
    below: bytes
    scan: Scan

    def covers(self, place: Place) -> bool:
        """Whether this run would have met a file at ``place``, had it been there."""
        if place.source_id != self.source.source_id:
            return False
        inside = not self.below or place.path == self.below
        inside = inside or place.path.startswith(self.below + b"/")
        return inside and self.scan.reaches(place.path)


def known_sources(catalogue: Catalogue) -> list[Source]:
    """Every source that was ever ingested, in the order of their first time."""
    rows = catalogue.database.query("SELECT source_id, root_bytes FROM sources ORDER BY source_id")
    return [Source(row["source_id"], Path(os.fsdecode(bytes(row["root_bytes"])))) for row in rows]


def look_at(catalogue: Catalogue, paths: Sequence[Path]) -> list[Target]:
    """Scan ``paths``, each a folder or a file; one inside a known source is a part of it.

    :raises NoSource: a path is missing, cannot be read, or is new and holds no files
    """
    targets = []
    for path in paths:
        if not path.exists():
            raise NoSource(f"there is no file or folder {path}; nothing was changed")
        real = path.resolve()
        if real.is_relative_to(catalogue.archive.root.resolve()):
            raise NoSource(f"{path} is the archive itself; keep the archive apart from its sources")
        source, below = _source_of(catalogue, real)
        if real.is_dir():
            scan = scan_folder(real, catalogue.archive.root)
            scan = _rooted(scan, below)
        else:
            scan = scan_file(source.root, below)
        if not scan.files and not _was_fed_from(catalogue, source):
            raise NoSource(f"{path} holds no files to ingest; nothing was changed")
        targets.append(Target(source, below, scan))
    return targets


def _source_of(catalogue: Catalogue, real: Path) -> tuple[Source, bytes]:
    """The source that holds ``real`` and the path of ``real`` below it."""
    holders = [source for source in known_sources(catalogue) if real.is_relative_to(source.root)]
    if holders:
        source = max(holders, key=lambda source: len(source.root.parts))
    else:
        source = _add_source(catalogue, real if real.is_dir() else real.parent)
    below = os.fsencode(real.relative_to(source.root))
    return source, b"" if below == b"." else below


def _add_source(catalogue: Catalogue, root: Path) -> Source:
    raw = os.fsencode(root)
    with writing(catalogue.database) as db:
        row = db.execute(
            "INSERT INTO sources (root, root_bytes) VALUES (?, ?) RETURNING source_id",
            [printable(raw), raw],
        ).fetchone()
    return Source(row[0], root)


def _was_fed_from(catalogue: Catalogue, source: Source) -> bool:
    row = catalogue.database.execute(
        "SELECT 1 FROM locations WHERE source_id = ? LIMIT 1", [source.source_id]
    ).fetchone()
    return row is not None


def _rooted(scan: Scan, below: bytes) -> Scan:
    """Give the paths of a scan of a sub-folder as paths below the source's root."""
    if not below:
        return scan

    def under(path: bytes) -> bytes:
        return os.path.join(below, path) if path else below

    return Scan(
        tuple(type(file)(under(file.path), file.size, file.modified) for file in scan.files),
        tuple((under(path), reason) for path, reason in scan.skipped),
        tuple((under(path), reason) for path, reason in scan.unreachable),
    )
