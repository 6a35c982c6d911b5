"""Both engines in this process: Tantivy for words and codes, FAISS for vectors."""

from store.embedded.backend import (
    EmbeddedBackend,
    generation_documents,
    open_backend,
    open_generation,
    passage_counts,
)
from store.embedded.build import build_generation, wanted_inputs

__all__ = [
    "EmbeddedBackend",
    "build_generation",
    "generation_documents",
    "open_backend",
    "open_generation",
    "passage_counts",
    "wanted_inputs",
]
