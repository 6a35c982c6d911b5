"""Searching a real archive: codes, accents, odd input, records, and the command."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import main
from app.query.explain import part_in_words
from app.query.fuse import Absence, Contribution, Reason
from app.query.highlight import marks_in, snippet
from app.query.present import result_data, rows
from app.query.search import Engines
from corpus.terms import MAX_QUERY_CHARACTERS, fold_words, read_query
from store.catalogue import Catalogue
from store.records import read_record
from tests.conftest import Workplace, filled_workplace

ROOT = Path(__file__).resolve().parents[1]

TEXTS = {
    "d1.txt": "Relé AX-2041/B bobina 24 V",
    "d2.txt": "Relé AX-2042",
    "d3.txt": "eje 2041 casquillo lado B ax",
    "d4.txt": "QRX.0718-60",
    "d5.txt": "error 0x80070005 access denied",
    "d6.txt": "motor -40 °C rated",
    "d7.txt": "válvulas de presión, fabricación",
}


@pytest.fixture(scope="module")
def plant(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    """A small archive that no test of this file changes."""
    return filled_workplace(tmp_path_factory.mktemp("plant"), tiny_encoder, TEXTS)


def test_queries_of_every_shape_find_their_document_first(plant: Workplace) -> None:
    """lex-01, lex-03, lex-05, lex-07: one archive for all, as building it costs more."""
    first = {
        "AX-2041/B": "d1.txt",
        "ax-2041": "d1.txt",
        "AX2041": "d1.txt",
        "AX 2041": "d1.txt",
        "ax2041b": "d1.txt",
        "QRX.0718-60": "d4.txt",
        "error: 0x80070005": "d5.txt",
        "-40": "d6.txt",
        "-40 °C": "d6.txt",
        "motor -40": "d6.txt",
        "\u221240": "d6.txt",
        "válvula": "d7.txt",
        "valvula": "d7.txt",
        "VÁLVULAS": "d7.txt",
        "presion": "d7.txt",
        "fabricacion": "d7.txt",
        "fabricación": "d7.txt",
    }
    found = {query: plant.ids(query, "lexical")[:1] for query in first}
    assert found == {query: [name] for query, name in first.items()}
    assert set(plant.ids("2041", "lexical")) == {"d1.txt", "d3.txt"}
    assert "d2.txt" not in plant.ids("AX-2041/B", "lexical")[:1]


@pytest.mark.parametrize(
    "query", ["", "   ", "++", "¿?", "de la el", "📄", "\x00", "\t\n", "- -- ---", '"', "the of"]
)
def test_a_query_without_a_term_asks_no_engine_and_says_so(plant: Workplace, query: str) -> None:
    """lex-17"""
    result = plant.search(query)
    assert result.record.fused == ()
    assert all(not ranking.hits for ranking in result.record.rankings)
    assert result.notes == ("There is no word or code in this query to look for.",)
    assert not result.partial


@pytest.mark.parametrize(
    "query",
    ["a" * 100_000, " ".join(f"word{n}" for n in range(500)), "C:\\temp\\x", "https://a.b/c"],
)
def test_long_and_odd_queries_are_answered_with_a_note_where_they_are_cut(
    plant: Workplace, query: str
) -> None:
    """lex-01, lex-17"""
    result = plant.search(query)
    assert not result.partial
    cut = len(query) > MAX_QUERY_CHARACTERS
    assert any("characters were read" in note for note in result.notes) == cut


def test_composed_and_decomposed_text_is_one_text(workplace: Workplace, shared: Path) -> None:
    """lex-10"""
    for name in ("txt_nfc.txt", "txt_nfd.txt"):
        (workplace.files / name).write_bytes((shared / "cases/files" / name).read_bytes())
    workplace.ingest()
    for query in ("válvula", "va\u0301lvula"):
        hits = workplace.search(query).record.rankings[0].hits
        assert [hit.id for hit in hits] == ["txt_nfc.txt", "txt_nfd.txt"]
        assert hits[0].score == hits[1].score


def test_codes_in_look_alike_characters_are_found_and_cyrillic_is_not_equated(
    workplace: Workplace, shared: Path
) -> None:
    """lex-12"""
    lines = (shared / "cases/files/txt_lookalikes.txt").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(filter(str.strip, lines)):
        workplace.write(f"line{number}.txt", line)
    workplace.ingest()
    found = set(workplace.ids("AX-2041", "lexical"))
    for number, line in enumerate(filter(str.strip, lines)):
        cyrillic = any("\u0400" <= character <= "\u04ff" for character in line)
        if not cyrillic:
            assert f"line{number}.txt" in found, line
    assert len(found) >= 8


def test_long_serials_are_found(workplace: Workplace) -> None:
    """lex-06"""
    workplace.write("serials.txt", f"{'9' * 39}\n{'8' * 40}\n{'7' * 41}\n{'a1' * 60}")
    workplace.ingest()
    for serial in ("9" * 39, "8" * 40, "7" * 41, "a1" * 60):
        assert workplace.ids(serial, "lexical") == ["serials.txt"]


def test_what_is_at_the_end_of_a_long_text_is_found_by_meaning(
    workplace: Workplace, shared: Path
) -> None:
    """den-01: no passage is longer than the encoder reads."""
    name = "txt_long_tail.txt"
    (workplace.files / name).write_bytes((shared / "cases/files" / name).read_bytes())
    report = workplace.ingest()
    assert report.truncated == 0
    assert report.passages > 20
    result = workplace.search("qué fusible es el correcto", unit="passage")
    lexical = result.record.rankings[0].hits[0].passage_id
    semantic = {hit.passage_id for hit in result.record.rankings[1].hits[:100]}
    last = f"{name}@1#{report.passages - 1:05d}"
    assert lexical == last
    assert last in semantic


def test_highlights_are_at_the_right_characters() -> None:
    """lex-15"""
    text = "válvula de presión relay"
    assert marks_in(text, read_query("relay")) == ((19, 24),)
    assert text[19:24] == "relay"
    code = "Rele\u0301 AX-2041/B listo"
    assert [code[start:end] for start, end in marks_in(code, read_query("ax2041b"))] == [
        "AX-2041/B"
    ]


@given(st.text(max_size=400), st.text(min_size=1, max_size=30), st.integers(20, 120))
def test_marks_lie_inside_the_text_in_order_and_snippets_are_pieces_of_it(
    text: str, query: str, length: int
) -> None:
    terms = read_query(query)
    end = 0
    for start, stop in marks_in(text, terms):
        assert end <= start < stop <= len(text)
        end = stop
    piece = snippet(text, terms, length)
    assert text[piece.start : piece.start + len(piece.text)] == piece.text
    assert len(piece.text) <= length
    for start, stop in piece.marks:
        assert 0 <= start < stop <= len(piece.text)


@given(st.text(max_size=3000))
def test_reading_a_query_never_fails_and_is_bounded(text: str) -> None:
    terms = read_query(text)
    assert len(terms.words) + len(terms.codes) <= 64
    assert len(set(terms.words)) == len(terms.words)
    assert all(word == fold_words(word) for word in terms.words)


def test_a_record_is_kept_under_the_name_of_its_content(plant: Workplace) -> None:
    with Catalogue(plant.archive) as catalogue:
        count = catalogue.database.table
        before = (count("records").count, count("searches").count)
    first, again = plant.search("gran relé AX"), plant.search("gran relé AX")
    other = plant.search("gran relé AX", k=61)
    assert first.record.record_id == again.record.record_id != other.record.record_id
    with Catalogue(plant.archive) as catalogue:
        body = json.loads(read_record(catalogue, first.record.record_id))
        kept = catalogue.database.execute("SELECT count(*) FROM records").fetchone()
        asked = catalogue.database.execute("SELECT count(*) FROM searches").fetchone()
    assert kept[0] == before[0] + 2
    assert asked[0] == before[1] + 3
    assert body["protocol"]["hash"] == first.record.protocol.hash
    assert Fraction(body["fused"][0]["score"]) == first.record.fused[0].score
    assert body["corpus_version"] == 1


def test_every_row_has_one_part_per_system_and_absence_is_named(plant: Workplace) -> None:
    """exp-01"""
    result = plant.search("relé AX-2041", depths={"lexical": 1, "semantic": 1})
    for hit in result.record.fused:
        values = [part.value for part in hit.parts if isinstance(part, Contribution)]
        assert len(hit.parts) == 2
        assert sum(values, Fraction(0)) == hit.score
    words = {
        part_in_words(part)
        for hit in plant.search("casquillo", depths={"semantic": 3}).record.fused
        for part in hit.parts
        if isinstance(part, Absence)
    }
    assert words <= {"not matched", "not in the top 3"}
    assert "not matched" in words


def test_below_the_depth_and_not_matched_are_told_apart(plant: Workplace) -> None:
    result = plant.search("relé", depths={"lexical": 1})
    reasons = {
        hit.id: part.reason
        for hit in result.record.fused
        for part in hit.parts
        if isinstance(part, Absence)
    }
    assert set(reasons) == set(TEXTS) - {result.record.rankings[0].hits[0].id}
    assert {name for name, reason in reasons.items() if reason is Reason.BELOW_DEPTH} == (
        {"d1.txt", "d2.txt"} & set(reasons)
    )
    assert {reasons[name] for name in ("d3.txt", "d4.txt", "d6.txt")} == {Reason.NOT_MATCHED}


def test_shown_numbers_add_up_exactly_where_rounded_ones_would_not(plant: Workplace) -> None:
    """exp-02: 0.0164 + 0.0152 is not 0.0315, so fractions are exported."""
    engines = Engines(plant.archive)
    result = plant.search("relé AX-2041")
    with Catalogue(plant.archive) as catalogue:
        data = result_data(result, rows(engines, catalogue, result, 0, 10))
    for row in data["fused"]:
        parts = [Fraction(part["value"]) for part in row["parts"] if "value" in part]
        assert sum(parts, Fraction(0)) == Fraction(row["score"])
        assert float(row["score_decimal"]) == pytest.approx(float(Fraction(row["score"])))


def test_rows_show_the_version_their_ranks_came_from(workplace: Workplace) -> None:
    """exp-05: another version is published between the search and the drawing."""
    for name in ("d1.txt", "d2.txt"):
        workplace.write(name, TEXTS[name])
    workplace.ingest()
    engines = Engines(workplace.archive)
    result = workplace.search("relé AX-2041")
    workplace.write("d1.txt", "Something else entirely")
    (workplace.files / "d2.txt").unlink()
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        shown = {
            row.document.doc_id: row.passage.text for row in rows(engines, catalogue, result, 0, 10)
        }
    assert shown["d1.txt"] == TEXTS["d1.txt"]
    assert shown["d2.txt"] == TEXTS["d2.txt"]


def test_the_command_prints_the_documented_json(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = ["--archive", str(plant.archive.root)]
    arguments = ["--k", "10", "--depth", "lexical=5", "--weight", "semantic=1/2", "--limit", "2"]
    assert main(["search", "relé AX-2041", *arguments, "--json", *archive]) == 0
    body = json.loads(capsys.readouterr().out)
    assert list(body) == [
        *("query", "read", "suggestions", "protocol", "corpus_version", "generation"),
        *("semantic_index", "partial", "notes"),
        *("rankings", "systems", "fused", "candidates", "in_every_list", "facets"),
        *("timings_ms", "record_id"),
    ]
    assert len(body["fused"]) == 2
    assert body["candidates"] == 7
    assert body["protocol"]["k"] == "10"
    top = body["fused"][0]
    assert {"doc_id", "rank", "title", "locations", "score", "score_decimal", "parts"} <= set(top)
    assert set(body["rankings"]["lexical"][0]) == {"doc_id", "rank", "score", "passage_id"}
    described = (ROOT / "docs/search-json.md").read_text(encoding="utf-8")
    undescribed = [name for name in keys_of(body) if f"`{name}" not in described]
    assert undescribed == []
    assert main(["search", "relé", *archive]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("7 candidates (depth: lexical 100")


def test_lists_can_be_fused_by_their_scores_and_the_parts_show_them(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "search",
        "relé AX-2041",
        "--archive",
        str(plant.archive.root),
        "--fusion",
        "minmax",
        "--weighting",
        "fixed",
    ]
    assert main([*command, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["protocol"]["fusion"] == "minmax"
    assert "k" not in body["protocol"]
    best = body["fused"][0]["parts"][0]
    assert (best["rank"], best["normalised"], best["weight"], best["value"]) == (1, 1, "1/2", "1/2")
    assert best["score"] == body["rankings"]["lexical"][0]["score"]
    described = (ROOT / "docs/search-json.md").read_text(encoding="utf-8")
    assert [name for name in keys_of(body) if f"`{name}" not in described] == []
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "(fused by minmax, one rank per document)" in out
    assert "lexical rank 1, semantic rank " in out
    assert "0.500000 + " in out


def keys_of(value: object) -> set[str]:
    """Every key at any depth of JSON data; the names of systems are data themselves."""
    if isinstance(value, list):
        return {key for entry in value for key in keys_of(entry)}
    if not isinstance(value, dict):
        return set()
    inner = {key for entry in value.values() for key in keys_of(entry)}
    return inner | (set(value) - {"lexical", "semantic"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "-1"], "k is a number from 0"),
        (["--k", "61", "--fusion", "borda"], "borda has no k"),
        (["--depth", "lexical"], "SYSTEM=NUMBER"),
        (["--depth", "lexical=x"], "whole number"),
        (["--weight", "codes=2"], "no system 'codes'"),
        (["--limit", "0"], "at least 1"),
    ],
)
def test_the_command_refuses_what_it_cannot_use_in_one_sentence(
    workplace: Workplace,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    assert main(["search", "x", "--archive", str(workplace.archive.root), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
