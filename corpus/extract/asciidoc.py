"""AsciiDoc, read line by line: sections, lists, listings, tables and the usual inline marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus.document import Extracted
from corpus.extract.build import Builder, flow, tags_in
from corpus.extract.plain import FALLBACK, decode
from corpus.text import clean

_HEADING = re.compile(r"(={1,6})\s+(\S.*?)(?:\s+=+)?\s*$")
_UNDERLINE = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_LISTING = re.compile(r"(-{4,}|\.{4,}|\+{4,}|`{3,})(?:\w.*)?$")
_COMMENT = re.compile(r"/{4,}$")
# Delimiters of blocks whose content is ordinary text, and lines that say nothing to a reader.
_WRAPPER = re.compile(r"(={4,}|\*{4,}|_{4,}|--)$")
_SILENT = re.compile(
    r"(//(?!/)|:!?[\w-]+!?:|include::|ifn?def::|ifeval::|endif::|toc::|'''$|<<<$|\+$)"
)
_BLOCK_ATTRIBUTES = re.compile(r"\[[^\]]*\]\s*$")
_BLOCK_MACRO = re.compile(r"(?:image|video|audio)::\S*?\[(.*)\]\s*$")
_ITEM = re.compile(r"\s*(?:(\*{1,5}|-)|(\.{1,5})|(\d+|[a-zA-Z])\.)\s+(\S.*)$")
_TERM = re.compile(r"\s*(\S.*?)(?:::{1,3}|;;)(?:\s+(.*))?$")
_TABLE = re.compile(r"[|,:!]={3,}\s*$")
_CELL = re.compile(r"(?:^|(?<=\s))(?:\d+(?:\.\d+)?[+*]|\.\d+\+)?(?:[<^>]?(?:\.[<^>])?)?[a-z]?\|")
_STATED = re.compile(r":([\w-]+):\s+(\S.*)$")
_AUTHOR_LINE = re.compile(r"([^\W\d][^<>:|=]{0,99}?)\s*<[^<>\s]+@[^<>\s]+>\s*$")
_LONGEST_HEADER = 200
_COLUMNS = re.compile(r"cols\s*=\s*\"?([^\"\]]*)\"?")
_INLINE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\(\(\([^()]{1,200}\)\)\)"), ""),
    (re.compile(r"\(\(([^()]{1,200})\)\)"), r"\1"),
    (re.compile(r"footnote:\w{0,99}\[([^\]]{0,2000})\]"), r" (\1)"),
    (re.compile(r"<<[^<,>]{0,200},\s*([^<>]{0,300})>>"), r"\1"),
    (re.compile(r"<<([^<>]{1,300})>>"), r"\1"),
    (re.compile(r"\[\[[^\[\]]{0,200}\]\]|anchor:\w{0,99}\[[^\[\]]{0,200}\]"), ""),
    (re.compile(r"(?:kbd|btn|menu|image|icon):[^\s\[]*\[([^\],]*)[^\]]*\]"), r"\1"),
    (re.compile(r"(?:link|xref|mailto):[^\s\[]*\[([^\]]+)\]"), r"\1"),
    (re.compile(r"(?:https?|ftp)://[^\s\[]*\[([^\],]+?)\^?(?:,[^\]]*)?\]"), r"\1"),
    (re.compile(r"\[[.#][^\]]*\](?=[#*_`])"), ""),
    (re.compile(r"\+\+\+(.{0,500}?)\+\+\+"), r"\1"),
    (re.compile(r"(?<![\w`])`\+?([^`]{1,500}?)\+?`(?!\w)"), r"\1"),
    (re.compile(r"(?<![\w*])\*{1,2}(\S(?:[^*]{0,500}?\S)?)\*{1,2}(?![\w*])"), r"\1"),
    (re.compile(r"(?<![\w_])_{1,2}(\S(?:[^_]{0,500}?\S)?)_{1,2}(?![\w_])"), r"\1"),
    (re.compile(r"\s\+$"), ""),
    (re.compile(r"\{nbsp\}"), " "),
)


def read(data: bytes, stem: str, *, fallback: str = FALLBACK) -> Extracted:
    """Extract a page; the title is its first heading, else the stem."""
    decoded = decode(data, fallback=fallback)
    reader = _Reader(clean(decoded.text).split("\n"))
    reader.builder.notes.extend(decoded.notes)
    _said(reader.lines, reader.builder)
    reader.run()
    return reader.builder.finish(reader.builder.first_heading() or stem, "text/asciidoc")


def _said(lines: list[str], builder: Builder) -> None:
    """Note what the header gives: its attributes, or the line of the author below the title.

    The header goes to the first empty line after the title; before the title stand only attributes
    and comments.
    """
    titled = False
    for line in lines[:_LONGEST_HEADER]:
        if found := _STATED.match(line):
            name, value = found[1].lower(), found[2]
            builder.says(author=value if name in ("author", "authors") else "")
            builder.says(date=value if name in ("revdate", "date") else "")
            builder.says(tags=tags_in(value) if name in ("keywords", "tags", "page-tags") else ())
        elif titled and (found := _AUTHOR_LINE.match(line)):
            builder.says(author=found[1])
        elif titled and not line.strip():
            return
        elif not titled and line.strip() and not _SILENT.match(line):
            if not line.startswith("= "):
                return
            titled = True


def inline(text: str) -> str:
    """Take the marks out of running text and keep the words.

    >>> inline("Press *Stop* or see <<sec,the `E-12` table>>.")
    'Press Stop or see the E-12 table.'
    """
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    return text


class _Reader:
    """Goes through the lines once, gathering a paragraph or a list item at a time."""

    def __init__(self, lines: list[str]) -> None:
        self.builder = Builder()
        self.lines = lines
        self._at = 0
        self._gathered: list[str] = []
        self._marker: str | None = None
        self._numbers: dict[str, int] = {}
        self._attributes = ""

    def run(self) -> None:
        """Read every line."""
        while self._at < len(self.lines):
            line = self.lines[self._at].rstrip()
            self._at += 1
            if not line:
                self._flush()
            elif not (self._delimited(line) or self._section(line) or self._listed(line)):
                self._gathered.append(re.sub(r"\s\+$", "", line))
        self._flush()

    def _flush(self) -> None:
        text = inline(" ".join(line.strip() for line in self._gathered))
        self._gathered.clear()
        if self._marker is not None:
            self.builder.item(text, self._marker)
        else:
            self.builder.paragraph(text)
        self._marker = None

    def _delimited(self, line: str) -> bool:
        """Handle a line that opens a block or says something only to the processor."""
        if _BLOCK_ATTRIBUTES.match(line) and not line.startswith("[["):
            self._flush()
            self._attributes = line
        elif _TABLE.match(line):
            self._flush()
            self._table(line)
        elif _COMMENT.match(line):
            self._until(line)
        elif _LISTING.match(line) and not (self._gathered and self._underlined(line)):
            self._flush()
            fence = _LISTING.match(line)
            self.builder.code("\n".join(self._until(fence[1] if fence else line)))
        elif _WRAPPER.match(line) and not (self._gathered and self._underlined(line)):
            self._flush()
        elif macro := _BLOCK_MACRO.match(line):
            self._flush()
            self.builder.paragraph(inline(macro[1].split(",")[0].strip('"')))
        else:
            return bool(_SILENT.match(line))
        return True

    def _section(self, line: str) -> bool:
        if not self._gathered and (found := _HEADING.match(line)):
            self.builder.heading(inline(found[2]), len(found[1]))
        elif self._underlined(line):
            title = self._gathered.pop()
            self.builder.heading(inline(title), _UNDERLINE[line[0]])
        elif not self._gathered and re.match(r"\.[^\s.]", line):
            self.builder.paragraph(inline(line[1:]))
        else:
            return False
        self._numbers.clear()
        return True

    def _underlined(self, line: str) -> bool:
        """Say whether ``line`` underlines the single line gathered so far."""
        return (
            len(self._gathered) == 1
            and self._marker is None
            and line[0] in _UNDERLINE
            and line == line[0] * len(line)
            and abs(len(line) - len(self._gathered[0])) <= 2
        )

    def _listed(self, line: str) -> bool:
        if found := _ITEM.match(line):
            self._flush()
            bullet, dots, number, text = found.groups()
            if dots:
                self._numbers = {
                    key: n for key, n in self._numbers.items() if len(key) <= len(dots)
                }
                self._numbers[dots] = self._numbers.get(dots, 0) + 1
                self._marker = f"{self._numbers[dots]}."
            else:
                self._marker = "-" if bullet else f"{number}."
            self._gathered.append(text)
        elif (found := _TERM.match(line)) and (not self._gathered or not found[2]):
            self._flush()
            self.builder.item(inline(found[1]), "")
            if found[2]:
                self._gathered.append(found[2])
        else:
            return False
        return True

    def _until(self, delimiter: str) -> list[str]:
        start = self._at
        while self._at < len(self.lines) and self.lines[self._at].rstrip() != delimiter:
            self._at += 1
        self._at += 1
        return self.lines[start : self._at - 1]

    def _table(self, delimiter: str) -> None:
        """Append a table; its columns are counted from ``cols`` or from its first line."""
        lines = self._until(delimiter)
        declared = _COLUMNS.search(self._attributes)
        self._attributes = ""
        width = _column_count(declared[1]) if declared else 0
        first = next((line for line in lines if line.strip()), "")
        width = width or len(list(_CELL.finditer(first))) or 1
        row: list[str] = []
        for cell in _cells(lines):
            row.append(inline(cell))
            if len(row) == width:
                self.builder.row(row)
                row = []
        self.builder.row(row)


def _column_count(spec: str) -> int:
    count = 0
    for column in spec.split(","):
        repeated = re.match(r"\s*(\d+)\*", column)
        count += int(repeated[1]) if repeated and len(repeated[1]) < 4 else 1
    return count


def _cells(lines: list[str]) -> Iterator[str]:
    text = "\n".join(lines)
    marks = list(re.finditer(_CELL.pattern, text, re.M))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        yield flow(text[mark.end() : following.start() if following else len(text)])
