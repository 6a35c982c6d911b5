"""Why a document is not in an answer: the first cause, and nothing of what may not be seen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.cli import main
from app.query.fuse import Reason
from app.query.protocol import make_protocol
from app.query.search import Engines
from app.query.why_absent import WhyAbsent, why_absent
from corpus.scope import Scope
from store.catalogue import Catalogue
from store.errors import BadInput, UnknownDocument
from tests.conftest import Workplace


@pytest.fixture
def plant(workplace: Workplace) -> Workplace:
    workplace.write("valve/purge.txt", "The purge valve HX-204 leaks after a restart of the pump.")
    workplace.write("pumps/glycol.txt", "The glycol pump needs a new seal every year.")
    workplace.write("pumps/bomba.txt", "La bomba de agua gotea cuando arranca el motor principal.")
    for number in range(6):
        workplace.write(f"notes/{number}.txt", f"The purge valve leaks: shift note {number}.")
    workplace.write("secret/purge.txt", "The purge valve HX-204 leaks, and only the board knows.")
    workplace.write("secret/purge.txt.meta.toml", 'groups = ["board"]\n')
    workplace.ingest()
    return workplace


def why(
    workplace: Workplace,
    query: str,
    named: str,
    scope: Scope | None = None,
    **protocol: Any,
) -> WhyAbsent:
    engines = Engines(workplace.archive)
    with Catalogue(workplace.archive) as catalogue:
        return why_absent(
            engines, catalogue, query, make_protocol(**protocol), scope or Scope(), named
        )


@pytest.mark.parametrize("named", ["valve/purge.txt", "VALVE/purge", "purge"])
def test_a_document_is_found_by_id_path_or_title_and_is_where_the_answer_has_it(
    plant: Workplace, named: str
) -> None:
    answer = why(plant, "purge valve HX-204", named)
    assert answer.document.locations == ("valve/purge.txt",)
    assert answer.hit is not None
    assert answer.hit.rank == 1
    assert "rank 1" in answer.sentence


def test_below_the_depth_the_true_rank_is_that_of_a_deeper_list(plant: Workplace) -> None:
    depths = {"lexical": 1, "semantic": 1}
    deep = plant.search("glycol pump seal")
    ranks = {
        ranking.system: ranking.rank_of().get("pumps/bomba.txt") for ranking in deep.record.rankings
    }
    answer = why(plant, "glycol pump seal", "pumps/bomba.txt", depths=depths)
    assert answer.hit is None
    lexical, semantic = answer.systems
    assert (lexical.reason, lexical.true_rank) == (Reason.NOT_MATCHED, None)
    assert (semantic.reason, semantic.true_rank) == (Reason.BELOW_DEPTH, ranks["semantic"])
    assert f"ranks it {ranks['semantic']}, below the depth of 1" in answer.sentence


@pytest.mark.parametrize(
    ("scope", "query", "cause"),
    [
        (Scope(folder="pumps"), "purge", "folder pumps"),
        (Scope(languages=("es",)), "purge", "languages es"),
        (Scope(since="2999-01-01"), "purge", "since 2999-01-01"),
        (Scope(codes=("ZZ-99",)), "purge", "codes ZZ-99"),
        (Scope(), "pump -HX-204 -purge", "the query itself"),
        (Scope(), "pump lang:es", "the query itself"),
    ],
)
def test_what_filters_it_out_is_named_before_anything_else(
    plant: Workplace, scope: Scope, query: str, cause: str
) -> None:
    answer = why(plant, query, "valve/purge.txt", scope)
    assert answer.hit is None
    assert answer.sentence.startswith("It is filtered out: by")
    assert cause in answer.sentence


def test_a_document_without_text_is_not_in_this_index(plant: Workplace) -> None:
    plant.write("empty.md", "# Only a title")
    plant.ingest()
    with Catalogue(plant.archive) as catalogue:
        known = {one.doc_id for one in catalogue.documents(catalogue.versions()[-1].number)}
    view = Engines(plant.archive).backend.for_reader(())
    for doc_id in known - set(view.doc_ids) - {"secret/purge.txt"}:
        assert "not in this index" in why(plant, "purge", doc_id).sentence


def test_a_forbidden_document_is_one_that_nobody_ever_named(plant: Workplace) -> None:
    sentences = []
    for named in ("secret/purge.txt", "secret/nobody.txt"):
        with pytest.raises(UnknownDocument) as caught:
            why(plant, "purge valve", named)
        sentences.append(str(caught.value).replace(named, "NAME"))
    assert len(set(sentences)) == 1
    seen = why(plant, "purge valve HX-204", "secret/purge.txt", Scope(groups=("board",)))
    assert seen.hit is not None


def test_an_ambiguous_name_lists_only_what_the_reader_may_see(plant: Workplace) -> None:
    with pytest.raises(BadInput, match="several documents") as caught:
        why(plant, "purge", "notes")
    assert "secret" not in str(caught.value)
    # Two documents are named so, of which one may not be seen: the name is not ambiguous.
    assert why(plant, "purge", "purge.txt").document.doc_id == "valve/purge.txt"


def test_the_command_says_it_and_prints_it(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--archive", str(plant.archive.root)]
    command = ["why", "glycol pump", "--document", "pumps/bomba.txt", "--depth", "semantic=1"]
    assert main([*command, *place]) == 0
    assert "lexical does not match it" in capsys.readouterr().out
    assert main([*command, "--json", *place]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["doc_id"] == "pumps/bomba.txt"
    assert {one["system"] for one in answer["systems"]} == {"lexical", "semantic"}
    assert main(["why", "glycol", "--document", "no such thing", *place]) == 2
    assert "give its id" in capsys.readouterr().err
