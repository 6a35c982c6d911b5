"""The semantic index: FAISS, inner products over unit vectors, one row per passage.

Up to :data:`EXACT_UP_TO` passages a query is compared with every vector. Above, it is compared with
copies of 8 bits a number first, and with the vectors themselves, kept on disk and mapped into
memory, where the copies leave a doubt: see :mod:`store.embedded.quantized`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from store.centring import FILE_NAME as CENTRE_NAME
from store.centring import Centre, read_centre, write_centre
from store.embedded.quantized import FILE_NAME as QUANTIZED_NAME
from store.embedded.quantized import LEAST_RECALL, Quantized, search_all, write_quantized
from store.errors import Damaged
from store.manifest import SemanticForm

FILE_NAME = "vectors.faiss"

EXACT_UP_TO = 200_000
"""The most passages that are all compared: with 384 dimensions 30 ms of a busy core."""

SCANNED_SHARE = 0.2
"""Below this share of permitted passages, comparing each of them is the faster way."""


class SemanticIndex:
    """An open semantic index; immutable, so any number of threads may search it.

    ``centre`` is what the vectors in it were centred with, None where they were not; ``quantized``
    the copies that are looked at first, None where every vector is compared.
    """

    def __init__(
        self, index: faiss.IndexFlat, centre: Centre | None, quantized: Quantized | None = None
    ) -> None:
        self._index = index
        self._centre = centre
        self._quantized = quantized

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
        exact: bool = False,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], bool]:
        """The best ``limit`` rows, their cosines, and whether there is nothing below them.

        ``vector`` is the query's as the encoder gives it, ``language`` the query's language. With
        ``exact`` every permitted vector is compared, whatever copies there are. Equal cosines come
        by row, which is by passage id.

        :raises ValueError: ``vector`` is not of shape (dimension,)
        """
        if vector.shape != (self.dimension,):
            raise ValueError(f"a vector of {self.dimension} numbers is needed, not {vector.shape}")
        if self._centre is not None:
            vector = self._centre.query_vector(vector, language)
        vector = np.ascontiguousarray(vector, dtype=np.float32)
        available = self.passages if permitted_rows is None else int(permitted_rows.sum())
        asked = min(limit, available)
        if asked == 0:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32), True
        scanned = exact or self._quantized is None or available < SCANNED_SHARE * self.passages
        parameters = None
        if permitted_rows is not None:
            parameters = faiss.SearchParameters()
            if scanned:
                # Named one by one, they are all that is gone through: the time says nothing of the
                # rows that are not permitted.
                chosen = np.flatnonzero(permitted_rows)
                parameters.sel = faiss.IDSelectorArray(len(chosen), faiss.swig_ptr(chosen))
            else:
                bitmap = np.packbits(permitted_rows, bitorder="little")
                parameters.sel = faiss.IDSelectorBitmap(len(bitmap), faiss.swig_ptr(bitmap))
        if scanned or self._quantized is None:
            rows, scores = search_all(self._index, vector, asked, parameters)
        else:
            rows, scores = self._quantized.search(self._index, vector, asked, available, parameters)
        return rows, scores, available < limit


def write_semantic(
    folder: Path,
    blocks: Iterable[NDArray[np.float32]],
    passages: int,
    dimension: int,
    centre: Centre,
    *,
    exact_up_to: int = EXACT_UP_TO,
    least_recall: float = LEAST_RECALL,
) -> SemanticForm:
    """Write unit vectors in row order, and what they were centred with.

    ``blocks`` are of shape (any, dimension), together ``passages`` rows; one is held at a time
    beside the index. Returns how the index will be searched, which :func:`open_semantic` needs.

    :raises ValueError: there are more or fewer rows than ``passages``
    """
    folder.mkdir(parents=True)
    index = _filled(blocks, passages, dimension)
    faiss.write_index(index, str(folder / FILE_NAME))
    write_centre(folder, centre)
    if passages <= exact_up_to:
        return SemanticForm()
    return write_quantized(folder, index, least_recall=least_recall)


def _filled(
    blocks: Iterable[NDArray[np.float32]], passages: int, dimension: int
) -> faiss.IndexFlatIP:
    index = faiss.IndexFlatIP(dimension)
    # The whole room at once: an index that grows by itself holds every vector twice on the way.
    index.codes.resize(passages * index.code_size)
    index.ntotal = passages
    done = 0
    for block in blocks:
        end = done + len(block)
        if end > passages:
            raise ValueError(f"there are more than the {passages} vectors announced")
        room = faiss.rev_swig_ptr(index.get_xb(), passages * dimension)
        room.reshape(passages, dimension)[done:end] = block
        done = end
    if done != passages:
        raise ValueError(f"there are {done} vectors, not the {passages} announced")
    return index


def open_semantic(folder: Path, form: SemanticForm | None = None) -> SemanticIndex:
    """Open an index that is searched as ``form`` says, or else by comparing every vector.

    :raises Damaged: FAISS cannot read a file
    """
    quantized = None
    try:
        if form is not None and form.search == "quantized":
            copies = faiss.read_index(str(folder / QUANTIZED_NAME))
            if not isinstance(copies, faiss.IndexScalarQuantizer):
                raise RuntimeError(f"{QUANTIZED_NAME} holds {type(copies).__name__}")
            quantized = Quantized(copies, form.error_bound)
        # Few of the vectors themselves are read where there are copies; the rest stays on disk.
        how = faiss.IO_FLAG_MMAP_IFC if quantized else 0
        index = faiss.read_index(str(folder / FILE_NAME), how)
        if not isinstance(index, faiss.IndexFlat):
            raise RuntimeError(f"{FILE_NAME} holds {type(index).__name__}")
        # Generations of before there was a centre hold vectors as the encoder gave them.
        centre = read_centre(folder) if (folder / CENTRE_NAME).is_file() else None
    except RuntimeError as error:
        raise Damaged(
            f"the semantic index in {folder} cannot be read; "
            "run `python -m indexer ingest` to build the indexes again"
        ) from error
    # One thread a query: a second one costs more CPU than it saves on a busy machine.
    faiss.omp_set_num_threads(1)
    return SemanticIndex(index, centre, quantized)
