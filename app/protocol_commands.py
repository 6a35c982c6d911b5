"""``python -m app protocol``: write out a protocol, or check a file that holds one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from app.query.protocol import Protocol
from app.query.protocol_file import protocol_to_toml, read_protocol


def add_commands(commands: Any) -> None:
    """Add ``protocol`` to the subparsers of the command line."""
    command = commands.add_parser("protocol", help="show or check a protocol file")
    actions = command.add_subparsers(dest="action", required=True)
    show = actions.add_parser(
        "show", help="print a protocol as TOML, with every default written out"
    )
    show.add_argument("file", metavar="FILE", nargs="?", help="without one, the default protocol")
    show.set_defaults(run=_show)
    check = actions.add_parser("check", help="say whether a file holds a protocol, and its hash")
    check.add_argument("file", metavar="FILE")
    check.set_defaults(run=_check)


def _show(options: argparse.Namespace) -> int:
    protocol = read_protocol(Path(options.file)) if options.file else Protocol()
    print(protocol_to_toml(protocol), end="")
    return 0


def _check(options: argparse.Namespace) -> int:
    protocol = read_protocol(Path(options.file))
    systems = ", ".join(system.name for system in protocol.systems)
    print(f"{options.file} is protocol {protocol.short_hash} ({systems}): {protocol.hash}")
    return 0
