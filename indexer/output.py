"""How every command answers: data on stdout, as text or as JSON, and refusals in one sentence.

As JSON each answer is one object with ``summary``, the last line of the text form, and
``exit_code``, which the process ends with; a refusal has ``error`` as well.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from store.errors import BadInput


class BadUsage(BadInput):
    """A command line that cannot be understood; ``usage`` is how it is written."""

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


class Parser(argparse.ArgumentParser):
    """Raises what it does not understand, so that it is answered like every other refusal."""

    def error(self, message: str) -> NoReturn:
        """:raises BadUsage: always"""
        raise BadUsage(
            f"{message}; `{self.prog} --help` lists what can be typed", self.format_usage()
        )


def answer(
    data: Mapping[str, Any], lines: Sequence[str], *, as_json: bool, exit_code: int = 0
) -> int:
    """Print a result whose last line is its summary, and return ``exit_code``."""
    if as_json:
        whole = {**data, "summary": lines[-1], "exit_code": exit_code}
        print(json.dumps(whole, ensure_ascii=False, indent=2))
    else:
        print("\n".join(lines))
    return exit_code


def answer_line(data: Mapping[str, Any], line: str, *, as_json: bool) -> None:
    """Print one result of many on a line of its own, at once."""
    print(json.dumps(data, ensure_ascii=False) if as_json else line, flush=True)


def refuse(message: str, exit_code: int, *, as_json: bool) -> int:
    """Say why nothing came of a command, and return ``exit_code``."""
    if as_json:
        data = {"error": message, "summary": message, "exit_code": exit_code}
        print(json.dumps(data, ensure_ascii=False))
    print(f"indexer: {message}", file=sys.stderr)
    return exit_code
