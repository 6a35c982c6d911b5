"""Counting the tokens of a text as some model does, from its tokenizer alone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from store.errors import BadInput, EncoderUnavailable
from store.model_files import find_model

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WORDS = "words"
"""Names the counter that needs no model: whatever stands between white space is one."""

_BUILT_IN = ("e5", "minilm")


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of a text, special tokens and prompts not among them.

    ``fingerprint`` is the SHA-256 of the tokenizer's file, empty for words: counters of equal
    fingerprint count alike.
    """

    name: str
    fingerprint: str
    count: Callable[[str], int]


def token_counter(name: str, encoder: str) -> TokenCounter:
    """The counter ``words``, an encoder's (``e5``, ``minilm`` or a folder), or a tokenizer's file.

    Empty stands for that of the encoder named ``encoder``.

    :raises BadInput: there is no such counter, or the file holds no tokenizer
    :raises EncoderUnavailable: the encoder's files are missing or damaged
    """
    if name == WORDS:
        return TokenCounter(WORDS, "", lambda text: len(text.split()))
    path = Path(name).expanduser()
    if name and path.is_file():
        try:
            return _counter(path.name, path)
        except EncoderUnavailable as error:
            raise BadInput(f"{error}, or count with --tokenizer {WORDS}") from error
    if name and name not in _BUILT_IN and not path.is_dir():
        raise BadInput(
            f"there is no tokenizer {name!r}; name {WORDS}, {', '.join(_BUILT_IN)}, the folder of "
            "an encoder, or a file such as tokenizer.json"
        )
    files = find_model(name or encoder)
    files.verify(files.tokenizer_file)
    return _counter(Path(files.name).name, files.tokenizer_file)


def read_tokenizer(path: Path) -> Tokenizer:
    """A tokenizer as the tokenizers library saves it, which cuts nothing off and fills nothing up.

    :raises EncoderUnavailable: the file cannot be read as one
    """
    # One thread counts over a thousand passages a second, a hundred times what is encoded, while
    # several make the library warn whenever the process forks afterwards.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise EncoderUnavailable(
            f"the tokenizer {path} cannot be read ({error}); save the model again"
        ) from error
    tokenizer.no_truncation()  # some models' files switch both on
    tokenizer.no_padding()
    return tokenizer


def _counter(name: str, path: Path) -> TokenCounter:
    tokenizer = read_tokenizer(path)
    fingerprint = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return TokenCounter(name, fingerprint, count)
