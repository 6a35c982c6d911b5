"""Protocols as people write them for a comparison: in one line, or in a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.query.protocol import (
    DEFAULT_K,
    DEFAULT_SYSTEMS,
    Protocol,
    System,
    exact_number,
    make_protocol,
)
from store.errors import BadInput

DEFAULT_NAME = "fused"
PLAIN = {
    "k": "k",
    "fusion": "fusion",
    "coverage": "coverage",
    "semantic": "asked",
    "weighting": "weighting",
    "corrections": "corrections",
    "unit": "unit",
}
"""What is written, and the parameter of `make_protocol` that it is."""

PER_SYSTEM = ("depth", "weight")


@dataclass(frozen=True, slots=True)
class Parameters:
    """A protocol as it was written: a name for its row, and values such as ``weight.lexical``."""

    name: str = DEFAULT_NAME
    values: tuple[tuple[str, str], ...] = ()

    def protocol(self) -> Protocol:
        """The protocol of the built-in systems.

        :raises BadInput: a value cannot be used
        """
        names = [system.name for system in DEFAULT_SYSTEMS]
        plain: dict[str, str] = {}
        per_system: dict[str, dict[str, str]] = {name: {} for name in PER_SYSTEM}
        for key, value in self.values:
            head, _, system = key.partition(".")
            if key in PLAIN:
                plain[PLAIN[key]] = value
            elif head in PER_SYSTEM:
                per_system[head].update(dict.fromkeys([system] if system else names, value))
            else:
                raise BadInput(_unknown(key))
        depths = {name: _whole(name, value) for name, value in per_system["depth"].items()}
        return make_protocol(depths=depths, weights=per_system["weight"], **plain)

    def protocol_of(self, systems: Sequence[str], longest: int) -> Protocol:
        """The protocol of lists from files, which know k, weights and depths alone.

        :raises BadInput: a value cannot be used, or names a list that is not there
        """
        k: object = DEFAULT_K
        made = {name: {"depth": str(max(1, longest)), "weight": "1"} for name in systems}
        for key, value in self.values:
            head, _, system = key.partition(".")
            if key == "k":
                k = value
            elif head in PER_SYSTEM:
                for name in [system] if system else systems:
                    if name not in made:
                        raise BadInput(f"there is no run {name!r}; there are {', '.join(systems)}")
                    made[name][head] = value
            else:
                raise BadInput(f"runs from files have no {key!r}; they have k, depth and weight")
        return Protocol(
            tuple(
                System(
                    name,
                    _whole(name, one["depth"]),
                    exact_number(f"the weight of {name}", one["weight"]),
                )
                for name, one in made.items()
            ),
            exact_number("k", k),
        )


def read_protocols(given: Iterable[str]) -> tuple[Parameters, ...]:
    """Read every ``--protocol``: a TOML file, or ``k=10,depth=50,weight.lexical=2``.

    None at all is the default protocol, and so is the word ``default``.

    :raises BadInput: one of them cannot be read
    """
    read = [one for text in given for one in _read(text)]
    return tuple(read) or (Parameters(),)


def _read(text: str) -> list[Parameters]:
    if text == "default":
        return [Parameters()]
    if text.endswith(".toml"):
        return _from_file(Path(text))
    values = []
    for piece in text.split(","):
        key, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or not key or not value:
            raise BadInput(
                f"a protocol is a TOML file or written k=10,depth=50,weight.lexical=2, not {text!r}"
            )
        values.append((key, value))
    return [Parameters(text, tuple(values))]


def _from_file(path: Path) -> list[Parameters]:
    try:
        # Numbers stay text: 0.1 is then one tenth and not the float beside it.
        body = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} cannot be read as TOML: {error}") from error
    entries = body.get("protocols", [body])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadInput(f"{path}: protocols are written as [[protocols]]")
    return [
        Parameters(
            str(entry.pop("name", path.stem if len(entries) == 1 else f"{path.stem} {number}")),
            tuple(_flat(path, entry)),
        )
        for number, entry in enumerate(entries, start=1)
    ]


def _flat(path: Path, entry: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for key, value in entry.items():
        pairs = value.items() if isinstance(value, dict) else [("", value)]
        for system, number in pairs:
            if isinstance(number, bool) or not isinstance(number, str | int):
                raise BadInput(f"{path}: {key!r} is a number or a text, not {number!r}")
            yield (f"{key}.{system}" if system else key), str(number)


def _unknown(key: str) -> str:
    known = [*PLAIN, *PER_SYSTEM, "depth.SYSTEM", "weight.SYSTEM"]
    return f"a protocol has no {key!r}; it has {', '.join(known)}"


def _whole(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise BadInput(f"the depth of {name} is a whole number, not {value!r}") from None
