"""Progress on the terminal while long work runs; nothing where no person is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def progress_bar(title: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """A bar on stderr with rate and time left; call what it gives with the number done so far."""
    with tqdm(
        total=total, desc=title, unit=f" {unit}", file=sys.stderr, disable=None, smoothing=0.1
    ) as bar:

        def show(done: int) -> None:
            bar.update(done - bar.n)

        yield show
