"""Opening SQLite the one safe way, and writing to it in one kind of transaction.

Several processes may open a new archive at the same moment, and switching a database to WAL or
migrating it must not be raced, so both happen under an operating-system lock.
"""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database, Migrations

from store.errors import BadInput, Busy, Damaged, no_space

BUSY_TIMEOUT_MS = 60_000


def open_database(path: Path, migrations: Migrations) -> Database:
    """Open ``path``, creating and migrating it where needed.

    The handle belongs to the thread that opened it.

    :raises Damaged: the file is no database, or a damaged one
    :raises NoSpace: the disk is full
    :raises BadInput: this user may not write there
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _told(path):
        fresh = not path.exists()
        database = _connect(path)
        if fresh or migrations.pending(database):
            with _queue(path):
                database.execute("PRAGMA journal_mode = WAL")
                migrations.apply(database)
    return database


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say in a sentence what SQLite says in a word."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
            raise no_space(path.parent) from error
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise Busy(
                f"another program has held {path} for a minute; run this again when it is done"
            ) from error
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise BadInput(
                f"{path} cannot be written to ({error}); an archive needs a folder in which this "
                "user may write, even to be read"
            ) from error
        raise
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise
        raise Damaged(
            f"{path} is damaged ({error}); put a backup in its place, "
            "`python -m indexer restore FILE --archive ANOTHER` checks one"
        ) from error


def _connect(path: Path) -> Database:
    # isolation_level None: transactions begin where the code says so, never behind its back.
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA foreign_keys = ON")
    return Database(connection, execute_plugins=False)


@contextmanager
def _queue(path: Path) -> Iterator[None]:
    """Wait for this database's other writers in the operating system's queue.

    SQLite alone polls for its lock, ever more slowly: beside a process that writes all the time,
    such as an ingest, a reviewer's label could be refused after a minute of bad luck.
    """
    with path.with_suffix(".lock").open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def writing(database: Database) -> Iterator[Database]:
    """One write transaction, all or nothing.

    BEGIN IMMEDIATE takes the write lock at once: a read transaction that is upgraded later would
    fail with "database is locked" however long the timeout is.
    """
    connection = database.conn
    path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
    with _queue(path), _told(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield database
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
