"""What a reader may not see leaves no trace: every answer is that of an archive without it.

Two archives hold the same documents; one of them also holds documents of a group called board that
match perfectly, carry a code of their own, are a near miss, or resemble what everyone may read.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from app.query.context import make_context
from app.query.facets import facets
from app.query.present import result_data, rows
from app.query.protocol import make_protocol
from app.query.reading import read_document
from app.query.search import Engines, search
from app.query.suggest import suggest
from corpus.scope import Scope
from corpus.terms import read_query
from indexer.checking import verify
from store.archive import ARCHIVE_VARIABLE
from store.backend import View
from store.catalogue import Catalogue
from store.embedded import open_backend
from store.embedded.analysis import Fields, fields_of
from store.embedded.documents import Documents, Entry
from store.embedded.lexical import LexicalIndex
from store.embedded.segments import open_lexical, write_lexical
from store.errors import Damaged, UnknownDocument
from store.manifest import read_manifest, write_manifest
from store.tokens import token_counter
from tests.conftest import Workplace, make_workplace

SCRIPT = Path(__file__).parents[1] / "app" / "streamlit_app.py"
PERFECT = "purge the chiller before a restart"
OPEN = {
    "chiller.md": "# Chiller of HX-204\n\nDrain the chiller, then purge its header.\n\nThe pump "
    "of the chiller is restarted by the shift that runs it.",
    "manual.txt": "The gasket of HX-204 is inspected before each start. Whoever runs the shift "
    "looks for drops below the flange, wipes the seat with a dry cloth, and writes the hour into "
    "the book that hangs beside the door of the plant room.",
    "notes/pump.txt": "Pump PX-310/B: tighten the gland screws to 16 newton metres.",
    "notes/valve.txt": "The purge valve opens at 3 bar; restart the pump after a leak.",
    "notes/zeta.txt": "Perforated plates keep the header of the boiler clean.",
    "twin.txt": "Identical words about a gasket.",
    "twin2.txt": "Identical words about a gasket!",
    "válvula.txt": "La válvula de purga se abre a 3 bar; revisar la junta cada mes.",
}
STAFF = {
    "rota.txt": "The shift rota: who may restart the chiller at night.",
    "wages.txt": "The wages of the shift, and the purge allowance of PX-310/B.",
}
FORBIDDEN = {
    "a first.txt": f"How to {PERFECT}: {PERFECT}.",
    "board/code.txt": "The merger is filed under ZQ-7781/K and PX-31O/B, never HX-2O4.",
    "board/miss.txt": "A chiler is no chilller; the gasgket of the glnad purgde, pumo and pumq.",
    "board/same.txt": OPEN["manual.txt"] + " Not for the shift.",
    "notes/perfect.txt": "\n\n".join([f"Perfect: {PERFECT}."] * 4),
    "zz last.txt": "Identical words about a gasket. La válvula de purga, confidencial.",
}
TWICE = "These bytes lie at two places, for purge and restart."
READERS = ((), ("staff",), ("staff", "nobody"))
QUERIES = (
    PERFECT,
    "gasket",
    "válvula purga",
    "ZQ-7781/K",
    "HX-2O4",
    "PX-31O/B",
    "chiler",
    "gasgket of the glnad",
    "pumo",
    "pur* confid*",
    "zq* merger",
    '"purge the chiller"',
    "restart -perfect",
    "purge title:perfect",
    "purge path:board",
    "purge path:notes lang:en",
    "chiller code:HX-204",
    "merger",
    "identical words",
)
BEGINNINGS = ("zq", "px", "perf", "pur", "conf", "hx2", "the chil")
BY_CORPUS = {"generation", "record_id", "timings_ms"}
"""What a result says of the whole corpus, or of the clock."""


def restricted(workplace: Workplace, name: str, text: str, *groups: str) -> None:
    workplace.write(name, text)
    workplace.write(f"{name}.meta.toml", f"groups = {json.dumps(groups)}\n")


def filled(folder: Path, encoder: str, *, forbidden: bool) -> Workplace:
    """The archive, by one ingest; the files that are in both have one time."""
    workplace = make_workplace(folder, encoder)
    for name, text in OPEN.items():
        workplace.write(name, text)
    workplace.write("twin.txt.meta.toml", 'tags = ["twins"]\n')
    for name, text in STAFF.items():
        restricted(workplace, name, text, "staff")
    for name in (*OPEN, *STAFF):
        os.utime(workplace.files / name, (1_700_000_000, 1_700_000_000))
    if forbidden:
        for name, text in FORBIDDEN.items():
            restricted(workplace, name, text, "board")
        restricted(workplace, "board/twice.txt", TWICE, "board")
        restricted(workplace, "again/twice.txt", TWICE, "audit", "board")
    assert workplace.ingest().failed == []
    return workplace


@pytest.fixture(scope="module")
def pair(
    tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str
) -> tuple[Workplace, Workplace]:
    """An archive with what is forbidden, and one without."""
    return (
        filled(tmp_path_factory.mktemp("with"), tiny_encoder, forbidden=True),
        filled(tmp_path_factory.mktemp("without"), tiny_encoder, forbidden=False),
    )


def told(
    engines: Engines, catalogue: Catalogue, query: str, scope: Scope, **protocol: Any
) -> dict[str, Any]:
    """Everything a search tells its reader, and what it keeps of it."""
    result = search(engines, catalogue, query, make_protocol(**protocol), scope, keep=False)
    shown = rows(engines, catalogue, result, 0, len(result.record.fused))
    data = result_data(result, shown, facets(catalogue, result))
    counter = token_counter("words", "")
    view = engines.backend.for_reader(scope.groups)
    context = make_context(catalogue, view, result, counter, 60)
    kept = result.record.as_data()
    for name in ("corpus", "generation"):
        del kept["fingerprints"][name]
    said = {
        "snippets": [[extract.snippet for extract in row.extracts] for row in shown],
        "documents": [row.document for row in shown],
        "hits": [ranking.hits for ranking in result.record.rankings],
        "found": [[hit.found for hit in ranking.hits] for ranking in result.record.rankings],
        "counts": (result.record.manifest.documents, result.record.manifest.passages),
        "steps": sorted(result.timings_ms),
        "rules": result.rules,
        "folded": [(row.fold, row.folded) for row in shown],
        "context": [(block.rank, block.passages, block.text) for block in context.blocks],
        "left out": (context.left_out, context.untried, context.tokens),
    }
    answer = {**data, "kept": kept, "said": said}
    return {
        name: {key: value for key, value in part.items() if key not in BY_CORPUS}
        if isinstance(part, dict)
        else part
        for name, part in answer.items()
        if name not in BY_CORPUS
    }


@pytest.mark.parametrize("groups", READERS)
def test_every_answer_is_that_of_an_archive_without_what_is_forbidden(
    pair: tuple[Workplace, Workplace], groups: tuple[str, ...]
) -> None:
    engines = [Engines(workplace.archive) for workplace in pair]
    scopes = [Scope(groups=groups), Scope(groups=groups, folder="notes")]
    scopes += [
        Scope(groups=groups, codes=("HX-2O4", "HX-204")),
        Scope(groups=groups, tags=("twins",)),
    ]
    settled = (
        {},
        {"corrections": "apply"},
        {"group": "near duplicates"},
        {"unit": "passage", "depths": {"lexical": 2}},
    )
    for query in QUERIES:
        for scope in scopes:
            for protocol in settled if scope is scopes[0] else ({},):
                answers = []
                for workplace, opened in zip(pair, engines, strict=True):
                    with Catalogue(workplace.archive) as catalogue:
                        answers.append(told(opened, catalogue, query, scope, **protocol))
                assert answers[0] == answers[1], (query, scope, protocol)


@pytest.mark.parametrize("groups", READERS)
def test_nothing_that_is_completed_or_explained_differs(
    pair: tuple[Workplace, Workplace], groups: tuple[str, ...]
) -> None:
    engines = [Engines(workplace.archive) for workplace in pair]
    one, other = (opened.backend.for_reader(groups) for opened in engines)
    assert one.doc_ids == other.doc_ids
    assert set(one.doc_ids) == {*OPEN, *(STAFF if "staff" in groups else ())}
    for text in BEGINNINGS:
        found = []
        for workplace, opened in zip(pair, engines, strict=True):
            with Catalogue(workplace.archive) as catalogue:
                found.append(suggest(opened, catalogue, Scope(groups=groups), text))
        assert found[0] == found[1], text
        for ask in (View.words_beginning, View.codes_beginning):
            name = ask.__name__
            assert getattr(one, name)(text, 9, None) == getattr(other, name)(text, 9, None)
    for word in ("chiler", "glnad", "gasgket", "pumo", "purgde", "restrat"):
        assert one.near_words(word, None) == other.near_words(word, None)
    for code in ("HX-2O4", "PX-31O/B", "ZQ-778I/K"):
        assert one.near_codes(code, None) == other.near_codes(code, None)
    passages = [f"{doc_id}@1#00000" for doc_id in one.doc_ids]
    for query in map(read_query, QUERIES):
        assert one.matching_documents(query.asked) == other.matching_documents(query.asked)
        for name in passages:
            assert one.explain(query, name) == other.explain(query, name)
    with pytest.raises(UnknownDocument, match="has no passage"):
        one.explain(read_query(PERFECT), "notes/perfect.txt@1#00000")
    assert set(one.passages([*passages, "notes/perfect.txt@1#00000"])) == set(passages)


def test_a_forbidden_document_is_read_like_one_that_was_never_there(
    pair: tuple[Workplace, Workplace],
) -> None:
    for doc_id in (*FORBIDDEN, "board/twice.txt", "again/twice.txt", *OPEN, *STAFF):
        for groups in READERS:
            answers: list[object] = []
            for workplace in pair:
                with Catalogue(workplace.archive) as catalogue:
                    version = catalogue.versions()[-1]
                    try:
                        answers.append(read_document(catalogue, version, doc_id, groups=groups))
                    except UnknownDocument as error:
                        answers.append(str(error))
            assert answers[0] == answers[1]
            assert isinstance(answers[0], str) == (
                doc_id not in OPEN and not (doc_id in STAFF and "staff" in groups)
            )


def test_a_member_of_the_group_finds_what_is_there(pair: tuple[Workplace, Workplace]) -> None:
    with_it, without = pair
    scope = Scope(groups=("board",))
    record = with_it.search(PERFECT, scope).record
    assert record.fused[0].id in {"notes/perfect.txt", "a first.txt"}
    assert [hit.id for hit in with_it.search("ZQ-7781/K", scope).record.fused] == ["board/code.txt"]
    assert without.search("ZQ-7781/K", scope).record.rankings[0].hits == ()
    view = open_backend(with_it.archive).for_reader(("board",))
    assert set(view.doc_ids) - set(OPEN) >= set(FORBIDDEN)
    everyone = open_backend(with_it.archive).for_reader(("board", "staff"))
    assert len(everyone.doc_ids) == everyone.manifest.documents
    assert list(verify(with_it.archive)) == []
    with Catalogue(with_it.archive) as catalogue:
        version = catalogue.versions()[-1]
        read = read_document(catalogue, version, "board/same.txt", groups=("board",))
        assert [entry.document.doc_id for entry in read.similar] == ["manual.txt"]
        read = read_document(catalogue, version, "manual.txt")
        assert read.similar == ()


def drawn(workplace: Workplace, monkeypatch: pytest.MonkeyPatch, page: str, **asked: str) -> str:
    """What a page draws, but for how long it took."""
    monkeypatch.setenv(ARCHIVE_VARIABLE, str(workplace.archive.root))
    app = AppTest.from_file(SCRIPT, default_timeout=120)
    if page != "search":
        app.run()
        app.switch_page(f"pages/{page}.py")
    app.query_params = dict(asked)
    app.run()
    assert list(app.exception) == []
    parts = [unescape(element.value) for element in app.html]
    parts += [str(element.value) for element in (*app.caption, *app.code)]
    parts += [str(list(choice.options)) for choice in (*app.selectbox, *app.multiselect)]
    return re.sub(r"\d+ ms \([^)]*\)", "", "\n".join(parts))


def test_every_page_is_drawn_alike(
    pair: tuple[Workplace, Workplace], monkeypatch: pytest.MonkeyPatch
) -> None:
    for page, asked in (
        ("search", {}),
        ("search", {"q": PERFECT}),
        ("search", {"q": PERFECT, "view": "lists"}),
        ("search", {"q": "gasgket ZQ-7781/K"}),
        ("document", {"doc": "manual.txt"}),
        ("document", {"doc": "notes/perfect.txt"}),
    ):
        one, other = (
            drawn(workplace, monkeypatch, page, **asked).replace(str(workplace.archive.root), "")
            for workplace in pair
        )
        assert one == other, (page, asked)
        assert "Perfect" not in one


def test_a_view_answers_after_its_generation_was_removed(
    pair: tuple[Workplace, Workplace], tmp_path: Path
) -> None:
    """The files of a view that is put together are mapped, and no name of theirs is needed."""
    with_it, _ = pair
    copy = tmp_path / "archive"
    shutil.copytree(with_it.archive.root, copy)
    archive = type(with_it.archive)(copy)
    view = open_backend(archive).for_reader(("staff",))
    terms = read_query(f'{PERFECT} gasket "purge valve"')

    def answers() -> list[object]:
        hits = view.lexical(terms, 99, None, 0.35)
        accounts = [view.explain(terms, name) for name in hits.passage_ids]
        return [
            hits,
            accounts,
            view.near_words("gasgket", None),
            view.words_beginning("p", 9, None),
        ]

    before = answers()
    shutil.rmtree(archive.generations)
    assert answers() == before


def test_a_generation_of_the_format_before_is_named_and_built_again_without_encoding(
    workplace: Workplace,
) -> None:
    workplace.write("a.txt", "Tighten the gland.")
    workplace.ingest()
    folder = next(workplace.archive.generations.iterdir())
    path = folder / "manifest.json"
    body = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**body, "format": 2}), encoding="utf-8")
    with pytest.raises(Damaged, match=r"format 2, not 3.*python -m indexer ingest"):
        workplace.search("gland")
    report = workplace.ingest()
    assert (report.encoded, report.new_version) == (0, False)
    assert workplace.ids("gland", "lexical") == ["a.txt"]
    write_manifest(folder, read_manifest(folder))


# -- the lexical engine alone ------------------------------------------------------------------

VOCABULARY = ("pump", "pumps", "valve", "gasket", "HX-204", "AX-2041/B", "the", "leak", "motor")
Written = tuple[str, tuple[str, ...]]  # text, groups
written = st.lists(
    st.tuples(
        st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=12).map(" ".join),
        st.lists(st.sampled_from("xyz"), unique=True, max_size=2).map(lambda g: tuple(sorted(g))),
    ),
    min_size=1,
    max_size=14,
)


def fields(number: int, text: str) -> Fields:
    return fields_of(text, f"title {VOCABULARY[number % 3]}", ("leak",), "en")


def index_for(folder: Path, texts: Sequence[Written], groups: Sequence[str]) -> LexicalIndex:
    """The index of what a member of ``groups`` may read, out of one of all ``texts``."""
    documents = Documents(Entry(f"d{n:04}", 1, 1, who) for n, (_, who) in enumerate(texts))
    write_lexical(
        folder,
        (
            (
                (number, number, fields(number, texts[number][0]))
                for number in np.flatnonzero(documents.audience_of == audience).tolist()
            )
            for audience in range(len(documents.audiences))
        ),
    )
    return open_lexical(folder, documents.readable_by(groups))


def index_without(folder: Path, texts: Sequence[Written], groups: Sequence[str]) -> LexicalIndex:
    """An index in one piece of the same documents, with the same numbers, and no others."""
    permitted = [n for n, (_, who) in enumerate(texts) if not who or set(who) & set(groups)]
    write_lexical(folder, [((n, n, fields(n, texts[n][0])) for n in permitted)])
    return open_lexical(folder)


def ranked(index: LexicalIndex, query: str, total: int) -> list[tuple[float, int]]:
    found, scores, _ = index.search(read_query(query), total + 1, None, np.arange(total), 0.35)
    return sorted(zip((-scores).tolist(), found.tolist(), strict=True))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    written,
    st.lists(st.sampled_from("xyz"), unique=True),
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4, unique=True).map(" ".join),
)
def test_scores_are_those_of_an_index_of_the_permitted_documents(
    tmp_path_factory: pytest.TempPathFactory, texts: list[Written], groups: list[str], query: str
) -> None:
    folder = tmp_path_factory.mktemp("indexes")
    one = index_for(folder / "view", texts, groups)
    other = index_without(folder / "alone", texts, groups)
    assert one.passages == other.passages
    documents = np.arange(len(texts))
    for text in (query, f'"{query}"', VOCABULARY[0]):
        assert ranked(one, text, len(texts)) == ranked(other, text, len(texts))
        for number in documents:
            terms = read_query(text)
            assert one.explain(terms, number)["value"] == other.explain(terms, number)["value"]
    for beginning in ("p", "va", "hx", ""):
        for limit in (1, 2, 9):
            assert one.beginning(beginning, limit, None) == other.beginning(beginning, limit, None)
    for typed in ("pmup", "valev", "gaskte"):
        found = one.near_words(typed, None, documents)
        assert found == other.near_words(typed, None, documents)
    found = one.near_codes("HX-2O4", None, documents)
    assert found == other.near_codes("HX-2O4", None, documents)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.9])
def test_scores_are_exact_whatever_share_is_permitted(tmp_path: Path, share: float) -> None:
    random = np.random.default_rng(7)
    total = 1500
    texts = [
        (
            " ".join(random.choice(VOCABULARY, random.integers(3, 30))),
            () if random.random() < share else ("board",),
        )
        for _ in range(total)
    ]
    one = index_for(tmp_path / "view", texts, ())
    other = index_without(tmp_path / "alone", texts, ())
    for query in ("pump valve", "HX-204 leak", "the gasket of AX-2041/B", "motor", '"pump motor"'):
        found = ranked(one, query, total)
        assert found == ranked(other, query, total)
        assert 0 < len(found) <= one.passages < total


def test_a_lock_written_while_the_passing_folder_is_removed_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine may still watch an index that was just opened, and lock it at that instant."""
    fields = [fields_of("the pump valve", "", (), "en")]
    write_lexical(tmp_path / "lexical", [[(0, 0, fields[0])], [(1, 1, fields[0])]])
    passing = tmp_path / "passing"
    passing.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(passing))
    rmdir = os.rmdir

    def held(path: Any, **options: Any) -> None:
        if Path(os.fspath(path)).name.startswith("counterpoint-"):
            raise OSError(errno.ENOTEMPTY, "Directory not empty")
        rmdir(path, **options)

    monkeypatch.setattr(os, "rmdir", held)
    assert open_lexical(tmp_path / "lexical", [1]).passages == 1
    assert list(passing.iterdir())
