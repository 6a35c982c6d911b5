"""What an ingest did, as a value: for the terminal, for ``--json`` and for the catalogue."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from corpus.extract.ocr import INSTALL
from corpus.resemblance import percent
from indexer.plan import Outcome
from store.similar import Pair
from store.texts import Failure
from store.versions import printable

PAIRS_LISTED = 1_000
"""The most pairs of documents that are listed as data."""

PAIRS_SHOWN = 10
"""The most pairs of documents that are listed for a person."""

OUTCOMES: tuple[Outcome, ...] = ("added", "changed", "moved", "copied", "restored", "unchanged")

OCR_IS_LOST = (
    "tesseract, which recognised the scans of this archive, is not to be found: what it recognised "
    f"is kept, new scans wait; install it with `{INSTALL}` or put its folder on the PATH"
)


def waiting_line(pages: int, files: int) -> str:
    """How many pages have no text until they are recognised, and what to do about it."""
    many = "wait" if pages > 1 else "waits"
    return (
        f"{pages:,} page{'s' * (pages > 1)} in {files:,} file{'s' * (files > 1)} {many} for OCR: "
        f"install it with `{INSTALL}` and run the same command again"
    )


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
    ``pages_waiting`` counts pages without text that OCR would read, in ``files_waiting`` files.
    ``similar`` are the pairs of documents of the version that are nearly the same, the most alike
    first. ``seconds`` are wall-clock seconds per step.
    """

    sources: list[str] = field(default_factory=list)
    found: int = 0
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    failed: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)
    described: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    similar: list[Pair] = field(default_factory=list)
    version: int | None = None
    new_version: bool = False
    generation: str = ""
    documents: int = 0
    passages: int = 0
    encoded: int = 0
    truncated: int = 0
    pages_waiting: int = 0
    files_waiting: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def fail(self, path: bytes, failure: Failure) -> None:
        """Count a file as failed."""
        self.failed.append(Problem(printable(path), failure.stage, failure.reason))

    @property
    def exit_code(self) -> int:
        """0 where every file was read, 1 where some were not."""
        return 1 if self.failed else 0

    @property
    def outcome(self) -> str:
        if self.failed:
            return "finished with failures"
        return "changed" if self.new_version else "nothing changed"

    @property
    def similar_documents(self) -> int:
        """How many documents are nearly the same as another."""
        return len({name for pair in self.similar for name in (pair.one, pair.other)})

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
        """The report as JSON-ready data, with the first ``PAIRS_LISTED`` of the similar pairs."""
        return {
            **asdict(replace(self, similar=self.similar[:PAIRS_LISTED])),
            "similar_documents": self.similar_documents,
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
        lines += self._similar_lines()
        lines += [f"retired {doc_id}" for doc_id in self.retired]
        lines += [
            f"failed  {problem.path} [{problem.stage}]: {problem.reason}" for problem in self.failed
        ]
        if self.pages_waiting:
            lines.append(waiting_line(self.pages_waiting, self.files_waiting))
        return lines

    def _similar_lines(self) -> list[str]:
        if not self.similar:
            return []
        lines = [f"similar {self.similar_documents} documents are nearly the same as another"]
        lines += [
            f"similar {pair.one} and {pair.other}: {percent(pair.shared, pair.total)} % "
            "the same wording"
            for pair in self.similar[:PAIRS_SHOWN]
        ]
        if (more := len(self.similar) - PAIRS_SHOWN) > 0:
            lines.append(f"similar {more:,} more pairs, in the report with --json")
        return lines
