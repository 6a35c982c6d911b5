"""The files of the lexical index: one segment for each audience, side by side in one folder.

BM25 weighs a word by how many passages have it, so whatever is in an index moves the scores of
everything else in it. Each audience is therefore written as an index of its own, and an index for a
reader is put together from the segments of the reader's audiences alone: the engine then counts as
if there were no others.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import tantivy

from store.embedded.analysis import Fields, analyzers, schema
from store.embedded.lexical import LexicalIndex
from store.errors import Damaged
from store.filesystem import remove

HEAP_BYTES = 512_000_000
"""Ample for one segment: which of two equal passages survives a cut must not depend on merges."""

AUDIENCES_NAME = "audiences.json"
"""Beside the segments: the ids of each audience's segments, by the audience's number."""

_META = "meta.json"


def write_lexical(folder: Path, audiences: Iterable[Iterable[tuple[int, int, Fields]]]) -> int:
    """Write the index of some audiences' passages, each as (row, document number, fields) with
    ascending rows.

    Returns the number of passages written.
    """
    folder.mkdir(parents=True)
    _create(folder)
    ids: list[list[str]] = []
    segments: list[dict[str, Any]] = []
    count = 0
    for number, passages in enumerate(audiences):
        beside = folder / f"audience {number}"
        beside.mkdir()
        count += _write(beside, passages)
        written = _read_json(beside / _META)["segments"]
        ids.append([segment["segment_id"] for segment in written])
        for path in _files(beside, ids[-1]):
            path.rename(folder / path.name)
        remove(beside)
        segments += written
    meta = _read_json(folder / _META)
    (folder / _META).write_text(json.dumps({**meta, "segments": segments}), encoding="utf-8")
    (folder / AUDIENCES_NAME).write_text(json.dumps(ids), encoding="utf-8")
    return count


def open_lexical(folder: Path, audiences: Collection[int] | None = None) -> LexicalIndex:
    """Open an index of the passages of ``audiences``, by number; None opens all of it.

    :raises Damaged: the engine cannot open the files
    """
    try:
        meta = _read_json(folder / _META)
        ids = _read_json(folder / AUDIENCES_NAME)
        if audiences is None or set(audiences) == set(range(len(ids))):
            return _open(folder)
        wanted = [name for number in sorted(audiences) for name in ids[number]]
        chosen = [segment for segment in meta["segments"] if segment["segment_id"] in wanted]
        # The engine maps every file when it opens an index, and asks for none by name afterwards.
        with _passing_folder() as place:
            for path in _files(folder.resolve(), wanted):
                (place / path.name).symlink_to(path)
            body = json.dumps({**meta, "segments": chosen})
            (place / _META).write_text(body, encoding="utf-8")
            return _open(place)
    except (ValueError, OSError, KeyError, IndexError, TypeError) as error:
        raise Damaged(
            f"the lexical index in {folder} cannot be opened ({error}); "
            "run `python -m indexer ingest` to build the indexes again"
        ) from error


@contextmanager
def _passing_folder() -> Iterator[Path]:
    """A folder for as long as it is needed. One that the engine still writes a lock into while it
    is removed may stay: that harms nobody, and says nothing of the index."""
    place = Path(mkdtemp(prefix="counterpoint-"))
    try:
        yield place
    finally:
        with suppress(OSError):
            remove(place)


def _write(folder: Path, passages: Iterable[tuple[int, int, Fields]]) -> int:
    writer = _create(folder).writer(HEAP_BYTES, 1)
    count = 0
    for row, doc, fields in passages:
        document = tantivy.Document()
        for name in Fields.__slots__:
            if value := getattr(fields, name):
                document.add_text(name, value)
        document.add_unsigned("row", row)
        document.add_unsigned("doc", doc)
        writer.add_document(document)
        count += 1
    writer.commit()
    writer.wait_merging_threads()
    return count


def _create(folder: Path) -> tantivy.Index:
    index = tantivy.Index(schema(), str(folder))
    _prepare(index)
    return index


def _open(folder: Path) -> LexicalIndex:
    index = tantivy.Index.open(str(folder))
    _prepare(index)
    return LexicalIndex(index)


def _prepare(index: tantivy.Index) -> None:
    # An index that is never written again need not be watched for a newer commit.
    index.config_reader(reload_policy="manual")
    for name, analyzer in analyzers().items():
        index.register_tokenizer(name, analyzer)


def _files(folder: Path, segment_ids: Sequence[str]) -> list[Path]:
    """The files of some segments, which are named by the segment's id without hyphens."""
    names = {name.replace("-", "") for name in segment_ids}
    return sorted(path for path in folder.iterdir() if path.stem in names)


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
