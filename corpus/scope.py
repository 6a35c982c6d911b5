"""What a reader asks to search within, and who the reader is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Scope:
    """Filters of one search and the groups of its reader.

    A None filter does not restrict. ``languages`` are ISO 639-1 codes, ``folder`` is a path prefix
    relative to the source folder, ``tags`` are those of which a document has at least one,
    ``codes`` codes in any spelling, of which it holds at least one.
    ``groups`` is the reader's membership: a document with no groups is readable by everyone, one
    with groups by members of any of them.

    ``since`` and ``until`` are days such as ``2024-02-29``, both included. A document's day is the
    calendar date as it is written in the document, else the UTC day of the file's time: the same
    everywhere, whatever the zone of the machine.

    :raises ValueError: ``since`` or ``until`` is not a day, or a code has no letter and no digit
    """

    languages: tuple[str, ...] | None = None
    folder: str | None = None
    media_types: tuple[str, ...] | None = None
    groups: tuple[str, ...] = ()
    tags: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None
    codes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, day in (("since", self.since), ("until", self.until)):
            if day is not None and not _is_day(day):
                raise ValueError(f"{name} is a day written as 2024-02-29, not {day!r}")
        for code in self.codes or ():
            if not any(map(str.isalnum, code)):
                raise ValueError(f"a code such as AX-2041/B has letters or digits, not {code!r}")

    @property
    def filtered(self) -> bool:
        """Whether anything but the reader's groups restricts it."""
        return self != Scope(groups=self.groups)


def _is_day(text: str) -> bool:
    try:
        # Other forms that the library reads would not compare with days as they are stored.
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
