"""What an evaluation is asked for, and what opens the sealed topics."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from app.evaluation.measures import DEFAULT_MEASURES
from app.evaluation.protocols import Parameters
from app.qrels import DEFAULT_VIEW, View
from corpus.judging import DEFAULT_PROJECT, Split
from corpus.scope import Scope


@dataclass(frozen=True, slots=True)
class Request:
    """What to evaluate. Without files, topics and labels are those of the archive.

    ``runs`` are names and files of lists that are fused in the place of searches. The archive's
    labels are those of one judging ``project``, in one ``view`` of what several judges said.
    """

    split: Split = "dev"
    protocols: tuple[Parameters, ...] = (Parameters(),)
    measures: tuple[str, ...] = DEFAULT_MEASURES
    topics: Path | None = None
    qrels: Path | None = None
    runs: tuple[tuple[str, Path], ...] = ()
    scope: Scope = field(default_factory=Scope)
    project: str = DEFAULT_PROJECT
    view: View = DEFAULT_VIEW


@dataclass(frozen=True, slots=True)
class Opening:
    """Why sealed topics are looked at, by whom, and which protocols are frozen for it.

    ``frozen`` are hashes, or beginnings of hashes, of protocols that are frozen by this look.
    """

    who: str
    reason: str = ""
    frozen: tuple[str, ...] = ()
