"""The stems that the lexical index knows a word by, for marking matches in a text."""

from __future__ import annotations

from functools import lru_cache

from store.embedded.analysis import LANGUAGES, analyzers


@lru_cache(maxsize=65_536)
def stems(word: str) -> frozenset[tuple[str, str]]:
    """The stems of a folded word as (language, stem), one per indexed language."""
    return frozenset(
        (language, stem) for language in LANGUAGES for stem in analyzers()[language].analyze(word)
    )
