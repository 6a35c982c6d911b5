"""Runs commands as processes of their own without paying for the imports each time.

Everything is imported once; each line on stdin is then a JSON list of commands for
``python -m indexer``, each run in a forked child, all at the same time. Their process ids are
answered at once and their exit codes when all have ended. The children are real processes: they
can be killed like any other.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class ForkedCommands:
    """The other end: starts commands, waits for them, and ends with a call of ``close``."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.forked_commands"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, *commands: Sequence[str]) -> list[int]:
        """Start all ``commands`` at once and return their process ids."""
        assert self._server.stdin
        self._server.stdin.write(json.dumps(commands) + "\n")
        self._server.stdin.flush()
        return self._answer()

    def wait(self) -> list[int]:
        """The exit codes of the commands that were started last."""
        return self._answer()

    def run(self, *commands: Sequence[str]) -> list[int]:
        self.start(*commands)
        return self.wait()

    def close(self) -> None:
        self._server.communicate()

    def _answer(self) -> list[int]:
        assert self._server.stdout
        answer: list[int] = json.loads(self._server.stdout.readline())
        return answer


def end_group(process: int, how: signal.Signals = signal.SIGKILL) -> None:
    """Send a command and the readers it started a signal, unless it has ended by itself."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, how)


def _fork(command: Sequence[str]) -> int:
    from indexer.cli import INTERRUPTED, main

    child = os.fork()
    if child == 0:
        os.setsid()
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        try:
            code = main(command)
        except KeyboardInterrupt:
            # Before the command took over; a process of its own would end of the signal.
            code = INTERRUPTED
        os._exit(code)
    # The child may not have got so far, and a signal to its group must reach it.
    while (
        os.getpgid(child) != child
        and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    ):
        os.sched_yield()
    return child


def _serve() -> None:
    import sentence_transformers  # noqa: F401  (what an ingest would import, ahead of the forks)

    import indexer.cli  # noqa: F401

    for line in sys.stdin:
        children = [_fork(command) for command in json.loads(line)]
        print(json.dumps(children), flush=True)
        ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        print(json.dumps(ended), flush=True)


if __name__ == "__main__":
    _serve()
