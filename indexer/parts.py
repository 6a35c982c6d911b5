"""Which parts of the sources to look at, from the paths that changed.

Looking at a part costs the reading of that part. A file that is there is a part of its own; for one
that is gone it is the nearest folder that is still there, where its absence shows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

from indexer.scan import left_out_by_name

MANY = 64
"""From so many parts on, the whole source is looked at: it costs less than it saves."""

Kind = Literal["file", "folder"]


def changed_parts(
    changed: Iterable[Path],
    roots: Sequence[Path],
    sources: Sequence[Path],
    kind: Callable[[Path], Kind | None],
) -> list[Path]:
    """The files and folders to ingest, none inside another of the same source.

    ``roots`` are the folders being watched, ``sources`` the archive's; ``kind`` says what is at a
    path, and None for whatever is neither a regular file nor a folder, such as a link. What a scan
    leaves out by its name is left out here.
    """
    paths = list(changed)
    parts: list[Path] = []
    for root in roots:
        below = [path for path in paths if path.is_relative_to(root)]
        found = {_part(root, path, kind) for path in below if _counts(root, path)}
        # A source inside a source would take the part for its own, and the outer one never see it.
        shared = any(_owner(part, sources) != _owner(root, sources) for part in found)
        if shared or len(found) > MANY or root in found:
            found = {root}
        parts += sorted(part for part in found if not found & set(part.parents))
    return list(dict.fromkeys(parts))


def _counts(root: Path, path: Path) -> bool:
    """Whether a scan would not leave out ``path`` or a folder around it by its name."""
    names = path.relative_to(root).parts
    return not any(left_out_by_name(os.fsencode(name)) for name in names)


def _part(root: Path, path: Path, kind: Callable[[Path], Kind | None]) -> Path:
    """``path`` itself, or the nearest folder around it that can be reached without a link."""
    part = root
    for name in path.relative_to(root).parts:
        found = kind(part / name)
        if found == "folder":
            part = part / name
        elif found == "file" and part / name == path:
            return path
        else:
            return part
    return part


def _owner(path: Path, sources: Sequence[Path]) -> Path | None:
    """The source that a part at ``path`` belongs to: the innermost one around it."""
    holders = [source for source in sources if path.is_relative_to(source)]
    return max(holders, key=lambda source: len(source.parts), default=None)
