"""What an ingest did, as a value: for the terminal, for ``--json`` and for the catalogue."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from indexer.plan import Outcome

OUTCOMES: tuple[Outcome, ...] = ("added", "changed", "moved", "copied", "restored", "unchanged")


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that is not in the version, or is kept in an older revision, and why."""

    path: str
    stage: str
    reason: str


@dataclass(slots=True)
class Report:
    """The account of one ingest.

    Every file that was found is counted once: ``found`` equals the sum of the outcomes, of
    ``failed`` and of ``skipped``. ``encoded`` counts passages that had no vector yet, ``truncated``
    those longer than the encoder reads: they are refused and named in ``failed``, never cut.
    ``described`` are documents whose bytes are the same and whose metadata is not.
    ``seconds`` are wall-clock seconds per step.
    """

    sources: list[str] = field(default_factory=list)
    found: int = 0
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    failed: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)
    described: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    version: int | None = None
    new_version: bool = False
    generation: str = ""
    documents: int = 0
    passages: int = 0
    encoded: int = 0
    truncated: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 where every file was read, 1 where some were not."""
        return 1 if self.failed else 0

    @property
    def outcome(self) -> str:
        if self.failed:
            return "finished with failures"
        return "changed" if self.new_version else "nothing changed"

    def summary(self) -> str:
        """One line for the end of a log."""
        if self.new_version:
            counts = ", ".join(f"{count} {name}" for name, count in self.outcomes.items() if count)
            head = f"version {self.version}: {counts or 'no files'}"
            if self.described:
                head += f", {len(self.described)} described anew"
            if self.retired:
                head += f", {len(self.retired)} retired"
        else:
            head = f"nothing changed, version {self.version} stands"
        return (
            f"{head}; {len(self.failed)} failed, {len(self.skipped)} skipped, "
            f"{self.encoded:,} passages encoded ({self.documents:,} documents, "
            f"{self.passages:,} passages in all) in {sum(self.seconds.values()):.1f} s"
        )

    def as_data(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        return {
            **asdict(self),
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "summary": self.summary(),
        }

    def lines(self) -> list[str]:
        """The report for a person, most important last."""
        lines = [f"read {source}" for source in self.sources]
        for reason, count in Counter(problem.reason for problem in self.skipped).items():
            lines.append(f"skipped {count}: {reason}")
        lines += [
            f"note    {problem.path}: {problem.reason}"
            if problem.path
            else f"note    {problem.reason}"
            for problem in self.notes
        ]
        lines += [f"retired {doc_id}" for doc_id in self.retired]
        lines += [
            f"failed  {problem.path} [{problem.stage}]: {problem.reason}" for problem in self.failed
        ]
        return lines
