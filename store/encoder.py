"""Text becomes unit vectors here, and the only import of sentence-transformers is here.

That import costs seconds, so it waits for the first text that must be encoded: a fingerprint and a
count of tokens need the model's files and its tokenizer, never torch.
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.errors import BadInput, EncoderUnavailable, EncodingFailed
from store.model_files import ModelFiles, default_encoder_name, find_model
from store.tokens import read_tokenizer

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

__all__ = ["Encoder", "default_encoder_name", "open_encoder"]

BATCH = 32
UNIT_TOLERANCE = 1e-3
_COUNTED_AT_ONCE = 1024
# Measured on two cores with e5: a second thread gives passages 1.6 times the rate. It takes a sixth
# off a query of a dozen words while the machine is idle, and makes it two to five times slower once
# another process is busy, because each layer waits for the slower core. So a query has one thread;
# the switch itself costs less than a microsecond.
_QUERY_THREADS = 1
_PASSAGE_THREADS = (
    len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
)
# One for all encoders: torch's number of threads belongs to the process.
_running = Lock()


def open_encoder(name: str) -> Encoder:
    """The encoder ``e5``, ``minilm``, one in a folder, or one with that name on the model hub.

    :raises EncoderUnavailable: its files are missing, damaged or incomplete
    """
    return Encoder(find_model(name))


class Encoder:
    """One model, its tokenizer loaded when first counted with and its network when first run.

    Several threads may share an encoder; batches run one after another, so that a query waits for
    the batch in hand and not for all of the passages.
    """

    def __init__(self, files: ModelFiles) -> None:
        self._files = files
        self._loading = Lock()
        self._tokenizer: Tokenizer | None = None
        self._model: SentenceTransformer | None = None

    @property
    def name(self) -> str:
        """``e5``, ``minilm``, or the folder or hub name that was given."""
        return self._files.name

    @property
    def languages(self) -> tuple[str, ...] | None:
        """The languages it serves; None means that it excludes none."""
        return self._files.languages

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._files.dimension

    @property
    def max_tokens(self) -> int:
        """How many tokens it reads, prompt and special tokens included."""
        return self._files.max_tokens

    @property
    def settings(self) -> dict[str, str | int]:
        """All that decides a vector, in words for a manifest; the fingerprint covers just this."""
        files = self._files
        return {
            "weights": files.weights,
            "tokenizer": files.tokenizer,
            "query_prompt": files.query_prompt,
            "passage_prompt": files.passage_prompt,
            "max_tokens": files.max_tokens,
            "dimension": files.dimension,
            "pooling": files.pooling,
            "normalisation": "unit length",
            "precision": "float32",
            "backend": "sentence-transformers, torch",
        }

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that two encoders share only if they give the same vectors."""
        text = json.dumps(self.settings, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text takes as a passage, prompt and special tokens included.

        Nothing is cut off: a number above ``max_tokens`` says by how much the text is too long.

        :raises EncodingFailed: naming the index of a text with half a surrogate pair in it
        """
        for index, text in enumerate(texts):
            if fault := _broken(text):
                raise EncodingFailed(f"passage {index} cannot be encoded: {fault}")
        tokenizer = self._loaded_tokenizer()
        prompt = self._files.passage_prompt
        counts: list[int] = []
        for start in range(0, len(texts), _COUNTED_AT_ONCE):
            part = [prompt + text for text in texts[start : start + _COUNTED_AT_ONCE]]
            counts.extend(len(encoding.ids) for encoding in tokenizer.encode_batch_fast(part))
        return counts

    def encode_passages(
        self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """(n, dimension) float32, row i for text i, each row finite and of unit length.

        ``progress`` is called after each batch with the number of texts done so far.

        :raises EncodingFailed: naming the index of a text that is blank, that is longer than the
            model reads (and would be cut off in silence), or that gives no unit vector. Blank and
            long ones are found before anything is encoded.
        """
        for index, text in enumerate(texts):
            if _is_blank(text):
                raise EncodingFailed(f"passage {index} cannot be encoded: it is blank")
        counts = self.count_tokens(texts)
        for index, count in enumerate(counts):
            if count > self.max_tokens:
                raise EncodingFailed(
                    f"passage {index} has {count} tokens and the encoder {self.name} reads "
                    f"{self.max_tokens}; split it into shorter passages"
                )
        # Texts of one length share a batch, so that little is padded. The longest come first:
        # what does not fit into memory fails at once, not in the last minute.
        order = sorted(range(len(texts)), key=lambda index: (-counts[index], index))
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            part = [texts[index] for index in batch]
            rows, usable = self._unit_rows(part, self._files.passage_prompt, _PASSAGE_THREADS)
            if not usable.all():
                index = batch[int(np.flatnonzero(~usable)[0])]
                raise EncodingFailed(
                    f"the encoder {self.name} gives no vector of unit length for passage {index}"
                )
            vectors[batch] = rows
            if progress is not None:
                progress(start + len(batch))
        return vectors

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """(dimension,) float32, finite and of unit length; what is past ``max_tokens`` is cut off.

        :raises BadInput: the text has no visible character
        :raises EncodingFailed: the model gives no unit vector
        """
        if _is_blank(text):
            raise BadInput("this query is blank; type a word or a code")
        if fault := _broken(text):
            raise BadInput(f"this query cannot be encoded: {fault}")
        rows, usable = self._unit_rows([text], self._files.query_prompt, _QUERY_THREADS)
        if not usable.all():
            raise EncodingFailed(
                f"the encoder {self.name} gives no vector of unit length for the query {text!r}"
            )
        vector: NDArray[np.float32] = rows[0]
        return vector

    def _unit_rows(
        self, texts: list[str], prompt: str, threads: int
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """(n, dimension) rows made unit, and (n,) whether each is finite and of unit length."""
        model = self._loaded_model()
        import torch

        with _running:
            torch.set_num_threads(threads)
            raw = model.encode(
                texts,
                prompt=prompt,
                batch_size=BATCH,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        rows = np.asarray(raw, dtype=np.float32)
        if rows.shape != (len(texts), self.dimension):
            raise EncodingFailed(
                f"the encoder {self.name} gives vectors of shape {rows.shape[1:]}, and its "
                f"configuration promises {self.dimension} numbers"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            length = np.linalg.norm(rows, axis=1)
            usable = np.abs(length - 1) <= UNIT_TOLERANCE  # False for NaN and infinity as well
        return rows, usable

    def _loaded_tokenizer(self) -> Tokenizer:
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = _load_tokenizer(self._files)
            return self._tokenizer

    def _loaded_model(self) -> SentenceTransformer:
        with self._loading:
            if self._model is None:
                self._model = _load_model(self._files)
            return self._model


def _load_tokenizer(files: ModelFiles) -> Tokenizer:
    files.verify(files.tokenizer_file)
    return read_tokenizer(files.tokenizer_file)


def _load_model(files: ModelFiles) -> SentenceTransformer:
    # A folder is all that is loaded by now, so the network has nothing to add: without this the
    # libraries may still ask the hub about it, and wait for an answer.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import torch
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise EncoderUnavailable(
            f"the encoder {files.name} needs sentence-transformers, which cannot be imported "
            f"({error}); type pip install sentence-transformers"
        ) from error
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    files.verify()
    try:
        model = SentenceTransformer(
            str(files.folder),
            device="cpu",
            local_files_only=True,
            model_kwargs={"dtype": torch.float32},  # else whatever type the file is stored in
        )
    except (OSError, ValueError, LookupError, RuntimeError, SafetensorError) as error:
        raise EncoderUnavailable(
            f"sentence-transformers cannot load the folder {files.folder} ({error}); save the "
            "model again, or use e5 or minilm"
        ) from error
    model.max_seq_length = files.max_tokens
    return model


def _is_blank(text: str) -> bool:
    """Whether a text has no visible character: what is left is separators and controls."""
    return all(unicodedata.category(character)[0] in "ZC" for character in text)


def _broken(text: str) -> str:
    """Why no tokenizer can read a text, or an empty string."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"the character at position {error.start} is half of a surrogate pair"
    return ""
