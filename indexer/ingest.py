"""One ingest: look, read, cut, encode, commit, compare, build, publish.

Texts and vectors are kept as soon as they are made. The corpus version is one transaction, the
generation one rename and its publication another, in that order: whatever stops the run, what was
served before is served until the last of them, and the next run finishes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from corpus.containers import container_kind
from corpus.extract.ocr import find_tesseract
from indexer.describe import Description, Said, describe, said_of, with_copies
from indexer.plan import Plan, make_plan
from indexer.publishing import publish_version
from indexer.report import OCR_IS_LOST, Problem, Report
from indexer.settings import NAME, Settings, read_settings
from indexer.sidecars import (
    beside_no_sidecar,
    is_sidecar,
    left_out_inside,
    speaks_of_another,
)
from indexer.similar import compare_texts
from indexer.sources import Target, known_sources, look_at
from indexer.texts import (
    Workshop,
    cut_new,
    encode_new,
    encoder_in_use,
    extractor_in_use,
    read_new,
    shape_for,
)
from indexer.unpacking import Held, Unpacker, unpacker_for
from store import texts
from store.archive import Archive
from store.catalogue import Catalogue, Version
from store.encoder import Encoder, open_encoder
from store.errors import MassRetirement, NoSource
from store.filesystem import network_warning
from store.generations import clean_up
from store.ingests import keep_ingest
from store.lock import writer_lock
from store.manifest import sha256_of
from store.similar import similar_pairs
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

SHOWN = 5
"""How many documents a note names."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a maintainer asked for.

    ``paths`` empty means the sources of ``archive.toml``, ``encoder`` empty the one the archive
    already uses.
    """

    paths: tuple[Path, ...]
    message: str = ""
    encoder: str = ""
    allow_retire: bool = False


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file that could be opened: its digest, absolute path, size in bytes and time.

    ``named`` is the path that a sidecar can stand beside; None for what lies inside a container.
    """

    digest: str
    path: bytes
    size: int
    modified: float
    named: bytes | None


@dataclass(frozen=True, slots=True)
class Troubles:
    """Why texts cannot be had, by digest: ``lasting`` speaks of the bytes themselves, ``passing``
    of this run only, so that it says nothing against what was read of the same bytes before."""

    lasting: Mapping[str, Failure]
    passing: Mapping[str, Failure]

    def of(self, digest: str) -> Failure | None:
        return self.lasting.get(digest) or self.passing.get(digest)


@dataclass(frozen=True, slots=True)
class Settled:
    """The digest at each place of the next version, and why files are not, or not yet, in it."""

    found: dict[Place, str]
    failed: dict[Place, Failure]


def ingest(
    archive: Archive, request: Request, open_model: Callable[[str], Encoder] = open_encoder
) -> Report:
    """Bring the archive up to date with ``request.paths`` and publish what came of it.

    ``open_model`` gives the encoder of a name; one who ingests again and again keeps it loaded.

    :raises Busy: another ingest is running
    :raises BadInput: ``archive.toml`` cannot be used; nothing was changed
    :raises NoSource: a path is missing, unreadable or empty
    :raises MassRetirement: too many documents would be retired
    :raises EncoderUnavailable: the encoder asked for is not on this machine
    """
    settings = read_settings(archive)
    if not request.paths and not settings.sources:
        raise NoSource(
            "there is nothing to read; name a folder, or list it under [[source]] in "
            f"{archive.root / NAME}"
        )
    request = replace(request, paths=request.paths or settings.sources)
    with (
        writer_lock(archive),
        Catalogue(archive) as catalogue,
        VectorCache(archive) as cache,
        unpacker_for(archive) as unpacker,
    ):
        started_at = _now()
        clean_up(archive)
        report = Report()
        if warning := network_warning(archive.root):
            report.notes.append(Problem("", "archive", warning))
        name, note = (request.encoder, "") if request.encoder else encoder_in_use(catalogue)
        if note:
            report.notes.append(Problem("", "encoder", note))
        encoder = open_model(name)
        tesseract = find_tesseract()
        shape = shape_for(encoder, extractor_in_use(catalogue, tesseract))
        workshop = Workshop(catalogue, cache, encoder, shape, tesseract)
        if workshop.lost_ocr:
            report.notes.append(Problem("", "ocr", OCR_IS_LOST))

        with _timed(report, "look"):
            targets = _targets(workshop, request)
            seen, targets = _digest(targets, report, unpacker, settings)
        with _timed(report, "read"):
            passing = read_new(workshop, {file.digest: file.path for file in seen.values()})
            read = {file.digest for file in seen.values()} - set(passing)
            _keep_older_readings(workshop, read)
        live = {state.sha256 for state in live_states(catalogue).values()}
        digests = live | {file.digest for file in seen.values()}
        failures = texts.failures(catalogue, digests, workshop.shape.extractor)
        troubles = Troubles(failures, passing)
        described, refused, frozen = _describe(workshop, settings, targets, seen, troubles)
        titles = {digest: description.title for digest, description in described.items()}
        with _timed(report, "cut"):
            cut_new(workshop, titles)
        with _timed(report, "encode"):
            made = encode_new(workshop, titles)
            report.encoded, report.truncated = made.passages, made.over_long
        with _timed(report, "commit"):
            troubles = Troubles({**made.failures, **failures}, passing)
            settled = _settle(catalogue, targets, seen, troubles, refused, frozen)
            version = _commit(workshop, request, seen, settled, described, report)
            _note_idle_rules(settings, settled, report)
        with _timed(report, "compare"):
            compare_texts(catalogue, version)
        report.similar = similar_pairs(catalogue, version)
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
    targets: Sequence[Target], report: Report, unpacker: Unpacker, settings: Settings
) -> tuple[dict[Place, SeenFile], list[Target]]:
    """Read every file once for its SHA-256; a time stamp never decides what changed.

    A container counts as the folder of what it holds, written out by ``unpacker``. Returns what was
    seen, and the targets with what turned out to be out of reach.
    """
    seen: dict[Place, SeenFile] = {}
    reached = []
    for target in targets:
        root = os.fsencode(target.source.root)
        report.sources.append(printable(os.path.join(root, target.below)))
        unreachable = list(target.scan.unreachable)
        skipped = [entry for entry in target.scan.skipped if not speaks_of_another(root, entry[0])]
        for path, reason in unreachable:
            _fail(report, path, Failure("read", reason))
        for file in target.scan.files:
            path = os.path.join(root, file.path)
            if is_sidecar(file.path):
                if not speaks_of_another(root, file.path):
                    reason = "says something of a file that is not there; rename or remove it"
                    report.notes.append(Problem(printable(file.path), "metadata", reason))
                continue
            if pattern := settings.ignored(file.path):
                skipped.append((file.path, f"ignored by {NAME}: {pattern}"))
                continue
            held: Held | Failure | None
            try:
                held = beside_no_sidecar(path, _contents(path, unpacker))
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
                if name and (reason := left_out_inside(settings, place.path)):
                    skipped.append((place.path, reason))
                    continue
                seen[place] = SeenFile(digest, at, size, file.modified, None if name else path)
        report.skipped += [Problem(printable(path), "skip", reason) for path, reason in skipped]
        scan = replace(target.scan, unreachable=tuple(unreachable))
        reached.append(replace(target, scan=scan))
    report.found = len(seen) + len(report.skipped) + len(report.failed)
    return seen, reached


def _contents(path: bytes, unpacker: Unpacker) -> Held | Failure | None:
    """What a container holds, written out by ``unpacker``; None for a document.

    :raises OSError: the file cannot be read
    """
    if container_kind(Path(os.fsdecode(path))) is None:
        return None
    return unpacker.unpack(path)


def _digest_of(path: bytes) -> str:
    return sha256_of(Path(os.fsdecode(path)))


def _inside(container: bytes, name: bytes) -> bytes:
    """The place of what is inside a container; a message, and what gzip wraps, has the
    container's own."""
    return container + b"/" + name if name else container


def _keep_older_readings(workshop: Workshop, seen: set[str]) -> None:
    """Where the extractor is a newer one, keep what was read before from files that are out of
    reach now."""
    latest = workshop.catalogue.latest()
    if latest is not None and latest.shape.extractor != workshop.shape.extractor:
        live = {state.sha256 for state in live_states(workshop.catalogue).values()}
        older, newer = latest.shape.extractor, workshop.shape.extractor
        texts.carry_over(workshop.catalogue, live - seen, older, newer)


def _describe(
    workshop: Workshop,
    settings: Settings,
    targets: Sequence[Target],
    seen: Mapping[Place, SeenFile],
    troubles: Troubles,
) -> tuple[dict[str, Description], dict[Place, Failure], set[str]]:
    """Describe every text that the next version may hold, by digest.

    Returns as well the places that are refused for their metadata, and the digests that stay as
    they were because of it.
    """
    catalogue, extractor = workshop.catalogue, workshop.shape.extractor
    states = live_states(catalogue)
    live = {place: states[doc_id].sha256 for place, doc_id in live_places(catalogue).items()}
    digests = {place: file.digest for place, file in seen.items()}
    heads = texts.heads(catalogue, {*digests.values(), *live.values()}, extractor)
    headings: dict[str, str] = {}
    if any("{heading}" in (rule.given.title or "") for rule in settings.rules):
        headings = texts.first_headings(catalogue, digests.values(), extractor)
    said, unusable = said_of(settings, {place: file.named for place, file in seen.items()})
    while True:
        refused, frozen = with_copies(unusable, digests, live)
        found = _settle(catalogue, targets, seen, troubles, refused, frozen).found
        looked_at: dict[Place, Said] = {
            place: said[place]
            for place in found
            if place not in refused and digests.get(place) == found[place]
        }
        described, clashing = describe(found, looked_at, states.values(), heads, headings)
        if not clashing:
            return described, refused, frozen
        unusable |= clashing


def _commit(
    workshop: Workshop,
    request: Request,
    seen: Mapping[Place, SeenFile],
    settled: Settled,
    described: Mapping[str, Description],
    report: Report,
) -> Version:
    """Commit a new version where anything differs from the newest one."""
    catalogue = workshop.catalogue
    plan = make_plan(settled.found, history(catalogue))
    latest = catalogue.latest()
    _count(plan, seen, settled, report)
    _count_waiting(workshop, settled, report)
    if latest is not None and not request.allow_retire:
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
            message=request.message,
            changes={
                **report.outcomes,
                "described": len(report.described),
                "retired": len(plan.retired),
            },
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
    troubles: Troubles,
    refused: Mapping[Place, Failure],
    frozen: Set[str],
) -> Settled:
    """The digest at each place of the next version.

    A place that this run did not look at, whose file cannot be read now or whose document is
    refused for its metadata keeps what it had.
    """
    states = live_states(catalogue)
    places = live_places(catalogue)
    found: dict[Place, str] = {}
    failed: dict[Place, Failure] = {}
    for place, file in seen.items():
        failure = refused.get(place) or troubles.of(file.digest)
        if failure is not None:
            kept = "; its last good revision stays in force" if place in places else ""
            failed[place] = replace(failure, reason=failure.reason + kept)
        else:
            found[place] = file.digest
    unreadable = set(seen) - set(found)
    for place, doc_id in places.items():
        looked_at = any(target.covers(place) for target in targets)
        # What cannot be read now may be a container, so what lay inside it is kept as well.
        lost = any(outer in unreadable for outer in _around(place))
        kept = states[doc_id].sha256
        if place in found or kept in troubles.lasting:
            continue
        if lost or kept in frozen or not looked_at:
            found[place] = kept
    return Settled(found, failed)


def _around(place: Place) -> Iterator[Place]:
    """The place itself and every one that it could lie inside of."""
    parts = place.path.split(b"/")
    for length in range(len(parts), 0, -1):
        yield Place(place.source_id, b"/".join(parts[:length]))


def _count(plan: Plan, seen: Mapping[Place, SeenFile], settled: Settled, report: Report) -> None:
    for place in seen:
        if failure := settled.failed.get(place):
            _fail(report, place.path, failure)
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


def _note_idle_rules(settings: Settings, settled: Settled, report: Report) -> None:
    """Name the rules that match nothing: a misspelt folder would be open to everyone."""
    for rule in settings.rules:
        if not any(rule.matches(place.path) for place in settled.found):
            reason = f"the rule for {rule.pattern!r} in {NAME} matches no document"
            report.notes.append(Problem("", "metadata", reason))


def _fail(report: Report, path: bytes, failure: Failure) -> None:
    report.failed.append(Problem(printable(path), failure.stage, failure.reason))


@contextmanager
def _timed(report: Report, step: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    report.seconds[step] = round(time.perf_counter() - started, 3)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
