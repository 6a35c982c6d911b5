"""What the address of the search page says, and the address that says it.

Everything that shapes an answer is in the address, so that a link reproduces the page. Only what
differs from the default is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from urllib.parse import urlencode

from app.query.protocol import (
    DEFAULT_ASKED,
    DEFAULT_CORRECTIONS,
    DEFAULT_COVERAGE,
    DEFAULT_GROUP,
    DEFAULT_WEIGHTING,
    LEXICAL,
    SEMANTIC,
    Protocol,
    make_protocol,
)
from corpus.query_filters import media_types
from corpus.scope import Scope
from store.errors import BadInput

STEP = 10
"""How many rows are shown at first, and how many *Show more* adds."""

VIEWS = ("Fused", "Side by side", "Why", "What if")

REVIEWER = "as"
"""The parameter that keeps a reviewer signed in over a reload."""

SEARCH, DOCUMENT = "./", "document"


@dataclass(frozen=True, slots=True)
class Address:
    """The search page's parameters as they were typed; nothing is checked before it is used."""

    q: str = ""
    k: str = "60"
    dl: str = "100"
    ds: str = "100"
    wl: str = "1"
    ws: str = "1"
    cov: str = str(DEFAULT_COVERAGE)
    asked: str = DEFAULT_ASKED
    weighting: str = DEFAULT_WEIGHTING
    corrections: str = DEFAULT_CORRECTIONS
    unit: str = "document"
    group: str = DEFAULT_GROUP
    lang: str = ""
    type: str = ""
    folder: str = ""
    tag: str = ""
    code: str = ""
    since: str = ""
    until: str = ""
    view: str = VIEWS[0]
    n: str = str(STEP)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(code for code in self.lang.split(",") if code)

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(tag for tag in self.tag.split(",") if tag)

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(kind for kind in self.type.split(",") if kind)

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes are parted by semicolons, as a comma may be the decimal sign of one."""
        return tuple(code.strip() for code in self.code.split(";") if code.strip())

    @property
    def filters(self) -> bool:
        """Whether anything restricts what is searched."""
        return self.scope != Scope()

    @property
    def shown(self) -> int:
        """How many rows to show; what is no such number means the first ones."""
        return int(self.n) if self.n.isascii() and self.n.isdigit() and self.n != "0" else STEP

    @property
    def scope(self) -> Scope:
        """:raises BadInput: a day, a type or a code cannot be used"""
        try:
            return Scope(
                languages=self.languages or None,
                folder=self.folder.strip("/") or None,
                media_types=media_types(self.types) or None,
                tags=self.tags or None,
                since=self.since.strip() or None,
                until=self.until.strip() or None,
                codes=self.codes or None,
            )
        except ValueError as error:
            raise BadInput(str(error)) from error

    def protocol(self) -> Protocol:
        """:raises BadInput: a value cannot be used"""
        return make_protocol(
            k=self.k,
            depths={
                LEXICAL: _whole(f"the depth of {LEXICAL}", self.dl),
                SEMANTIC: _whole(f"the depth of {SEMANTIC}", self.ds),
            },
            weights={LEXICAL: self.wl, SEMANTIC: self.ws},
            coverage=self.cov,
            asked=self.asked,
            weighting=self.weighting,
            corrections=self.corrections,
            unit=self.unit,
            group=self.group,
        )

    def parameters(self) -> dict[str, str]:
        """What differs from an empty search, by parameter."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }


NAMES = frozenset(field.name for field in fields(Address))


def read_address(parameters: Mapping[str, str]) -> Address:
    """Read an address; parameters of others are ignored, and an unknown view is the first."""
    known = {name: value for name, value in parameters.items() if name in NAMES}
    if known.get("view") not in VIEWS:
        known.pop("view", None)
    return Address(**known)


def link(page: str, parameters: Iterable[tuple[str, str]]) -> str:
    """A relative link to a page; parameters without a value are left out.

    >>> link("document", [("doc", "a b/ñ.md"), ("q", "")])
    'document?doc=a+b%2F%C3%B1.md'
    """
    query = urlencode([(name, value) for name, value in parameters if value])
    return f"{page}?{query}" if query else page


def document_link(doc_id: str, passage_id: str, found_by: Address, reviewer: str) -> str:
    """The link that opens a document at a passage and knows the way back to the results."""
    return link(
        DOCUMENT,
        [
            ("doc", doc_id),
            ("passage", passage_id),
            *found_by.parameters().items(),
            (REVIEWER, reviewer),
        ],
    )


def search_link(address: Address, reviewer: str) -> str:
    """The link that shows an answer."""
    return link(SEARCH, [*address.parameters().items(), (REVIEWER, reviewer)])


def judge_parameters(
    topic_id: str, reviewer: str, project: str = "", view: str = ""
) -> dict[str, str]:
    """The parameters that open a topic, the list of topics or another view of a project."""
    named = (("project", project), ("view", view), ("topic", topic_id), (REVIEWER, reviewer))
    return {name: value for name, value in named if value}


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadInput(f"{name} is a whole number, not {text!r}") from None
