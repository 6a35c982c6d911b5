"""A generation on this disk, opened for reading."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

from store.archive import Archive
from store.embedded.documents import FILE_NAME as DOCUMENTS_NAME
from store.embedded.documents import Documents, Groups, read_documents
from store.embedded.segments import open_lexical
from store.embedded.semantic import SemanticIndex, open_semantic
from store.embedded.view import EmbeddedView
from store.errors import CounterpointError, Damaged, NothingServed
from store.generations import current_generation, served_name
from store.manifest import Manifest, check_files, read_manifest

T = TypeVar("T")

VIEWS = 16
"""How many views stay open: one for each different union of audiences that readers have."""


class EmbeddedBackend:
    """One generation, immutable and safe for any number of threads.

    An engine whose files are damaged is left closed and says so when it is asked; the other one
    keeps answering. What those who are in no group may read is open from the start. For other
    readers the lexical engine opens with their first question, when its files must still be there.
    """

    def __init__(
        self,
        archive: Archive,
        manifest: Manifest,
        documents: Documents,
        lexical: Path | CounterpointError,
        semantic: SemanticIndex | CounterpointError,
    ) -> None:
        self.manifest = manifest
        self._archive = archive
        self._documents = documents
        self._lexical = lexical
        self._semantic = semantic
        self._views = lru_cache(maxsize=VIEWS)(self._view)

    @property
    def whole(self) -> bool:
        """Whether both engines open, the lexical one for a reader who is in no group."""
        return self.for_reader(()).whole

    def for_reader(self, groups: Collection[str]) -> EmbeddedView:
        return self._views(self._documents.readable_by(groups))

    def _view(self, audiences: tuple[int, ...]) -> EmbeddedView:
        return EmbeddedView(
            self._archive,
            self.manifest,
            self._documents,
            audiences,
            self._lexical
            if isinstance(self._lexical, CounterpointError)
            else partial(open_lexical, self._lexical, audiences),
            self._semantic,
        )


def open_backend(archive: Archive) -> EmbeddedBackend:
    """Open the generation being served.

    :raises NothingServed: nothing was published yet
    :raises Damaged: the manifest or the list of documents cannot be read
    """
    while True:
        name = served_name(archive)
        try:
            backend = open_generation(archive, current_generation(archive))
        except (NothingServed, Damaged):
            backend = None
            if served_name(archive) == name:
                raise
        # One that was replaced, and then removed, while it was being opened is not damaged.
        if backend is not None and (backend.whole or served_name(archive) == name):
            return backend


def open_generation(archive: Archive, name: str) -> EmbeddedBackend:
    """Open a generation that is on disk, served or not.

    :raises Damaged: the manifest or the list of documents cannot be read
    """
    folder = archive.generations / name
    manifest = read_manifest(folder)
    check_files(folder, manifest, DOCUMENTS_NAME)
    return EmbeddedBackend(
        archive,
        manifest,
        read_documents(folder),
        _open_part(folder, manifest, "lexical/", Path),
        _open_part(folder, manifest, "semantic/", partial(open_semantic, form=manifest.semantic)),
    )


def generation_documents(folder: Path) -> list[tuple[str, int, int, Groups]]:
    """Each document of a generation with its revision, its number of passages and the groups that
    may read it, by id."""
    return [
        (one.doc_id, one.revision, one.passages, one.groups)
        for one in read_documents(folder).entries
    ]


def passage_counts(folder: Path) -> tuple[int, int]:
    """How many passages the lexical and the semantic index in ``folder`` hold.

    :raises Damaged: one of them cannot be opened
    """
    return open_lexical(folder / "lexical").passages, open_semantic(folder / "semantic").passages


def _open_part(
    folder: Path, manifest: Manifest, part: str, opener: Callable[[Path], T]
) -> T | CounterpointError:
    try:
        check_files(folder, manifest, part)
        return opener(folder / part)
    except Damaged as error:
        return error
