"""The protocol of a kept search, made again from its record."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from app.query.emphasis import Emphasis, Step
from app.query.protocol import DEFAULT_GROUP, DEFAULT_K, Protocol
from app.query.systems import System
from store.errors import BadInput


def protocol_from_data(data: Mapping[str, Any]) -> Protocol:
    """The protocol whose :meth:`Protocol.as_data`, with its hash, is ``data``.

    :raises BadInput: it is of another time, or was changed, so that its hash is not the one stated
    """
    try:
        protocol = Protocol(
            systems=tuple(_system(one) for one in data["systems"]),
            k=Fraction(data["k"]) if "k" in data else DEFAULT_K,
            unit=data["unit"],
            corrections=data["corrections"],
            fusion=data["fusion"],
            group=data.get("group", DEFAULT_GROUP),
        )
        stated = data["hash"]
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise BadInput(f"a protocol lacks what one has today: {error}") from error
    if protocol.hash != stated:
        raise BadInput(f"a protocol is not the one it says it is, {stated}")
    return protocol


def _system(data: Mapping[str, Any]) -> System:
    steps = data.get("emphasis")
    return System(
        data["name"],
        data["depth"],
        Fraction(data.get("weight", "1")),
        data["family"],
        coverage=Fraction(data["coverage"]) if "coverage" in data else None,
        asked=data["asked"],
        emphasis=steps
        and Emphasis(tuple(Step(Fraction(held), Fraction(factor)) for held, factor in steps)),
        kind=data.get("kind", ""),
        attribute=data.get("attribute"),
        among=data.get("among"),
    )
