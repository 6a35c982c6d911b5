"""The grammar of RTF: groups, control words and symbols, text, and the code pages it is in."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Literal

Token = tuple[Literal["open", "close", "word", "symbol", "byte", "text"], str, int | None]
"""What it is, its name or text, and its number; a byte has only the number."""

CODE_PAGES = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}

CHARSETS: dict[int, str] = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    134: "gbk",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    255: "cp850",
}
"""Encodings by the character set that a font states."""

SYMBOLS: dict[str, str] = {
    "~": "\u00a0",
    "_": "\u2011",
    "-": "",
    "{": "{",
    "}": "}",
    "\\": "\\",
    "emdash": "\u2014",
    "endash": "\u2013",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
    "bullet": "\u2022",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
}
"""Characters that have a control word or symbol of their own."""

_TOKEN = re.compile(
    r"\\([A-Za-z]{1,32})(-?[0-9]{1,10})? ?"
    r"|\\'([0-9A-Fa-f]{2})"
    r"|\\([^A-Za-z])"
    r"|([{}])"
    r"|([^\\{}\r\n]+)"
)


def tokens(data: bytes) -> Iterator[Token]:
    """Yield the tokens of a file, the raw bytes of pictures passed over."""
    text = data.decode("latin-1")
    position = 0
    while match := _TOKEN.search(text, position):
        position = match.end()
        word, number, byte, symbol, brace, plain = match.groups()
        if word == "bin":
            position += max(0, int(number or 0))
        elif word:
            yield "word", word, int(number) if number else None
        elif byte:
            yield "byte", "", int(byte, 16)
        elif brace:
            yield "open" if brace == "{" else "close", brace, None
        elif symbol:
            yield "symbol", symbol, None
        else:
            yield "text", plain, None


def code_page(number: int) -> str | None:
    """Return the encoding of a Windows code page, or None for one Python does not know."""
    name = {65001: "utf-8", 10000: "mac_roman", 936: "gbk", 0: "cp1252"}.get(number, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None
