"""The body of a reading process: one file path in, one JSON line out, until the input ends.

Started by :mod:`indexer.extraction` with limits on its memory. It imports only what reading needs,
so that it starts quickly, and writes nothing but answers to its output.

    python -m indexer.reader
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from dataclasses import astuple
from pathlib import Path

from corpus.errors import NotExtractable
from corpus.extract import extract
from corpus.language import detect

MEMORY_LIMIT_BYTES = 3 * 1024**3


def main() -> None:
    """Answer every path on stdin, given as hexadecimal bytes, until there are no more."""
    # Ctrl-C reaches the whole process group; the parent decides what becomes of a reader.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    # A parser that prints must not be mistaken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin.buffer:
        path = Path(os.fsdecode(bytes.fromhex(line.decode())))
        answers.write(json.dumps(read(path)).encode() + b"\n")
        answers.flush()


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
        "language": detect(extracted.text),
    }


if __name__ == "__main__":
    main()
