"""``archive.toml`` in the archive's folder: what is read, what is left alone, what rules say.

Patterns are those of ``.gitignore``, matched against a file's path below its source folder as the
report prints it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

from indexer.given import Given, check_keys, read_given, read_toml
from store.archive import Archive
from store.errors import BadInput
from store.versions import printable

NAME = "archive.toml"
KEYS = ("source", "ignore", "rule")
RULE_KEYS = ("title", "language", "tags", "groups")
TITLE_FIELDS = ("stem", "name", "folder", "heading", "title")

_FIELD = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Rule:
    """What is said of every file whose path ``pattern`` matches; ``title`` is a template."""

    pattern: str
    spec: GitIgnoreSpec
    given: Given

    def matches(self, path: bytes) -> bool:
        return self.spec.match_file(as_matched(path))


@dataclass(frozen=True, slots=True)
class Settings:
    """An archive's settings; the empty ones where there is no ``archive.toml``."""

    sources: tuple[Path, ...] = ()
    ignore: tuple[str, ...] = ()
    spec: GitIgnoreSpec | None = None
    rules: tuple[Rule, ...] = ()

    def ignored(self, path: bytes) -> str:
        """The pattern that leaves a path out, or an empty string."""
        if self.spec is None:
            return ""
        found = self.spec.check_file(as_matched(path))
        return self.ignore[found.index] if found.include and found.index is not None else ""

    def given(self, path: bytes) -> Given:
        """What the rules say of a path: the last one decides, and tags add up.

        ``title`` is still a template.
        """
        said = Given()
        tags: tuple[str, ...] = ()
        for rule in self.rules:
            if rule.matches(path):
                said = rule.given.over(said)
                tags += rule.given.tags or ()
        return Given(tags=tuple(dict.fromkeys(tags)) or None).over(said)


def as_matched(path: bytes) -> str:
    """A path as patterns see it: printable, so that no line end escapes a rule, and composed."""
    return unicodedata.normalize("NFC", printable(path))


def read_settings(archive: Archive) -> Settings:
    """The settings of an archive.

    :raises BadInput: ``archive.toml`` cannot be used, with the key and what is allowed
    """
    place = archive.root / NAME
    if not os.path.lexists(place):
        return Settings()
    name = str(place)
    table = read_toml(os.fsencode(place), name)
    check_keys(table, KEYS, name)
    ignore = _ignore(table, name)
    return Settings(
        sources=tuple(
            _source(entry, archive.root, f"{name}, [[source]] number {number}")
            for number, entry in enumerate(_tables(table, "source", name), start=1)
        ),
        ignore=ignore,
        spec=_spec(ignore, f"{name}: ignore") if ignore else None,
        rules=tuple(
            _rule(entry, f"{name}, [[rule]] number {number}")
            for number, entry in enumerate(_tables(table, "rule", name), start=1)
        ),
    )


def titled(template: str, path: bytes, heading: str, title: str) -> str:
    """Fill a template; empty where a field that it names is empty for that file.

    >>> titled("Pump {stem}", b"pumps/hx-204.pdf", "", "scan0001")
    'Pump hx-204'
    """
    folder, _, name = printable(path).rpartition("/")
    values = {
        "stem": name.rpartition(".")[0] or name,
        "name": name,
        "folder": folder.rpartition("/")[2],
        "heading": heading,
        "title": title,
    }
    if not all(values[field] for field in _FIELD.findall(template)):
        return ""
    return _FIELD.sub(lambda found: values[found[1]], template)


def _tables(table: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise BadInput(f"{where}: {key} is written as tables, each under [[{key}]]")
    return value


def _source(entry: dict[str, Any], root: Path, where: str) -> Path:
    check_keys(entry, ("path",), where)
    return root / Path(_path(entry, where)).expanduser()


def _ignore(table: dict[str, Any], where: str) -> tuple[str, ...]:
    value = table.get("ignore", [])
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise BadInput(f'{where}: ignore is a list of patterns, such as ignore = ["*.bak"]')
    return tuple(value)


def _rule(entry: dict[str, Any], where: str) -> Rule:
    given = read_given(
        {key: value for key, value in entry.items() if key != "path"}, RULE_KEYS, where
    )
    if given == Given():
        raise BadInput(f"{where} says nothing; give it one of {', '.join(RULE_KEYS)}")
    pattern = _path(entry, where)
    if pattern.startswith("!"):
        raise BadInput(f"{where}: path is a pattern that matches files, not {pattern!r}")
    unknown = [field for field in _FIELD.findall(given.title or "") if field not in TITLE_FIELDS]
    left = _FIELD.sub("", given.title or "")
    if unknown or "{" in left or "}" in left:
        raise BadInput(
            f"{where}: title may name {', '.join(f'{{{name}}}' for name in TITLE_FIELDS)} and "
            f"no other braces, not {given.title!r}"
        )
    return Rule(pattern, _spec((pattern,), f"{where}: path"), given)


def _path(entry: dict[str, Any], where: str) -> str:
    value = entry.get("path")
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f'{where} needs a path, such as path = "pumps/**"')
    return value


def _spec(patterns: tuple[str, ...], where: str) -> GitIgnoreSpec:
    """:raises BadInput: a pattern can match nothing, so that it would be passed over in silence"""
    composed = [unicodedata.normalize("NFC", pattern) for pattern in patterns]
    for pattern, line in zip(patterns, composed, strict=True):
        try:
            read = list(GitIgnoreSpec.from_lines([line]).patterns)
        except GitIgnorePatternError:
            read = []
        if len(read) != 1 or read[0].include is None:
            raise BadInput(f"{where}: {pattern!r} is not a pattern that matches anything")
    return GitIgnoreSpec.from_lines(composed)
