"""Walking a source folder: what is there to read, what is left alone, what cannot be reached.

Paths stay bytes, as the file system has them: two names that look alike are two files. Links are
never followed, so nothing outside the folder is read and no loop can form.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from store.errors import NoSource
from store.versions import printable


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One regular file below a source folder. ``modified`` is in seconds since 1970, UTC."""

    path: bytes
    size: int
    modified: float


@dataclass(frozen=True, slots=True)
class Scan:
    """What a walk met. The second element of each pair is the reason."""

    files: tuple[FoundFile, ...]
    skipped: tuple[tuple[bytes, str], ...] = ()
    unreachable: tuple[tuple[bytes, str], ...] = ()

    def reaches(self, path: bytes) -> bool:
        """Whether the walk could have seen ``path``; below an unreadable folder it could not."""
        return not any(
            path == folder or path.startswith(folder + b"/") for folder, _ in self.unreachable
        )


@dataclass(slots=True)
class _Walk:
    root: bytes
    left_alone: bytes
    files: list[FoundFile] = field(default_factory=list)
    skipped: list[tuple[bytes, str]] = field(default_factory=list)
    unreachable: list[tuple[bytes, str]] = field(default_factory=list)

    def folder(self, below: bytes) -> None:
        absolute = os.path.join(self.root, below) if below else self.root
        try:
            entries = sorted(os.scandir(absolute), key=lambda entry: entry.name)
        except OSError as error:
            self.unreachable.append((below, f"cannot be opened: {error.strerror}"))
            return
        for entry in entries:
            path = os.path.join(below, entry.name) if below else entry.name
            self.entry(path, entry)

    def entry(self, path: bytes, entry: os.DirEntry[bytes]) -> None:
        if reason := left_out_by_name(entry.name):
            self.skipped.append((path, reason))
        elif entry.is_symlink():
            self.skipped.append((path, "a link; links are not followed"))
        elif entry.is_dir(follow_symlinks=False):
            if os.path.realpath(os.path.join(self.root, path)) == self.left_alone:
                self.skipped.append((path, "the archive itself"))
            else:
                self.folder(path)
        else:
            self.file(path, entry)

    def file(self, path: bytes, entry: os.DirEntry[bytes]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.unreachable.append((path, f"cannot be read: {error.strerror}"))
            return
        if stat.S_ISREG(status.st_mode):
            self.files.append(FoundFile(path, status.st_size, status.st_mtime))
        else:
            self.skipped.append((path, "not a regular file"))


def scan_folder(root: Path, archive_root: Path) -> Scan:
    """Walk everything below ``root`` in byte order of names.

    :raises NoSource: ``root`` itself is missing or cannot be opened
    """
    walk = _Walk(os.fsencode(root), os.fsencode(archive_root.resolve()))
    if not root.is_dir():
        raise NoSource(f"there is no folder {root}; name one that exists and can be read")
    walk.folder(b"")
    if walk.unreachable and walk.unreachable[0][0] == b"":
        raise NoSource(f"{root} {walk.unreachable[0][1]}; nothing was changed")
    return Scan(tuple(walk.files), tuple(walk.skipped), tuple(walk.unreachable))


def scan_file(root: Path, name: bytes) -> Scan:
    """Look at one file below ``root``.

    :raises NoSource: it is missing or not a regular file
    """
    path = Path(os.fsdecode(os.path.join(os.fsencode(root), name)))
    if path.is_symlink() or not path.is_file():
        raise NoSource(f"{printable(os.fsencode(path))} is not a file that can be read")
    status = path.stat()
    return Scan((FoundFile(name, status.st_size, status.st_mtime),))


def describe(scan: Scan) -> Iterator[tuple[str, str]]:
    """The skipped entries in a printable form."""
    for path, reason in scan.skipped:
        yield printable(path), reason


def left_out_by_name(name: bytes) -> str:
    """Why a file or folder of that name is not looked at, or an empty string."""
    if name.startswith((b"~$", b".~lock")):
        return "a lock file of an open editor"
    if name.startswith(b"."):
        return "hidden"
    return ""
