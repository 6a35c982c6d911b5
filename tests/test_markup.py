"""HTML made from values: no text from outside can become an element."""

from __future__ import annotations

import doctest
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agreement import agreement
from app.judging import Queue
from app.pages import address, judge_markup, markup, reading_markup, result_markup
from app.pages.address import Address, document_link, link, read_address
from app.query.best_passages import Extract
from app.query.fuse import Absence, Contribution, FusedHit, Part, Reason
from app.query.highlight import Snippet
from app.query.present import Row
from app.query.protocol import make_protocol
from app.query.reading import Reading
from app.query.side_by_side import FUSED, Column, Entry
from corpus.document import Document, Passage
from corpus.judging import Judgment, Project, Topic
from store.errors import BadInput
from store.similar import Similar

HOSTILE = (
    "</mark></p><script>alert(1)</script><img src=x onerror=alert(1)>"
    '"><a href="javascript:alert(1)">x</a> **b** :red[c] `d` $e$ & &lt;'
)
OURS = {
    *("article", "div", "span", "a", "p", "mark", "i", "style", "section", "h1", "h2", "h3", "b"),
    *("ol", "ul", "li", "small", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd"),
    *("progress", "code"),
}


class Elements(HTMLParser):
    """Collects the elements, the links and the text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.names: list[str] = []
        self.links: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.open.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(html: str) -> Elements:
    found = Elements(html)
    assert found.open == []
    assert set(found.names) <= OURS
    assert not [name for name in found.attributes if name.startswith("on")]
    assert all(target.startswith(("document", "./", "judge")) for target in found.links)
    return found


def hit(*parts: Part, rank: int = 1) -> FusedHit:
    return FusedHit(HOSTILE, rank, parts)


LEXICAL = Contribution("lexical", 1, Fraction(1), Fraction(1, 61))
SEMANTIC = Contribution("semantic", 4, Fraction(1), Fraction(1, 64))


def document(text: str = HOSTILE) -> Document:
    return Document(
        text,
        1,
        "0" * 64,
        text,
        text,
        "text/plain",
        (text, text),
        "2026-01-01",
        tags=(text,),
        author=text,
        dated=text,
    )


def passage(text: str = HOSTILE) -> Passage:
    return Passage(f"{text}@1#00000", text, 1, 0, len(text), text, 3, (text, text))


SIMILAR = (Similar(document(), 99, 110),)


def entry(*parts: Part) -> Row:
    snippet = Snippet(HOSTILE, 0, ((2, 6), (10, 20)))
    several = tuple(
        Extract(passage(), snippet, earned=earned, first=not earned) for earned in (True, False)
    )
    extracts = several if len(parts) > 1 and isinstance(parts[1], Contribution) else ()
    return Row(hit(*parts), document(), passage(), snippet, SIMILAR, extracts)


def to(doc_id: str, passage_id: str) -> str:
    return document_link(doc_id, passage_id, Address(q=HOSTILE), "Ana")


@pytest.mark.parametrize("module", [address, markup, result_markup, reading_markup])
def test_examples_in_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@given(st.text(), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6))
def test_marked_text_reads_as_the_text_and_holds_only_marks(
    text: str, pairs: list[tuple[int, int]]
) -> None:
    text = text.replace("\r", "").replace("\0", "")
    marks: list[tuple[int, int]] = []
    for start, end in sorted(pairs):
        if (not marks or start >= marks[-1][1]) and start < end <= len(text):
            marks.append((start, end))
    found = checked(markup.marked(text, marks))
    assert found.text == text
    assert found.names == ["mark"] * len(marks)


def test_rows_lists_tables_and_documents_hold_no_element_of_a_document() -> None:
    """sec-02"""
    absent = Absence("semantic", Reason.BELOW_DEPTH, 100)
    rows = [entry(LEXICAL, SEMANTIC), entry(LEXICAL, absent)]
    reading = Reading(
        document(), 1, passage(), 1, 3, HOSTILE, HOSTILE, (5, 9), "a", "b", "", SIMILAR
    )
    one = Entry(HOSTILE, document(), "p", {"lexical": 1, FUSED: 1})
    lists = (
        Column("lexical", (one,), 1, 100),
        Column(FUSED, (one,), 1),
        Column("semantic", (), 0, 100, False, HOSTILE),
    )
    topic = Topic("t", HOSTILE, HOSTILE + "need", "Ana", "dev")
    label = Judgment("t", HOSTILE, 1, 3, HOSTILE, "2026", 1, True, note=HOSTILE)
    judged = agreement([label, replace(label, judge="Bo", grade=0)])
    for html in (
        *(result_markup.row(row, to) for row in rows),
        result_markup.why_table(rows, to),
        result_markup.side_by_side(lists, to),
        reading_markup.document_head(reading, to),
        reading_markup.reading(reading, lambda text: ((0, 7),) if text else ()),
        judge_markup.judged_document(reading, whole=False),
        judge_markup.judged_document(reading, whole=True),
        judge_markup.need(topic),
        judge_markup.topics_head(Project(HOSTILE), [], 1),
        judge_markup.topic_row(topic, None),
        judge_markup.change([f"-{HOSTILE}", f"+{HOSTILE}"]),
        judge_markup.before(HOSTILE, label, [HOSTILE]),
        judge_markup.finished(Queue("seed", (), {}), topic),
        judge_markup.agreement(HOSTILE, judged),
        *(
            judge_markup.disagreement_row(one, topic, HOSTILE, seen=seen, notes={HOSTILE: HOSTILE})
            for one in judged.disagreements
            for seen in (True, False)
        ),
        markup.notices([HOSTILE]),
        markup.state(HOSTILE, HOSTILE),
        markup.signed_in(HOSTILE),
        markup.examples([topic], "Ana"),
        markup.status(
            1,
            2,
            make_protocol(),
            Address(
                lang=HOSTILE,
                type=HOSTILE,
                folder=HOSTILE,
                tag=HOSTILE,
                code=HOSTILE,
                since=HOSTILE,
                until=HOSTILE,
            ),
        ),
    ):
        found = checked(html)
        assert "alert(1)" in found.text


def test_row_shows_rank_parts_and_exact_sum() -> None:
    found = checked(result_markup.row(entry(LEXICAL, SEMANTIC), to))
    assert "L 1" in found.text
    assert "S 4" in found.text
    assert "1/61 + 1/64 = 125/3904 ≈ 0.0320" in found.text
    assert "p. 3" in found.text


def test_a_document_like_another_names_it_with_its_place_where_the_titles_are_equal() -> None:
    def pump(place: str) -> Document:
        return Document(place, 1, "0" * 64, "Pump", "en", "t", (place,), "")

    others = [Similar(pump("b.md"), 999, 1000), Similar(document("Valve"), 5, 5)]
    found = checked(markup.similar_to(pump("a.md"), others, to))
    assert found.text == (
        "similar to Pump, b.md (99 % the same wording), Valve (100 % the same wording)"
    )
    assert len(found.links) == 2
    assert markup.similar_to(pump("a.md"), [], to) == ""


@pytest.mark.parametrize(
    ("absent", "words"),
    [
        (Absence("semantic", Reason.BELOW_DEPTH, 100), "— S not in the top 100"),
        (Absence("lexical", Reason.NOT_MATCHED, 100), "— L matches too little by words"),
        (Absence("semantic", Reason.UNAVAILABLE, 100), "— S could not answer"),
    ],
)
def test_absence_is_said_in_words(absent: Absence, words: str) -> None:
    part = SEMANTIC if absent.system == "lexical" else LEXICAL
    assert words in checked(result_markup.row(entry(part, absent), to)).text


def test_bar_is_as_long_as_the_shares() -> None:
    html = result_markup.bar(hit(LEXICAL, SEMANTIC))
    assert "flex-grow:0.5120" in html
    assert "lexical 51.2 %, semantic 48.8 %" in html


def test_a_title_that_two_documents_share_comes_with_its_place() -> None:
    def column(*names: str) -> Column:
        places = [Document(name, 1, "0" * 64, "Pump", "en", "t", (name,), "") for name in names]
        entries = tuple(
            Entry(place.doc_id, place, "p", {FUSED: rank})
            for rank, place in enumerate(places, start=1)
        )
        return Column(FUSED, entries, len(entries))

    assert "rev2.md" in checked(result_markup.side_by_side([column("rev2.md", "b.md")], to)).text
    assert "rev2.md" not in checked(result_markup.side_by_side([column("rev2.md")], to)).text


def test_status_says_when_a_newer_version_is_not_served() -> None:
    protocol = make_protocol(k="60.5", weights={"lexical": "0.1"}, unit="passage")
    text = checked(markup.status(1, 2, protocol, Address(lang="es", folder="pumps"))).text
    assert "Version 1, not the newest, which is 2" in text
    assert f"protocol {protocol.short_hash}" in text
    assert "k 121/2" in text
    assert "weights 1/10:1" in text
    assert "one rank per passage" in text
    assert "below pumps" in text


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
addresses = st.builds(
    Address, q=texts, k=texts, dl=texts, ds=texts, wl=texts, ws=texts, lang=texts, folder=texts
)


@given(addresses)
def test_an_address_is_read_as_it_was_written(written: Address) -> None:
    assert read_address({"as": "Ana", "doc": "x", **written.parameters()}) == written


def test_only_what_differs_from_the_default_is_in_an_address() -> None:
    assert Address(q="pump", k="60", dl="50").parameters() == {"q": "pump", "dl": "50"}


def test_an_address_makes_the_protocol_and_scope_it_names() -> None:
    asked = Address(q="x", k="0.1", dl="7", ws="1/4", unit="passage", lang="es,en", folder="/a/")
    assert asked.protocol() == make_protocol(
        k="0.1", depths={"lexical": 7}, weights={"semantic": "1/4"}, unit="passage"
    )
    assert asked.scope.languages == ("es", "en")
    assert asked.scope.folder == "a"
    assert Address().scope == read_address({"view": "nonsense"}).scope


@pytest.mark.parametrize(
    "wrong",
    [Address(dl="ten"), Address(ds="0"), Address(k="-1"), Address(wl="0"), Address(unit="x")],
)
def test_an_address_with_an_impossible_protocol_is_refused(wrong: Address) -> None:
    with pytest.raises(BadInput):
        wrong.protocol()


@pytest.mark.parametrize(("n", "shown"), [("20", 20), ("", 10), ("-3", 10), ("0", 10), ("²", 10)])
def test_a_number_of_rows_that_is_none_means_the_first_ten(n: str, shown: int) -> None:
    assert Address(n=n).shown == shown


def test_links_keep_ids_with_spaces_accents_and_signs() -> None:
    assert link("document", [("doc", "notas de turno/ñ & más#1.txt")]) == (
        "document?doc=notas+de+turno%2F%C3%B1+%26+m%C3%A1s%231.txt"
    )
