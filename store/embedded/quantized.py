"""Finding the best vectors by copies of 8 bits a number, and comparing only the finalists exactly.

A unit query's inner product with a copy differs from the one with the vector itself by at most the
distance of the two (Cauchy and Schwarz). The largest such distance is known from the build, so a
search reads copies until no vector further down can still be among the best, and ranks what it read
by the vectors themselves. The list is the one that comparing everything gives, with the same
scores, at a quarter of the memory and about half the time; the depth asked decides only how much
is read. Coarser codes read less but have no such bound: a list from them would depend on the depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from store.manifest import SemanticForm

FILE_NAME = "quantized.faiss"

LEAST_RECALL = 0.99
"""Below this recall, which no sound build has, the copies are thrown away."""

CUTOFF = 100
SAMPLES = 100
"""The recall is measured at this cutoff, by so many passages moved far from where they are."""

BLOCK = 8192
"""How many vectors are written, or compared with their copies, at once."""

Vectors = NDArray[np.float32]
Found = tuple[NDArray[np.int64], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Quantized:
    """Copies of all vectors in row order, and the largest distance of one from its vector."""

    copies: faiss.IndexScalarQuantizer
    error_bound: float

    def search(
        self,
        vectors: faiss.IndexFlat,
        query: Vectors,
        limit: int,
        available: int,
        parameters: faiss.SearchParameters | None = None,
    ) -> Found:
        """The best ``limit`` rows with their exact inner products, as :func:`search_all` has them.

        ``query`` has the shape (dimension,). ``available``, at least ``limit``, is how many rows
        ``parameters`` leaves.
        """
        length = float(np.linalg.norm(query))
        # Each of the two inner products is rounded, by no more than this.
        rounding = vectors.d * float(np.finfo(np.float32).eps) * length
        margin = self.error_bound * length + 2 * rounding
        # Reading deeper at once costs little, reading a second time as much as the first.
        asked = 3 * limit + 4
        while 2 * asked <= available:
            estimates, rows = self.copies.search(query[np.newaxis, :], asked, params=parameters)
            scores = exact_scores(vectors, query, rows[0])
            worst = np.partition(scores, -limit)[-limit]
            # What was not read has a lower estimate than all that was, and so a lower score.
            if estimates[0][-1] < worst - margin:
                return best_first(rows[0], scores, limit)
            asked *= 4
        return search_all(vectors, query, limit, parameters)


def search_all(
    vectors: faiss.IndexFlat,
    query: Vectors,
    limit: int,
    parameters: faiss.SearchParameters | None = None,
) -> Found:
    """The best ``limit`` rows by comparing ``query`` with every vector that ``parameters`` leaves.

    Best first, equal scores by row. There must be as many rows.
    """
    scores, rows = vectors.search(query[np.newaxis, :], limit, params=parameters)
    return best_first(rows[0], scores[0], limit)


def best_first(rows: NDArray[np.int64], scores: NDArray[np.float32], limit: int) -> Found:
    """The best ``limit`` of ``rows``, equal scores by row."""
    order = np.lexsort((rows, -scores))[:limit]
    return rows[order], scores[order]


def exact_scores(
    vectors: faiss.IndexFlat, query: Vectors, rows: NDArray[np.int64]
) -> NDArray[np.float32]:
    """The inner products of ``query`` with some rows, to the last bit those of a whole search."""
    scores = np.empty(len(rows), dtype=np.float32)
    rows = np.ascontiguousarray(rows)
    # FAISS's stubs leave this method out.
    vectors.compute_distance_subset(  # type: ignore[attr-defined]
        1, faiss.swig_ptr(query), len(rows), faiss.swig_ptr(scores), faiss.swig_ptr(rows)
    )
    return scores


def write_quantized(
    folder: Path, vectors: faiss.IndexFlat, *, least_recall: float = LEAST_RECALL
) -> SemanticForm:
    """Write copies of ``vectors``, which are at least one, and say what was measured of them.

    Where the recall is below ``least_recall`` nothing is written, and the form is exact with the
    reason.
    """
    quantized = _quantized(vectors)
    cutoff = min(CUTOFF, vectors.ntotal)
    recall, samples = _recall(quantized, vectors, cutoff)
    if recall < least_recall:
        reason = (
            f"8-bit copies found {recall:.4f} of the best {cutoff} on {samples} samples, "
            f"less than {least_recall}"
        )
        return SemanticForm(reason=reason)
    faiss.write_index(quantized.copies, str(folder / FILE_NAME))
    return SemanticForm("quantized", recall, cutoff, samples, quantized.error_bound)


def _quantized(vectors: faiss.IndexFlat) -> Quantized:
    rows = _view(vectors)
    copies = faiss.IndexScalarQuantizer(
        vectors.d, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    copies.train(rows)
    bound = 0.0
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        copies.add(block)
        away = block - copies.reconstruct_n(start, len(block))
        bound = max(bound, float(np.linalg.norm(away.astype(np.float64), axis=1).max()))
    return Quantized(copies, bound)


def _recall(quantized: Quantized, vectors: faiss.IndexFlat, cutoff: int) -> tuple[float, int]:
    """The share of the best ``cutoff`` rows that is found, and by how many queries.

    A query is a passage's vector and noise of twice its length: as far from all passages as short
    questions are. The same vectors give the same queries.
    """
    random = np.random.default_rng(0)
    rows = _view(vectors)
    chosen = random.choice(len(rows), min(SAMPLES, len(rows)), replace=False)
    found = 0
    for row in chosen:
        noise = random.standard_normal(vectors.d)
        query = rows[row] + 2 * noise / np.linalg.norm(noise)
        query = (query / np.linalg.norm(query)).astype(np.float32)
        _, wanted = search_all(vectors, query, cutoff)
        _, scores = quantized.search(vectors, query, cutoff, len(rows))
        # By score, not by row: which of several equal passages is found makes no difference.
        found += int((scores >= wanted[-1]).sum())
    return found / (cutoff * len(chosen)), len(chosen)


def _view(vectors: faiss.IndexFlat) -> Vectors:
    """The vectors of an index, (n, dimension), without copying them."""
    numbers: Vectors = faiss.rev_swig_ptr(vectors.get_xb(), vectors.ntotal * vectors.d)
    return numbers.reshape(vectors.ntotal, vectors.d)
