"""Which encoding a page or message may be believed when it names one."""

from __future__ import annotations

import codecs

# Encodings of the codec registry that are no encodings of documents; some fail in their own ways.
_NOT_OF_DOCUMENTS = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"}
)
# What is said to be ISO-8859-1 or ASCII is read as Windows-1252, as every browser does.
_AS_BROWSERS_DO = {"iso8859-1": "cp1252", "ascii": "cp1252"}


def believable(name: str | None, data: bytes) -> str | None:
    """Return the encoding to read ``data`` in, given the one it names, or None for none.

    Bytes beyond ASCII that are strictly valid UTF-8 are that, whatever is said of them: text in
    another encoding is practically never valid by chance, and a wrong declaration is common.
    """
    if name is None:
        return None
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    if known.replace("_", "-") in _NOT_OF_DOCUMENTS:
        return None
    if not data.isascii() and _is_utf8(data):
        return None
    return _AS_BROWSERS_DO.get(known, name)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
