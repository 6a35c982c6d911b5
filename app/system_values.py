"""Options that say something of one system, written SYSTEM=NUMBER."""

from __future__ import annotations

from collections.abc import Sequence

from store.errors import BadInput


def pairs(option: str, given: Sequence[str]) -> list[tuple[str, str]]:
    """The name and the number of each.

    :raises BadInput: one is not written so
    """
    found = []
    for text in given:
        name, equals, value = text.rpartition("=")
        if not equals or not name or not value:
            raise BadInput(f"{option} is written SYSTEM=NUMBER, such as lexical=100, not {text!r}")
        found.append((name, value))
    return found


def whole(name: str, value: str) -> int:
    """The depth of a system.

    :raises BadInput: it is no whole number
    """
    try:
        return int(value)
    except ValueError:
        raise BadInput(f"the depth of {name} is a whole number, not {value!r}") from None
