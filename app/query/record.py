"""The record of a search: everything that decided its answer, and the answer, under one name.

The name is the SHA-256 of the record's canonical JSON (sorted keys, no spaces, UTF-8), so that two
equal searches are one record and a changed record has another name. Timings are not part of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from app.query.correct import Suggestion, suggestion_data
from app.query.fuse import Contribution, FusedHit, Part, ScoredContribution
from app.query.protocol import Protocol
from app.query.ranking import Ranking
from app.query.read_as import read_data
from corpus.query_terms import QueryTerms
from corpus.scope import Scope
from store.manifest import Manifest

SCHEMA = 4


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """What was asked, under which protocol, of what, and what came back.

    ``text`` is the query as it was read, and ``suggestions`` are for it; where the protocol applies
    them, ``terms`` are those of the corrected text.
    """

    query: str
    terms: QueryTerms
    protocol: Protocol
    scope: Scope
    manifest: Manifest
    rankings: tuple[Ranking, ...]
    fused: tuple[FusedHit, ...]
    notes: tuple[str, ...] = ()
    text: str = ""
    suggestions: tuple[Suggestion, ...] = ()
    body: str = field(init=False, repr=False, compare=False)
    record_id: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        body = canonical(self.as_data())
        object.__setattr__(self, "body", body)
        object.__setattr__(self, "record_id", f"sha256:{hashlib.sha256(body.encode()).hexdigest()}")

    def as_data(self) -> dict[str, Any]:
        """JSON-ready; fractions are text, engine scores are numbers."""
        inputs = self.manifest.inputs
        return {
            "schema": SCHEMA,
            "query": self.query,
            "read": read_data(self.terms),
            "suggestions": suggestion_data(self.text, self.suggestions),
            "protocol": {**self.protocol.as_data(), "hash": self.protocol.hash},
            "scope": {
                "languages": self.scope.languages,
                "folder": self.scope.folder,
                "media_types": self.scope.media_types,
                "groups": self.scope.groups,
                "tags": self.scope.tags,
                "since": self.scope.since,
                "until": self.scope.until,
                "codes": self.scope.codes,
            },
            "corpus_version": inputs.corpus_version,
            "generation": self.manifest.name,
            "fingerprints": {
                "corpus": inputs.corpus_fingerprint,
                "generation": self.manifest.fingerprint,
                "analyzer": inputs.analyzer,
                "encoder": inputs.encoder,
                "centring": inputs.centring,
                "engines": inputs.engines,
                "semantic_index": asdict(self.manifest.semantic),
            },
            "rankings": {
                ranking.system: {
                    "depth": ranking.depth,
                    "exhausted": ranking.exhausted,
                    "unavailable": ranking.unavailable,
                    "not_asked": ranking.not_asked,
                    "held": None if ranking.held is None else str(ranking.held),
                    "hits": [[hit.id, hit.rank, hit.score, hit.passage_id] for hit in ranking.hits],
                }
                for ranking in self.rankings
            },
            "fused": [_hit_data(hit) for hit in self.fused],
            "notes": list(self.notes),
        }


def _hit_data(hit: FusedHit) -> dict[str, Any]:
    score = hit.score
    return {
        "id": hit.id,
        "rank": hit.rank,
        "score": ratio(score.numerator, score.denominator),
        "parts": part_data(hit.parts),
    }


def part_data(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """The parts of a fused score as JSON-ready data, in protocol order."""
    rows: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Contribution):
            given: dict[str, Any] = {
                "system": part.system,
                "rank": part.rank,
                "weight": str(part.weight),
                "value": ratio(part.value.numerator, part.value.denominator),
            }
            if isinstance(part, ScoredContribution):
                given |= {"score": part.score, "normalised": part.normalised}
            rows.append(given)
        else:
            absent: dict[str, Any] = {"system": part.system, "absent": str(part.reason)}
            if part.rank is not None:
                absent["true_rank"] = part.rank
            rows.append(absent)
    return rows


def ratio(numerator: int, denominator: int) -> str:
    """A fraction as ``n/d``, with the denominator even where it is 1.

    >>> ratio(3, 2), ratio(2, 1)
    ('3/2', '2/1')
    """
    return f"{numerator}/{denominator}"


def canonical(value: object) -> str:
    """The one JSON text of ``value``."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
