"""A disk that fills up during an ingest: a small file system of its own, really full."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexer.cli import main
from store.archive import Archive
from tests.conftest import Faults, Workplace

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="mounting a small file system needs root; run the tests as root"
)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_said_and_the_next_run_with_space_completes(
    workplace: Workplace, small_disk: Path, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    """ops-03"""
    here = Workplace(workplace.files, Archive(small_disk / "archive"), workplace.encoder)
    here.write("first.txt", "The flange is torqued to 45 N.")
    here.ingest()
    command = ["ingest", str(here.files), "--archive", str(here.archive.root)]
    codes = []
    # Ever more text until it no longer fits; where it stops depends on the step that fills up.
    for batch in range(12):
        for number in range(6):
            lines = (f"Sheet {batch} {number}, bolt {n}: {n * 7} N.\n\n" for n in range(400))
            here.write(f"batch{batch}/{number}.txt", "".join(lines))
        codes.append(main(command))
        if codes[-1] != 0:
            break
    with faults("the disk is full"):
        error = capsys.readouterr().err
        assert codes[-1] == 1
        assert "no space left on the disk of" in error
        assert str(small_disk) in error
        assert here.ids("flange", "semantic")
        assert here.ids("flange", "lexical") == ["first.txt"]
        subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
        assert main(command) == 0
        assert main(["verify", "--archive", str(here.archive.root)]) == 0
        assert f"batch{len(codes) - 1}/0.txt" in here.ids("sheet", "lexical")
        left = [path.name for path in here.archive.generations.iterdir() if path.name[0] == "."]
        assert left == []
