"""One ingest: look, read, cut, encode, commit, build, publish.

Texts and vectors are kept as soon as they are made. The corpus version is one transaction, the
generation one rename and its publication another, in that order: whatever stops the run, what was
served before is served until the last of them, and the next run finishes.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from corpus.containers import container_kind
from indexer.plan import Plan, make_plan
from indexer.publishing import publish_version
from indexer.report import Problem, Report
from indexer.sources import Target, known_sources, look_at
from indexer.texts import Workshop, cut_new, encode_new, encoder_in_use, read_new, shape_for
from indexer.unpacking import Held, unpack_container, unpacking_folder
from store import texts
from store.archive import Archive
from store.catalogue import Catalogue, Version
from store.encoder import open_encoder
from store.errors import MassRetirement
from store.filesystem import network_warning
from store.generations import clean_up
from store.ingests import keep_ingest
from store.lock import writer_lock
from store.manifest import sha256_of
from store.texts import Failure
from store.vectors import VectorCache
from store.versions import (
    DocumentState,
    Place,
    commit_version,
    history,
    live_places,
    live_states,
    printable,
)

RETIRE_SHARE = 0.20
"""A run that would retire more than one document and more than this share of them refuses."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a maintainer asked for. ``encoder`` empty means the one the archive already uses."""

    paths: tuple[Path, ...]
    message: str = ""
    encoder: str = ""
    allow_retire: bool = False


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file that could be opened: its digest, absolute path, size in bytes and time."""

    digest: str
    path: bytes
    size: int
    modified: float


def ingest(archive: Archive, request: Request) -> Report:
    """Bring the archive up to date with ``request.paths`` and publish what came of it.

    :raises Busy: another ingest is running
    :raises NoSource: a path is missing, unreadable or empty
    :raises MassRetirement: too many documents would be retired
    :raises EncoderUnavailable: the encoder asked for is not on this machine
    """
    with (
        writer_lock(archive),
        Catalogue(archive) as catalogue,
        VectorCache(archive) as cache,
        unpacking_folder(archive) as unpacked,
    ):
        started_at = _now()
        clean_up(archive)
        report = Report()
        if warning := network_warning(archive.root):
            report.notes.append(Problem("", "archive", warning))
        name, note = (request.encoder, "") if request.encoder else encoder_in_use(catalogue)
        if note:
            report.notes.append(Problem("", "encoder", note))
        encoder = open_encoder(name)
        workshop = Workshop(catalogue, cache, encoder, shape_for(encoder))

        with _timed(report, "look"):
            targets = _targets(workshop, request)
            seen, targets = _digest(targets, report, unpacked)
        with _timed(report, "read"):
            passing = read_new(workshop, {file.digest: file.path for file in seen.values()})
            read = {file.digest for file in seen.values()} - set(passing)
            _keep_older_readings(workshop, read)
        titles = _titles(workshop, {file.digest for file in seen.values()})
        with _timed(report, "cut"):
            cut_new(workshop, titles)
        with _timed(report, "encode"):
            made = encode_new(workshop, titles)
            report.encoded, report.truncated = made.passages, made.over_long
        failures = {
            **made.failures,
            **texts.failures(
                catalogue,
                {*titles, *(file.digest for file in seen.values())},
                workshop.shape.extractor,
            ),
        }
        with _timed(report, "commit"):
            version = _commit(workshop, request, targets, seen, failures, passing, report)
        with _timed(report, "build"):
            report.generation = publish_version(workshop, archive, version)
        report.notes += [Problem("", "vectors", note) for note in cache.notes]
        keep_ingest(catalogue, started_at, _now(), report.outcome, version, report.as_data())
        return report


def _targets(workshop: Workshop, request: Request) -> list[Target]:
    """Scan what was asked for; every source, where old texts were read by another extractor."""
    targets = look_at(workshop.catalogue, request.paths)
    latest = workshop.catalogue.latest()
    if latest is None or latest.shape.extractor == workshop.shape.extractor:
        return targets
    whole = [target for target in targets if not target.below]
    covered = {target.source for target in whole}
    missing = [source for source in known_sources(workshop.catalogue) if source not in covered]
    there = [source.root for source in missing if source.root.is_dir()]
    return whole + look_at(workshop.catalogue, there)


def _digest(
    targets: Sequence[Target], report: Report, unpacked: Path
) -> tuple[dict[Place, SeenFile], list[Target]]:
    """Read every file once for its SHA-256; a time stamp never decides what changed.

    A container counts as the folder of what it holds, written below ``unpacked``. Returns what was
    seen, and the targets with what turned out to be out of reach.
    """
    seen: dict[Place, SeenFile] = {}
    reached = []
    for target in targets:
        root = os.fsencode(target.source.root)
        report.sources.append(printable(os.path.join(root, target.below)))
        skipped, unreachable = list(target.scan.skipped), list(target.scan.unreachable)
        for path, reason in unreachable:
            _fail(report, path, Failure("read", reason))
        for file in target.scan.files:
            path = os.path.join(root, file.path)
            held: Held | Failure | None
            try:
                held = _contents(path, unpacked)
                members = held.members if isinstance(held, Held) else ((b"", path),)
                digests = [(name, at, _digest_of(at), os.stat(at).st_size) for name, at in members]
            except OSError as error:
                held = Failure("read", f"cannot be read: {error.strerror}")
            if isinstance(held, Failure):
                unreachable.append((file.path, held.reason))
                _fail(report, file.path, held)
                continue
            if held is not None:
                skipped += [(_inside(file.path, name), reason) for name, reason in held.skipped]
            for name, at, digest, size in digests:
                place = Place(target.source.source_id, _inside(file.path, name))
                seen[place] = SeenFile(digest, at, size, file.modified)
        report.skipped += [Problem(printable(path), "skip", reason) for path, reason in skipped]
        scan = replace(target.scan, unreachable=tuple(unreachable))
        reached.append(replace(target, scan=scan))
    report.found = len(seen) + len(report.skipped) + len(report.failed)
    return seen, reached


def _contents(path: bytes, unpacked: Path) -> Held | Failure | None:
    """What a container holds, written into a new folder below ``unpacked``; None for a document.

    :raises OSError: the file cannot be read
    """
    if container_kind(Path(os.fsdecode(path))) is None:
        return None
    return unpack_container(path, Path(tempfile.mkdtemp(dir=unpacked)))


def _digest_of(path: bytes) -> str:
    return sha256_of(Path(os.fsdecode(path)))


def _inside(container: bytes, name: bytes) -> bytes:
    """The place of what is inside a container; what gzip wraps has the container's own."""
    return container + b"/" + name if name else container


def _keep_older_readings(workshop: Workshop, seen: set[str]) -> None:
    """Where the extractor is a newer one, keep what was read before from files that are out of
    reach now."""
    latest = workshop.catalogue.latest()
    if latest is not None and latest.shape.extractor != workshop.shape.extractor:
        live = {state.sha256 for state in live_states(workshop.catalogue).values()}
        older, newer = latest.shape.extractor, workshop.shape.extractor
        texts.carry_over(workshop.catalogue, live - seen, older, newer)


def _titles(workshop: Workshop, digests: set[str]) -> dict[str, str]:
    """The title of every text that the next version may hold, by digest."""
    live = {state.sha256 for state in live_states(workshop.catalogue).values()}
    heads = texts.heads(workshop.catalogue, live | digests, workshop.shape.extractor)
    return {digest: head.title for digest, head in heads.items()}


def _commit(
    workshop: Workshop,
    request: Request,
    targets: Sequence[Target],
    seen: Mapping[Place, SeenFile],
    failures: Mapping[str, Failure],
    passing: Mapping[str, Failure],
    report: Report,
) -> Version:
    """Commit a new version where anything differs from the newest one."""
    catalogue = workshop.catalogue
    found = _settle(catalogue, targets, seen, failures, passing, report)
    plan = make_plan(found, history(catalogue))
    latest = catalogue.latest()
    _count(plan, seen, found, report)
    if latest is not None and not request.allow_retire:
        _refuse_mass_retirement(plan, latest)
    states = _states(workshop, plan, seen)
    was = live_states(catalogue)
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
            message=request.message,
            changes={**report.outcomes, "retired": len(plan.retired)},
            at=_now(),
        )
        report.new_version = True
    _note(workshop, plan, report)
    report.version = version.number
    report.documents = version.documents
    report.passages = version.passages
    return version


def _settle(
    catalogue: Catalogue,
    targets: Sequence[Target],
    seen: Mapping[Place, SeenFile],
    failures: Mapping[str, Failure],
    passing: Mapping[str, Failure],
    report: Report,
) -> dict[Place, str]:
    """The digest at each place of the next version.

    A place that this run did not look at, or whose file cannot be read now, keeps what it had.
    ``failures`` are those of the bytes themselves, ``passing`` those of this run only.
    """
    states = live_states(catalogue)
    places = live_places(catalogue)
    found = {}
    for place, file in seen.items():
        if failure := failures.get(file.digest) or passing.get(file.digest):
            _fail(report, place.path, failure, kept=place in places)
        else:
            found[place] = file.digest
    unreadable = {
        Place(target.source.source_id, file.path)
        for target in targets
        for file in target.scan.files
    } - set(found)
    for place, doc_id in places.items():
        looked_at = any(target.covers(place) for target in targets)
        # What cannot be read now may be a container, so what lay inside it is kept as well.
        lost = any(outer in unreadable for outer in _around(place))
        kept = states[doc_id].sha256
        if (lost or not looked_at) and kept not in failures:
            found[place] = kept
    return found


def _around(place: Place) -> Iterator[Place]:
    """The place itself and every one that it could lie inside of."""
    parts = place.path.split(b"/")
    for length in range(len(parts), 0, -1):
        yield Place(place.source_id, b"/".join(parts[:length]))


def _count(
    plan: Plan, seen: Mapping[Place, SeenFile], found: Mapping[Place, str], report: Report
) -> None:
    for place, file in seen.items():
        if found.get(place) == file.digest:
            report.outcomes[plan.outcomes[place]] += 1
    report.retired = list(plan.retired)


def _refuse_mass_retirement(plan: Plan, latest: Version) -> None:
    count = len(plan.retired)
    if count > 1 and count > RETIRE_SHARE * latest.documents:
        raise MassRetirement(
            f"would retire {count} of {latest.documents} documents, more than {RETIRE_SHARE:.0%}; "
            "nothing was changed. If those files are meant to be gone, say so with --allow-retire"
        )


def _states(workshop: Workshop, plan: Plan, seen: Mapping[Place, SeenFile]) -> list[DocumentState]:
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
        head, file, old = heads[digest], file_of.get(doc_id), was.get(doc_id)
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
                title=head.title,
                language=head.language,
                media_type=head.media_type,
                modified=modified,
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


def _fail(report: Report, path: bytes, failure: Failure, *, kept: bool = False) -> None:
    reason = failure.reason + ("; its last good revision stays in force" if kept else "")
    report.failed.append(Problem(printable(path), failure.stage, reason))


@contextmanager
def _timed(report: Report, step: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    report.seconds[step] = round(time.perf_counter() - started, 3)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
