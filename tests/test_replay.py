"""A kept search is found, compared, and asked again: it stands, it drifted, or nobody can tell."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import main
from app.query.compare_records import compare
from app.query.protocol import make_protocol
from app.query.protocol_data import protocol_from_data
from app.query.record import canonical
from app.query.replay import Verdict, compared
from app.query.stored_record import read_stored
from app.query.trec import trec_lines
from corpus.scope import Scope
from store.catalogue import Catalogue
from store.errors import BadInput
from store.records import KEEP_VARIABLE, kept_searches
from tests.conftest import Workplace

SCHEMA = Path(__file__).resolve().parents[1] / "docs" / "record.schema.json"
QUERIES = ("purge valve leaks", "HX-204", "válvula OR bomba", '"glycol pump" -seal', "", "zzz")


@pytest.fixture
def plant(workplace: Workplace) -> Workplace:
    workplace.write("a/valve.txt", "The purge valve HX-204 leaks after a restart of the pump.")
    workplace.write("a/bomba.txt", "La válvula de la bomba gotea cuando arranca el motor.")
    workplace.write("b/pump.txt", "The glycol pump needs a new seal every year.")
    workplace.ingest()
    return workplace


def ask(workplace: Workplace, *arguments: str) -> int:
    return main([*arguments, "--archive", str(workplace.archive.root)])


def verdict(
    workplace: Workplace, capsys: pytest.CaptureFixture[str], record: str, *flags: str
) -> dict[str, Any]:
    capsys.readouterr()
    code = ask(workplace, "replay", record, "--json", *flags)
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (0 if answer["verdict"] == Verdict.VALID else 1)
    return answer


def test_every_record_keeps_to_the_documented_schema_and_replays_identically(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    protocols: list[dict[str, Any]] = [
        {},
        {"k": "1/3", "weights": {"lexical": "0.1"}, "unit": "passage", "coverage": "0"},
        {"fusion": "combsum"},
        {"weighting": "fixed", "corrections": "apply", "asked": "always"},
    ]
    scope = Scope(languages=("en", "es"), folder="a", since="2000-01-01", groups=("staff",))
    for query in QUERIES:
        for changed in protocols:
            for within in (None, scope):
                record = plant.search(query, within, **changed).record
                jsonschema.validate(json.loads(record.body), schema)
                answer = verdict(plant, capsys, record.record_id)
                assert answer["verdict"] == Verdict.VALID, answer
                assert "identical" in answer["sentence"]


@given(
    st.fractions(0, 1000),
    st.fractions(Fraction(1, 100), 100),
    st.integers(1, 10_000),
    st.fractions(0, 1),
    st.sampled_from(["document", "passage"]),
    st.sampled_from(["by share held", "fixed"]),
    st.sampled_from(["suggest", "apply", "off"]),
)
def test_a_protocol_is_read_back_from_its_own_data(
    k: Fraction,
    weight: Fraction,
    depth: int,
    coverage: Fraction,
    unit: str,
    weighting: str,
    corrections: str,
) -> None:
    protocol = make_protocol(
        k=k,
        weights={"semantic": weight},
        depths={"lexical": depth},
        coverage=coverage,
        unit=unit,
        weighting=weighting,
        corrections=corrections,
    )
    again = protocol_from_data(
        json.loads(json.dumps({**protocol.as_data(), "hash": protocol.hash}))
    )
    assert again == protocol
    assert again.hash == protocol.hash


def test_a_record_of_an_old_version_replays_after_ten_later_ingests(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its indexes are long gone; they are built again from the catalogue when that is asked for."""
    record = plant.search("purge valve leaks").record
    for number in range(10):
        plant.write(f"c/{number}.txt", f"Note {number}: the purge valve leaks again and again.")
        plant.ingest()
    answer = verdict(plant, capsys, record.record_id)
    assert answer["verdict"] == Verdict.CANNOT_CHECK
    assert "--rebuild" in answer["sentence"]
    answer = verdict(plant, capsys, record.record_id, "--rebuild")
    assert answer["verdict"] == Verdict.VALID, answer
    assert "identical" in answer["sentence"]
    newest = plant.search("purge valve leaks").record
    assert newest.record_id != record.record_id


def test_a_changed_record_cannot_be_checked(
    plant: Workplace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record = plant.search("purge valve").record
    body = json.loads(record.body)
    file = tmp_path / "record.json"
    file.write_text(json.dumps(body, indent=2), encoding="utf-8")
    assert verdict(plant, capsys, str(file))["verdict"] == Verdict.VALID
    body["fused"][0]["score"] = "1/2"
    with sqlite3.connect(plant.archive.catalogue) as database:
        database.execute("DROP TRIGGER records_refuse_update")
        database.execute("UPDATE records SET body = ?", [canonical(body)])
    assert ask(plant, "replay", record.record_id) == 2
    assert "changed since it was kept" in capsys.readouterr().err
    with pytest.raises(BadInput, match="schema 1"):
        read_stored(json.dumps({**body, "schema": 1}))
    with pytest.raises(BadInput, match="not the JSON"):
        read_stored("[1, 2]")


def test_a_drifted_answer_names_its_first_difference_and_what_changed(plant: Workplace) -> None:
    stored = read_stored(plant.search("purge valve").record.body)
    now = json.loads(canonical(stored.body))
    now["fingerprints"]["analyzer"] = "analyzer-99"
    same = compared(stored, now, "sha256:other")
    assert same.verdict is Verdict.VALID
    assert "analyzer" in same.sentence
    hits = now["rankings"]["lexical"]["hits"]
    hits[0][2] *= 1 + 1e-7
    assert compared(stored, now, "sha256:other").verdict is Verdict.VALID
    hits[0][2] *= 1.01
    drifted = compared(stored, now, "sha256:other")
    assert drifted.verdict is Verdict.DRIFTED
    assert "lexical score" in drifted.sentence
    assert "analyzer-99" in drifted.sentence
    hits[0][0] = "another"
    assert compared(stored, now, "sha256:other").sentence.startswith(
        "rank 1 of the lexical list is another"
    )


def test_a_record_of_another_archive_cannot_be_checked(
    plant: Workplace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "record.json"
    file.write_text(plant.search("purge valve").record.body, encoding="utf-8")
    other = Workplace(tmp_path / "files", type(plant.archive)(tmp_path / "other"), plant.encoder)
    other.write("x.txt", "Something else entirely.")
    other.ingest()
    answer = verdict(other, capsys, str(file))
    assert answer["verdict"] == Verdict.CANNOT_CHECK
    assert "another archive" in answer["sentence"]


def test_two_records_say_what_was_decided_differently_and_what_moved(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    one = plant.search("purge valve pump", weighting="fixed").record
    other = plant.search("purge valve pump", weighting="fixed", k=1).record
    found = compare(read_stored(one.body), read_stored(other.body), 10)
    assert found.protocol == (("k", "60", "1"),)
    assert (found.asked, found.warning) == ((), "")
    third = plant.search("purge valve pump", weighting="fixed", k=1, depths={"lexical": 1}).record
    found = compare(read_stored(one.body), read_stored(third.body), 10)
    assert [name for name, _, _ in found.protocol] == ["k", "systems.lexical.depth"]
    assert "2 things differ" in found.warning
    ranks = {hit.id: hit.rank for hit in one.fused}
    after = {hit.id: hit.rank for hit in third.fused}
    moved = {name for name in {*ranks, *after} if ranks.get(name) != after.get(name)}
    assert {entry.id for entry in found.moved} == moved
    assert ask(plant, "records", "compare", one.record_id, third.record_id) == 0
    assert "systems.lexical.depth: 100 → 1" in capsys.readouterr().out


def test_records_are_listed_pinned_shown_and_named_by_their_first_digits(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    record = plant.search("purge valve").record
    plant.search("purge valve")
    plant.search("glycol")
    digits = record.record_id.removeprefix("sha256:")
    assert ask(plant, "records", "pin", digits[:8], "--note", "for the audit") == 0
    capsys.readouterr()
    assert ask(plant, "records", "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(one["query"], one["searches"]) for one in listed] == [
        ("glycol", 1),
        ("purge valve", 2),
    ]
    assert ask(plant, "records", "list", "--pinned") == 0
    assert "for the audit" in capsys.readouterr().out
    assert ask(plant, "records", "show", digits[:6]) == 0
    assert capsys.readouterr().out.strip() == record.body
    assert ask(plant, "records", "unpin", digits) == 0
    assert ask(plant, "records", "show", "abc") == 2
    assert ask(plant, "records", "show", "0" * 12) == 2
    with Catalogue(plant.archive) as catalogue:
        assert kept_searches(catalogue, 9, pinned=True) == []
        assert len(kept_searches(catalogue, 9, searcher="test")) == 2


def test_a_trec_run_keeps_the_order_of_every_list(plant: Workplace) -> None:
    record = plant.search("purge valve pump").record
    read: dict[str, list[tuple[float, str]]] = {}
    for line in trec_lines(read_stored(record.body)):
        _, _, name, rank, score, tag = line.split()
        read.setdefault(tag, []).append((-float(score), name))
        assert int(rank) == len(read[tag])
    assert [name for _, name in sorted(read["fused"])] == [hit.id for hit in record.fused]
    assert set(read) == {"lexical", "semantic", "fused"}


def test_keeping_searches_can_be_switched_off(
    plant: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEEP_VARIABLE, "no")
    plant.search("purge valve")
    with Catalogue(plant.archive) as catalogue:
        assert kept_searches(catalogue, 9) == []
    monkeypatch.setenv(KEEP_VARIABLE, "maybe")
    with pytest.raises(BadInput, match="yes or no"):
        plant.search("purge valve")
