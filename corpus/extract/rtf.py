"""RTF files: the text of the page, told apart from the many things that stand between it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract.build import Builder, flow
from corpus.extract.rtf_parts import Part
from corpus.extract.rtf_tokens import CHARSETS, CODE_PAGES, SYMBOLS, Token, code_page, tokens

MEDIA_TYPE = "application/rtf"

# Groups whose words are not on the page, or only repeat what is; those behind ``\\*`` count too.
_UNSEEN = re.compile(
    r"(?:colortbl|pict|objdata|fldinst|datafield|themedata|filetbl|listtable|revtbl|generator"
    r"|author|operator|company|keywords|comment|doccomm|subject|category|manager|hlinkbase"
    r"|creatim|revtim|printim|buptim|annotation|atnid|atnauthor|atrfstart|atrfend"
    r"|a?ftnsepc?|xe|tcn?|rxe|nonshppict|sp|sn|sv)$"
)
# Of the groups that a reader may pass over, those that hold text of the page all the same.
_SEEN = frozenset(("shpinst", "shppict", "shptxt", "ud"))
_MARGINS = frozenset(
    f"{margin}{which}" for margin in ("header", "footer") for which in ("", *"lrf")
)
_MARKERS = frozenset(("listtext", "pntext"))
_DEEPEST = 4_000


@dataclass(slots=True)
class _State:
    """What a group inherits and its end takes back."""

    target: str = "text"
    page: str = "cp1252"
    skip: int = 1
    is_hidden: bool = False
    style: int = 0
    level: int = 0
    in_table: bool = False
    font: int = 0


def read(data: bytes, stem: str, *, fallback: str = "cp1252") -> Extracted:
    """Extract an RTF file: headings by style, lists, table rows; then notes, headers, footers.

    Hidden and deleted text, comments and field instructions are left out. Text is read in the code
    page that the file or its font states, else in ``fallback``. Raises NotExtractable for groups
    nested beyond all sense.
    """
    reader = _Reader(fallback)
    for token in tokens(data):
        reader.take(token)
    return reader.finish(stem)


class _Reader:
    """Follows groups and control words, and gathers text where it belongs."""

    def __init__(self, fallback: str) -> None:
        self._state = _State(page=fallback)
        self._stack: list[_State] = []
        self._default = fallback
        self._body = Part()
        self._into = [self._body]
        self._notes: list[Part] = []
        self._margins: list[tuple[str, Part]] = []
        self._opened: list[int] = []
        self._bytes = bytearray()
        self._units: list[int] = []
        self._to_skip = 0
        self._star = False
        self._fonts: dict[int, str] = {}
        self._levels: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._entry = ""
        self._title = ""

    def take(self, token: Token) -> None:
        """Take one token of the file."""
        kind, text, number = token
        if kind not in ("byte", "text"):
            self._to_skip = 0 if kind in ("open", "close") else self._to_skip
        if kind == "byte" and self._to_skip:
            self._to_skip -= 1
            return
        if kind == "byte":
            self._end_units()
            self._bytes.append(number or 0)
            return
        if kind == "text" and self._to_skip:
            skipped = min(self._to_skip, len(text))
            self._to_skip -= skipped
            text = text[skipped:]
            if not text:
                return
        if kind == "text":
            self._end_units()
            # Text beyond ASCII should not be there; where it is, it is in the code page.
            self._bytes += text.encode("latin-1")
            return
        if (kind, text) != ("word", "u"):
            self._flush()
        if kind == "open":
            self._open()
        elif kind == "close":
            self._close()
        elif kind == "symbol":
            self._symbol(text)
        else:
            self._word(text, number)

    def finish(self, stem: str) -> Extracted:
        """Return the whole: the body, the notes, then headers and footers, each wording once."""
        self._flush()
        self._body.end(self._state.level, "", False)
        builder = Builder()
        title = self._body.write(builder)
        builder.leave_headings()
        for note in self._notes:
            note.write(builder)
        seen: set[str] = set()
        for which in ("header", "footer"):
            for name, margin in self._margins:
                wording = margin.wording
                if name.startswith(which) and wording not in seen:
                    seen.add(wording)
                    margin.write(builder)
        title = flow(self._title) or title or builder.first_heading() or stem
        return builder.finish(title, MEDIA_TYPE)

    def _open(self) -> None:
        if len(self._stack) >= _DEEPEST:
            raise NotExtractable("its groups are nested too deeply to be an RTF file")
        state = self._state
        self._stack.append(state)
        self._state = replace(state)
        self._star = False

    def _close(self) -> None:
        if not self._stack:
            return
        if self._opened and self._opened[-1] == len(self._stack):
            self._opened.pop()
            self._into.pop().end(self._state.level, "", False)
        if self._state.target == "stylesheet":
            self._end_style()
        self._state = self._stack.pop()

    def _flush(self) -> None:
        """Give what was gathered as bytes or as UTF-16 units to where text goes now."""
        self._end_units()
        if self._bytes:
            self._give(self._bytes.decode(self._state.page, errors="replace"))
            self._bytes.clear()

    def _end_units(self) -> None:
        if self._units:
            raw = b"".join(unit.to_bytes(2, "little") for unit in self._units)
            self._units.clear()
            self._give(raw.decode("utf-16-le", errors="replace"))

    def _give(self, text: str) -> None:
        target = self._state.target
        if target == "text" and not self._state.is_hidden:
            self._into[-1].parts.append(text)
        elif target == "marker":
            self._into[-1].marker.append(text)
        elif target == "title":
            self._title += text
        elif target == "stylesheet":
            self._entry += text

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._star = True
        elif symbol in SYMBOLS:
            self._give(SYMBOLS[symbol])
        elif symbol in "\r\n":
            self._end_paragraph()

    def _word(self, word: str, number: int | None) -> None:
        state = self._state
        starred, self._star = self._star, False
        if (starred and word not in _SEEN) or _UNSEEN.match(word):
            state.target = "nothing"
        elif word in ("fonttbl", "stylesheet", "info"):
            state.target = word
        elif state.target == "info":
            state.target = "title" if word == "title" else "info"
        elif word in _MARKERS and state.target == "text":
            state.target = "marker"
        elif word in SYMBOLS:
            self._give(SYMBOLS[word])
        elif word == "u" and number is not None:
            if self._bytes:
                self._flush()
            self._units.append(number & 0xFFFF)
            self._to_skip = state.skip
        elif state.target == "text" and (word in _MARGINS or word in ("footnote", "endnote")):
            self._begin_part(word)
        elif not self._layout(word, number):
            self._character(word, number or 0, number is None or number != 0)

    def _begin_part(self, word: str) -> None:
        part = Part()
        if word in _MARGINS:
            self._margins.append((word, part))
        else:
            self._notes.append(part)
        self._into.append(part)
        self._opened.append(len(self._stack))
        self._state.in_table = False
        self._state.level = 0

    def _layout(self, word: str, number: int | None) -> bool:
        """Follow a word that parts or shapes paragraphs; False where it is none."""
        state = self._state
        if word in ("par", "sect", "page"):
            self._end_paragraph()
        elif word == "pard":
            state.style = state.level = 0
            state.in_table = False
        elif word == "intbl":
            state.in_table = True
        elif word == "cell" and state.target == "text":
            self._into[-1].end_cell()
        elif word == "row" and state.target == "text":
            self._into[-1].end_row()
        elif word in ("line", "tab", "nestcell", "nestrow", "lbr"):
            self._give(" ")
        elif word == "s" and number is not None:
            state.style = number
            if state.target == "text":
                state.level = self._levels.get(number, 0)
        elif word == "outlinelevel" and number is not None:
            state.level = number + 1 if 0 <= number < 9 else 0
        else:
            return False
        return True

    def _character(self, word: str, number: int, is_on: bool) -> None:
        state = self._state
        if word == "f":
            state.font = number
            if state.target == "text":
                state.page = self._fonts.get(number, self._default)
        elif word == "fcharset" and state.target == "fonttbl" and number in CHARSETS:
            self._fonts[state.font] = CHARSETS[number]
        elif word == "ansicpg":
            self._default = state.page = code_page(number) or self._default
        elif word in CODE_PAGES:
            self._default = state.page = CODE_PAGES[word]
        elif word == "uc":
            state.skip = max(0, min(number, 8))
        elif word in ("v", "deleted"):
            state.is_hidden = is_on
        elif word == "plain":
            state.is_hidden = False
            state.page = self._default

    def _end_paragraph(self) -> None:
        state = self._state
        if state.target == "text":
            style = self._names.get(state.style, "")
            self._into[-1].end(state.level, style, state.in_table)

    def _end_style(self) -> None:
        """Note the name and level of a paragraph style when its group ends."""
        name = flow(self._entry).rstrip(";").strip().lower()
        self._entry = ""
        if not name:
            return
        state = self._state
        self._names[state.style] = name
        first, _, last = name.partition(" ")
        if first == "heading" and last[:1].isdecimal() and last[0] != "0":
            self._levels[state.style] = int(last[0])
        elif state.level:
            self._levels[state.style] = state.level
