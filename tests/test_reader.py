"""Readers are processes with limits: a file that hangs, dies or lies fails alone."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

from indexer.extraction import extract_files
from indexer.unpacking import Held, Unpacker
from store.texts import Failure

SECONDS = 15.0


def as_jobs(*paths: Path) -> list[tuple[str, bytes]]:
    return [(path.name, os.fsencode(path)) for path in paths]


def test_every_file_comes_back_once_with_its_text_or_its_reason(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"good{number}.txt").write_text(f"Sheet {number} of the pump.")
    (tmp_path / "empty.txt").touch()
    paths = sorted(tmp_path.iterdir())
    found = {read.key: read for read in extract_files(as_jobs(*paths), workers=2)}
    assert set(found) == {path.name for path in paths}
    assert found["empty.txt"].failure == Failure("read", "the file is empty (0 bytes)")
    good = found["good3.txt"].extracted
    assert good is not None
    assert good.text == "Sheet 3 of the pump."
    assert found["good3.txt"].language == "en"


def test_a_file_that_hangs_is_given_up_and_the_others_are_read(
    tmp_path: Path, shared: Path
) -> None:
    """ing-07: opening a pipe that nobody writes to waits for ever."""
    pipe = tmp_path / "hangs.txt"
    os.mkfifo(pipe)
    good = tmp_path / "good.txt"
    good.write_text("The flange is torqued to 45 N.")
    loop = shared / "cases/files/pdf_page_tree_loop.pdf"
    found = {
        read.key: read
        for read in extract_files(as_jobs(pipe, good, loop), workers=2, time_limit=SECONDS)
    }
    assert found["hangs.txt"].failure == Failure("limit", "took longer than 15 s to read")
    assert found["good.txt"].extracted is not None
    assert found["pdf_page_tree_loop.pdf"].failure is not None


def test_a_reader_that_dies_takes_only_its_file_with_it(tmp_path: Path) -> None:
    pipe = tmp_path / "deadly.txt"
    os.mkfifo(pipe)
    good = tmp_path / "good.txt"
    good.write_text("The flange is torqued to 45 N.")

    def kill_the_reader() -> None:
        # The pipe opens for writing once a reader has opened it.
        with pipe.open("wb"):
            children = ["pkill", "-KILL", "-P", str(os.getpid()), "-f", "indexer.reader"]
            subprocess.run(children, check=True)

    killer = threading.Thread(target=kill_the_reader)
    killer.start()
    found = {read.key: read for read in extract_files(as_jobs(pipe, good), workers=1)}
    killer.join()
    assert found["deadly.txt"].failure == Failure("limit", "the reader died of it (signal SIGKILL)")
    assert found["good.txt"].extracted is not None


def test_a_container_that_takes_too_long_is_given_up_and_the_next_is_unpacked(
    tmp_path: Path,
) -> None:
    pipe = tmp_path / "hangs.zip"
    os.mkfifo(pipe)
    lines = tmp_path / "good.jsonl"
    lines.write_text('{"id": "a", "text": "x"}\n{"id": "b", "text": "y"}\n')
    into = tmp_path / "into"
    into.mkdir()
    with Unpacker(into, time_limit=SECONDS) as unpacker:
        held = unpacker.unpack(os.fsencode(pipe))
        assert held == Failure("limit", "took longer than 15 s to unpack")
        for _ in range(2):
            held = unpacker.unpack(os.fsencode(lines))
            assert isinstance(held, Held)
            assert [name for name, _ in held.members] == [b"a", b"b"]
