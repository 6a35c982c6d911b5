"""Text in pictures, recognised by the program ``tesseract`` where it is installed.

One page is one run of the program: the picture goes in by its standard input and the words with
their places come back by its standard output, so nothing is written to disk. A run has one thread,
its own time limit, the memory limit of the process that starts it, and does not outlive it.
"""

from __future__ import annotations

import ctypes
import math
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from corpus.errors import NotExtractable
from corpus.extract.ocr_layout import lay_out
from corpus.extract.pdf_layout import Line

PAGE_LIMIT_S = 180.0
"""Seconds for one page, which takes 2 to 8 of a core: room for a machine that is busy."""
RESOLUTION = 300
"""Dots per inch that a page is drawn with: what the language data were made for."""
MOST_PIXELS = 20_000_000
"""Above this a page is drawn coarser: an A3 sheet fits, a wall chart is bounded."""
_LONGEST_SIDE = 30_000
INSTALL = "apt-get install tesseract-ocr tesseract-ocr-spa"

_LANGUAGES = ("eng", "spa")
_ORIENTATION = "osd"
# Page segmentation of tesseract: automatic, with and without finding out which side is up.
_ANY_SIDE_UP, _UPRIGHT = "1", "3"
_PR_SET_PDEATHSIG = 1
_ASKED_S = 30.0


class NotRecognised(Exception):
    """One page could not be recognised; the message says why, without naming the page."""


@dataclass(frozen=True, slots=True)
class Tesseract:
    """The installed program: where it is, its version, the language data it is to use, and the
    seconds that one page may take."""

    program: str
    version: str
    languages: tuple[str, ...]
    page_limit: float = PAGE_LIMIT_S

    @property
    def name(self) -> str:
        """What the recognised text depends on, such as ``tesseract 5.3.0:eng+spa+osd``."""
        return f"tesseract {self.version}:{'+'.join(self.languages)}"


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as grey pixels, one byte each, row by row; ``scale`` is pixels per point."""

    width: int
    height: int
    pixels: bytes
    scale: float


Recognise: TypeAlias = Callable[[Picture], list[list[Line]]]
"""From a picture to its lines in columns, as ``pdf_layout.regions`` gives them for drawn text.

Raises NotRecognised.
"""


def find_tesseract() -> Tesseract | None:
    """Return the program on the PATH with the languages to use, or None where it cannot be used.

    English and Spanish where they are installed, else every language that is.
    """
    program = shutil.which("tesseract")
    if program is None:
        return None
    version = _asked(program, "--version").removeprefix("tesseract").split(maxsplit=1)
    installed = set(_asked(program, "--list-langs").splitlines()[1:])
    languages = [language for language in _LANGUAGES if language in installed]
    languages = languages or sorted(installed - {_ORIENTATION})
    if not version or not languages:
        return None
    oriented = [_ORIENTATION] if _ORIENTATION in installed else []
    return Tesseract(program, version[0].removeprefix("v"), (*languages, *oriented))


def _asked(program: str, option: str) -> str:
    try:
        run = subprocess.run(
            [program, option], capture_output=True, timeout=_ASKED_S, check=True, text=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return run.stdout


def recognise(tesseract: Tesseract, picture: Picture) -> list[list[Line]]:
    """Recognise one page; see Recognise."""
    languages = [language for language in tesseract.languages if language != _ORIENTATION]
    segmentation = _ANY_SIDE_UP if _ORIENTATION in tesseract.languages else _UPRIGHT
    command = [tesseract.program, "stdin", "stdout", "-l", "+".join(languages)]
    command += ["--psm", segmentation, "--dpi", str(max(70, round(picture.scale * 72)))]
    header = f"P5 {picture.width} {picture.height} 255\n".encode()
    try:
        run = subprocess.run(
            [*command, "hocr"],
            input=header + picture.pixels,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=tesseract.page_limit,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            preexec_fn=die_with_parent,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise NotRecognised(f"could not be recognised within {tesseract.page_limit:g} s") from error
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotRecognised(f"could not be recognised ({_end(error)})") from error
    try:
        return lay_out(run.stdout, picture.width, picture.height, picture.scale)
    except NotExtractable as error:
        raise NotRecognised("could not be recognised (tesseract's answer is damaged)") from error


def scale_for(width: float, height: float) -> float:
    """Return the pixels per point to draw a page of that size in points with."""
    bounded = math.sqrt(MOST_PIXELS / max(width * height, 1.0))
    return min(RESOLUTION / 72, bounded, _LONGEST_SIDE / max(width, height, 1.0))


def die_with_parent() -> None:
    """Have Linux kill this process when the one that started it ends, however it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end(error: OSError | subprocess.CalledProcessError) -> str:
    if isinstance(error, OSError):
        return f"tesseract cannot be run: {error.strerror}"
    code = error.returncode
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"tesseract ended with {how}"
