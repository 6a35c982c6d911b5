"""Finding the texts of a version that are nearly the same.

Signatures and resemblances are kept by content as soon as they are made, so a run computes only
what is new, and one that was stopped is gone on with by the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from corpus.resemblance import (
    BANDS,
    NEIGHBOURS,
    ROWS,
    candidates,
    shared_runs,
    signature,
    word_runs,
)
from indexer.progress import progress_bar
from store import similar
from store.catalogue import Catalogue, Version
from store.similar import Pair
from store.texts import text_of
from store.versions import states_at

SIGNED_AT_ONCE = 256
"""Signatures between two writes to the catalogue: the most that a kill can cost."""


def compare_texts(catalogue: Catalogue, version: Version) -> None:
    """Sign and compare whatever texts of ``version`` never were."""
    _sign(catalogue, version, similar.unsigned_texts(catalogue, version))
    signatures = similar.signatures_of(catalogue, version)
    digests = list(signatures)
    table = np.frombuffer(b"".join(signatures.values()), "<u4").reshape(-1, BANDS * ROWS)
    done = similar.compared_texts(catalogue, version)
    readers = {state.sha256: state.groups for state in states_at(catalogue, version).values()}
    numbers = {groups: number for number, groups in enumerate(sorted(set(readers.values())))}
    audiences = np.array([numbers[readers[digest]] for digest in digests], dtype=np.int64)
    pairs = [(digests[one], digests[other]) for one, other in candidates(table, audiences)]
    _compare(catalogue, version, [pair for pair in pairs if pair not in done])


def _sign(catalogue: Catalogue, version: Version, digests: Sequence[str]) -> None:
    left = iter(digests)
    done = 0
    with progress_bar("Signing", len(digests), "texts") as show:
        while batch := list(islice(left, SIGNED_AT_ONCE)):
            signed = {}
            for digest in batch:
                runs = word_runs(text_of(catalogue, digest, version.shape.extractor))
                signed[digest] = signature(runs).astype("<u4").tobytes() if len(runs) else b""
                done += 1
                show(done)
            similar.add_signatures(catalogue, version, signed)


def _compare(catalogue: Catalogue, version: Version, pairs: Sequence[tuple[str, str]]) -> None:
    """Compare pairs of texts exactly; those of one text follow each other."""

    # A band holds this many neighbours of a text, so a whole family stays at hand.
    @lru_cache(maxsize=NEIGHBOURS + 1)
    def runs_of(digest: str) -> NDArray[np.uint64]:
        return word_runs(text_of(catalogue, digest, version.shape.extractor))

    left = iter(pairs)
    done = 0
    with progress_bar("Comparing", len(pairs), "pairs") as show:
        while batch := list(islice(left, SIGNED_AT_ONCE)):
            compared = [
                Pair(one, other, *shared_runs(runs_of(one), runs_of(other))) for one, other in batch
            ]
            similar.add_resemblances(catalogue, version, compared)
            done += len(batch)
            show(done)
