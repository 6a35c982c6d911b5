"""From bytes to vectors: reading, cutting and encoding every text that a run needs.

All of it is addressed by content and kept at once, so nothing is done twice: not for two equal
files, not after a kill, and not when a file comes back.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from corpus.document import Extracted, Span
from corpus.extract import EXTRACTOR_VERSION
from corpus.extract.ocr import Tesseract
from corpus.passage_limit import embedding_text
from corpus.split import SPLIT_VERSION, split
from indexer.extraction import Read, extract_files
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

_OCR = "+ocr:"

FILES_PER_READER = 8
"""How many files make it worth to start one more reader."""

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
    """What texts are made with: where they are kept, the encoder, the shape that follows, and the
    program that recognises pictures where it is installed."""

    catalogue: Catalogue
    cache: VectorCache
    encoder: Encoder
    shape: Shape
    tesseract: Tesseract | None = None

    @property
    def lost_ocr(self) -> bool:
        """Whether the archive holds recognised text and nothing here can recognise more."""
        return self.tesseract is None and _OCR in self.shape.extractor


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


def extractor_in_use(catalogue: Catalogue, tesseract: Tesseract | None) -> str:
    """What texts are read with, OCR included, as their content depends on it.

    An archive whose scans were recognised keeps to that when the program is not to be found, or
    it would lose their text.
    """
    if tesseract is not None:
        return EXTRACTOR_VERSION + _OCR + tesseract.name
    latest = catalogue.latest()
    used = latest.shape.extractor.partition(_OCR) if latest else ("", "", "")
    return EXTRACTOR_VERSION + used[1] + used[2]


def shape_for(encoder: Encoder, extractor: str) -> Shape:
    """The shape of texts that ``extractor`` read and that are cut for ``encoder``."""
    splitter = {
        "split": SPLIT_VERSION,
        "max_tokens": passage_limit(encoder),
        "tokenizer": encoder.settings["tokenizer"],
    }
    return Shape(extractor, json.dumps(splitter, sort_keys=True))


def read_new(workshop: Workshop, paths: Mapping[str, bytes]) -> dict[str, Failure]:
    """Extract the texts that were never read, given as digest to absolute path.

    Returns what could not be read this time only: bytes that changed meanwhile, trouble of the
    machine, and texts with pages that wait for a program that read such pages before. Nothing of it
    is kept, neither a text under the digest of other bytes nor a failure that says nothing of the
    file, so that the next run tries again.
    """
    catalogue, extractor = workshop.catalogue, workshop.shape.extractor
    known = texts.known_texts(catalogue, extractor)
    new = [(digest, path) for digest, path in paths.items() if digest not in known]
    # A reader costs its start: a second one pays where there are more files than a handful.
    workers = min(len(os.sched_getaffinity(0)), 1 + len(new) // FILES_PER_READER)
    passing: dict[str, Failure] = {}
    with progress_bar("Reading", len(new), "files") as show:
        reading = extract_files(new, workers=workers, tesseract=workshop.tesseract)
        for done, read in enumerate(reading, start=1):
            if (read.sha256 or _digest_now(paths[read.key])) != read.key:
                passing[read.key] = CHANGED
            elif read.passing and read.failure is not None:
                passing[read.key] = read.failure
            elif workshop.lost_ocr and (failure := _waits(read)):
                passing[read.key] = failure
            elif read.extracted is not None:
                texts.add_extraction(catalogue, read.key, extractor, read.extracted, read.language)
            elif read.failure is not None:
                at = datetime.now(UTC).isoformat(timespec="seconds")
                texts.add_failure(catalogue, read.key, extractor, read.failure, at)
            show(done)
    return _without_earlier_readings(workshop, passing) if passing else passing


def _without_earlier_readings(
    workshop: Workshop, passing: Mapping[str, Failure]
) -> dict[str, Failure]:
    """Let what an older extractor read stand, with what it recognised; return what is left."""
    catalogue, extractor = workshop.catalogue, workshop.shape.extractor
    latest = catalogue.latest()
    if latest is not None and latest.shape.extractor != extractor:
        texts.carry_over(catalogue, passing, latest.shape.extractor, extractor)
    known = texts.known_texts(catalogue, extractor)
    return {digest: failure for digest, failure in passing.items() if digest not in known}


def _waits(read: Read) -> Failure | None:
    """Why a text cannot be kept as long as some of its pages wait, or None where none do."""
    if read.extracted is not None and read.extracted.waiting:
        pages = read.extracted.waiting
        return Failure("text", f"{pages} of its pages have no text, need OCR", pages)
    return read.failure if read.failure is not None and read.failure.waiting else None


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


def encode_apart(
    workshop: Workshop, described: Iterable[tuple[str, str, tuple[str, ...]]]
) -> Encoded:
    """Encode the new passages of texts, given as digest, title and groups that may read it.

    The last digits of a vector depend on the batch that it was made in, so each set of groups has
    batches of its own: nobody's scores come from the company of what they may not see.
    """
    audiences: dict[tuple[str, ...], dict[str, str]] = {}
    for digest, title, groups in described:
        audiences.setdefault(tuple(sorted(groups)), {})[digest] = title
    made = [encode_new(workshop, titles) for _, titles in sorted(audiences.items())]
    failures: dict[str, Failure] = {}
    for one in made:
        failures.update(one.failures)
    return Encoded(sum(one.passages for one in made), sum(one.over_long for one in made), failures)


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
