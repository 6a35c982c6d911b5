"""From bytes to vectors: reading, cutting and encoding every text that a run needs.

All of it is addressed by content and kept at once, so nothing is done twice: not for two equal
files, not after a kill, and not when a file comes back.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from corpus.document import Extracted, Span
from corpus.extract import EXTRACTOR_VERSION
from corpus.split import SPLIT_VERSION, embedding_text, split
from indexer.extraction import extract_files
from indexer.progress import progress_bar
from store import texts
from store.catalogue import Catalogue, Shape
from store.encoder import Encoder, default_encoder_name
from store.errors import CacheDamaged, EncodingFailed
from store.generations import serving_manifest
from store.manifest import sha256_of
from store.texts import Failure
from store.vectors import VectorCache

PASSAGE_TOKENS = 256
"""The most tokens of a passage, title and headings included, where the encoder reads as many."""

ENCODED_AT_ONCE = 256
"""Passages between two writes to the vector cache: the most that a kill can cost."""


CHANGED = Failure("read", "changed or vanished while it was read; the next run reads it again")


@dataclass(frozen=True, slots=True)
class Encoded:
    """What encoding came to: how many passages got a vector, how many were longer than the encoder
    reads (they are refused, never cut), and the texts that hold a passage which has none."""

    passages: int
    over_long: int
    failures: dict[str, Failure]


@dataclass(frozen=True, slots=True)
class Workshop:
    """What texts are made with: where they are kept, the encoder, and the shape that follows."""

    catalogue: Catalogue
    cache: VectorCache
    encoder: Encoder
    shape: Shape


def encoder_in_use(catalogue: Catalogue) -> tuple[str, str]:
    """The name of the encoder an archive keeps to, or of this machine's default with a note on it
    where there is one to make."""
    latest = catalogue.latest()
    if latest is not None and latest.encoder:
        return latest.encoder, ""
    manifest = serving_manifest(catalogue.archive)
    return (manifest.inputs.encoder_name, "") if manifest else default_encoder_name()


def passage_limit(encoder: Encoder) -> int:
    """The most tokens a passage may have for ``encoder``."""
    return min(PASSAGE_TOKENS, encoder.max_tokens)


def shape_for(encoder: Encoder) -> Shape:
    """The shape of texts read and cut by this program for ``encoder``."""
    splitter = {
        "split": SPLIT_VERSION,
        "max_tokens": passage_limit(encoder),
        "tokenizer": encoder.settings["tokenizer"],
    }
    return Shape(EXTRACTOR_VERSION, json.dumps(splitter, sort_keys=True))


def read_new(workshop: Workshop, paths: Mapping[str, bytes]) -> dict[str, Failure]:
    """Extract the texts that were never read, given as digest to absolute path.

    Returns what could not be read this time only. Nothing of it is kept, neither a text under the
    digest of other bytes nor a failure that says nothing of the file.
    """
    catalogue, extractor = workshop.catalogue, workshop.shape.extractor
    known = texts.known_texts(catalogue, extractor)
    new = [(digest, path) for digest, path in paths.items() if digest not in known]
    workers = len(os.sched_getaffinity(0))
    passing: dict[str, Failure] = {}
    with progress_bar("Reading", len(new), "files") as show:
        for done, read in enumerate(extract_files(new, workers=workers), start=1):
            if (read.sha256 or _digest_now(paths[read.key])) != read.key:
                passing[read.key] = CHANGED
            elif read.passing and read.failure is not None:
                passing[read.key] = read.failure
            elif read.extracted is not None:
                texts.add_extraction(catalogue, read.key, extractor, read.extracted, read.language)
            elif read.failure is not None:
                at = datetime.now(UTC).isoformat(timespec="seconds")
                texts.add_failure(catalogue, read.key, extractor, read.failure, at)
            show(done)
    return passing


def _digest_now(path: bytes) -> str:
    """The digest of a file whose reader could not say; nothing where it cannot be had."""
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
        return sha256_of(Path(os.fsdecode(path))) if regular else ""
    except OSError:
        return ""


def cut_new(workshop: Workshop, titles: Mapping[str, str]) -> None:
    """Cut into passages those texts, given as digest to title, that are not cut in the present
    shape under that title."""
    catalogue, encoder, shape = workshop.catalogue, workshop.encoder, workshop.shape
    missing = sorted(set(titles.items()) - texts.shaped_texts(catalogue, shape))
    with progress_bar("Cutting", len(missing), "texts") as show:
        for done, (digest, title) in enumerate(missing, start=1):
            extracted = texts.extraction(catalogue, digest, shape.extractor)
            if extracted is not None:
                extracted = replace(extracted, title=title)
                spans = split(extracted, encoder.count_tokens, max_tokens=passage_limit(encoder))
                hashed = [(span, hash_of(_encoded(extracted, span))) for span in spans]
                texts.add_passages(catalogue, digest, title, shape, hashed)
            show(done)


def encode_new(workshop: Workshop, titles: Mapping[str, str]) -> Encoded:
    """Encode every passage of some texts, given as digest to title, that has no vector yet."""
    try:
        return _encode_new(workshop, titles)
    except CacheDamaged as error:
        workshop.cache.mend(error)
        return _encode_new(workshop, titles)


def _encode_new(workshop: Workshop, titles: Mapping[str, str]) -> Encoded:
    hashes = texts.text_hashes(workshop.catalogue, workshop.shape, titles)
    missing = set(workshop.cache.missing(hashes, workshop.encoder.fingerprint))
    encoded = over_long = 0
    failures: dict[str, Failure] = {}
    with progress_bar("Encoding", len(missing), "passages") as show:
        for batch in _batches(_to_encode(workshop, titles, hashes, missing)):
            tokens = workshop.encoder.count_tokens([text for _, text in batch])
            over_long += sum(count > workshop.encoder.max_tokens for count in tokens)
            refused = _encode(workshop, batch, partial(_show_after, show, encoded))
            encoded += len(batch) - len(refused)
            failures.update({hashes[text_hash]: failure for text_hash, failure in refused.items()})
    return Encoded(encoded, over_long, failures)


def _show_after(show: Callable[[int], None], before: int, done: int) -> None:
    show(before + done)


def _to_encode(
    workshop: Workshop, titles: Mapping[str, str], hashes: Mapping[bytes, str], missing: set[bytes]
) -> Iterator[tuple[bytes, str]]:
    """Each missing hash once, with what is encoded for it, text by text."""
    left = set(missing)
    for digest in dict.fromkeys(hashes[text_hash] for text_hash in hashes if text_hash in missing):
        title = titles[digest]
        extracted, spans = texts.cut_text(workshop.catalogue, workshop.shape, digest, title)
        extracted = replace(extracted, title=title)
        for span, text_hash in spans:
            if text_hash in left:
                left.remove(text_hash)
                yield text_hash, _encoded(extracted, span)


def _encode(
    workshop: Workshop, batch: list[tuple[bytes, str]], show: Callable[[int], None]
) -> dict[bytes, Failure]:
    """Encode and keep a batch. Where it fails, find the passages that make it fail."""
    hashes = [text_hash for text_hash, _ in batch]
    try:
        vectors = workshop.encoder.encode_passages([text for _, text in batch], progress=show)
    except EncodingFailed as error:
        if len(batch) == 1:
            return {hashes[0]: Failure("encode", str(error))}
        refused: dict[bytes, Failure] = {}
        for passage in batch:
            refused.update(_encode(workshop, [passage], lambda _: None))
        return refused
    workshop.cache.add(hashes, workshop.encoder.fingerprint, vectors)
    return {}


def _batches(passages: Iterator[tuple[bytes, str]]) -> Iterator[list[tuple[bytes, str]]]:
    batch: list[tuple[bytes, str]] = []
    for passage in passages:
        batch.append(passage)
        if len(batch) == ENCODED_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _encoded(extracted: Extracted, span: Span) -> str:
    return embedding_text(extracted.title, span.headings, extracted.text[span.start : span.end])


def hash_of(text: str) -> bytes:
    """The key of what is encoded in the cache of vectors."""
    return hashlib.sha256(text.encode()).digest()
