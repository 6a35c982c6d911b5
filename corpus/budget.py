"""What unpacking may write: how many files, how many bytes, and how many from how few."""

from __future__ import annotations

import os
from pathlib import Path

from corpus.errors import NotExtractable
from corpus.large_text import ByteStream

MAX_MEMBERS = 200_000
MAX_BYTES = 2 * 1024**3
MAX_RATIO = 200
RATIO_FROM = 8 * 1024**2

_PIECE = 1 << 18
_LONGEST_NAME = 200


class Budget:
    """Counts what is written and refuses what goes over the limits."""

    def __init__(self, into: Path) -> None:
        self.into = into
        self.skipped: list[tuple[bytes, str]] = []
        self._files = 0
        self._bytes = 0

    def write(self, stream: ByteStream, name: bytes, packed: int | None = None) -> Path:
        """Write a stream to a file of its own, called as the last part of ``name``."""
        target = self._new_file(name)
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

    def write_part(self, data: bytes, name: bytes) -> Path:
        """Write a part of a file whose bytes were counted, or lay outside of any container."""
        target = self._new_file(name)
        target.write_bytes(data)
        return target

    def _new_file(self, name: bytes) -> Path:
        self._files += 1
        if self._files > MAX_MEMBERS:
            raise NotExtractable(
                f"it is refused: more than {MAX_MEMBERS:,} files inside", stage="unpack"
            )
        folder = self.into / f"{self._files:06d}"
        folder.mkdir(exist_ok=True)
        return folder / os.fsdecode(_file_name(name))

    def skip(self, name: bytes, reason: str) -> None:
        self.skipped.append((name, reason))


class Bytes:
    """Bytes as a stream."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int = -1, /) -> bytes:
        piece, self._data = self._data[:size], self._data[size:]
        return piece


def _file_name(name: bytes) -> bytes:
    """The last part of a path as a name that any file system takes."""
    last = name.rpartition(b"/")[2].replace(b"\0", b"_")
    if len(last) > _LONGEST_NAME:
        stem, suffix = os.path.splitext(last)
        last = stem[: _LONGEST_NAME - len(suffix[:20])] + suffix[:20]
    return last if last not in (b"", b".", b"..") else b"_"
