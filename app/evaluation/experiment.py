"""An evaluation as a record: its inputs by content hash, and what came out.

The name of an experiment is the SHA-256 of its canonical JSON, as that of a search record is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from app.evaluation.evaluate import Evaluation
from app.evaluation.qrels import Qrels
from app.evaluation.request import Request
from app.evaluation.significance import RESAMPLES, SEED
from app.query.protocol import Protocol
from app.query.record import canonical
from corpus.judging import Topic
from store.manifest import Manifest

SCHEMA = 1


def inputs_of(
    split: str,
    topics: Sequence[Topic],
    qrels: Qrels,
    protocols: Sequence[tuple[str, Protocol]],
    manifest: Manifest | None = None,
) -> dict[str, object]:
    """All that decides the figures. Topics and labels have a digest for each topic, so that it can
    be said which of them changed."""
    searched = {}
    if manifest is not None:
        searched = {
            "corpus_version": manifest.inputs.corpus_version,
            "corpus": manifest.inputs.corpus_fingerprint,
            "generation": manifest.fingerprint,
            "encoder": manifest.inputs.encoder,
            "analyzer": manifest.inputs.analyzer,
        }
    return {
        "split": split,
        "topics": {topic.topic_id: digest([topic.query]) for topic in topics},
        "view": qrels.view,
        "labels": {
            topic.topic_id: digest(sorted(qrels.of(topic.topic_id).items())) for topic in topics
        },
        "protocols": {
            name: {**protocol.as_data(), "hash": protocol.hash} for name, protocol in protocols
        },
        "measured_by": {
            "ir_measures": version("ir_measures"),
            "seed": SEED,
            "resamples": RESAMPLES,
        },
        **searched,
    }


def body_of(request: Request, inputs: Mapping[str, object], evaluation: Evaluation) -> str:
    """The canonical JSON of an experiment."""
    return canonical(
        {
            "schema": SCHEMA,
            "asked": {
                "split": request.split,
                "protocols": [[one.name, one.values] for one in request.protocols],
                "measures": request.measures,
                "topics": _place(request.topics),
                "qrels": _place(request.qrels),
                "project": request.project,
                "view": request.view,
                "runs": [[name, str(path.resolve())] for name, path in request.runs],
            },
            "inputs": inputs,
            "outcome": outcome_of(evaluation),
        }
    )


def outcome_of(evaluation: Evaluation) -> dict[str, Any]:
    """What came out, for each row: its means, and a digest of the list of each topic."""
    return {
        row.name: {
            "means": dict(zip(evaluation.measures, row.means, strict=True)),
            "lists": {
                topic_id: digest(row.run.shown(topic_id)) for topic_id in evaluation.topic_ids
            },
        }
        for row in evaluation.rows
    }


def id_of(body: str) -> str:
    """The name of an experiment."""
    return f"sha256:{hashlib.sha256(body.encode()).hexdigest()}"


def digest(value: object) -> str:
    """Enough of the hash of a value's canonical JSON to tell it from another one.

    >>> digest(["a"]) == digest(("a",))
    True
    """
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:16]


def _place(path: Path | None) -> str:
    return "" if path is None else str(path.resolve())
