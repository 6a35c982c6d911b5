"""Cutting extracted text into passages, with counters that behave like tokenizers do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.document import Block, Extracted, Span
from corpus.errors import NotExtractable
from corpus.extract import extract
from corpus.extract.build import Builder
from corpus.passage_limit import embedding_text
from corpus.split import split

Count = Callable[[Sequence[str]], Sequence[int]]


def by_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) + 2 for text in texts]


def by_characters(texts: Sequence[str]) -> list[int]:
    return [len(text) + 2 for text in texts]


def by_bytes_in_threes(texts: Sequence[str]) -> list[int]:
    """Not additive: two halves may count more than the whole."""
    return [-(-len(text.encode("utf-8", errors="replace")) // 3) + 2 for text in texts]


def with_unknown_long_words(texts: Sequence[str]) -> list[int]:
    """As word-piece tokenizers do: a word of more than 100 characters is one unknown token."""
    return [
        2 + sum(1 if len(word) > 100 else -(-len(word) // 4) for word in text.split())
        for text in texts
    ]


counters = st.sampled_from([by_words, by_characters, by_bytes_in_threes, with_unknown_long_words])
pieces = st.text(
    alphabet=st.one_of(st.sampled_from("ab .\n|;é\u0301中 "), st.characters(codec="utf-8")),
    max_size=300,
)
blocks = st.lists(
    st.tuples(st.sampled_from(["heading", "paragraph", "item", "row", "code"]), pieces),
    max_size=12,
)


def built(parts: Sequence[tuple[str, str]], title: str = "T") -> Extracted | None:
    builder = Builder()
    for index, (kind, text) in enumerate(parts):
        if kind == "heading":
            builder.heading(text[:40], 1 + index % 3, page=1 + index // 3)
        else:
            builder.add(kind, text.strip(), page=1 + index // 3)  # type: ignore[arg-type]
    try:
        return builder.finish(title, "text/plain")
    except NotExtractable:
        return None


def assert_whole(extracted: Extracted, spans: Sequence[Span]) -> None:
    """Every visible character is in exactly one span, and spans are in order and trimmed."""
    position = 0
    for span in spans:
        assert position <= span.start < span.end <= len(extracted.text)
        assert not extracted.text[position : span.start].strip()
        text = extracted.text[span.start : span.end]
        assert text == text.strip()
        position = span.end
    assert not extracted.text[position:].strip()


def tokens(extracted: Extracted, spans: Sequence[Span], count: Count) -> Sequence[int]:
    return count(
        [
            embedding_text(extracted.title, s.headings, extracted.text[s.start : s.end])
            for s in spans
        ]
    )


@given(blocks, counters, st.integers(120, 400))
def test_any_text_is_covered_once_within_the_limit(
    parts: list[tuple[str, str]], count: Count, limit: int
) -> None:
    extracted = built(parts)
    if extracted is None:
        return
    spans = split(extracted, count, max_tokens=limit)
    assert_whole(extracted, spans)
    assert max(tokens(extracted, spans, count)) <= limit


@given(pieces.filter(str.strip), st.integers(5, 12))
def test_tiny_limits_are_obeyed_down_to_single_characters(text: str, limit: int) -> None:
    text = text.strip()
    extracted = Extracted(text, "T", "text/plain", (Block("paragraph", 0, len(text)),))
    spans = split(extracted, by_characters, max_tokens=limit)
    assert_whole(extracted, spans)
    assert max(tokens(extracted, spans, by_characters)) <= limit


@given(blocks, counters)
def test_pages_and_headings_are_those_of_the_blocks(
    parts: list[tuple[str, str]], count: Count
) -> None:
    extracted = built(parts)
    if extracted is None:
        return
    for span in split(extracted, count, max_tokens=150):
        inside = [b for b in extracted.blocks if b.start < span.end and b.end > span.start]
        assert span.page == inside[0].page
        assert all(block.headings[: len(span.headings)] == span.headings for block in inside)


def test_text_outside_of_blocks_is_not_lost() -> None:
    extracted = Extracted("before the block after", "T", "text/plain", (Block("code", 7, 16),))
    assert_whole(extracted, split(extracted, by_words, max_tokens=20))


def test_text_without_blocks_is_cut_too() -> None:
    extracted = Extracted("one two three four " * 30, "", "text/plain", ())
    spans = split(extracted, by_words, max_tokens=20)
    assert_whole(extracted, spans)
    assert len(spans) >= 7


def test_a_title_that_leaves_no_room_is_refused() -> None:
    extracted = Extracted("text", "a long title of six words", "text/plain", ())
    with pytest.raises(ValueError, match="leaves no room"):
        split(extracted, by_words, max_tokens=7)


def test_sections_under_one_parent_are_joined_and_top_sections_are_not() -> None:
    builder = Builder()
    for chapter in ("One", "Two"):
        builder.heading(chapter, 1)
        for section in ("A", "B", "C"):
            builder.heading(section, 2)
            builder.paragraph("a few words of text here")
    extracted = builder.finish("T", "text/plain")
    spans = split(extracted, by_words, max_tokens=60)
    assert [span.headings for span in spans] == [("One",), ("Two",)]
    assert extracted.text[spans[1].start :].startswith("Two")


def test_a_section_that_fits_is_one_passage_under_its_heading() -> None:
    builder = Builder()
    for section in ("A", "B"):
        builder.heading(section, 1)
        builder.paragraph("word " * 30)
        builder.paragraph("word " * 30)
    spans = split(builder.finish("T", "text/plain"), by_words, max_tokens=80)
    assert [span.headings for span in spans] == [("A",), ("B",)]


def test_a_heading_stays_with_the_text_below_it() -> None:
    builder = Builder()
    builder.heading("First", 1)
    builder.paragraph("word " * 80)
    builder.heading("Second", 1)
    builder.paragraph("word " * 80)
    extracted = builder.finish("T", "text/plain")
    spans = split(extracted, by_words, max_tokens=100)
    assert [extracted.text[s.start : s.end].split()[0] for s in spans] == ["First", "Second"]


def test_a_row_is_not_cut_when_it_fits_by_itself() -> None:
    builder = Builder()
    for number in range(40):
        builder.row([f"AX-{number}", "torque value of this part", "45 N·m"])
    extracted = builder.finish("T", "text/csv")
    spans = split(extracted, by_words, max_tokens=50)
    lines = extracted.text.split("\n")
    assert [line for s in spans for line in extracted.text[s.start : s.end].split("\n")] == lines


def test_long_paragraphs_are_cut_behind_sentences() -> None:
    sentence = "The pump is checked each month and cleaned with a dry cloth."
    text = " ".join([sentence] * 40)
    extracted = Extracted(text, "T", "text/plain", (Block("paragraph", 0, len(text)),))
    spans = split(extracted, by_words, max_tokens=60)
    assert all(text[span.start : span.end].endswith(".") for span in spans)
    assert all(text[span.start : span.end].startswith("The pump") for span in spans)


def test_passages_of_one_text_are_of_like_size() -> None:
    builder = Builder()
    for _ in range(21):
        builder.paragraph("word " * 10)
    extracted = builder.finish("T", "text/plain")
    sizes = tokens(extracted, split(extracted, by_words, max_tokens=203), by_words)
    assert len(sizes) == 2
    assert max(sizes) - min(sizes) <= 20


def test_counting_is_done_in_few_batches() -> None:
    calls = 0

    def counting(texts: Sequence[str]) -> list[int]:
        nonlocal calls
        calls += 1
        return by_words(texts)

    builder = Builder()
    for number in range(300):
        builder.heading(f"Section {number}", 2)
        builder.paragraph("a word or two. " * 60)
    split(builder.finish("T", "text/plain"), counting, max_tokens=100)
    assert calls <= 20


def test_embedding_text_names_title_and_path_once() -> None:
    path = ("Pump HX-204", "Seals", "Replacing")
    assert embedding_text("Pump HX-204", path, "Replace both.") == (
        "Pump HX-204\nSeals > Replacing\nReplace both."
    )
    assert embedding_text("Pump", ("Seals",), "Seals\n\nReplace both.") == (
        "Pump\nSeals\n\nReplace both."
    )
    assert embedding_text("", (), "only text") == "only text"


@given(pieces, st.lists(pieces, max_size=5), pieces)
def test_what_stands_before_the_text_is_bounded(title: str, path: list[str], text: str) -> None:
    whole = embedding_text(title, path, text)
    assert whole.endswith(text)
    assert len(whole.encode()) - len(text.encode()) <= 300


@pytest.mark.parametrize("count", [by_words, by_bytes_in_threes, with_unknown_long_words])
def test_one_endless_line_gives_passages_within_the_limit(count: Count) -> None:
    """ing-21, without a single space: even a tokenizer that calls it one token gets pieces."""
    text = "palabra" * 28_000
    extracted = Extracted(text, "T", "text/plain", (Block("paragraph", 0, len(text)),))
    spans = split(extracted, count, max_tokens=256)
    assert_whole(extracted, spans)
    assert max(tokens(extracted, spans, count)) <= 256
    assert max(span.end - span.start for span in spans) <= 256 * 8


def test_the_endless_line_of_the_cases_is_cut_between_words(shared: Path) -> None:
    """ing-21."""
    extracted = extract(shared / "cases/files/txt_one_line_200kb.txt")
    spans = split(extracted, by_bytes_in_threes, max_tokens=256)
    assert_whole(extracted, spans)
    assert max(tokens(extracted, spans, by_bytes_in_threes)) <= 256
    words = {word for s in spans for word in extracted.text[s.start : s.end].split()}
    assert words == set(extracted.text.split())


def test_the_only_useful_sentence_at_the_end_gets_a_passage(shared: Path) -> None:
    """den-01."""
    extracted = extract(shared / "cases/files/txt_long_tail.txt")
    last = split(extracted, by_words, max_tokens=256)[-1]
    assert "fusible" in extracted.text[last.start : last.end]
