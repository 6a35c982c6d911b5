"""Systems beyond two: codes, titles and priors, what they say, and why they say nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.pages import result_markup
from app.query.asking import CODES_ALONE, NO_CODE
from app.query.fuse import Absence, Contribution, Reason
from app.query.present import rows
from app.query.protocol import Protocol, System
from app.query.ranking import Ranking
from app.query.search import Engines, SearchResult, search
from app.query.side_by_side import columns
from app.query.systems import BUILT_IN, CODES, LEXICAL, PRIOR, SEMANTIC, TITLE
from corpus.scope import Scope
from store.catalogue import Catalogue
from store.errors import BadInput
from tests.conftest import Workplace, make_workplace

PAGES = {
    "old.md": ("# Glycol pump\n\nReplace the seal of AX-2041/B every year.", "2019-05-01"),
    "new.md": ("# Glycol pump\n\nThe pump seal, part AX-2042, is replaced.", "2024-02-29"),
    "same.md": ("# Compressor\n\nThe seal of the compressor leaks: AX-2041.", "2024-02-29"),
    "part.md": ("# Valve AX-2041/B\n\nInspect the valve for leaks.", "2021-01-01"),
    "undated.md": ("# Filters\n\nThe pump filter is cleaned, the seal is not.", ""),
}
ALL = (LEXICAL, SEMANTIC, CODES, TITLE, PRIOR)


@pytest.fixture(scope="module")
def plant(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    """Dated pages, one of them for the board alone; no test of this file changes it."""
    made = make_workplace(tmp_path_factory.mktemp("systems"), tiny_encoder)
    for name, (text, day) in PAGES.items():
        made.write(name, text)
        if day:
            made.write(f"{name}.meta.toml", f'date = "{day}"\n')
    made.write("board.md", "# Glycol pump of the board\n\nThe pump seal AX-2041/B.")
    made.write("board.md.meta.toml", 'date = "2025-01-01"\ngroups = ["board"]\n')
    made.ingest()
    return made


def of(*systems: System | str) -> Protocol:
    return Protocol(tuple(BUILT_IN[one] if isinstance(one, str) else one for one in systems))


def ask(
    plant: Workplace, query: str, protocol: Protocol, scope: Scope | None = None
) -> SearchResult:
    with Catalogue(plant.archive) as catalogue:
        return search(Engines(plant.archive), catalogue, query, protocol, scope)


def ranking(result: SearchResult, system: str) -> Ranking:
    return next(one for one in result.record.rankings if one.system == system)


def ids(result: SearchResult, system: str) -> list[str]:
    return [hit.id for hit in ranking(result, system).hits]


def absences(result: SearchResult, system: str) -> dict[str, Absence]:
    return {
        hit.id: part
        for hit in result.record.fused
        for part in hit.parts
        if isinstance(part, Absence) and part.system == system
    }


@pytest.mark.parametrize(
    ("query", "holding"),
    [
        ("AX-2041/B", {"old.md", "part.md"}),
        ("seal ax2041b", {"old.md", "part.md"}),
        ("AX-2041", {"same.md"}),
        ("seal AX 2041", {"same.md"}),
    ],
)
def test_codes_are_documents_that_hold_the_whole_code_and_no_others(
    plant: Workplace, query: str, holding: set[str]
) -> None:
    """A part of a longer code is not that code; the lexical system finds it as well."""
    result = ask(plant, query, of(LEXICAL, CODES))
    assert set(ids(result, CODES)) == holding
    found = set(ids(result, LEXICAL))
    assert found >= holding
    assert {name: part.reason for name, part in absences(result, CODES).items()} == dict.fromkeys(
        found - holding, Reason.NOT_MATCHED
    )


@pytest.mark.parametrize("query", ["replace the seal", "pump 3"])
def test_without_a_code_that_system_is_not_asked_and_the_answer_says_why(
    plant: Workplace, query: str
) -> None:
    """Two words that might be one code, and are none in any document, are no code."""
    result = ask(plant, query, of(LEXICAL, SEMANTIC, CODES))
    assert ranking(result, CODES).not_asked == NO_CODE
    assert f"The {CODES} system was not asked: {NO_CODE}." in result.rules
    assert {part.reason for part in absences(result, CODES).values()} == {Reason.NOT_ASKED}
    assert not result.partial


def test_codes_alone_silence_the_semantic_system_whichever_list_found_them(
    plant: Workplace,
) -> None:
    result = ask(plant, "AX-2041/B", of(SEMANTIC, CODES))
    assert ranking(result, SEMANTIC).not_asked == CODES_ALONE
    assert set(ids(result, CODES)) == {"old.md", "part.md"}


def test_titles_are_matched_by_their_words_and_codes_and_not_by_the_text(plant: Workplace) -> None:
    assert set(ids(ask(plant, "glycol pump", of(TITLE)), TITLE)) == {"old.md", "new.md"}
    assert ids(ask(plant, "ax2041b", of(LEXICAL, TITLE)), TITLE) == []
    assert ids(ask(plant, "AX-2041/B", of(LEXICAL, TITLE)), TITLE) == ["part.md"]
    assert ids(ask(plant, '"glycol pump"', of(TITLE)), TITLE) == ["new.md", "old.md"]
    assert ids(ask(plant, "compr*", of(TITLE)), TITLE) == ["same.md"]
    assert ids(ask(plant, "leaks", of(LEXICAL, TITLE)), TITLE) == []
    assert ids(ask(plant, "valve OR compressor", of(TITLE)), TITLE) == ["same.md", "part.md"]


def test_a_prior_ranks_the_candidates_newest_first_with_ties_by_id(plant: Workplace) -> None:
    result = ask(plant, "seal pump", of(LEXICAL, PRIOR))
    found = set(ids(result, LEXICAL))
    expected = [name for name in ("new.md", "same.md", "part.md", "old.md") if name in found]
    assert ids(result, PRIOR) == expected
    assert "undated.md" in found
    assert absences(result, PRIOR)["undated.md"].reason is Reason.NOT_MATCHED
    hits = {hit.id: hit for hit in ranking(result, LEXICAL).hits}
    assert all(hit.passage_id == hits[hit.id].passage_id for hit in ranking(result, PRIOR).hits)


def test_below_its_depth_a_prior_knows_the_true_rank(plant: Workplace) -> None:
    prior = System(PRIOR, depth=1, attribute="date", among="candidates")
    result = ask(plant, "seal pump", of(LEXICAL, prior))
    parts = absences(result, PRIOR)
    assert not ranking(result, PRIOR).exhausted
    order = ids(ask(plant, "seal pump", of(LEXICAL, PRIOR)), PRIOR)
    assert len(order) > 1
    for rank, name in enumerate(order[1:], start=2):
        assert (parts[name].reason, parts[name].rank) == (Reason.BELOW_DEPTH, rank)
    assert (parts["undated.md"].reason, parts["undated.md"].rank) == (Reason.NOT_MATCHED, None)


def test_a_prior_over_all_permitted_documents_adds_what_nobody_found(plant: Workplace) -> None:
    everything = System("newest", kind=PRIOR, attribute="date", among="all permitted")
    result = ask(plant, "compressor", of(LEXICAL, everything))
    assert ids(result, "newest") == ["new.md", "same.md", "part.md", "old.md"]
    assert len(result.record.fused) == 4
    with Catalogue(plant.archive) as catalogue:
        shown = rows(Engines(plant.archive), catalogue, result, 0, 10)
    first = {row.document.doc_id: row.passage.passage_id for row in shown}
    assert first == {name: f"{name}@1#00000" for name in ids(result, "newest")}
    recent = ask(plant, "compressor", of(LEXICAL, everything), Scope(since="2024-01-01"))
    assert ids(recent, "newest") == ["new.md", "same.md"]


@pytest.mark.parametrize("among", ["candidates", "all permitted"])
def test_no_system_shows_what_the_reader_may_not_see(plant: Workplace, among: str) -> None:
    prior = System(PRIOR, attribute="date", among=among)  # type: ignore[arg-type]
    protocol = of(LEXICAL, CODES, TITLE, prior)
    stranger = ask(plant, "glycol pump AX-2041/B", protocol)
    member = ask(plant, "glycol pump AX-2041/B", protocol, Scope(groups=("board",)))
    for system in (LEXICAL, CODES, TITLE, PRIOR):
        assert "board.md" not in ids(stranger, system)
        assert "board.md" in ids(member, system)
    assert ids(member, PRIOR)[0] == "board.md"


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.sampled_from(ALL), unique=True, min_size=2),
    st.sampled_from(["seal pump", "AX-2041/B", "glycol pump AX-2041", "leaks valve -compressor"]),
    st.integers(1, 6),
    st.sampled_from(["document", "passage"]),
)
def test_every_answer_of_any_systems_holds_together(
    plant: Workplace, names: list[str], query: str, depth: int, unit: str
) -> None:
    """A shallow list is the head of a deep one, and each absence is what the deep list says."""
    systems = [BUILT_IN[name] for name in names]
    shallow, deep = (
        ask(
            plant,
            query,
            Protocol(
                tuple(System(**{**_fields(one), "depth": asked}) for one in systems),
                unit=unit,  # type: ignore[arg-type]
            ),
        )
        for asked in (depth, 1000)
    )
    for name in set(names) - {PRIOR}:
        assert ids(shallow, name) == ids(deep, name)[:depth]
        for found, part in absences(shallow, name).items():
            if part.reason is Reason.BELOW_DEPTH:
                assert found in ids(deep, name)
            if part.reason is Reason.NOT_MATCHED:
                assert found not in ids(deep, name)
    for hit in shallow.record.fused:
        assert [part.system for part in hit.parts] == names
        values = [part.value for part in hit.parts if isinstance(part, Contribution)]
        assert hit.score == sum(values, Fraction(0))


def _fields(system: System) -> dict[str, object]:
    return {name: getattr(system, name) for name in System.__dataclass_fields__}


def test_the_screens_show_as_many_lists_as_there_are(plant: Workplace) -> None:
    result = ask(plant, "glycol pump AX-2041/B", of(*ALL))
    engines = Engines(plant.archive)
    with Catalogue(plant.archive) as catalogue:
        shown = rows(engines, catalogue, result, 0, 10)
        lists = columns(catalogue, result, 10)
    assert [one.name for one in lists] == [LEXICAL, "fused", SEMANTIC, CODES, TITLE, PRIOR]
    footer = result_markup.footer(result)
    assert "in all" in footer
    assert all(f"{len(ids(result, name))} {name}" in footer for name in ALL)
    row = result_markup.row(next(r for r in shown if r.hit.id == "undated.md"), lambda *_: "/")
    assert "— P has nothing to be ranked by" in row
    assert "— C has no code of the query" in row


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: System(PRIOR), "the attribute of prior is date or modified"),
        (lambda: System(PRIOR, attribute="date"), "ranks among candidates or all permitted"),
        (lambda: System(LEXICAL, attribute="date"), "only a prior has an attribute"),
        (lambda: System("a\nb"), "1 to 64 printable characters"),
        (lambda: of(PRIOR), "name another system"),
        (
            lambda: Protocol(
                (
                    BUILT_IN[LEXICAL],
                    System(PRIOR, attribute="date", among="all permitted"),
                ),
                unit="passage",
            ),
            "use unit document",
        ),
    ],
)
def test_systems_that_mean_nothing_are_refused(make: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        make()  # type: ignore[operator]


def test_a_search_refuses_a_system_that_nobody_answers_for(plant: Workplace) -> None:
    with pytest.raises(BadInput, match="no engine answers for a system of kind 'other'"):
        ask(plant, "pump", of(LEXICAL, System("other")))
