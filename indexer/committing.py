"""Committing what was settled, and the account of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from indexer.describe import Description
from indexer.looking import SeenFile
from indexer.plan import Plan, make_plan
from indexer.report import Problem, Report
from indexer.settling import Settled
from indexer.texts import (
    Workshop,
)
from store import texts
from store.catalogue import Version
from store.errors import MassRetirement
from store.versions import (
    DocumentState,
    Place,
    commit_version,
    history,
    live_states,
    printable,
)

RETIRE_SHARE = 0.20
"""A run that would retire more than one document and more than this share of them refuses."""

SHOWN = 5
"""How many documents a note names."""


def commit(
    workshop: Workshop,
    seen: Mapping[Place, SeenFile],
    settled: Settled,
    described: Mapping[str, Description],
    report: Report,
    *,
    message: str,
    allow_retire: bool,
    at: str,
) -> Version:
    """Commit a new version where anything differs from the newest one; return the newest.

    :raises MassRetirement: too many documents would be retired
    """
    catalogue = workshop.catalogue
    plan = make_plan(settled.found, history(catalogue))
    latest = catalogue.latest()
    _count(plan, seen, settled, report)
    _count_waiting(workshop, settled, report)
    if latest is not None and not allow_retire:
        _refuse_mass_retirement(plan, latest)
    states = _states(workshop, plan, seen, described)
    was = live_states(catalogue)
    report.described = [
        state.doc_id
        for state in states
        if state.doc_id in was
        and state.sha256 == was[state.doc_id].sha256
        and not state.same_as(was[state.doc_id])
    ]
    _note_opened(was, states, report)
    unchanged = not plan.changes_anything and all(
        state.doc_id in was and state.same_as(was[state.doc_id]) for state in states
    )
    same_settings = latest is not None and (
        (latest.shape, latest.encoder) == (workshop.shape, workshop.encoder.name)
    )
    if latest is not None and unchanged and same_settings:
        version = latest
    else:
        version = commit_version(
            catalogue,
            states=states,
            places=plan.places,
            shape=workshop.shape,
            encoder=workshop.encoder.name,
            message=message,
            changes={
                **report.outcomes,
                "described": len(report.described),
                "retired": len(plan.retired),
            },
            at=at,
        )
        report.new_version = True
    _note(workshop, plan, report)
    report.version = version.number
    report.documents = version.documents
    report.passages = version.passages
    return version


def _count(plan: Plan, seen: Mapping[Place, SeenFile], settled: Settled, report: Report) -> None:
    for place in seen:
        if failure := settled.failed.get(place):
            report.fail(place.path, failure)
        else:
            report.outcomes[plan.outcomes[place]] += 1
    report.retired = list(plan.retired)


def _count_waiting(workshop: Workshop, settled: Settled, report: Report) -> None:
    """Count the pages that wait for OCR, in files that failed and in those of the next version."""
    failed = [failure.waiting for failure in settled.failed.values()]
    digests = settled.found.values()
    waiting = texts.waiting_pages(workshop.catalogue, digests, workshop.shape.extractor)
    kept = [waiting.get(digest, 0) for digest in digests]
    report.pages_waiting = sum(failed) + sum(kept)
    report.files_waiting = sum(map(bool, [*failed, *kept]))


def _refuse_mass_retirement(plan: Plan, latest: Version) -> None:
    count = len(plan.retired)
    if count > 1 and count > RETIRE_SHARE * latest.documents:
        raise MassRetirement(
            f"would retire {count} of {latest.documents} documents, more than {RETIRE_SHARE:.0%}; "
            "nothing was changed. If those files are meant to be gone, say so with --allow-retire"
        )


def _states(
    workshop: Workshop,
    plan: Plan,
    seen: Mapping[Place, SeenFile],
    described: Mapping[str, Description],
) -> list[DocumentState]:
    """What the next version says of each document of the plan."""
    was = live_states(workshop.catalogue)
    heads = texts.heads(
        workshop.catalogue,
        [digest for _, digest in plan.revisions.values()],
        workshop.shape.extractor,
    )
    file_of: dict[str, SeenFile] = {}
    for place in sorted(seen, reverse=True):
        if place in plan.places:
            file_of[plan.places[place]] = seen[place]
    states = []
    for doc_id, (revision, digest) in sorted(plan.revisions.items()):
        head, words = heads[digest], described[digest]
        file, old = file_of.get(doc_id), was.get(doc_id)
        if old is not None and old.sha256 == digest:
            size, modified = old.size, old.modified
        elif file is not None:
            size, modified = file.size, _utc(file.modified)
        else:
            raise LookupError(f"document {doc_id!r} has neither a file nor an earlier state")
        states.append(
            DocumentState(
                doc_id=doc_id,
                revision=revision,
                sha256=digest,
                size=size,
                title=words.title,
                language=words.language,
                media_type=head.media_type,
                modified=modified,
                groups=words.groups,
                tags=words.tags,
                author=words.author,
                dated=words.dated,
            )
        )
    return states


def _note(workshop: Workshop, plan: Plan, report: Report) -> None:
    """Say what extraction had to say of every text that is new in this version."""
    heads = texts.heads(
        workshop.catalogue,
        [
            plan.revisions[doc_id][1]
            for place, doc_id in plan.places.items()
            if plan.outcomes[place] in ("added", "changed")
        ],
        workshop.shape.extractor,
    )
    for place in sorted(plan.places):
        head = heads.pop(plan.revisions[plan.places[place]][1], None)
        if head is not None:
            report.notes += [Problem(printable(place.path), "extract", note) for note in head.notes]


def _note_opened(
    was: Mapping[str, DocumentState], states: Sequence[DocumentState], report: Report
) -> None:
    """Say which documents more readers may read now, as where a file of rules was lost."""
    opened = [
        state.doc_id
        for state in states
        if state.doc_id in was
        and was[state.doc_id].groups
        and not (state.groups and set(state.groups) <= set(was[state.doc_id].groups))
    ]
    if opened:
        more = f" and {len(opened) - SHOWN} more" if len(opened) > SHOWN else ""
        reason = f"open to more readers than before: {', '.join(opened[:SHOWN])}{more}"
        report.notes.append(Problem("", "metadata", reason))


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
