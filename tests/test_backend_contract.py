"""What every backend promises, whatever holds its indexes.

A backend that joins adds itself to ``BACKENDS``: a function from a workplace whose folder was
ingested to the opened view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.query_terms import Prefix, Terms
from corpus.terms import read_query
from store.backend import Backend, Candidate, EngineFailure, EngineHits, View
from store.catalogue import Catalogue
from store.centring import Centre
from store.embedded import open_backend
from store.embedded.semantic import FILE_NAME, open_semantic, write_semantic
from store.errors import UnknownDocument
from store.manifest import read_manifest, write_manifest
from tests.conftest import Workplace


def quantized(workplace: Workplace) -> Backend:
    """The embedded backend as it is built above a size."""
    workplace.build_with_copies()
    return open_backend(workplace.archive)


BACKENDS: dict[str, Callable[[Workplace], Backend]] = {
    "embedded": lambda workplace: open_backend(workplace.archive),
    "embedded, quantized": quantized,
}
DOCUMENTS = 12


@pytest.fixture(params=BACKENDS)
def workplace_and_view(
    request: pytest.FixtureRequest, workplace: Workplace
) -> tuple[Workplace, View]:
    for number in range(DOCUMENTS):
        paragraphs = [
            f"Paragraph {part}: the {'pump' if number % 2 else 'valve'} with code HX-{number:03d}"
            f" is inspected every {part + 1} hours by the shift that runs it." * 2
            for part in range(number % 4 + 1)
        ]
        workplace.write(f"d{number:02d}.txt", "\n\n".join(paragraphs))
    workplace.write("twin a.txt", "Identical words about a gasket.")
    workplace.write("twin b.txt", "Identical words about a gasket!")
    workplace.ingest()
    return workplace, BACKENDS[request.param](workplace).for_reader(())


def ask(view: View, system: str, limit: int, permitted: frozenset[str] | None) -> EngineHits:
    if system == "lexical":
        return view.lexical(read_query("pump valve inspected"), limit, permitted)
    vector = np.ones(view.manifest.dimension, dtype=np.float32)
    return view.semantic(vector / np.linalg.norm(vector), limit, permitted)


def test_hits_are_best_first_each_passage_once_and_never_more_than_asked(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    """den-04: asking for more than there is pads nothing."""
    _, view = workplace_and_view
    total = view.manifest.passages
    for system in ("lexical", "semantic"):
        for limit in (1, 3, total, total + 50):
            hits = ask(view, system, limit, None)
            assert len(hits.passage_ids) <= limit
            assert len(set(hits.passage_ids)) == len(hits.passage_ids)
            assert list(hits.scores) == sorted(hits.scores, reverse=True)
            assert set(hits.doc_ids) <= set(view.doc_ids)
        assert hits.exhausted
    assert len(ask(view, "semantic", total + 50, None).passage_ids) == total


def test_a_permitted_set_gives_what_filtering_the_whole_list_gives(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    _, view = workplace_and_view
    whole = {
        system: ask(view, system, view.manifest.passages + 1, None)
        for system in ("lexical", "semantic")
    }

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.frozensets(st.sampled_from(view.doc_ids)), st.integers(1, 30))
    def equal(permitted: frozenset[str], limit: int) -> None:
        for system, everything in whole.items():
            wanted = sorted(
                (-score, passage)
                for passage, document, score in zip(
                    everything.passage_ids, everything.doc_ids, everything.scores, strict=True
                )
                if document in permitted
            )
            hits = ask(view, system, limit, permitted)
            assert [-score for score, _ in wanted[:limit]] == list(hits.scores)
            if len(wanted) <= limit:
                found = zip(hits.scores, hits.passage_ids, strict=True)
                assert sorted((-score, passage) for score, passage in found) == wanted
            assert hits.exhausted == (len(wanted) < limit) or len(wanted) == limit

    equal()


def test_no_restriction_and_nothing_permitted_are_different(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    _, view = workplace_and_view
    for system in ("lexical", "semantic"):
        assert ask(view, system, 5, None).passage_ids
        nothing = ask(view, system, 5, frozenset())
        assert (nothing.passage_ids, nothing.exhausted) == ((), True)
        unknown = ask(view, system, 5, frozenset({"not a document"}))
        assert (unknown.passage_ids, unknown.exhausted) == ((), True)


def test_a_view_is_that_of_a_generation_without_what_its_reader_may_not_read(
    workplace_and_view: tuple[Workplace, View], request: pytest.FixtureRequest
) -> None:
    workplace, before = workplace_and_view
    opens = BACKENDS[request.node.callspec.params["workplace_and_view"]]
    for number, groups in enumerate((["board"], ["board", "staff"], ["staff"])):
        name = f"c{number}.txt"
        workplace.write(name, f"Pump valve {number}, code HX-001, inspected. Pmup, ventil.")
        workplace.write(f"{name}.meta.toml", f"groups = {groups}\n")
    workplace.ingest()
    backend = opens(workplace)
    view = backend.for_reader(())
    assert view.doc_ids == before.doc_ids
    assert view.manifest.documents == before.manifest.documents
    assert view.manifest.passages == before.manifest.passages < backend.manifest.passages
    limit = before.manifest.passages + 1
    few = frozenset(before.doc_ids[::3]) | {"c0.txt"}
    for permitted in (None, frozenset(backend.for_reader(("board",)).doc_ids), few):
        for system in ("lexical", "semantic"):
            for asked in (1, 5, limit):
                assert ask(view, system, asked, permitted) == ask(before, system, asked, permitted)
        assert view.words_beginning("v", 9, permitted) == before.words_beginning("v", 9, permitted)
        assert view.near_words("pmup", permitted) == before.near_words("pmup", permitted)
        assert view.near_codes("HX-OO1", permitted) == before.near_codes("HX-OO1", permitted)
    query = read_query("pump valve inspected")
    assert view.matching_documents(query.asked) == before.matching_documents(query.asked)
    for passage in before.lexical(query, limit, None).passage_ids:
        assert view.explain(query, passage) == before.explain(query, passage)
    with pytest.raises(UnknownDocument):
        view.explain(query, "c0.txt@1#00000")
    assert view.passages(["c0.txt@1#00000"]) == {}
    for groups, more in (("board", {"c0.txt", "c1.txt"}), ("staff", {"c1.txt", "c2.txt"})):
        member = backend.for_reader((groups,))
        assert set(member.doc_ids) == {*before.doc_ids, *more}
        assert set(ask(member, "lexical", 99, None).doc_ids) >= more


def test_passages_come_back_as_the_catalogue_has_them(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    workplace, view = workplace_and_view
    hits = ask(view, "semantic", 1000, None)
    passages = view.passages(hits.passage_ids)
    assert set(passages) == set(hits.passage_ids)
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.version(view.manifest.inputs.corpus_version)
        for name, doc_id in zip(hits.passage_ids, hits.doc_ids, strict=True):
            passage = passages[name]
            text = catalogue.text(version, doc_id)
            assert text[passage.start : passage.end] == passage.text
            assert passage.doc_id == doc_id


def test_documents_that_match_are_those_a_query_of_it_alone_would_find(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    _, view = workplace_and_view
    limit = view.manifest.passages + 1
    for text in ("pump", "valves inspected", '"pump valve"', "gasket"):
        query = read_query(text)
        found = view.lexical(query, limit, None)
        assert view.matching_documents(query.asked) == set(found.doc_ids)
    assert view.matching_documents(Terms()) == set()
    by_prefix = view.matching_documents(Terms(prefixes=(Prefix("inspec"),)))
    assert by_prefix == view.matching_documents(Terms(words=("inspected",)))
    titled = view.matching_documents(Terms(words=("pump",)), in_title=True)
    assert titled <= view.matching_documents(Terms(words=("pump",)))


def test_words_that_begin_alike_are_those_of_the_permitted_documents(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    _, view = workplace_and_view
    everything = view.words_beginning("pum", 50, None)
    assert "pump" in everything
    assert all(word.startswith("pum") for word in everything)
    assert view.words_beginning("pum", 1, None) == everything[:1]
    assert view.words_beginning("pum", 50, frozenset()) == ()
    assert view.words_beginning("zzz", 50, None) == ()
    for doc_id in view.doc_ids:
        here = view.words_beginning("pum", 50, frozenset({doc_id}))
        assert set(here) <= set(everything)
        for word in here:
            assert doc_id in view.matching_documents(Terms(words=(word,)))


def test_codes_that_begin_alike_are_codes_alone(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    _, view = workplace_and_view
    assert view.codes_beginning("hx00", 50, frozenset({"d03.txt", "d04.txt"})) == (
        *("hx003", "hx004"),
    )
    assert view.codes_beginning("pum", 50, None) == ()
    assert view.codes_beginning("hx", 50, frozenset()) == ()


def test_what_is_near_to_a_word_or_code_is_from_permitted_documents(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    _, view = workplace_and_view
    odd = frozenset(doc_id for doc_id in view.doc_ids if "pump" in held_words(view, doc_id))
    assert view.near_words("pmup", None) == (Candidate("pump", len(odd)),)
    assert view.near_words("inspektec", odd) == (Candidate("inspected", len(odd)),)
    assert view.near_words("pmup", frozenset(view.doc_ids) - odd) == ()
    for held in ("pump", "pumps", "inspecting", "g", "pm"):
        assert view.near_words(held, None) == ()
    assert view.near_words("valve", odd) == ()
    (only,) = view.near_codes("HX-O01", None)
    assert only == Candidate("hx001", 1)
    for doc_id in view.doc_ids:
        here = view.near_codes("HX-O01", frozenset({doc_id}))
        assert here == ((only,) if doc_id == "d01.txt" else ())
    for held in ("HX-001", "hx001", "HX-010X"):
        assert view.near_codes(held, None) == ()
    for nothing in (frozenset[str](), frozenset({"not a document"})):
        assert view.near_words("pmup", nothing) == ()
        assert view.near_codes("HX-O01", nothing) == ()


def held_words(view: View, doc_id: str) -> tuple[str, ...]:
    return view.words_beginning("pum", 50, frozenset({doc_id}))


def test_an_explanation_adds_up_to_the_score_that_was_given(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    _, view = workplace_and_view
    query = read_query("pump valve inspected")
    hits = view.lexical(query, 5, None)
    for passage, score in zip(hits.passage_ids, hits.scores, strict=True):
        account = view.explain(query, passage)
        assert account["value"] == pytest.approx(score, rel=1e-5)
        assert account["details"]
    none = view.explain(read_query("gasket"), hits.passage_ids[0])
    assert none["value"] == 0.0
    with pytest.raises(UnknownDocument):
        view.explain(query, "nowhere@1#00000")


def test_a_vector_of_another_width_is_that_engines_failure(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    """den-05"""
    _, view = workplace_and_view
    with pytest.raises(EngineFailure, match="semantic engine failed"):
        view.semantic(np.ones(7, dtype=np.float32), 5, None)


def test_rebuilding_gives_the_same_rankings(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    workplace, view = workplace_and_view
    before = [ask(view, system, 1000, None) for system in ("lexical", "semantic")]
    for folder in workplace.archive.generations.iterdir():
        (folder / "manifest.json").unlink()
    workplace.ingest()
    again = open_backend(workplace.archive).for_reader(())
    assert again.manifest.fingerprint == view.manifest.fingerprint
    assert [ask(again, system, 1000, None) for system in ("lexical", "semantic")] == before


def test_an_update_leaves_exactly_one_vector_set_of_a_document(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    """den-07: a generation is built anew, so nothing has to be removed from an index."""
    workplace, before = workplace_and_view
    for text in (
        "Shorter.",
        "\n\n".join(f"Paragraph {n}: {'longer again ' * 30}" for n in range(6)),
    ):
        workplace.write("d03.txt", text)
        workplace.ingest()
        view = open_backend(workplace.archive).for_reader(())
        hits = ask(view, "semantic", 1000, None)
        with Catalogue(workplace.archive) as catalogue:
            version = catalogue.version(view.manifest.inputs.corpus_version)
            live = {
                passage.passage_id
                for document in catalogue.documents(version.number)
                for passage in catalogue.passages(version, document.doc_id)
            }
        assert sorted(hits.passage_ids) == sorted(live)
        assert view.manifest.passages == len(live)
        revisions = {name.partition("#")[0] for name in live if name.startswith("d03.txt@")}
        assert len(revisions) == 1
        assert view.manifest.fingerprint != before.manifest.fingerprint
        before = view


def test_every_stored_vector_is_of_unit_length(
    workplace_and_view: tuple[Workplace, View],
) -> None:
    """den-11: a score is a cosine, so a query equal to a stored row scores 1 and none more."""
    workplace, view = workplace_and_view
    folder = workplace.archive.generations / view.manifest.name
    index = faiss.read_index(str(folder / "semantic" / FILE_NAME))
    rows = index.reconstruct_n(0, index.ntotal)
    assert index.ntotal == view.manifest.passages
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert all(abs(score) <= 1 + 1e-5 for score in ask(view, "semantic", 1000, None).scores)


def test_length_decides_no_rank(tmp_path: Path) -> None:
    """den-11: p = (10, 0) and r = (0.6, 0.8); for q = (0.8, 0.6) cosines say r, lengths say p."""
    none = np.zeros(2, dtype=np.float32)
    centre = Centre({"": none}, {"": none})
    texts = np.array([[10, 0], [0.6, 0.8]], dtype=np.float32)
    vectors = centre.passage_vectors(texts, ["", ""])
    write_semantic(tmp_path / "semantic", [vectors], 2, 2, centre)
    query = np.array([0.8, 0.6], dtype=np.float32)
    rows, scores, exhausted = open_semantic(tmp_path / "semantic").search(query, "", 5, None)
    assert (rows.tolist(), exhausted) == ([1, 0], True)
    assert scores == pytest.approx([24 / 25, 4 / 5])


def test_engines_refuse_an_encoder_that_did_not_build_the_index(workplace: Workplace) -> None:
    """den-05: one sentence, and words still answer."""
    workplace.write("a.txt", "alpha pump")
    workplace.ingest()
    folder = next(workplace.archive.generations.iterdir())
    manifest = read_manifest(folder)
    fingerprint = manifest.inputs.encoder
    other = replace(manifest.inputs, encoder="0123456789abcdef")
    write_manifest(folder, replace(manifest, inputs=other))
    result = workplace.search("pump")
    lexical, semantic = result.record.rankings
    assert [hit.id for hit in lexical.hits] == ["a.txt"]
    assert "0123456789abcdef" in semantic.unavailable
    assert fingerprint in semantic.unavailable
    assert "python -m indexer ingest" in semantic.unavailable
