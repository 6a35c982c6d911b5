"""Telling the language of a text."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.extract import extract
from corpus.language import LOOKED_AT, detect


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Procedimiento de cambio del relé AX-2041/B", "es"),
        ("replace the pump and tighten the screws", "en"),
        ("Den Motor ausschalten und den Stecker ziehen.", "de"),
        ("Débrancher le moteur avant toute intervention.", "fr"),
        ("Spegnere il motore prima di ogni intervento di manutenzione.", "it"),
        ("Desligue o motor antes de qualquer intervenção, não o abra.", "pt"),
    ],
)
def test_a_sentence_is_enough(text: str, language: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize(
    "text", ["", "   \n", "AX-2041", "G28 X0 Y0\nM104 S200\nG1 X10.5 F3000", "0x80070005", "Café"]
)
def test_codes_and_single_words_have_no_language(text: str) -> None:
    assert detect(text) == ""


def test_running_text_decides_over_code_in_another_language() -> None:
    code = "for item in list:\n    print(value of the counter)\n" * 40
    prose = "Antes de arrancar la máquina compruebe que la válvula de presión está cerrada.\n" * 12
    assert detect(code + prose + code) == "es"


def test_the_greater_part_decides_wherever_it_stands() -> None:
    english = "Check that the valve is closed before you start the machine again.\n"
    spanish = "Compruebe que la válvula está cerrada antes de arrancar la máquina.\n"
    assert detect(english * 10 + spanish * 200) == "es"
    assert detect(english * 200 + spanish * 10) == "en"


@pytest.mark.parametrize(
    ("folder", "language"),
    [
        ("klipper-es", "es"),
        ("klipper-en", "en"),
        ("kubernetes-es/tasks/run-application", "es"),
        ("kubernetes-en/tasks/run-application", "en"),
        ("deepstack-ids-es", "es"),
        ("maint-guide-es", "es"),
        ("morsekob", "en"),
    ],
)
def test_whole_folders_of_the_archive_are_told(shared: Path, folder: str, language: str) -> None:
    files = sorted(path for path in (shared / "archive" / folder).iterdir() if path.is_file())
    assert files
    assert {path.name: detect(extract(path).text) for path in files} == {
        path.name: language for path in files
    }


def test_a_long_text_is_told_by_places_all_over_it() -> None:
    """A listing of any length before and after does not hide what the greater part is in."""
    prose = "Antes de arrancar la máquina compruebe que la válvula de presión está cerrada.\n"
    listing = "G1 X10.5 Y20 F3000\n" * 4_000
    assert detect(listing + prose * (LOOKED_AT // 20) + listing) == "es"
