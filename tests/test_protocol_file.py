"""A protocol in a TOML file: the same hash there and back, and errors that say where."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import main
from app.query.emphasis import DEFAULT_EMPHASIS, Emphasis, Step
from app.query.protocol import Protocol, System
from app.query.protocol_file import protocol_from_toml, protocol_to_toml
from app.query.systems import BY_WORDS, ENGINES, LEXICAL, PRIOR, asked_of
from store.errors import BadInput
from tests.conftest import Workplace
from tests.test_search import keys_of

ROOT = Path(__file__).resolve().parents[1]
FIVE = """
k = 10
corrections = "off"
[[systems]]
name = "lexical"
depth = 50
weight = 0.1
[[systems]]
name = "semantic"
[[systems]]
name = "codes"
weight = "1/4"
[[systems]]
name = "title"
family = "lexical"
[[systems]]
name = "newest"
kind = "prior"
attribute = "date"
"""
fractions = st.fractions("1/1000", 1000, max_denominator=10**6)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.isprintable)


@st.composite
def systems(draw: st.DrawFn, name: str) -> System:
    kind = draw(st.sampled_from(ENGINES))
    more: dict[str, Any] = {}
    if kind in BY_WORDS:
        more["coverage"] = draw(st.none() | st.fractions(0, 1, max_denominator=10**6))
    if kind == LEXICAL:
        steps = Emphasis(
            (Step(Fraction(0), draw(fractions)), Step(Fraction(1, 2), draw(fractions)))
        )
        more["emphasis"] = draw(st.sampled_from([None, DEFAULT_EMPHASIS, steps]))
    if kind == PRIOR:
        more |= {"attribute": draw(st.sampled_from(["date", "modified"])), "among": "all permitted"}
    return System(
        name,
        draw(st.integers(1, 10_000)),
        draw(fractions),
        draw(names),
        asked=draw(st.sampled_from(asked_of(kind))),
        kind=kind,
        **more,
    )


@st.composite
def protocols(draw: st.DrawFn) -> Protocol:
    named = draw(st.lists(names, unique=True, min_size=1, max_size=4))
    return Protocol(
        tuple(draw(systems(name)) for name in named),
        k=draw(st.fractions(0, 10**6, max_denominator=10**6)),
        corrections=draw(st.sampled_from(["suggest", "apply", "off"])),
    )


@given(protocols())
def test_a_written_protocol_is_read_to_the_same_hash(protocol: Protocol) -> None:
    read = protocol_from_toml(protocol_to_toml(protocol))
    assert read == protocol
    assert read.hash == protocol.hash


@pytest.mark.parametrize("fusion", ["minmax", "borda", "combsum"])
def test_other_fusions_keep_their_hash_too(fusion: str) -> None:
    protocol = protocol_from_toml(f'fusion = "{fusion}"\n')
    assert protocol_from_toml(protocol_to_toml(protocol)).hash == protocol.hash


def test_an_empty_file_is_the_default_protocol_whose_hash_has_not_moved() -> None:
    assert protocol_from_toml("") == Protocol()
    assert Protocol().short_hash == "7d2ed800"


def test_numbers_are_exact_and_what_is_left_out_has_its_default() -> None:
    protocol = protocol_from_toml(FIVE)
    assert [system.name for system in protocol.systems] == [
        *("lexical", "semantic", "codes", "title", "newest")
    ]
    lexical, semantic, codes, title, newest = protocol.systems
    assert (protocol.k, lexical.depth, lexical.weight) == (10, 50, Fraction(1, 10))
    assert (lexical.coverage, lexical.emphasis) == (Fraction(7, 20), DEFAULT_EMPHASIS)
    assert semantic.asked == "unless codes alone match"
    assert codes.asked == "where the query has a code"
    assert (newest.kind, newest.among) == (PRIOR, "candidates")
    assert protocol.effective_weights[3] == title.weight / 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k = -1", "k: k is a number from 0"),
        ('k = "many"', "k: k is a number from 0"),
        ("K = 1", "a protocol has no 'K'; it has k, unit"),
        ('unit = "page"', "unit is one of document, passage, not 'page'"),
        ('fusion = "best"', "fusion is one of rrf"),
        ('weighting = "free"', "weighting is one of by share held, fixed"),
        ("systems = 3", r"written \[\[systems\]\]"),
        ("[[systems]]\ndepth = 3", "systems: number 1 has no name"),
        ('[[systems]]\nname = "bm25"', "systems, bm25: kind is one of lexical"),
        ('[[systems]]\nname = "codes"\ndepth = 0', "systems, codes: the depth of codes is from 1"),
        (
            '[[systems]]\nname = "codes"\ndepth = 1.5',
            "codes: the depth of codes is a whole",
        ),
        (
            '[[systems]]\nname = "title"\nweight = 0',
            "title: the weight of title is above 0",
        ),
        ('[[systems]]\nname = "title"\nwieght = 1', "systems, title: a system has no 'wieght'"),
        ('[[systems]]\nname = "semantic"\ncoverage = 1', "systems, semantic: coverage is a share"),
        ('[[systems]]\nname = "lexical"\ncoverage = 2', "systems, lexical: coverage is a share"),
        ('[[systems]]\nname = "lexical"\nasked = "never"', "lexical: a lexical system is asked"),
        (
            '[[systems]]\nname = "lexical"\nemphasis = [["0"]]',
            "lexical: emphasis is a list",
        ),
        (
            '[[systems]]\nname = "title"\nattribute = "date"',
            "attribute is of systems of kind",
        ),
        ('[[systems]]\nname = "prior"\nattribute = "size"', "prior: attribute is one of date"),
        ("k = ", "it is not TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_its_name_key_and_range(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        protocol_from_toml(text)
    file = tmp_path / "protocol.toml"
    file.write_text(text, encoding="utf-8")
    assert main(["protocol", "check", str(file)]) == 2
    error = capsys.readouterr().err
    assert str(file) in error
    assert len(error.splitlines()) == 1


def test_the_commands_show_check_and_search_by_a_file(
    workplace: Workplace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.write("a.md", "# Pump AX-2041/B\n\nReplace the seal.")
    workplace.ingest()
    file = tmp_path / "five.toml"
    file.write_text(FIVE, encoding="utf-8")
    protocol = protocol_from_toml(FIVE)
    assert main(["protocol", "show", str(file)]) == 0
    assert protocol_from_toml(capsys.readouterr().out).hash == protocol.hash
    assert main(["protocol", "show"]) == 0
    assert protocol_from_toml(capsys.readouterr().out) == Protocol()
    assert main(["protocol", "check", str(file)]) == 0
    assert protocol.hash in capsys.readouterr().out
    command = ["search", "seal AX-2041/B", "--archive", str(workplace.archive.root)]
    assert main([*command, "--protocol", str(file), "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["protocol"]["hash"] == protocol.hash
    assert list(body["systems"]) == [system.name for system in protocol.systems]
    described = (ROOT / "docs/search-json.md").read_text(encoding="utf-8")
    keys = keys_of(body) - set(body["systems"])
    assert [name for name in keys if f"`{name}" not in described] == []
    for option in (["--k", "10"], ["--depth", "codes=5"], ["--unit", "document"]):
        assert main([*command, "--protocol", str(file), *option]) == 2
        assert f"{option[0]} and --protocol both say" in capsys.readouterr().err
    assert main([*command, "--protocol", str(tmp_path / "none.toml")]) == 2


def test_the_protocols_in_the_documentation_are_protocols() -> None:
    text = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
    blocks = [block.partition("```")[0] for block in text.split("```toml\n")[1:]]
    assert blocks
    for block in blocks:
        protocol = protocol_from_toml(block)
        assert protocol_from_toml(protocol_to_toml(protocol)).hash == protocol.hash
