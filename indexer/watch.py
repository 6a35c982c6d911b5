"""Ingesting on change: whatever happens to the sources, the next good state of them gets in.

The watch itself holds nothing of the archive between two ingests, so that other commands run as
they would without it.
"""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from indexer.debounce import Patience, follow
from indexer.ingest import Request, ingest
from indexer.parts import Kind, changed_parts
from indexer.report import Report
from indexer.sensor import Sensor
from indexer.sources import known_sources
from store.archive import Archive
from store.catalogue import Catalogue
from store.encoder import open_encoder
from store.errors import (
    BadInput,
    Busy,
    CounterpointError,
    MassRetirement,
    NoSource,
    NoSpace,
    from_system,
)

AGAIN_S = 5.0
"""Seconds until another try where the archive is held by another ingest, or its disk is full."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One ingest of a watch: its report, or why nothing was changed. ``at`` is UTC."""

    at: str
    result: Report | CounterpointError

    def line(self) -> str:
        """The attempt for a person."""
        result = self.result
        return f"{self.at} {result.summary() if isinstance(result, Report) else result}"

    def as_data(self) -> dict[str, Any]:
        """The attempt as JSON-ready data."""
        if isinstance(self.result, Report):
            return {"at": self.at, **self.result.as_data()}
        code, sentence = self.result.exit_code, str(self.result)
        return {"at": self.at, "error": sentence, "exit_code": code, "summary": sentence}


def watch(
    archive: Archive,
    request: Request,
    patience: Patience,
    *,
    poll: float | None,
    tell: Callable[[Attempt], None],
    say: Callable[[str], None],
) -> int:
    """Ingest the folders of ``request``, or every source, now and after each change of theirs.

    Returns on SIGTERM, once an ingest under way is done, the number of ingests there were. Each
    goes to ``tell``, what else a maintainer should know to ``say``.

    :raises NoSource: a folder is not there, or none is named and the archive has no source
    :raises BadInput: a path is no folder
    :raises CounterpointError: an ingest failed in a way that neither time nor a change of the
        sources will mend, such as a damaged archive or a missing encoder
    """
    roots = _roots(archive, request.paths)
    with Sensor(roots, left_alone=archive.root.resolve(), poll=poll, say=say) as sensor:
        runs = _Runs(archive, request, roots, tell)
        with _terminated_by(sensor.stop):
            follow(roots, patience, wait=sensor.wait, now=time.monotonic, run=runs.run)
    return runs.done


class _Runs:
    """What a watch keeps between two ingests: the open encoder, and which folders are behind."""

    def __init__(
        self,
        archive: Archive,
        request: Request,
        roots: tuple[Path, ...],
        tell: Callable[[Attempt], None],
    ) -> None:
        self._archive, self._request, self._roots, self._tell = archive, request, roots, tell
        self._open_model = lru_cache(maxsize=1)(open_encoder)
        # Of these, something may have changed that is not in the archive.
        self._behind = set(roots)
        self._waiting_for = ""
        self.done = 0

    def run(self, changed: frozenset[Path]) -> float | None:
        """Ingest what changed; the seconds to wait before the same is tried again, if it is."""
        parts = self._parts(changed)
        return self._ingest(parts) if parts else None

    def _parts(self, changed: frozenset[Path]) -> dict[Path, list[Path]]:
        """What to look at of each folder that is there and has changed."""
        with Catalogue(self._archive) as catalogue:
            sources = [source.root for source in known_sources(catalogue)]
        parts = {}
        for root in filter(Path.is_dir, self._roots):
            if found := changed_parts(changed, [root], sources, _kind):
                parts[root] = [root] if root in self._behind else found
        return parts

    def _ingest(self, parts: Mapping[Path, list[Path]]) -> float | None:
        paths = tuple(path for found in parts.values() for path in found)
        whole = all(found == [root] for root, found in parts.items())
        self._behind |= set(parts)
        try:
            report = ingest(self._archive, replace(self._request, paths=paths), self._open_model)
        except NoSource as error:
            if not whole:  # a part of it vanished meanwhile
                return 0.0
            self._finish(error)
        except MassRetirement as error:
            if len(parts) > 1:
                # One folder that was emptied does not keep the others out.
                again = [self._ingest({root: found}) for root, found in parts.items()]
                return max((pause for pause in again if pause is not None), default=None)
            self._finish(error)
        except (Busy, NoSpace) as error:
            return self._again(error)
        except OSError as error:
            return self._again(from_system(error, self._archive.root))
        else:
            self._behind -= set(parts)
            self.done += 1
            self._finish(report)
        return None

    def _finish(self, result: Report | CounterpointError) -> None:
        self._waiting_for = ""
        self._tell(Attempt(_now(), result))

    def _again(self, error: CounterpointError) -> float:
        """Tell once why there is nothing to be done now, however often it is tried."""
        if str(error) != self._waiting_for:
            self._finish(error)
            self._waiting_for = str(error)
        return AGAIN_S


def _roots(archive: Archive, paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """The folders to watch, by their real paths. A known source may be away."""
    if not paths:
        with Catalogue(archive) as catalogue:
            known = tuple(source.root for source in known_sources(catalogue))
        if not known:
            raise NoSource(
                f"the archive in {archive.root} has no source yet; name a folder: "
                f"`python -m indexer watch PATH --archive {archive.root}`"
            )
        return known
    for path in paths:
        if not path.exists():
            raise NoSource(f"there is no folder {path}; nothing is watched")
        if not path.is_dir():
            raise BadInput(f"{path} is no folder; watch the folder that holds it")
    return tuple(dict.fromkeys(path.resolve() for path in paths))


def _kind(path: Path) -> Kind | None:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else None


@contextmanager
def _terminated_by(stop: Callable[[], None]) -> Iterator[None]:
    """Let SIGTERM call ``stop`` instead of ending the process where it stands."""
    before = signal.signal(signal.SIGTERM, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
