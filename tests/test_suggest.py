"""Suggestions as you type: codes and titles, of documents that the reader may see alone."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.cli import main
from app.pages import corrections
from app.pages.address import Address
from app.query.search import Engines
from app.query.suggest import Completion, begun, suggest
from corpus.scope import Scope
from corpus.terms import WORD, fold_words, read_query
from store.catalogue import Catalogue
from tests.conftest import Workplace, make_workplace

TEXTS = {
    "pump.md": "# Pump of the AX-2041/B\n\nThe pump AX-2041/B and its relay AX-2050.",
    "valve.md": "# Valve and pump\n\nThe valve holds.",
    "purga.md": "# Válvula de purga\n\nPurgar la válvula EX-7.",
    "odd.md": '# type:pdf "pumps" -leak\n\nA title with signs.',
    "secret.md": "# Pumpernickel\n\nThe pumpernickel AX-2099.",
}
BOARD = Scope(groups=("board",))


@pytest.fixture(scope="module")
def plant(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    workplace = make_workplace(tmp_path_factory.mktemp("plant"), tiny_encoder)
    for name, text in TEXTS.items():
        workplace.write(name, text)
    workplace.write("secret.md.meta.toml", 'groups = ["board"]\n')
    workplace.ingest()
    return workplace


def suggested(
    plant: Workplace, text: str, scope: Scope | None = None, limit: int = 8
) -> list[Completion]:
    with Catalogue(plant.archive) as catalogue:
        return list(suggest(Engines(plant.archive), catalogue, scope or Scope(), text, limit))


def texts(found: list[Completion]) -> list[str]:
    return [one.text for one in found]


def test_codes_come_first_then_titles_that_begin_so_then_those_with_such_a_word(
    plant: Workplace,
) -> None:
    assert texts(suggested(plant, "ax20"))[:2] == ["AX-2041/B", "AX-2050"]
    assert texts(suggested(plant, "pump")) == [
        *("Pump of the AX-2041/B", "Valve and pump", 'type:pdf "pumps" -leak'),
    ]
    assert texts(suggested(plant, "pump valve")) == ["Valve and pump"]


def test_case_accents_and_separators_make_no_difference(plant: Workplace) -> None:
    assert texts(suggested(plant, "VALVULA pur")) == ["Válvula de purga"]
    assert texts(suggested(plant, "AX-2041"))[0] == texts(suggested(plant, "ax2041"))[0]
    relay = suggested(plant, "relay ax205")
    assert [one.query for one in relay] == ["relay AX-2050"]


@pytest.mark.parametrize("text", ["", " ", "p", "-", "*", "\0", "zzz", '"', "a" * 5000])
def test_too_little_and_what_begins_nothing_suggest_nothing(plant: Workplace, text: str) -> None:
    assert suggested(plant, text) == []


def test_a_title_is_never_a_sign_of_the_query_language(plant: Workplace) -> None:
    (one,) = [one for one in suggested(plant, "pumps") if "type" in one.text]
    read = read_query(one.query)
    assert not read.narrowed
    assert read.asked.phrases[0].words == ("type", "pdf", "pumps", "leak")


def test_nothing_of_a_forbidden_document_is_suggested(plant: Workplace) -> None:
    with Catalogue(plant.archive) as catalogue:
        engines = Engines(plant.archive)

        @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
        @given(
            st.sampled_from(["pumpernickel", "ax2099", "AX-2099", "valvula", "pump of", "relay"]),
            st.integers(0, 12),
            st.integers(1, 20),
        )
        def never(word: str, length: int, limit: int) -> None:
            typed = word[:length]
            found = suggest(engines, catalogue, Scope(), typed, limit)
            assert len(found) <= limit
            told = json.dumps([(one.text, one.query) for one in found]).casefold()
            assert "pumpernickel" not in told
            assert "2099" not in told
            for one in found:
                if one.kind == "title":
                    words = WORD.findall(fold_words(one.text))
                    for part in WORD.findall(fold_words(typed)):
                        assert any(word.startswith(part) for word in words)

        never()
    assert "Pumpernickel" in texts(suggested(plant, "pumper", BOARD))
    assert "AX-2099" in texts(suggested(plant, "ax209", BOARD))


def typed_part(one: Completion, typed: str) -> list[str]:
    return [one.text[start:end] for start, end in begun(one, typed)]


def test_what_was_typed_is_told_from_what_is_to_come(plant: Workplace) -> None:
    shown = {
        typed: [typed_part(one, typed) for one in suggested(plant, typed)]
        for typed in ("ax20", "relay ax205", "VALVULA pur", "pump valve", " pump ")
    }
    assert shown["ax20"][:2] == [["AX-20"], ["AX-20"]]
    assert shown["relay ax205"] == [["AX-205"]]
    assert shown["VALVULA pur"] == [["Válvula", "pur"]]
    assert shown["pump valve"] == [["Valve", "pump"]]
    assert shown[" pump "] == [["Pump"], ["pump"], ["pump"]]
    assert typed_part(Completion("title", "ﬁltro de aire", ""), "filt") == ["ﬁlt"]
    assert typed_part(Completion("title", "Pump", ""), "valve") == []


@given(st.sampled_from(["code", "title"]), st.text(), st.text())
def test_typed_parts_are_spans_of_any_text_in_order(
    kind: Literal["code", "title"], text: str, typed: str
) -> None:
    for given_text in (text, f"{typed} {text}"):
        ends = [0]
        for start, end in begun(Completion(kind, given_text, ""), typed):
            assert ends[-1] <= start < end <= len(given_text)
            ends.append(end)


def test_the_page_links_to_the_query_and_escapes_titles() -> None:
    found = [Completion("title", "<b>Pump</b>", '"b Pump b"')]
    html = corrections.completions(found, Address(q="pum"), "Ana")
    assert "&lt;b&gt;Pump&lt;/b&gt;" in html
    assert 'href="./?q=%22b+Pump+b%22&amp;as=Ana"' in html


def test_the_command_prints_lines_or_json(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["suggest", "ax20", "--archive", str(plant.archive.root), "--limit", "1"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "code   AX-2041/B\n"
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"kind": "code", "text": "AX-2041/B", "query": "AX-2041/B"}
    ]
    assert main([*arguments[:-1], "0"]) == 2
