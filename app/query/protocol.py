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
from store.errors import BadInput

Unit = Literal["document", "passage"]
Asked = Literal["always", "unless codes alone match"]
Corrections = Literal["suggest", "apply", "off"]
Weighting = Literal["by share held", "fixed"]
Group = Literal["off", "near duplicates"]

LEXICAL = "lexical"
SEMANTIC = "semantic"

DEFAULT_K = Fraction(60)
DEFAULT_DEPTH = 100
DEFAULT_COVERAGE = Fraction(7, 20)
"""The share of a query's weight that a passage must hold to be a match by words."""
DEFAULT_ASKED: Asked = "unless codes alone match"
DEFAULT_CORRECTIONS: Corrections = "suggest"
DEFAULT_WEIGHTING: Weighting = "by share held"
DEFAULT_GROUP: Group = "off"
MAX_DEPTH = 10_000
MAX_NUMBER = 10**12
"""The largest k or weight: exact arithmetic stays fast, and nothing beyond it means more."""


@dataclass(frozen=True, slots=True)
class System:
    """One ranked list of a fusion: how deep it is asked and how much its vote weighs.

    ``family`` names what the system is a variant of; the members of a family share their vote, see
    :attr:`Protocol.effective_weights`. ``coverage`` is the least share of a query's
    weight that a lexical match holds, from 0 (any term will do) to 1 (every term); other systems
    have none. ``asked`` says when a system is asked at all: a semantic one may stay silent where
    the query is nothing but codes, and documents with those codes were found. ``emphasis``
    multiplies the weight by what a single passage holds of the query; the lexical system may have
    one.
    """

    name: str
    depth: int = DEFAULT_DEPTH
    weight: Fraction = Fraction(1)
    family: str = ""
    coverage: Fraction | None = None
    asked: Asked = "always"
    emphasis: Emphasis | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.depth, int) or isinstance(self.depth, bool):
            raise BadInput(f"the depth of {self.name} is a whole number, not {self.depth!r}")
        if not 1 <= self.depth <= MAX_DEPTH:
            raise BadInput(f"the depth of {self.name} is from 1 to {MAX_DEPTH:,}, not {self.depth}")
        if not 0 < self.weight <= MAX_NUMBER:
            raise BadInput(
                f"the weight of {self.name} is above 0 and at most {MAX_NUMBER}, "
                f"not {self.weight}; leave the system out instead of giving it no weight"
            )
        if self.coverage is not None and not (self.name == LEXICAL and 0 <= self.coverage <= 1):
            raise BadInput(
                f"coverage is a share from 0 to 1 of the {LEXICAL} system, "
                f"not {self.coverage} of {self.name}"
            )
        if self.asked not in get_args(Asked) or (self.name == LEXICAL and self.asked != "always"):
            raise BadInput(f"the {self.name} system cannot be asked {self.asked!r}")
        if self.emphasis is not None and self.name != LEXICAL:
            raise BadInput(f"only the {LEXICAL} system is weighed by the share held")
        if not self.family:
            object.__setattr__(self, "family", self.name)

    def weight_at(self, held: Fraction | None) -> Fraction:
        """What the vote weighs for a query of which a single passage holds the share ``held``."""
        return self.weight * self.emphasis.factor(held) if self.emphasis else self.weight


DEFAULT_SYSTEMS = (
    System(LEXICAL, coverage=DEFAULT_COVERAGE, emphasis=DEFAULT_EMPHASIS),
    System(SEMANTIC, asked=DEFAULT_ASKED),
)


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
        self._check_fusion()
        body = json.dumps(self.as_data(), sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(body.encode()).hexdigest()
        object.__setattr__(self, "hash", f"sha256:{digest}")

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
    if system.coverage is not None:
        data["coverage"] = str(system.coverage)
    if system.emphasis is not None:
        data["emphasis"] = system.emphasis.as_data()
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
    systems[SEMANTIC] = replace(systems[SEMANTIC], asked=_asked(asked))
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


def _asked(text: str) -> Asked:
    if text == "always":
        return "always"
    if text == "unless codes alone match":
        return "unless codes alone match"
    raise BadInput(f"a system is asked {' or '.join(get_args(Asked))}, not {text!r}")


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
