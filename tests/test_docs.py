"""What the documentation promises of the commands is what there is, both ways round."""

from __future__ import annotations

import re
from pathlib import Path

import indexer.cli
from corpus.errors import CounterpointError
from indexer.report import Problem, Report
from tests.test_commands import commands

OPERATIONS = Path(__file__).resolve().parents[1] / "docs" / "operations.md"


def all_errors(error: type[CounterpointError]) -> set[type[CounterpointError]]:
    return {error}.union(*(all_errors(kind) for kind in error.__subclasses__()))


def test_every_command_has_its_section_and_every_section_its_command() -> None:
    text = OPERATIONS.read_text(encoding="utf-8")
    assert re.findall(r"^### `python -m indexer (\w+)`$", text, re.M) == list(commands())
    assert set(re.findall(r"-m indexer (\w+)", text)) == set(commands())
    for section in text.split("### `python -m indexer ")[1:]:
        name = section.partition("`")[0]
        assert f"$ python -m indexer {name}" in section, f"{name} has no example"


def test_every_option_named_is_an_option_of_a_command() -> None:
    text = OPERATIONS.read_text(encoding="utf-8")
    known = {option for command in commands().values() for option in command._option_string_actions}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known


def test_the_exit_codes_documented_are_those_there_are() -> None:
    text = OPERATIONS.read_text(encoding="utf-8")
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.M)}
    failed = Report(failed=[Problem("a.txt", "read", "it is empty")])
    # Errors of the tests' own may hang below the root as well.
    ours = {
        error.exit_code
        for error in all_errors(CounterpointError)
        if error.__module__.partition(".")[0] in ("corpus", "store", "indexer")
    }
    assert documented == ours | {Report().exit_code, failed.exit_code, indexer.cli.INTERRUPTED}
