"""Taking from every vector what all vectors of its kind have in common.

The vectors of many encoders lie in a narrow cone: most of a cosine between a question and a passage
is the same for any two texts, and part of the rest says only in which language they are. Both are
measured on a fixed set of reference texts, once for an encoder. Half of the mean of all languages
is taken away before vectors are compared, and all of what sets a language apart from that mean:
:data:`STRENGTH` and :data:`LANGUAGE_STRENGTH`. The reference is the same for every archive, so
that nothing about a document can be learned from the scores of another.

The reference texts are short questions, and passages of the sample archive, in English and in
Spanish. A text in another language, or in none that could be told, meets the mean of both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from store.encoder import Encoder
from store.errors import Damaged
from store.vectors import VectorCache

STRENGTH = 0.5
"""The share of the common mean that is taken away: what helped, or did no harm, everywhere."""

LANGUAGE_STRENGTH = 1.0
"""The share of the difference between a language's mean and the common one that is taken away."""

FILE_NAME = "centre.json"

_REFERENCE = Path(__file__).with_name("reference.json")
_ALL = ""

Vectors = NDArray[np.float32]
Means = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Centre:
    """What one encoder's vectors have in common: for passages and for queries, by language.

    Each mean has the shape (dimension,); the one under ``""`` stands for any other language.
    """

    passages: Means
    queries: Means

    def passage_vectors(self, vectors: Vectors, languages: Sequence[str]) -> Vectors:
        """Centre (n, dimension) unit vectors, one language for each; the result is unit again."""
        return _unit(vectors - np.stack([_shared(self.passages, one) for one in languages]))

    def query_vector(self, vector: Vectors, language: str) -> Vectors:
        """Centre the (dimension,) unit vector of a query; the result is unit again."""
        return _unit(vector - _shared(self.queries, language))


def centring_fingerprint() -> str:
    """Names the reference texts and how much of their mean is taken away."""
    digest = hashlib.sha256(_REFERENCE.read_bytes()).hexdigest()
    return f"centred-{STRENGTH}-{LANGUAGE_STRENGTH}-{digest[:12]}"


def centre_of(encoder: Encoder, vectors: VectorCache) -> Centre:
    """The centre of ``encoder``. Vectors of the reference texts are kept in ``vectors``.

    :raises EncodingFailed: the encoder gives no vector for a reference text
    """
    with _computing:
        known = _centres.get(encoder.fingerprint)
        if known is None:
            reference = json.loads(_REFERENCE.read_text(encoding="utf-8"))
            known = Centre(
                _means(reference["passages"], partial(_passages, encoder, vectors)),
                _means(reference["queries"], partial(_queries, encoder, vectors)),
            )
            _centres[encoder.fingerprint] = known
        return known


def write_centre(folder: Path, centre: Centre) -> None:
    """Write ``centre`` beside the vectors that were centred with it, as decimal numbers."""
    body = {
        "strength": STRENGTH,
        "language_strength": LANGUAGE_STRENGTH,
        **{
            kind: {language: mean.tolist() for language, mean in means.items()}
            for kind, means in (("passages", centre.passages), ("queries", centre.queries))
        },
    }
    (folder / FILE_NAME).write_text(json.dumps(body), encoding="utf-8")


def read_centre(folder: Path) -> Centre:
    """:raises Damaged: the file is missing or is not one of ours"""
    try:
        body = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        return Centre(*(_arrays(body[kind]) for kind in ("passages", "queries")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(
            f"the centre of the semantic index in {folder} cannot be read; "
            "run `python -m indexer ingest` to build the indexes again"
        ) from error


_computing = Lock()
_centres: dict[str, Centre] = {}


def _arrays(means: Mapping[str, Sequence[float]]) -> Means:
    return {language: np.array(mean, dtype=np.float32) for language, mean in means.items()}


def _means(
    texts: Mapping[str, Sequence[str]], encode: Callable[[Sequence[str]], Vectors]
) -> dict[str, NDArray[np.float32]]:
    means = {language: encode(some).mean(axis=0) for language, some in texts.items()}
    means[_ALL] = np.mean(list(means.values()), axis=0)
    return means


def _passages(encoder: Encoder, vectors: VectorCache, texts: Sequence[str]) -> Vectors:
    """The vectors of reference passages; those too long for the encoder are cut in half first."""
    fitting = [_fitted(encoder, text) for text in texts]
    return _kept(encoder, vectors, fitting, b"", lambda some: encoder.encode_passages(some))


def _queries(encoder: Encoder, vectors: VectorCache, texts: Sequence[str]) -> Vectors:
    return _kept(
        encoder,
        vectors,
        texts,
        b"query\0",
        lambda some: np.stack([encoder.encode_query(text) for text in some]),
    )


def _fitted(encoder: Encoder, text: str) -> str:
    while encoder.count_tokens([text])[0] > encoder.max_tokens:
        text = text[: len(text) // 2]
    return text


def _kept(
    encoder: Encoder,
    vectors: VectorCache,
    texts: Sequence[str],
    kind: bytes,
    encode: Callable[[Sequence[str]], Vectors],
) -> Vectors:
    """The vectors of ``texts``, encoded where the cache does not have them yet."""
    hashes = {hashlib.sha256(kind + text.encode()).digest(): text for text in texts}
    missing = vectors.missing(hashes, encoder.fingerprint)
    if missing:
        made = encode([hashes[text_hash] for text_hash in missing])
        vectors.add(missing, encoder.fingerprint, made)
    return vectors.rows(list(hashes), encoder.fingerprint, encoder.dimension)


def _shared(means: Means, language: str) -> NDArray[np.float32]:
    """What is taken away from a vector of ``language``, of the shape (dimension,)."""
    common = means[_ALL]
    apart = means.get(language, common) - common
    return np.float32(STRENGTH) * common + np.float32(LANGUAGE_STRENGTH) * apart


def _unit(vectors: Vectors) -> Vectors:
    """Vectors made unit; one that all but equals the mean keeps no direction, and stays null."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(length, np.float32(1e-6))).astype(np.float32)
    return unit
