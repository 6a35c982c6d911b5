"""Unpacking containers in a process of its own, under limits of time and memory."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from store.archive import Archive
from store.texts import Failure

TIME_LIMIT_S = 600.0
UNPACKING = ".unpacking"
_ROOT = Path(__file__).resolve().parents[1]
_PIPE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Held:
    """What a container held: (path inside, where it was written), and what was left out."""

    members: tuple[tuple[bytes, bytes], ...]
    skipped: tuple[tuple[bytes, str], ...]


class Unpacker:
    """Unpacks one container after the other below ``folder``, all in one process.

    That process is started for the first of them, and again after one that it did not survive.
    Close it, or use ``with``.
    """

    def __init__(self, folder: Path, *, time_limit: float = TIME_LIMIT_S) -> None:
        self.folder = folder
        self._time_limit = time_limit
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Unpacker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def unpack(self, path: bytes) -> Held | Failure:
        """Write what the container at ``path`` holds into a new folder."""
        into = os.fsencode(tempfile.mkdtemp(dir=self.folder))
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "indexer.reader", "unpack"],
                cwd=_ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        answer = _ask(self._process, f"{path.hex()} {into.hex()}\n".encode(), self._time_limit)
        if isinstance(answer, Failure):
            self.close()
            return answer
        body = json.loads(answer)
        if reason := body.get("reason"):
            return Failure(body["stage"], reason)
        return Held(
            tuple((bytes.fromhex(name), bytes.fromhex(file)) for name, file in body["members"]),
            tuple((bytes.fromhex(name), reason) for name, reason in body["skipped"]),
        )

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            with self._process:
                self._process = None


def _ask(process: subprocess.Popen[bytes], line: bytes, time_limit: float) -> bytes | Failure:
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(line)
        process.stdin.flush()
    except BrokenPipeError:
        return Failure("limit", f"the reader died before it (exit code {process.wait()})")
    deadline = time.monotonic() + time_limit
    answer = bytearray()
    descriptor = process.stdout.fileno()
    while not answer.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return Failure("limit", f"took longer than {time_limit:.0f} s to unpack")
        piece = os.read(descriptor, _PIPE_BYTES)
        if not piece:
            return Failure("limit", f"the reader died of it (exit code {process.wait()})")
        answer += piece
    return bytes(answer)


@contextmanager
def unpacker_for(archive: Archive) -> Iterator[Unpacker]:
    """An unpacker with a folder that is gone at the end; one that a kill left behind goes first.

    Only for the holder of the writer's lock.
    """
    folder = archive.root / UNPACKING
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        with Unpacker(folder) as unpacker:
            yield unpacker
    finally:
        shutil.rmtree(folder, ignore_errors=True)
