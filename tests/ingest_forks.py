"""Runs ingests as processes of their own without paying for the imports each time.

Everything is imported once; each line on stdin is then one ingest in a forked child, whose process
id is answered at once and whose exit code is answered when it ends. The children are real
processes: they can be killed like any other.

    python -m tests.ingest_forks FILES ARCHIVE ENCODER
"""

from __future__ import annotations

import os
import sys

import sentence_transformers  # noqa: F401  (what an ingest would import, ahead of the forks)

from indexer.cli import main


def serve(files: str, archive: str, encoder: str) -> None:
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            os.setsid()
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            os._exit(main(["ingest", files, "--archive", archive, "--encoder", encoder]))
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
