"""Building a generation: both indexes from the same rows of one corpus version.

Everything is written into a folder whose name begins with a dot, the manifest last, and the folder
then gets its real name. A kill at any point leaves either nothing or a whole generation.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.document import Document
from store import texts
from store.archive import Archive
from store.catalogue import Catalogue, LivePassages, Version
from store.centring import Centre, centring_fingerprint
from store.embedded.analysis import Fields, analyzer_fingerprint, fields_of
from store.embedded.documents import Documents, Entry, write_documents
from store.embedded.segments import write_lexical
from store.embedded.semantic import EXACT_UP_TO, write_semantic
from store.errors import CounterpointError, is_full_disk, no_space
from store.filesystem import remove
from store.manifest import Inputs, Manifest, digest_files, write_manifest
from store.vectors import VectorCache

BLOCK = 4096
"""How many vectors are taken out of the cache and centred at once."""


@dataclass(frozen=True, slots=True)
class EncoderIdentity:
    """Which encoder's vectors a generation holds."""

    name: str
    fingerprint: str
    dimension: int


def wanted_inputs(version: Version, encoder: EncoderIdentity) -> Inputs:
    """What a generation of ``version`` has to be built from, here and now."""
    return Inputs(
        corpus_version=version.number,
        corpus_fingerprint=version.fingerprint,
        extractor=version.shape.extractor,
        splitter=version.shape.splitter,
        analyzer=analyzer_fingerprint(),
        encoder=encoder.fingerprint,
        encoder_name=encoder.name,
        engines={
            "tantivy": importlib.metadata.version("tantivy"),
            "faiss": importlib.metadata.version("faiss-cpu"),
        },
        centring=centring_fingerprint(),
    )


def generation_name(inputs: Inputs) -> str:
    return f"{inputs.corpus_version:06d}-{inputs.digest[:12]}"


def build_generation(
    archive: Archive,
    catalogue: Catalogue,
    cache: VectorCache,
    version: Version,
    encoder: EncoderIdentity,
    centre: Centre,
    *,
    exact_up_to: int = EXACT_UP_TO,
    progress: Callable[[int], None] = lambda done: None,
) -> Manifest:
    """Build the generation of ``version`` and give it its name; publishing it is another step.

    With more passages than ``exact_up_to`` the semantic index gets quantized copies.

    :raises KeyError: a passage has no cached vector
    :raises CacheDamaged: a cached vector is not what was put there
    """
    inputs = wanted_inputs(version, encoder)
    name = generation_name(inputs)
    if not archive.generations.is_dir():
        remove(archive.generations)
    archive.generations.mkdir(parents=True, exist_ok=True)
    folder = archive.generations / f".{name}.{os.getpid()}"
    remove(folder)
    folder.mkdir()

    try:
        manifest = _write(
            folder, inputs, catalogue, cache, version, encoder, centre, exact_up_to, progress
        )
        final = archive.generations / name
        # What is damaged may still answer in part: it is out of sight for an instant only.
        damaged = archive.generations / f".{name}.{os.getpid()}.damaged"
        if os.path.lexists(final):
            final.rename(damaged)
        folder.rename(final)
        remove(damaged)
    except (OSError, ValueError, RuntimeError, CounterpointError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        if is_full_disk(error):
            raise no_space(archive.root) from error
        raise
    return manifest


def _write(
    folder: Path,
    inputs: Inputs,
    catalogue: Catalogue,
    cache: VectorCache,
    version: Version,
    encoder: EncoderIdentity,
    centre: Centre,
    exact_up_to: int,
    progress: Callable[[int], None],
) -> Manifest:
    """Write both indexes and the list of documents, make them durable, then the manifest."""
    live = catalogue.live_passages(version)
    documents = {document.doc_id: document for document in catalogue.documents(version.number)}
    listed = _listed(live, documents)
    passages = write_lexical(
        folder / "lexical", _audiences(catalogue, version, live, documents, listed, progress)
    )
    blocks = _vectors(catalogue, cache, live, documents, encoder, centre)
    form = write_semantic(
        folder / "semantic", blocks, passages, encoder.dimension, centre, exact_up_to=exact_up_to
    )
    write_documents(folder, listed)
    manifest = Manifest(
        name=generation_name(inputs),
        inputs=inputs,
        documents=len(live),
        passages=passages,
        dimension=encoder.dimension,
        built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        files=digest_files(folder),
        semantic=form,
    )
    _sync(folder)
    write_manifest(folder, manifest)
    return manifest


def _listed(live: list[LivePassages], documents: Mapping[str, Document]) -> Documents:
    return Documents(
        Entry(
            entry.doc_id,
            entry.revision,
            entry.passages,
            tuple(sorted(set(documents[entry.doc_id].groups))),
        )
        for entry in live
    )


def _audiences(
    catalogue: Catalogue,
    version: Version,
    live: list[LivePassages],
    documents: Mapping[str, Document],
    listed: Documents,
    progress: Callable[[int], None],
) -> Iterator[Iterator[tuple[int, int, Fields]]]:
    """For each audience the lexical fields of its passages, with their rows and documents' numbers.

    Each must be used up before the next one is asked for, as ``progress`` counts through them all.
    """
    done = 0

    def passages(numbers: Sequence[int]) -> Iterator[tuple[int, int, Fields]]:
        nonlocal done
        for number in numbers:
            entry, document = live[number], documents[live[number].doc_id]
            text = catalogue.text(version, entry.doc_id)
            first = int(listed.first_row[number])
            for row, (span, _) in enumerate(texts.spans(catalogue, entry.shape_id), start=first):
                fields = fields_of(
                    text[span.start : span.end],
                    document.title,
                    span.headings,
                    span.language or document.language,
                )
                yield row, number, fields
            done += entry.passages
            progress(done)

    for audience in range(len(listed.audiences)):
        yield passages(np.flatnonzero(listed.audience_of == audience).tolist())


def _vectors(
    catalogue: Catalogue,
    cache: VectorCache,
    live: list[LivePassages],
    documents: Mapping[str, Document],
    encoder: EncoderIdentity,
    centre: Centre,
) -> Iterator[NDArray[np.float32]]:
    """The centred vectors of every passage in row order, in blocks of (any, dimension)."""
    languages: list[str] = []
    hashes: list[bytes] = []

    def block() -> NDArray[np.float32]:
        vectors = cache.rows(hashes, encoder.fingerprint, encoder.dimension)
        return centre.passage_vectors(vectors, languages)

    for entry in live:
        for span, text_hash in texts.spans(catalogue, entry.shape_id):
            languages.append(span.language or documents[entry.doc_id].language)
            hashes.append(text_hash)
            if len(hashes) == BLOCK:
                yield block()
                languages.clear()
                hashes.clear()
    if hashes:
        yield block()


def _sync(folder: Path) -> None:
    """Make every file durable before the manifest may say that it is complete."""
    for path in folder.rglob("*"):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
