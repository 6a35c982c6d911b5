"""Checking an archive: the catalogue against itself, and both indexes against the catalogue.

The catalogue holds digests that were made for other ends and that vouch for most of it: a version's
fingerprint for its documents, a passage's hash for its text, title and headings, a record's name
for its body. Nothing vouches for the rest, where only SQLite's own check of the file's structure
can tell: a flipped bit inside a label, a topic, a path or a date that leaves its row in order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from corpus.passage_limit import embedding_text
from indexer.texts import hash_of
from store import texts
from store.archive import Archive
from store.catalogue import Catalogue, Shape
from store.embedded import generation_documents, passage_counts
from store.errors import Damaged, NothingServed, UnknownVersion
from store.generations import current_generation
from store.manifest import check_files, read_manifest
from store.versions import fingerprint, states_at


def verify(archive: Archive) -> Iterator[str]:
    """Everything that is wrong with an archive, a sentence each; nothing where all is well.

    :raises Damaged: the catalogue is in such a state that it cannot be checked
    """
    with Catalogue(archive) as catalogue:
        yield from catalogue.integrity()
        yield from _versions(catalogue)
        yield from _texts(catalogue)
        yield from _records(catalogue)
        yield from _generation(archive, catalogue)


def _versions(catalogue: Catalogue) -> Iterator[str]:
    for version in catalogue.versions():
        states = list(states_at(catalogue, version).values())
        if fingerprint(states, version.shape) != version.fingerprint:
            yield f"the documents of version {version.number} are not those that were committed"


def _texts(catalogue: Catalogue) -> Iterator[str]:
    for row in catalogue.rows("SELECT DISTINCT sha256, title, extractor, splitter FROM shapes"):
        shape = Shape(row["extractor"], row["splitter"])
        try:
            extracted, spans = texts.cut_text(catalogue, shape, row["sha256"], row["title"])
            given = replace(extracted, title=row["title"])
            sound = all(
                hash_of(
                    embedding_text(given.title, span.headings, given.text[span.start : span.end])
                )
                == kept
                for span, kept in spans
            )
        except (ValueError, TypeError, KeyError):
            sound = False
        if not sound:
            yield f"the text read from the file with SHA-256 {row['sha256']} is not what was stored"


def _records(catalogue: Catalogue) -> Iterator[str]:
    for row in catalogue.rows("SELECT record_id, body FROM records"):
        if row["record_id"] != f"sha256:{hashlib.sha256(row['body'].encode()).hexdigest()}":
            yield f"search record {row['record_id']} is not what was kept"


def _generation(archive: Archive, catalogue: Catalogue) -> Iterator[str]:
    latest = catalogue.latest()
    try:
        name = current_generation(archive)
        manifest = read_manifest(archive.generations / name)
    except (NothingServed, Damaged) as error:
        yield str(error)
        return
    inputs = manifest.inputs
    if latest is not None and inputs.corpus_version != latest.number:
        yield (
            f"version {latest.number} is committed but version {inputs.corpus_version} is "
            "served; run the ingest again to finish it"
        )
    try:
        version = catalogue.version(inputs.corpus_version)
    except UnknownVersion as error:
        yield str(error)
        return
    if version.fingerprint != inputs.corpus_fingerprint:
        yield f"generation {name} was built from another version {version.number}"
    try:
        check_files(archive.generations / name, manifest, "")
        lexical, semantic = passage_counts(archive.generations / name)
    except Damaged as error:
        yield str(error)
        return
    live = catalogue.live_passages(version)
    groups = {
        one.doc_id: tuple(sorted(set(one.groups))) for one in catalogue.documents(version.number)
    }
    wanted = [
        (entry.doc_id, entry.revision, entry.passages, groups[entry.doc_id]) for entry in live
    ]
    if generation_documents(archive.generations / name) != wanted:
        yield f"generation {name} lists other documents, or readers, than version {version.number}"
    total = sum(entry.passages for entry in live)
    for engine, count in (("lexical", lexical), ("semantic", semantic)):
        if count != total:
            yield f"the {engine} index holds {count} passages, the catalogue {total}"
