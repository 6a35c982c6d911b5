"""Every maintainer's command answers in one form: text and JSON say the same, codes included."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.textdiff import MOST_LINES, text_diff
from indexer.cli import _parser, main
from store.archive import Archive
from store.catalogue import Catalogue
from store.generations import current_generation
from store.lock import writer_lock
from tests.conftest import Workplace


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command by its name."""
    (choices,) = [
        action.choices
        for action in _parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    return dict(choices)


def timeless(summary: str) -> str:
    """How long an ingest took is all that may differ between two calls."""
    return re.sub(r" in [0-9.]+ s$", "", summary)


class Both:
    """Runs a command in both forms and holds them against each other."""

    def __init__(self, archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.archive = archive
        self.capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str]:
        """The exit code and the summary of a command that may be given twice."""
        typed = [*arguments, "--archive", str(self.archive)]
        code = main([*typed, "--json"])
        data = json.loads(self.capsys.readouterr().out)
        assert data["exit_code"] == code, typed
        assert main(typed) == code, typed
        text = self.capsys.readouterr()
        if "error" in data:
            assert data["error"] == data["summary"]
            assert text.out == ""
            assert text.err.splitlines()[-1] == f"indexer: {data['summary']}"
        else:
            assert timeless(text.out.splitlines()[-1]) == timeless(data["summary"])
        assert "\n" not in data["summary"]
        return code, data["summary"]


@pytest.fixture
def both(workplace: Workplace, capsys: pytest.CaptureFixture[str]) -> Both:
    workplace.write("a.txt", "The flange is torqued to 28 N·m.")
    workplace.ingest()
    workplace.write("a.txt", "The flange is torqued to 16 N·m.")
    workplace.ingest()
    return Both(workplace.archive.root, capsys)


def test_text_and_json_of_every_command_say_the_same(
    both: Both, workplace: Workplace, tmp_path: Path
) -> None:
    said = {
        "ingest": both("ingest", str(workplace.files)),
        "status": both("status"),
        "versions": both("versions"),
        "diff": both("diff", "1", "2"),
        "show": both("show", "a.txt"),
        "rollback": both("rollback", "1"),
        "rebuild": both("rebuild"),
        "verify": both("verify"),
        "prune": both("prune"),
    }
    assert {code for code, _ in said.values()} == {0}
    assert said["versions"][1] == "2 versions"
    # These two make something, once; and a watch answers in many lines (tests/test_watch.py).
    for number, name in enumerate(("backup", "restore")):
        for form in ([], ["--json"]):
            file = tmp_path / f"backup{len(form) if name == 'backup' else 0}.db"
            where = workplace.archive.root if name == "backup" else tmp_path / f"new{len(form)}"
            assert main([name, str(file), "--archive", str(where), *form]) == 0
            out = both.capsys.readouterr().out
            if form:
                data = json.loads(out)
                assert (data["exit_code"], bool(data["summary"])) == (0, True)
                said[name] = (number, data["summary"])
            else:
                assert len(out.splitlines()) == 1
    assert set(said) | {"watch"} == set(commands())


def test_refusals_of_every_code_are_said_in_both_forms(
    both: Both, workplace: Workplace, tmp_path: Path
) -> None:
    (tmp_path / "broken.db").write_text("no catalogue")
    assert both("ingest", str(tmp_path / "nowhere"))[0] == 2
    for name in ("show", "diff", "rollback", "rebuild"):
        arguments = {"show": ["a.txt", "--version", "9"], "diff": ["1", "9"]}
        options = {"rebuild": ["--version", "9"]}.get(name, arguments.get(name, ["9"]))
        code, sentence = both(name, *options)
        assert (code, sentence.startswith("there is no corpus version 9")) == (2, True)
    assert both("restore", str(tmp_path / "broken.db"))[0] == 4
    with writer_lock(workplace.archive):
        for command in (["ingest", str(workplace.files)], ["rebuild"], ["prune"]):
            assert both(*command)[0] == 3
    workplace.write("bad.txt", "")
    assert both("ingest", str(workplace.files))[0] == 1
    name = current_generation(workplace.archive)
    shutil.rmtree(workplace.archive.generations / name / "semantic")
    assert both("verify")[0] == 4


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["status", "--frob"], "unrecognized arguments: --frob"),
        (["diff", "1", "two"], "argument B: invalid int value: 'two'"),
        (["backup"], "the following arguments are required: FILE"),
    ],
)
def test_what_cannot_be_understood_is_one_sentence_and_code_2(
    typed: Sequence[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed) == 2
    text = capsys.readouterr()
    assert text.out == ""
    assert text.err.startswith("usage: python -m indexer")
    assert sentence in text.err.splitlines()[-1]
    assert main([*typed, "--json"]) == 2
    data = json.loads(capsys.readouterr().out)
    assert (data["exit_code"], sentence in data["error"]) == (2, True)


def test_an_archive_that_is_none_is_named(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    file = workplace.write("a.txt", "alpha")
    for command in (["status"], ["ingest", str(workplace.files)], ["verify"], ["watch"]):
        assert main([*command, "--archive", str(file)]) == 2
        assert "is a file; an archive is a folder" in capsys.readouterr().err
    assert main(["status", "--archive", str(workplace.files)]) == 2
    assert "there is no archive in" in capsys.readouterr().err
    assert main(["ingest", str(workplace.files), "--archive", str(workplace.files)]) == 2
    assert "is the archive itself" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a read-only file system needs root")
def test_a_place_that_cannot_be_written_to_is_one_sentence(
    workplace: Workplace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "read-only"
    place.mkdir()
    kept = ["mount", "-t", "tmpfs", "tmpfs", str(place)]
    if subprocess.run(kept, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        archive = Archive(place / "archive")
        with Catalogue(archive):
            pass
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        for command in (["status"], ["versions"], ["verify"], ["watch"]):
            assert main([*command, "--archive", str(archive.root)]) == 2
            assert "cannot be written to" in capsys.readouterr().err
        for where in (archive.root, place / "new"):
            assert main(["ingest", str(workplace.files), "--archive", str(where)]) == 2
            assert "Read-only file system" in capsys.readouterr().err
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_every_command_and_every_option_has_its_help() -> None:
    for name, command in commands().items():
        assert command.description, name
        for action in command._actions:
            assert action.help, f"{name} {action.dest}"


lines = st.lists(st.sampled_from(["a", "b", "c", "same line", "\\ odd", ""]), max_size=30)


@given(lines, lines)
def test_a_text_difference_turns_the_one_text_into_the_other(
    before: list[str], after: list[str]
) -> None:
    difference = text_diff("".join(f"{x}\n" for x in before), "".join(f"{x}\n" for x in after))
    made, at = [], 0
    for line in difference:
        if line.startswith("@@"):
            first, count = line.split()[1][1:].split(",")
            start = int(first) - (count != "0")
            made += before[at:start]
            at = start
        elif line[0] == "+":
            made.append(line[1:])
        else:
            assert before[at] == line[1:]
            made += [line[1:]] * (line[0] == " ")
            at += 1
    assert made + before[at:] == after
    assert (difference == ()) == (before == after)


def test_a_difference_of_huge_texts_is_bounded_and_says_so() -> None:
    before = "".join(f"{n * 7919 % 13}\n" for n in range(300_000))
    after = "".join(f"{n * 104729 % 17}\n" for n in range(300_000))
    difference = text_diff(before, after)
    assert len(difference) == MOST_LINES + 2
    assert difference[-2].startswith("\\ long parts")
    assert "more lines of this difference are left out" in difference[-1]
    edited = [f"line {n}\n" for n in range(50_000)]
    text = "".join(edited)
    edited[25_000] = "an edit\n"
    assert len(text_diff(text, "".join(edited))) == 7
