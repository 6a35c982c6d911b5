"""JSON lines: a document on each line, an object with a text, an id and a title.

The layout of BEIR (``_id``, ``title``, ``text``) is one of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from corpus.extract import MAX_TEXT_BYTES

MAX_LINE_BYTES = MAX_TEXT_BYTES
"""A line of more bytes than this is left out."""

LONGEST_ID = 200
"""An id that takes more bytes than this is shortened, with its digest behind it."""

_MARK = b"\xef\xbb\xbf"
_PIECE = 1 << 18


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line: the name of its document, unlike that of any other, and its bytes.

    ``left_out`` is the reason why it is no document, or empty. The name then says which line.
    """

    name: bytes
    data: bytes = field(repr=False)
    left_out: str = ""


def looks_like_json_lines(head: bytes) -> bool:
    """Whether a first and a second line begin an object each, and the first is a document."""
    first, _, rest = head.removeprefix(_MARK).lstrip().partition(b"\n")
    if not (first.startswith(b"{") and rest.lstrip().startswith(b"{")):
        return False
    return _has_text(_object(first))


def documents(path: Path) -> Iterator[JsonLine]:
    """Every line that is not empty, in order, in the memory of the longest line.

    A document is named by ``_id`` or ``id``, else by the number of its line. Of two lines with one
    id the first counts.
    """
    taken: set[bytes] = set()
    with path.open("rb") as stream:
        for number, line in enumerate(_lines(stream), start=1):
            data = line.strip()
            if not data:
                continue
            at = b"line %d" % number
            row = None if len(line) > MAX_LINE_BYTES else _object(data)
            if len(line) > MAX_LINE_BYTES:
                yield JsonLine(at, b"", f"a line of more than {MAX_LINE_BYTES // 2**20} MB")
            elif row is None or not _has_text(row):
                yield JsonLine(at, b"", "not a JSON object with a text")
            else:
                own = _name(row.get("_id", row.get("id")))
                name = own or b"%d" % number
                if name in taken and not own:
                    name = at
                if name in taken:
                    yield JsonLine(at, b"", "an earlier line has the same id")
                else:
                    taken.add(name)
                    yield JsonLine(name, data)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines without a byte order mark, an endless one cut down to just over the limit."""
    first = True
    while line := stream.readline(MAX_LINE_BYTES + 1):
        rest = line
        while not rest.endswith(b"\n") and (rest := stream.readline(_PIECE)):
            pass
        yield line.removeprefix(_MARK) if first else line
        first = False


def _object(line: bytes) -> dict[str, object] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _has_text(row: dict[str, object] | None) -> bool:
    return row is not None and isinstance(row.get("text"), str)


def _name(stated: object) -> bytes:
    """An id as the name of a member: not empty, not endless, no step up in a path."""
    if not isinstance(stated, str | int):
        return b""
    name = str(stated).encode("utf-8", "surrogatepass")
    if len(name) > LONGEST_ID:
        name = name[:LONGEST_ID] + b"~" + hashlib.sha256(name).hexdigest()[:12].encode()
    return b"/".join(part for part in name.split(b"/") if part not in (b"", b".", b".."))
