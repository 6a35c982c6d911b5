"""Files that hold files: ZIP, TAR and gzip archives, and JSON lines with a document on each.

A container is read as a folder: what it holds is written out under limits that are checked before
and while unpacking, so that a small file cannot become an enormous one.
"""

from __future__ import annotations

import gzip
import json
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from corpus.errors import NotExtractable

ContainerKind = Literal["zip", "tar", "gzip", "json lines"]

MAX_MEMBERS = 200_000
MAX_BYTES = 2 * 1024**3
MAX_RATIO = 200
RATIO_FROM = 8 * 1024**2
MAX_DEPTH = 3
"""How many containers may lie inside one another."""

_HEAD = 1 << 20
_PIECE = 1 << 18
_DOCUMENT_ZIPS = ("[Content_Types].xml", "mimetype", "META-INF/container.xml")


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a container: its path inside, as bytes, and where it was written to."""

    name: bytes
    path: Path


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What a container held; the second element of each skipped pair is the reason."""

    members: tuple[Member, ...]
    skipped: tuple[tuple[bytes, str], ...]


def container_kind(path: Path) -> ContainerKind | None:
    """What kind of container a file is, by its content, or None where it is a document itself."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip" if _is_plain_zip(path) else None
    if head.startswith(b"\x1f\x8b"):
        return "tar" if _tar_inside(path) else "gzip"
    if head[257:262] == b"ustar":
        return "tar"
    return "json lines" if _is_json_lines(head) else None


def unpack(path: Path, into: Path) -> Unpacked:
    """Write out everything that the container at ``path`` holds, containers inside included.

    :raises NotExtractable: it is damaged, locked, or over a limit
    """
    budget = _Budget(into)
    try:
        members = tuple(_unpack(path, b"", budget, 1))
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        gzip.BadGzipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise NotExtractable(f"cannot be unpacked: {error}", stage="unpack") from error
    return Unpacked(members, tuple(budget.skipped))


class _Stream(Protocol):
    """What can be read piece by piece."""

    def read(self, size: int = -1, /) -> bytes: ...


class _Budget:
    """Counts what is written and refuses what goes over the limits."""

    def __init__(self, into: Path) -> None:
        self.into = into
        self.skipped: list[tuple[bytes, str]] = []
        self._files = 0
        self._bytes = 0

    def write(self, stream: _Stream, packed: int | None = None) -> Path:
        """Write a stream to a file of its own."""
        self._files += 1
        if self._files > MAX_MEMBERS:
            raise NotExtractable(
                f"it is refused: more than {MAX_MEMBERS:,} files inside", stage="unpack"
            )
        target = self.into / f"{self._files:06d}"
        written = 0
        with target.open("wb") as out:
            while piece := stream.read(_PIECE):
                written += len(piece)
                self._bytes += len(piece)
                if self._bytes > MAX_BYTES:
                    raise NotExtractable(
                        f"it is refused: it unpacks to more than {MAX_BYTES // 2**20:,} MB",
                        stage="unpack",
                    )
                if packed and written > RATIO_FROM and written > MAX_RATIO * packed:
                    raise NotExtractable(
                        f"it is refused: a file inside unpacks to more than {MAX_RATIO} times its "
                        "packed size",
                        stage="unpack",
                    )
                out.write(piece)
        return target

    def skip(self, name: bytes, reason: str) -> None:
        self.skipped.append((name, reason))


def _unpack(path: Path, prefix: bytes, budget: _Budget, depth: int) -> Iterator[Member]:
    kind = container_kind(path)
    if kind is None:
        raise NotExtractable("it is not a container", stage="unpack")
    if depth > MAX_DEPTH:
        raise NotExtractable(
            f"it is refused: containers inside one another deeper than {MAX_DEPTH}", stage="unpack"
        )
    for member in _MEMBERS[kind](path, prefix, budget):
        if kind == "json lines" or container_kind(member.path) is None:
            yield member
        else:
            inside = member.name + b"/" if member.name else b""
            yield from _unpack(member.path, inside, budget, depth + 1)
            member.path.unlink()


def _zip_members(path: Path, prefix: bytes, budget: _Budget) -> Iterator[Member]:
    with zipfile.ZipFile(path) as package:
        entries = package.infolist()
        declared = sum(entry.file_size for entry in entries)
        if len(entries) > MAX_MEMBERS or declared > MAX_BYTES:
            raise NotExtractable(
                f"it is refused: {len(entries):,} files of {declared / 2**20:,.0f} MB inside",
                stage="unpack",
            )
        for entry in entries:
            name = _zip_name(entry)
            if entry.is_dir():
                continue
            if reason := _refused(name) or _refused_entry(entry):
                budget.skip(prefix + name, reason)
                continue
            with package.open(entry) as stream:
                yield Member(prefix + name, budget.write(stream, entry.compress_size))


def _zip_name(entry: zipfile.ZipInfo) -> bytes:
    """The name as bytes: UTF-8 where the archive says so, else the bytes that were stored."""
    utf8 = entry.flag_bits & 0x800
    return entry.filename.encode("utf-8" if utf8 else "cp437", "surrogateescape")


def _refused_entry(entry: zipfile.ZipInfo) -> str:
    if entry.flag_bits & 0x1:
        return "encrypted with a password"
    if (entry.external_attr >> 16) & 0o170000 == 0o120000:
        return "a link; links are not followed"
    return ""


def _tar_members(path: Path, prefix: bytes, budget: _Budget) -> Iterator[Member]:
    packed = path.stat().st_size
    with tarfile.open(path, "r:*") as archive:
        for entry in archive:
            name = entry.name.encode("utf-8", "surrogateescape")
            if entry.isdir():
                continue
            if reason := _refused(name):
                budget.skip(prefix + name, reason)
            elif not entry.isreg():
                kind = "a link; links are not followed" if entry.issym() or entry.islnk() else ""
                budget.skip(prefix + name, kind or "not a regular file")
            elif stream := archive.extractfile(entry):
                yield Member(prefix + name, budget.write(stream, packed))


def _gzip_members(path: Path, prefix: bytes, budget: _Budget) -> Iterator[Member]:
    """The one file that gzip wraps, which has no name of its own."""
    with gzip.open(path) as stream:
        written = budget.write(stream, path.stat().st_size)
    yield Member(prefix.removesuffix(b"/"), written)


def _json_members(path: Path, prefix: bytes, budget: _Budget) -> Iterator[Member]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict) or not isinstance(row.get("text"), str):
                budget.skip(prefix + str(number).encode(), "not a JSON object with a text")
                continue
            name = str(row.get("_id", row.get("id", number))).encode("utf-8", "surrogatepass")
            yield Member(prefix + name, budget.write(_Bytes(line.strip())))


class _Bytes:
    """A line as a stream."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int = -1, /) -> bytes:
        piece, self._data = self._data[:size], self._data[size:]
        return piece


_MEMBERS = {
    "zip": _zip_members,
    "tar": _tar_members,
    "gzip": _gzip_members,
    "json lines": _json_members,
}


def _refused(name: bytes) -> str:
    """Why a name inside a container is not taken, or nothing."""
    parts = name.split(b"/")
    if name.startswith(b"/") or b".." in parts:
        return "its name leads out of the container"
    if parts[-1].startswith(b"~$"):
        return "a lock file of an open editor"
    if any(part.startswith(b".") or part == b"__MACOSX" for part in parts):
        return "hidden"
    return ""


def _is_plain_zip(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as package:
            names = set(package.namelist())
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        return False
    return not names.intersection(_DOCUMENT_ZIPS)


def _tar_inside(path: Path) -> bool:
    try:
        with gzip.open(path) as stream:
            return stream.read(512)[257:262] == b"ustar"
    except (OSError, EOFError, zlib.error):
        return False


def _is_json_lines(head: bytes) -> bool:
    """Whether a first and a second line begin an object each, and the first is a document."""
    first, _, rest = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    if not (first.startswith(b"{") and rest.lstrip().startswith(b"{")):
        return False
    try:
        row = json.loads(first)
    except ValueError:
        return False
    return isinstance(row, dict) and isinstance(row.get("text"), str)
