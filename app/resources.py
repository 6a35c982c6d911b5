"""What a page holds open: the engines, shared by all sessions, and the catalogue, never shared."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread

import streamlit as st

from app.query.search import Engines
from corpus.query_filters import KINDS
from corpus.scope import Scope
from store.archive import existing_archive
from store.catalogue import Catalogue
from store.errors import CounterpointError, Damaged
from store.generations import current_generation
from store.ingests import last_ingest
from store.manifest import MANIFEST_NAME
from store.scope import permitted_documents


@dataclass(frozen=True, slots=True)
class Served:
    """The engines of the generation being served, and the key that changes when it does."""

    engines: Engines
    key: tuple[str, str, int]


def served() -> Served:
    """The engines of the generation that ``CURRENT`` names now; opened once, until it changes.

    :raises NoArchive: there is no archive in the folder
    :raises NothingServed: nothing was published yet
    :raises Damaged: the generation cannot be opened
    """
    archive = existing_archive(None)
    name = current_generation(archive)
    # A repaired generation has the name of the damaged one, but not its time.
    try:
        built = (archive.generations / name / MANIFEST_NAME).stat().st_mtime_ns
    except FileNotFoundError:
        raise Damaged(f"generation {name} was replaced a moment ago; reload this page") from None
    key = (str(archive.root.resolve()), name, built)
    return Served(_engines(*key), key)


@st.cache_resource(max_entries=1, show_spinner="Opening the indexes…")
def _engines(root: str, generation: str, built: int) -> Engines:
    return Engines(existing_archive(root))


def load_encoder(serving: Served) -> None:
    """Load the encoder, saying so; a search names the engine that fails, so nothing is said here
    where it cannot be loaded."""
    _encoder_loaded(serving.key, serving.engines)


@st.cache_resource(max_entries=1, show_spinner="Loading the encoder…")
def _encoder_loaded(key: tuple[str, str, int], _engines: Engines) -> bool:
    try:
        _engines.encode("ready")
    except CounterpointError:
        return False
    return True


def load_encoder_aside(serving: Served) -> None:
    """Begin to load the encoder, and do not wait for it: what else is asked can be answered."""
    _encoder_loading(serving.key, serving.engines)


@st.cache_resource(max_entries=1, show_spinner=False)
def _encoder_loading(key: tuple[str, str, int], _engines: Engines) -> Thread:
    def load() -> None:
        # As above, the search that needs it says what is wrong.
        with suppress(CounterpointError):
            _engines.encode("ready")

    thread = Thread(target=load, name="encoder", daemon=True)
    thread.start()
    return thread


@contextmanager
def open_catalogue() -> Iterator[Catalogue]:
    """The catalogue, for one run of one page: SQLite handles belong to their thread."""
    with Catalogue(existing_archive(None)) as catalogue:
        yield catalogue


@st.cache_data(max_entries=2, show_spinner=False)
def places(
    key: tuple[str, str, int], _serving: Served
) -> tuple[list[str], list[str], list[str], list[str]]:
    """The languages, the folders, the tags and the types that a reader can choose from."""
    number = _serving.engines.backend.manifest.inputs.corpus_version
    with open_catalogue() as catalogue:
        permitted = permitted_documents(catalogue, catalogue.version(number), Scope())
        documents = [
            document
            for document in catalogue.documents(number)
            if permitted is None or document.doc_id in permitted
        ]
    folders = {
        "/".join(parts[:depth])
        for document in documents
        for path in document.locations
        for parts in [path.split("/")]
        for depth in range(1, len(parts))
    }
    # A comma parts the tags in an address, so one that holds it cannot be chosen there.
    tags = {tag for document in documents for tag in document.tags if "," not in tag}
    types = {KINDS.get(document.media_type, document.media_type) for document in documents}
    languages = {document.language for document in documents}
    return sorted(languages), sorted(folders), sorted(tags), sorted(types)


@st.cache_data(max_entries=2, show_spinner=False)
def readable(key: tuple[str, str, int], _serving: Served) -> tuple[int, int]:
    """How many documents and passages a reader can find; of others not even the number is told."""
    with open_catalogue() as catalogue:
        version = catalogue.version(_serving.engines.backend.manifest.inputs.corpus_version)
        permitted = permitted_documents(catalogue, version, Scope())
        counts = [
            entry.passages
            for entry in catalogue.live_passages(version)
            if permitted is None or entry.doc_id in permitted
        ]
    return len(counts), sum(counts)


def ingest_command() -> str:
    """What to type to bring this archive up to date, from the folders it was last read from."""
    archive = existing_archive(None)
    with Catalogue(archive) as catalogue:
        ingest = last_ingest(catalogue)
    sources = [shlex.quote(path) for path in ingest.report["sources"]] if ingest else ["PATH"]
    root = shlex.quote(str(archive.root))
    return f"python -m indexer ingest {' '.join(sources)} --archive {root}"
