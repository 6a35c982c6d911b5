"""``python -m app context``: what a generator is given of an archive, and what it is not given."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from app.query.context import Context, LeftOut, context_data, make_context
from app.query.protocol import Protocol
from app.query.search import Engines, search
from corpus.resemblance import percent
from corpus.scope import Scope
from store.archive import existing_archive
from store.catalogue import Catalogue
from store.errors import BadInput
from store.tokens import WORDS, token_counter

DEFAULT_TOKENS = 2000


def add_context_options(command: argparse.ArgumentParser) -> None:
    """What the command has beside the options of a search."""
    command.add_argument(
        "--tokens",
        type=int,
        default=DEFAULT_TOKENS,
        metavar="N",
        help="the most tokens that the text has, citations included (default: %(default)s)",
    )
    command.add_argument(
        "--tokenizer",
        default="",
        metavar="NAME",
        help=f"what counts them: {WORDS}, e5, minilm, an encoder's folder or a tokenizer's JSON "
        "file (default: the archive's encoder)",
    )
    command.add_argument("--json", action="store_true", help="print the context as JSON")


def print_context(options: argparse.Namespace, protocol: Protocol, scope: Scope) -> int:
    """Search, and print the context alone; what is not in it is said on stderr."""
    if options.tokens < 1:
        raise BadInput(f"--tokens is the budget, at least 1 token, not {options.tokens}")
    archive = existing_archive(options.archive)
    engines = Engines(archive)
    counter = token_counter(options.tokenizer, engines.backend.manifest.inputs.encoder_name)
    with Catalogue(archive) as catalogue:
        result = search(engines, catalogue, options.query, protocol, scope)
        view = engines.backend.for_reader(scope.groups)
        context = make_context(catalogue, view, result, counter, options.tokens)
    if options.json:
        print(json.dumps(context_data(context), ensure_ascii=False, indent=2))
    else:
        if context.text:
            print(context.text)
        print("\n".join(_remarks(context)), file=sys.stderr)
    return 1 if result.partial else 0


def _remarks(context: Context) -> Iterator[str]:
    for note in (*context.result.notes, *context.result.rules):
        yield f"note: {note}"
    for one in context.left_out:
        yield f"left out: {one.chosen.passage.passage_id} (rank {one.chosen.rank}), {_why(one)}"
    if context.untried:
        yield f"not looked at: {context.untried} more passages further down the fused order"
    passages = sum(len(block.passages) for block in context.blocks)
    yield (
        f"{passages} passages in {len(context.blocks)} blocks, {context.tokens} of "
        f"{context.budget} tokens by {context.counter.name}, {len(context.left_out)} left out, "
        f"record {context.result.record.record_id}"
    )


def _why(one: LeftOut) -> str:
    if one.reason == "does not fit":
        return f"does not fit: with it there would be {one.tokens} tokens"
    return f"nearly the same as {one.like} ({percent(one.shared, one.total)} % the same wording)"
