"""The body of a reading process: one file path in, one JSON line out, until the input ends.

It limits its own memory, imports only what reading needs, so that it starts quickly, and writes
nothing but answers to its output. Paths are hexadecimal bytes.

    python -m indexer.reader           reads files, a path on each line
    python -m indexer.reader unpack    unpacks, a container and an empty folder on each line
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

from corpus.containers import unpack
from corpus.errors import NotExtractable
from corpus.extract import extract
from corpus.language import detect

MEMORY_LIMIT_BYTES = 3 * 1024**3


def main(arguments: Sequence[str]) -> None:
    """Answer every line on stdin until there are no more."""
    # Ctrl-C reaches the whole process group; the parent decides what becomes of a reader.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    # A parser that prints must not be mistaken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    if arguments:
        for line in sys.stdin.buffer:
            container, folder = map(_path, line.decode().split())
            answers.write(json.dumps(unpacked(container, folder)).encode() + b"\n")
            answers.flush()
        return
    for line in sys.stdin.buffer:
        answers.write(_line(read(_path(line.decode()))))
        answers.flush()


def _line(answer: dict[str, object]) -> bytes:
    """An answer in as few bytes as can be; a reason may quote what no encoding has."""
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def _path(text: str) -> Path:
    return Path(os.fsdecode(bytes.fromhex(text)))


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


def read(path: Path) -> dict[str, object]:
    """What is in one file, or the stage and reason of its failure, as JSON-ready data."""
    try:
        extracted = extract(path)
    except NotExtractable as error:
        return {"stage": error.stage, "reason": error.reason}
    except MemoryError:
        return {"stage": "limit", "reason": "needs more memory than one file may take"}
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
        "language": detect(extracted.text),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
