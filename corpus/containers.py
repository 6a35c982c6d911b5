"""Files that hold files: ZIP, TAR and gzip archives, JSON lines with a document on each, mail
messages with what is attached to them, and texts too large to be one document.

A container is read as a folder: what it holds is written out under limits that are checked before
and while unpacking, so that a small file cannot become an enormous one. A message is a document as
well, and holds itself under the empty name.
"""

from __future__ import annotations

import gzip
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corpus import json_lines
from corpus.budget import MAX_BYTES, MAX_MEMBERS, Budget, Bytes
from corpus.errors import NotExtractable
from corpus.extract import MAX_TEXT_BYTES
from corpus.extract.attachments import attachments
from corpus.extract.eml import looks_like_mail
from corpus.extract.sniff import HEAD
from corpus.large_text import cut, is_large_text, is_table, refuse_beyond_measure

ContainerKind = Literal["zip", "tar", "gzip", "json lines", "mail", "large text"]

MAX_DEPTH = 3
"""How many containers may lie inside one another."""

_HEAD = 1 << 20
_TOO_DEEP = f"it is refused: containers inside one another deeper than {MAX_DEPTH}"
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
)
_DOCUMENT_ZIPS = ("[Content_Types].xml", "mimetype", "META-INF/container.xml")


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a container: its path inside, as bytes, and where it was written to, under the
    last part of that path, which tells kinds of plain text apart."""

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
    if json_lines.looks_like_json_lines(head):
        return "json lines"
    if looks_like_mail(head[:HEAD]):
        return "mail"
    return "large text" if is_large_text(path, head) else None


def unpack(path: Path, into: Path) -> Unpacked:
    """Write out everything that the container at ``path`` holds, containers inside included.

    :raises NotExtractable: it is damaged, locked, or over a limit
    """
    budget = Budget(into)
    try:
        members = tuple(_unpack(path, b"", budget, 1))
    except _DAMAGED as error:
        raise NotExtractable(f"cannot be unpacked: {error}", stage="unpack") from error
    return Unpacked(members, tuple(budget.skipped))


def _unpack(path: Path, prefix: bytes, budget: Budget, depth: int) -> Iterator[Member]:
    kind = container_kind(path)
    if kind is None:
        raise NotExtractable("it is not a container", stage="unpack")
    if depth > MAX_DEPTH and kind == "mail":
        yield from _deepest_mail(path, prefix, budget)
        return
    if depth > MAX_DEPTH and kind != "large text":
        raise NotExtractable(_TOO_DEEP, stage="unpack")
    for member in _MEMBERS[kind](path, prefix, budget):
        whole = kind in ("json lines", "large text") or member.path == path
        if whole or container_kind(member.path) is None:
            yield member
        elif kind == "mail":
            yield from _attached(member, budget, depth + 1)
        else:
            yield from _inside(member, budget, depth + 1)


def _inside(member: Member, budget: Budget, depth: int) -> Iterator[Member]:
    """What a member that is a container itself holds."""
    prefix = member.name + b"/" if member.name else b""
    is_document = False
    for inner in _unpack(member.path, prefix, budget, depth):
        is_document = is_document or inner.path == member.path
        yield inner
    if not is_document:
        member.path.unlink()


def _attached(member: Member, budget: Budget, depth: int) -> Iterator[Member]:
    """What an attached container holds: all of it, or a reason why nothing of it is taken.

    One that is refused does not take the message with it.
    """
    try:
        held = list(_inside(member, budget, depth))
    except NotExtractable as error:
        budget.skip(member.name, error.reason)
    except _DAMAGED as error:
        budget.skip(member.name, f"cannot be unpacked: {error}")
    else:
        yield from held


def _zip_members(path: Path, prefix: bytes, budget: Budget) -> Iterator[Member]:
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
                yield Member(prefix + name, budget.write(stream, name, entry.compress_size))


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


def _tar_members(path: Path, prefix: bytes, budget: Budget) -> Iterator[Member]:
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
                yield Member(prefix + name, budget.write(stream, name, packed))


def _gzip_members(path: Path, prefix: bytes, budget: Budget) -> Iterator[Member]:
    """The one file that gzip wraps, which has no name of its own."""
    with gzip.open(path) as stream:
        own = os.fsencode(path.name).removesuffix(b".gz")
        written = budget.write(stream, own, path.stat().st_size)
    yield Member(prefix.removesuffix(b"/"), written)


def _json_members(path: Path, prefix: bytes, budget: Budget) -> Iterator[Member]:
    for line in json_lines.documents(path):
        if line.left_out:
            budget.skip(prefix + line.name, line.left_out)
        else:
            stored = line.name.replace(b"/", b"_") + b".json"
            yield Member(prefix + line.name, budget.write(Bytes(line.data), stored))


def _mail_members(path: Path, prefix: bytes, budget: Budget) -> Iterator[Member]:
    """The message itself, then what is attached to it."""
    yield Member(prefix.removesuffix(b"/"), path)
    if path.stat().st_size > MAX_TEXT_BYTES:
        return
    for attached in attachments(path.read_bytes()):
        name = attached.name.encode()
        if reason := attached.left_out or _refused(name):
            budget.skip(prefix + name, reason)
            continue
        try:
            yield Member(prefix + name, budget.write(Bytes(attached.data), name))
        except NotExtractable as error:
            budget.skip(prefix + name, error.reason)


def _deepest_mail(path: Path, prefix: bytes, budget: Budget) -> Iterator[Member]:
    """A message that lies too deep for its attachments to be followed."""
    yield Member(prefix.removesuffix(b"/"), path)
    if path.stat().st_size <= MAX_TEXT_BYTES:
        for attached in attachments(path.read_bytes()):
            budget.skip(prefix + attached.name.encode(), attached.left_out or _TOO_DEEP)


def _text_members(path: Path, prefix: bytes, budget: Budget) -> Iterator[Member]:
    """The parts of a large text, numbered from 1."""
    refuse_beyond_measure(path)
    stem, suffix = os.fsencode(path.stem), os.fsencode(path.suffix)
    with path.open("rb") as stream:
        for number, part in enumerate(cut(stream, table=is_table(path)), start=1):
            title = b"%b, part %d%b" % (stem, number, suffix)
            yield Member(prefix + b"part %04d" % number, budget.write_part(part, title))


_MEMBERS = {
    "zip": _zip_members,
    "tar": _tar_members,
    "gzip": _gzip_members,
    "json lines": _json_members,
    "mail": _mail_members,
    "large text": _text_members,
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
