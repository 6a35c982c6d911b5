"""The semantic index: FAISS, exact inner products over unit vectors, one row per passage."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from store.centring import FILE_NAME as CENTRE_NAME
from store.centring import Centre, read_centre, write_centre
from store.errors import Damaged

FILE_NAME = "vectors.faiss"


class SemanticIndex:
    """An open semantic index; immutable, so any number of threads may search it.

    ``centre`` is what the vectors in it were centred with, None where they were not.
    """

    def __init__(self, index: faiss.Index, centre: Centre | None) -> None:
        self._index = index
        self._centre = centre

    @property
    def passages(self) -> int:
        return int(self._index.ntotal)

    @property
    def dimension(self) -> int:
        return int(self._index.d)

    def search(
        self,
        vector: NDArray[np.float32],
        language: str,
        limit: int,
        permitted_rows: NDArray[np.bool_] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], bool]:
        """The best ``limit`` rows, their cosines, and whether there is nothing below them.

        ``vector`` is the query's as the encoder gives it, ``language`` the query's language.

        :raises ValueError: ``vector`` is not of shape (dimension,)
        """
        if vector.shape != (self.dimension,):
            raise ValueError(f"a vector of {self.dimension} numbers is needed, not {vector.shape}")
        if self._centre is not None:
            vector = self._centre.query_vector(vector, language)
        parameters = None
        if permitted_rows is not None:
            bitmap = np.packbits(permitted_rows, bitorder="little")
            selector = faiss.IDSelectorBitmap(len(bitmap), faiss.swig_ptr(bitmap))
            parameters = faiss.SearchParameters()
            parameters.sel = selector
        asked = min(limit, max(1, self.passages))
        scores, rows = self._index.search(vector[np.newaxis, :], asked, params=parameters)
        # Beyond the last row FAISS pads with -1, which is no row.
        real = rows[0] >= 0
        found = int(real.sum())
        return rows[0][real], scores[0][real], found < limit


def write_semantic(folder: Path, vectors: NDArray[np.float32], centre: Centre) -> None:
    """Write ``vectors`` (n, dimension), unit rows in row order, and what they were centred with."""
    folder.mkdir(parents=True)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors))
    faiss.write_index(index, str(folder / FILE_NAME))
    write_centre(folder, centre)


def open_semantic(folder: Path) -> SemanticIndex:
    """:raises Damaged: FAISS cannot read the file"""
    try:
        index = faiss.read_index(str(folder / FILE_NAME))
        # Generations of before there was a centre hold vectors as the encoder gave them.
        centre = read_centre(folder) if (folder / CENTRE_NAME).is_file() else None
    except RuntimeError as error:
        raise Damaged(
            f"the semantic index in {folder} cannot be read; "
            "run `python -m indexer ingest` to build the indexes again"
        ) from error
    # One thread a query: a second one costs more CPU than it saves on a busy machine.
    faiss.omp_set_num_threads(1)
    return SemanticIndex(index, centre)
