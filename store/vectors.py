"""The cache of passage vectors, keyed by what was encoded and by which encoder.

Encoding is nearly all of an ingest's work, so a vector that was computed once is kept until the
file is deleted by hand. Losing it loses no data. A vector is stored as little-endian float32 with
a CRC-32 behind it, for a flipped bit would otherwise move its passage in every answer unseen.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlite_utils import Database

from store.archive import Archive
from store.database import open_database, writing
from store.errors import CacheDamaged, Damaged
from store.filesystem import remove
from store.migrations import vector_migrations

Vectors = NDArray[np.float32]

UNIT_TOLERANCE = 1e-3
CHECK_BYTES = 4


class VectorCache:
    """An open vector cache. Belongs to the thread that opened it; close it, or use ``with``.

    A damaged file is moved aside and an empty one begun. Damage that is met later is raised as
    :class:`CacheDamaged` by any method, and :meth:`mend` then does the same. ``notes`` says what
    was lost so, for the report. Only for the holder of the writer's lock.
    """

    def __init__(self, archive: Archive) -> None:
        self.path = archive.vectors
        self.notes: list[str] = []
        try:
            self.database = self._open()
        except CacheDamaged:
            self._begin_anew()

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    def mend(self, error: CacheDamaged) -> None:
        """Get over what ``error`` says; what was lost is missing from now on."""
        if error.whole:
            self.database.close()
            self._begin_anew()
        else:
            self.notes.append("some cached vectors were damaged; their passages are encoded again")

    def _begin_anew(self) -> None:
        name = _set_aside(self.path)
        self.notes.append(
            f"the cache of vectors was damaged and is now {name}, which may be deleted; "
            "every passage is encoded again"
        )
        self.database = self._open()

    def _open(self) -> Database:
        with self._trusted():
            return open_database(self.path, vector_migrations)

    def missing(self, hashes: Iterable[bytes], encoder: str) -> list[bytes]:
        """Which of ``hashes`` have no vector of that encoder, in the order given, once each."""
        with self._trusted():
            rows = self.database.query(
                "SELECT text_hash FROM vectors WHERE encoder = :encoder", {"encoder": encoder}
            )
            known = {bytes(row["text_hash"]) for row in rows}
        return [text_hash for text_hash in dict.fromkeys(hashes) if text_hash not in known]

    def add(self, hashes: Sequence[bytes], encoder: str, vectors: Vectors) -> None:
        """Keep one row of ``vectors`` (n, dimension) for each of the n ``hashes``."""
        with self._trusted(), writing(self.database) as db:
            db.conn.executemany(
                "INSERT INTO vectors (text_hash, encoder, vector) VALUES (?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                [
                    (text_hash, encoder, _packed(row))
                    for text_hash, row in zip(hashes, vectors, strict=True)
                ],
            )

    def rows(self, hashes: Sequence[bytes], encoder: str, dimension: int) -> Vectors:
        """The vectors of ``hashes``, one row each, in order, finite and of unit length.

        :raises KeyError: one of them was never encoded
        :raises CacheDamaged: some are not what was put there; they are forgotten
        """
        out = np.empty((len(hashes), dimension), dtype=np.float32)
        damaged = []
        with self._trusted():
            for index, text_hash in enumerate(hashes):
                row = self.database.conn.execute(
                    "SELECT vector FROM vectors WHERE text_hash = ? AND encoder = ?",
                    (text_hash, encoder),
                ).fetchone()
                if row is None:
                    raise KeyError(text_hash.hex())
                vector = _unpacked(row[0], dimension)
                if vector is None:
                    damaged.append(text_hash)
                else:
                    out[index] = vector
            if damaged:
                self._forget(damaged, encoder)
        if damaged:
            raise CacheDamaged(
                f"{len(damaged)} of {len(hashes)} vectors in {self.path} were damaged and are "
                "forgotten; run this again to encode those passages again",
                whole=False,
            )
        return out

    def _forget(self, hashes: Sequence[bytes], encoder: str) -> None:
        with writing(self.database) as db:
            db.conn.executemany(
                "DELETE FROM vectors WHERE text_hash = ? AND encoder = ?",
                [(text_hash, encoder) for text_hash in hashes],
            )

    @contextmanager
    def _trusted(self) -> Iterator[None]:
        """Name damage for what it is here: the loss of a cache, which costs time only."""
        try:
            yield
        except Damaged as error:
            raise CacheDamaged(
                f"{self.path}, a cache, is damaged ({error.__cause__}); delete it and run this "
                "again, which encodes every passage again",
                whole=True,
            ) from error


def kept_vectors(
    archive: Archive, hashes: Iterable[bytes], encoder: str, dimension: int
) -> dict[bytes, Vectors]:
    """The sound vectors among ``hashes`` that one encoder's are kept for, each (dimension,).

    For readers, at any time: nothing is written, mended or moved aside, and a cache that is missing
    or damaged has none.
    """
    found: dict[bytes, Vectors] = {}
    if not archive.vectors.is_file():
        return found
    try:
        address = f"{archive.vectors.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            for text_hash in hashes:
                row = connection.execute(
                    "SELECT vector FROM vectors WHERE text_hash = ? AND encoder = ?",
                    (text_hash, encoder),
                ).fetchone()
                vector = _unpacked(row[0], dimension) if row else None
                if vector is not None:
                    found[text_hash] = vector
    except sqlite3.Error:
        return {}
    return found


def _set_aside(path: Path) -> str:
    """Move a damaged cache out of the way, over one moved before; the name it has now."""
    aside = path.with_name(path.name + ".damaged")
    remove(aside)
    path.rename(aside)
    for log in ("-wal", "-shm"):
        remove(path.with_name(path.name + log))
    return aside.name


def _packed(vector: Vectors) -> bytes:
    data = np.ascontiguousarray(vector, dtype="<f4").tobytes()
    return data + zlib.crc32(data).to_bytes(CHECK_BYTES, "little")


def _unpacked(stored: object, dimension: int) -> Vectors | None:
    """The vector, or None where it is not what was stored.

    Caches of before there was a check hold vectors without one; their length vouches for them.
    """
    if not isinstance(stored, bytes):
        return None
    data, check = stored[: 4 * dimension], stored[4 * dimension :]
    if len(data) != 4 * dimension:
        return None
    if check and check != zlib.crc32(data).to_bytes(CHECK_BYTES, "little"):
        return None
    vector = np.frombuffer(data, dtype="<f4")
    # Written so that a NaN fails it as well.
    return vector if abs(float(np.linalg.norm(vector)) - 1.0) <= UNIT_TOLERANCE else None
