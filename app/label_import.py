"""Taking labels of a file into an archive: what is new, known, refused, or of no document here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.label_files import Format, Line, Missing, Refused, read_labels
from corpus.judging import Judgment, standing
from store.catalogue import Catalogue
from store.judging import add_judgments, judgments, now, topic_revisions
from store.projects import projects


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do. ``unknown_documents`` are ids that the newest version does
    not hold; their labels are kept all the same. ``moved`` labels were given under a text of their
    topic that is not here, and are stored under its newest one."""

    added: int
    known: int
    refused: tuple[Refused, ...]
    unknown_documents: tuple[str, ...]
    moved: int
    dry_run: bool


def import_labels(
    catalogue: Catalogue,
    path: Path,
    form: Format,
    *,
    judge: str = "",
    project: str = "",
    dry_run: bool = False,
) -> Imported:
    """Add the labels of a file that are not here yet, all in one transaction.

    ``judge`` is who gave those that name nobody; ``project`` takes the place of what the file says.

    :raises BadInput: the file cannot be read at all
    """
    latest = catalogue.latest()
    documents = catalogue.documents(latest.number) if latest else []
    revisions = {document.doc_id: document.revision for document in documents}
    missing = Missing(
        judge,
        now(),
        latest.number if latest else 0,
        revisions,
        {place: document.doc_id for document in documents for place in document.locations},
        project,
        f"from {path.name}",
    )
    lines, refused = read_labels(path, form, missing)
    texts = topic_revisions(catalogue)
    names = {known.name for known in projects(catalogue)}
    wanted: list[Line] = []
    for line in lines:
        label = line.label
        if label.project not in names:
            refused.append(Refused(line.number, f"there is no project {label.project!r} here"))
        elif (label.topic_id, 1) not in texts:
            refused.append(Refused(line.number, f"there is no topic {label.topic_id!r} here"))
        else:
            wanted.append(line)
    moved = [line.label for line in wanted if _moves(line.label, texts)]
    new = [
        replace(label, topic_revision=0) if _moves(label, texts) else label
        for label in _new(wanted, judgments(catalogue))
    ]
    if not dry_run:
        add_judgments(catalogue, new)
    return Imported(
        added=len(new),
        known=len(wanted) - len(new),
        refused=tuple(sorted(refused, key=lambda entry: entry.line)),
        unknown_documents=tuple(sorted({label.doc_id for label in new} - set(revisions))),
        moved=len(moved),
        dry_run=dry_run,
    )


def _moves(label: Judgment, texts: frozenset[tuple[str, int]]) -> bool:
    return label.topic_revision != 0 and (label.topic_id, label.topic_revision) not in texts


def _new(lines: Sequence[Line], stored: Sequence[Judgment]) -> list[Judgment]:
    """What is not here yet: of a file that says when, each label; of another, each opinion."""
    known = set(stored)
    said = {_pair(label): label.grade for label in standing(stored)}
    new = []
    for line in lines:
        label = line.label
        if (label in known) if line.dated else _says(said, label):
            continue
        known.add(label)
        said[_pair(label)] = label.grade
        new.append(label)
    return new


def _pair(label: Judgment) -> tuple[str, ...]:
    return (label.project, label.topic_id, label.doc_id, label.judge, label.role)


def _says(said: Mapping[tuple[str, ...], int | None], label: Judgment) -> bool:
    pair = _pair(label)
    return pair in said and said[pair] == label.grade
