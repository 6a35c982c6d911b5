"""What an archive holds and serves, for ``status`` and ``versions``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from indexer.report import waiting_line
from store.archive import Archive
from store.catalogue import Catalogue
from store.errors import UnknownVersion
from store.filesystem import network_warning
from store.generations import serving_manifest
from store.ingests import last_ingest


def read_status(archive: Archive) -> dict[str, Any]:
    """The state of ``archive`` as JSON-ready data."""
    with Catalogue(archive) as catalogue:
        latest = catalogue.latest()
        ingest = last_ingest(catalogue)
        documents = catalogue.documents(latest.number) if latest else []
    manifest = serving_manifest(archive)
    return {
        "archive": str(archive.root),
        "warning": network_warning(archive.root) or None,
        "latest_version": latest.number if latest else None,
        "served_version": manifest.inputs.corpus_version if manifest else None,
        "generation": manifest.name if manifest else None,
        "fingerprint": manifest.fingerprint if manifest else None,
        "encoder": manifest.inputs.encoder_name if manifest else None,
        "semantic_index": (
            {**asdict(manifest.semantic), "in_words": manifest.semantic.in_words}
            if manifest
            else None
        ),
        "documents": manifest.documents if manifest else 0,
        "passages": manifest.passages if manifest else 0,
        "metadata": {
            "author": sum(bool(document.author) for document in documents),
            "date": sum(bool(document.dated) for document in documents),
            "tags": sum(bool(document.tags) for document in documents),
            "groups": sum(bool(document.groups) for document in documents),
        },
        "last_ingest": {
            "finished_at": ingest.finished_at,
            "outcome": ingest.outcome,
            "summary": ingest.report["summary"],
            "failed": ingest.report["failed"],
            "pages_waiting": ingest.report.get("pages_waiting", 0),
            "files_waiting": ingest.report.get("files_waiting", 0),
        }
        if ingest
        else None,
    }


def status_lines(status: dict[str, Any]) -> list[str]:
    """The status for a person; the last line is the summary."""
    lines = [
        f"archive     {status['archive']}",
        f"version     {status['latest_version'] or 'none'}, "
        f"served {status['served_version'] or 'none'}",
        f"generation  {status['generation'] or 'none'}",
        f"encoder     {status['encoder'] or 'none'}",
        f"semantic    {(status['semantic_index'] or {}).get('in_words', 'none')}",
        f"documents   {status['documents']:,} in {status['passages']:,} passages",
    ]
    said = status["metadata"]
    lines.append(
        f"metadata    {said['author']:,} with an author, {said['date']:,} with a date, "
        f"{said['tags']:,} with tags, {said['groups']:,} for some groups only"
    )
    if status["warning"]:
        lines.append(f"warning     {status['warning']}")
    ingest = status["last_ingest"]
    if ingest:
        lines.append(f"last ingest {ingest['finished_at']}: {ingest['outcome']}")
        lines += [
            f"  failed {problem['path']} [{problem['stage']}]: {problem['reason']}"
            for problem in ingest["failed"]
        ]
        if ingest["pages_waiting"]:
            lines.append(f"  {waiting_line(ingest['pages_waiting'], ingest['files_waiting'])}")
    if status["served_version"] is None:
        lines.append("nothing is served; run `python -m indexer ingest PATH`")
    elif status["served_version"] != status["latest_version"]:
        lines.append(
            f"version {status['latest_version']} is committed but not served yet; "
            "run the ingest again to finish it"
        )
    else:
        lines.append(f"version {status['served_version']} is served")
    return lines


def versions_data(archive: Archive) -> list[dict[str, Any]]:
    """Every version, newest first, as JSON-ready data."""
    with Catalogue(archive) as catalogue:
        return [asdict(version) for version in reversed(catalogue.versions())]


def version_lines(versions: list[dict[str, Any]]) -> list[str]:
    """The versions for a person, newest first."""
    lines = []
    for version in versions:
        changes = ", ".join(
            f"{count} {name}" for name, count in version["changes"].items() if count
        )
        lines.append(
            f"{version['number']:>4}  {version['committed_at']}  "
            f"{version['documents']:>6,} documents  {changes}  {version['message']}".rstrip()
        )
    lines.append(f"{len(versions)} versions")
    return lines


def document_data(archive: Archive, name: str, number: int | None) -> dict[str, Any]:
    """A document with its text as it stood in a version, as JSON-ready data.

    ``name`` is its id or one of its paths.

    :raises UnknownDocument: the version has no such document
    :raises UnknownVersion: there is no version of that number
    """
    with Catalogue(archive) as catalogue:
        version = catalogue.latest() if number is None else catalogue.version(number)
        if version is None:
            raise UnknownVersion("nothing was ingested into this archive yet")
        at_path = [
            document.doc_id
            for document in catalogue.documents(version.number)
            if name in document.locations
        ]
        document = catalogue.document(version.number, at_path[0] if at_path else name)
        text = catalogue.text(version, document.doc_id)
    return {**asdict(document), "version": version.number, "text": text}


def document_lines(data: dict[str, Any]) -> list[str]:
    """The document for a person, its text last but one."""
    heads = ("doc_id", "revision", "title", "author", "dated", "language", "media_type")
    return [
        *(f"{name:10} {data[name]}".rstrip() for name in heads),
        f"{'tags':10} {', '.join(data['tags'])}".rstrip(),
        f"{'groups':10} {', '.join(data['groups']) or 'everyone'}",
        f"{'modified':10} {data['modified']}",
        f"{'sha256':10} {data['sha256']}",
        f"{'locations':10} {', '.join(data['locations'])}",
        "",
        data["text"],
        "",
        f"{data['doc_id']} revision {data['revision']} in version {data['version']}",
    ]
