"""What one system answered to one query."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from store.errors import BadInput


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that an engine returned; ``place`` counts from 1 in the engine's own order of
    passages, equal scores by passage id."""

    passage_id: str
    place: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry of a ranking: ``rank`` counts from 1, ``score`` is the engine's own and is only
    shown. ``passage_id`` is the passage that earned the rank.

    ``found`` are the document's best passages among those the engine happened to return, best
    first. They say where to read and nothing of the order, so equal hits may differ in them.
    """

    id: str
    rank: int
    score: float
    passage_id: str = ""
    found: tuple[Found, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Ranking:
    """A system's list, cut at the depth that was asked.

    ``exhausted`` says that the system has nothing below the last hit. ``unavailable`` is the reason
    why a system could not answer, ``not_asked`` the rule by which it was not asked; its list is
    then empty and says nothing of any document. ``held`` is the greatest share of the query's
    weight that one passage holds, where the protocol weighs the system by it.
    """

    system: str
    depth: int
    hits: tuple[Hit, ...]
    exhausted: bool
    unavailable: str = ""
    not_asked: str = ""
    held: Fraction | None = None

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for position, hit in enumerate(self.hits, start=1):
            if hit.id in seen:
                raise BadInput(
                    f"{hit.id!r} is in the {self.system} list twice; a list gives each id one vote"
                )
            if hit.rank != position:
                raise BadInput(
                    f"the {self.system} list gives {hit.id!r} rank {hit.rank} at place {position}; "
                    "ranks count from 1 without gaps"
                )
            seen.add(hit.id)
        if len(self.hits) > self.depth:
            raise BadInput(
                f"the {self.system} list has {len(self.hits)} entries, deeper than {self.depth}"
            )

    def rank_of(self) -> dict[str, int]:
        """The rank of every id in the list."""
        return {hit.id: hit.rank for hit in self.hits}


def ranking_of(
    system: str, ids: list[str] | tuple[str, ...], *, depth: int | None = None
) -> Ranking:
    """A ranking from ids in order, cut at ``depth``; for lists that come without scores."""
    asked = len(ids) if depth is None else depth
    hits = tuple(
        Hit(name, rank, float(len(ids) - rank + 1)) for rank, name in enumerate(ids[:asked], 1)
    )
    return Ranking(system, max(1, asked), hits, exhausted=len(ids) <= asked)
