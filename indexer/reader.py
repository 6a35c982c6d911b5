"""The body of a reading process: one file path in, one JSON line out, until the input ends.

It limits its own memory, imports only what reading needs, so that it starts quickly, and writes
nothing but answers to its output. Paths are hexadecimal bytes. An empty line before an answer says
that a page begins or ceases to be recognised (OCR), which takes seconds a page. A reader ends with
the process that started it.

    python -m indexer.reader              reads files, a path on each line
    python -m indexer.reader TESSERACT    reads files and recognises pictures; TESSERACT is a JSON
                                          object with the fields of that class
    python -m indexer.reader unpack       unpacks, a container and an empty folder on each line
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import BinaryIO

from corpus.containers import unpack
from corpus.errors import NotExtractable
from corpus.extract import extract
from corpus.extract.ocr import Picture, Recognise, Tesseract, die_with_parent, recognise
from corpus.extract.pdf_layout import Line
from store.manifest import sha256_of

MEMORY_LIMIT_BYTES = 3 * 1024**3

_NOT_OF_THE_FILE = frozenset(
    {
        *(errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE),
        *(errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.ETIMEDOUT, errno.EAGAIN),
    }
)
"""Troubles of the machine, the disk or the network: the same bytes may be read another time."""


def main(arguments: Sequence[str]) -> None:
    """Answer every line on stdin until there are no more."""
    # Ctrl-C reaches the whole process group; the parent decides what becomes of a reader.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    # A parser that prints must not be mistaken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    if list(arguments) == ["unpack"]:
        for line in sys.stdin.buffer:
            container, folder = map(_path, line.decode().split())
            answers.write(_line(unpacked(container, folder)))
            answers.flush()
        return
    recogniser = _recogniser(arguments[0], answers) if arguments else None
    for line in sys.stdin.buffer:
        path = _path(line.decode())
        # The digest comes after the reading: equal to the one before, no byte had changed.
        answers.write(_line({**read(path, recogniser), "sha256": _digest(path)}))
        answers.flush()


def _line(answer: dict[str, object]) -> bytes:
    """An answer in as few bytes as can be; a reason may quote what no encoding has."""
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _recogniser(settings: str, answers: BinaryIO) -> Recognise:
    """What recognises a picture, and says before and after that this reader is still at work."""
    fields = json.loads(settings)
    tesseract = Tesseract(**{**fields, "languages": tuple(fields["languages"])})

    def still_at_work() -> None:
        answers.write(b"\n")
        answers.flush()

    def recognised(picture: Picture) -> list[list[Line]]:
        still_at_work()
        try:
            return recognise(tesseract, picture)
        finally:
            still_at_work()

    return recognised


def _path(text: str) -> Path:
    return Path(os.fsdecode(bytes.fromhex(text)))


def _digest(path: Path) -> str:
    """The SHA-256 of the file as it is now; empty where it cannot be read any more."""
    try:
        return sha256_of(path)
    except OSError:
        return ""


def unpacked(container: Path, folder: Path) -> dict[str, object]:
    """What one container holds, written into ``folder``, as JSON-ready data."""
    try:
        held = unpack(container, folder)
    except NotExtractable as error:
        return {"stage": error.stage, "reason": error.reason}
    except MemoryError:
        return {"stage": "limit", "reason": "needs more memory than one file may take"}
    except OSError as error:
        return {"stage": "unpack", "reason": f"cannot be unpacked: {error.strerror or error}"}
    return {
        "members": [(member.name.hex(), os.fsencode(member.path).hex()) for member in held.members],
        "skipped": [(name.hex(), reason) for name, reason in held.skipped],
    }


def read(path: Path, recogniser: Recognise | None = None) -> dict[str, object]:
    """What is in one file, or the stage and reason of its failure, as JSON-ready data."""
    try:
        extracted = extract(path, recognise=recogniser)
    except NotExtractable as error:
        return {"stage": error.stage, "reason": error.reason, "waiting": error.waiting}
    except MemoryError:
        return {"stage": "limit", "reason": "needs more memory than one file may take"}
    except OSError as error:
        passing = error.errno in _NOT_OF_THE_FILE
        reason = f"cannot be read: {error.strerror or error}"
        return {"stage": "read", "reason": reason, "passing": passing}
    except Exception as error:
        # A parser met something its authors did not think of: this file fails, by name.
        return {"stage": "extract", "reason": f"cannot be read: {type(error).__name__}: {error}"}
    return {
        "text": extracted.text,
        "title": extracted.title,
        "media_type": extracted.media_type,
        "blocks": [astuple(block) for block in extracted.blocks],
        "notes": extracted.notes,
        "author": extracted.author,
        "dated": extracted.dated,
        "tags": extracted.tags,
        "waiting": extracted.waiting,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
