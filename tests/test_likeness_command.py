"""How much the systems of kept searches agreed, from a terminal and below an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

from app.cli import main
from app.query.likeness import LEAST_HITS, LEAST_SEARCHES, alike_here
from app.query.protocol import Protocol, System
from app.query.protocol_data import protocol_from_data
from app.query.ranking import ranking_of
from store.catalogue import Catalogue
from store.errors import BadInput
from store.records import kept_searches
from tests.conftest import Workplace
from tests.test_protocol_file import protocols

WORDS = ("pump", "valve", "seal", "gasket", "motor", "leak")
COPIES = """
weighting = "fixed"
[[systems]]
name = "lexical"
[[systems]]
name = "copy"
kind = "lexical"
family = "lexical"
[[systems]]
name = "title"
"""


@pytest.fixture
def searched(workplace: Workplace, tmp_path: Path) -> Workplace:
    """An archive where each of a few words was searched by two copies of one system."""
    for number in range(12):
        body = " ".join(WORDS[number % 3 :])
        workplace.write(f"d{number:02}.md", f"# Sheet {number}\n\n{body} {number}")
    workplace.ingest()
    file = tmp_path / "copies.toml"
    file.write_text(COPIES, encoding="utf-8")
    archive = ["--archive", str(workplace.archive.root)]
    for word in WORDS:
        assert main(["search", word, "--protocol", str(file), *archive]) == 0
    assert main(["search", WORDS[0], *archive]) == 0
    return workplace


def test_copies_are_said_to_share_a_vote_and_others_have_numbers_alone(
    searched: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = ["--archive", str(searched.archive.root)]
    capsys.readouterr()
    assert main(["likeness", *archive, "--json"]) == 0
    newest, copies = json.loads(capsys.readouterr().out)
    assert newest["protocol"] == Protocol().hash
    pairs = {(one["first"], one["second"]): one for one in copies["pairs"]}
    assert list(pairs) == [("lexical", "copy"), ("lexical", "title"), ("copy", "title")]
    same = pairs["lexical", "copy"]
    assert (same["rbo"], same["overlap"], same["searches"]) == (1.0, 1.0, len(WORDS))
    assert same["nearly_the_same"]
    assert "agree 100 %" in same["sentence"]
    assert same["sentence"].endswith("together they share one vote")
    assert not pairs["lexical", "title"]["nearly_the_same"]
    assert main(["likeness", *archive]) == 0
    said = capsys.readouterr().out
    assert f"  {same['sentence']} (RBO 1.000, overlap 1.000, {len(WORDS)} searches)" in said
    assert "  lexical and title: RBO 0." in said
    assert said.splitlines()[-1] == "7 of the last 100 different searches were kept"


def test_the_last_searches_are_the_last_each_once(
    searched: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = ["--archive", str(searched.archive.root)]
    with Catalogue(searched.archive) as catalogue:
        before = [one.body for one in kept_searches(catalogue, 100)]
        assert [json.loads(body)["query"] for body in before[:2]] == [WORDS[0], WORDS[-1]]
        assert [one.body for one in kept_searches(catalogue, 2)] == before[:2]
    assert main(["search", WORDS[0], *archive]) == 0
    with Catalogue(searched.archive) as catalogue:
        assert [one.body for one in kept_searches(catalogue, 100)] == before
    capsys.readouterr()
    assert main(["likeness", *archive, "--last", str(LEAST_SEARCHES - 1)]) == 0
    assert "together" not in capsys.readouterr().out
    assert main(["likeness", *archive, "--last", "0"]) == 2


@given(protocols())
def test_a_protocol_is_made_again_from_its_data(protocol: Protocol) -> None:
    data = json.loads(json.dumps({**protocol.as_data(), "hash": protocol.hash}))
    assert protocol_from_data(data) == protocol
    with pytest.raises(BadInput, match="not the one it says"):
        protocol_from_data({**data, "hash": "sha256:0"})
    with pytest.raises(BadInput, match="lacks"):
        protocol_from_data({name: value for name, value in data.items() if name != "systems"})


def test_one_answer_says_which_of_its_lists_are_nearly_the_same() -> None:
    ids = [f"d{number}" for number in range(LEAST_HITS)]
    protocol = Protocol((System("a", 20), System("b", 20), System("c", 20)))

    def said(*lists: list[str]) -> tuple[str, ...]:
        rankings = [
            ranking_of(system.name, one, depth=20)
            for system, one in zip(protocol.systems, lists, strict=True)
        ]
        return alike_here(rankings, protocol)

    assert said(ids, ids, ids[::-1]) == (
        "a and b agree 100 % (RBO, p = 0.9, 1 search): together they have two votes.",
    )
    assert said(ids, ids[::-1], [f"e{name}" for name in ids]) == ()
    assert said(ids[1:], ids[1:], ids[1:]) == ()
