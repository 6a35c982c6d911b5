"""The search box: names what begins with the text while it is typed, and asks at Enter.

Its markup, look and keys are in the files of the same name beside this one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from app import resources
from app.pages.address import Address, read_address
from app.query.suggest import Completion, begun, suggest
from store.errors import CounterpointError

_BOX, _ASKED, _TYPED, _KNOWN = "ask-q", "box-asked", "box-typed", "box-known"
_KINDS = {"code": "Code", "title": "Title"}


def _beside(suffix: str) -> str:
    return Path(__file__).with_suffix(suffix).read_text(encoding="utf-8")


# Without a shadow root: a field in one is no text field to Streamlit's own keys, nor to a reader's
# tools.
_mount = st.components.v2.component(
    "counterpoint_search_box",
    html=_beside(".html"),
    css=_beside(".css"),
    js=_beside(".js"),
    isolate_styles=False,
)


def arrive() -> None:
    """Called when the whole page is run: what the box asked is being answered."""
    st.session_state.pop(_ASKED, None)


@st.fragment
def draw(ask: Callable[[str], None]) -> None:
    """Draw the box, which alone is run again while the reader types.

    ``ask`` takes the text of a question into the address; then the whole page is run.
    """

    def asked() -> None:
        query = _text(st.session_state[_BOX]["asked"]["query"])
        st.session_state[_KNOWN] = (query, _revision(query)[1])
        st.session_state[_ASKED] = True
        ask(query)

    def typed() -> None:
        st.session_state[_TYPED] = _text(st.session_state[_BOX]["typed"])

    # The address as it is now: what this was called with is as old as the last run of the page.
    address = read_address(st.query_params.to_dict())
    st.session_state[_KNOWN] = query, revision = _revision(address.q)
    text = st.session_state.pop(_TYPED, None)
    begins = None if text is None else {"typed": text, "options": _options(address, text)}
    _mount(
        key=_BOX,
        data={"query": query, "revision": revision, "begins": begins},
        on_asked_change=asked,
        on_typed_change=typed,
    )
    if st.session_state.get(_ASKED):
        st.rerun()


def _revision(query: str) -> tuple[str, int]:
    """The query, and how often the box had to be told one that was not asked in it."""
    known, revision = st.session_state.get(_KNOWN, ("", 0))
    return query, revision + (query != known)


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
