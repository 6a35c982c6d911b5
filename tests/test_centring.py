"""Vectors are compared after what all of them have in common was taken away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from corpus.language import query_language
from store.archive import Archive
from store.centring import (
    LANGUAGE_STRENGTH,
    STRENGTH,
    Centre,
    centre_of,
    read_centre,
    write_centre,
)
from store.embedded import open_backend
from store.encoder import open_encoder
from store.errors import Damaged
from store.vectors import VectorCache
from tests.conftest import Workplace

DIMENSION = 6
ROW = arrays.arrays(np.float32, DIMENSION, elements=st.floats(-1, 1, width=32)).filter(
    lambda row: np.linalg.norm(row) > 0.1
)


def unit(row: np.ndarray) -> np.ndarray:
    return row / np.linalg.norm(row)


@settings(deadline=None)
@given(st.lists(ROW, min_size=1, max_size=8), ROW, ROW)
def test_centred_vectors_are_the_difference_made_unit(
    rows: list[np.ndarray], english: np.ndarray, other: np.ndarray
) -> None:
    vectors = np.stack([unit(row) for row in rows])
    means = {"en": 0.9 * unit(english), "": 0.8 * unit(other)}
    centre = Centre(passages=means, queries=means)
    languages = ["en" if index % 2 else "xx" for index in range(len(rows))]
    centred = centre.passage_vectors(vectors, languages)
    for row, language, found in zip(vectors, languages, centred, strict=True):
        apart = means["en"] - means[""] if language == "en" else 0
        wanted = row - STRENGTH * means[""] - LANGUAGE_STRENGTH * apart
        if np.linalg.norm(wanted) < 1e-3:
            continue  # What all but equals the mean keeps no direction that could be compared.
        assert np.linalg.norm(found) == pytest.approx(1, abs=1e-5)
        assert found == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-5)
        assert centre.query_vector(row, language) == pytest.approx(found, abs=1e-6)


def test_the_centre_is_the_encoders_own_and_survives_the_disk(
    tiny_encoder: str, tmp_path: Path
) -> None:
    encoder = open_encoder(tiny_encoder)
    with VectorCache(Archive(tmp_path)) as cache:
        centre = centre_of(encoder, cache)
    assert {"en", "es", ""} == set(centre.passages) == set(centre.queries)
    assert all(mean.shape == (encoder.dimension,) for mean in centre.passages.values())
    write_centre(tmp_path, centre)
    again = read_centre(tmp_path)
    for before, after in ((centre.passages, again.passages), (centre.queries, again.queries)):
        assert all(np.array_equal(before[language], after[language]) for language in before)


def test_no_document_moves_the_score_of_another(workplace: Workplace) -> None:
    workplace.write("a.txt", "The seal of the glycol pump is replaced every year.")
    workplace.write("b.txt", "Der Motor wird jeden Tag gereinigt und neu gestartet.")
    workplace.ingest()
    vector = open_encoder(workplace.encoder).encode_query("glycol pump seal")
    before = open_backend(workplace.archive).for_reader(()).semantic(vector, 9, None, "en")
    workplace.write("c.txt", "The glycol pump and its seal, once more and quite alike.")
    workplace.ingest()
    after = open_backend(workplace.archive).for_reader(()).semantic(vector, 9, None, "en")
    scores = dict(zip(after.passage_ids, after.scores, strict=True))
    for passage, score in zip(before.passage_ids, before.scores, strict=True):
        assert scores[passage] == pytest.approx(score, abs=1e-6)


def test_a_damaged_centre_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "centre.json").write_text("{}")
    with pytest.raises(Damaged, match="python -m indexer ingest"):
        read_centre(tmp_path)


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("cómo se cambia el filtro de la bomba", "es"),
        ("how to change the filter of the pump", "en"),
        ("replace the relay of the glycol pump", "en"),
        ("AX-2041/B", ""),
        ("relay AX-2041", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_query_needs_words_that_tell(query: str, language: str) -> None:
    assert query_language(query) == language
