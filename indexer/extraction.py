"""Reading files in child processes, so that no file can hang, crash or bloat the run.

Each reader reads one file after the other. One that exceeds its time is killed, one that dies is
replaced, and only the file it was reading fails. Each page that is recognised (OCR) begins the time
anew, with the time of a page on top: a scan of a thousand pages may take hours, but no page of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from corpus.document import Block, Extracted
from corpus.extract.ocr import Tesseract
from corpus.language import detect
from store.texts import Failure

TIME_LIMIT_S = 120.0
"""Seconds for a file of no size; one of n MB gets n times as much on top, up to LONGEST times."""

LONGEST = 15

MAX_ANSWER_BYTES = 512 * 1024**2
"""An answer of more bytes, a text with its blocks as JSON, is refused: it is held in memory."""

_ROOT = Path(__file__).resolve().parents[1]
_PIPE_BYTES = 1 << 16
_STOPPED = (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)
"""Ends that somebody gave a reader, such as a service being stopped; no file causes them."""


@dataclass(frozen=True, slots=True)
class Read:
    """What came of one file: its text and language, or why there is none.

    ``sha256`` is the file's digest when it had been read, empty where the reader could not say.
    ``passing`` marks a failure that says nothing of the file: another run may succeed.
    """

    key: str
    extracted: Extracted | None
    language: str
    failure: Failure | None
    sha256: str = ""
    passing: bool = False


@dataclass(slots=True)
class _Reader:
    process: subprocess.Popen[bytes]
    key: str
    seconds: float
    deadline: float
    answer: bytearray = field(default_factory=bytearray)


def extract_files(
    files: Iterable[tuple[str, bytes]],
    *,
    workers: int,
    time_limit: float = TIME_LIMIT_S,
    tesseract: Tesseract | None = None,
) -> Iterator[Read]:
    """Read ``files``, given as (key, absolute path), in any order; every key comes back once.

    ``tesseract`` recognises the pages that are pictures; without it they are counted as waiting.
    """
    waiting = deque(files)
    page_time = time_limit + (tesseract.page_limit if tesseract else 0.0)
    with selectors.DefaultSelector() as selector:
        crew: dict[int, _Reader] = {}
        try:
            while waiting or crew:
                while waiting and len(crew) < workers:
                    _hire(selector, crew, waiting, time_limit, tesseract)
                patience = min(reader.deadline for reader in crew.values()) - time.monotonic()
                ready = {key.fd for key, _ in selector.select(max(0.0, patience))}
                for descriptor in list(crew):
                    reader = crew[descriptor]
                    if descriptor in ready:
                        outcome = _advance(reader, descriptor, page_time)
                    elif time.monotonic() >= reader.deadline:
                        outcome = _failed(
                            reader.key, f"took longer than {reader.seconds:.0f} s to read"
                        )
                    else:
                        outcome = None
                    if outcome is None:
                        continue
                    yield outcome
                    alive = outcome.failure is None or outcome.failure.stage != "limit"
                    if alive and waiting:
                        _give(reader, waiting, time_limit)
                    else:
                        _dismiss(selector, crew, descriptor)
        finally:
            for descriptor in list(crew):
                _dismiss(selector, crew, descriptor)


def _hire(
    selector: selectors.BaseSelector,
    crew: dict[int, _Reader],
    waiting: deque[tuple[str, bytes]],
    time_limit: float,
    tesseract: Tesseract | None,
) -> None:
    settings = [json.dumps(asdict(tesseract))] if tesseract else []
    process = subprocess.Popen(
        [sys.executable, "-m", "indexer.reader", *settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=_ROOT,
    )
    reader = _Reader(process, "", 0.0, 0.0)
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    crew[descriptor] = reader
    selector.register(descriptor, selectors.EVENT_READ)
    _give(reader, waiting, time_limit)


def _give(reader: _Reader, waiting: deque[tuple[str, bytes]], time_limit: float) -> None:
    reader.key, path = waiting.popleft()
    reader.answer.clear()
    reader.seconds = _allowed(path, time_limit)
    reader.deadline = time.monotonic() + reader.seconds
    assert reader.process.stdin is not None
    # A reader that is gone says so by the end of its output.
    with contextlib.suppress(BrokenPipeError):
        reader.process.stdin.write(path.hex().encode() + b"\n")
        reader.process.stdin.flush()


def _allowed(path: bytes, time_limit: float) -> float:
    """How many seconds a file may take: a book of thousands of pages takes longer than a sheet."""
    try:
        size = os.stat(path).st_size
    except OSError:
        return time_limit
    return time_limit * min(1 + size / 2**20, LONGEST)


def _dismiss(selector: selectors.BaseSelector, crew: dict[int, _Reader], descriptor: int) -> None:
    reader = crew.pop(descriptor)
    selector.unregister(descriptor)
    reader.process.kill()
    reader.process.wait()
    for pipe in (reader.process.stdin, reader.process.stdout):
        if pipe is not None:
            pipe.close()


def _advance(reader: _Reader, descriptor: int, page_time: float) -> Read | None:
    """Take what the reader wrote; its answer, or its death, once that is whole.

    An empty line is a page that begins or ceases to be recognised: the reader has ``page_time``
    seconds from then.
    """
    piece = os.read(descriptor, _PIPE_BYTES)
    if not reader.answer and piece.startswith(b"\n"):
        reader.deadline = time.monotonic() + page_time
    reader.answer += piece if reader.answer else piece.lstrip(b"\n")
    if len(reader.answer) > MAX_ANSWER_BYTES:
        return _failed(
            reader.key, f"its text comes to more than {MAX_ANSWER_BYTES // 2**20} MB with its parts"
        )
    if piece and not reader.answer.endswith(b"\n"):
        return None
    if not piece:
        code = reader.process.wait()
        if code in _STOPPED:
            stopped = Failure("limit", f"the reader was stopped ({_death(code)})")
            return Read(reader.key, None, "", stopped, passing=True)
        return _failed(reader.key, f"the reader died of it ({_death(code)})")
    return _read(reader.key, reader.answer)


def _read(key: str, answer: bytearray) -> Read:
    body = json.loads(answer)
    if reason := body.get("reason"):
        failure = Failure(body["stage"], reason, body.get("waiting", 0))
        return Read(key, None, "", failure, body["sha256"], body.get("passing", False))
    blocks = tuple(
        Block(kind, start, end, page, tuple(headings), ocr)
        for kind, start, end, page, headings, ocr in body["blocks"]
    )
    extracted = Extracted(
        body["text"],
        body["title"],
        body["media_type"],
        blocks,
        tuple(body["notes"]),
        body["author"],
        body["dated"],
        tuple(body["tags"]),
        body["waiting"],
    )
    # Here and not in the reader: each process would load what tells languages apart, for seconds.
    return Read(key, extracted, detect(extracted.text), None, body["sha256"])


def _failed(key: str, reason: str) -> Read:
    return Read(key, None, "", Failure("limit", reason))


def _death(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
