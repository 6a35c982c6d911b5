"""Pools: what is judged, what brought it there, and that no judge is told or given too much."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from app.cli import main
from app.pools import PoolIncomplete, build_pool, candidates, counts, read_protocol
from app.query.protocol import Protocol, make_protocol
from app.query.search import Engines
from app.queues import also_judged, next_topic, queues
from corpus.judging import Judgment, Project, Topic
from corpus.pools import BY_HAND, FUSED, Pool, PoolEntry
from store.catalogue import Catalogue
from store.errors import BadInput, UnknownDocument, UnknownProject, UnknownTopic
from store.generations import current_generation
from store.judging import add_judgments, add_topics
from store.pools import add_pools, pooled, pools
from store.projects import project
from tests.conftest import Workplace

TOPICS = [
    Topic("t1", "gland screws", "the torque", "Ana", "dev"),
    Topic("t2", "chiller trips", "why", "Ana", "dev"),
]


@pytest.fixture
def place(workplace: Workplace) -> Workplace:
    workplace.write("gland.txt", "Tighten the gland screws of the pump.")
    workplace.write("chiller.txt", "The chiller trips at night.")
    workplace.write("filter.txt", "Change the filter of the compressor.")
    workplace.write("secret.txt", "The gland screws of the board.")
    workplace.write("secret.txt.meta.toml", 'groups = ["board"]')
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        add_topics(catalogue, TOPICS)
    return workplace


def build(place: Workplace, *protocols: Protocol, **more: object) -> Pool:
    with Catalogue(place.archive) as catalogue:
        values: dict[str, object] = {"depth": 2, "builder": "Ana", **more}
        made = build_pool(
            Engines(place.archive), catalogue, "default", "t1", protocols, **values  # type: ignore[arg-type]
        )  # fmt: skip
        add_pools(catalogue, [made])
        assert pools(catalogue, "default", "t1")[-1] == made
        return made


def label(doc_id: str, judge: str, grade: int | None = 2, **more: object) -> Judgment:
    values: dict[str, object] = {"topic_id": "t1", "reason": "torn", **more}
    return Judgment(
        doc_id=doc_id, revision=1, grade=grade, judge=judge, judged_at="2026-11-30",
        corpus_version=1, blind=True, **values,  # type: ignore[arg-type]
    )  # fmt: skip


def test_a_pool_is_the_top_of_every_list_of_every_protocol_with_what_brought_it(
    place: Workplace,
) -> None:
    one, two = make_protocol(), make_protocol(k="7", weights={"semantic": "1/9"})
    made = build(place, one, two)
    for protocol in (one, two):
        weights = {"semantic": protocol.systems[1].weight}
        record = place.search("gland screws", k=protocol.k, weights=weights).record
        lists = {ranking.system: [hit.id for hit in ranking.hits] for ranking in record.rankings}
        lists[FUSED] = [hit.id for hit in record.fused]
        for name, ids in lists.items():
            brought = [
                (entry.rank, entry.doc_id)
                for entry in made.entries
                if (entry.protocol, entry.found_in) == (protocol.hash, name)
            ]
            assert brought == list(enumerate(ids[:2], start=1))
    assert [json.loads(text) for text in made.protocols] == [one.as_data(), two.as_data()]
    assert (made.corpus_version, made.topic_revision, made.depth) == (1, 1, 2)
    assert "secret.txt" not in {entry.doc_id for entry in made.entries}


def test_documents_are_added_by_hand_and_pools_add_up(place: Workplace) -> None:
    build(place, Protocol(), depth=1)
    by_hand = build(place, by_hand=["filter.txt"])
    assert by_hand.entries == (PoolEntry("filter.txt", 1, "filter.txt@1#00000", "", BY_HAND, None),)
    with Catalogue(place.archive) as catalogue:
        found = pooled(catalogue, "default")
        version = catalogue.version(1)
        assert set(found["t1"]) >= {"gland.txt", "filter.txt"}
        entries = candidates(catalogue, version, found)["t1"]
        assert [entry.doc_id for entry in entries] == sorted(found["t1"])
        (one,) = counts(found, [label("filter.txt", "Ana")])
        assert (one.documents, one.unjudged) == (len(found["t1"]), len(found["t1"]) - 1)


def test_a_judge_is_given_only_what_the_judge_may_read(place: Workplace) -> None:
    made = build(place, Protocol(), groups=("board",), by_hand=["secret.txt"])
    assert "secret.txt" in {entry.doc_id for entry in made.entries}
    with pytest.raises(UnknownDocument, match=r"'secret\.txt'"):
        build(place, by_hand=["secret.txt"])
    with Catalogue(place.archive) as catalogue:
        version = catalogue.version(1)
        default = project(catalogue, "default")

        def offered(*groups: str) -> set[str]:
            queue = queues(catalogue, version, default, "Bo", groups=groups)["t1"]
            return {entry.doc_id for entry in queue.candidates}

        assert "secret.txt" not in offered()
        assert offered("board") == {*offered(), "secret.txt"}


def test_a_pool_is_recorded_for_good(place: Workplace) -> None:
    build(place, Protocol())
    with Catalogue(place.archive) as catalogue:
        for table in ("pools", "pool_entries"):
            for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid = rowid"):
                with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                    catalogue.database.conn.execute(statement)


def test_a_document_that_changed_is_opened_at_its_beginning_and_one_that_went_is_left_out(
    place: Workplace,
) -> None:
    build(place, by_hand=["gland.txt", "filter.txt"])
    place.write("gland.txt", "Tighten the gland screws of the pump to 15 N·m.")
    (place.files / "filter.txt").unlink()
    place.ingest()
    with Catalogue(place.archive) as catalogue:
        (entry,) = candidates(catalogue, catalogue.version(2), pooled(catalogue, "default"))["t1"]
    assert (entry.doc_id, entry.revision, entry.passage_id) == (
        "gland.txt",
        2,
        "gland.txt@2#00000",
    )


def test_a_pool_without_one_engine_is_not_made(place: Workplace) -> None:
    folder = place.archive.generations / current_generation(place.archive) / "semantic"
    damaged = max(folder.iterdir(), key=lambda path: path.stat().st_size)
    damaged.write_bytes(damaged.read_bytes()[:10])
    with pytest.raises(PoolIncomplete, match="no pool was made for 't1'"):
        build(place, Protocol())
    with Catalogue(place.archive) as catalogue:
        assert pooled(catalogue, "default") == {}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("default", make_protocol()),
        (
            "k=10, depth=50, weight.lexical=1/2, semantic=always",
            make_protocol(
                k="10",
                depths={"lexical": 50, "semantic": 50},
                weights={"lexical": "1/2"},
                asked="always",
            ),
        ),
    ],
)
def test_a_protocol_is_read_as_typed(text: str, made: Protocol) -> None:
    assert read_protocol(text) == made


@pytest.mark.parametrize("text", ["", "k", "k=", "kk=1", "depth=ten", "weight.other=1", "k=-1"])
def test_what_is_no_protocol_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_protocol(text)


def test_what_cannot_be_built_is_refused(place: Workplace) -> None:
    with pytest.raises(BadInput, match="add depth=101 to the protocol"):
        build(place, Protocol(), depth=101)
    with pytest.raises(BadInput, match="at least 1"):
        build(place, Protocol(), depth=0)
    with Catalogue(place.archive) as catalogue:
        engines = Engines(place.archive)
        with pytest.raises(UnknownTopic):
            build_pool(engines, catalogue, "default", "t9", [], builder="Ana")
        made = build_pool(engines, catalogue, "none", "t1", [], builder="Ana")
        with pytest.raises(UnknownProject):
            add_pools(catalogue, [made])


def test_the_queue_offers_the_least_judged_first_until_there_are_enough_judges(
    place: Workplace,
) -> None:
    build(place, by_hand=["gland.txt", "filter.txt", "chiller.txt"])
    with Catalogue(place.archive) as catalogue:
        version = catalogue.version(1)
        given = [label("gland.txt", name) for name in ("Bo", "Cy")] + [label("filter.txt", "Bo")]
        add_judgments(catalogue, given)

        def offered(enough: int | None, judge: str = "Ana") -> list[str]:
            chosen = Project("default", judges_per_pair=enough)
            queue = queues(catalogue, version, chosen, judge)["t1"]
            return [entry.doc_id for entry in queue.pending()]

        assert offered(None) == offered(3) == ["chiller.txt", "filter.txt", "gland.txt"]
        assert offered(2) == ["chiller.txt", "filter.txt"]
        assert offered(1) == ["chiller.txt"]
        assert offered(1, "Bo") == ["chiller.txt"]
        add_judgments(catalogue, [label("gland.txt", "Cy", None, withdrawn=True)])
        assert offered(2)[0] == "chiller.txt"
        assert sorted(offered(2)) == ["chiller.txt", "filter.txt", "gland.txt"]
        assert also_judged(given, "t1", "gland.txt", "Bo") == ["Cy"]


def test_what_a_reviewer_adjudicated_is_not_offered_as_blind(place: Workplace) -> None:
    build(place, by_hand=["gland.txt", "filter.txt"])
    with Catalogue(place.archive) as catalogue:
        add_judgments(catalogue, [label("gland.txt", "Ana", role="adjudicator")])
        found = queues(catalogue, catalogue.version(1), project(catalogue, "default"), "Ana")
        assert [entry.doc_id for entry in found["t1"].candidates] == ["filter.txt"]


def test_the_topic_judged_least_comes_next(place: Workplace) -> None:
    with Catalogue(place.archive) as catalogue:
        made = [
            Pool("default", name, 1, 1, 1, (), (), "Ana", "2026",
                 (PoolEntry("gland.txt", 1, "gland.txt@1#00000"),))
            for name in ("t1", "t2")
        ]  # fmt: skip
        add_pools(catalogue, made)
        default, version = project(catalogue, "default"), catalogue.version(1)
        add_judgments(catalogue, [label("gland.txt", "Bo")])
        found = queues(catalogue, version, default, "Ana")
        assert next_topic(found, "Ana") == "t2"
        assert next_topic(found, "Ana", "t2") == "t1"
        add_judgments(
            catalogue, [label("gland.txt", "Ana", topic_id=name) for name in ("t1", "t2")]
        )
        assert next_topic(queues(catalogue, version, default, "Ana"), "Ana") == ""


def test_pools_and_projects_by_command(
    place: Workplace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    where = ["--archive", str(place.archive.root)]
    assert main(["projects", "pumps", "--judges", "2", "--grade", "3=It is said.", *where]) == 0
    assert "project pumps made" in capsys.readouterr().out
    arguments = ["pool", "build", "--project", "pumps", "--protocol", "default"]
    arguments += ["--protocol", "k=7", "--depth", "1", "--add", "filter.txt"]
    assert main([*arguments, *where]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("t1: ")
    assert said[-1] == "2 pools built from 2 protocols to depth 1"
    assert main([*arguments, *where]) == 2
    assert "every topic has a pool" in capsys.readouterr().err
    with Catalogue(place.archive) as catalogue:
        assert project(catalogue, "pumps").grades[3] == "It is said."
        for judge, grade in (("Ana", 3), ("Bo", 1), ("Bo", 0)):
            add_judgments(catalogue, [label("filter.txt", judge, grade, project="pumps")])
    assert main(["pool", "status", "--project", "pumps", "--json", *where]) == 0
    counted = {one["topic_id"]: one for one in json.loads(capsys.readouterr().out)}
    assert counted["t1"]["documents"] - counted["t1"]["unjudged"] == 1
    assert main(["agreement", "--project", "pumps", *where]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-2] == "t1  filter.txt: Ana 3, Bo 0 (open)"
    assert said[-1] == "1 graded pairs, 1 disagreements"
    assert main(["projects", "pumps", "--grade", "3=Other.", *where]) == 2
    assert "make a new project" in capsys.readouterr().err
    assert main(["projects", *where]) == 0
    assert "pumps  (judges of each document: 2; grades: fixed by its labels)" in (
        capsys.readouterr().out
    )
    for wrong in (
        ["projects", "--judges", "2"],
        ["projects", "x", "--judges", "99"],
        ["projects", "x", "--grade", "4=x"],
        ["pool", "build", "--project", "none"],
        ["agreement", "--project", "none"],
    ):
        assert main([*wrong, *where]) == 2
