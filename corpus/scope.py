"""What a reader asks to search within, and who the reader is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """Filters of one search and the groups of its reader.

    A None filter does not restrict. ``languages`` are ISO 639-1 codes, ``folder`` is a path prefix
    relative to the source folder. A document has one of ``tags``; its date, or else the file's
    time, is from ``since`` to ``until``, days as YYYY-MM-DD and both inclusive. ``groups`` is the
    reader's membership: a document with no groups is readable by everyone, one with groups by
    members of any of them.
    """

    languages: tuple[str, ...] | None = None
    folder: str | None = None
    media_types: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None
    groups: tuple[str, ...] = ()
