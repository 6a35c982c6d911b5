"""What docs/judging.md promises is what there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from app.agreement import RESAMPLES
from app.cli import _parser
from app.label_files import SUFFIXES
from app.label_states import CHANGED_LITTLE, STATES
from app.pools import POOL_DEPTH, read_protocol
from app.qrels import DEFAULT_VIEW, VIEWS

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "judging.md").read_text(encoding="utf-8")


def test_every_command_shown_is_one() -> None:
    shown = re.findall(r"^\$ python -m app (.*)$", TEXT, re.M)
    assert len(shown) >= 11
    for line in shown:
        options = _parser().parse_args(shlex.split(line))
        for protocol in getattr(options, "protocol", None) or []:
            read_protocol(protocol)


def test_every_key_shown_is_a_shortcut_of_the_page_and_the_other_way_round() -> None:
    shown = {
        key
        for row in re.findall(r"^\| ((?:`\w` ?)+)\|", TEXT, re.M)
        for key in re.findall(r"`(\w)`", row)
    }
    pages = (ROOT / "app" / "pages").glob("judge*.py")
    source = "".join(path.read_text(encoding="utf-8") for path in pages)
    assert set(re.findall(r'shortcut="(\w)"', source)) == shown - set("0123")
    assert "shortcut=str(grade)" in source


def test_views_states_suffixes_and_figures_are_those_of_the_code() -> None:
    for view in VIEWS:
        assert f"`{view}`" in TEXT
    assert f"`{DEFAULT_VIEW}` (default)" in TEXT
    for state in STATES:
        assert f"**{state}**" in TEXT
    for suffix in SUFFIXES:
        assert f"`{suffix}`" in TEXT
    assert f"From {CHANGED_LITTLE} on" in TEXT
    assert f"the first {POOL_DEPTH} of each list" in TEXT
    assert f"({RESAMPLES:,} resamples, seeded)" in TEXT
