"""What is encoded for a passage, and how much of it an encoder reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from corpus.document import Span

CountTokens = Callable[[Sequence[str]], Sequence[int]]
"""How many tokens an encoder makes of each text, its special tokens included."""

_TITLE_BYTES = 96
_HEADINGS_BYTES = 160
# No text worth reading packs more characters into a token. Some tokenizers give one token to a
# word they cannot read, however long, so tokens alone do not bound a passage.
_CHARACTERS_PER_TOKEN = 8


def embedding_text(title: str, headings: Sequence[str], text: str) -> str:
    """Return what is encoded for a passage: document title and heading path, then its text.

    Title and path are each cut to a bounded length, the innermost headings kept; a heading that
    repeats the title, or with which the text itself begins, is left out.

    >>> embedding_text("Pump HX-204", ("Pump HX-204", "Seals"), "Replace both.")
    'Pump HX-204\\nSeals\\nReplace both.'
    """
    title = _bounded(title.strip(), _TITLE_BYTES)
    path: list[str] = []
    room = _HEADINGS_BYTES
    for heading in reversed(headings):
        if heading == title or (not path and text.startswith(heading)):
            continue
        kept = _bounded(heading, room)
        room -= len(kept.encode("utf-8", errors="replace")) + 3
        path.append(kept)
        if room < 12:
            break
    lines = (title, " > ".join(reversed(path)), text)
    return "\n".join(line for line in lines if line)


def _bounded(text: str, limit: int) -> str:
    data = text.encode("utf-8", errors="replace")
    return text if len(data) <= limit else data[:limit].decode("utf-8", errors="ignore").rstrip()


@dataclass(frozen=True, slots=True)
class Unit:
    """A block, or a piece of one that is too long: what passages are put together from."""

    start: int
    end: int
    page: int | None
    headings: tuple[str, ...]
    is_heading: bool
    tokens: int


class Limit:
    """The encoder's limit, and what is left of it beside the title and each heading path."""

    def __init__(self, title: str, count_tokens: CountTokens, max_tokens: int) -> None:
        self.characters = max(1, max_tokens * _CHARACTERS_PER_TOKEN)
        self.max_tokens = max_tokens
        self._title = title
        self._count = count_tokens
        self.special = self._count([""])[0]
        self._room: dict[tuple[str, ...], int] = {}

    def count(self, text: str, spans: Sequence[Span]) -> Sequence[int]:
        """Count the tokens of spans as they will be encoded."""
        return self._count(
            [embedding_text(self._title, s.headings, text[s.start : s.end]) for s in spans]
        )

    def bare(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of texts without special ones."""
        return [max(0, tokens - self.special) for tokens in self._count(texts)] if texts else []

    def learn(self, paths: Iterable[tuple[str, ...]]) -> None:
        """Count what the titles and heading paths take, all in one batch."""
        unknown = [path for path in dict.fromkeys(paths) if path not in self._room]
        if unknown:
            taken = self._count([embedding_text(self._title, path, "") for path in unknown])
            for path, tokens in zip(unknown, taken, strict=True):
                self._room[path] = max(1, self.max_tokens - tokens)

    def room(self, path: tuple[str, ...]) -> int:
        """Return how many tokens of text fit beside the title and this heading path."""
        self.learn([path])
        return self._room[path]
