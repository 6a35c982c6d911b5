"""When to run after changes: once they have been quiet, and at the latest after a longest wait.

Nothing here reads a clock, a disk or a signal: all three come in as functions, so that years of
changes pass in a test's moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Patience:
    """How long changes wait for more of them, in seconds.

    A run begins ``quiet`` after the last change, and ``longest`` after the first one whatever goes
    on, so that a file that is written to all day cannot keep the others out.
    """

    quiet: float
    longest: float


@dataclass(frozen=True, slots=True)
class Change:
    """A path that is no longer as it was, and the time at which that was noticed, in seconds."""

    at: float
    path: Path


def follow(
    start: Iterable[Path],
    patience: Patience,
    *,
    wait: Callable[[float | None], list[Change] | None],
    now: Callable[[], float],
    run: Callable[[frozenset[Path]], float | None],
) -> None:
    """Run once for ``start``, then for every burst of changes, one run at a time.

    ``wait`` gives every change that has come, at the latest after so many seconds (None: however
    long it takes), and None to stop. ``run`` is given the paths that changed; where it could not do
    its work it gives the seconds after which it wants the same paths again.
    """
    changed = set(start)
    first = last = not_before = float("-inf")
    while True:
        due = max(min(last + patience.quiet, first + patience.longest), not_before)
        if changed and due <= now():
            batch, changed, not_before = frozenset(changed), set(), float("-inf")
            again = run(batch)
            if again is not None:
                changed = set(batch)
                first = last = now()
                not_before = last + again
            # What happened during the run is heard before the next one is considered.
            arrived = wait(0.0)
        else:
            arrived = wait(due - now() if changed else None)
        if arrived is None:
            return
        for change in arrived:
            if not changed:
                first = last = change.at
            changed.add(change.path)
            last = max(last, change.at)
