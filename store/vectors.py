"""The cache of passage vectors, keyed by what was encoded and by which encoder.

Encoding is nearly all of an ingest's work, so a vector that was computed once is kept until the
file is deleted by hand. Losing it loses no data. A vector is stored as little-endian float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from store.archive import Archive
from store.database import open_database, writing
from store.migrations import vector_migrations

Vectors = NDArray[np.float32]


class VectorCache:
    """An open vector cache. Belongs to the thread that opened it; close it, or use ``with``."""

    def __init__(self, archive: Archive) -> None:
        self.path = archive.vectors
        self.database = open_database(archive.vectors, vector_migrations)

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    def missing(self, hashes: Iterable[bytes], encoder: str) -> list[bytes]:
        """Which of ``hashes`` have no vector of that encoder, in the order given, once each."""
        rows = self.database.query(
            "SELECT text_hash FROM vectors WHERE encoder = :encoder", {"encoder": encoder}
        )
        known = {bytes(row["text_hash"]) for row in rows}
        return [text_hash for text_hash in dict.fromkeys(hashes) if text_hash not in known]

    def add(self, hashes: Sequence[bytes], encoder: str, vectors: Vectors) -> None:
        """Keep one row of ``vectors`` (n, dimension) for each of the n ``hashes``."""
        with writing(self.database) as db:
            db.conn.executemany(
                "INSERT INTO vectors (text_hash, encoder, vector) VALUES (?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                [
                    (text_hash, encoder, np.ascontiguousarray(row, dtype="<f4").tobytes())
                    for text_hash, row in zip(hashes, vectors, strict=True)
                ],
            )

    def rows(self, hashes: Sequence[bytes], encoder: str, dimension: int) -> Vectors:
        """The vectors of ``hashes``, one row each, in order.

        :raises KeyError: one of them was never encoded
        """
        out = np.empty((len(hashes), dimension), dtype=np.float32)
        for index, text_hash in enumerate(hashes):
            row = self.database.conn.execute(
                "SELECT vector FROM vectors WHERE text_hash = ? AND encoder = ?",
                (text_hash, encoder),
            ).fetchone()
            if row is None:
                raise KeyError(text_hash.hex())
            out[index] = np.frombuffer(row[0], dtype="<f4")
        return out
