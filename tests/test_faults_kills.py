"""Commands that are killed, interrupted and run all at once, and readers beside them."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus.terms import read_query
from indexer.checking import verify
from indexer.upkeep import roll_back
from store.catalogue import split_passage_id
from store.embedded import open_backend
from tests.conftest import Faults, Workplace
from tests.faulty_archive import Copy, answers, copy_of, prepare
from tests.forked_commands import ForkedCommands, end_group

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MOMENTS = 2
PUBLISHES = 20
UNFINISHED = "run the ingest again to finish it"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    return prepare(tmp_path_factory.mktemp("faults"), tiny_encoder)


@pytest.fixture(scope="module")
def commands() -> Iterator[ForkedCommands]:
    started = ForkedCommands()
    yield started
    started.close()


@pytest.fixture
def copy(original: Workplace, tmp_path: Path) -> Copy:
    return copy_of(original, tmp_path)


def a_whole_version_answers(copy: Copy) -> None:
    """Every hit of every query is a passage of the one version that is served."""
    found, _ = answers(copy.archive)
    assert not any(result.partial for result in found.values())
    copy.has_its_labels()
    assert [problem for problem in verify(copy.archive) if UNFINISHED not in problem] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ingest", "rebuild", "rollback", "prune", "backup"])
def test_a_command_that_is_stopped_at_any_moment_is_finished_by_the_next(
    copy: Copy, commands: ForkedCommands, name: str, faults: Faults, tmp_path: Path
) -> None:
    """ops-07"""
    where = ("--archive", str(copy.archive.root))
    command = {
        "ingest": ("ingest", str(copy.workplace.files)),
        "rebuild": ("rebuild", "--version", "1"),
        "rollback": ("rollback", "1", "--yes"),
        "prune": ("prune", "--yes"),
        "backup": ("backup", str(tmp_path / "backup.db")),
    }[name]
    chance = random.Random(name)
    whole = 0.5
    for how in SIGNALS:
        for moment in range(MOMENTS):
            with faults(f"{how.name} of {name}, {moment}"):
                if name == "ingest":
                    changed = copy.workplace.files / "sheet03.txt"
                    changed.write_text(f"The flange before {how.name} {moment}.")
                processes = commands.start([*command, *where])
                alarm = threading.Timer(chance.uniform(0, whole), end_group, [*processes, how])
                alarm.start()
                started = time.monotonic()
                (code,) = commands.wait()
                alarm.cancel()
                assert code in (0, -how, 130), f"{how.name} gave {code}"
                whole = max(0.1, min(whole, time.monotonic() - started)) if code == 0 else whole
                a_whole_version_answers(copy)
                if name == "backup":
                    Path(command[1]).unlink(missing_ok=True)
                assert commands.run([*command, *where]) == [0]
                if name == "backup":
                    Path(command[1]).unlink()
                assert commands.run(["ingest", str(copy.workplace.files), *where]) == [0]
                a_whole_version_answers(copy)
                assert list(verify(copy.archive)) == []


@pytest.mark.slow
def test_a_restore_that_is_stopped_is_finished_by_a_rebuild_or_a_restore(
    copy: Copy, commands: ForkedCommands, faults: Faults, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.db"
    assert copy.run("backup", str(backup)) == 0
    chance = random.Random(5)
    for number, how in enumerate(SIGNALS * MOMENTS):
        target = tmp_path / f"restored{number}"
        where = ("--archive", str(target))
        with faults(f"{how.name} of restore, {number}"):
            processes = commands.start(["restore", str(backup), *where])
            alarm = threading.Timer(chance.uniform(0, 0.5), end_group, [*processes, how])
            alarm.start()
            commands.wait()
            alarm.cancel()
            there = (target / "catalogue.db").exists()
            again = ("rebuild",) if there else ("restore", str(backup))
            assert commands.run([*again, *where]) == [0]
            assert commands.run(["verify", *where]) == [0]


def test_commands_that_run_at_once_wait_their_turn_or_say_busy(
    copy: Copy, commands: ForkedCommands, faults: Faults, tmp_path: Path
) -> None:
    where = ("--archive", str(copy.archive.root))
    ingest = ["ingest", str(copy.workplace.files), *where]
    for turn in range(4):
        (copy.workplace.files / "sheet05.txt").write_text(f"Sheet 5 in turn {turn}: a flange.")
        backup = tmp_path / f"backup{turn}.db"
        with faults(f"two ingests, rebuild, prune, rollback and backup at once, {turn}"):
            codes = commands.run(
                ingest,
                ingest,
                ["rebuild", *where],
                ["prune", "--yes", *where],
                ["rollback", "1", "--yes", *where],
                ["backup", str(backup), *where],
            )
            assert set(codes[:-1]) <= {0, 3}
            assert 0 in codes[:-1]
            assert codes[-1] == 0
            a_whole_version_answers(copy)
            assert commands.run(ingest) == [0]
            assert list(verify(copy.archive)) == []


def test_a_reader_in_a_loop_sees_no_error_and_no_mixture_during_twenty_publishes(
    workplace: Workplace, faults: Faults
) -> None:
    """ops-07: it opens what is served again and again, and asks what it opened long ago as well."""
    for edition in ("first", "second"):
        for number in range(3):
            text = f"Sheet {number}: the flange, {edition}."
            workplace.write(f"sheet{number}.txt", text)
        workplace.ingest()
    seen: list[int] = []
    troubles: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                seen.append(version_that_answers(workplace))
        except BaseException as error:
            troubles.append(error)

    first = open_backend(workplace.archive).for_reader(())
    reader = threading.Thread(target=read)
    reader.start()
    try:
        for turn in range(PUBLISHES):
            with faults(f"publish {turn} beside a reader"):
                roll_back(workplace.archive, 1 + turn % 2, preview=False)
                assert troubles == []
    finally:
        done.set()
        reader.join()
    assert troubles == []
    assert seen == sorted(seen)
    assert len(set(seen)) > 2
    assert version_that_answers(workplace) == 2 + PUBLISHES
    gone = workplace.archive.generations / first.manifest.name
    assert not gone.exists()
    hits = first.lexical(read_query("flange"), 10, None)
    assert hits.doc_ids == ("sheet0.txt", "sheet1.txt", "sheet2.txt")


def version_that_answers(workplace: Workplace) -> int:
    """The one version that both engines answer from; fails where they mix two.

    Odd versions hold the first revision of every document, even ones the second.
    """
    result = workplace.search("flange", unit="passage")
    assert not result.partial, result.notes
    version = result.record.manifest.inputs.corpus_version
    hits = [hit.id for ranking in result.record.rankings for hit in ranking.hits]
    assert len(hits) == 6
    revisions = {split_passage_id(name)[1] for name in hits}
    assert revisions == {2 - version % 2}
    return version
