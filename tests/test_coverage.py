"""A passage is a match by words where it holds enough of the query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.query.fuse import Absence, Reason
from app.query.protocol import LEXICAL, SEMANTIC, System, make_protocol
from app.query.search import Engines, search
from corpus.terms import read_query
from store.catalogue import Catalogue
from store.embedded.analysis import fields_of
from store.embedded.segments import open_lexical, write_lexical
from store.errors import BadInput
from tests.conftest import Workplace

# No two of them share a stem in any language of the index, so an oracle can count whole words.
VOCABULARY = ("pump", "relay", "torque", "gasket", "filter", "glycol", "bearing", "sensor")
TEXTS = st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6), min_size=2)


def least_weight(texts: Sequence[Sequence[str]], query: Sequence[str], share: float) -> float:
    weights = [rarity(texts, word) for word in query]
    return min(share * sum(weights), math.log1p((len(texts) - 0.5) / 1.5))


def rarity(texts: Sequence[Sequence[str]], word: str) -> float:
    found = sum(word in text for text in texts)
    return math.log1p((len(texts) - found + 0.5) / (found + 0.5))


@settings(max_examples=60, deadline=None)
@given(
    TEXTS,
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5, unique=True),
    st.sampled_from([0.0, 0.2, 0.35, 0.5, 1.0]),
    st.integers(1, 12),
)
def test_what_covers_enough_is_all_that_is_found_in_the_order_of_bm25(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[list[str]],
    query: list[str],
    share: float,
    limit: int,
) -> None:
    place = tmp_path_factory.mktemp("index") / "lexical"
    rows = ((row, row, fields_of(" ".join(text), "", (), "en")) for row, text in enumerate(texts))
    write_lexical(place, [rows])
    index = open_lexical(place)
    terms = read_query(" ".join(query))
    documents = np.arange(len(texts))
    everything, scores, _ = index.search(terms, len(texts) + 1, None, documents, 0.0)
    least = least_weight(texts, query, share)
    held = [sum(rarity(texts, w) for w in query if w in texts[row]) for row in everything]
    close = [abs(weight - least) < 1e-3 for weight in held]
    wanted = [
        (row, score)
        for row, score, weight in zip(everything, scores, held, strict=True)
        if weight >= least - 1e-4
    ]
    if any(near and weight < least for near, weight in zip(close, held, strict=True)):
        return  # Nearer to the threshold than single precision can tell.
    found, found_scores, exhausted = index.search(terms, limit, None, documents, share)
    assert list(found_scores) == pytest.approx([score for _, score in wanted[:limit]], rel=1e-5)
    assert set(found) <= {row for row, _ in wanted}
    assert exhausted == (len(wanted) < limit) or len(wanted) == limit


@pytest.fixture
def bilingual(workplace: Workplace) -> Workplace:
    workplace.write("drain.txt", "Drain the node before maintenance of the cluster.")
    workplace.write("servicio.txt", "Vaciar el depósito de la bomba antes de la limpieza general.")
    workplace.write("code.txt", "The terminal block X-77/B sits behind the cover plate.")
    for number in range(8):
        workplace.write(f"filler {number}.txt", f"Shift note {number}: the plate was cleaned.")
    workplace.ingest()
    return workplace


def test_one_shared_word_of_a_long_question_is_no_match(bilingual: Workplace) -> None:
    question = "cleaned heater nozzle thermistor wiring diagram overview"
    assert bilingual.search(question, coverage=0).record.rankings[0].hits
    result = bilingual.search(question)
    lexical = next(r for r in result.record.rankings if r.system == LEXICAL)
    assert lexical.hits == ()
    absences = [part for hit in result.record.fused for part in hit.parts if part.system == LEXICAL]
    assert all(isinstance(p, Absence) and p.reason is Reason.NOT_MATCHED for p in absences)


def test_a_rare_code_is_a_match_whatever_else_was_typed(bilingual: Workplace) -> None:
    question = "dónde está la regleta de bornes X-77/B según el esquema eléctrico"
    assert bilingual.search(question).record.rankings[0].hits[0].id == "code.txt"


def test_a_query_of_codes_alone_is_answered_by_words_alone(bilingual: Workplace) -> None:
    with Catalogue(bilingual.archive) as catalogue:
        engines = Engines(bilingual.archive)
        result = search(engines, catalogue, "x77b", make_protocol())
        semantic = next(r for r in result.record.rankings if r.system == SEMANTIC)
        assert (semantic.hits, semantic.unavailable) == ((), "")
        assert any("was not asked" in rule for rule in result.rules)
        assert not result.partial
        parts = [part for part in result.record.fused[0].parts if part.system == SEMANTIC]
        assert [part.reason for part in parts if isinstance(part, Absence)] == [Reason.NOT_ASKED]
        always = search(engines, catalogue, "x77b", make_protocol(asked="always"))
        assert next(r for r in always.record.rankings if r.system == SEMANTIC).hits
        unknown = search(engines, catalogue, "ZZ-4711", make_protocol())
        assert next(r for r in unknown.record.rankings if r.system == SEMANTIC).hits


def test_the_protocol_names_both_rules_and_refuses_what_they_cannot_be() -> None:
    usual, other = make_protocol(), make_protocol(coverage="1/2")
    assert usual.hash != other.hash != make_protocol(asked="always").hash
    assert usual.as_data()["systems"][0]["coverage"] == "7/20"
    for wrong in ("2", "-1", "half"):
        with pytest.raises(BadInput):
            make_protocol(coverage=wrong)
    with pytest.raises(BadInput):
        System(SEMANTIC, coverage=Fraction(1, 2))
    with pytest.raises(BadInput):
        make_protocol(asked="sometimes")
