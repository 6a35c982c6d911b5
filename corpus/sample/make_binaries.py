"""Make the PDF and DOCX files of the sample archive from the text under ``source/``.

``source/<path>.pdf.md`` becomes ``archive/<path>.pdf``, and likewise for ``.docx``. A source is a
few ``key: value`` lines (title, language, header, footer, columns), a blank line, and blocks:
``## heading``, ``- item``, ``1. step``, ``| cell | cell |`` rows of one table whose first row is
its head, ``---`` for a new page, and anything else a paragraph, one per line. There is no inline
markup.

The bytes depend on nothing but the sources and the versions of reportlab and python-docx: no clock,
no compression library, no order of a directory.

    python corpus/sample/make_binaries.py            # write the files
    python corpus/sample/make_binaries.py --check    # exit 1 and name those that differ
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape

import docx
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    FrameBreak,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Table,
)

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "source"
ARCHIVE = HERE / "archive"

Kind = Literal["heading", "item", "step", "row", "break", "paragraph"]

AUTHOR = "Arroyo Claro maintenance"
STAMP = datetime(2024, 1, 1, tzinfo=UTC)

MARGIN = 20 * mm
HEAD, FOOT = 18 * mm, 16 * mm
TITLE_HEIGHT = 18 * mm
GUTTER = 8 * mm

BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=13.5, spaceAfter=5)
HANGING = ParagraphStyle("hanging", parent=BODY, leftIndent=16, bulletIndent=2, spaceAfter=3)
HEADING = ParagraphStyle(
    "heading", parent=BODY, fontName="Helvetica-Bold", fontSize=12, leading=15, spaceBefore=8,
    keepWithNext=1,
)  # fmt: skip
TITLE = ParagraphStyle("title", parent=HEADING, fontSize=15, leading=19, spaceBefore=0)
CELL = ParagraphStyle("cell", parent=BODY, fontSize=9, leading=11, spaceAfter=0)
CELL_HEAD = ParagraphStyle("cell-head", parent=CELL, fontName="Helvetica-Bold")
KEPT_STYLES = frozenset(
    (
        "Normal", "Heading 1", "Heading 2", "List Bullet", "List Paragraph", "Header", "Footer",
        "Default Paragraph Font", "No List", "Normal Table", "Table Grid",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """One block of a source; ``cells`` holds the columns of a row and one text otherwise."""

    kind: Kind
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A source read into its settings and its blocks."""

    title: str
    language: str
    header: str
    footer: str
    columns: int
    lines: tuple[Line, ...]


def parse(text: str) -> Source:
    """Read one source file. Raises KeyError when a setting other than ``columns`` is missing."""
    head, _, body = text.partition("\n\n")
    settings = dict(line.split(": ", 1) for line in head.splitlines())
    return Source(
        title=settings["title"],
        language=settings["language"],
        header=settings["header"],
        footer=settings["footer"],
        columns=int(settings.get("columns", "1")),
        lines=tuple(_line(raw) for raw in body.splitlines() if raw.strip()),
    )


def _line(raw: str) -> Line:
    if raw == "---":
        return Line("break", ())
    if raw.startswith("## "):
        return Line("heading", (raw[3:],))
    if raw.startswith("- "):
        return Line("item", (raw[2:],))
    if raw.startswith("| "):
        return Line("row", tuple(cell.strip() for cell in raw.strip("| ").split(" | ")))
    number, dot, _ = raw.partition(". ")
    return Line("step" if dot and number.isdecimal() else "paragraph", (raw,))


def pdf_bytes(source: Source) -> bytes:
    """Lay the source out on A4, in one column or, under a full-width title, in two."""
    buffer = io.BytesIO()
    document = BaseDocTemplate(
        buffer, pagesize=A4, title=source.title, author=AUTHOR, lang=source.language,
        invariant=1, pageCompression=0,
    )  # fmt: skip
    title_bottom = A4[1] - HEAD - TITLE_HEIGHT
    title_frame = Frame(
        MARGIN, title_bottom, A4[0] - 2 * MARGIN, TITLE_HEIGHT, 0, 0, 0, 0, id="title"
    )

    def furniture(canvas: Any, template: Any) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(MARGIN, A4[1] - 12 * mm, source.header)
        canvas.drawString(MARGIN, 9 * mm, source.footer)
        canvas.drawRightString(A4[0] - MARGIN, 9 * mm, str(template.page))

    document.addPageTemplates(
        [
            PageTemplate(
                "first", [title_frame, *_columns(source.columns, title_bottom)], furniture
            ),
            PageTemplate("later", _columns(source.columns, A4[1] - HEAD), furniture),
        ]
    )
    title = [Paragraph(escape(source.title), TITLE), FrameBreak(), NextPageTemplate("later")]
    with _clock_at(STAMP):
        document.build([*title, *_flowables(source)])
    return buffer.getvalue()


@contextmanager
def _clock_at(moment: datetime) -> Iterator[None]:
    # reportlab lets this variable overrule ``invariant``, so a caller's value would show.
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = str(int(moment.timestamp()))
    try:
        yield
    finally:
        if before is None:
            del os.environ["SOURCE_DATE_EPOCH"]
        else:
            os.environ["SOURCE_DATE_EPOCH"] = before


def _columns(count: int, top: float) -> list[Any]:
    width = (A4[0] - 2 * MARGIN - (count - 1) * GUTTER) / count
    return [
        Frame(MARGIN + index * (width + GUTTER), FOOT, width, top - FOOT, 0, 0, 0, 0)
        for index in range(count)
    ]


def _flowables(source: Source) -> Iterator[Any]:
    for kind, group in groupby(source.lines, key=lambda line: line.kind):
        if kind == "row":
            yield _pdf_table([line.cells for line in group])
            continue
        for line in group:
            if kind == "break":
                yield PageBreak()
            elif kind == "item":
                yield Paragraph(escape(line.cells[0]), HANGING, bulletText="•")
            elif kind == "step":
                number, _, text = line.cells[0].partition(" ")
                yield Paragraph(escape(text), HANGING, bulletText=number)
            else:
                yield Paragraph(escape(line.cells[0]), HEADING if kind == "heading" else BODY)


def _pdf_table(rows: list[tuple[str, ...]]) -> Any:
    # Columns share the width by their longest text, tempered so that a long one cannot starve
    # a column of codes into breaking at its hyphens.
    weights = [max(len(cell) for cell in column) ** 0.7 for column in zip(*rows, strict=True)]
    width = A4[0] - 2 * MARGIN
    head, *rest = rows
    cells = [[Paragraph(escape(cell), CELL_HEAD) for cell in head]]
    cells += [[Paragraph(escape(cell), CELL) for cell in row] for row in rest]
    return Table(
        cells,
        [width * weight / sum(weights) for weight in weights],
        repeatRows=1,
        spaceAfter=8,
        style=[
            ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
            ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ],
    )


def docx_bytes(source: Source) -> bytes:
    """Write the source as a Word document with a page header and footer and real tables."""
    document: Any = docx.Document()
    properties = document.core_properties
    properties.title, properties.author, properties.comments = source.title, AUTHOR, ""
    properties.language = source.language
    properties.created = properties.modified = STAMP
    section = document.sections[0]
    section.header.paragraphs[0].text = source.header
    section.footer.paragraphs[0].text = source.footer
    document.add_heading(source.title, level=1)
    for kind, group in groupby(source.lines, key=lambda line: line.kind):
        if kind == "row":
            _docx_table(document, [line.cells for line in group])
            continue
        for line in group:
            if kind == "break":
                document.add_page_break()
            elif kind == "heading":
                document.add_heading(line.cells[0], level=2)
            else:
                # Steps keep their typed numbers: other steps refer to them.
                style = {"item": "List Bullet", "step": "List Paragraph"}.get(kind, "Normal")
                document.add_paragraph(line.cells[0], style=style)
    _slim(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return _settled(buffer.getvalue())


def _docx_table(document: Any, rows: list[tuple[str, ...]]) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text


def _slim(document: Any) -> None:
    """Drop what the default template carries and no page shows: about nine tenths of its bytes."""
    for relations in (document.part.rels, document.part.package.rels):
        for key, relation in list(relations.items()):
            if relation.reltype.endswith(("/stylesWithEffects", "/thumbnail", "/customXml")):
                del relations[key]
    for style in list(document.styles):
        if style.name.removesuffix(" Char") not in KEPT_STYLES:
            style.delete()
    document.styles.element.remove(document.styles.element.latentStyles)


def _settled(package: bytes) -> bytes:
    """Rewrite a zip package without times, platform marks or the compressor's choices."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(package)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as new,
    ):
        for name in old.namelist():
            entry = zipfile.ZipInfo(name)
            entry.create_system = 0
            new.writestr(entry, old.read(name))
    return buffer.getvalue()


MAKERS = {".pdf": pdf_bytes, ".docx": docx_bytes}


def build(source_dir: Path = SOURCE) -> Iterator[tuple[Path, bytes]]:
    """Yield (path relative to the archive, bytes) for each source, in path order."""
    for path in sorted(source_dir.rglob("*.md")):
        target = path.relative_to(source_dir).with_suffix("")
        yield target, MAKERS[target.suffix](parse(path.read_text(encoding="utf-8")))


def main(arguments: list[str] | None = None) -> int:
    """Write the made files, or compare with those that exist; 1 when one differs."""
    parser = argparse.ArgumentParser(description="make the sample archive's PDF and DOCX files")
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    check = parser.parse_args(arguments).check
    differing = 0
    for relative, made in build():
        target = ARCHIVE / relative
        if target.is_file() and target.read_bytes() == made:
            continue
        differing += 1
        sys.stderr.write(f"{'differs' if check else 'written'}: {relative.as_posix()}\n")
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(made)
    return 1 if check and differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
