"""A ranking by an attribute of the document, whatever was asked: the newest first.

It knows nothing of the query, so it has something to say only where the others leave it open. A
document that does not have the attribute is not matched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import islice

from app.query.ranking import Hit, Ranking
from app.query.systems import System
from corpus.document import passage_id
from store.attributes import dated_documents
from store.catalogue import Catalogue, Version, split_passage_id

Places = Mapping[str, int]
"""The rank of every id that a prior ranks, below its depth as well."""


def prior_ranking(
    system: System,
    unit: str,
    catalogue: Catalogue,
    version: Version,
    others: Iterable[Ranking],
    permitted: Sequence[str],
) -> tuple[Ranking, Places]:
    """Rank the candidates of ``others``, or all ``permitted`` documents, by the day that an
    attribute gives them; equal days by id.

    A hit's score is the day's number, so that later is more. Its passage is the one that another
    system ranked best, or else the document's first.
    """
    if system.attribute is None:
        raise ValueError(f"{system.name} has no attribute to rank by")
    found = _best_passages(others)
    by_passage = unit == "passage"
    document = {name: split_passage_id(name)[0] if by_passage else name for name in found}
    ids = permitted if system.among == "all permitted" else document.values()
    dated = {
        one.doc_id: one
        for one in dated_documents(catalogue, version, system.attribute, frozenset(ids))
    }
    names = dated if system.among == "all permitted" else [n for n in found if document[n] in dated]
    days = {
        name: date.fromisoformat(dated[document.get(name, name)].day).toordinal() for name in names
    }
    order = sorted(days, key=lambda name: (-days[name], name))
    hits = tuple(
        Hit(
            name,
            rank,
            float(days[name]),
            found[name] if name in found else passage_id(name, dated[name].revision, 0),
        )
        for rank, name in enumerate(islice(order, system.depth), start=1)
    )
    ranking = Ranking(system.name, system.depth, hits, exhausted=len(order) <= system.depth)
    return ranking, {name: rank for rank, name in enumerate(order, start=1)}


def _best_passages(rankings: Iterable[Ranking]) -> dict[str, str]:
    """The passage of each hit in the list that ranks it best, of equal ranks in the first list."""
    best: dict[str, tuple[int, str]] = {}
    for ranking in rankings:
        for hit in ranking.hits:
            if hit.id not in best or hit.rank < best[hit.id][0]:
                best[hit.id] = (hit.rank, hit.passage_id)
    return {name: passage for name, (_, passage) in best.items()}
