"""Which files are sidecars, and where a sidecar is not read."""

from __future__ import annotations

import os

from indexer.given import SUFFIX
from indexer.settings import NAME, Settings
from indexer.unpacking import Held
from store.texts import Failure


def is_sidecar(path: bytes) -> bool:
    """Whether a file, by its name, says something of another one and is no document itself.

    >>> is_sidecar(b"pumps/hx-204.pdf.meta.toml"), is_sidecar(b"pumps/.meta.toml")
    (True, False)
    """
    return len(path.rpartition(b"/")[2]) > len(SUFFIX) and path.endswith(SUFFIX)


def speaks_of_another(root: bytes, path: bytes) -> bool:
    """Whether ``path`` stands where the sidecar of something below ``root`` would be."""
    return is_sidecar(path) and os.path.lexists(os.path.join(root, path.removesuffix(SUFFIX)))


def beside_no_sidecar(path: bytes, held: Held | Failure | None) -> Held | Failure | None:
    """Refuse a container that has a sidecar: what it says would restrict nobody.

    What gzip wraps has the container's own place, and may have one.
    """
    wraps_one_file = isinstance(held, Held) and [name for name, _ in held.members] == [b""]
    if isinstance(held, Held) and not wraps_one_file and os.path.lexists(path + SUFFIX):
        return Failure(
            "metadata",
            "what is inside a container takes its metadata from rules; move what its sidecar says "
            f"to a [[rule]] in {NAME} and remove the sidecar",
        )
    return held


def left_out_inside(settings: Settings, path: bytes) -> str:
    """Why a file inside a container is not taken, or nothing."""
    if is_sidecar(path):
        return f"a sidecar inside a container is not read; a [[rule]] in {NAME} can say it"
    pattern = settings.ignored(path)
    return f"ignored by {NAME}: {pattern}" if pattern else ""
