"""Opening a document at a passage."""

from __future__ import annotations

import pytest

from app.query.reading import AROUND, WHOLE, Reading, read_document
from app.query.side_by_side import FUSED, Column, columns
from store.catalogue import Catalogue
from store.errors import UnknownDocument
from tests.conftest import Workplace

LONG = "\n\n".join(
    f"## Step {number}\n\n" + f"Turn valve V-{number} slowly and wait. " * 12
    for number in range(60)
)


def opened(
    workplace: Workplace, doc_id: str, ordinal: int | None, *, whole: bool = False
) -> Reading:
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.latest()
        assert version is not None
        passage = "" if ordinal is None else f"{doc_id}@1#{ordinal:05d}"
        return read_document(catalogue, version, doc_id, passage, whole=whole)


def full_text(workplace: Workplace, doc_id: str) -> str:
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.latest()
        assert version is not None
        return catalogue.text(version, doc_id)


def test_pieces_join_to_the_text_around_the_passage(workplace: Workplace) -> None:
    workplace.write("long.md", LONG)
    workplace.write("short.txt", "Close the valve.\n\nOpen the drain.")
    workplace.ingest()
    text = full_text(workplace, "long.md")
    assert len(text) > WHOLE
    last = opened(workplace, "long.md", 0).passages - 1
    assert last > 2 * AROUND
    for ordinal in (0, 1, AROUND, AROUND + 1, last - 1, last):
        entry = opened(workplace, "long.md", ordinal)
        head, tail = entry.left_out
        assert text[head : len(text) - tail] == entry.before + entry.shown + entry.after
        assert entry.shown
        assert entry.number == ordinal + 1
        whole = opened(workplace, "long.md", ordinal, whole=True)
        assert whole.before + whole.shown + whole.after == text
        assert whole.left_out == (0, 0)
    assert opened(workplace, "long.md", 0).left_out[0] == 0
    assert opened(workplace, "long.md", last).left_out[1] == 0
    short = opened(workplace, "short.txt", 0)
    assert short.left_out == (0, 0)


def test_neighbours_are_the_passages_before_and_after(workplace: Workplace) -> None:
    workplace.write("long.md", LONG)
    workplace.ingest()
    first = opened(workplace, "long.md", 0)
    assert (first.previous, first.following) == ("", "long.md@1#00001")
    second = opened(workplace, "long.md", 1)
    assert (second.previous, second.following) == ("long.md@1#00000", "long.md@1#00002")
    assert opened(workplace, "long.md", first.passages - 1).following == ""
    unplaced = opened(workplace, "long.md", None)
    assert (unplaced.number, unplaced.shown, unplaced.previous) == (0, "", "")
    assert unplaced.following == "long.md@1#00000"


def test_a_passage_of_an_older_revision_is_said_to_be_out_of_force(workplace: Workplace) -> None:
    workplace.write("torque.txt", "Tighten to 28 N·m.")
    workplace.ingest()
    workplace.write("torque.txt", "Tighten to 16 N·m.")
    workplace.ingest()
    entry = opened(workplace, "torque.txt", 0)
    assert "not in force any more" in entry.note
    assert "revision 2" in entry.note
    assert "16" in entry.after
    assert entry.passage is None


def test_a_document_that_the_reader_may_not_see_does_not_exist(workplace: Workplace) -> None:
    workplace.write("open.txt", "Everyone reads this.")
    workplace.write("secret.txt", "Only the board reads this.")
    workplace.ingest()
    with Catalogue(workplace.archive) as catalogue:
        catalogue.database.execute(
            "UPDATE states SET \"groups\" = '[\"board\"]' WHERE doc_id = 'secret.txt'"
        )
        version = catalogue.latest()
        assert version is not None
        with pytest.raises(UnknownDocument) as hidden:
            read_document(catalogue, version, "secret.txt")
        with pytest.raises(UnknownDocument) as absent:
            read_document(catalogue, version, "absent.txt")
        assert str(hidden.value).replace("secret", "absent") == str(absent.value)
        assert read_document(catalogue, version, "open.txt").document.doc_id == "open.txt"


def test_citation_names_title_revision_version_and_passage(workplace: Workplace) -> None:
    workplace.write("pump.md", "# Pump PX-310\n\nTighten the gland.")
    workplace.ingest()
    entry = opened(workplace, "pump.md", 0)
    assert entry.citation == "Pump PX-310, revision 1, corpus version 1, pump.md@1#00000"


def test_columns_say_where_each_document_stands_in_every_list(workplace: Workplace) -> None:
    workplace.write("gland.txt", "Tighten the gland screws of the pump.")
    workplace.write("chiller.txt", "The chiller trips at night.")
    workplace.write("filter.txt", "Change the filter of the compressor.")
    workplace.ingest()
    result = workplace.search("gland screws", depths={"semantic": 2})
    with Catalogue(workplace.archive) as catalogue:
        lexical, fused, semantic = columns(catalogue, result, 20)
    assert (lexical.name, fused.name, semantic.name) == ("lexical", FUSED, "semantic")
    assert (lexical.length, lexical.exhausted) == (1, True)
    assert (semantic.length, semantic.depth, semantic.exhausted) == (2, 2, False)
    for column in (lexical, fused, semantic):
        assert [entry.ranks[column.name] for entry in column.entries] == list(
            range(1, len(column.entries) + 1)
        )
    gland = fused.entries[0]
    assert gland.document.doc_id == "gland.txt"
    assert gland.ranks["lexical"] == 1
    assert [len(column.entries) for column in columns_of(workplace, 1)] == [1, 1, 1]


def columns_of(workplace: Workplace, length: int) -> list[Column]:
    with Catalogue(workplace.archive) as catalogue:
        return list(columns(catalogue, workplace.search("gland screws"), length))
