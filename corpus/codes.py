"""Finding the codes in a text: part numbers, alarm codes, parameters, flags, versions, threads.

A code is recognised by its shape and compared folded, that is without case and separators, so that
``AX-2041/B``, ``ax2041b`` and ``AX 2041 B`` are one code; numbers with units and sizes have forms
of their own (:mod:`corpus.quantities`). What is shared with fragments of a code is kept apart
(:func:`part_forms`), and so is the spelling as typed (:func:`exact_form`): an exact code can beat
another spelling of it, and that a part of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from corpus.quantities import SHAPED, shaped_forms, shaped_parts
from corpus.text import normalise_text

_SEPARATORS = re.compile(r"[-/\\._:#+=\[\]\s]+")
_SPACED = r"(?<![\w-])[A-Z]{1,4} \d{2,}[A-Z]?(?: [A-Z]\d?|[ ]\d{1,3})?(?![\w-])"
_SECTION = r"\[[a-z][a-z\d]{2,}+(?:[_ -][\w-]++)*+\](?!\()"
_ROOT = r"(?:--?|(?<![\w/:])(?:~|\.{1,2})?/|(?<![\w])[A-Za-z]:\\)?"
_JOINED = rf"(?<![^\W_]){_ROOT}[^\W_]++(?:[-/\\._:#+=]{{1,2}}[^\W_]++)*+"
_CODE = re.compile(rf"(?P<shaped>{SHAPED}|{_SPACED})|(?P<section>{_SECTION})|(?P<joined>{_JOINED})")
_PIECE = re.compile(r"0[xX][0-9a-fA-F]+(?![^\W_])|\d+|[A-Z]*[^\W\dA-Z_]+|[A-Z]+")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_HUMPS = re.compile(r"[a-zß-öø-ÿ]{2}\d*[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]")
_PATH = re.compile(r"(?:~|\.{1,2})?/[^\W_][^/]*/|[A-Za-z]:\\")
_FILE = re.compile(
    r"\.(?:asc|bat|bin|c|cfg|conf|cpp|csv|dat|dll|docx?|dts|elf|exe|gcode|gz|h|hex|hpp|html?|img|in[ioc]"
    r"|iso|js|json|log|md|o|odt|params?|pdf|pptx?|pub|py|rst|rtf|rules|service|sh|so|sys|tar|tgz"
    r"|toml|txt|xlsx?|xml|ya?ml|zip)",
    re.IGNORECASE,
)

MAX_PARTS = 8
"""Codes of more pieces give up the long runs of them: they are paths, or words glued together."""

MOST_PIECES = 16
"""Beyond, a code has no parts at all; they are found as words."""

CACHED = 64
"""Codes of so many characters come again and again; longer ones are not worth the memory."""

_SPACE_SEEN = "\u2423"


@dataclass(frozen=True, slots=True)
class Code:
    """A code as it stands in the text: ``start`` and ``end`` are half-open code-point offsets."""

    text: str
    start: int
    end: int


def find_codes(text: str) -> Iterator[Code]:
    """The codes of a normalised text, in order and without overlap.

    >>> [code.text for code in find_codes("Relé AX-2041/B, error 0x80070005, run two-column")]
    ['AX-2041/B', '0x80070005']
    """
    for match in _CODE.finditer(text):
        token = match.group()
        if match.lastgroup == "joined":
            wanted = _is_code(token)
        else:
            # Figures with commas that are not one number are a list of several.
            wanted = "," not in token or bool(shaped_forms(token))
        if wanted:
            yield Code(token, match.start(), match.end())


def _is_code(token: str) -> bool:
    if _DIGIT.search(token):
        return (
            _LETTER.search(token) is not None or _SEPARATORS.search(token.lstrip("-")) is not None
        )
    if token.startswith("--") or "_" in token:
        return True
    name = token.lstrip("-")
    return (
        (_SEPARATORS.search(name) is not None and name.isupper())
        or _HUMPS.search(name) is not None
        or _PATH.match(name) is not None
        or _FILE.fullmatch(name, max(name.rfind("."), 1)) is not None
    )


def fold_code(code: str) -> str:
    """The form under which spellings of one code meet.

    >>> fold_code("AX-2041/B") == fold_code("ax2041b") == fold_code("AX 2041 B") == "ax2041b"
    True
    """
    return code_forms(code)[0]


def code_forms(code: str) -> tuple[str, ...]:
    """Every form that a code may meet another spelling under; the first is :func:`fold_code`.

    >>> code_forms("1,234 V")
    ('1.234v', '1234v')
    """
    return _cached_forms(code) if len(code) <= CACHED else _forms(code)


def _forms(code: str) -> tuple[str, ...]:
    text = normalise_text(code).strip()
    if forms := shaped_forms(text):
        return forms
    bare = normalise_text(re.sub(r"[\W_]+", "", text.casefold()))
    return shaped_forms(bare) or (bare,)


def exact_form(code: str) -> str:
    """The spelling itself, as one term: letters in their case, separators and spaces kept."""
    return normalise_text(code).strip().replace(" ", _SPACE_SEEN)


def pieces(code: str) -> tuple[str, ...]:
    """The letters and the digits of a code, folded, in order; humps of letters stand apart.

    >>> pieces("CrashLoopBackOff"), pieces("AX-2041/B")
    (('crash', 'loop', 'back', 'off'), ('ax', '2041', 'b'))
    """
    return tuple(
        piece.casefold()
        for chunk in _SEPARATORS.split(normalise_text(code))
        for piece in _PIECE.findall(chunk)
    )


def part_forms(code: str) -> tuple[str, ...]:
    """Folded runs of neighbouring parts of a code, longest first, without the whole.

    >>> part_forms("AX-2041/B")
    ('ax2041', '2041b', 'ax', '2041', 'b')
    """
    return _cached_parts(code) if len(code) <= CACHED else _parts(code)


def _parts(code: str) -> tuple[str, ...]:
    if shaped_forms(code):
        return shaped_parts(code)
    parts = pieces(code)
    if len(parts) == 1 and parts[0].startswith("0x") and len(parts[0]) > 5:
        return (parts[0][2:],)
    if not 1 < len(parts) <= MOST_PIECES:
        return ()
    whole = fold_code(code)
    longest = len(parts) - 1 if len(parts) <= MAX_PARTS else 3
    forms = (
        "".join(parts[start : start + size])
        for size in range(longest, 0, -1)
        for start in range(len(parts) - size + 1)
    )
    return tuple(form for form in dict.fromkeys(forms) if form != whole)


_cached_forms = lru_cache(maxsize=65_536)(_forms)
_cached_parts = lru_cache(maxsize=65_536)(_parts)
