"""Documents nearly the same as one ranked before them, folded under it for showing.

Grouping comes after fusion: ranks, scores, and the fused order of the record stay what they are,
and what is folded is still there, with its rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.query.fuse import FusedHit
from app.query.record import SearchRecord
from corpus.document import Document
from store.catalogue import Catalogue
from store.similar import Pair, similar_among

NEAR_DUPLICATES = "near duplicates"


@dataclass(frozen=True, slots=True)
class Fold:
    """A document that stands under another one, with what a :class:`Pair` of the two says."""

    doc_id: str
    under: str
    shared: int
    total: int


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded hit as it is shown below the hit that it stands under."""

    hit: FusedHit
    document: Document
    shared: int
    total: int


def folds(catalogue: Catalogue, record: SearchRecord) -> dict[str, Fold]:
    """What the protocol of ``record`` folds of its fused order, by document; usually nothing.

    Only documents of the record are compared, and so only ones that its reader may see.
    """
    if record.protocol.group != NEAR_DUPLICATES:
        return {}
    ranked = [hit.id for hit in record.fused]
    version = catalogue.version(record.manifest.inputs.corpus_version)
    return folded(ranked, similar_among(catalogue, version, ranked))


def folded(ranked: Sequence[str], pairs: Iterable[Pair]) -> dict[str, Fold]:
    """Fold each document of ``ranked`` under the first one above it that it is nearly the same as.

    Nothing is folded under what is folded itself: of three in a chain the last one, which is nearly
    the same as the second alone, stays.
    """
    alike: dict[str, dict[str, Pair]] = {}
    for pair in pairs:
        alike.setdefault(pair.one, {})[pair.other] = pair
        alike.setdefault(pair.other, {})[pair.one] = pair
    found: dict[str, Fold] = {}
    places = {doc_id: place for place, doc_id in enumerate(ranked)}
    for place, doc_id in enumerate(ranked):
        above = [
            places[other]
            for other in alike.get(doc_id, ())
            if places.get(other, place) < place and other not in found
        ]
        if above:
            under = ranked[min(above)]
            pair = alike[doc_id][under]
            found[doc_id] = Fold(doc_id, under, pair.shared, pair.total)
    return found


def standing(hits: Sequence[FusedHit], found: Mapping[str, Fold]) -> list[FusedHit]:
    """The hits that are not folded, in order, with the ranks that they had."""
    return [hit for hit in hits if hit.id not in found]


def folded_under(
    catalogue: Catalogue, record: SearchRecord, found: Mapping[str, Fold], shown: Iterable[str]
) -> dict[str, tuple[Folded, ...]]:
    """For each document of ``shown`` what is folded under it, in fused order."""
    wanted = set(shown)
    under = {doc_id: fold for doc_id, fold in found.items() if fold.under in wanted}
    if not under:
        return {}
    version = record.manifest.inputs.corpus_version
    documents = {one.doc_id: one for one in catalogue.documents(version, sorted(under))}
    below: dict[str, list[Folded]] = {}
    for hit in record.fused:
        if fold := under.get(hit.id):
            one = Folded(hit, documents[hit.id], fold.shared, fold.total)
            below.setdefault(fold.under, []).append(one)
    return {doc_id: tuple(several) for doc_id, several in below.items()}
