"""Every situation that a user of the store can meet, one exception each.

CounterpointError                 exit 2: usage or input
├── NotExtractable                (corpus) a file that offers no text, with its reason
├── NoArchive                     no archive in that folder yet
├── NothingServed                 an archive, but no generation to search
├── NoSource                      a path to ingest is missing, unreadable or empty
├── UnknownVersion                a corpus version that was never committed
├── UnknownDocument               a document id that the reader may not see or that is not there
├── UnknownTopic                  a topic id that nobody wrote
├── UnknownProject                a judging project that nobody made
├── UnknownRecord                 a search record that was not kept
├── BadInput                      a value that a user typed and that cannot be used
├── MassRetirement                a run that would retire too many documents at once
├── EncoderUnavailable            the encoder's files are missing or damaged
├── EncoderMismatch               an index built by another encoder than the one at hand
├── EncodingFailed       exit 1   a vector that is not finite or not of unit length
├── NoSpace              exit 1   the disk that holds the archive is full
├── Busy                 exit 3   another ingest holds the archive
└── Damaged              exit 4   files on disk are not what the manifest says
    └── CacheDamaged              the cache of vectors; costs time, and no data
"""

from __future__ import annotations

import errno
from pathlib import Path

from corpus.errors import CounterpointError, NotExtractable

__all__ = [
    "BadInput",
    "Busy",
    "CacheDamaged",
    "CounterpointError",
    "Damaged",
    "EncoderMismatch",
    "EncoderUnavailable",
    "EncodingFailed",
    "MassRetirement",
    "NoArchive",
    "NoSource",
    "NoSpace",
    "NotExtractable",
    "NothingServed",
    "Sealed",
    "UnknownDocument",
    "UnknownExperiment",
    "UnknownProject",
    "UnknownRecord",
    "UnknownTopic",
    "UnknownVersion",
    "from_system",
    "is_full_disk",
    "no_space",
]


class NoArchive(CounterpointError):
    """There is no archive in the folder that was named."""


class NothingServed(CounterpointError):
    """The archive has no published generation, so there is nothing to search."""


class NoSource(CounterpointError):
    """A path to ingest is missing, unreadable or holds no files."""


class UnknownVersion(CounterpointError):
    """No corpus version has that number."""


class UnknownDocument(CounterpointError):
    """No document that the reader may see has that id."""


class UnknownTopic(CounterpointError):
    """No topic has that id."""


class UnknownProject(CounterpointError):
    """No judging project has that name."""


class UnknownRecord(CounterpointError):
    """No search record has that id."""


class UnknownExperiment(CounterpointError):
    """No experiment has that id."""


class Sealed(CounterpointError):
    """The topics are kept for reporting, and this is no way to look at them."""


class BadInput(CounterpointError):
    """A value that was typed cannot be used as it is."""


class MassRetirement(CounterpointError):
    """A run found so many files missing that it stops instead of retiring their documents."""


class EncoderUnavailable(CounterpointError):
    """The encoder's files are missing, damaged or not for this machine."""


class EncoderMismatch(CounterpointError):
    """The semantic index was built by another encoder than the one asked for."""


class EncodingFailed(CounterpointError):
    """The encoder gave a vector that cannot be indexed."""

    exit_code = 1


class NoSpace(CounterpointError):
    """The disk that holds the archive is full."""

    exit_code = 1


def no_space(folder: Path) -> NoSpace:
    """The error for a full disk, naming the folder that is on it."""
    return NoSpace(
        f"no space left on the disk of {folder}; what was served before is still served. "
        "Free some space and run this again, nothing that was stored is lost"
    )


def is_full_disk(error: BaseException) -> bool:
    """Whether an engine or the operating system failed because a disk is full.

    The engines pass the system's error on as text only.
    """
    code = getattr(error, "errno", None)
    return code in (errno.ENOSPC, errno.EDQUOT) or "No space left on device" in str(error)


def from_system(error: OSError, folder: Path) -> CounterpointError:
    """What the operating system refused, as an error of ours; ``folder`` is the archive's."""
    if is_full_disk(error):
        return no_space(folder)
    where = f" ({error.filename})" if error.filename else ""
    return CounterpointError(
        f"{error.strerror or error}{where}; what was served before is still served"
    )


class Busy(CounterpointError):
    """Another writer holds the archive's lock."""

    exit_code = 3


class Damaged(CounterpointError):
    """A file of the archive is missing or differs from its recorded digest."""

    exit_code = 4


class CacheDamaged(Damaged):
    """The cache of vectors is not what it should be: as a whole, or in some of its rows."""

    def __init__(self, message: str, *, whole: bool) -> None:
        super().__init__(message)
        self.whole = whole
