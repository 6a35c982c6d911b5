"""One writer at a time, by a lock that the operating system drops when its holder dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from store.archive import Archive
from store.errors import Busy


@contextmanager
def writer_lock(archive: Archive) -> Iterator[None]:
    """Hold the archive for writing.

    The file itself means nothing and is never deleted: only the lock on it counts, so that one left
    behind by a killed process does not block the next.

    :raises Busy: another process holds it
    """
    archive.root.mkdir(parents=True, exist_ok=True)
    with archive.lock.open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            raise Busy(
                f"another ingest (process {holder}) is writing to {archive.root}; "
                "wait for it to finish, then run this command again"
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield
