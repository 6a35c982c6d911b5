"""Scans made for a test: lines of text as nothing but pictures, and programs named tesseract."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

SIZE = (420.0, 160.0)
DPI = 200


def typed(canvas: Canvas, lines: Sequence[str]) -> None:
    canvas.setFont("Helvetica", 12)
    for number, line in enumerate(lines):
        canvas.drawString(30, SIZE[1] - 35 - 16 * number, line)


def pictured(lines: Sequence[str]) -> Image.Image:
    """A sheet with those lines, as a scanner would give it."""
    sheet = BytesIO()
    canvas = Canvas(sheet, pagesize=SIZE)
    typed(canvas, lines)
    canvas.save()
    document = pdfium.PdfDocument(sheet.getvalue())
    try:
        return document[0].render(scale=DPI / 72, grayscale=True).to_pil().copy()
    finally:
        document.close()


def make_pdf(path: Path, *pages: Sequence[str] | Image.Image) -> Path:
    """A PDF whose pages are text where lines are given and a picture where one is."""
    canvas = Canvas(str(path), pagesize=SIZE)
    for page in pages:
        if isinstance(page, Image.Image):
            canvas.drawImage(ImageReader(page), 0, 0, *SIZE)
        else:
            typed(canvas, page)
        canvas.showPage()
    canvas.save()
    return path


def scan(path: Path, *pages: Sequence[str]) -> Path:
    return make_pdf(path, *map(pictured, pages))


def make_program(folder: Path, body: str) -> Path:
    """A program that answers like tesseract when asked what it is, and runs ``body`` for a page."""
    folder.mkdir()
    program = folder / "tesseract"
    program.write_text(
        '#!/bin/sh\ncase "$1" in\n'
        "--version) echo 'tesseract 9.9.9' ;;\n"
        "--list-langs) printf 'List of available languages (1):\\neng\\n' ;;\n"
        f"*) {body} ;;\nesac\n"
    )
    program.chmod(0o755)
    return program
