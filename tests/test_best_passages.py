"""Which passages of a document are shown, and that no rank and no engine knows of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.pages.result_markup import row as row_html
from app.query.best_passages import (
    SHOWN,
    Candidate,
    best_extracts,
    candidate_passages,
    place_of,
)
from app.query.fuse import fuse
from app.query.highlight import FIRST_LINE, snippet, sought_in
from app.query.present import Row, best_passages, result_data, rows
from app.query.protocol import System, make_protocol
from app.query.ranking import Found, Hit, Ranking
from app.query.retrieve import MOST_FOUND, retrieve
from app.query.search import Engines, search
from corpus.document import Passage
from corpus.terms import read_query
from store.catalogue import Catalogue
from tests.conftest import Workplace, make_workplace
from tests.test_filter_first import Counted
from tests.test_retrieve import ListedEngine, Passages, engines

FILLER = "Check the oil level, wipe the housing and note the hours of the shift in the book. " * 2


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    """A long manual of which three sections speak of the gland, and some short documents."""
    workplace = make_workplace(tmp_path_factory.mktemp("manual"), tiny_encoder)
    sections = []
    for number in range(12):
        about = {
            2: "The gland screws of the pump are loosened crosswise.",
            5: "Tighten the gland screws of the pump crosswise to 16 N·m, then again.",
            9: "If the gland leaks, alarm E-417 comes up on the panel.",
        }.get(number, "Nothing else belongs here.")
        sections.append(f"## Section {number}\n\n{about} {FILLER}")
    workplace.write("manual.md", "# Pump manual\n\n" + "\n\n".join(sections))
    for number in range(6):
        workplace.write(f"note{number}.txt", f"Shift note {number}: the conveyor stopped.")
    workplace.ingest()
    return workplace


def shown(workplace: Workplace, query: str, **protocol: object) -> list[Row]:
    opened = Engines(workplace.archive)
    with Catalogue(workplace.archive) as catalogue:
        result = search(opened, catalogue, query, make_protocol(**protocol), keep=False)
        return rows(opened, catalogue, result, 0, 20)


def sections(row: Row) -> list[str]:
    return [extract.passage.headings[-1] for extract in row.extracts]


# -- from the engines' answers -----------------------------------------------------------------


@given(engines, st.sampled_from(["document", "passage"]), st.integers(1, 12))
def test_what_is_found_of_a_unit_are_its_first_passages_of_the_answer(
    passages: Passages, unit: str, depth: int
) -> None:
    engine = ListedEngine(passages)
    ranking = retrieve(System("s", depth), unit, engine)  # type: ignore[arg-type]
    returned = engine(engine.asked[-1])
    # What is equal to the last one of a list that goes on may have been cut through.
    open_tie = None if returned.exhausted or not returned.scores else returned.scores[-1]
    listed = zip(returned.scores, returned.passage_ids, strict=True)
    order = sorted((entry for entry in listed if entry[0] != open_tie), key=_best_first)
    place = {name: number for number, (_, name) in enumerate(order, start=1)}
    for hit in ranking.hits:
        mine = [
            Found(name, place[name])
            for _, name in order
            if hit.id == (name.rpartition("@")[0] if unit == "document" else name)
        ]
        assert hit.found == tuple(mine[:MOST_FOUND])
        assert hit.found[0].passage_id == hit.passage_id


def _best_first(entry: tuple[float, str]) -> tuple[float, str]:
    return -entry[0], entry[1]


def test_candidates_come_in_the_order_of_their_summed_places_after_the_one_that_earned() -> None:
    lexical = Ranking(
        "lexical",
        2,
        (Hit("a", 1, 9.0, "a@1#00004", (Found("a@1#00004", 1), Found("a@1#00001", 3))),),
        exhausted=True,
    )
    semantic = Ranking(
        "semantic",
        2,
        (Hit("a", 1, 0.9, "a@1#00001", (Found("a@1#00001", 2), Found("a@1#00007", 9))),),
        exhausted=True,
    )
    protocol = make_protocol(depths={"lexical": 2, "semantic": 2})
    hits = fuse([lexical, semantic], protocol)
    found = candidate_passages([lexical, semantic], protocol, hits, {"a": "a@1#00004"})
    assert Fraction(1, 63) + Fraction(1, 62) > Fraction(1, 61)
    assert found == {
        "a": (
            Candidate("a@1#00004", earned=True, near=True),
            Candidate("a@1#00001", earned=False, near=True),
            Candidate("a@1#00007", earned=False, near=False),
        )
    }


def passage(ordinal: int, text: str) -> Passage:
    return Passage(f"a@1#{ordinal:05d}", "a", 1, 0, len(text), text, ordinal, ("A", f"S{ordinal}"))


def extracts_of(query: str, *texts: str) -> tuple[str, list[str], list[str]]:
    """The first passage, those shown, and those that earned, where the first text earned."""
    made = {entry.passage_id: entry for entry in map(passage, range(9, 0, -1), texts)}
    candidates = [Candidate(name, earned=place == 0, near=True) for place, name in enumerate(made)]
    first, extracts = best_extracts(candidates, made, read_query(query))
    assert first in extracts
    assert [extract for extract in extracts if extract.first] == [first]
    names = [extract.passage.passage_id for extract in extracts]
    assert names == sorted(names)
    earned = [extract.passage.text for extract in extracts if extract.earned]
    return first.passage.text, [extract.passage.text for extract in extracts], earned


def test_a_passage_with_the_code_is_read_first_and_the_one_that_earned_stays_marked() -> None:
    code = f"{FILLER} Alarm E-417 comes up."
    first, all_shown, earned = extracts_of("pump alarm E-417", "the pump", "a pump", "x", code)
    assert (first, earned) == (code, ["the pump"])
    assert all_shown == [code, "a pump", "the pump"]
    assert extracts_of("pump E-417", f"E-417 {FILLER}", code)[0] == f"E-417 {FILLER}"
    assert extracts_of("pump E-417", "see E-417-2", code)[0] == code
    assert extracts_of("pump E-417", "the pump", "see E-417-2")[0] == "see E-417-2"
    assert extracts_of('pump "comes up"', "up it comes", code)[0] == code
    assert extracts_of("pump alarm", "the pump", code)[0] == "the pump"


def test_passages_that_say_the_same_are_shown_once() -> None:
    _, all_shown, earned = extracts_of("pump", "the pump", "the  pump", "a pump", "a\npump", "x")
    assert (all_shown, earned) == (["x", "a pump", "the pump"], ["the pump"])


@given(
    st.text(st.sampled_from("abc .\n"), max_size=600),
    st.text(st.sampled_from("abc .\n"), max_size=600),
    st.integers(60, 240),
)
def test_a_code_of_the_query_is_in_view_wherever_it_stands(
    before: str, after: str, length: int
) -> None:
    query = read_query("abc AX-2041/B")
    text = f"{before} AX-2041/B {after}"
    piece = snippet(text, query, length)
    place = piece.text.index("AX-2041/B")
    assert text[piece.start : piece.start + len(piece.text)] == piece.text
    assert place <= max(FIRST_LINE + 1, length // 6 + 1)
    assert any(
        piece.text[start:end].startswith("AX-2041/B") or "AX-2041/B" in piece.text[start:end]
        for start, end in piece.marks
    )


def test_codes_and_phrases_are_found_in_any_spelling_and_told_from_parts() -> None:
    query = read_query('ax2041b "gland screws"')
    found = sought_in("AX-2041/B, AX 2041 B, gland screws, AX-2041/B-7", query)
    assert {(place.number, place.itself) for place in found} >= {(0, True), (1, True)}
    assert sought_in("gland, then screws", read_query("gland screws")) == ()


@pytest.mark.parametrize(
    ("headings", "page", "place"),
    [
        (("Manual", "Purge"), 14, "p. 14 · Purge"),
        (("Manual",), None, "passage 3"),
        ((), 2, "p. 2"),
        (("Purge",), None, "Purge"),
    ],
)
def test_a_place_is_the_page_and_the_heading_or_a_number(
    headings: tuple[str, ...], page: int | None, place: str
) -> None:
    entry = replace(passage(2, "x"), headings=headings, page=page)
    assert place_of(entry, "Manual") == place


# -- in a real archive -------------------------------------------------------------------------


def test_a_manual_shows_its_best_passages_in_reading_order(manual: Workplace) -> None:
    row = shown(manual, "gland screws pump")[0]
    assert row.document.doc_id == "manual.md"
    assert {"Section 2", "Section 5"} <= set(sections(row))
    assert len(row.extracts) <= SHOWN
    names = [extract.passage.passage_id for extract in row.extracts]
    assert names == sorted(set(names))
    assert sum(extract.earned for extract in row.extracts) == 1
    html = row_html(row, lambda doc_id, passage_id: f"document?{passage_id}")
    assert html.count("<li") == len(row.extracts)
    assert html.count(">earned rank<") == 1
    for name in names:
        assert f'href="document?{name}"' in html


def test_the_code_of_a_query_is_in_view_in_the_row(manual: Workplace) -> None:
    row = shown(manual, "gland screws tighten crosswise pump E-417")[0]
    assert row.document.doc_id == "manual.md"
    assert "E-417" in row.snippet.text
    assert "E-417" in row.passage.text
    assert "Section 9" in sections(row)


def test_ranks_stay_and_no_engine_is_asked_for_the_passages(manual: Workplace) -> None:
    opened = Engines(manual.archive)
    counted = Counted(opened.backend)
    opened.backend = counted  # type: ignore[assignment]
    with Catalogue(manual.archive) as catalogue:
        asked = make_protocol(depths={"lexical": 3, "semantic": 3})
        result = search(opened, catalogue, "gland screws pump", asked, keep=False)
        questions = len(counted.asked)
        found = rows(opened, catalogue, result, 0, 20)
        assert len(counted.asked) == questions
        assert [row.hit for row in found] == list(result.record.fused)
        data = result_data(result, found)
    earned = best_passages(result)
    for row, entry in zip(found, data["fused"], strict=True):
        marked = [one for one in entry["passages"] if one["earned_rank"]]
        assert [one["passage_id"] for one in marked] == [earned[row.hit.id]]
        assert entry["passage_id"] in [one["passage_id"] for one in entry["passages"]]
        assert all(one["snippet"] for one in entry["passages"])
    assert all("found" not in str(hit) for hit in result.record.as_data()["rankings"].values())


def test_a_row_that_is_a_passage_shows_that_passage_alone(manual: Workplace) -> None:
    for row in shown(manual, "gland screws pump E-417", unit="passage"):
        assert [extract.passage.passage_id for extract in row.extracts] == [row.hit.id]
        assert row.passage.passage_id == row.hit.id
        assert "cp-passages" not in row_html(row, lambda doc_id, passage_id: "document")
