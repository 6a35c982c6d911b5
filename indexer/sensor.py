"""Noticing changes below folders, by the operating system's word or by looking again and again."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.polling import PollingObserverVFS

from indexer.debounce import Change
from store.filesystem import on_network

POLL_S = 10.0
"""Seconds between two looks at a folder whose system does not say what changed."""

ROOTS_S = 1.0
"""Seconds between two checks that each folder is still the same one."""

FLOOD = 1_000
"""So many changes at once may be more than the kernel kept (16,384): then all is looked at."""

_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")

# What reading a file sets off is left out, so that an ingest does not call for the next one; and so
# is the change of a folder that comes with every change in it.
_HEARD: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirAttribEvent,
    DirMovedEvent,
    DirDeletedEvent,
]


class Sensor(FileSystemEventHandler):
    """Notices what changes below ``roots``; one that vanishes is waited for. Use ``with``.

    Nothing below ``left_alone`` counts. ``poll`` is the number of seconds between two looks; None
    looks only where the system says nothing, on network shares and beyond its limit of folders.
    ``say`` is told what a maintainer should know.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        left_alone: Path,
        poll: float | None,
        say: Callable[[str], None],
    ) -> None:
        self._roots = tuple(roots)
        self._left_alone = left_alone
        self._poll = poll
        self._say = say
        self._heard: SimpleQueue[Change | None] = SimpleQueue()
        self._stopping = False
        self._told = Observer()
        self._looking = PollingObserverVFS(os.lstat, os.scandir, polling_interval=poll or POLL_S)
        self._armed: dict[Path, tuple[BaseObserver, ObservedWatch]] = {}
        self._known: dict[Path, tuple[int, int] | None] = {}
        self._checked = float("-inf")

    def __enter__(self) -> Sensor:
        # A folder that is moved out and in again is noticed, and warned of at length as well.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")
        self._told.start()
        self._looking.start()
        self._check_roots()
        return self

    def __exit__(self, *_: object) -> None:
        for observer in (self._told, self._looking):
            observer.stop()
            observer.join()

    def stop(self) -> None:
        """Let ``wait`` give None from now on. May be called from a signal handler."""
        self._stopping = True
        self._heard.put(None)

    def wait(self, timeout: float | None) -> list[Change] | None:
        """Every change that has come, at the latest after ``timeout`` seconds; None to stop."""
        until = float("inf") if timeout is None else time.monotonic() + timeout
        while not self._stopping:
            changes = self._arrived() + self._check_roots()
            if len(changes) >= FLOOD:
                changes += [Change(changes[-1].at, root) for root in self._roots]
            left = until - time.monotonic()
            if changes or left <= 0:
                return changes
            with suppress(Empty):
                self._heard.put(self._heard.get(timeout=min(left, ROOTS_S)))
        return None

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by the observers, in threads of theirs."""
        at = time.monotonic()
        for name in (event.src_path, event.dest_path):
            path = Path(os.fsdecode(name))
            if name and not path.is_relative_to(self._left_alone):
                self._heard.put(Change(at, path))

    def _arrived(self) -> list[Change]:
        changes = []
        with suppress(Empty):
            while True:
                change = self._heard.get_nowait()
                if change is not None:
                    changes.append(change)
        for root in {change.path for change in changes} & set(self._armed):
            # It may be gone, if only for a moment, and then the observer has let go of it.
            self._disarm(root)
            del self._known[root]
            self._checked = float("-inf")
        return changes

    def _check_roots(self) -> list[Change]:
        """Arm what is there, came back or was replaced; let go of what is gone."""
        now = time.monotonic()
        if now - self._checked < ROOTS_S:
            return []
        self._checked = now
        changes = []
        for root in self._roots:
            found, before = _identity(root), self._known.get(root)
            if root in self._known and found == before:
                continue
            if found is None:
                self._say(f"{root} is not there, waiting for it")
            elif root in self._known and before is None:
                self._say(f"{root} is back")
            self._disarm(root)
            self._known[root] = found
            if found is not None:
                self._arm(root)
                changes.append(Change(now, root))
        return changes

    def _arm(self, root: Path) -> None:
        looks = self._poll is not None or on_network(root)
        if not looks and _more_folders_than(_told_folders(), root):
            self._say(
                f"{root} holds more folders than this system reports changes of "
                f"(fs.inotify.max_user_watches); looking at it every {POLL_S:g} s instead"
            )
            looks = True
        observer = self._looking if looks else self._told
        try:
            watch = observer.schedule(self, str(root), recursive=True, event_filter=_HEARD)
        except OSError as error:
            # It vanished this moment, or cannot be opened: the next check tries again.
            self._say(f"{root} cannot be watched ({error.strerror}), trying again")
            self._known[root] = None
        else:
            self._armed[root] = (observer, watch)

    def _disarm(self, root: Path) -> None:
        if root in self._armed:
            observer, watch = self._armed.pop(root)
            observer.unschedule(watch)


def _identity(root: Path) -> tuple[int, int] | None:
    """What tells a folder from another one of its name; None where there is no folder."""
    try:
        status = root.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if root.is_dir() else None


def _told_folders() -> float:
    """How many folders the system reports changes of, where it states a limit."""
    try:
        return int(_WATCHES.read_text())
    except OSError:
        return float("inf")


def _more_folders_than(limit: float, root: Path) -> bool:
    return any(count > limit for count, _ in enumerate(os.walk(root), start=1))
