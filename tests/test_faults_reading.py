"""Files that change, vanish or cannot be reached while an ingest is looking at them."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.extract import EXTRACTOR_VERSION
from indexer.extraction import extract_files
from indexer.texts import CHANGED, Workshop, read_new, shape_for
from store import texts
from store.catalogue import Catalogue
from store.encoder import open_encoder
from store.vectors import VectorCache
from tests.conftest import Faults, Workplace


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("now", ["changed", "gone", "a folder"])
def test_no_text_is_kept_under_the_digest_of_other_bytes(
    workplace: Workplace, now: str, faults: Faults
) -> None:
    """Between its digest and its reading a file may change: what is read is digested again."""
    path = workplace.write("a.txt", "What was there when the digest was taken.")
    taken = digest(path.read_text())
    same = workplace.write("b.txt", "Beside it nothing changed.")
    path.unlink()
    if now == "changed":
        path.write_text("What is there when it is read.")
    elif now == "a folder":
        path.mkdir()
    encoder = open_encoder(workplace.encoder)
    with (
        faults(f"a file is {now} when it is read"),
        Catalogue(workplace.archive) as catalogue,
        VectorCache(workplace.archive) as cache,
    ):
        shape = shape_for(encoder, EXTRACTOR_VERSION)
        workshop = Workshop(catalogue, cache, encoder, shape)
        jobs = {taken: os.fsencode(path), digest(same.read_text()): os.fsencode(same)}
        assert read_new(workshop, jobs) == {taken: CHANGED}
        assert texts.known_texts(catalogue, shape.extractor) == {digest(same.read_text())}


def while_unpacking(workplace: Workplace, harm: Callable[[], object]) -> threading.Thread:
    """Do ``harm`` when the next ingest has looked at every folder and unpacks a container."""
    unpacking = workplace.archive.root / ".unpacking"

    def watch() -> None:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            if unpacking.is_dir() and any(unpacking.iterdir()):
                harm()
                return
            time.sleep(0.001)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


@pytest.fixture
def plant(workplace: Workplace) -> Workplace:
    """Folders before and behind a container, in the order in which they are looked at."""
    for folder in ("before", "sheets"):
        for number in range(3):
            workplace.write(f"{folder}/{number}.txt", f"{folder} {number}: the flange, first.")
    with zipfile.ZipFile(workplace.files / "manuals.zip", "w") as container:
        for number in range(200):
            container.writestr(f"manual{number}.txt", f"Manual {number}: the chiller.")
    workplace.ingest()
    return workplace


@pytest.mark.parametrize("folder", ["before", "sheets"])
def test_a_folder_that_vanishes_midway_retires_nothing_and_the_next_run_finishes(
    plant: Workplace, folder: str, faults: Faults
) -> None:
    """ops-04: ``before`` had its digests taken and is then read, ``sheets`` was only listed."""
    place, aside = plant.files / folder, plant.files.with_name("aside")
    for number in range(3):
        plant.write(f"{folder}/{number}.txt", f"{folder} {number}: the flange, revised.")
    documents = plant.ids("flange", "lexical")
    with faults(f"folder {folder} vanishes during an ingest"):
        thread = while_unpacking(plant, lambda: os.rename(place, aside))
        report = plant.ingest()
        thread.join()
        assert aside.is_dir()
        assert report.retired == []
        assert report.exit_code == 1
        assert [problem.path for problem in report.failed] == [
            f"{folder}/{number}.txt" for number in range(3)
        ]
        assert sorted(plant.ids("flange", "lexical")) == sorted(documents)
        assert plant.ids("revised", "lexical") == []
        aside.rename(place)
        report = plant.ingest()
        assert (report.exit_code, report.outcomes["changed"]) == (0, 3)
        assert len(plant.ids("revised", "lexical")) == 3


def test_a_file_saved_midway_fails_by_name_and_is_read_by_the_next_run(
    plant: Workplace, faults: Faults
) -> None:
    plant.write("before/1.txt", "The flange, second.")
    with faults("a file is saved during an ingest"):
        thread = while_unpacking(
            plant, lambda: (plant.files / "before/1.txt").write_text("The flange, third.")
        )
        report = plant.ingest()
        thread.join()
        (problem,) = report.failed
        assert (problem.path, problem.stage) == ("before/1.txt", "read")
        assert problem.reason.startswith(CHANGED.reason)
        assert plant.ids("second", "lexical") == []
        assert plant.ingest().exit_code == 0
        assert plant.ids("third", "lexical") == ["before/1.txt"]


def test_a_reader_that_somebody_stops_says_nothing_of_its_file(tmp_path: Path) -> None:
    """A service that is being stopped ends its readers first, perhaps."""
    pipe = tmp_path / "slow.txt"
    os.mkfifo(pipe)

    def stop_the_reader() -> None:
        # The pipe opens for writing once a reader has opened it.
        with pipe.open("wb"):
            for children in Path("/proc/self/task").glob("*/children"):
                for child in children.read_text().split():
                    os.kill(int(child), signal.SIGTERM)

    stopper = threading.Thread(target=stop_the_reader)
    stopper.start()
    (read,) = extract_files([("slow.txt", os.fsencode(pipe))], workers=1)
    stopper.join()
    assert read.passing
    assert read.failure is not None
    assert read.failure.reason == f"the reader was stopped (signal {signal.SIGTERM.name})"
