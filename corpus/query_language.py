"""The small language that a query may be written in, taken apart but not yet read.

``"two words"`` or ``"two words"~2`` is a phrase, ``-word``, ``-"two words"`` and ``-type:pdf``
exclude, ``type:pdf`` narrows, ``pref*`` is any word that begins so, ``this OR that`` is one or the
other. A sign that makes no sense where it stands is no sign, and its neighbours are words. Nothing
here can fail, and a text without signs is one piece, as it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from corpus.query_filters import EXPECTED, FIELDS, meaning

Kind = Literal["text", "phrase", "prefix", "filter"]

MAX_SLOP = 10
LEAST_PREFIX = 3

_QUOTES = '"\u201c\u201d\u201e\u00ab\u00bb'
_WORD = r"[^\W_]"
_CHUNK = re.compile(
    rf"(?P<minus>-)?(?:(?P<field>[^\W\d_]++):)?[{_QUOTES}](?P<quoted>[^{_QUOTES}]*+)[{_QUOTES}]"
    rf"(?:~(?P<slop>\d{{1,3}}))?(?=[\s,.;:!?)]|$)|\S+"
)
_EXCLUSION = re.compile(r"-(?=[^\W\d_])(?![^\W\d_](?!\w))")
_FIELD = re.compile(r"([^\W\d_]+):(?![:/]{2}|[:=])(\S+)")
_PREFIX = re.compile(rf"[^*]*{_WORD}\*")
_UNCLOSED = re.compile(rf"-?[{_QUOTES}]{_WORD}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a query with one meaning; ``text`` is without the signs that gave it.

    ``group`` numbers the pieces that OR joined, None where a piece stands alone. A filter has a
    ``field`` and the ``values`` that its text stands for; its ``quoted`` text is a phrase.
    """

    kind: Kind
    text: str
    excluded: bool = False
    slop: int = 0
    group: int | None = None
    field: str = ""
    values: tuple[str, ...] = ()
    quoted: bool = False
    start: int = 0
    end: int = 0


def take_apart(text: str) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """The pieces of a normalised query in order, and sentences on what was not understood."""
    notes: list[str] = []
    chunks = [piece for match in _CHUNK.finditer(text) for piece in _pieces(match, notes)]
    return tuple(_run_together(text, _alternatives(chunks, notes))), tuple(dict.fromkeys(notes))


def _pieces(match: re.Match[str], notes: list[str]) -> Iterator[Piece]:
    start, end = match.span()
    quoted, minus, field = match["quoted"], bool(match["minus"]), match["field"]
    if quoted is None:
        yield _bare(match.group(), start, end, notes)
        return
    if field is not None and field not in FIELDS:
        # As in `error:"file not found"`, where the word is no field and the rest is a phrase.
        yield Piece("text", field, start=start, end=match.end("field"))
        minus = False
    elif field is not None:
        yield _filter(field, quoted, minus, True, start, end, match.group(), notes)
        return
    slop = int(match["slop"] or 0)
    if slop > MAX_SLOP:
        notes.append(f"The words of a phrase may stand at most {MAX_SLOP} apart, not {slop}.")
    yield Piece("phrase", quoted, minus, min(slop, MAX_SLOP), start=start, end=end)


def _bare(chunk: str, start: int, end: int, notes: list[str]) -> Piece:
    if _UNCLOSED.match(chunk):
        notes.append("A quotation mark is not closed; the words after it were searched singly.")
        return Piece("text", chunk, start=start, end=end)
    excluded = _EXCLUSION.match(chunk) is not None
    body = chunk[1:] if excluded else chunk
    if (match := _FIELD.fullmatch(body)) and match[1] in FIELDS:
        return _filter(match[1], match[2], excluded, False, start, end, chunk, notes)
    if _PREFIX.fullmatch(body):
        if sum(character.isalnum() for character in body) >= LEAST_PREFIX:
            return Piece("prefix", body[:-1], excluded, start=start, end=end)
        notes.append(
            f"{body} was read as a word: what stands before * has at least {LEAST_PREFIX} letters."
        )
    return Piece("text", body, excluded, start=start, end=end)


def _filter(
    field: str,
    value: str,
    excluded: bool,
    quoted: bool,
    start: int,
    end: int,
    chunk: str,
    notes: list[str],
) -> Piece:
    name = FIELDS[field]
    if name in EXPECTED:
        value = value.rstrip(",;.")
    values = meaning(name, value) if any(map(str.isalnum, value)) else ()
    if values:
        return Piece("filter", value.strip(), excluded, 0, None, name, values, quoted, start, end)
    if name in EXPECTED:
        notes.append(f"{chunk} was read as words: {field} understands {EXPECTED[name]}.")
    return Piece("text", chunk, start=start, end=end)


def _alternatives(chunks: Sequence[Piece], notes: list[str]) -> list[Piece]:
    """Number what OR joins; an OR without a neighbour on each side is a word like another."""
    joined: list[Piece] = []
    groups = 0
    pending = False
    for place, piece in enumerate(chunks):
        following = chunks[place + 1] if place + 1 < len(chunks) else None
        between = _is_or(piece) and not pending and joined and following and not _is_or(following)
        if between and following and _joins(joined[-1]) and _joins(following):
            if joined[-1].group is None:
                joined[-1] = replace(joined[-1], group=groups)
                groups += 1
            pending = True
            continue
        if _is_or(piece):
            notes.append("OR joins two words, codes or phrases; here it was read as a word.")
        joined.append(replace(piece, group=joined[-1].group) if pending else piece)
        pending = False
    return joined


def _is_or(piece: Piece) -> bool:
    return piece.kind == "text" and piece.text == "OR" and not piece.excluded


def _joins(piece: Piece) -> bool:
    return piece.kind != "filter" and not piece.excluded and any(map(str.isalnum, piece.text))


def _run_together(text: str, chunks: Sequence[Piece]) -> Iterator[Piece]:
    """Plain neighbours become one piece with what stands between them, as codes have spaces."""
    run: Piece | None = None
    for piece in chunks:
        plain = piece.kind == "text" and not piece.excluded and piece.group is None
        if plain and run is not None:
            run = replace(run, text=text[run.start : piece.end], end=piece.end)
            continue
        if run is not None:
            yield run
        run = piece if plain else None
        if run is None:
            yield piece
    if run is not None:
        yield run
