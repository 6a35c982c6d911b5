"""Copying the catalogue while it is in use, and checking a copy before it is trusted."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

from store.database import told
from store.errors import BadInput, Damaged
from store.filesystem import remove

PAGES_AT_ONCE = 1_024
"""How much is copied between two moments in which others may write."""


def copy_online(connection: sqlite3.Connection, target: Path) -> None:
    """Write a consistent copy of an open database to ``target``, which must not exist.

    The copy gets its name when it is whole and on disk.

    :raises BadInput: there is no folder to write it into
    :raises NoSpace: the disk of ``target`` is full
    :raises Damaged: the database cannot be read, or the copy not written
    """
    if not target.parent.is_dir():
        raise BadInput(
            f"there is no folder {target.parent} to write the backup into; make it first"
        )
    partial = target.with_name(f".{target.name}.partial")
    partial.unlink(missing_ok=True)
    with told(partial):
        copy = sqlite3.connect(partial)
        try:
            connection.backup(copy, pages=PAGES_AT_ONCE)
            # One plain file: no write-ahead log travels with a backup.
            copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()
    with partial.open("rb") as handle:
        os.fsync(handle.fileno())
    partial.rename(target)


def check_backup(path: Path) -> None:
    """:raises Damaged: the file is not a sound catalogue"""
    if not path.is_file():
        raise Damaged(f"there is no backup {path}")
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        found = database.execute("PRAGMA integrity_check").fetchone()[0]
        for table in ("versions", "judgments", "records"):
            database.execute(f"SELECT count(*) FROM {table}")
    except sqlite3.DatabaseError as error:
        raise Damaged(f"{path} is not a sound backup: {error}") from error
    finally:
        database.close()
    if found != "ok":
        raise Damaged(f"{path} is damaged: {found}")


def install(backup: Path, catalogue: Path) -> None:
    """Put a copy of a checked backup in place of a catalogue that is not there."""
    # A log that outlived its database would be replayed into this one.
    for log in ("-wal", "-shm", "-journal"):
        remove(catalogue.with_name(catalogue.name + log))
    partial = catalogue.with_name(f".{catalogue.name}.partial")
    shutil.copyfile(backup, partial)
    with partial.open("rb") as handle:
        os.fsync(handle.fileno())
    partial.rename(catalogue)
