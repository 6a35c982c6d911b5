"""Words and codes that no document has: what is suggested, and what is never told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.cli import main
from app.pages import corrections
from app.pages.address import Address
from app.query.correct import Suggestion, corrected
from app.query.present import result_data
from app.query.protocol import Corrections, make_protocol
from app.query.search import Engines, SearchResult, search
from corpus.scope import Scope
from corpus.spelling import edits_allowed, look_alike
from corpus.terms import fold_words
from store.backend import CANDIDATES, Candidate
from store.catalogue import Catalogue
from store.embedded import open_backend
from store.embedded.analysis import fields_of
from store.embedded.segments import open_lexical, write_lexical
from store.errors import BadInput
from store.stems import stems
from tests.conftest import Workplace, make_workplace

TEXTS = {
    "manuals/watchdog.md": "# Watchdog\n\nAfter a watchdog reset the autopilot restarts. E-417.",
    "manuals/shaper.md": "# Input shaper\n\nResonance compensation with an input shaper.",
    "manuals/probe.md": "# Probes\n\nThe liveness probe of Kubernetes: initialDelaySeconds.",
    "manuals/advance.md": "# Pressure advance\n\nTuning the bowden extruder. Relay AX-2041/B.",
    "manuales/presion.md": "# Avance de presión\n\nCalibración del extrusor con tubo bowden.",
    "secret/plan.md": "# Zeppelin\n\nThe zeppelin QX-7070 resonanze.",
}
SECRETS = ("zeppelin", "QX-7070", "resonanze", "qx7070")


@pytest.fixture(scope="module")
def plant(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    """A small archive, one document of which only the board may read."""
    workplace = make_workplace(tmp_path_factory.mktemp("plant"), tiny_encoder)
    for name, text in TEXTS.items():
        workplace.write(name, text)
    workplace.write("secret/plan.md.meta.toml", 'groups = ["board"]\n')
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        assert catalogue.document(1, "secret/plan.md").groups == ("board",)
    return workplace


def meant(result: SearchResult) -> dict[str, list[str]]:
    """The candidates of each word that was suggested for."""
    return {
        one.typed: [candidate.text for candidate in one.candidates]
        for one in result.record.suggestions
    }


def brute_force(first: str, second: str) -> int:
    """The edits between two words by definition, from their ends."""

    def between(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        last = first[i - 1] != second[j - 1]
        costs = [
            table[i - 1][j] + 1,
            table[i][j - 1] + 1,
            table[i - 1][j - 1] + last,
        ]
        if i > 1 and j > 1 and first[i - 2 : i] == second[j - 2 : j][::-1]:
            costs.append(table[i - 2][j - 2] + 1)
        return min(costs)

    table: list[list[int]] = []
    for i in range(len(first) + 1):
        table.append([])
        for j in range(len(second) + 1):
            table[i].append(between(i, j))
    return table[-1][-1]


def test_the_edits_that_the_tests_count_are_known() -> None:
    assert brute_force("wacthdog", "watchdog") == 1
    assert brute_force("kitten", "sitting") == 3
    assert brute_force("ca", "abc") == 3


# Few letters, so that words are near to one another, and no stem of one is another.
WORDS = st.text("aoxñ", min_size=3, max_size=9)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=6),
    WORDS,
    st.one_of(st.none(), st.sets(st.integers(0, 5))),
)
def test_candidates_are_the_nearest_words_of_permitted_documents(
    tmp_path_factory: pytest.TempPathFactory,
    texts: Sequence[Sequence[str]],
    typed: str,
    allowed: set[int] | None,
) -> None:
    """Against every edit of every word of the index, counted one by one."""
    place = tmp_path_factory.mktemp("index") / "lexical"
    rows = ((row, row, fields_of(" ".join(text), "", (), "de")) for row, text in enumerate(texts))
    write_lexical(place, [rows])
    index = open_lexical(place)
    permitted = None
    if allowed is not None:
        permitted = np.array([row in allowed for row in range(len(texts))])
    found = index.near_words(typed, permitted, np.arange(len(texts)))
    readable = [set(t) for row, t in enumerate(texts) if allowed is None or row in allowed]
    frequency = {w: sum(w in text for text in readable) for text in readable for w in text}
    edits = edits_allowed(typed)
    nearest = sorted(
        (distance, -documents, word)
        for word, documents in frequency.items()
        for distance in [brute_force(typed, word)]
        if 0 < distance <= edits
    )
    wanted = [Candidate(word, -documents) for _, documents, word in nearest[:CANDIDATES]]
    # A word may also be held by its stem; then nothing is said of it.
    assert list(found) in ([wanted] if typed not in frequency else [[]]) or not found
    if found:
        assert all(candidate.documents >= 1 for candidate in found)
    elif wanted and typed not in frequency:
        assert stemmed_alike(typed, frequency)


def stemmed_alike(typed: str, words: dict[str, int]) -> bool:
    return any(stems(typed) & stems(word) for word in words)


@pytest.mark.parametrize(
    ("query", "suggested"),
    [
        ("wacthdog reset autopilot", {"wacthdog": ["watchdog"]}),
        ("input shaper resonanse compensation", {"resonanse": ["resonance"]}),
        ("kuberntes liveness prob", {"kuberntes": ["kubernetes"], "prob": ["probe"]}),
        ("presion avance extrusor bowdem", {"bowdem": ["bowden"]}),
        ('"wacthdog reset"', {"wacthdog": ["watchdog"]}),
        ("Wacthdog wacthdog", {"Wacthdog": ["watchdog"]}),
        ("watchdog reset", {}),
        ("resets", {}),
        ("xylophone", {}),
        ("pump -wacthdog", {}),
        ("wacthd*", {}),
        ("", {}),
    ],
)
def test_a_word_that_no_document_has_is_suggested_for(
    plant: Workplace, query: str, suggested: dict[str, list[str]]
) -> None:
    assert meant(plant.search(query)) == suggested


def test_the_typos_of_technicians_are_never_worse_than_as_typed(
    plant: Workplace, shared: Path
) -> None:
    lines = (shared / "queries" / "technician-open.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [one["query"] for one in map(json.loads, lines) if one["kind"] == "typo"]
    assert len(queries) >= 4
    for query in queries:
        typed, applied = plant.search(query), plant.search(query, corrections="apply")
        found = {hit.id for hit in applied.record.rankings[0].hits}
        assert found >= {hit.id for hit in typed.record.rankings[0].hits}
        assert applied.record.terms.text == corrected(typed.record.text, typed.record.suggestions)


@pytest.mark.parametrize(
    ("query", "suggested"),
    [
        ("E-4l7", {"E-4l7": ["E-417"]}),
        ("alarm e4I7", {"e4I7": ["E-417"]}),
        ("AX-2O41/B", {"AX-2O41/B": ["AX-2041/B"]}),
        ("ax2o418", {"ax2o418": ["AX-2041/B"]}),
        ("AX 2O41 B", {}),
        ("AX-2041/B", {}),
        ("ax2041b", {}),
        ("AX-2014/B", {}),
        ("AX-2042/B", {}),
        ("E-471", {}),
    ],
)
def test_a_code_is_suggested_for_by_characters_that_look_alike_and_nothing_else(
    plant: Workplace, query: str, suggested: dict[str, list[str]]
) -> None:
    assert meant(plant.search(query)) == suggested


def test_a_code_typed_with_a_space_is_corrected_as_one(workplace: Workplace) -> None:
    workplace.write("a.txt", "Relay AX-2041 in the panel.")
    workplace.ingest()
    result = workplace.search("relay AX 2O41", corrections="apply")
    assert meant(result) == {"AX 2O41": ["AX-2041"]}
    assert result.record.terms.text == "relay AX-2041"
    assert [hit.id for hit in result.record.rankings[0].hits] == ["a.txt"]


@given(st.text("0o1il2z5s6g8bax-", max_size=12), st.text("0o1il2z5s6g8bax-", max_size=12))
def test_looking_alike_changes_no_length_and_only_what_is_mistaken(first: str, second: str) -> None:
    assert len(look_alike(first)) == len(first)
    assert look_alike(look_alike(first)) == look_alike(first)
    if look_alike(first) == look_alike(second):
        classes = ("0o", "1il", "2z", "5s", "6g", "8b")
        assert all(
            one == other or any(one in alike and other in alike for alike in classes)
            for one, other in zip(first, second, strict=True)
        )


# -- what a reader may not see -----------------------------------------------------------------


@pytest.mark.parametrize("query", ["zepelin plan", "QX-7O7O", "qx7o7o", "zeppelim"])
@pytest.mark.parametrize("mode", ["suggest", "apply"])
def test_what_only_forbidden_documents_have_is_never_told(
    plant: Workplace, query: str, mode: Corrections
) -> None:
    result = plant.search(query, corrections=mode)
    told = json.dumps([result_data(result, []), result.record.as_data()])
    assert [secret for secret in SECRETS if secret in told] == []
    member = plant.search(query, Scope(groups=("board",)), corrections=mode)
    assert any(secret in json.dumps(meant(member)) for secret in ("zeppelin", "QX-7070", "qx7070"))


def test_a_forbidden_word_is_as_unknown_as_any_other(plant: Workplace) -> None:
    """The very word of a hidden document is corrected to one that may be seen."""
    assert meant(plant.search("resonanze")) == {"resonanze": ["resonance"]}
    assert meant(plant.search("resonanze", Scope(groups=("board",)))) == {}


def test_candidates_are_counted_among_what_the_reader_may_see(plant: Workplace) -> None:
    backend = open_backend(plant.archive).for_reader(())
    everything = frozenset(backend.doc_ids)
    for word in ("wacthdog", "bowdem", "extrusr", "zepelin", "resonanse", "kubernets"):
        for doc_id in backend.doc_ids:
            for candidate in backend.near_words(word, frozenset({doc_id})):
                assert candidate.documents == 1
                assert candidate.text in fold_words(TEXTS[doc_id]).replace("-", " ")
        assert backend.near_words(word, frozenset()) == ()
        assert backend.near_words(word, everything) == backend.near_words(word, None)


def test_a_word_that_only_a_filter_keeps_away_is_spelled_well(plant: Workplace) -> None:
    assert meant(plant.search("watchdog path:manuales")) == {}
    assert meant(plant.search("extruder path:manuales")) == {}
    assert meant(plant.search("extrusr", Scope(folder="manuales"))) == {"extrusr": ["extrusor"]}


# -- said, and taken back ----------------------------------------------------------------------


def test_the_answer_is_to_the_words_as_typed_unless_the_protocol_says_otherwise(
    plant: Workplace,
) -> None:
    query = "wacthdog autopilt"
    typed, off = plant.search(query), plant.search(query, corrections="off")
    assert [r.hits for r in typed.record.rankings] == [r.hits for r in off.record.rankings]
    assert off.record.suggestions == ()
    assert typed.notes == off.notes == ()
    applied = plant.search(query, corrections="apply")
    direct = plant.search("watchdog autopilot")
    assert [r.hits for r in applied.record.rankings] == [r.hits for r in direct.record.rankings]
    assert applied.record.query == query
    assert applied.notes == (
        "No document has wacthdog; watchdog was searched instead.",
        "No document has autopilt; autopilot was searched instead.",
    )


def test_corrections_are_part_of_the_protocol_and_of_the_record(plant: Workplace) -> None:
    hashes = {make_protocol(corrections=mode).hash for mode in ("suggest", "apply", "off")}
    assert len(hashes) == 3
    assert make_protocol().as_data()["corrections"] == "suggest"
    with pytest.raises(BadInput, match="corrections are suggest, apply, off"):
        make_protocol(corrections="guess")
    applied = plant.search("wacthdog", corrections="apply").record
    assert applied.as_data()["query"] == "wacthdog"
    assert applied.as_data()["read"]["words"] == ["watchdog"]
    assert applied.as_data()["suggestions"] == [
        {
            "term": "wacthdog",
            "candidates": [{"text": "watchdog", "documents": 1, "query": "watchdog"}],
        }
    ]


def test_a_correction_never_becomes_a_sign_of_the_query(workplace: Workplace) -> None:
    """Also where the corrected word is the name of a field."""
    workplace.write("a.txt", "The title of the pump and its code.")
    workplace.ingest()
    result = workplace.search("tittle:pump", corrections="apply")
    assert meant(result) == {}
    assert result.record.terms.words == ("tittle", "pump")
    assert meant(workplace.search("tittle pump")) == {"tittle": ["title"]}


def test_one_of_several_candidates_is_chosen_and_the_others_follow_their_best() -> None:
    watchdog, probe, prose = (Candidate(text, 1) for text in ("watchdog", "probe", "prose"))
    given_ = [
        Suggestion("wacthdog", ((0, 8), (14, 22)), (watchdog,)),
        Suggestion("prob", ((9, 13),), (probe, prose)),
    ]
    text = "wacthdog prob wacthdog"
    assert corrected(text, given_) == "watchdog probe watchdog"
    assert corrected(text, given_, prose) == "watchdog prose watchdog"
    assert corrected(text, []) == text


def test_the_page_says_it_with_links_and_escapes_what_was_typed(plant: Workplace) -> None:
    address = Address(q="wacthdog <b>reset</b>", n="30")
    record = plant.search(address.q).record
    html = corrections.announced(record, address, "Ana")
    assert "No document has <em>wacthdog</em>" in html
    assert 'href="./?q=watchdog+%3Cb%3Ereset%3C%2Fb%3E&amp;as=Ana"' in html
    assert "(1)" in html
    applied = plant.search(address.q, corrections="apply").record
    back = corrections.announced(applied, Address(q=address.q, corrections="apply"), "")
    assert "Search for the words as typed" in back
    assert "corrections" not in unescape(back)


def test_the_command_says_what_to_type(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = str(plant.archive.root)
    assert main(["search", "wacthdog reset", "--archive", archive, "--limit", "1"]) == 0
    said = capsys.readouterr().out
    assert "note: No document has wacthdog. Perhaps watchdog (1)" in said
    assert "corrected: python -m app search 'watchdog reset' --archive" in said
    arguments = ["search", "wacthdog", "--archive", archive, "--corrections", "apply"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "note: No document has wacthdog; watchdog was searched instead." in said
    assert "as typed: python -m app search wacthdog" in said
    assert said.splitlines()[-2].endswith("--corrections suggest")
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["suggestions"][0]["term"] == "wacthdog"


def test_a_damaged_index_suggests_nothing_and_says_what_it_is(workplace: Workplace) -> None:
    workplace.write("a.txt", "watchdog")
    workplace.ingest()
    (generation,) = workplace.archive.generations.iterdir()
    next((generation / "lexical").glob("*.term")).unlink()
    with Catalogue(workplace.archive) as catalogue:
        result = search(Engines(workplace.archive), catalogue, "wacthdog", make_protocol())
    assert result.partial
    assert result.record.suggestions == ()
