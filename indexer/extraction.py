"""Reading files in child processes, so that no file can hang, crash or bloat the run.

Each worker reads one file after the other. One that exceeds its time is killed, one that dies is
replaced, and only the file it was reading fails. Results cross the pipe as JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from corpus.document import Block, Extracted
from corpus.errors import NotExtractable
from store.catalogue import Failure

TIME_LIMIT_S = 120.0
MEMORY_LIMIT_BYTES = 3 * 1024**3

_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Read:
    """What came of one file: its text and language, or why there is none."""

    key: str
    extracted: Extracted | None
    language: str
    failure: Failure | None


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    key: str = ""
    deadline: float = 0.0


def extract_files(
    files: Iterable[tuple[str, bytes]], *, workers: int, time_limit: float = TIME_LIMIT_S
) -> Iterator[Read]:
    """Read ``files``, given as (key, absolute path), in any order; every key comes back once."""
    waiting = deque(files)
    crew = [_start() for _ in range(min(workers, len(waiting)))]
    try:
        for worker in crew:
            _give(worker, waiting, time_limit)
        while busy := [worker for worker in crew if worker.key]:
            patience = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
            ready = wait([worker.pipe for worker in busy], timeout=patience)
            for index, worker in enumerate(crew):
                if not worker.key:
                    continue
                if worker.pipe in ready:
                    outcome = _receive(worker)
                elif time.monotonic() >= worker.deadline:
                    outcome = _failed(worker.key, f"took longer than {time_limit:.0f} s to read")
                else:
                    continue
                yield outcome
                if not _can_go_on(worker, outcome):
                    _stop(worker)
                    crew[index] = worker = _start()
                _give(worker, waiting, time_limit)
    finally:
        for worker in crew:
            _stop(worker)


def _start() -> _Worker:
    ours, theirs = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_work, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _stop(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _give(worker: _Worker, waiting: deque[tuple[str, bytes]], time_limit: float) -> None:
    worker.key = ""
    if waiting:
        worker.key, path = waiting.popleft()
        worker.deadline = time.monotonic() + time_limit
        worker.pipe.send_bytes(path)


def _receive(worker: _Worker) -> Read:
    try:
        body = json.loads(worker.pipe.recv_bytes())
    except (EOFError, ConnectionError):
        worker.process.join()
        return _failed(worker.key, f"the reader died ({_death(worker.process.exitcode)})")
    if reason := body.get("reason"):
        return Read(worker.key, None, "", Failure(body["stage"], reason))
    blocks = tuple(
        Block(kind, start, end, page, tuple(headings))
        for kind, start, end, page, headings in body["blocks"]
    )
    extracted = Extracted(
        body["text"], body["title"], body["media_type"], blocks, tuple(body["notes"])
    )
    return Read(worker.key, extracted, body["language"], None)


def _can_go_on(worker: _Worker, outcome: Read) -> bool:
    interrupted = outcome.failure is not None and outcome.failure.stage == "limit"
    return worker.process.is_alive() and not interrupted


def _failed(key: str, reason: str) -> Read:
    return Read(key, None, "", Failure("limit", reason))


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def _work(pipe: Connection) -> None:
    """The body of a worker."""
    # Ctrl-C reaches the whole process group; the parent decides what becomes of a worker.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    while True:
        try:
            path = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(json.dumps(_read(Path(os.fsdecode(path)))).encode())


def _read(path: Path) -> dict[str, object]:
    from corpus.extract import extract
    from corpus.language import detect

    try:
        extracted = extract(path)
    except NotExtractable as error:
        return {"stage": error.stage, "reason": error.reason}
    except MemoryError:
        return {"stage": "limit", "reason": "needs more memory than a file may take"}
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
