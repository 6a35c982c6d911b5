"""Scanned sheets that are image files (PNG, JPEG, TIFF): text only where it can be recognised."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageOps

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract.build import Builder
from corpus.extract.ocr import NotRecognised, Picture, Recognise, scale_for
from corpus.extract.ocr_layout import level_sizes
from corpus.extract.ocr_notes import marked, numbered, refusals
from corpus.extract.pdf_blocks import compose
from corpus.extract.pdf_layout import Page
from corpus.extract.sniff import unreadable

# Inches: a picture that does not say how fine it is is taken for a sheet of A4.
_SHEET = 11.7
_COARSEST, _FINEST = 72.0, 2400.0
_USUAL = 300.0
_DAMAGE = (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError)


def read(path: Path, kind: str, recognise: Recognise | None = None) -> Extracted:
    """Recognise the text of an image file; each image in a TIFF is a page.

    ``kind`` is the name of the format: ``PNG``, ``JPEG`` or ``TIFF``. Raises NotExtractable when
    there is nothing to ``recognise`` it with, when it is damaged, and when it shows no text.
    """
    what = unreadable(f"an image ({kind})", path.suffix.lower()).partition(", which has no text")[0]
    try:
        with Image.open(path, formats=[kind]) as image:
            count = getattr(image, "n_frames", 1)
            if recognise is None:
                raise NotExtractable(f"{what}; its text needs OCR", stage="type", waiting=count)
            return _read(image, path.stem, kind, what, recognise)
    except _DAMAGE as error:
        raise NotExtractable(f"{what}, and it is damaged or too large", stage="type") from error


def _read(image: Image.Image, stem: str, kind: str, what: str, recognise: Recognise) -> Extracted:
    pages: list[Page] = []
    empty: list[int] = []
    refused: dict[int, str] = {}
    count = getattr(image, "n_frames", 1)
    for number in range(1, count + 1):
        image.seek(number - 1)
        try:
            lines = recognise(_grey(image))
        except NotRecognised as error:
            refused[number] = str(error)
            continue
        if lines:
            pages.append(Page(number, lines))
        else:
            empty.append(number)
    if not pages:
        why = "".join(f"; {note}" for note in refusals(refused))
        raise NotExtractable(f"{what}; no text was recognised in it{why}", stage="text")
    builder = Builder()
    recognised = [page.number for page in pages]
    builder.notes.append(
        f"{numbered(recognised)} of {count}: recognised from a picture (OCR), may contain errors"
    )
    if empty:
        builder.notes.append(f"{numbered(empty)} of {count}: no text was recognised")
    builder.notes += refusals(refused)
    largest = compose(level_sizes(pages, recognised), {}, builder)
    return marked(builder.finish(largest or stem, f"image/{kind.lower()}"), recognised)


def _grey(image: Image.Image) -> Picture:
    """Turn an image the way it is to be seen, on white, at the resolution of a drawn page."""
    dpi = float(image.info.get("dpi", (0.0, 0.0))[0])
    if not _COARSEST <= dpi <= _FINEST:
        dpi = min(max(max(image.size) / _SHEET, _COARSEST), _USUAL)
    seen = ImageOps.exif_transpose(image)
    if seen.mode.startswith("I"):
        seen = seen.convert("I").point(lambda value: value / 256)
    elif seen.has_transparency_data:
        seen = seen.convert("RGBA")
        seen = Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen)
    width, height = (72 * side / dpi for side in seen.size)
    scale = scale_for(width, height)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    grey = seen.convert("L").resize(size, Image.Resampling.BICUBIC)
    return Picture(*size, grey.tobytes(), scale)
