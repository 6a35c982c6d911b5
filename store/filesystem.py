"""On what kind of file system an archive lies, as SQLite's log and its locks need a local one; and
removing what lies there, whatever it is."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

NETWORK_TYPES = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "lustre", "9p", "davfs"}
)
_MOUNTS = Path("/proc/self/mounts")
_REMOVALS = 5


def remove(path: Path) -> None:
    """Remove a file, a link (never what it leads to), or a folder with all that is in it."""
    for attempt in range(_REMOVALS):
        if not path.is_dir() or path.is_symlink():
            path.unlink(missing_ok=True)
            return
        try:
            shutil.rmtree(path)
            return
        except OSError as error:
            # A process that is just opening an index leaves a lock file in it.
            if error.errno != errno.ENOTEMPTY or attempt == _REMOVALS - 1:
                raise


def network_warning(folder: Path, mounts: Path = _MOUNTS) -> str:
    """A sentence where ``folder`` lies on a network share, else nothing.

    ``mounts`` is the kernel's table; where there is none, nothing is known and nothing said.
    """
    if not on_network(folder, mounts):
        return ""
    kind = file_system_type(folder, mounts)
    return (
        f"{folder} lies on a network share ({kind}), where the catalogue and its labels can be "
        "damaged; move the archive to a local disk and name it with --archive"
    )


def on_network(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether ``folder`` is known to lie on a network share."""
    kind = file_system_type(folder, mounts)
    return kind in NETWORK_TYPES or kind.startswith("fuse.sshfs")


def file_system_type(folder: Path, mounts: Path = _MOUNTS) -> str:
    """The type of the file system that holds ``folder``, as the kernel names it."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    real = folder.resolve()
    best, kind = -1, ""
    for line in lines:
        _, point, name, *_ = line.split(" ")
        # The table writes spaces and the like in octal.
        place = Path(point.encode().decode("unicode_escape"))
        if real.is_relative_to(place) and len(place.parts) >= best:
            best, kind = len(place.parts), name
    return kind
