"""Every file of what is served is harmed in every way, and the cache, and the catalogue.

A fault is survived when search answers as before, or answers in part and says so, or says in one
sentence what to do; when no label is lost; when ``verify`` names it; and when that command, run
once, brings every answer back.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from indexer.checking import verify
from store.errors import CounterpointError, Damaged
from store.vectors import VectorCache
from tests.conftest import Faults, Workplace
from tests.faulty_archive import (
    HARMS,
    REPLACEMENTS,
    Copy,
    copy_of,
    flipped,
    harmed,
    is_a_sentence,
    prepare,
)
from tests.tiny_encoder import make_tiny_encoder


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    return prepare(tmp_path_factory.mktemp("faults"), tiny_encoder)


@pytest.fixture
def copy(original: Workplace, tmp_path: Path) -> Copy:
    return copy_of(original, tmp_path)


def served_files(copy: Copy) -> list[Path]:
    """CURRENT, and the manifest and every file that it lists."""
    return [copy.archive.current, *sorted(p for p in copy.served.rglob("*") if p.is_file())]


def is_survived(copy: Copy, number: int, *, harmless: bool = False) -> None:
    """What has to hold after a fault; the command that mends it alternates with ``number``."""
    whole = copy.answers_or_says_so()
    copy.has_its_labels()
    code = copy.run("verify")
    assert (whole, code) == (True, 0) if harmless else code == Damaged.exit_code
    assert (copy.run("rebuild") if number % 2 else copy.ingest()) == 0
    copy.is_as_before()


@pytest.mark.parametrize("harm", HARMS)
def test_a_harmed_file_of_what_is_served_is_named_and_mended(
    copy: Copy, harm: str, faults: Faults
) -> None:
    """ops-07"""
    for number in range(len(served_files(copy))):
        # Building again gives some of them other names, in the same order.
        path = served_files(copy)[number]
        data = path.read_bytes()
        worse = harmed(data, harm, path.name)
        if worse == data:
            continue
        # A generation's name is what counts in CURRENT, not the line end behind it.
        harmless = path == copy.archive.current and worse.split() == data.split()
        with faults(f"{path.name} {harm}"):
            path.write_bytes(worse)
            is_survived(copy, number, harmless=harmless)


@pytest.mark.parametrize("replacement", REPLACEMENTS)
def test_a_lost_or_replaced_file_of_what_is_served_is_named_and_mended(
    copy: Copy, replacement: str, faults: Faults
) -> None:
    for number in range(len(served_files(copy))):
        path = served_files(copy)[number]
        with faults(f"{path.name} {replacement}"):
            REPLACEMENTS[replacement](path)
            is_survived(copy, number)


def test_folders_that_are_lost_or_are_something_else_are_built_again(
    copy: Copy, faults: Faults
) -> None:
    for number, folder in enumerate(
        (copy.served / "lexical", copy.served / "semantic", copy.served, copy.archive.generations)
    ):
        for what in ("deleted", "a file", "a dangling link"):
            with faults(f"folder {folder.name}: {what}"):
                shutil.rmtree(folder)
                if what == "a file":
                    folder.write_text("not a folder")
                elif what == "a dangling link":
                    folder.symlink_to(folder.with_name("nowhere"))
                is_survived(copy, number)


def test_strange_things_beside_the_generations_stop_no_run(copy: Copy, faults: Faults) -> None:
    for name in (".DS_Store", "notes.txt"):
        with faults(f"a file {name} among the generations"):
            (copy.archive.generations / name).write_text("not a folder")
            copy.is_as_before()
            assert copy.ingest() == 0
            copy.is_as_before()
            assert copy.run("prune", "--yes") == 0


CACHE_HARMS = (*HARMS, *REPLACEMENTS, "of another encoder")


@pytest.mark.parametrize("harm", CACHE_HARMS)
def test_a_harmed_cache_of_vectors_costs_time_only(
    copy: Copy, harm: str, faults: Faults, tmp_path: Path
) -> None:
    """An ingest that needs every vector is asked for, after which all answers are the same."""
    path = copy.archive.vectors
    with faults(f"vectors.db {harm}"):
        if harm in HARMS:
            path.write_bytes(harmed(path.read_bytes(), harm, path.name))
        elif harm in REPLACEMENTS:
            REPLACEMENTS[harm](path)
        else:
            with sqlite3.connect(path) as database:
                database.execute("UPDATE vectors SET encoder = 'another'")
            database.close()
        copy.is_as_before()
        shutil.rmtree(copy.archive.generations)
        assert copy.ingest() == 0
        copy.is_as_before(encoded_anew=True)


def test_damage_to_any_page_of_the_cache_is_said_wherever_it_is_met(
    copy: Copy, faults: Faults
) -> None:
    """SQLite meets it when it opens, prepares, runs or steps through a statement."""
    path = copy.archive.vectors
    whole = path.read_bytes()
    for start in range(0, len(whole), 4096):
        with faults(f"page {start // 4096} of vectors.db overwritten"):
            path.write_bytes(whole[:start] + b"\xff" * 64 + whole[start + 64 :])
            for log in ("-wal", "-shm"):
                path.with_name(path.name + log).unlink(missing_ok=True)
            try:
                with VectorCache(copy.archive) as cache:
                    cache.missing([bytes(32)], "an encoder")
            except CounterpointError as error:
                assert "\n" not in str(error) and str(path) in str(error)


def test_a_flipped_bit_of_any_vector_is_never_indexed(copy: Copy, faults: Faults) -> None:
    """SQLite cannot see it, the check behind each vector can: those alone are encoded again."""
    chance = random.Random(3)
    for turn in range(8):
        with faults(f"a bit of a cached vector flipped, {turn}"):
            with sqlite3.connect(copy.archive.vectors) as database:
                rows = database.execute("SELECT rowid, vector FROM vectors").fetchall()
                row, vector = chance.choice(rows)
                worse = flipped(vector, chance.randrange(len(vector)), chance.randrange(8))
                database.execute("UPDATE vectors SET vector = ? WHERE rowid = ?", (worse, row))
            database.close()
            shutil.rmtree(copy.archive.generations)
            assert copy.run("rebuild") == 0
            copy.is_as_before(encoded_anew=True)
    assert not copy.archive.vectors.with_name("vectors.db.damaged").exists()


def test_a_vector_of_before_the_check_is_still_used(copy: Copy) -> None:
    with sqlite3.connect(copy.archive.vectors) as database:
        database.execute("UPDATE vectors SET vector = substr(vector, 1, length(vector) - 4)")
    database.close()
    shutil.rmtree(copy.archive.generations)
    report = copy.workplace.ingest()
    assert report.encoded == 0
    copy.is_as_before()


def test_a_damaged_cache_is_moved_aside_and_the_report_says_so(copy: Copy) -> None:
    copy.archive.vectors.write_bytes(b"x" * 9000)
    shutil.rmtree(copy.archive.generations)
    report = copy.workplace.ingest()
    (note,) = (note.reason for note in report.notes if note.stage == "vectors")
    assert "vectors.db.damaged" in note
    assert report.encoded > 0
    assert copy.archive.vectors.with_name("vectors.db.damaged").read_bytes() == b"x" * 9000


def test_another_encoder_beside_a_full_cache_finds_its_own_vectors(
    copy: Copy, tmp_path: Path
) -> None:
    other = str(make_tiny_encoder(tmp_path / "other", seed=11))
    first = copy.workplace.ingest()
    assert first.encoded == 0
    assert copy.run("ingest", str(copy.workplace.files), "--encoder", other) == 0
    with VectorCache(copy.archive) as cache:
        found = cache.database.execute("SELECT count(DISTINCT encoder) FROM vectors").fetchone()
    assert found == (2,)


def is_told_or_harmless(copy: Copy) -> None:
    """One sentence or the answers of before; what differs without a word, ``verify`` names."""
    try:
        copy.answers_or_says_so()
        differs = False
    except AssertionError:
        differs = True
    try:
        problems = list(verify(copy.archive))
    except CounterpointError as error:
        assert is_a_sentence(str(error))
        problems = [str(error)]
    assert problems or not differs
    assert copy.run("verify") == (Damaged.exit_code if problems else 0)


@pytest.mark.parametrize(
    "harm", ["truncated to nothing", "truncated to half", "one byte lost", "first byte flipped"]
)
def test_a_damaged_catalogue_is_named_and_a_backup_brings_all_back(
    copy: Copy, harm: str, faults: Faults, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.db"
    assert copy.run("backup", str(backup)) == 0
    path = copy.archive.catalogue
    path.write_bytes(harmed(path.read_bytes(), harm, path.name))
    with faults(f"catalogue.db {harm}"):
        copy.answers_or_says_so()
        assert copy.run("verify") == Damaged.exit_code
        path.rename(path.with_name("catalogue.damaged"))
        assert copy.run("restore", str(backup)) == 0
        copy.is_as_before()


@pytest.mark.parametrize("replacement", REPLACEMENTS)
def test_a_lost_catalogue_is_never_begun_anew_without_a_word(
    copy: Copy, replacement: str, faults: Faults, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.db"
    assert copy.run("backup", str(backup)) == 0
    path = copy.archive.catalogue
    with faults(f"catalogue.db {replacement}"):
        REPLACEMENTS[replacement](path)
        assert not copy.answers_or_says_so()
        for command in ("verify", "status", "rebuild"):
            assert copy.run(command) == Damaged.exit_code
        assert copy.ingest() == Damaged.exit_code
        if path.is_symlink() or path.exists():
            path.rename(path.with_name("catalogue.damaged"))
        assert copy.run("restore", str(backup)) == 0
        copy.is_as_before()


def test_flipped_bits_in_the_catalogue_are_said_and_never_a_traceback(
    copy: Copy, faults: Faults, tmp_path: Path
) -> None:
    sound = copy.archive.catalogue.read_bytes()
    chance = random.Random(11)
    for _ in range(40):
        position, bit = chance.randrange(len(sound)), chance.randrange(8)
        with faults(f"catalogue.db bit {bit} of byte {position} of {len(sound)}"):
            copy.archive.catalogue.write_bytes(flipped(sound, position, bit))
            is_told_or_harmless(copy)
    copy.archive.catalogue.write_bytes(sound)
    copy.is_as_before()


def test_a_schema_that_is_no_text_or_no_sql_is_damage_said_in_one_line(
    copy: Copy, faults: Faults
) -> None:
    """SQLite gives Python the bytes of a name as they are, and quotes what it cannot read."""
    sound = copy.archive.catalogue.read_bytes()
    for name in (b'"from_version" INTEGER', b'"title" TEXT', b"TEXT NOT NULL"):
        assert name in sound
        broken = name[:3] + b"\xef" + name[4:] if name.startswith(b'"') else b'"' + name[1:]
        with faults(f"{name!r} of the schema as {broken!r}"):
            copy.archive.catalogue.write_bytes(sound.replace(name, broken))
            is_told_or_harmless(copy)
    copy.archive.catalogue.write_bytes(sound)
    copy.is_as_before()


def test_a_log_left_by_a_lost_catalogue_is_not_replayed_into_the_restored_one(
    copy: Copy, faults: Faults, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.db"
    assert copy.run("backup", str(backup)) == 0
    path = copy.archive.catalogue
    log = path.with_name("catalogue.db-wal")
    with faults("catalogue.db lost, its log left"):
        with sqlite3.connect(path) as database:
            database.execute("UPDATE states SET title = 'replayed'")
            database.commit()
            kept = log.read_bytes()
        database.close()
        assert b"replayed" in kept
        path.unlink()
        log.write_bytes(kept)
        assert copy.run("restore", str(backup)) == 0
        copy.is_as_before()


@pytest.mark.parametrize("harm", [*HARMS, *REPLACEMENTS])
@pytest.mark.parametrize("name", ["catalogue.db-wal", "catalogue.db-shm"])
def test_a_harmed_log_takes_nothing_that_is_in_the_catalogue(
    copy: Copy, original: Workplace, name: str, harm: str, faults: Faults
) -> None:
    """A log lies there only after a kill. What no other file holds yet goes with it, unseen: SQLite
    reads a log up to its first frame that is not whole."""
    path = copy.archive.catalogue
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO searches VALUES (NULL, 'x', '2026', 'of the log only')")
        database.commit()
        kept = {end: path.with_name(path.name + end).read_bytes() for end in ("-wal", "-shm")}
        whole = path.read_bytes()
    database.close()
    path.write_bytes(whole)
    for end, data in kept.items():
        path.with_name(path.name + end).write_bytes(data)
    with faults(f"{name} {harm}"):
        target = path.with_name(name)
        if harm in HARMS:
            target.write_bytes(harmed(target.read_bytes(), harm, name))
        else:
            REPLACEMENTS[harm](target)
        if copy.answers_or_says_so():
            copy.has_its_labels()
        if target.is_dir() or target.is_symlink():
            assert copy.run("verify") in (0, Damaged.exit_code)
            target.rename(target.with_name("moved away"))
        copy.is_as_before()
