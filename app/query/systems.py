"""The systems of a protocol: the ranked lists that are fused, and what each of them may be told.

A system has a name of its own and a *kind*, which says who answers for it. Two systems may be of
one kind: a strict and a lax lexical one, or priors by two attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from app.query.emphasis import DEFAULT_EMPHASIS, Emphasis
from store.attributes import Attribute
from store.errors import BadInput

Asked = Literal["always", "unless codes alone match", "where the query has a code"]
Among = Literal["candidates", "all permitted"]


LEXICAL = "lexical"
SEMANTIC = "semantic"
CODES = "codes"
TITLE = "title"
PRIOR = "prior"
LIST = "list"
"""A ranked list that another service made; no engine of ours answers for it."""

ENGINES = (LEXICAL, SEMANTIC, CODES, TITLE, PRIOR)
"""The kinds that are answered for."""

BY_WORDS = (LEXICAL, CODES, TITLE)
"""The kinds that the lexical engine answers for."""

DEFAULT_DEPTH = 100
DEFAULT_COVERAGE = Fraction(7, 20)
"""The share of a query's weight that a passage must hold to be a match by words."""
DEFAULT_ASKED: Asked = "unless codes alone match"
MAX_DEPTH = 10_000
MAX_NUMBER = 10**12
"""The largest k or weight: exact arithmetic stays fast, and nothing beyond it means more."""
MAX_NAME = 64


@dataclass(frozen=True, slots=True)
class System:
    """One ranked list of a fusion: how deep it is asked and how much its vote weighs.

    ``kind`` says who answers, and is the name unless it is given. ``family`` names what the system
    is a variant of; the members of a family share their vote, see
    :attr:`Protocol.effective_weights`. ``coverage`` is the least share of a query's weight that a
    match by words holds, from 0 (any term will do) to 1 (every term); systems of other kinds have
    none. ``asked`` says when a system is asked at all: a semantic one may stay silent where the
    query is nothing but codes, and documents with those codes were found; one of codes is asked
    where there are codes. ``emphasis`` multiplies the weight by what a single passage holds of the
    query; a lexical system may have one. A prior ranks by an ``attribute`` of the document, the
    newest first, ``among`` the candidates of the other systems or all permitted documents.
    """

    name: str
    depth: int = DEFAULT_DEPTH
    weight: Fraction = Fraction(1)
    family: str = ""
    coverage: Fraction | None = None
    asked: Asked = "always"
    emphasis: Emphasis | None = None
    kind: str = ""
    attribute: Attribute | None = None
    among: Among | None = None

    def __post_init__(self) -> None:
        if not self.kind:
            object.__setattr__(self, "kind", self.name)
        if not self.family:
            object.__setattr__(self, "family", self.name)
        for text in (self.name, self.family):
            if not text.isprintable() or not 0 < len(text) <= MAX_NAME:
                raise BadInput(
                    f"a system and its family have names of 1 to {MAX_NAME} printable characters, "
                    f"not {text[: MAX_NAME + 1]!r}"
                )
        self._check_numbers()
        self._check_kind()

    def _check_numbers(self) -> None:
        if not isinstance(self.depth, int) or isinstance(self.depth, bool):
            raise BadInput(f"the depth of {self.name} is a whole number, not {self.depth!r}")
        if not 1 <= self.depth <= MAX_DEPTH:
            raise BadInput(f"the depth of {self.name} is from 1 to {MAX_DEPTH:,}, not {self.depth}")
        if not 0 < self.weight <= MAX_NUMBER:
            raise BadInput(
                f"the weight of {self.name} is above 0 and at most {MAX_NUMBER}, "
                f"not {self.weight}; leave the system out instead of giving it no weight"
            )

    def _check_kind(self) -> None:
        allowed = self.kind in BY_WORDS
        if self.coverage is not None and not (allowed and 0 <= self.coverage <= 1):
            raise BadInput(
                f"coverage is a share from 0 to 1 of a {LEXICAL}, {CODES} or {TITLE} system, "
                f"not {self.coverage} of {self.name}"
            )
        if self.asked not in (when := asked_of(self.kind)):
            raise BadInput(
                f"the {self.name} system cannot be asked {self.asked!r}; "
                f"it is asked {' or '.join(when)}"
            )
        if self.emphasis is not None and self.kind != LEXICAL:
            raise BadInput(f"only a {LEXICAL} system is weighed by the share held, not {self.name}")
        if self.kind != PRIOR:
            if self.attribute is not None or self.among is not None:
                raise BadInput(f"only a {PRIOR} has an attribute, not {self.name}")
            return
        if self.attribute not in get_args(Attribute):
            raise BadInput(
                f"the attribute of {self.name} is {' or '.join(get_args(Attribute))}, "
                f"not {self.attribute!r}"
            )
        if self.among not in get_args(Among):
            raise BadInput(
                f"{self.name} ranks among {' or '.join(get_args(Among))}, not {self.among!r}"
            )

    def weight_at(self, held: Fraction | None) -> Fraction:
        """What the vote weighs for a query of which a single passage holds the share ``held``."""
        return self.weight * self.emphasis.factor(held) if self.emphasis else self.weight


def asked_of(kind: str) -> tuple[Asked, ...]:
    """When a system of that kind may be asked."""
    if kind in (LEXICAL, LIST):
        return ("always",)
    if kind == CODES:
        return ("where the query has a code", "always")
    return ("always", "unless codes alone match")


BUILT_IN = {
    LEXICAL: System(LEXICAL, coverage=DEFAULT_COVERAGE, emphasis=DEFAULT_EMPHASIS),
    SEMANTIC: System(SEMANTIC, asked=DEFAULT_ASKED),
    CODES: System(CODES, asked="where the query has a code"),
    TITLE: System(TITLE),
    PRIOR: System(PRIOR, attribute="date", among="candidates"),
}
"""The system of each kind as it is where nothing else is said."""
