"""The screens, run without a browser over real archives."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.pages.result_markup import exact_sum
from app.pages.what_if_markup import MOST_SWAPS
from app.query.protocol import make_protocol
from app.query.swaps import Kind
from app.query.what_if import what_if
from corpus.judging import Judgment, Topic
from corpus.pools import Pool, PoolEntry
from store.archive import ARCHIVE_VARIABLE, Archive
from store.catalogue import Catalogue
from store.generations import current_generation
from store.judging import add_judgments, add_topics, judgments, topics
from store.pools import add_pools, pools
from tests.conftest import Workplace

SCRIPT = Path(__file__).parents[1] / "app" / "streamlit_app.py"
QUERY = "gland screws"
TOPIC = Topic("t1", "gland torque", "The torque of the gland screws.", "Ana", "dev")


def fill(workplace: Workplace) -> None:
    """Fourteen small documents in two languages, and one topic."""
    workplace.write("pumps/gland.md", "# Gland of PX-310\n\nTighten the gland screws to 16 N·m.")
    workplace.write(
        "bombas/prensa.md", "# Prensaestopas\n\nApretar los tornillos del prensaestopas."
    )
    for number in range(12):
        workplace.write(f"notes/{number:02}.txt", f"Shift note {number}: the conveyor stopped.")
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        add_topics(catalogue, [TOPIC])


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    folder = tmp_path_factory.mktemp("once")
    made = Workplace(folder / "files", Archive(folder / "archive"), tiny_encoder)
    made.files.mkdir()
    fill(made)
    return made


@pytest.fixture
def archive(
    made_once: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Workplace]:
    """A copy of the archive for one test, and the variable that leads the screens there."""
    shutil.copytree(made_once.archive.root, tmp_path / "copy")
    monkeypatch.setenv(ARCHIVE_VARIABLE, str(tmp_path / "copy"))
    yield Workplace(made_once.files, Archive(tmp_path / "copy"), made_once.encoder)


@pytest.fixture
def growing(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """The same, with files of its own that a test may change."""
    fill(workplace)
    monkeypatch.setenv(ARCHIVE_VARIABLE, str(workplace.archive.root))
    return workplace


def opened(page: str = "search", **parameters: str) -> AppTest:
    """A new session on a page, as from a link."""
    app = AppTest.from_file(SCRIPT, default_timeout=120)
    if page != "search":
        # The pages are known after a run, and who is signed in is read by the first one.
        app.query_params.update({"as": parameters.get("as", "")})
        app.run()
        app.switch_page(f"pages/{page}.py")
    app.query_params = dict(parameters)
    return shown(app.run())


def shown(app: AppTest) -> AppTest:
    assert list(app.exception) == []
    return app


def body(app: AppTest) -> str:
    """Everything the screens drew themselves, but the style sheet."""
    return "\n".join(unescape(e.value) for e in app.html if not e.value.startswith("<style>\n"))


def order(text: str) -> list[str]:
    """The places of the rows, from the first to the last."""
    return re.findall(r'class="cp-place" title="([^"]*)"', text)


def click(app: AppTest, key: str) -> AppTest:
    matching = [button for button in app.button if str(button.key).startswith(key)]
    assert len(matching) == 1, [button.key for button in app.button]
    return shown(matching[0].click().run())


def ask(app: AppTest, query: str) -> AppTest:
    """Ask in an open session, by the address as a link or Back does.

    The box itself is drawn by a browser only; test_browser.py types in it.
    """
    app.query_params["q"] = query
    return shown(app.run())


def labels(archive: Archive) -> list[Judgment]:
    with Catalogue(archive) as catalogue:
        return judgments(catalogue)


# -- search ------------------------------------------------------------------------------------


def test_a_misspelt_word_is_announced_and_its_correction_is_one_link_away(
    archive: Workplace,
) -> None:
    text = body(opened(q="glnad screws"))
    assert "No document has <em>glnad</em>" in text
    assert 'href="./?q=gland+screws"' in text
    applied = opened(q="glnad screws", corrections="apply")
    text = body(applied)
    assert "No document has glnad; gland was searched instead." in text
    assert 'href="./?q=glnad+screws"' in text
    assert "corrections apply" in text
    assert order(text)[0] == "pumps/gland.md"


def test_the_beginning_of_a_code_or_title_leads_to_what_begins_so(archive: Workplace) -> None:
    text = body(opened(q="PX-3"))
    assert 'Begins so: <a class="cp-meant" href="./?q=PX-310"' in text
    assert 'href="./?q=Prensaestopas"' in body(opened(q="prensa"))
    assert "Begins so" not in body(opened(q=QUERY))


def test_the_first_page_says_version_protocol_and_what_can_be_done(archive: Workplace) -> None:
    text = body(opened())
    assert "Version 1, in force" in text
    assert f"protocol {make_protocol().short_hash}" in text
    assert "14 documents" in text
    assert "Type a part code" in text


def test_a_search_shows_ten_rows_with_parts_and_more_on_request(archive: Workplace) -> None:
    app = ask(opened(), QUERY)
    assert app.query_params == {"q": QUERY}
    text = body(app)
    assert text.count("<article") == 10
    assert "Gland of PX-310" in text
    assert "1/61" in text
    assert "matches too little by words" in text
    assert "14 candidates: 1 lexical, 14 semantic, 1 in both" in text
    first = order(text)
    click(app, "more")
    assert app.query_params["n"] == "20"
    more = order(body(app))
    assert len(more) == 14
    assert more[:10] == first


def test_a_link_reproduces_query_protocol_scope_and_view(archive: Workplace) -> None:
    app = opened(q=QUERY, k="1/2", dl="3", ws="2", lang="es", folder="bombas", view="Why")
    text = body(app)
    protocol = make_protocol(k="1/2", depths={"lexical": 3}, weights={"semantic": 2})
    assert f"protocol {protocol.short_hash}" in text
    assert "below bombas" in text
    assert "cp-why" in text
    assert "Prensaestopas" in text
    assert "PX-310" not in text
    assert app.text_input(key="ask-k").value == "1/2"
    assert app.multiselect(key="ask-lang").value == ["es"]


def test_what_if_shows_the_swaps_depths_and_weights_that_the_query_layer_computes(
    archive: Workplace,
) -> None:
    text = body(opened(q=QUERY, view="What if"))
    record = archive.search(QUERY).record
    answer = what_if(record.rankings, record.protocol, record.fused, 10)
    assert text.count(" ◂ here") == 1 + len(record.protocol.systems)
    for span in answer.by_k:
        assert str(span) in text
    for name, steps in answer.by_depth.items():
        assert f"{name} read to another depth" in text
        assert all(f"<td>{step.depth}</td>" in text for step in steps)
    swaps = [
        meeting
        for one in answer.comparisons
        for meeting in one.meetings
        if meeting.kind is Kind.SWAP
    ]
    assert text.count(" ahead; k = ") == min(len(swaps), MOST_SWAPS)
    assert "no threshold carries over" in text


def test_the_why_view_says_why_any_document_is_not_here(archive: Workplace) -> None:
    app = opened(q=QUERY, view="Why", dl="1", ds="1")
    shown(app.text_input(key="why-not").set_value("no such document").run())
    assert "has no document 'no such document'" in body(app)
    deep = archive.search(QUERY).record
    shallow = archive.search(QUERY, depths={"lexical": 1, "semantic": 1}).record
    absent = next(h for h in deep.fused if h.id not in {one.id for one in shallow.fused})
    shown(app.text_input(key="why-not").set_value(absent.id).run())
    assert "It is in no list" in body(app)
    shown(app.text_input(key="why-not").set_value(shallow.fused[0].id).run())
    assert "It is rank 1" in body(app)


def test_a_changed_setting_is_in_the_address_and_changes_the_answer(archive: Workplace) -> None:
    app = opened(q=QUERY)
    shown(app.text_input(key="ask-k").set_value("0").run())
    assert app.query_params == {"q": QUERY, "k": "0"}
    assert f"protocol {make_protocol(k=0).short_hash}" in body(app)
    first = archive.search(QUERY, k="0").record.fused[0]
    assert exact_sum(first) in body(app)
    shown(app.button_group(key="ask-unit").set_value("passage").run())
    assert "one rank per passage" in body(app)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("ask-k", "sixty", "k is a number from 0"),
        ("ask-dl", "ten", "The depth of lexical is a whole number"),
        ("ask-ws", "0", "The weight of semantic is above 0"),
    ],
)
def test_an_impossible_setting_is_one_sentence_and_can_be_mended(
    archive: Workplace, field: str, value: str, sentence: str
) -> None:
    app = opened(q=QUERY)
    good = app.text_input(key=field).value
    shown(app.text_input(key=field).set_value(value).run())
    assert sentence in body(app)
    assert "<article" not in body(app)
    shown(app.text_input(key=field).set_value(good).run())
    assert "<article" in body(app)


def test_side_by_side_shows_three_lists_and_how_far_they_go(archive: Workplace) -> None:
    text = body(opened(q=QUERY, ds="5", view="Side by side"))
    assert text.count("<section") == 3
    assert "depth 100, 1 found, exhausted: it has no more" in text
    assert "depth 5, 5 found, cut there: it has more" in text
    assert "cp-lone" in text


def test_a_query_without_words_and_an_empty_scope_say_so(archive: Workplace) -> None:
    assert "no word or code in this query" in body(opened(q="de la"))
    app = opened(q=QUERY, folder="nowhere")
    assert "Nothing was found" in body(app)
    assert "inside these filters" in body(app)
    click(app, "clear")
    assert app.query_params == {"q": QUERY}
    assert "<article" in body(app)


def test_filters_by_type_and_code_are_widgets_of_the_address(archive: Workplace) -> None:
    app = opened(q=QUERY, type="markdown", code="px310")
    text = body(app)
    assert "type markdown" in text
    assert "holding px310" in text
    assert order(text) == ["pumps/gland.md"]
    assert app.multiselect(key="ask-type").value == ["markdown"]
    shown(app.text_input(key="ask-code").set_value("").run())
    assert app.query_params == {"q": QUERY, "type": "markdown"}
    assert set(order(body(app))) == {"pumps/gland.md", "bombas/prensa.md"}
    shown(app.multiselect(key="ask-type").set_value(["text"]).run())
    assert len(order(body(app))) == 10
    assert "These filters cannot be used" in body(opened(q=QUERY, type="sheet music"))


def test_counts_are_said_to_be_of_the_candidates_and_lead_to_their_filter(
    archive: Workplace,
) -> None:
    text = body(opened(q=QUERY, n="10"))
    assert "Of the 14 candidates:" in text
    links = re.findall(r'<a class="" href="([^"]*)" target="_self">([^<]*)</a> (\d+)', text)
    found = {name: (link, int(count)) for link, name, count in links}
    assert found["notes"][1] == 12
    assert found["markdown"][1] == 2
    assert found["notes"][0] == "./?q=gland+screws&folder=notes"
    narrowed = body(opened(q=QUERY, folder="notes"))
    assert "Of the 12 candidates:" in narrowed
    assert "Of the" not in body(opened(q=QUERY, folder="nowhere"))


def test_settings_are_as_they_were_after_another_page(archive: Workplace) -> None:
    """ui-01"""
    asked = {"q": QUERY, "k": "7", "ws": "1/4", "dl": "9", "lang": "en", "n": "20"}
    app = opened(**asked)
    app.query_params.clear()  # as the navigation bar does
    shown(app.switch_page("pages/judge.py").run())
    app.query_params.clear()
    shown(app.switch_page("pages/search.py").run())
    assert app.query_params == asked
    assert app.text_input(key="ask-ws").value == "1/4"
    assert "<article" in body(app)


def test_back_to_the_empty_page_stays_there(archive: Workplace) -> None:
    app = opened(q=QUERY)
    app.query_params.clear()  # as the browser's Back does
    shown(app.run())
    assert app.query_params == {}
    assert "Type a part code" in body(app)


def test_a_new_version_is_served_at_the_next_search_without_restart(growing: Workplace) -> None:
    """ui-02"""
    app = opened(q=QUERY)
    assert "Version 1, in force" in body(app)
    growing.write("pumps/new.md", "# New gland\n\nThe gland screws of PX-400 have changed.")
    growing.ingest()
    ask(app, f"{QUERY} PX-400")
    assert "Version 2, in force" in body(app)
    assert "New gland" in body(app)


def test_a_search_is_kept_once_however_often_the_page_is_drawn(archive: Workplace) -> None:
    app = opened(q=QUERY, **{"as": "Ana"})
    shown(app.button_group(key="ask-view").set_value("Why").run())
    shown(app.run())
    with Catalogue(archive.archive) as catalogue:
        kept = list(catalogue.database.query("SELECT searcher FROM searches"))
    assert kept == [{"searcher": "Ana"}]


# -- labels ------------------------------------------------------------------------------------


def test_who_is_not_signed_in_is_told_how_to_label(archive: Workplace) -> None:
    app = opened(q=QUERY)
    assert "Sign in to label" in body(app)
    assert [group.key for group in app.button_group if str(group.key).startswith("label-")] == []


def test_a_label_is_stored_at_the_click_and_survives_reload_and_ingest(growing: Workplace) -> None:
    app = opened(q=QUERY)
    app.text_input(key="typed-name-corner").set_value(" Ana  María ")
    click(app, "FormSubmitter:sign-in-corner")
    assert app.query_params == {"q": QUERY, "as": "Ana María"}
    key = "label-pumps/gland.md"
    shown(app.button_group(key=key).set_value(2).run())
    shown(app.button_group(key=key).set_value(3).run())
    stored = labels(growing.archive)
    assert [label.grade for label in stored] == [2, 3]
    assert {label.judge for label in stored} == {"Ana María"}
    assert {(label.doc_id, label.revision) for label in stored} == {("pumps/gland.md", 1)}
    assert {label.blind for label in stored} == {False}
    assert {label.protocol for label in stored} == {make_protocol().hash}
    assert stored[0].passage_id == "pumps/gland.md@1#00000"

    assert body(app).count("stored") == 1

    reloaded = opened(**dict(app.query_params))
    assert reloaded.button_group(key=key).value == 3
    other = opened(q="  GLAND   screws ", **{"as": "Bo"})
    assert other.button_group(key=key).value is None

    growing.write("pumps/gland.md", "# Gland of PX-310\n\nTighten the gland screws to 15 N·m.")
    growing.ingest()
    again = opened(**dict(app.query_params))
    assert again.button_group(key=key).value == 3
    assert "stored for rev 1" in body(again)


def test_a_name_that_cannot_be_used_is_one_sentence(archive: Workplace) -> None:
    app = opened(q=QUERY)
    app.text_input(key="typed-name-corner").set_value("![x](http://x)")
    click(app, "FormSubmitter:sign-in-corner")
    assert "A name is written with letters" in body(app)
    assert app.query_params == {"q": QUERY}
    assert "![x]" not in body(opened(q=QUERY, **{"as": "![x](http://x)"}))


def test_signing_out_forgets_the_name(archive: Workplace) -> None:
    app = opened(q=QUERY, **{"as": "Ana"})
    assert "Ana" in body(app)
    click(app, "sign-out")
    assert app.query_params == {"q": QUERY}
    assert "Sign in to label" in body(app)


def test_a_near_duplicate_is_marked_in_the_list_and_on_its_page(growing: Workplace) -> None:
    """ing-20"""
    text = "# Gland of PX-310\n\nTighten the gland screws to 16 N·m."
    growing.write("pumps/gland-copy.md", text.replace("Gland", "GLAND", 1))
    growing.ingest()
    mark = "similar to GLAND of PX-310</a>"
    shown_at = body(opened(q=QUERY))
    assert shown_at.count("similar to ") == 2
    assert mark in re.sub(r"<a [^>]*>", "", shown_at)
    page = body(opened("document", doc="pumps/gland.md", q=QUERY))
    assert mark in re.sub(r"<a [^>]*>", "", page)
    assert "(100 % the same wording)" in page
    assert "document?doc=pumps%2Fgland-copy.md" in page


# -- document ----------------------------------------------------------------------------------


def test_a_document_is_opened_at_its_passage(archive: Workplace) -> None:
    app = opened("document", doc="pumps/gland.md", passage="pumps/gland.md@1#00000", q=QUERY)
    text = body(app)
    assert "Gland of PX-310" in text
    assert 'class="cp-passage"' in text
    assert "<mark>gland</mark>" in text
    assert "pumps/gland.md@1#00000" in app.code[0].value


def test_a_document_that_is_not_there_is_a_state_of_the_page(archive: Workplace) -> None:
    assert "There is no such document" in body(opened("document", doc="nothing.md"))
    assert "names no document" in body(opened("document"))


# -- judge -------------------------------------------------------------------------------------


def judging() -> AppTest:
    return opened("judge", topic="t1", **{"as": "Ana"})


def test_judging_needs_a_name(archive: Workplace) -> None:
    app = opened("judge")
    assert "Sign in to judge" in body(app)
    app.text_input(key="typed-name-page").set_value("Ana")
    click(app, "FormSubmitter:sign-in-page")
    assert "You have judged 0 of 0 documents in 0 topics. 1 more have no pool yet." in body(app)
    click(app, "open-0")
    assert app.query_params == {"topic": "t1", "as": "Ana"}
    assert TOPIC.need in body(app)
    click(app, "all")
    assert "You have judged 0 of 14 documents in 1 topics." in body(app)
    click(app, "judge-next")
    assert app.query_params == {"topic": "t1", "as": "Ana"}


def test_what_is_judged_says_nothing_of_rank_engine_score_or_place(archive: Workplace) -> None:
    with Catalogue(archive.archive) as catalogue:
        places = {path for document in catalogue.documents(1) for path in document.locations}
    app = judging()
    for _ in range(14):
        text = body(app)
        assert not [path for path in places if path in text]
        for word in ("lexical", "semantic", "fused", "rank", "score", "1/61", "href", "sha256"):
            assert word not in text
        assert not [b.key for b in app.button for path in places if path in str(b.key)]
        click(app, "later")


def test_labels_are_stored_blind_one_after_another_until_all_are_done(archive: Workplace) -> None:
    app = judging()
    for number in range(14):
        assert f"{number} of 14" in body(app)
        click(app, f"grade-{number % 4}")
        assert len(labels(archive.archive)) == number + 1
    stored = labels(archive.archive)
    assert len({label.doc_id for label in stored}) == 14
    assert {(label.blind, label.protocol, label.topic_id) for label in stored} == {(True, "", "t1")}
    text = body(app)
    assert "You have judged all 14 documents of this topic: 3 × 3, 3 × 2, 4 × 1, 4 × 0." in text
    assert "no topic left" in text
    assert "You have judged all 14" in body(judging())


def test_undo_withdraws_the_last_label_and_shows_its_document_again(archive: Workplace) -> None:
    app = judging()
    click(app, "grade-0")
    click(app, "grade-1")
    assert "2 of 14" in body(app)
    click(app, "undo")
    assert "1 of 14" in body(app)
    assert "Your label is" not in body(app)
    click(app, "undo")
    assert "0 of 14" in body(app)
    click(app, "grade-3")
    stored = labels(archive.archive)
    assert [(label.grade, label.withdrawn) for label in stored] == [
        (0, False),
        (1, False),
        (None, True),
        (None, True),
        (3, False),
    ]
    assert stored[4].doc_id == stored[3].doc_id == stored[0].doc_id
    assert stored[2].doc_id == stored[1].doc_id
    assert "1 of 14" in body(app)


def test_a_note_is_stored_with_the_label_and_the_seed_of_the_order(archive: Workplace) -> None:
    app = judging()
    (note,) = [field for field in app.text_input if str(field.key).startswith("note-")]
    note.set_value(" see  p. 3 ")
    click(app, "grade-2")
    (stored,) = labels(archive.archive)
    assert (stored.note, stored.grade) == ("see p. 3", 2)
    assert f"seed {stored.seed}" in body(app)


def test_a_label_keeps_the_text_of_the_topic_that_was_read(archive: Workplace) -> None:
    app = judging()
    with Catalogue(archive.archive) as catalogue:
        add_topics(catalogue, [replace(TOPIC, need="Something else.")])
    click(app, "grade-2")
    click(app, "grade-2")
    assert [label.topic_revision for label in labels(archive.archive)] == [1, 2]


def test_what_is_put_off_comes_last_also_after_a_reload(archive: Workplace) -> None:
    app = judging()
    first = re.findall(r'class="cp-h2">([^<]*)', body(app))
    click(app, "later")
    for _ in range(13):
        assert re.findall(r'class="cp-h2">([^<]*)', body(app)) != first
        click(app, "grade-1")
        app = judging()
    assert re.findall(r'class="cp-h2">([^<]*)', body(app)) == first


def test_who_else_judged_is_told_after_judging_and_never_what_they_gave(
    archive: Workplace,
) -> None:
    bo = opened("judge", topic="t1", **{"as": "Bo"})
    for _ in range(14):
        click(bo, "grade-3")
    app = judging()
    assert "Bo" not in body(app)
    click(app, "grade-1")
    assert "Stored: 1 for" in body(app)
    assert "also judged by Bo" in body(app)
    assert "3 × 3" not in body(app)


def test_an_unrateable_document_needs_a_reason(archive: Workplace) -> None:
    app = judging()
    click(app, "why-")
    click(app, "FormSubmitter:unrateable")
    assert labels(archive.archive) == []
    app.text_input(key="reason").set_value(" page  is torn ")
    click(app, "FormSubmitter:unrateable")
    (stored,) = labels(archive.archive)
    assert (stored.grade, stored.reason) == (None, "page is torn")
    assert "1 of 14" in body(app)


def test_a_click_that_arrives_late_cannot_label_the_next_document(archive: Workplace) -> None:
    app = judging()
    keys = {button.key for button in app.button if str(button.key).startswith("grade-")}
    click(app, "grade-2")
    after = {button.key for button in app.button if str(button.key).startswith("grade-")}
    assert keys.isdisjoint(after)


def test_a_label_of_an_older_revision_is_offered_to_be_confirmed(growing: Workplace) -> None:
    app = judging()
    for _ in range(14):
        click(app, "grade-1")
    growing.write("pumps/gland.md", "# Gland of PX-310\n\nTighten the gland screws to 15 N·m.")
    growing.ingest()
    app = judging()
    assert "13 of 14" in body(app)
    assert "You gave 1 to revision 1 of this document, which is now at revision 2" in body(app)
    assert "What changed" in body(app)
    assert '<span class="cp-gone">-Tighten the gland screws to 16 N·m.</span>' in body(app)
    click(app, "confirm-")
    stored = labels(growing.archive)[-1]
    assert (stored.revision, stored.grade, stored.withdrawn) == (2, 1, False)
    assert "14 of 14" in body(app)


def test_a_label_of_an_older_revision_can_be_dropped(growing: Workplace) -> None:
    app = judging()
    for _ in range(14):
        click(app, "grade-1")
    growing.write("pumps/gland.md", "# Gland of PX-310\n\nTighten the gland screws to 15 N·m.")
    growing.ingest()
    app = judging()
    click(app, "drop-")
    assert labels(growing.archive)[-1].withdrawn
    assert "13 of 14" in body(app)
    assert "What changed" not in body(app)


def test_two_judges_disagree_and_a_third_settles_it_without_overwriting_anybody(
    archive: Workplace,
) -> None:
    for name, grade in (("Ana", 3), ("Bo", 0)):
        app = opened("judge", topic="t1", **{"as": name})
        for number in range(14):
            click(app, f"grade-{grade if number == 0 else 2}")
    given = labels(archive.archive)
    third = opened("judge", view="agreement", **{"as": "Cy"})
    text = body(third)
    assert "2 judges differ" in text
    assert "Ana 3" not in text
    ana = body(opened("judge", view="agreement", **{"as": "Ana"}))
    assert "weighted kappa, Ana and Bo" in ana
    assert re.search(r"Ana \d, Bo \d", ana)
    click(third, "settle-0")
    assert re.search(r"Ana \d, Bo \d", body(third))
    click(third, "settle-grade-1")
    assert "settled: 1" in body(third)
    assert labels(archive.archive)[:-1] == given
    last = labels(archive.archive)[-1]
    assert (last.role, last.grade, last.blind, last.judge) == ("adjudicator", 1, False, "Cy")
    assert "0 of 13" in body(opened("judge", topic="t1", **{"as": "Cy"}))


def test_what_a_reader_may_not_see_is_in_no_figure_and_no_list(growing: Workplace) -> None:
    growing.write("notes/00.txt.meta.toml", 'groups = ["board"]\n')
    growing.ingest()
    given = [
        Judgment("t1", "notes/00.txt", 1, grade, judge, "2026-11-30", 2, True)
        for judge, grade in (("Bo", 3), ("Cy", 0))
    ]
    with Catalogue(growing.archive) as catalogue:
        add_judgments(catalogue, given)
        made = Pool("default", "t1", 1, 2, 1, (), ("board",), "Di", "2026", (
            PoolEntry("notes/00.txt", 1, "notes/00.txt@1#00000"),
            PoolEntry("notes/01.txt", 1, "notes/01.txt@1#00000"),
        ))  # fmt: skip
        add_pools(catalogue, [made])
    text = body(opened("judge", view="agreement", **{"as": "Ana"}))
    assert "0 documents of topics have a grade" in text
    assert "No judges differ" in text
    assert "Bo" not in text
    assert "0 of 1 documents in 1 topics" in body(opened("judge", **{"as": "Ana"}))
    app = judging()
    assert "Shift note 1" in body(app)
    click(app, "grade-0")
    assert "Done" in body(app)


def test_a_search_becomes_a_topic_with_one_click(archive: Workplace) -> None:
    app = opened(q="conveyor stopped", **{"as": "Ana"})
    click(app, "make-topic")
    assert [b.key for b in app.button if b.key == "make-topic"] == []
    assert "2 more have no pool yet" in body(opened("judge", **{"as": "Ana"}))
    with Catalogue(archive.archive) as catalogue:
        made = [entry for entry in topics(catalogue) if entry != TOPIC]
    assert [(entry.query, entry.author) for entry in made] == [("conveyor stopped", "Ana")]


def test_agreement_of_nobody_is_an_answer(archive: Workplace) -> None:
    app = opened("judge", view="agreement", **{"as": "Ana"})
    assert "not defined" in body(app)
    assert "No judges differ" in body(app)


def test_a_project_has_grades_of_its_own_until_its_first_label(archive: Workplace) -> None:
    app = opened("judge", **{"as": "Ana"})
    app.text_input(key="sentence-3-of-default").set_value("It is *said*.")
    app.number_input(key="judges-of-default").set_value(1)
    app.text_input(key="name-of-default").set_value("pumps")
    click(app, "project-make")
    assert app.query_params == {"project": "pumps", "as": "Ana"}
    assert "Topics of project pumps" in body(app)
    click(app, "open-0")
    assert [b.label for b in app.button if "said" in b.label] == ["**3** It is \\*said\\*\\."]
    click(app, "grade-3")
    assert [label.project for label in labels(archive.archive)] == ["pumps"]
    click(app, "all")
    app.text_input(key="sentence-3-of-pumps").set_value("It is sung.")
    click(app, "project-save")
    assert "what its grades mean cannot change any more" in body(app)
    bo = opened("judge", topic="t1", project="pumps", **{"as": "Bo"})
    assert "0 of 13" in body(bo)
    assert "0 of 14" in body(opened("judge", topic="t1", **{"as": "Bo"}))


def test_pools_are_built_on_the_page_and_say_how_many_wait(archive: Workplace) -> None:
    app = opened("judge", **{"as": "Ana"})
    app.text_area(key="pool-protocols").set_value("default\nk=7,depth=50")
    app.number_input(key="pool-depth").set_value(2)
    app.text_area(key="pool-hand").set_value("notes/11.txt")
    click(app, "FormSubmitter:pools")
    text = body(app)
    found = re.search(r"Pools of 1 topics hold (\d+) documents, (\d+) of them not judged", text)
    assert found is not None
    assert found[1] == found[2]
    assert f"0 of {found[1]} documents in 1 topics" in text
    with Catalogue(archive.archive) as catalogue:
        (made,) = pools(catalogue, "default", "t1")
    assert (made.builder, made.depth, len(made.protocols)) == ("Ana", 2, 2)
    app.text_area(key="pool-protocols").set_value("k=x")
    app.multiselect(key="pool-topics").set_value(["t1"])
    click(app, "FormSubmitter:pools")
    assert "Nothing was stored: k is a number" in body(app)


def test_an_archive_without_topics_says_how_to_add_them(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workplace.write("a.txt", "alpha bearing")
    workplace.ingest()
    monkeypatch.setenv(ARCHIVE_VARIABLE, str(workplace.archive.root))
    app = opened("judge", **{"as": "Ana"})
    assert "There are no topics yet" in body(app)
    assert app.code[0].value == (
        f"python -m app topics import FILE.toml --archive {workplace.archive.root}"
    )


# -- what can be wrong -------------------------------------------------------------------------


def test_without_an_archive_the_page_says_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ui-07"""
    root = tmp_path / "none"
    monkeypatch.setenv(ARCHIVE_VARIABLE, str(root))
    app = opened(q=QUERY)
    assert "There is no archive here yet" in body(app)
    assert app.code[0].value == f"python -m indexer ingest PATH --archive {root}"
    assert not root.exists()


def test_without_a_generation_the_page_names_the_folders_to_ingest(archive: Workplace) -> None:
    """ui-07"""
    archive.archive.current.unlink()
    app = opened(q=QUERY)
    assert "There is nothing to search yet" in body(app)
    assert str(archive.files) in app.code[0].value
    assert app.code[0].value.endswith(f"--archive {archive.archive.root}")


@pytest.mark.parametrize(("part", "other"), [("semantic", "lexical"), ("lexical", "semantic")])
def test_with_one_engine_damaged_the_other_one_answers_and_labels_are_kept(
    archive: Workplace, part: str, other: str
) -> None:
    """ui-07"""
    folder = archive.archive.generations / current_generation(archive.archive) / part
    damaged = max(folder.iterdir(), key=lambda path: path.stat().st_size)
    content = damaged.read_bytes()
    damaged.write_bytes(content[: len(content) // 2])
    app = opened(q=QUERY, **{"as": "Ana"})
    assert f"The {part} engine is unavailable" in body(app)
    assert "Gland of PX-310" in body(app)
    assert "could not answer" in body(app)
    assert app.code[0].value.startswith("python -m indexer ingest")
    shown(app.button_group(key="label-pumps/gland.md").set_value(3).run())
    assert [label.grade for label in labels(archive.archive)] == [3]
    assert damaged.stat().st_size == len(content) // 2

    archive.ingest()
    ask(app, QUERY)
    assert "unavailable" not in body(app)


def test_with_a_damaged_manifest_the_page_stays_up_and_recovers(archive: Workplace) -> None:
    """ui-07"""
    folder = archive.archive.generations / current_generation(archive.archive)
    (folder / "manifest.json").write_text("{", encoding="utf-8")
    app = opened(q=QUERY)
    assert "The index is damaged" in body(app)
    assert app.code[0].value.startswith("python -m indexer ingest")
    archive.ingest()
    shown(app.run())
    assert "Gland of PX-310" in body(app)


def test_a_page_that_is_the_first_one_asked_for_is_drawn_inside_the_frame(
    archive: Workplace,
) -> None:
    """Streamlit would run it alone, as a script of a folder named ``pages``."""
    app = opened("judge")
    assert [block for block in app.text_input if block.key == "typed-name-corner"]


def test_tags_and_dates_filter_the_page_and_what_is_restricted_is_not_even_counted(
    growing: Workplace,
) -> None:
    growing.write(
        "pumps/gland.md.meta.toml", 'author = "Ana <b>"\ndate = 2024-02-29\ntags = ["pumps"]\n'
    )
    growing.write("notes/00.txt.meta.toml", 'groups = ["board"]\ntags = ["minutes"]\n')
    growing.ingest()
    assert "13 documents in 13 passages are searched" in body(opened())
    app = shown(opened(q=QUERY, tag="pumps", since="2024-02-29", until="2024-02-29"))
    assert "tagged pumps · since 2024-02-29 · until 2024-02-29" in body(app)
    assert order(body(app)) == ["pumps/gland.md"]
    assert "Ana <b> · 2024-02-29 · pumps" in body(app)
    tags = app.multiselect(key="ask-tag")
    assert tags.options == ["pumps"]
    assert "inside these filters" in body(opened(q=QUERY, since="2024-03-01", tag="x"))
    app = opened(q=QUERY, since="1/2/24")
    assert "These filters cannot be used" in body(app)
    assert "since is a day written as 2024-02-29, not '1/2/24'" in body(app).lower()
    document = body(opened("document", doc="pumps/gland.md"))
    assert "Ana <b>" in document
    assert "2024-02-29" in document
    assert "no document 'notes/00.txt'" in body(opened("document", doc="notes/00.txt"))


@pytest.mark.parametrize("page", ["search", "judge", "evaluate", "document"])
def test_no_text_of_the_source_is_written_on_a_page(archive: Workplace, page: str) -> None:
    """Streamlit writes out whatever stands alone in a script, unless it is told not to."""
    app = opened(page, q=QUERY, doc="pumps/gland.md")
    assert [written.value for written in app.markdown] == []
