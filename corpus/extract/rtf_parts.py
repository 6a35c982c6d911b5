"""The parts of an RTF file, each a sequence of paragraphs: the body, notes, headers, footers."""

from __future__ import annotations

from dataclasses import dataclass, field

from corpus.extract.build import Builder, flow

_TITLE_STYLES = ("title", "título", "titel", "titre", "titolo")


@dataclass(slots=True)
class Part:
    """Paragraphs gathered for one part of the document: the body, a note, a header."""

    parts: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    marker: list[str] = field(default_factory=list)
    done: list[tuple[str, list[str], int, str]] = field(default_factory=list)

    def end(self, level: int, style: str, in_table: bool) -> None:
        """End a paragraph; one in a table goes on in its cell."""
        if in_table:
            self.parts.append(" ")
            return
        self.end_row()
        text = flow("".join(self.parts))
        marker = _marker(flow("".join(self.marker)))
        self.parts.clear()
        self.marker.clear()
        if text:
            kind = "heading" if level else "item" if marker else "paragraph"
            self.done.append((kind, [text], level, marker or style))

    def end_cell(self) -> None:
        """End a table cell."""
        self.cells.append(flow("".join(self.parts)))
        self.parts.clear()
        self.marker.clear()

    def end_row(self) -> None:
        """End a table row."""
        if any(self.cells):
            self.done.append(("row", self.cells, 0, ""))
        self.cells = []

    @property
    def wording(self) -> str:
        """All of its text on one line."""
        return " ".join(text for _, texts, _, _ in self.done for text in texts)

    def write(self, builder: Builder) -> str:
        """Give all to a builder; returns the text of a paragraph styled as a title, or ""."""
        title = ""
        for kind, texts, level, marker in self.done:
            text = texts[0]
            if kind == "heading":
                builder.heading(text, level)
            elif kind == "item":
                builder.item(text, marker)
            elif kind == "row":
                builder.row(texts)
            elif marker.startswith(_TITLE_STYLES) and not title:
                title = text
                builder.heading(text, 1)
                builder.leave_headings()
            else:
                builder.paragraph(text)
        return title


def _marker(shown: str) -> str:
    """Return the marker of a list item: its number, or "-" for a bullet of whatever font."""
    return shown if not shown or any(map(str.isalnum, shown)) else "-"
