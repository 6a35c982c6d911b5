"""A text beside the passages it was written from: likeness is shown, and nothing is judged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import main
from app.query.claim_terms import held_by, terms_of
from app.query.claims import check_claims, meanings_of, sentences_of
from app.query.recorded import recorded_search
from app.query.search import Engines
from corpus.scope import Scope
from corpus.sentences import sentences
from store.catalogue import Catalogue
from store.errors import BadInput, UnknownRecord
from store.vectors import kept_vectors
from tests.conftest import Workplace, filled_workplace
from tests.test_context import keys_of

ROOT = Path(__file__).resolve().parents[1]
TEXTS = {
    "pump.md": "# Pump PX-310/B\n\nTighten the gland screws to 16 Nm. Replace the seal yearly.",
    "valve.txt": "La válvula de purga se abre a 3 bar. Revise la junta cada 1.000 horas.",
    "secret.txt": "The gland screws of the board are golden.",
    "secret.txt.meta.toml": 'groups = ["board"]\n',
}
QUERY = "gland screws valve junta"
ANSWER = """# The gland screws are platinum

The screws of the gland are tightened to 16 Nm [1]. Elephants fly at 99 km/h over ZZ-404.

- Revise las juntas cada 1000 horas.
- It is.

```
screws = 17
```
"""


@pytest.fixture(scope="module")
def plant(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    """A small archive that no test of this file changes; one document is for the board."""
    return filled_workplace(tmp_path_factory.mktemp("plant"), tiny_encoder, TEXTS)


@pytest.mark.parametrize(
    "text",
    [
        "Apriete a 3,5 bar (véase fig. 2).|¿Seguro?|Sí, p. ej. con la AX-2041/B.|El Sr. Ruiz va.",
        '1. Close it!|"Done."|Then J. R. Smith left...|It is no. 5.|The answer is no.|Go.',
        "Wait 15 min.|Then see pp. 3 to 5 of Approx. Methods, e.g. Table 2.|Version 2.4.1 is out.",
        "no capital follows. so this is one",
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str) -> None:
    whole = text.replace("|", " ")
    assert [whole[start:end] for start, end in sentences(whole)] == text.split("|")


def test_a_blank_line_ends_a_sentence() -> None:
    text = "A title\n\nIts text\nin two lines\n \n"
    assert [text[a:b] for a, b in sentences(text)] == ["A title", "Its text\nin two lines"]


@given(st.text(st.sampled_from(" .!?¿\n\"')abAB1º…"), max_size=60))
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    found = list(sentences(text))
    end = 0
    for start, stop in found:
        assert text[end:start].strip() == ""
        assert text[start:stop] == text[start:stop].strip() != ""
        end = stop
    assert text[end:].strip() == ""


@pytest.mark.parametrize(
    ("sentence", "text", "held"),
    [
        ("AX-2041/B", "the relay AX 2041 B", True),
        ("AX2041-B", "the relay ax2041b", True),
        ("AX-2041", "the relay AX-2042", False),
        ("3 bar", "at 3bar", True),
        ("3 bar", "at 1.3 bar", False),
        ("3 bar", "at 13 bar", False),
        ("16 screws", "16 Nm, screw", True),
        ("1,000 hours", "1000 hour", True),
        ("1000 hours", "1.000 hours", True),
        ("Fabricación", "FABRICACION", True),
        ("tightened", "tighten", True),
        ("17", "1.7 and 170", False),
        ("see [3] and [4, 5]", "they see", True),
    ],
)
def test_terms_meet_in_every_spelling_and_numbers_only_as_wholes(
    sentence: str, text: str, held: bool
) -> None:
    terms = terms_of(sentence)
    assert terms
    assert all(term in held_by(text) for term in terms) == held


def test_headings_and_code_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "answer.md"
    file.write_text(ANSWER, encoding="utf-8")
    texts, skipped = sentences_of(file)
    assert texts == [
        "The screws of the gland are tightened to 16 Nm [1].",
        "Elephants fly at 99 km/h over ZZ-404.",
        "Revise las juntas cada 1000 horas.",
        "It is.",
    ]
    assert skipped == 2


def test_each_sentence_stands_beside_what_supports_it(plant: Workplace, tmp_path: Path) -> None:
    result = plant.search(QUERY)
    file = tmp_path / "answer.md"
    file.write_text(ANSWER, encoding="utf-8")
    texts, skipped = sentences_of(file)
    with Catalogue(plant.archive) as catalogue:
        record = recorded_search(catalogue, result.record.record_id)
    meanings = meanings_of(Engines(plant.archive), texts, record)
    assert meanings.shape == (4, len(record.passages))
    checked = check_claims(texts, record, meanings, skipped=skipped)
    assert [claim.text for claim in checked.claims] == texts[:3]
    assert checked.skipped == 3
    screws, elephants, gaskets = checked.claims
    best = screws.nearest[0]
    assert best.recorded.document.doc_id == "pump.md"
    assert (best.held, len(screws.terms), best.lacking) == (4, 4, ())
    assert best.quote == "Tighten the gland screws to 16 Nm."
    assert elephants.nowhere == ("99", "ZZ-404")
    assert elephants.nearest, "likeness by meaning always finds something"
    assert [claim.supported(checked.least) for claim in checked.claims] == [True, False, True]
    assert gaskets.nearest[0].recorded.document.doc_id == "valve.txt"
    assert gaskets.nowhere == ()


def test_likeness_by_meaning_is_that_of_the_semantic_engine(plant: Workplace) -> None:
    """An oracle: the sentence searched as a query has the same cosines."""
    sentence = "Tighten the gland screws"
    result = plant.search(sentence)
    with Catalogue(plant.archive) as catalogue:
        record = recorded_search(catalogue, result.record.record_id)
    ranking = next(one for one in result.record.rankings if one.system == "semantic")
    scores = {hit.passage_id: hit.score for hit in ranking.hits}
    meanings = meanings_of(Engines(plant.archive), [sentence], record)[0]
    for one, cosine in zip(record.passages, meanings, strict=True):
        assert scores[one.passage.passage_id] == pytest.approx(float(cosine), abs=1e-4)


def test_without_the_cache_of_vectors_the_cosines_are_the_same(
    workplace: Workplace,
) -> None:
    workplace.write("pump.md", TEXTS["pump.md"])
    workplace.ingest()
    result = workplace.search("gland screws")
    with Catalogue(workplace.archive) as catalogue:
        record = recorded_search(catalogue, result.record.record_id)
    engines = Engines(workplace.archive)
    kept = meanings_of(engines, ["Tighten it"], record)
    workplace.archive.vectors.write_bytes(b"damaged, and not a database at all" * 200)
    assert kept_vectors(workplace.archive, [b"x" * 32], "any", 32) == {}
    np.testing.assert_allclose(meanings_of(engines, ["Tighten it"], record), kept, atol=1e-5)


def test_a_record_of_an_older_version_is_checked_with_its_own_texts(workplace: Workplace) -> None:
    workplace.write("pump.md", TEXTS["pump.md"])
    workplace.write("other.txt", "Something else about screws.")
    workplace.ingest()
    record_id = workplace.search("gland screws").record.record_id
    workplace.write("pump.md", "# Pump\n\nThe gland has no screws any more since 2025.")
    (workplace.files / "other.txt").unlink()
    workplace.ingest(allow_retire=True)
    with Catalogue(workplace.archive) as catalogue:
        record = recorded_search(catalogue, record_id)
    assert record.corpus_version == 1
    assert {one.document.doc_id for one in record.passages} == {"pump.md", "other.txt"}
    texts = ["Tighten the gland screws to 16 Nm."]
    checked = check_claims(texts, record, meanings_of(Engines(workplace.archive), texts, record))
    assert checked.claims[0].nearest[0].lacking == ()


def test_what_a_reader_may_not_see_is_beside_no_sentence(workplace: Workplace) -> None:
    for name, text in TEXTS.items():
        workplace.write(name, text)
    workplace.ingest()
    board = workplace.search(QUERY, Scope(groups=("board",))).record.record_id
    public = workplace.search(QUERY).record.record_id
    with Catalogue(workplace.archive) as catalogue:
        with pytest.raises(UnknownRecord) as hidden:
            recorded_search(catalogue, board)
        with pytest.raises(UnknownRecord) as missing:
            recorded_search(catalogue, "sha256:0")
        assert str(hidden.value).replace(board, "") == str(missing.value).replace("sha256:0", "")
        shown = recorded_search(catalogue, board, ("board",))
        assert "secret.txt" in {one.document.doc_id for one in shown.passages}
        assert "pump.md" in {
            one.document.doc_id for one in recorded_search(catalogue, public).passages
        }
    # What was for everyone is for the board from now on.
    workplace.write("pump.md.meta.toml", 'groups = ["board"]\n')
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        later = recorded_search(catalogue, public)
    assert {one.document.doc_id for one in later.passages} == {"valve.txt"}


def test_the_command_names_what_no_passage_holds_and_every_key_is_described(
    plant: Workplace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answer.md"
    file.write_text(ANSWER, encoding="utf-8")
    record_id = plant.search(QUERY).record.record_id
    command = ["check-claims", str(file), "--archive", str(plant.archive.root)]
    assert main([*command, "--record", record_id, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["without_support"] == [2]
    described = (ROOT / "docs/context.md").read_text(encoding="utf-8")
    assert [name for name in keys_of(body) if f"`{name}" not in described] == []
    assert main([*command, "--record", record_id]) == 0
    out = capsys.readouterr().out
    assert "Likeness is no proof" in out
    assert "in no passage: 99, ZZ-404" in out
    assert out.splitlines()[-1].startswith(
        "3 sentences, 1 without a passage that holds half of them (2)"
    )
    assert main([*command, "--record", "sha256:0"]) == 2
    error = capsys.readouterr().err
    assert error == "app: no search record 'sha256:0' was kept in this archive\n"
    assert main([*command, "--record", record_id, "--least", "0"]) == 2
    assert "--least is a share" in capsys.readouterr().err


def test_without_the_encoder_words_are_compared_and_the_rest_is_said(
    tmp_path: Path, tiny_encoder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    encoder = tmp_path / "model"
    shutil.copytree(tiny_encoder, encoder)
    workplace = filled_workplace(tmp_path, str(encoder), {"pump.md": TEXTS["pump.md"]})
    record_id = workplace.search("gland screws").record.record_id
    (encoder / "tokenizer.json").write_text("{}", encoding="utf-8")
    file = tmp_path / "answer.md"
    file.write_text("Tighten the gland screws.", encoding="utf-8")
    command = ["check-claims", str(file), "--archive", str(workplace.archive.root)]
    assert main([*command, "--record", record_id]) == 1
    out = capsys.readouterr().out
    assert "note: Likeness by meaning is not known: " in out
    assert "words 3 of 3, meaning unknown" in out


def test_a_text_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.md cannot be read: No such file"):
        sentences_of(tmp_path / "none.md")
    (tmp_path / "empty.md").write_bytes(b"")
    with pytest.raises(BadInput, match=r"empty\.md cannot be read: "):
        sentences_of(tmp_path / "empty.md")
