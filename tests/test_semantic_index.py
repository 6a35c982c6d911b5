"""The semantic index gives the truly best passages, whether it compares all or copies first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.query.present import result_data
from app.query.record import canonical
from indexer.checking import verify
from indexer.status import read_status, status_lines
from store.centring import Centre
from store.embedded.quantized import FILE_NAME as COPIES
from store.embedded.quantized import Quantized, search_all
from store.embedded.semantic import SCANNED_SHARE, SemanticIndex, open_semantic, write_semantic
from store.errors import Damaged
from store.generations import current_generation
from store.manifest import MANIFEST_NAME, SemanticForm, read_manifest
from tests.conftest import Workplace

DIMENSION = 16
PASSAGES = 600
NO_CENTRE = Centre({"": np.zeros(DIMENSION, np.float32)}, {"": np.zeros(DIMENSION, np.float32)})
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

Vectors = NDArray[np.float32]


def unit_rows(seed: int, rows: int) -> Vectors:
    """Clustered unit vectors, some of them several times over."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((rows // 20 + 1, DIMENSION))
    vectors = centres[random.integers(0, len(centres), rows)]
    vectors = vectors + 0.3 * random.standard_normal(vectors.shape)
    vectors[random.integers(0, rows, rows // 10)] = vectors[0]
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def in_blocks(vectors: Vectors, size: int) -> Iterator[Vectors]:
    return (vectors[start : start + size] for start in range(0, len(vectors), size))


def write(folder: Path, vectors: Vectors, exact_up_to: int, least: float = 0.99) -> SemanticForm:
    return write_semantic(
        folder,
        in_blocks(vectors, 97),
        len(vectors),
        DIMENSION,
        NO_CENTRE,
        exact_up_to=exact_up_to,
        least_recall=least,
    )


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return unit_rows(1, PASSAGES)


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory, vectors: Vectors) -> dict[str, SemanticIndex]:
    """The same vectors in both forms."""
    folder = tmp_path_factory.mktemp("forms")
    opened = {}
    for exact_up_to in (PASSAGES, PASSAGES - 1):
        form = write(folder / str(exact_up_to), vectors, exact_up_to)
        opened[form.search] = open_semantic(folder / str(exact_up_to), form)
    return opened


@pytest.fixture(scope="module", params=["exact", "quantized"])
def index(request: pytest.FixtureRequest, forms: dict[str, SemanticIndex]) -> SemanticIndex:
    return forms[request.param]


def permitted_rows(share: float, seed: int) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random(PASSAGES) < share


SHARES = st.one_of(st.sampled_from([0.0, SCANNED_SHARE, 1.0]), st.floats(0, 1))
SEEDS = st.integers(0, 10_000)
LIMITS = st.integers(1, PASSAGES + 20)


def test_both_forms_find_what_comparing_everything_finds(
    index: SemanticIndex, vectors: Vectors
) -> None:
    """An oracle in double precision; a permitted set gives what filtering first gives."""

    @QUIET
    @given(SEEDS, LIMITS, st.none() | SHARES)
    def best(seed: int, limit: int, share: float | None) -> None:
        query = unit_rows(seed + 7, 1)[0]
        permitted = None if share is None else permitted_rows(share, seed)
        there = np.arange(PASSAGES) if permitted is None else np.flatnonzero(permitted)
        truth = np.sort(vectors[there].astype(np.float64) @ query)[::-1][:limit]
        rows, scores, exhausted = index.search(query, "", limit, permitted)
        assert scores == pytest.approx(truth, abs=1e-6)
        assert set(rows) <= set(there)
        assert len(set(rows)) == len(rows) == min(limit, len(there))
        assert exhausted == (len(there) < limit)
        assert scores == pytest.approx(vectors[rows] @ query, abs=1e-6)

    best()


def test_the_top_of_a_list_does_not_depend_on_how_deep_it_was_asked(index: SemanticIndex) -> None:
    """den-09: down to where equal scores are cut, and equal scores stand by row."""

    @QUIET
    @given(SEEDS, LIMITS, LIMITS, st.none() | SHARES)
    def prefix(seed: int, one: int, other: int, share: float | None) -> None:
        query = unit_rows(seed + 7, 1)[0]
        permitted = None if share is None else permitted_rows(share, seed)
        short, long = sorted((one, other))
        rows, scores, _ = index.search(query, "", short, permitted)
        deeper_rows, deeper_scores, _ = index.search(query, "", long, permitted)
        assert np.array_equal(scores, deeper_scores[: len(scores)])
        decided = scores > scores[-1] if len(scores) else scores > 0
        assert np.array_equal(rows[decided], deeper_rows[: len(rows)][decided])
        order = np.lexsort((deeper_rows, -deeper_scores))
        assert np.array_equal(order, np.arange(len(order)))

    prefix()


def test_both_forms_give_equal_lists_to_the_last_bit(forms: dict[str, SemanticIndex]) -> None:
    @QUIET
    @given(SEEDS, LIMITS, st.none() | SHARES)
    def equal(seed: int, limit: int, share: float | None) -> None:
        query = unit_rows(seed + 7, 1)[0]
        permitted = None if share is None else permitted_rows(share, seed)
        exact_rows, exact, _ = forms["exact"].search(query, "", limit, permitted)
        rows, scores, _ = forms["quantized"].search(query, "", limit, permitted)
        assert np.array_equal(scores, exact)
        decided = exact > exact[-1] if len(exact) else exact > 0
        assert np.array_equal(rows[decided], exact_rows[decided])

    equal()


def test_copies_whose_bound_were_a_lie_would_be_caught(vectors: Vectors) -> None:
    """The list owes its exactness to the bound: coarse copies without one lose passages."""
    everything = faiss.IndexFlatIP(DIMENSION)
    everything.add(vectors)
    copies = faiss.IndexScalarQuantizer(
        DIMENSION, faiss.ScalarQuantizer.QT_4bit, faiss.METRIC_INNER_PRODUCT
    )
    # Trained on three vectors, most others are clipped.
    copies.train(vectors[:3])
    copies.add(vectors)
    bound = float(np.linalg.norm(vectors - copies.reconstruct_n(0, PASSAGES), axis=1).max())

    def lost(error_bound: float) -> int:
        count = 0
        for seed in range(100):
            query = unit_rows(seed, 1)[0]
            _, wanted = search_all(everything, query, 3)
            found, scores = Quantized(copies, error_bound).search(everything, query, 3, PASSAGES)
            assert len(found) == 3
            count += int((scores < wanted).sum())
        return count

    assert lost(bound) == 0
    assert lost(-1.0) > 0


def test_the_form_says_what_was_measured(tmp_path: Path, vectors: Vectors) -> None:
    assert write(tmp_path / "small", vectors, PASSAGES) == SemanticForm()
    form = write(tmp_path / "large", vectors, 0)
    assert (form.search, form.recall, form.cutoff, form.samples) == ("quantized", 1.0, 100, 100)
    assert 0 < form.error_bound < 0.1
    assert form.in_words == "8-bit copies, then exact; recall@100 1.0000 on 100 samples"
    copies = faiss.read_index(str(tmp_path / "large" / COPIES))
    away = vectors - copies.reconstruct_n(0, PASSAGES)
    assert form.error_bound == pytest.approx(float(np.linalg.norm(away, axis=1).max()))
    assert write(tmp_path / "again", vectors, 0) == form


def test_recall_is_not_rounded_up() -> None:
    form = SemanticForm("quantized", recall=0.99999, cutoff=100, samples=50)
    assert "0.9999" in form.in_words


def test_copies_that_recall_too_little_are_thrown_away_and_said(
    tmp_path: Path, vectors: Vectors
) -> None:
    form = write(tmp_path / "index", vectors, 0, least=1.5)
    assert form.search == "exact"
    assert "found 1.0000 of the best 100 on 100 samples, less than 1.5" in form.in_words
    assert not (tmp_path / "index" / COPIES).exists()
    assert open_semantic(tmp_path / "index", form).passages == PASSAGES


@pytest.mark.parametrize("count", [0, 1, 2])
def test_next_to_nothing_can_be_indexed_either_way(tmp_path: Path, count: int) -> None:
    few = unit_rows(3, 5)[:count]
    for exact_up_to in (0, 5):
        folder = tmp_path / str(exact_up_to)
        opened = open_semantic(folder, write(folder, few, exact_up_to))
        rows, _, exhausted = opened.search(unit_rows(4, 1)[0], "", 5, None)
        assert (sorted(rows), exhausted) == (list(range(count)), True)


@pytest.mark.parametrize("announced", [9, 11])
def test_a_wrong_number_of_vectors_is_refused(tmp_path: Path, announced: int) -> None:
    blocks = in_blocks(unit_rows(5, 10), 4)
    with pytest.raises(ValueError, match=f"the {announced} "):
        write_semantic(tmp_path / "index", blocks, announced, DIMENSION, NO_CENTRE)


@pytest.mark.parametrize("harm", ["empty", "cut", "another kind"])
def test_copies_that_cannot_be_read_are_damage(tmp_path: Path, vectors: Vectors, harm: str) -> None:
    form = write(tmp_path / "index", vectors, 0)
    path = tmp_path / "index" / COPIES
    whole = path.read_bytes()
    flat = (tmp_path / "index" / "vectors.faiss").read_bytes()
    path.write_bytes({"empty": b"", "cut": whole[:100], "another kind": flat}[harm])
    with pytest.raises(Damaged, match="python -m indexer ingest"):
        open_semantic(tmp_path / "index", form)


def test_status_record_and_json_say_how_the_semantic_list_was_found(workplace: Workplace) -> None:
    """A generation without copies, then the same with them, then one of before there were any."""
    for number in range(6):
        workplace.write(f"{number}.txt", f"The flange number {number} is greased every year.")
    workplace.ingest()
    exact = workplace.search("flange")
    assert exact.record.as_data()["fingerprints"]["semantic_index"]["search"] == "exact"
    assert "semantic    exact" in status_lines(read_status(workplace.archive))

    form = workplace.build_with_copies().semantic
    result = workplace.search("flange")
    assert result.record.rankings == exact.record.rankings
    assert result.record.as_data()["fingerprints"]["semantic_index"] == asdict(form)
    assert result_data(result, ())["semantic_index"] == asdict(form)
    assert form.search == "quantized"
    assert f"semantic    {form.in_words}" in status_lines(read_status(workplace.archive))

    folder = workplace.archive.generations / current_generation(workplace.archive)
    manifest = folder / MANIFEST_NAME
    body = json.loads(manifest.read_text(encoding="utf-8"))
    del body["semantic"]
    # A manifest vouches for itself, so the older one is written as it would have been.
    del body["sha256"]
    body["sha256"] = hashlib.sha256(canonical(body).encode()).hexdigest()
    manifest.write_text(json.dumps(body), encoding="utf-8")
    assert read_manifest(folder).semantic == SemanticForm()
    assert workplace.search("flange").record.rankings == exact.record.rankings


def test_harm_to_any_semantic_file_is_named_words_answer_and_ingest_mends_it(
    workplace: Workplace,
) -> None:
    """sto-02"""
    workplace.write("a.txt", "The flange is greased every year.")
    workplace.ingest()
    for name in (COPIES, "vectors.faiss", "centre.json"):
        folder = workplace.archive.generations / workplace.build_with_copies().name / "semantic"
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[:-3] + bytes([data[-3] ^ 0xFF]) + data[-2:])
        result = workplace.search("flange")
        lexical, semantic = result.record.rankings
        assert [hit.id for hit in lexical.hits] == ["a.txt"]
        assert name in semantic.unavailable
        assert name in next(verify(workplace.archive))
    workplace.ingest()
    assert not workplace.search("flange").partial
