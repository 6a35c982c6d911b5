"""The search box: names what begins with the text while it is typed, and asks at Enter.

Its markup, look and keys are in the files of the same name beside this one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from app import resources
from app.pages.address import Address
from app.query.suggest import Completion, begun, suggest
from store.errors import CounterpointError

_BOX, _BEGINS = "ask-q", "begins"
_KNOWN, _TYPED = "known-to-box", "typed-in-box"
_KINDS = {"code": "Code", "title": "Title"}


def _beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


# Without a shadow root: a field in one is no text field to Streamlit's own keys. There are two
# components, as all that one of them says runs either the whole page or a part of it.
_mount_box = st.components.v2.component(
    "counterpoint_search_box",
    html=_beside("search_box.html"),
    css=_beside("search_box.css"),
    js=_beside("search_box.js"),
    isolate_styles=False,
)
_mount_begins = st.components.v2.component(
    "counterpoint_search_begins",
    html='<span class="cp-begins" hidden></span>',
    js=_beside("search_begins.js"),
    isolate_styles=False,
)


def draw(address: Address, ask: Callable[[str], None]) -> None:
    """Draw the box with the query of the address in it.

    ``ask`` takes the text of a question into the address, before the page is run for it. The text
    in the box is replaced only where the address has a query that was not asked there.
    """

    known: tuple[str, int] = st.session_state.get(_KNOWN, ("", 0))
    # How often the box had to be told a query that was not asked in it, this one included.
    revision = known[1] + (address.q != known[0])
    st.session_state[_KNOWN] = (address.q, revision)

    def asked() -> None:
        query = _text(st.session_state[_BOX]["asked"])
        st.session_state[_KNOWN] = (query, revision)
        ask(query)

    _mount_box(key=_BOX, data={"query": address.q, "revision": revision}, on_asked_change=asked)
    _draw_begins(address)


@st.fragment
def _draw_begins(address: Address) -> None:
    """What begins with the text in the box; this alone is run again while the reader types."""

    def typed() -> None:
        st.session_state[_TYPED] = _text(st.session_state[_BEGINS]["typed"])

    text = st.session_state.pop(_TYPED, None)
    answer = None if text is None else {"typed": text, "options": _options(address, text)}
    _mount_begins(key=_BEGINS, data=answer, on_typed_change=typed)


def _options(address: Address, typed: str) -> list[dict[str, Any]]:
    try:
        serving = resources.served()
        with resources.open_catalogue() as catalogue:
            found = suggest(serving.engines, catalogue, address.scope, typed)
    except CounterpointError:
        # The page says what is wrong where it answers; the box only offers nothing.
        return []
    return [_option(one, typed) for one in found]


def _option(one: Completion, typed: str) -> dict[str, Any]:
    pieces, done = [], 0
    for start, end in begun(one, typed):
        pieces += [(one.text[done:start], False), (one.text[start:end], True)]
        done = end
    pieces.append((one.text[done:], False))
    return {
        "kind": _KINDS[one.kind],
        "query": one.query,
        "pieces": [piece for piece in pieces if piece[0]],
    }


def _text(sent: str) -> str:
    """A text from the browser, where half a character may stand alone, without such halves."""
    return sent.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
