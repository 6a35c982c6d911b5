"""Both engines in this process: Tantivy for words and codes, FAISS for vectors."""

from store.embedded.backend import EmbeddedBackend, open_backend
from store.embedded.build import build_generation, wanted_inputs

__all__ = ["EmbeddedBackend", "build_generation", "open_backend", "wanted_inputs"]
