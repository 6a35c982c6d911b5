"""The store under kills, damage, locks and crowds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexer.ingest import Request, ingest
from indexer.status import read_status
from store.archive import Archive
from store.catalogue import Catalogue
from store.database import writing
from store.embedded import open_backend
from store.errors import Busy, Damaged, NothingServed
from store.filesystem import network_warning, remove
from store.generations import current_generation
from store.lock import writer_lock
from store.manifest import check_files, read_manifest
from tests.conftest import Faults, Workplace
from tests.forked_commands import ForkedCommands, end_group

ROOT = Path(__file__).resolve().parents[1]
KILLS = 20


def fill(workplace: Workplace, generation: int, files: int = 24) -> None:
    """Write files whose every passage says which state of the folder it belongs to."""
    for number in range(files):
        text = "\n\n".join(
            f"State state{generation} sheet {number}, paragraph {part}: tighten the flange."
            for part in range(6)
        )
        workplace.write(f"sheet{number:02d}.txt", text)


def start_ingest(workplace: Workplace) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "indexer", "ingest", str(workplace.files)),
            *("--archive", str(workplace.archive.root), "--encoder", workplace.encoder),
        ],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def one_whole_state(workplace: Workplace) -> int:
    """The state that search answers from; fails where an answer mixes two of them."""
    result = workplace.search("flange", unit="passage", depths={"lexical": 1000, "semantic": 1000})
    assert not result.partial
    passages = (
        open_backend(workplace.archive)
        .for_reader(())
        .passages([hit.id for ranking in result.record.rankings for hit in ranking.hits])
    )
    words = {word for passage in passages.values() for word in passage.text.split()}
    states = {word for word in words if word.startswith("state")}
    assert len(states) == 1, f"one answer from {states}"
    for ranking in result.record.rankings:
        assert len(ranking.hits) == open_backend(workplace.archive).manifest.passages
    return int(states.pop().removeprefix("state"))


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_whole_version_and_the_next_run_completes(
    workplace: Workplace, faults: Faults
) -> None:
    """sto-01: SIGKILL at twenty random moments."""
    commands = ForkedCommands()
    where = ["--archive", str(workplace.archive.root), "--encoder", workplace.encoder]
    ingest_all = ["ingest", str(workplace.files), *where]
    fill(workplace, 0)
    assert commands.run(ingest_all) == [0]
    fill(workplace, 1)
    started = time.monotonic()
    assert commands.run(ingest_all) == [0]
    whole = time.monotonic() - started
    chance = random.Random(20)
    served, killed = 1, 0
    for attempt in range(2, KILLS + 2):
        fill(workplace, attempt)
        processes = commands.start(ingest_all)
        alarm = threading.Timer(chance.uniform(0.02, 1.0) * whole, end_group, processes)
        alarm.start()
        with faults(f"SIGKILL of an ingest at a random moment, {attempt}"):
            killed += commands.wait() == [-signal.SIGKILL]
            alarm.cancel()
            state = one_whole_state(workplace)
            assert served <= state <= attempt
        served = state
    assert killed >= KILLS // 2
    assert commands.run(ingest_all) == [0]
    commands.close()
    assert one_whole_state(workplace) == KILLS + 1
    leftovers = [p.name for p in workplace.archive.generations.iterdir() if p.name[0] == "."]
    assert leftovers == []
    status = read_status(workplace.archive)
    assert status["served_version"] == status["latest_version"]


# Each of these is where a run may stop: the statement that would come next never runs.
COMMIT_POINTS = {
    "before the version": "indexer.committing.commit_version",
    "after the version": "indexer.publishing.build_generation",
    "after the lexical index": "store.embedded.build.write_semantic",
    "after the semantic index": "store.embedded.build.digest_files",
    "before the manifest": "store.embedded.build.write_manifest",
    "before publication": "indexer.publishing.serve",
    "before the log": "indexer.ingest.keep_ingest",
}


@pytest.mark.parametrize("point", COMMIT_POINTS)
def test_a_kill_at_a_commit_point_is_finished_by_the_next_run(
    workplace: Workplace, point: str, faults: Faults
) -> None:
    """sto-01: the process kills itself where the next step would begin."""
    fill(workplace, 1, files=3)
    workplace.ingest()
    fill(workplace, 2, files=3)
    module, _, name = COMMIT_POINTS[point].rpartition(".")
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        f"import {module} as module\n"
        f"module.{name} = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from indexer.cli import main\n"
        "if __name__ == '__main__':\n"
        "    main(sys.argv[1:])\n"
    )
    script = workplace.files.with_name("stopped.py")
    script.write_text(program, encoding="utf-8")
    died = subprocess.run(
        [
            *(sys.executable, str(script), "ingest", str(workplace.files)),
            *("--archive", str(workplace.archive.root)),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    with faults(f"SIGKILL of an ingest {point}"):
        assert one_whole_state(workplace) == (2 if point == "before the log" else 1)
        workplace.ingest()
        assert one_whole_state(workplace) == 2
        with Catalogue(workplace.archive) as catalogue:
            assert [version.number for version in catalogue.versions()] == [1, 2]


def test_a_lock_file_left_behind_blocks_nothing_and_a_live_lock_is_respected(
    workplace: Workplace,
) -> None:
    """sto-07"""
    workplace.write("a.txt", "alpha")
    workplace.archive.root.mkdir()
    workplace.archive.lock.write_text("99999", encoding="utf-8")
    assert workplace.ingest().version == 1
    with writer_lock(workplace.archive):
        with pytest.raises(Busy, match=f"process {os.getpid()}"):
            ingest(workplace.archive, Request((workplace.files,)))
        run = start_ingest(workplace)
        assert run.wait() == Busy.exit_code
    assert workplace.archive.lock.exists()
    assert not workplace.ingest().new_version


@pytest.fixture
def published(workplace: Workplace) -> Workplace:
    fill(workplace, 1, files=4)
    workplace.ingest()
    return workplace


def parts(archive: Archive) -> Iterator[Path]:
    folder = archive.generations / current_generation(archive)
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def lexical_files(archive: Archive) -> list[Path]:
    return [path for path in parts(archive) if path.parent.name == "lexical"]


@pytest.mark.parametrize(
    "harm",
    ["truncate to 0", "truncate to 10", "truncate to 40", "lose 8 bytes", "append junk", "flip"],
)
def test_a_damaged_vector_file_is_refused_by_name_and_words_still_answer(
    published: Workplace, harm: str
) -> None:
    """sto-02"""
    path = next(path for path in parts(published.archive) if path.name == "vectors.faiss")
    data = path.read_bytes()
    damaged = {
        "truncate to 0": b"",
        "truncate to 10": data[:10],
        "truncate to 40": data[:40],
        "lose 8 bytes": data[:-8],
        "append junk": data + b"junk",
        "flip": data[:-3] + bytes([data[-3] ^ 0xFF]) + data[-2:],
    }[harm]
    path.write_bytes(damaged)
    result = published.search("flange")
    assert result.partial
    lexical, semantic = result.record.rankings
    assert len(lexical.hits) == 4
    assert "vectors.faiss" in semantic.unavailable
    assert "python -m indexer ingest" in semantic.unavailable
    assert not published.ingest().new_version
    assert not published.search("flange").partial


def test_each_lost_file_of_the_lexical_index_is_named_and_rebuilt_alike(
    published: Workplace,
) -> None:
    """sto-11"""
    before = published.search("flange state1").record
    kinds = sorted({path.suffix for path in lexical_files(published.archive)})
    assert ".term" in kinds
    for kind in kinds:
        path = next(path for path in lexical_files(published.archive) if path.suffix == kind)
        path.unlink()
        result = published.search("flange state1")
        assert path.name in result.record.rankings[0].unavailable
        assert len(result.record.rankings[1].hits) == 4
        published.ingest()
    after = published.search("flange state1").record
    assert after.rankings == before.rankings
    assert after.record_id == before.record_id


def test_a_generation_with_a_damaged_manifest_is_refused_then_rebuilt(
    published: Workplace,
) -> None:
    folder = published.archive.generations / current_generation(published.archive)
    manifest = read_manifest(folder)
    check_files(folder, manifest, "")
    (folder / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(Damaged, match=r"cannot be read.*python -m indexer ingest"):
        open_backend(published.archive)
    published.ingest()
    assert one_whole_state(published) == 1


def test_losing_every_derived_file_loses_no_version_and_no_result(published: Workplace) -> None:
    before = published.search("flange").record
    for path in (published.archive.vectors, published.archive.current):
        path.unlink()
    subprocess.run(["rm", "-rf", str(published.archive.generations)], check=True)
    with pytest.raises(NothingServed, match="python -m indexer ingest"):
        open_backend(published.archive)
    report = published.ingest()
    assert (report.new_version, report.version) == (False, 1)
    assert published.search("flange").record.rankings == before.rankings


def test_odd_characters_neither_cut_texts_nor_end_the_run(workplace: Workplace) -> None:
    """sto-09"""
    (workplace.files / "nul.txt").write_bytes(b"part AX\x00B valve")
    (workplace.files / os.fsdecode(b"v\xe1lvula.txt")).write_text("latin name", encoding="utf-8")
    report = workplace.ingest()
    assert (report.outcomes["added"], report.failed) == (2, [])
    assert workplace.ids("B valve", "lexical") == ["nul.txt"]
    with Catalogue(workplace.archive) as catalogue:
        text = catalogue.text(catalogue.version(1), "nul.txt")
        stored = catalogue.database.execute(
            "SELECT length(text) FROM extractions WHERE text = ?", [text]
        ).fetchone()
        paths = catalogue.database.execute("SELECT path, path_bytes FROM locations").fetchall()
    assert text.strip() == "part AX B valve"
    assert stored == (len(text),)
    assert ("v\\xe1lvula.txt", b"v\xe1lvula.txt") in paths


WRITER = """
import sys
from corpus.judging import Judgment, Topic
from store.archive import Archive
from store.catalogue import Catalogue
from store.judging import add_judgment, add_topics
from pathlib import Path
from typing import Any
name = sys.argv[2]
with Catalogue(Archive(Path(sys.argv[1]))) as catalogue:
    add_topics(catalogue, [Topic("t", "flange", "the flange", "me", "dev")])
    for number in range(50):
        add_judgment(catalogue, Judgment("t", f"d{number}", 1, 2, name, "2026-01-01", 1, True))
"""


def test_eight_processes_label_a_fresh_archive_while_long_writes_run(tmp_path: Path) -> None:
    """sto-05"""
    archive = Archive(tmp_path / "archive")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(archive.root), f"judge {number}"],
            cwd=ROOT,
            stderr=subprocess.PIPE,
        )
        for number in range(8)
    ]
    with Catalogue(archive) as catalogue:
        while any(writer.poll() is None for writer in writers):
            with writing(catalogue.database):
                time.sleep(0.3)  # as long as a write transaction of an ingest at its worst
    assert [writer.communicate()[1] for writer in writers] == [b""] * 8
    with Catalogue(archive) as catalogue:
        count = catalogue.database.execute("SELECT count(*) FROM judgments").fetchone()
    assert count == (400,)


def test_a_reader_sees_one_whole_version_during_twenty_publishes(workplace: Workplace) -> None:
    """ops-07, exp-05: what was opened stays what it was."""
    fill(workplace, 0, files=3)
    workplace.ingest()
    opened = open_backend(workplace.archive).for_reader(())
    seen = set()
    for state in range(1, 21):
        fill(workplace, state, files=3)
        workplace.ingest()
        seen.add(one_whole_state(workplace))
    assert seen == set(range(1, 21))
    names = [passage.text for passage in opened.passages(["sheet00.txt@1#00000"]).values()]
    assert len(names) == 1
    assert "state0" in names[0]


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "smb3", "fuse.sshfs"])
def test_an_archive_on_a_network_share_is_warned_of_by_folder(tmp_path: Path, kind: str) -> None:
    """sto-12: the kernel's table of mounts is what the probe reads."""
    mounts = tmp_path / "mounts"
    share = tmp_path / "net share"
    share.mkdir()
    point = str(share).replace(" ", "\\040")
    mounts.write_text(
        f"/dev/vda / ext4 rw 0 0\nserver:/x {point} {kind} rw 0 0\n", encoding="utf-8"
    )
    warning = network_warning(share / "archive", mounts)
    assert str(share / "archive") in warning
    assert f"network share ({kind})" in warning
    assert "local disk" in warning
    assert network_warning(tmp_path / "archive", mounts) == ""
    assert network_warning(share, tmp_path / "no table") == ""


def test_a_folder_in_which_something_appears_while_it_is_removed_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "generation" / "lexical"
    index.mkdir(parents=True)
    rmdir, appeared = os.rmdir, []

    def slow(name: str, **options: Any) -> None:
        if name == "lexical" and not appeared:
            appeared.append(name)
            (index / ".lock").touch()
        rmdir(name, **options)

    monkeypatch.setattr(os, "rmdir", slow)
    remove(index.parent)
    assert appeared
    assert not index.parent.exists()
