"""Documents nearly the same, folded under the first one: shown so, and never ranked so."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from app.cli import main
from app.pages.address import read_address
from app.query.group import folded
from app.query.present import rows
from app.query.protocol import make_protocol
from app.query.search import Engines
from corpus.scope import Scope
from store.archive import ARCHIVE_VARIABLE
from store.catalogue import Catalogue
from store.errors import BadInput
from store.similar import Pair, similar_among, similar_pairs
from tests.conftest import Workplace, filled_workplace

GASKET = (
    "The gasket of HX-204 is inspected before each start. Whoever runs the shift looks for drops "
    "below the flange, wipes the seat with a dry cloth, and writes the hour into the book that "
    "hangs beside the door of the plant room."
)
TEXTS = {
    "a.txt": GASKET,
    "b.txt": f"{GASKET} Seen.",
    "c.txt": "A gasket is flat. The gasket of a pump is round, and no gasket is for ever.",
    "d.txt": f"{GASKET} Seen again.",
    "secret.txt": f"{GASKET} Gasket.",
    "secret.txt.meta.toml": 'groups = ["board"]\n',
}
SCRIPT = Path(__file__).parents[1] / "app" / "streamlit_app.py"


@pytest.fixture(scope="module")
def plant(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    """Three copies of one note, a note of its own, and a fourth copy for the board."""
    return filled_workplace(tmp_path_factory.mktemp("plant"), tiny_encoder, TEXTS)


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.data())
def test_each_folded_document_is_like_the_one_above_it_and_no_two_left_are_alike(
    ranked: list[str], data: st.DataObject
) -> None:
    every = list(combinations("abcdefgh", 2))
    chosen = data.draw(st.lists(st.sampled_from(every), unique=True))
    alike = {frozenset(pair) for pair in chosen}
    found = folded(ranked, [Pair(one, other, 9, 10) for one, other in chosen])
    for doc_id, fold in found.items():
        assert ranked.index(fold.under) < ranked.index(doc_id)
        assert fold.under not in found
        assert {doc_id, fold.under} in alike
    standing = [doc_id for doc_id in ranked if doc_id not in found]
    assert not any({one, other} in alike for one, other in combinations(standing, 2))


def test_a_document_stands_under_the_first_one_that_it_is_like() -> None:
    pairs = [Pair("a", "c", 9, 10), Pair("b", "c", 99, 100)]
    assert folded(["b", "a", "c"], pairs)["c"].under == "b"
    assert folded(["a", "b", "c"], pairs)["c"].under == "a"


def test_nothing_stands_under_what_is_folded() -> None:
    chain = [Pair("a", "b", 9, 10), Pair("b", "c", 9, 10)]
    assert list(folded(["a", "b", "c"], chain)) == ["b"]


def test_pairs_among_some_documents_are_those_of_the_version(plant: Workplace) -> None:
    with Catalogue(plant.archive) as catalogue:
        version = catalogue.versions()[-1]
        every = similar_pairs(catalogue, version)
        assert len(every) == 6
        some = {"a.txt", "c.txt", "d.txt"}
        wanted = [pair for pair in every if {pair.one, pair.other} <= some]
        assert similar_among(catalogue, version, sorted(some)) == wanted
        assert similar_among(catalogue, version, []) == []


def test_grouping_changes_no_rank_no_score_and_no_record_but_for_its_name(
    plant: Workplace,
) -> None:
    plain = plant.search("gasket").record
    grouped = plant.search("gasket", group="near duplicates").record
    assert grouped.fused == plain.fused
    assert grouped.rankings == plain.rankings
    assert grouped.protocol.hash != plain.protocol.hash
    assert grouped.record_id != plain.record_id
    assert grouped.as_data()["fused"] == plain.as_data()["fused"]


def test_protocols_without_grouping_keep_the_names_they_had() -> None:
    assert make_protocol(group="off") == make_protocol()
    assert make_protocol().hash == (
        "sha256:7d2ed800b49bd0d453067c691aebcb5703e47c7e6063b9dd9b6d6c3f4fea9ba0"
    )
    assert "group" not in make_protocol().as_data()
    assert make_protocol(group="near duplicates").as_data()["group"] == "near duplicates"


def test_grouping_passages_or_in_another_way_is_refused() -> None:
    with pytest.raises(BadInput, match="grouping folds documents"):
        make_protocol(group="near duplicates", unit="passage")
    with pytest.raises(BadInput, match="the group is off or near duplicates"):
        make_protocol(group="all")


@pytest.mark.parametrize("groups", [(), ("board",)])
def test_rows_stand_with_their_own_ranks_and_what_is_folded_below(
    plant: Workplace, groups: tuple[str, ...]
) -> None:
    result = plant.search("gasket", Scope(groups=groups), group="near duplicates")
    engines = Engines(plant.archive)
    with Catalogue(plant.archive) as catalogue:
        shown = rows(engines, catalogue, result, 0, 10, fold=True)
        every = rows(engines, catalogue, result, 0, 10)
        second = rows(engines, catalogue, result, 1, 2, fold=True)
    assert [row.hit for row in every] == list(result.record.fused)
    assert len(shown) == 2
    assert second == shown[1:]
    copies = next(row for row in shown if row.document.doc_id != "c.txt")
    below = [one.document.doc_id for one in copies.folded]
    wanted = {"a.txt", "b.txt", "d.txt"} | ({"secret.txt"} if groups else set())
    assert {copies.document.doc_id, *below} == wanted
    ranks = [copies.hit.rank, *(one.hit.rank for one in copies.folded)]
    assert ranks == sorted(ranks)
    for row in every:
        under = copies.document.doc_id if row.document.doc_id in below else None
        assert (row.fold.under if row.fold else None) == under


def test_the_command_says_what_it_folds_and_json_keeps_the_order(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["search", "gasket", "--archive", str(plant.archive.root)]
    grouping = ["--group", "near duplicates"]
    assert main([*command, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert main([*command, *grouping, "--json"]) == 0
    grouped = json.loads(capsys.readouterr().out)
    assert {row["grouped_under"] for row in plain["fused"]} == {None}
    named = [row.pop("grouped_under") for row in grouped["fused"]]
    assert len([name for name in named if name]) == 2
    for row in plain["fused"]:
        del row["grouped_under"]
    assert grouped["fused"] == plain["fused"]
    assert main([*command, *grouping]) == 0
    out = capsys.readouterr().out
    assert "near duplicates grouped" in out
    assert "and 2 nearly the same:" in out
    assert "secret" not in out
    assert "4 candidates" in out.splitlines()[-1]


def test_the_page_folds_with_links_and_its_address_says_so(
    plant: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ARCHIVE_VARIABLE, str(plant.archive.root))
    app = AppTest.from_file(SCRIPT, default_timeout=120)
    app.query_params = {"q": "gasket", "group": "near duplicates"}
    app.run()
    assert list(app.exception) == []
    text = "\n".join(one.value for one in app.html)
    assert text.count('<article class="cp-row">') == 2
    assert "and 2 nearly the same: <a " in text
    assert "near duplicates grouped" in text
    assert "4 candidates" in text
    address = read_address({"q": "gasket", "group": "near duplicates"})
    assert address.parameters() == {"q": "gasket", "group": "near duplicates"}
    assert address.protocol() == make_protocol(group="near duplicates")
