"""Looking at what is to be ingested: each file is read once for its digest, and what holds files is
written out as the folder that it stands for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.containers import container_kind
from indexer.report import Problem, Report
from indexer.settings import NAME, Settings
from indexer.sidecars import (
    beside_no_sidecar,
    is_sidecar,
    left_out_inside,
    speaks_of_another,
)
from indexer.sources import Target
from indexer.unpacking import Held, Unpacker
from store.manifest import sha256_of
from store.texts import Failure
from store.versions import (
    Place,
    printable,
)


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file that could be opened: its digest, absolute path, size in bytes and time.

    ``named`` is the path that a sidecar can stand beside; None for what lies inside a container.
    """

    digest: str
    path: bytes
    size: int
    modified: float
    named: bytes | None


def digest_files(
    targets: Sequence[Target], report: Report, unpacker: Unpacker, settings: Settings
) -> tuple[dict[Place, SeenFile], list[Target]]:
    """Read every file once for its SHA-256; a time stamp never decides what changed.

    A container counts as the folder of what it holds, written out by ``unpacker``. Returns what was
    seen, and the targets with what turned out to be out of reach.
    """
    seen: dict[Place, SeenFile] = {}
    reached = []
    for target in targets:
        root = os.fsencode(target.source.root)
        report.sources.append(printable(os.path.join(root, target.below)))
        unreachable = list(target.scan.unreachable)
        skipped = [entry for entry in target.scan.skipped if not speaks_of_another(root, entry[0])]
        for path, reason in unreachable:
            report.fail(path, Failure("read", reason))
        for file in target.scan.files:
            path = os.path.join(root, file.path)
            if is_sidecar(file.path):
                if not speaks_of_another(root, file.path):
                    reason = "says something of a file that is not there; rename or remove it"
                    report.notes.append(Problem(printable(file.path), "metadata", reason))
                continue
            if pattern := settings.ignored(file.path):
                skipped.append((file.path, f"ignored by {NAME}: {pattern}"))
                continue
            held: Held | Failure | None
            try:
                held = beside_no_sidecar(path, _contents(path, unpacker))
                members = held.members if isinstance(held, Held) else ((b"", path),)
                digests = [(name, at, _digest_of(at), os.stat(at).st_size) for name, at in members]
            except OSError as error:
                held = Failure("read", f"cannot be read: {error.strerror}")
            if isinstance(held, Failure):
                unreachable.append((file.path, held.reason))
                report.fail(file.path, held)
                continue
            if held is not None:
                skipped += [(_inside(file.path, name), reason) for name, reason in held.skipped]
            for name, at, digest, size in digests:
                place = Place(target.source.source_id, _inside(file.path, name))
                if name and (reason := left_out_inside(settings, place.path)):
                    skipped.append((place.path, reason))
                    continue
                seen[place] = SeenFile(digest, at, size, file.modified, None if name else path)
        report.skipped += [Problem(printable(path), "skip", reason) for path, reason in skipped]
        scan = replace(target.scan, unreachable=tuple(unreachable))
        reached.append(replace(target, scan=scan))
    report.found = len(seen) + len(report.skipped) + len(report.failed)
    return seen, reached


def _contents(path: bytes, unpacker: Unpacker) -> Held | Failure | None:
    """What a container holds, written out by ``unpacker``; None for a document.

    :raises OSError: the file cannot be read
    """
    if container_kind(Path(os.fsdecode(path))) is None:
        return None
    return unpacker.unpack(path)


def _digest_of(path: bytes) -> str:
    return sha256_of(Path(os.fsdecode(path)))


def _inside(container: bytes, name: bytes) -> bytes:
    """The place of what is inside a container; a message, and what gzip wraps, has the
    container's own."""
    return container + b"/" + name if name else container
