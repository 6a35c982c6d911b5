"""One ingest: look, read, cut, encode, commit, compare, build, publish.

Texts and vectors are kept as soon as they are made. The corpus version is one transaction, the
generation one rename and its publication another, in that order: whatever stops the run, what was
served before is served until the last of them, and the next run finishes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from corpus.extract.ocr import find_tesseract
from indexer.committing import commit
from indexer.describe import Description, Said, describe, said_of, with_copies
from indexer.looking import SeenFile, digest_files
from indexer.publishing import publish_version
from indexer.report import OCR_IS_LOST, Problem, Report
from indexer.settings import NAME, Settings, read_settings
from indexer.settling import Settled, Troubles, settle
from indexer.similar import compare_texts
from indexer.sources import Target, known_sources, look_at
from indexer.texts import (
    Workshop,
    cut_new,
    encode_apart,
    encoder_in_use,
    extractor_in_use,
    read_new,
    shape_for,
)
from indexer.unpacking import unpacker_for
from store import texts
from store.archive import Archive
from store.catalogue import Catalogue
from store.encoder import Encoder, open_encoder
from store.errors import NoSource
from store.filesystem import network_warning
from store.generations import clean_up
from store.ingests import keep_ingest
from store.lock import writer_lock
from store.similar import similar_pairs
from store.texts import Failure
from store.vectors import VectorCache
from store.versions import (
    Place,
    live_places,
    live_states,
)


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
            seen, targets = digest_files(targets, report, unpacker, settings)
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
            made = encode_apart(
                workshop, ((digest, one.title, one.groups) for digest, one in described.items())
            )
            report.encoded, report.truncated = made.passages, made.over_long
        with _timed(report, "commit"):
            troubles = Troubles({**made.failures, **failures}, passing)
            settled = settle(catalogue, targets, seen, troubles, refused, frozen)
            version = commit(
                workshop,
                seen,
                settled,
                described,
                report,
                message=request.message,
                allow_retire=request.allow_retire,
                at=_now(),
            )
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
        found = settle(catalogue, targets, seen, troubles, refused, frozen).found
        looked_at: dict[Place, Said] = {
            place: said[place]
            for place in found
            if place not in refused and digests.get(place) == found[place]
        }
        described, clashing = describe(found, looked_at, states.values(), heads, headings)
        if not clashing:
            return described, refused, frozen
        unusable |= clashing


def _note_idle_rules(settings: Settings, settled: Settled, report: Report) -> None:
    """Name the rules that match nothing: a misspelt folder would be open to everyone."""
    for rule in settings.rules:
        if not any(rule.matches(place.path) for place in settled.found):
            reason = f"the rule for {rule.pattern!r} in {NAME} matches no document"
            report.notes.append(Problem("", "metadata", reason))


@contextmanager
def _timed(report: Report, step: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    report.seconds[step] = round(time.perf_counter() - started, 3)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
