"""The protocol of a search: every decision that shapes an order, as one value with one name.

Numbers are exact: k and weights are fractions read from text, never from floats, and a value that
cannot be used is refused with the range that can.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, get_args

from app.query.emphasis import DEFAULT_EMPHASIS, Emphasis
from app.query.fusions import fusion_named
from app.query.systems import BUILT_IN, PRIOR, asked_of
from app.query.systems import DEFAULT_ASKED as DEFAULT_ASKED
from app.query.systems import DEFAULT_COVERAGE as DEFAULT_COVERAGE
from app.query.systems import DEFAULT_DEPTH as DEFAULT_DEPTH
from app.query.systems import LEXICAL as LEXICAL
from app.query.systems import MAX_DEPTH as MAX_DEPTH
from app.query.systems import MAX_NUMBER as MAX_NUMBER
from app.query.systems import SEMANTIC as SEMANTIC
from app.query.systems import Asked as Asked
from app.query.systems import System as System
from store.errors import BadInput

Unit = Literal["document", "passage"]
Corrections = Literal["suggest", "apply", "off"]
Weighting = Literal["by share held", "fixed"]
Group = Literal["off", "near duplicates"]

DEFAULT_K = Fraction(60)
DEFAULT_CORRECTIONS: Corrections = "suggest"
DEFAULT_WEIGHTING: Weighting = "by share held"
DEFAULT_GROUP: Group = "off"

DEFAULT_SYSTEMS = (BUILT_IN[LEXICAL], BUILT_IN[SEMANTIC])


@dataclass(frozen=True, slots=True)
class Protocol:
    """What makes two fusions comparable. Equal protocols have equal hashes and the reverse.

    ``corrections`` says what becomes of a word or code that no document has: the answer is to the
    words as typed, with a suggestion beside it or without one, or to the corrected words. ``group``
    says whether documents nearly the same as one above them are shown under it; ranks stay.
    """

    systems: tuple[System, ...] = DEFAULT_SYSTEMS
    k: Fraction = DEFAULT_K
    unit: Unit = "document"
    corrections: Corrections = DEFAULT_CORRECTIONS
    fusion: str = "rrf"
    tie_rule: Literal["id ascending"] = "id ascending"
    rank_base: Literal[1] = 1
    group: Group = DEFAULT_GROUP
    hash: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        names = [system.name for system in self.systems]
        if not names:
            raise BadInput("a protocol needs at least one system")
        for name in names:
            if names.count(name) > 1:
                raise BadInput(f"system {name!r} is named twice in one protocol")
        if not 0 <= self.k <= MAX_NUMBER:
            raise BadInput(f"k is from 0 to {MAX_NUMBER}, not {self.k}")
        if self.unit not in get_args(Unit):
            raise BadInput(f"the unit is document or passage, not {self.unit!r}")
        _corrections(self.corrections)
        if _group(self.group) != DEFAULT_GROUP and self.unit != "document":
            raise BadInput("grouping folds documents; leave it out where the unit is passage")
        self._check_priors()
        self._check_fusion()
        body = json.dumps(self.as_data(), sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(body.encode()).hexdigest()
        object.__setattr__(self, "hash", f"sha256:{digest}")

    def _check_priors(self) -> None:
        among = [system for system in self.systems if system.among == "candidates"]
        if len(among) == len(self.systems):
            raise BadInput(
                f"{among[0].name} ranks what other systems find; name another system, or let it "
                "rank all permitted documents"
            )
        for system in self.systems:
            if system.among == "all permitted" and self.unit == "passage":
                raise BadInput(
                    f"{system.name} ranks all permitted documents and so no passages; "
                    "use unit document, or let it rank among the candidates"
                )

    def _check_fusion(self) -> None:
        fusion = fusion_named(self.fusion)
        if not fusion.k and self.k != DEFAULT_K:
            raise BadInput(f"{self.fusion} has no k; leave k out, or fuse by rrf")
        if not fusion.weights:
            if any(system.emphasis is not None for system in self.systems):
                raise BadInput(
                    f"{self.fusion} has no weights, so none can go by the share held; "
                    "leave the emphasis out, or fuse by minmax"
                )
            for system, weight in zip(self.systems, self.effective_weights, strict=True):
                if weight != 1:
                    raise BadInput(
                        f"{self.fusion} has no weights, so {system.name} cannot have {weight}; "
                        "leave weights and shared families out, or fuse by minmax"
                    )

    @property
    def effective_weights(self) -> tuple[Fraction, ...]:
        """The weight of each system's vote, in their order, where no share held changes it."""
        return self.weights_for({})

    def weights_for(self, held: Mapping[str, Fraction | None]) -> tuple[Fraction, ...]:
        """The weight of each system's vote for one query, in their order.

        ``held`` is by system the share of the query that a single passage holds; where it is not
        known, an emphasis changes nothing. The weight is the system's own weight divided by the
        number of systems in its family: a family has the weight that its members have on average,
        and they share it in proportion to their own. Four copies of one engine have one vote; a
        system alone in its family keeps its weight. Under a convex fusion the weights are divided
        by their sum as well.
        """
        families = Counter(system.family for system in self.systems)
        weights = tuple(
            system.weight_at(held.get(system.name)) / families[system.family]
            for system in self.systems
        )
        if fusion_named(self.fusion).convex:
            total = sum(weights, Fraction(0))
            return tuple(weight / total for weight in weights)
        return weights

    @property
    def short_hash(self) -> str:
        """Enough of the hash to tell two protocols apart on a screen."""
        return self.hash.removeprefix("sha256:")[:8]

    def as_data(self) -> dict[str, Any]:
        """JSON-ready; fractions are text. What the fusion does not use is not there, and an
        effective weight only where it is not the system's own."""
        fusion = fusion_named(self.fusion)
        return {
            "systems": [
                _system_data(system, weight, fusion.weights)
                for system, weight in zip(self.systems, self.effective_weights, strict=True)
            ],
            **({"k": str(self.k)} if fusion.k else {}),
            "unit": self.unit,
            "corrections": self.corrections,
            "fusion": self.fusion,
            "tie_rule": self.tie_rule,
            "rank_base": self.rank_base,
            # Named only where it is on, so that protocols of before it was there keep their names.
            **({} if self.group == DEFAULT_GROUP else {"group": self.group}),
        }


def _system_data(system: System, effective: Fraction, weighed: bool) -> dict[str, Any]:
    data: dict[str, Any] = {"name": system.name, "depth": system.depth}
    if weighed:
        data["weight"] = str(system.weight)
        if effective != system.weight:
            data["effective_weight"] = str(effective)
    data |= {"family": system.family, "asked": system.asked}
    if system.kind != system.name:
        data["kind"] = system.kind
    if system.coverage is not None:
        data["coverage"] = str(system.coverage)
    if system.emphasis is not None:
        data["emphasis"] = system.emphasis.as_data()
    if system.kind == PRIOR:
        data |= {"attribute": system.attribute, "among": system.among}
    return data


def exact_number(name: str, value: object) -> Fraction:
    """Read a number without rounding it.

    >>> exact_number("k", "60.5")
    Fraction(121, 2)

    :raises BadInput: it is not a finite number; floats, booleans and None are refused as well
    """
    allowed = f"{name} is a number from 0 to {MAX_NUMBER}, such as 60, 0.1 or 1/4"
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        number = Fraction(value)
    elif isinstance(value, str) and len(value) <= 40:
        try:
            number = Fraction(value.strip())
        except (ValueError, ZeroDivisionError):
            raise BadInput(f"{allowed}; {value!r} is not one") from None
    else:
        raise BadInput(f"{allowed}; {value!r} is not one")
    if not 0 <= number <= MAX_NUMBER:
        raise BadInput(f"{allowed}; {value!r} is outside of that")
    return number


def make_protocol(
    *,
    k: object = DEFAULT_K,
    depths: Mapping[str, int] | None = None,
    weights: Mapping[str, object] | None = None,
    coverage: object = DEFAULT_COVERAGE,
    asked: str = DEFAULT_ASKED,
    weighting: str = DEFAULT_WEIGHTING,
    corrections: str = DEFAULT_CORRECTIONS,
    unit: str = "document",
    fusion: str = "rrf",
    group: str = DEFAULT_GROUP,
) -> Protocol:
    """The protocol of the two built-in systems with what was asked changed.

    :raises BadInput: a value cannot be used, or names a system that is not there
    """
    systems = {system.name: system for system in DEFAULT_SYSTEMS}
    for name in (*(depths or {}), *(weights or {})):
        if name not in systems:
            raise BadInput(f"there is no system {name!r}; there are {', '.join(systems)}")
    for name, depth in (depths or {}).items():
        systems[name] = replace(systems[name], depth=depth)
    for name, weight in (weights or {}).items():
        systems[name] = replace(systems[name], weight=exact_number(f"the weight of {name}", weight))
    systems[LEXICAL] = replace(
        systems[LEXICAL],
        coverage=exact_number("coverage", coverage),
        # A fusion without weights has none that could go by the share held.
        emphasis=_emphasis(weighting) if fusion_named(fusion).weights else None,
    )
    systems[SEMANTIC] = replace(systems[SEMANTIC], asked=asked_as(SEMANTIC, asked))
    if unit not in get_args(Unit):
        raise BadInput(f"the unit is document or passage, not {unit!r}")
    return Protocol(
        systems=tuple(systems.values()),
        k=exact_number("k", k),
        unit="passage" if unit == "passage" else "document",
        corrections=_corrections(corrections),
        fusion=fusion,
        group=_group(group),
    )


def asked_as(kind: str, text: object) -> Asked:
    """When a system of that kind is asked.

    :raises BadInput: it is never asked so
    """
    for known in asked_of(kind):
        if text == known:
            return known
    raise BadInput(f"a {kind} system is asked {' or '.join(asked_of(kind))}, not {text!r}")


def _emphasis(weighting: str) -> Emphasis | None:
    if weighting == "by share held":
        return DEFAULT_EMPHASIS
    if weighting == "fixed":
        return None
    raise BadInput(f"weights are {' or '.join(get_args(Weighting))}, not {weighting!r}")


def _corrections(text: str) -> Corrections:
    if text == "suggest":
        return "suggest"
    if text == "apply":
        return "apply"
    if text == "off":
        return "off"
    raise BadInput(f"corrections are {', '.join(get_args(Corrections))}, not {text!r}")


def _group(text: str) -> Group:
    if text == "off":
        return "off"
    if text == "near duplicates":
        return "near duplicates"
    raise BadInput(f"the group is {' or '.join(get_args(Group))}, not {text!r}")
