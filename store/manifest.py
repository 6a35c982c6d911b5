"""What a generation says of itself: what it was built from, and the digest of every file.

The manifest is the last file written, so a folder without one is not a generation.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from store.errors import Damaged

MANIFEST_NAME = "manifest.json"
FORMAT = 3
"""3: the lexical index keeps the documents of each set of groups apart."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that decides the content of both indexes.

    Two generations with equal inputs give equal rankings. ``centring`` is empty where vectors are
    compared as the encoder gives them.
    """

    corpus_version: int
    corpus_fingerprint: str
    extractor: str
    splitter: str
    analyzer: str
    encoder: str
    encoder_name: str
    engines: dict[str, str]
    centring: str = ""

    @property
    def digest(self) -> str:
        return hashlib.sha256(_canonical(asdict(self)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class FileDigest:
    """One file of a generation, by its path below the folder."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class SemanticForm:
    """How the semantic index finds its best passages, and what was measured of it at the build.

    ``search`` is ``exact`` where a query is compared with every vector, and ``quantized`` where it
    is compared with smaller copies first. ``recall`` is the share of the truly best ``cutoff``
    passages that were found by ``samples`` queries, ``error_bound`` the largest distance of a
    vector from its copy; without copies nothing had to be measured. ``reason`` says why there are
    none where the size asks for them.
    """

    search: Literal["exact", "quantized"] = "exact"
    recall: float = 1.0
    cutoff: int = 0
    samples: int = 0
    error_bound: float = 0.0
    reason: str = ""

    @property
    def in_words(self) -> str:
        """For a person; recall is never rounded up."""
        if self.search == "exact":
            return f"exact ({self.reason})" if self.reason else "exact"
        share = math.floor(self.recall * 10_000) / 10_000
        return (
            f"8-bit copies, then exact; recall@{self.cutoff} {share:.4f} on {self.samples} samples"
        )


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of one generation."""

    name: str
    inputs: Inputs
    documents: int
    passages: int
    dimension: int
    built_at: str
    files: tuple[FileDigest, ...]
    semantic: SemanticForm = SemanticForm()

    @property
    def fingerprint(self) -> str:
        return f"sha256:{self.inputs.digest}"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest durably; every other file must be complete by then."""
    body: dict[str, Any] = {"format": FORMAT, **asdict(manifest)}
    body["sha256"] = _digest(body)
    path = folder / MANIFEST_NAME
    with path.open("w", encoding="utf-8") as handle:
        json.dump(body, handle, indent=2, sort_keys=True)
        handle.flush()
        os.fsync(handle.fileno())


def read_manifest(folder: Path) -> Manifest:
    """:raises Damaged: there is no manifest, or it is not one of ours"""
    path = folder / MANIFEST_NAME
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body["format"] != FORMAT:
            raise ValueError(f"it has format {body['format']}, not {FORMAT}")
        # Nobody else vouches for the manifest, which vouches for every other file.
        if body.pop("sha256") != _digest(body):
            raise ValueError("it is not what was written")
        if body.pop("name") != folder.name:
            raise ValueError("it belongs to another generation")
        del body["format"]
        inputs = Inputs(**body.pop("inputs"))
        files = tuple(FileDigest(**entry) for entry in body.pop("files"))
        # Generations of before there were copies are searched exactly.
        semantic = SemanticForm(**body.pop("semantic", {}))
        return Manifest(name=folder.name, inputs=inputs, files=files, semantic=semantic, **body)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(
            f"the manifest of generation {folder.name} cannot be read ({error}); "
            "run `python -m indexer ingest` to build the indexes again"
        ) from error


def digest_files(folder: Path) -> tuple[FileDigest, ...]:
    """Size and SHA-256 of every file below ``folder``, by path."""
    return tuple(
        FileDigest(path.relative_to(folder).as_posix(), path.stat().st_size, sha256_of(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST_NAME
    )


def check_files(folder: Path, manifest: Manifest, below: str) -> None:
    """Compare the files of one part (``lexical/`` or ``semantic/``) with the manifest.

    :raises Damaged: naming the first file that differs
    """
    for entry in manifest.files:
        if not entry.path.startswith(below):
            continue
        if trouble := _trouble(folder / entry.path, entry):
            raise Damaged(
                f"{entry.path} of generation {manifest.name} {trouble}; "
                "run `python -m indexer ingest` to build the indexes again"
            )


def _trouble(path: Path, entry: FileDigest) -> str:
    """In what a file differs from its entry; nothing where it does not."""
    try:
        if not path.is_file():
            return "is missing"
        if path.stat().st_size != entry.size:
            return f"has {path.stat().st_size} bytes instead of {entry.size}"
        if sha256_of(path) != entry.sha256:
            return "has another SHA-256 than the manifest"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return ""


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, read in blocks."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical(body).encode()).hexdigest()


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
