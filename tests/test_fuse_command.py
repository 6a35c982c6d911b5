"""Ranked lists from elsewhere, fused with every part shown, or refused by their line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import main
from app.query.fuse import Absence, Contribution, Reason, fuse
from app.query.lists import NO_LIST, Run, protocol_of, read_run, read_runs
from app.query.protocol import Protocol
from app.query.ranking import Ranking
from store.errors import BadInput
from tests.test_search import keys_of

ROOT = Path(__file__).resolve().parents[1]
BM25 = """\
1 Q0 d1 1 9.5 bm25
1 Q0 d2 2 9.0 bm25
1 Q0 d3 3 1.0 bm25
2 Q0 d9 1 4 bm25
"""
DENSE = """\
1 Q0 d3 1 0.9 dense
1 Q0 d1 2 0.8 dense
"""


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def rankings_of(runs: Sequence[Run], topic: str, protocol: Protocol) -> list[Ranking]:
    depths = [system.depth for system in protocol.systems]
    return [run.ranking(topic, depth) for run, depth in zip(runs, depths, strict=True)]


def test_two_runs_are_fused_topic_by_topic_with_exact_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [write(tmp_path, "bm25.run", BM25), write(tmp_path, "dense.run", DENSE)]
    assert main(["fuse", *runs, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    first, second = body["topics"]
    assert [(hit["id"], hit["rank"], hit["score"]) for hit in first["fused"]] == [
        ("d1", 1, "123/3782"),  # 1/61 + 1/62
        ("d3", 2, "124/3843"),  # 1/63 + 1/61
        ("d2", 3, "1/62"),
    ]
    assert first["fused"][2]["parts"][1] == {"system": "dense", "absent": "below depth"}
    assert second["fused"][0]["parts"][1] == {"system": "dense", "absent": "not asked"}
    assert [system["kind"] for system in body["protocol"]["systems"]] == ["list", "list"]
    described = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
    described += (ROOT / "docs/search-json.md").read_text(encoding="utf-8")
    assert [name for name in keys_of(body) if f"`{name}" not in described] == []
    assert main(["fuse", *runs, "--limit", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "topic 1",
        "  1  d1  bm25 rank 1, dense rank 2: 1/61 + 1/62 = 123/3782 ≈ 0.0325",
        "topic 2",
        "  1  d9  bm25 rank 1, dense not asked: 1/61 ≈ 0.0164",
        "4 candidates of 2 topics",
    ]


def test_k_depth_weight_and_fusion_are_those_that_were_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bm25, dense = write(tmp_path, "a.run", BM25), write(tmp_path, "b.run", DENSE)
    options = ["--k", "0", "--depth", "words=1", "--weight", "words=1/4", "--json"]
    assert main(["fuse", f"words={bm25}", dense, *options]) == 0
    fused = json.loads(capsys.readouterr().out)["topics"][0]["fused"]
    assert [(hit["id"], hit["score"]) for hit in fused] == [("d3", "1/1"), ("d1", "3/4")]
    assert main(["fuse", bm25, dense, "--fusion", "combsum", "--json"]) == 0
    fused = json.loads(capsys.readouterr().out)["topics"][0]["fused"]
    assert [hit["id"] for hit in fused] == ["d1", "d2", "d3"]
    assert fused[0]["parts"][0]["score"] == 9.5


def test_json_lists_of_ids_and_of_objects_join_runs_of_one_topic(tmp_path: Path) -> None:
    ids = write(tmp_path, "ids.json", '["d1", "d2"]')
    objects = write(tmp_path, "objects.json", '{"1": [{"id": "d2", "score": 0.5}, {"id": "d3"}]}')
    runs = read_runs([ids, write(tmp_path, "dense.run", DENSE), objects])
    assert [list(run.lists) for run in runs] == [["1"], ["1"], ["1"]]
    protocol = protocol_of(runs)
    hits = fuse(rankings_of(runs, "1", protocol), protocol)
    assert [hit.id for hit in hits] == ["d1", "d2", "d3"]
    with pytest.raises(BadInput, match="says no topic, and the others have 2"):
        read_runs([ids, write(tmp_path, "bm25.run", BM25)])
    with pytest.raises(BadInput, match="minmax adds scores, and ids has entries without one"):
        protocol_of(runs, fusion="minmax")


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=1, max_size=4),
    st.fractions(0, 100, max_denominator=10),
    st.randoms(use_true_random=False),
)
def test_the_order_is_that_of_the_sums_whatever_the_order_of_the_lines(
    tmp_path_factory: pytest.TempPathFactory, lists: list[list[str]], k: Fraction, chance: object
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    files = []
    for number, ids in enumerate(lists):
        lines = [f"t Q0 {name} {rank} 0 x" for rank, name in enumerate(ids, start=1)]
        chance.shuffle(lines)  # type: ignore[attr-defined]
        text = "\n".join(lines) if ids and number % 2 else json.dumps({"t": ids})
        files.append(write(folder, f"r{number}.run", text))
    runs = read_runs(files)
    protocol = protocol_of(runs, k=k)
    rankings = rankings_of(runs, "t", protocol)
    sums: dict[str, Fraction] = {}
    for ids in lists:
        for rank, name in enumerate(ids, start=1):
            sums[name] = sums.get(name, Fraction(0)) + 1 / (k + rank)
    hits = fuse(rankings, protocol)
    assert [(hit.id, hit.score) for hit in hits] == sorted(
        sums.items(), key=lambda entry: (-entry[1], entry[0])
    )
    for hit in hits:
        for part, ids in zip(hit.parts, lists, strict=True):
            if isinstance(part, Contribution):
                assert ids[part.rank - 1] == hit.id
            else:
                assert isinstance(part, Absence)
                assert part.reason is Reason.BELOW_DEPTH


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 Q0 d1 1 9.5", "line 1 has 5 columns, not the six of a run"),
        (BM25 + "1 Q0 d4 x 1 t", "line 5 has 'x' for a rank"),
        (BM25 + "1 Q0 d4 -4 1 t", "line 5 has '-4' for a rank"),
        (BM25 + "1 Q0 d4 4 nan t", "line 5 has 'nan' for a score"),
        (BM25 + "1 Q0 d4 4 inf t", "line 5 has 'inf' for a score"),
        (BM25 + "\n1 Q0 d1 4 1 t", "line 6 has 'd1' of topic '1' again, after line 1"),
        (BM25 + "1 Q0 d4 3 1 t", "line 5 gives rank 3 of topic '1' again, after line 3"),
        (BM25 + "1 Q0 d\x1b4 4 1 t", "line 5 has 'd\\\\x1b4' for an id"),
        ("", "holds no list"),
        ("{}", "holds no list"),
        ('["a", "b", "a"]', "entry 3 has 'a' again, after entry 1"),
        ('["a", 3]', "entry 2 has 3 for an id"),
        ('["\\ud800"]', "entry 1 has '\\\\ud800' for an id"),
        ('[{"id": "a", "score": NaN}]', "NaN is not a number that JSON has"),
        ('[{"id": "a", "score": 1e999}]', "entry 1 has inf for a score"),
        ('[{"id": "a", "score": true}]', "entry 1 has True for a score"),
        ('[{"name": "a"}]', "entry 1 has None for an id"),
        ('{"7": "a"}', "the list of topic '7' is not a list of ids"),
        ('{"": ["a"]}', "a topic has a name"),
        ('["a"', "it is not JSON"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    file = write(tmp_path, "x.run", text)
    with pytest.raises(BadInput, match=message):
        read_run("x", Path(file))
    assert main(["fuse", file]) == 2
    error = capsys.readouterr().err
    assert file in error
    assert len(error.splitlines()) == 1


def test_gaps_in_ranks_are_closed_and_scores_that_rise_do_not_decide_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "7 Q0 d1 0 1.0 t\n7 Q0 d2 3 5.0 t\n7 Q0 d3 9 0.5 t\n"
    file = write(tmp_path, "gaps.run", text)
    run = read_run("gaps", Path(file))
    ranking = run.ranking("7", 2)
    assert [(hit.id, hit.rank, hit.score) for hit in ranking.hits] == [
        ("d1", 1, 1.0),
        ("d2", 2, 5.0),
    ]
    assert not ranking.exhausted
    assert run.ranking("8", 2).not_asked == NO_LIST
    assert main(["fuse", file]) == 0
    said = capsys.readouterr().out
    assert "note: gaps: The ranks of topic '7' do not count from 1 without gaps; their" in said
    assert "note: gaps: The scores of topic '7' rise somewhere down the list; ranks decide." in said


def test_two_runs_of_one_name_and_options_of_no_run_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, "a.run", BM25)
    for arguments, message in (
        ([file, file], "two runs are named 'a'"),
        ([file, "--weight", "b=2"], "there is no run 'b'; there are a"),
        ([file, "--depth", "a=0"], "the depth of a is from 1"),
        ([file, "--limit", "0"], "at least 1"),
        ([file, "--fusion", "borda", "--k", "3"], "borda has no k"),
        ([str(tmp_path / "none.run")], "cannot be read"),
    ):
        assert main(["fuse", *arguments]) == 2
        assert message in capsys.readouterr().err
