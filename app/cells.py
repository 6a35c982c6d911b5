"""Texts written so that what reads them cannot mistake them, and read back exactly.

A spreadsheet runs a cell that begins with a sign as a formula, and turns what looks like a number,
a date or a truth value into one. TREC and BEIR files part their fields by white space.
"""

from __future__ import annotations

import re

# The hyphen is last, where it spans nothing in a class of characters.
_SIGNS = "=+@＝＋－＠-"
_FORMULA = re.compile(rf"\s*[{_SIGNS}]|[\t\r\n]")
_CONVERTED = re.compile(r"[\s\d.,:/%e-]*\d[\s\d.,:/%e-]*|true|false|verdadero|falso", re.IGNORECASE)
_ENCODED = re.compile(rf"^[{_SIGNS}]|[\s%\x00-\x1f\x7f\ufeff]|^#")
_ESCAPES = re.compile(r"(?:%[0-9A-F]{2})+")


def guarded(text: str) -> str:
    """``text`` as a cell of text: an apostrophe comes before what a spreadsheet would run or
    convert.

    >>> guarded("-40 °C"), guarded("00742"), guarded("valve"), guarded("'s valve")
    ("'-40 °C", "'00742", 'valve', "'s valve")
    """
    return f"'{text}" if _needs_guard(text) else text


def unguarded(cell: str) -> str:
    """The text that :func:`guarded` made a cell of.

    >>> unguarded("'-40 °C"), unguarded("'s valve")
    ('-40 °C', "'s valve")
    """
    return cell[1:] if cell.startswith("'") and _needs_guard(cell[1:]) else cell


def _needs_guard(text: str) -> bool:
    # An apostrophe before such a text is guarded as well, so that it is not taken for ours.
    bare = text.lstrip("'")
    return bool(_FORMULA.match(bare) or _CONVERTED.fullmatch(bare))


def encoded(name: str) -> str:
    """An id as one field of a TREC or BEIR file: white space, ``%`` and a leading sign or ``#``
    become ``%XX``, and everything else stays.

    >>> encoded("bombas/cierre mecánico.md"), encoded("=1+1")
    ('bombas/cierre%20mecánico.md', '%3D1+1')
    """
    return _ENCODED.sub(lambda found: _escape(found[0]), name)


def decoded(field: str) -> str:
    """The id that :func:`encoded` made a field of; a field that it cannot have made is an id as it
    stands.

    >>> decoded("bombas/cierre%20mecánico.md"), decoded("50%off"), decoded("a%2Fb")
    ('bombas/cierre mecánico.md', '50%off', 'a%2Fb')
    """
    try:
        name = _ESCAPES.sub(lambda found: _unescape(found[0]), field)
    except UnicodeDecodeError:
        return field
    return name if encoded(name) == field else field


def _escape(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _unescape(text: str) -> str:
    return bytes.fromhex(text.replace("%", "")).decode()
