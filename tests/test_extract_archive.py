"""Every file of the archive either gives text with sound structure or says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract import extract
from corpus.text import clean

SCANS = {"2400dpi.pdf", "c02-22.pdf", "linn.pdf", "skew.pdf"}


def folders() -> list[str]:
    archive = Path(__file__).resolve().parents[2] / "shared" / "archive"
    return (
        sorted(path.name for path in archive.iterdir() if path.is_dir()) if archive.is_dir() else []
    )


def assert_sound(extracted: Extracted, is_pdf: bool) -> None:
    assert extracted.title.strip()
    assert clean(extracted.text) == extracted.text
    position = 0
    for block in extracted.blocks:
        text = extracted.text[block.start : block.end]
        assert text.strip()
        assert not extracted.text[position : block.start].strip()
        assert (block.page is not None) == is_pdf
        assert block.kind != "heading" or block.headings[-1] == text
        position = block.end
    assert not extracted.text[position:].strip()
    pages = [block.page for block in extracted.blocks if block.page is not None]
    assert pages == sorted(pages)


@pytest.mark.slow
@pytest.mark.parametrize("folder", folders())
def test_a_folder_of_the_archive_is_read(shared: Path, folder: str) -> None:
    for path in sorted((shared / "archive" / folder).rglob("*")):
        if not path.is_file():
            continue
        try:
            extracted = extract(path)
        except NotExtractable as error:
            assert path.name in SCANS, f"{path.name}: {error}"
            assert "needs OCR" in error.reason
        else:
            assert path.name not in SCANS
            assert_sound(extracted, path.suffix == ".pdf")
