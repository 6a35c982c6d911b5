"""Unpacking containers in a process of their own, under limits of time and memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from store.archive import Archive
from store.texts import Failure

TIME_LIMIT_S = 600.0
UNPACKING = ".unpacking"
_ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Held:
    """What a container held: (path inside, where it was written), and what was left out."""

    members: tuple[tuple[bytes, bytes], ...]
    skipped: tuple[tuple[bytes, str], ...]


def unpack_container(
    path: bytes, into: Path, *, time_limit: float = TIME_LIMIT_S
) -> Held | Failure:
    """Write what the container at ``path`` holds into the empty folder ``into``."""
    try:
        run = subprocess.run(
            [sys.executable, "-m", "indexer.reader", path.hex(), os.fsencode(into).hex()],
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=time_limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Failure("limit", f"took longer than {time_limit:.0f} s to unpack")
    if run.returncode != 0:
        return Failure("limit", f"the reader died of it (exit code {run.returncode})")
    body = json.loads(run.stdout)
    if reason := body.get("reason"):
        return Failure(body["stage"], reason)
    return Held(
        tuple((bytes.fromhex(name), bytes.fromhex(file)) for name, file in body["members"]),
        tuple((bytes.fromhex(name), reason) for name, reason in body["skipped"]),
    )


@contextmanager
def unpacking_folder(archive: Archive) -> Iterator[Path]:
    """A folder for what containers hold, gone at the end; one that a kill left behind goes first.

    Only for the holder of the writer's lock.
    """
    folder = archive.root / UNPACKING
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
