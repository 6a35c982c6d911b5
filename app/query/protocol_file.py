"""A protocol as a TOML file: written whole, read with its defaults, the same hash both ways.

What a file leaves out is as it is where nothing is said; ``python -m app protocol show`` writes it
out. Numbers stay text on their way, so that 0.1 is one tenth.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, get_args

from app.query.emphasis import DEFAULT_EMPHASIS, Emphasis, Step
from app.query.fusions import FUSIONS, fusion_named
from app.query.protocol import (
    DEFAULT_GROUP,
    DEFAULT_SYSTEMS,
    Corrections,
    Group,
    Protocol,
    Unit,
    Weighting,
    asked_as,
    exact_number,
)
from app.query.systems import BUILT_IN, ENGINES, LEXICAL, PRIOR, Among, System
from store.attributes import Attribute
from store.errors import BadInput

T = TypeVar("T")

KEYS = ("k", "unit", "fusion", "group", "corrections", "weighting", "systems")
SYSTEM_KEYS = (
    *("name", "kind", "depth", "weight", "family", "asked", "coverage", "emphasis"),
    *("attribute", "among"),
)
NO_COVERAGE = "none"


def read_protocol(path: Path) -> Protocol:
    """The protocol of a file.

    :raises BadInput: it cannot be read, or a key or a value cannot be used; the message names the
        file, the key and what is allowed
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the protocol {path} cannot be read: {error}") from error
    try:
        return protocol_from_toml(text)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def protocol_from_toml(text: str) -> Protocol:
    """:raises BadInput: the text is no protocol; the message names the key and what is allowed"""
    try:
        body = tomllib.loads(text, parse_float=str)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"it is not TOML: {error}") from error
    _known(body, KEYS, "a protocol")
    entries = body.get("systems", [{"name": system.name} for system in DEFAULT_SYSTEMS])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadInput("systems: each system is a table, written [[systems]]")
    weighting = _one_of("weighting", body, get_args(Weighting), "by share held")
    fusion = _one_of("fusion", body, tuple(FUSIONS), "rrf")
    # A fusion without weights has none that could go by the share held.
    weighed = weighting == "by share held" and fusion_named(fusion).weights
    return Protocol(
        systems=tuple(
            _system(entry, number, weighed) for number, entry in enumerate(entries, start=1)
        ),
        k=_at("k", lambda: exact_number("k", body["k"])) if "k" in body else Protocol().k,
        unit=_one_of("unit", body, get_args(Unit), "document"),
        corrections=_one_of("corrections", body, get_args(Corrections), "suggest"),
        fusion=fusion,
        group=_one_of("group", body, get_args(Group), DEFAULT_GROUP),
    )


def _system(entry: Mapping[str, Any], number: int, weighed: bool) -> System:
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise BadInput(f"systems: number {number} has no name; write name = {json.dumps(LEXICAL)}")
    where = f"systems, {name}"
    _at(where, lambda: _known(entry, SYSTEM_KEYS, "a system"))
    kind = entry.get("kind", name)
    if kind not in ENGINES:
        raise BadInput(f"{where}: kind is one of {', '.join(ENGINES)}, not {kind!r}")
    plain = BUILT_IN[kind]
    return _at(where, lambda: _made(entry, name, plain, weighed))


def _made(entry: Mapping[str, Any], name: str, plain: System, weighed: bool) -> System:
    family = entry.get("family", name)
    if not isinstance(family, str) or not family:
        raise BadInput(f"family is a name, not {family!r}")
    system = replace(plain, name=name, family=family, emphasis=None)
    if "depth" in entry:
        system = replace(system, depth=entry["depth"])
    if "weight" in entry:
        number = exact_number(f"the weight of {name}", entry["weight"])
        system = replace(system, weight=number)
    if "asked" in entry:
        system = replace(system, asked=asked_as(plain.kind, entry["asked"]))
    if "coverage" in entry:
        system = replace(system, coverage=_coverage(entry["coverage"]))
    if plain.kind == PRIOR:
        system = replace(
            system,
            attribute=_one_of("attribute", entry, get_args(Attribute), "date"),
            among=_one_of("among", entry, get_args(Among), "candidates"),
        )
    elif given := [key for key in ("attribute", "among") if key in entry]:
        raise BadInput(f"{given[0]} is of systems of kind {PRIOR} alone")
    if "emphasis" in entry:
        return replace(system, emphasis=_emphasis(entry["emphasis"]))
    return replace(system, emphasis=plain.emphasis if weighed else None)


def _coverage(value: object) -> Fraction | None:
    return None if value == NO_COVERAGE else exact_number("coverage", value)


def _emphasis(value: object) -> Emphasis | None:
    """A list of pairs, each a share held and a factor; an empty one is no emphasis."""
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in value
    ):
        raise BadInput('emphasis is a list of pairs of a share and a factor, as [["0", "1/3"]]')
    if not value:
        return None
    return Emphasis(
        tuple(
            Step(exact_number("a share held", held), exact_number("a factor", factor))
            for held, factor in value
        )
    )


def _one_of(key: str, body: Mapping[str, Any], allowed: tuple[Any, ...], default: Any) -> Any:
    value = body.get(key, default)
    if value not in allowed:
        raise BadInput(f"{key} is one of {', '.join(allowed)}, not {value!r}")
    return value


def _known(body: Mapping[str, Any], keys: tuple[str, ...], what: str) -> None:
    for key in body:
        if key not in keys:
            raise BadInput(f"{what} has no {key!r}; it has {', '.join(keys)}")


def _at(where: str, make: Callable[[], T]) -> T:
    try:
        return make()
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from error


def protocol_to_toml(protocol: Protocol) -> str:
    """The whole protocol as a file that :func:`protocol_from_toml` reads to the same hash.

    >>> protocol_from_toml(protocol_to_toml(Protocol())) == Protocol()
    True
    """
    weighed = any(system.emphasis is not None for system in protocol.systems)
    fusion = fusion_named(protocol.fusion)
    lines = [f"# {protocol.hash}"]
    if fusion.k:
        lines.append(f"k = {_text(str(protocol.k))}")
    lines += [
        f"{key} = {_text(value)}"
        for key, value in (
            ("unit", protocol.unit),
            ("fusion", protocol.fusion),
            ("group", protocol.group),
            ("corrections", protocol.corrections),
        )
    ]
    if fusion.weights:
        lines.append(f"weighting = {_text('by share held' if weighed else 'fixed')}")
    for system in protocol.systems:
        lines += ["", "[[systems]]", *_system_lines(system, weighed, fusion.weights)]
    return "\n".join(lines) + "\n"


def _system_lines(system: System, weighed: bool, weights: bool) -> list[str]:
    pairs: list[tuple[str, object]] = [("name", system.name)]
    if system.kind != system.name:
        pairs.append(("kind", system.kind))
    pairs.append(("depth", system.depth))
    if weights:
        pairs.append(("weight", str(system.weight)))
    pairs += [("family", system.family), ("asked", system.asked)]
    plain = BUILT_IN.get(system.kind)
    if system.coverage is not None:
        pairs.append(("coverage", str(system.coverage)))
    elif plain is not None and plain.coverage is not None:
        pairs.append(("coverage", NO_COVERAGE))
    if system.kind == LEXICAL and weighed and system.emphasis != DEFAULT_EMPHASIS:
        pairs.append(("emphasis", system.emphasis.as_data() if system.emphasis else []))
    if system.kind == PRIOR:
        pairs += [("attribute", system.attribute), ("among", system.among)]
    return [f"{key} = {_text(value)}" for key, value in pairs]


def _text(value: object) -> str:
    """A value as TOML; for text, numbers and lists of them JSON is TOML as well."""
    return json.dumps(value, ensure_ascii=False)
