"""What the order of the visible documents would be at another k, depth or weight.

All of it follows from the lists that were retrieved: no engine is asked again, so that a depth
beyond the one asked is not answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.query.depths import DepthStep, order_by_depth, step_data
from app.query.fuse import FusedHit
from app.query.fusions import FUSIONS
from app.query.protocol import Protocol
from app.query.ranking import Ranking
from app.query.spans import Order, Span, order_by_k, order_by_weight, span_data
from app.query.swaps import Comparison, compare_all
from store.errors import BadInput

SHOWN = 20
"""Documents that are looked at."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The visible documents under other settings, one changed at a time.

    ``comparisons`` has every pair of them; ``by_k`` covers every k >= 0, ``by_weight`` every weight
    above 0 of each system, ``by_depth`` every depth from 1 to the one asked, for each system only
    the depths at which something changes.
    """

    shown: Order
    comparisons: tuple[Comparison, ...]
    by_k: tuple[Span, ...]
    by_weight: dict[str, tuple[Span, ...]]
    by_depth: dict[str, tuple[DepthStep, ...]]

    def as_data(self) -> dict[str, Any]:
        """JSON-ready; fractions are text. Only pairs that meet at some k are listed."""
        return {
            "shown": list(self.shown),
            "meetings": [one.as_data() for one in self.comparisons if one.meetings],
            "always_equal": [
                [one.first, one.second] for one in self.comparisons if one.always_equal
            ],
            "by_k": [span_data(span) for span in self.by_k],
            "by_weight": {
                name: [span_data(span) for span in spans] for name, spans in self.by_weight.items()
            },
            "by_depth": {
                name: [step_data(step) for step in steps] for name, steps in self.by_depth.items()
            },
        }


def what_if(
    rankings: Sequence[Ranking],
    protocol: Protocol,
    fused: Sequence[FusedHit],
    shown: int = SHOWN,
) -> WhatIf:
    """The first ``shown`` hits of ``fused``, the fusion of ``rankings`` under ``protocol``, at
    every other k, weight and depth.

    :raises BadInput: the protocol's fusion is not by reciprocal ranks
    """
    if not FUSIONS[protocol.fusion].k:
        raise BadInput(f"{protocol.fusion} has no k; what-if answers are for rrf")
    hits = fused[:shown]
    comparisons = compare_all(hits)
    return WhatIf(
        tuple(hit.id for hit in hits),
        comparisons,
        order_by_k(hits, comparisons),
        {system.name: order_by_weight(hits, protocol, system.name) for system in protocol.systems},
        {
            system.name: order_by_depth(rankings, protocol, fused, system.name, shown)
            for system in protocol.systems
        },
    )
