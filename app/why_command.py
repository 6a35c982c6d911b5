"""``python -m app why``: where a document is in an answer, or why it is not there."""

from __future__ import annotations

import argparse
import json

from app.query.protocol import Protocol
from app.query.search import Engines
from app.query.why_absent import why_absent
from corpus.scope import Scope
from store.archive import existing_archive
from store.catalogue import Catalogue


def add_why_options(command: argparse.ArgumentParser) -> None:
    """What the command has beside the options of a search."""
    command.add_argument(
        "--document",
        required=True,
        metavar="NAME",
        help="the document, by its id, its path or its title",
    )
    command.add_argument("--json", action="store_true", help="print the answer as JSON")


def print_why(options: argparse.Namespace, protocol: Protocol, scope: Scope) -> int:
    """Search, and say what every system makes of one document."""
    archive = existing_archive(options.archive)
    with Catalogue(archive) as catalogue:
        answer = why_absent(
            Engines(archive), catalogue, options.query, protocol, scope, options.document
        )
    if options.json:
        print(json.dumps(answer.as_data(), ensure_ascii=False, indent=2))
    else:
        print(f"{answer.document.title} ({answer.document.locations[0]})")
        for one in answer.systems:
            print(f"  {one.sentence}")
        print(answer.sentence)
    return 0
