"""Ingesting on change: when, what part, and a real watch of real files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.cli import main
from indexer.debounce import Change, Patience, follow
from indexer.parts import MANY, Kind, changed_parts
from indexer.sensor import Sensor
from store.archive import Archive
from store.lock import writer_lock
from tests.conftest import Workplace

ROOT = Path("/data")
PATIENCE_S = 300.0

times = st.lists(st.floats(0, 200), max_size=30).map(sorted)
durations = st.lists(st.floats(0, 40), min_size=1, max_size=5)


class Clockwork:
    """A world in which time passes only while someone waits or an ingest runs."""

    def __init__(self, changes: list[float], durations: list[float], failing: int) -> None:
        self.now = 0.0
        self.changes = changes
        self.durations = durations
        self.failing = failing
        self.running = False
        self.runs: list[tuple[float, float, frozenset[Path], bool]] = []

    def wait(self, timeout: float | None) -> list[Change] | None:
        until = float("inf") if timeout is None else self.now + timeout
        if self.changes and self.changes[0] <= until:
            self.now = max(self.now, self.changes[0])
        elif timeout is None:
            return None
        else:
            self.now = max(self.now, until)
        come = [at for at in self.changes if at <= self.now]
        self.changes = self.changes[len(come) :]
        return [Change(at, ROOT / str(at)) for at in come]

    def run(self, changed: frozenset[Path]) -> float | None:
        assert not self.running, "two ingests at once"
        self.running = True
        begun = self.now
        self.now += self.durations[len(self.runs) % len(self.durations)]
        fails = len(self.runs) < self.failing
        self.runs.append((begun, self.now, changed, not fails))
        self.running = False
        return 5.0 if fails else None


@given(times, durations, st.floats(0, 10), st.floats(0, 50), st.integers(0, 3))
def test_every_change_is_ingested_soon_enough_and_never_two_at_once(
    changes: list[float], durations: list[float], quiet: float, longest: float, failing: int
) -> None:
    world = Clockwork(list(changes), durations, failing)
    patience = Patience(quiet, longest)
    follow([ROOT], patience, wait=world.wait, now=lambda: world.now, run=world.run)
    assert world.runs[0][0] == 0.0, "one at the start"
    assert all(world.runs[n][1] <= world.runs[n + 1][0] for n in range(len(world.runs) - 1))
    for at in changes:
        taken = [
            (begun, index)
            for index, (begun, _, paths, done) in enumerate(world.runs)
            if ROOT / str(at) in paths and done
        ]
        assert len(taken) >= 1, "a change that was never ingested"
        begun, index = taken[0]
        assert begun >= at
        if index >= failing + 1:
            free = world.runs[index - 1][1]
            assert begun <= max(at + longest, free) + 1e-6
    if len(world.runs) > failing + 1:
        last_begun, _, paths, _ = world.runs[-1]
        first = min(float(path.name) for path in paths)
        last = max(float(path.name) for path in paths)
        due = min(last + quiet, first + longest)
        assert last_begun >= due - 1e-6, "an ingest before the changes were quiet"


names = st.sampled_from(["a", "b", ".hidden", "~$lock", "c.txt", "d.txt", "link"])
inner = st.lists(names, min_size=0, max_size=4).map(lambda parts: ROOT.joinpath(*parts))
kinds = st.dictionaries(inner, st.sampled_from(["file", "folder"]))


def around(path: Path) -> list[Path]:
    return [path, *path.parents]


@given(st.lists(inner), kinds, st.lists(inner, max_size=2))
def test_the_parts_cover_what_changed_and_can_be_looked_at(
    changed: list[Path], there: dict[Path, Kind], nested: list[Path]
) -> None:
    def kind(path: Path) -> Kind | None:
        whole = all(there.get(p) == "folder" for p in path.parents if ROOT in p.parents)
        return "folder" if path == ROOT else there.get(path) if whole else None

    sources = [ROOT, *nested]
    parts = changed_parts(changed, [ROOT], sources, kind)
    visible = [
        path
        for path in changed
        if not any(name.startswith((".", "~$")) for name in path.relative_to(ROOT).parts)
    ]
    for path in visible:
        assert set(around(path)) & set(parts), f"{path} is looked at by nobody"
    for part in parts:
        assert kind(part) is not None
        assert not any(name.startswith((".", "~$")) for name in part.relative_to(ROOT).parts)
        assert not set(part.parents) & set(parts)
        assert any(part in around(path) for path in visible)
        owners = [source for source in sources if source in around(part)]
        assert part == ROOT or all(owner == ROOT for owner in owners)


def test_very_many_parts_are_the_whole_source() -> None:
    files = [ROOT / f"{number}.txt" for number in range(MANY + 1)]
    assert changed_parts(files[1:], [ROOT], [ROOT], lambda _: "file") == sorted(files[1:])
    assert changed_parts(files, [ROOT], [ROOT], lambda _: "file") == [ROOT]


@pytest.mark.parametrize("poll", [None, 0.05])
def test_a_sensor_names_what_changed_and_is_deaf_to_the_archive(
    tmp_path: Path, poll: float | None
) -> None:
    said: list[str] = []
    archive = tmp_path / "archive"
    archive.mkdir()
    with Sensor([tmp_path], left_alone=archive, poll=poll, say=said.append) as sensor:

        def heard_until(wanted: Path) -> set[Path]:
            heard: set[Path] = set()
            while wanted not in heard:
                heard |= {change.path for change in sensor.wait(PATIENCE_S) or []}
            return heard

        (archive / "catalogue.db").write_text("x")
        odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))
        odd.write_text("a name that is not UTF-8")
        heard = heard_until(odd)
        assert not any(path.is_relative_to(archive) for path in heard)
        (tmp_path / "new" / "deep").mkdir(parents=True)
        (tmp_path / "new" / "deep" / "b.txt").write_text("b")
        heard_until(tmp_path / "new")
        odd.read_bytes()
        (tmp_path / ".swp").write_text("the editor's own")
        (tmp_path / ".swp").rename(tmp_path / "saved.txt")
        assert odd not in heard_until(tmp_path / "saved.txt"), "reading is no change"
        tmp_path.rename(tmp_path.with_name("away"))
        while not said:
            sensor.wait(0.2)
        tmp_path.with_name("away").rename(tmp_path)
        heard_until(tmp_path)
        (tmp_path / "after.txt").write_text("heard as before")
        heard_until(tmp_path / "after.txt")
        assert said == [f"{tmp_path} is not there, waiting for it", f"{tmp_path} is back"]
        sensor.stop()
        assert sensor.wait(None) is None


class Watch:
    """A real ``watch`` process and the lines it prints."""

    def __init__(self, workplace: Workplace, *options: str) -> None:
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "indexer", "watch"),
                *("--archive", str(workplace.archive.root), "--quiet", "0.2", "--json"),
                *options,
            ],
            cwd=Path(__file__).resolve().parents[1],
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: Queue[str] = Queue()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()

    def next(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._lines.get(timeout=PATIENCE_S))
        return answer

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


@contextmanager
def watching(workplace: Workplace, *options: str) -> Iterator[Watch]:
    watch = Watch(workplace, *options)
    try:
        yield watch
    finally:
        watch.close()


def test_a_watch_takes_in_every_change_and_outlives_every_mishap(
    tmp_path: Path, tiny_encoder: str
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    # The archive lies inside what is watched, and its own writes set nothing off.
    here = Workplace(files, Archive(files / "archive"), tiny_encoder)
    for number in range(4):
        here.write(f"pumps/p{number}.txt", f"Pump {number} is vented.")
    with watching(here, "--encoder", tiny_encoder, str(files)) as watch:
        first = watch.next()
        assert (first["version"], first["outcomes"]["added"], first["exit_code"]) == (1, 4, 0)

        saved = here.write("valves/.v1.swp", "Valve 1 is closed.")
        saved.rename(files / "valves" / "v1.txt")
        assert watch.next()["outcomes"]["added"] == 1

        edited = here.write("valves/v1.txt", "Valve 1 is opened.")
        only = watch.next()
        assert only["sources"] == [str(edited)], "an edit costs the reading of one file"
        assert (only["outcomes"]["changed"], only["documents"]) == (1, 5)

        (files / "valves" / "v1.txt").rename(files / "v1.txt")
        moved = watch.next()
        assert (moved["outcomes"]["moved"], moved["retired"]) == (1, [])

        here.write("bad.txt", "")
        broken = watch.next()
        assert (broken["exit_code"], broken["failed"][0]["path"]) == (1, "bad.txt")
        (files / "bad.txt").unlink()
        assert watch.next()["exit_code"] == 0

        with writer_lock(here.archive):
            here.write("late.txt", "Written while another ingest runs.")
            busy = watch.next()
            assert (busy["exit_code"], "another ingest" in busy["summary"]) == (3, True)
        assert watch.next()["outcomes"]["added"] == 1

        (files / "pumps").rename(tmp_path / "pumps")
        refused = watch.next()
        assert (refused["exit_code"], "--allow-retire" in refused["error"]) == (2, True)
        (tmp_path / "pumps").rename(files / "pumps")
        back = watch.next()
        assert (back["new_version"], back["documents"]) == (False, 6)

        assert watch.end(signal.SIGTERM) == 0
        last = watch.next()
        assert last["summary"] == f"stopped after {last['ingests']} ingests"
        assert last["exit_code"] == 0
    with watching(here) as again:
        assert again.next()["new_version"] is False
        assert again.end(signal.SIGINT) == 130
        assert again.next()["exit_code"] == 130


def test_a_watch_of_nothing_says_what_to_name(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = ["--archive", str(workplace.archive.root)]
    file = workplace.write("a.txt", "alpha")
    for arguments, sentence in (
        ([], "there is no archive in"),
        ([str(file)], "is no folder; watch the folder that holds it"),
        ([str(workplace.files / "nowhere")], "there is no folder"),
        ([str(workplace.files), "--quiet", "-1"], "seconds are counted from 0"),
    ):
        assert main(["watch", *arguments, *archive]) == 2
        assert sentence in capsys.readouterr().err
