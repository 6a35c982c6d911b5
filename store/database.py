"""Opening SQLite the one safe way, and writing to it in one kind of transaction.

Several processes may open a new archive at the same moment, and switching a database to WAL or
migrating it must not be raced, so both happen under an operating-system lock.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlite_utils import Database, Migrations

from store.errors import BadInput, Busy, CounterpointError, Damaged, no_space

BUSY_TIMEOUT_MS = 60_000


def open_database(path: Path, migrations: Migrations) -> Database:
    """Open ``path``, creating and migrating it where needed.

    The handle belongs to the thread that opened it.

    Whatever fails in it later is said in the same sentences, also in the middle of reading.

    :raises Damaged: the file is no database, or a damaged one, or cannot be opened
    :raises NoSpace: the disk is full
    :raises BadInput: this user may not write there
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with told(path):
        fresh = not path.exists()
        database = _connect(path)
        if fresh or migrations.pending(database):
            with _queue(path):
                database.execute("PRAGMA journal_mode = WAL")
                migrations.apply(database)
    return database


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Say in a sentence what SQLite says in a word while it works on ``path``."""
    try:
        yield
    except sqlite3.Error as error:
        if _of_the_caller(error):
            raise
        raise _in_words(path, error) from error
    except UnicodeDecodeError as error:
        # A name in a damaged schema that is no text: SQLite hands its bytes to Python as they are.
        raise damaged_database(path, str(error)) from error


def _of_the_caller(error: sqlite3.Error) -> bool:
    """Whether a rule of the schema or of Python was broken, which says nothing of the file."""
    return isinstance(
        error, sqlite3.IntegrityError | sqlite3.ProgrammingError | sqlite3.InterfaceError
    )


def _in_words(path: Path, error: sqlite3.Error) -> CounterpointError:
    # A text that is not UTF-8 is an error of Python's and has no code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return no_space(path.parent)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy(f"another program has held {path} for a minute; run this again when it is done")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        if not os.access(path.parent, os.W_OK):
            return BadInput(
                f"{path} cannot be written to ({error}); an archive needs a folder in which this "
                "user may write, even to be read"
            )
        return Damaged(
            f"{path} cannot be used ({error}); see that it and the logs beside it are files which "
            "this user may read and write, in a folder that is writable, then run "
            f"`python -m indexer verify --archive {path.parent}`"
        )
    return damaged_database(path, str(error))


def damaged_database(path: Path, finding: str) -> Damaged:
    """The error for a catalogue that cannot be trusted, with the way back."""
    # SQLite quotes what it cannot read as it stands, line breaks included.
    found = " ".join(finding.split())
    return Damaged(
        f"{path} is damaged ({found}); move it out of the folder and run "
        f"`python -m indexer restore BACKUP --archive {path.parent}` with a backup of it"
    )


class _Cursor(sqlite3.Cursor):
    """A cursor that says in a sentence what is wrong with the file, whichever row it is met at."""

    def execute(self, *arguments: Any) -> _Cursor:
        with told(_path_of(self)):
            super().execute(*arguments)
        return self

    def executemany(self, *arguments: Any) -> _Cursor:
        with told(_path_of(self)):
            super().executemany(*arguments)
        return self

    def fetchone(self) -> Any:
        with told(_path_of(self)):
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with told(_path_of(self)):
            return super().fetchall()

    def __next__(self) -> Any:
        # What ends a loop is no error, and no row may cost more than it has to.
        try:
            return super().__next__()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            with told(_path_of(self)):
                raise error from None


def _path_of(cursor: _Cursor) -> Path:
    connection = cursor.connection
    assert isinstance(connection, _Connection)
    return connection.path


class _Connection(sqlite3.Connection):
    """A connection that knows its file, for what its cursors have to say of it."""

    path = Path()

    def cursor(self, factory: Any = _Cursor) -> Any:
        return super().cursor(factory)

    # The shortcuts of the class below would run the statement past the cursor's own methods.
    def execute(self, *arguments: Any) -> Any:
        return self.cursor().execute(*arguments)

    def executemany(self, *arguments: Any) -> Any:
        return self.cursor().executemany(*arguments)


def _connect(path: Path) -> Database:
    # isolation_level None: transactions begin where the code says so, never behind its back.
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, factory=_Connection
    )
    connection.path = path
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
    with _queue(path), told(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield database
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
