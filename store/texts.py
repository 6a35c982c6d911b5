"""Every text there ever was, addressed by content: what was read, how it is cut, what failed.

A text is named by the digest of the bytes it came from together with the extractor's version, its
passages by the split rule as well and by the title that is encoded with them. Rows are immutable,
so they can be added in short transactions long before a version uses them, and a second run with
the same bytes changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from corpus.document import Block, Extracted, Span
from store.catalogue import Catalogue, Shape
from store.database import writing


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the bytes of a file could not be read by one extractor version, and how many of its pages
    wait for OCR."""

    stage: str
    reason: str
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of a text beside its words."""

    title: str
    language: str
    media_type: str
    notes: tuple[str, ...]
    author: str
    dated: str
    tags: tuple[str, ...]
    waiting: int


def extraction(catalogue: Catalogue, sha256: str, extractor: str) -> Extracted | None:
    """What ``extractor`` read from those bytes, or None where it did not or could not."""
    rows = list(
        catalogue.rows(
            "SELECT * FROM extractions WHERE sha256 = :sha256 AND extractor = :extractor",
            sha256=sha256,
            extractor=extractor,
        )
    )
    if not rows:
        return None
    row = rows[0]
    blocks = tuple(
        Block(kind, start, end, page, tuple(headings), *marks)
        for kind, start, end, page, headings, *marks in json.loads(row["blocks"])
    )
    return Extracted(
        row["text"],
        row["title"],
        row["media_type"],
        blocks,
        tuple(json.loads(row["notes"])),
        row["author"],
        row["dated"],
        tuple(json.loads(row["tags"])),
        row["waiting"],
    )


def text_of(catalogue: Catalogue, sha256: str, extractor: str) -> str:
    """The text alone of what ``extractor`` read from those bytes.

    :raises KeyError: it did not or could not read them
    """
    row = catalogue.database.execute(
        "SELECT text FROM extractions WHERE sha256 = ? AND extractor = ?", [sha256, extractor]
    ).fetchone()
    if row is None:
        raise KeyError(sha256)
    text: str = row[0]
    return text


def failures(catalogue: Catalogue, digests: Iterable[str], extractor: str) -> dict[str, Failure]:
    """Why ``extractor`` could not read some bytes, for those of ``digests`` where it failed."""
    rows = catalogue.rows(
        "SELECT * FROM failures WHERE extractor = :extractor "
        "AND sha256 IN (SELECT value FROM json_each(:digests))",
        extractor=extractor,
        digests=json.dumps(list(digests)),
    )
    return {row["sha256"]: Failure(row["stage"], row["reason"], row["waiting"]) for row in rows}


def heads(catalogue: Catalogue, digests: Iterable[str], extractor: str) -> dict[str, Head]:
    """What the extractor found out about some bytes beside their text."""
    rows = catalogue.rows(
        "SELECT sha256, title, language, media_type, notes, author, dated, tags, waiting "
        "FROM extractions WHERE extractor = :extractor "
        "AND sha256 IN (SELECT value FROM json_each(:digests))",
        extractor=extractor,
        digests=json.dumps(list(digests)),
    )
    return {
        row["sha256"]: Head(
            row["title"],
            row["language"],
            row["media_type"],
            tuple(json.loads(row["notes"])),
            row["author"],
            row["dated"],
            tuple(json.loads(row["tags"])),
            row["waiting"],
        )
        for row in rows
    }


def first_headings(catalogue: Catalogue, digests: Iterable[str], extractor: str) -> dict[str, str]:
    """The first heading of each text that has one."""
    rows = catalogue.rows(
        "SELECT sha256, (SELECT b.value ->> '$[4][#-1]' FROM json_each(blocks) AS b "
        "WHERE b.value ->> 0 = 'heading' LIMIT 1) AS heading FROM extractions "
        "WHERE extractor = :extractor AND sha256 IN (SELECT value FROM json_each(:digests))",
        extractor=extractor,
        digests=json.dumps(list(digests)),
    )
    return {row["sha256"]: row["heading"] for row in rows if row["heading"]}


def waiting_pages(catalogue: Catalogue, digests: Iterable[str], extractor: str) -> dict[str, int]:
    """How many pages of a text wait for OCR, for those of ``digests`` that have such pages."""
    rows = catalogue.rows(
        "SELECT sha256, waiting FROM extractions WHERE extractor = :extractor AND waiting > 0 "
        "AND sha256 IN (SELECT value FROM json_each(:digests))",
        extractor=extractor,
        digests=json.dumps(list(digests)),
    )
    return {row["sha256"]: row["waiting"] for row in rows}


def known_texts(catalogue: Catalogue, extractor: str) -> set[str]:
    """The digests of all bytes that ``extractor`` has read or failed to read."""
    rows = catalogue.rows(
        "SELECT sha256 FROM extractions WHERE extractor = :extractor "
        "UNION SELECT sha256 FROM failures WHERE extractor = :extractor",
        extractor=extractor,
    )
    return {row["sha256"] for row in rows}


def shaped_texts(catalogue: Catalogue, shape: Shape) -> set[tuple[str, str]]:
    """The digest and title of every text that is cut into passages in that shape."""
    rows = catalogue.rows(
        "SELECT sha256, title FROM shapes WHERE extractor = :extractor AND splitter = :splitter",
        extractor=shape.extractor,
        splitter=shape.splitter,
    )
    return {(row["sha256"], row["title"]) for row in rows}


def text_hashes(catalogue: Catalogue, shape: Shape, titles: Mapping[str, str]) -> dict[bytes, str]:
    """What has to be encoded for some texts, given as digest to title: each passage's hash, and
    the digest of one text it is in."""
    rows = catalogue.rows(
        "SELECT p.text_hash, h.sha256 FROM json_each(:titles) AS t "
        "JOIN shapes AS h ON h.sha256 = t.key AND h.title = t.value "
        "AND h.extractor = :extractor AND h.splitter = :splitter "
        "JOIN passages AS p USING (shape_id) ORDER BY h.sha256, p.ordinal",
        extractor=shape.extractor,
        splitter=shape.splitter,
        titles=json.dumps(dict(titles)),
    )
    hashes: dict[bytes, str] = {}
    for row in rows:
        hashes.setdefault(bytes(row["text_hash"]), row["sha256"])
    return hashes


def cut_text(
    catalogue: Catalogue, shape: Shape, sha256: str, title: str
) -> tuple[Extracted, list[tuple[Span, bytes]]]:
    """A text and how it is cut under a title, each span with the hash of what is encoded.

    :raises KeyError: the bytes were not read or not cut in that shape
    """
    known = extraction(catalogue, sha256, shape.extractor)
    row = catalogue.database.execute(
        "SELECT shape_id FROM shapes "
        "WHERE sha256 = ? AND title = ? AND extractor = ? AND splitter = ?",
        [sha256, title, shape.extractor, shape.splitter],
    ).fetchone()
    if known is None or row is None:
        raise KeyError(sha256)
    return known, spans(catalogue, row[0])


def add_extraction(
    catalogue: Catalogue, sha256: str, extractor: str, extracted: Extracted, language: str
) -> None:
    """Keep what was read from some bytes; a second call with the same bytes changes nothing."""
    with writing(catalogue.database) as db:
        db.table("extractions").insert(
            {
                "sha256": sha256,
                "extractor": extractor,
                "text": extracted.text,
                "title": extracted.title,
                "language": language,
                "media_type": extracted.media_type,
                "blocks": _json([astuple(block) for block in extracted.blocks]),
                "notes": _json(extracted.notes),
                "author": extracted.author,
                "dated": extracted.dated,
                "tags": _json(extracted.tags),
                "waiting": extracted.waiting,
            },
            ignore=True,
        )


def recognised_texts(catalogue: Catalogue, extractor: str) -> set[str]:
    """The digests of the bytes from which ``extractor`` has text that was recognised (OCR)."""
    rows = catalogue.rows(
        "SELECT DISTINCT h.sha256 FROM shapes AS h JOIN passages AS p USING (shape_id) "
        "WHERE h.extractor = :extractor AND p.ocr",
        extractor=extractor,
    )
    return {row["sha256"] for row in rows}


def carry_over(catalogue: Catalogue, digests: Iterable[str], older: str, newer: str) -> None:
    """Let what ``older`` read from some bytes stand for ``newer``, where those bytes cannot be had
    to be read again."""
    columns = "text, title, language, media_type, blocks, notes, author, dated, tags, waiting"
    with writing(catalogue.database) as db:
        db.execute(
            f"INSERT INTO extractions (sha256, extractor, {columns}) "
            f"SELECT sha256, ?, {columns} FROM extractions WHERE extractor = ? "
            "AND sha256 IN (SELECT value FROM json_each(?)) "
            "ON CONFLICT (sha256, extractor) DO NOTHING",
            [newer, older, json.dumps(list(digests))],
        )


def add_failure(
    catalogue: Catalogue, sha256: str, extractor: str, failure: Failure, at: str
) -> None:
    """Keep why some bytes cannot be read, so that the next run need not try again."""
    with writing(catalogue.database) as db:
        db.table("failures").insert(
            {
                "sha256": sha256,
                "extractor": extractor,
                "stage": failure.stage,
                "reason": failure.reason,
                "waiting": failure.waiting,
                "failed_at": at,
            },
            ignore=True,
        )


def add_passages(
    catalogue: Catalogue,
    sha256: str,
    title: str,
    shape: Shape,
    spans: Sequence[tuple[Span, bytes]],
) -> None:
    """Keep how one text is cut under a title; a second call with the same changes nothing."""
    with writing(catalogue.database) as db:
        taken = db.execute(
            "INSERT INTO shapes (sha256, title, extractor, splitter, passages) "
            "VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (sha256, title, extractor, splitter) DO NOTHING RETURNING shape_id",
            [sha256, title, shape.extractor, shape.splitter, len(spans)],
        ).fetchone()
        if taken is None:
            return
        db.table("passages").insert_all(
            {
                "shape_id": taken[0],
                "ordinal": ordinal,
                "start": span.start,
                "end": span.end,
                "page": span.page,
                "headings": _json(span.headings),
                "ocr": span.ocr,
                "language": span.language,
                "text_hash": text_hash,
            }
            for ordinal, (span, text_hash) in enumerate(spans)
        )


def spans(catalogue: Catalogue, shape_id: int) -> list[tuple[Span, bytes]]:
    """The spans of one text in reading order, each with the hash of what is encoded."""
    return [
        (_span(row), row["text_hash"])
        for row in catalogue.rows(
            "SELECT * FROM passages WHERE shape_id = :shape_id ORDER BY ordinal",
            shape_id=shape_id,
        )
    ]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _span(row: dict[str, Any]) -> Span:
    return Span(
        row["start"],
        row["end"],
        row["page"],
        tuple(json.loads(row["headings"])),
        bool(row["ocr"]),
        row["language"],
    )
