"""The lexical vote counts by what a single passage holds of the query, and says so."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli import main
from app.query.emphasis import DEFAULT_EMPHASIS, Emphasis, Step, share_held
from app.query.fuse import Contribution, fuse
from app.query.protocol import LEXICAL, SEMANTIC, System, make_protocol
from app.query.ranking import ranking_of
from corpus.terms import read_query
from store.embedded.analysis import fields_of
from store.embedded.segments import open_lexical, write_lexical
from store.errors import BadInput
from tests.conftest import Workplace
from tests.test_coverage import TEXTS, VOCABULARY, rarity

SHARES = st.fractions(0, 1)


@given(st.lists(SHARES.filter(bool), unique=True), SHARES)
def test_the_last_step_reached_decides(shares: list[Fraction], held: Fraction) -> None:
    steps = [
        Step(share, Fraction(number + 1))
        for number, share in enumerate([Fraction(0), *sorted(shares)])
    ]
    factor = Emphasis(tuple(steps)).factor(held)
    assert factor == max(step.factor for step in steps if step.held <= held)
    assert Emphasis(tuple(steps)).factor(None) == 1


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (Step(Fraction(1, 2), Fraction(1)),),
        (Step(Fraction(0), Fraction(0)),),
        (Step(Fraction(0), Fraction(1)), Step(Fraction(2), Fraction(1))),
        (Step(Fraction(0), Fraction(1)), Step(Fraction(0), Fraction(2))),
    ],
)
def test_steps_that_do_not_ascend_or_silence_a_list_are_refused(steps: tuple[Step, ...]) -> None:
    with pytest.raises(BadInput):
        Emphasis(steps)


def test_only_the_lexical_system_is_weighed_by_it() -> None:
    with pytest.raises(BadInput, match="lexical"):
        System(SEMANTIC, emphasis=DEFAULT_EMPHASIS)


@settings(max_examples=60)
@given(TEXTS, st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5, unique=True))
def test_the_share_is_the_most_that_one_passage_holds(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], query: list[str]
) -> None:
    """Against weights counted by hand."""
    place = tmp_path_factory.mktemp("index") / "lexical"
    rows = ((row, row, fields_of(" ".join(text), "", (), "en")) for row, text in enumerate(texts))
    write_lexical(place, [rows])
    index = open_lexical(place)

    def held(among: Sequence[int]) -> float:
        whole = math.fsum(rarity(texts, word) for word in query)
        return (
            max(
                (sum(rarity(texts, word) for word in query if word in texts[row]) for row in among),
                default=0.0,
            )
            / whole
        )

    terms = read_query(" ".join(query))
    documents = np.arange(len(texts))
    found = index.share_held(terms, None, documents)
    assert found == pytest.approx(held(range(len(texts))), abs=1e-4)
    some = documents % 2 == 0
    found = index.share_held(terms, some, documents)
    assert found == pytest.approx(held(range(0, len(texts), 2)), abs=1e-4)


@given(SHARES)
def test_every_contribution_carries_the_weight_that_counted(held: Fraction) -> None:
    protocol = make_protocol(weights={LEXICAL: "3/2"}, depths={LEXICAL: 2, SEMANTIC: 2})
    lexical = replace(ranking_of(LEXICAL, ["a", "b"]), held=held)
    hits = fuse([lexical, ranking_of(SEMANTIC, ["b", "c"])], protocol)
    weight = Fraction(3, 2) * DEFAULT_EMPHASIS.factor(held)
    parts = {part.system: part for hit in hits if hit.id == "b" for part in hit.parts}
    assert parts[LEXICAL] == Contribution(LEXICAL, 2, weight, weight / 62)
    assert parts[SEMANTIC] == Contribution(SEMANTIC, 1, Fraction(1), Fraction(1, 61))


def test_a_share_is_rounded_before_it_decides() -> None:
    assert share_held(0.89999) == Fraction(9, 10)
    assert share_held(1.00003) == 1
    assert share_held(-1e-9) == 0


def test_fixed_weights_are_another_protocol() -> None:
    fixed, default = make_protocol(weighting="fixed"), make_protocol()
    assert fixed.hash != default.hash
    assert all("emphasis" not in system for system in fixed.as_data()["systems"])
    with pytest.raises(BadInput, match="fixed"):
        make_protocol(weighting="loud")


@pytest.fixture
def plant(workplace: Workplace) -> Workplace:
    workplace.write("drain.txt", "Drain the node before maintenance of the cluster begins.")
    workplace.write("pump.txt", "The glycol pump needs a new seal every year.")
    for number in range(8):
        workplace.write(f"note {number}.txt", f"Shift note {number}: the plate was cleaned.")
    workplace.ingest()
    return workplace


def weight_of(workplace: Workplace, query: str) -> Fraction:
    record = workplace.search(query).record
    ranking = next(ranking for ranking in record.rankings if ranking.system == LEXICAL)
    return record.protocol.systems[0].weight_at(ranking.held)


def test_words_that_stand_together_count_more_than_scattered_ones(plant: Workplace) -> None:
    assert weight_of(plant, "glycol pump seal") == 4
    assert weight_of(plant, "wie oft tauscht man bei einer pump die Dichtung aus") == Fraction(1, 3)


def test_the_answer_says_what_the_list_weighs_and_why(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    result = plant.search("glycol pump seal")
    assert result.rules == ("The lexical list weighs 4: one passage holds all of what was asked.",)
    assert plant.search("glycol pump seal", weighting="fixed").rules == ()
    place = ["--archive", str(plant.archive.root)]
    assert main(["search", "glycol pump seal", "--json", *place]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["systems"]["lexical"]["held"] == "1"
    assert answer["fused"][0]["parts"][0]["weight"] == "4"
    assert main(["search", "glycol pump seal", *place]) == 0
    assert "The lexical list weighs 4" in capsys.readouterr().out


def test_a_list_on_its_own_says_its_weight_too(plant: Workplace) -> None:
    """What a sum on the screen has in it is explained on the same screen."""
    plant.write("code.txt", "The terminal block X-77/B sits behind the cover plate.")
    plant.ingest()
    result = plant.search("X-77/B")
    (part,) = [p for p in result.record.fused[0].parts if isinstance(p, Contribution)]
    assert part.weight == 4
    assert [rule for rule in result.rules if "weighs 4" in rule]
