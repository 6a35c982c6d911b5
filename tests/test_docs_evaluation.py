"""What docs/evaluation.md says of commands and numbers is so."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from app.cli import _parser
from app.evaluation.evaluate import ENOUGH_TOPICS
from app.evaluation.protocols import PER_SYSTEM, PLAIN
from app.evaluation.significance import EXACT_UP_TO, RESAMPLES

TEXT = (Path(__file__).parents[1] / "docs" / "evaluation.md").read_text(encoding="utf-8")


def commands() -> dict[str, argparse.ArgumentParser]:
    (action,) = (one for one in _parser()._actions if isinstance(one, argparse._SubParsersAction))
    return dict(action.choices)


def test_every_command_and_option_named_is_there() -> None:
    known = commands()
    named = set(re.findall(r"-m app (\w+)", TEXT))
    assert {"evaluate", "sweep", "looks", "experiments", "validate", "compare"} <= named
    assert named <= set(known)
    options = {option for name in named for option in known[name]._option_string_actions}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT)) <= options


def test_every_key_of_a_protocol_and_every_number_stated_is_right() -> None:
    for key in (*PLAIN, *PER_SYSTEM):
        assert f"`{key}" in TEXT
    assert f"fewer than {ENOUGH_TOPICS} topics" in TEXT
    assert f"{RESAMPLES:,} resamples" in TEXT
    assert f"exact up to {EXACT_UP_TO} topics" in TEXT
