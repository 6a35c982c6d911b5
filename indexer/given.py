"""What a maintainer says of a document in TOML, checked key by key; ``docs/metadata.md`` has all.

Groups decide who may read, so nothing is guessed here: whatever is not exactly right is refused
with a sentence that names the file, the key and what it may be.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from corpus.extract.build import flow
from corpus.extract.dates import iso_date
from store.errors import BadInput
from store.versions import printable

SUFFIX = b".meta.toml"
"""``pump.pdf.meta.toml`` beside ``pump.pdf`` says what that file is."""

SIDECAR_KEYS = ("title", "author", "date", "language", "tags", "groups")
MAX_BYTES = 1 << 20

_LANGUAGE = re.compile(r"[a-z]{2}")


@dataclass(frozen=True, slots=True)
class Given:
    """What is said of a document; None where nothing is said.

    Empty ``groups`` mean everyone. ``date`` is ISO 8601, a day or a time with its own offset.
    """

    title: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    tags: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None

    def over(self, other: Given) -> Given:
        """This where it says something, else ``other``; a list takes the place of a list."""
        return Given(
            *(
                getattr(other, name) if getattr(self, name) is None else getattr(self, name)
                for name in self.__slots__
            )
        )


def read_sidecar(path: bytes) -> Given:
    """:raises BadInput: it cannot be used, with the key and what is allowed"""
    name = printable(path.rpartition(b"/")[2])
    return read_given(read_toml(path, name), SIDECAR_KEYS, name)


def read_toml(path: bytes, name: str) -> dict[str, Any]:
    """The tables of a file that messages call ``name``; links are not followed.

    :raises BadInput: it is a link, too large, unreadable or not TOML
    """
    place = Path(path.decode("utf-8", "surrogateescape"))
    if place.is_symlink():
        raise BadInput(f"{name} is a link, which is not followed; put the file itself there")
    try:
        with place.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{name} cannot be read ({error.strerror}); make it readable") from error
    if len(data) > MAX_BYTES:
        raise BadInput(f"{name} is larger than {MAX_BYTES:,} bytes; it holds a few lines at most")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{name} is not valid TOML: {flow(str(error))[:200]}") from error


def check_keys(table: Mapping[str, Any], allowed: Collection[str], where: str) -> None:
    """:raises BadInput: a key is not among those allowed"""
    for key in table:
        if key not in allowed:
            raise BadInput(
                f"{where} has an unknown key {key!r}; the keys are {', '.join(sorted(allowed))}"
            )


def read_given(table: Mapping[str, Any], allowed: Collection[str], where: str) -> Given:
    """Read one table of metadata; other keys of it must be read by the caller.

    :raises BadInput: an unknown key, or a value that cannot be used
    """
    check_keys(table, allowed, where)
    return Given(
        title=_text(table, "title", where),
        author=_text(table, "author", where),
        date=_date(table, where),
        language=_language(table, where),
        tags=_names(table, "tags", where),
        groups=_names(table, "groups", where),
    )


def _text(table: Mapping[str, Any], key: str, where: str) -> str | None:
    value = table.get(key)
    if value is None:
        return None
    text = flow(value) if isinstance(value, str) else ""
    if not text:
        raise BadInput(f'{where}: {key} is a text, such as {key} = "…", not {value!r}')
    return text


def _date(table: Mapping[str, Any], where: str) -> str | None:
    value = table.get("date")
    if value is None:
        return None
    text = value.isoformat() if isinstance(value, date | datetime) else value
    found = iso_date(text) if isinstance(text, str) else ""
    if not found:
        raise BadInput(f"{where}: date is a day or a time, such as 2024-02-29, not {value!s:.80}")
    return found


def _language(table: Mapping[str, Any], where: str) -> str | None:
    value = table.get("language")
    if value is None:
        return None
    if not isinstance(value, str) or not _LANGUAGE.fullmatch(value):
        raise BadInput(f"{where}: language is an ISO 639-1 code, such as en or es, not {value!r}")
    return value


def _names(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...] | None:
    value = table.get(key)
    if value is None:
        return None
    names = (
        [flow(name) if isinstance(name, str) else "" for name in value]
        if (isinstance(value, list))
        else [""]
    )
    if not all(names):
        raise BadInput(
            f"{where}: {key} is a list of texts that are not empty, such as "
            f'{key} = ["service"], not {value!r}'
        )
    return tuple(dict.fromkeys(names))
