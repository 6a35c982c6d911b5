"""``python -m app check-claims``: the sentences of a text beside the passages of a kept search."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from app.query.claims import (
    LEAST,
    NOTE,
    Checked,
    Support,
    check_claims,
    checked_data,
    meanings_of,
    sentences_of,
)
from app.query.protocol import exact_number
from app.query.recorded import recorded_search
from app.query.search import Engines
from store.archive import existing_archive
from store.catalogue import Catalogue
from store.errors import BadInput, CounterpointError

QUOTED = 160
"""Characters of a passage's sentence that are shown."""


def add_claims_options(command: argparse.ArgumentParser) -> None:
    """The text, the record, and what counts as support."""
    command.add_argument("file", metavar="FILE", help="a text, such as answer.md")
    command.add_argument(
        "--record", required=True, metavar="ID", help="the search it was written from"
    )
    command.add_argument(
        "--least",
        default=str(LEAST),
        metavar="SHARE",
        help="the least share of a sentence's words, numbers and codes in one passage, above 0 and "
        "at most 1 (default: %(default)s)",
    )
    command.add_argument("--json", action="store_true", help="print it as JSON")


def run_claims(options: argparse.Namespace) -> int:
    """Print each sentence with what is most like it, and which sentences have no such passage."""
    least = exact_number("--least", options.least)
    if not 0 < least <= 1:
        raise BadInput(f"--least is a share above 0 and at most 1, not {options.least}")
    archive = existing_archive(options.archive)
    with Catalogue(archive) as catalogue:
        record = recorded_search(catalogue, options.record)
    texts, skipped = sentences_of(Path(options.file))
    meanings, notes = None, []
    try:
        meanings = meanings_of(Engines(archive), texts, record)
    except CounterpointError as error:
        notes.append(f"Likeness by meaning is not known: {error}")
    checked = check_claims(texts, record, meanings, skipped=skipped, least=least, notes=notes)
    if options.json:
        print(json.dumps(checked_data(checked), ensure_ascii=False, indent=2))
    else:
        print("\n".join(_lines(checked)))
    return 1 if notes else 0


def _lines(checked: Checked) -> Iterator[str]:
    record = checked.record
    yield (
        f"{len(record.passages)} passages of the search {record.query!r} on corpus version "
        f"{record.corpus_version}"
    )
    yield f"note: {NOTE}"
    yield from (f"note: {note}" for note in checked.notes)
    for claim in checked.claims:
        yield f"{claim.number:>3}  {claim.text}"
        if not claim.supported(checked.least):
            yield f"     no passage holds {_share(checked.least)} of its words, numbers and codes"
        if claim.nowhere:
            yield f"     in no passage: {', '.join(claim.nowhere)}"
        for one in claim.nearest:
            yield from _beside(one, len(claim.terms))
    without = [str(one.number) for one in checked.claims if not one.supported(checked.least)]
    named = f" ({', '.join(without)})" if without else ""
    yield (
        f"{len(checked.claims)} sentences, {len(without)} without a passage that holds "
        f"{_share(checked.least)} of them{named}, {checked.skipped} headings, code blocks and "
        "sentences without a word passed over"
    )


def _beside(one: Support, terms: int) -> Iterator[str]:
    passage = one.recorded.passage
    page = f", page {passage.page}" if passage.page else ""
    meaning = "unknown" if one.meaning is None else f"{one.meaning:.3f}"
    lacking = f"; not in it: {', '.join(one.lacking)}" if one.lacking else ""
    yield (
        f"     - {passage.passage_id}{page} (rank {one.recorded.rank}): words {one.held} of "
        f"{terms}, meaning {meaning}{lacking}"
    )
    yield f"       {one.quote[:QUOTED]}"


def _share(least: Fraction) -> str:
    return "half" if least == LEAST else "all" if least == 1 else str(least)
