"""Texts too large for one document are read in parts, in bounded memory."""

from __future__ import annotations

import codecs
import io
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import large_text
from corpus.containers import container_kind, unpack
from corpus.errors import NotExtractable
from corpus.extract import extract
from corpus.large_text import PART_BYTES, PARTS_FROM, cut
from store.catalogue import Catalogue
from tests.conftest import Workplace

MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
LINE = "2024-05-07 10:02 node7 ERROR E-0042 the purge valve of the compressor is stuck\n"


def parts(data: bytes, size: int, *, table: bool = False) -> list[bytes]:
    return list(cut(io.BytesIO(data), table=table, part_bytes=size))


@given(st.binary(max_size=2_000), st.integers(64, 300))
def test_parts_of_any_bytes_join_to_those_bytes(data: bytes, size: int) -> None:
    found = parts(b"x" + data, size)
    assert b"".join(found) == b"x" + data
    assert all(0 < len(part) <= size for part in found)


@given(st.text(max_size=700), st.sampled_from(sorted(MARKS)), st.integers(64, 300))
def test_parts_of_marked_text_are_text_of_the_same_encoding(
    text: str, encoding: str, size: int
) -> None:
    data = MARKS[encoding] + text.encode(encoding, "replace")
    found = parts(data, size)
    assert all(part.startswith(MARKS[encoding]) and len(part) <= size for part in found)
    decoded = [part.removeprefix(MARKS[encoding]).decode(encoding) for part in found]
    assert "".join(decoded) == text.encode(encoding, "replace").decode(encoding)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=700), st.integers(64, 300))
def test_no_code_point_of_unmarked_text_is_cut(text: str, size: int) -> None:
    data = ("é" + text).encode()
    assert "".join(part.decode() for part in parts(data, size)) == "é" + text


@given(st.lists(st.text("ab cñ€😀", max_size=60), max_size=60), st.integers(300, 500))
def test_parts_end_after_lines_where_lines_are_shorter_than_parts(
    lines: list[str], size: int
) -> None:
    data = "".join(line + "\n" for line in lines).encode()
    assert all(part.endswith(b"\n") for part in parts(data, size))


def test_an_endless_line_is_cut_at_white_space_and_a_word_between_code_points() -> None:
    assert parts(b"word " * 40, 64) == [b"word " * 12] * 3 + [b"word " * 4]
    assert [len(part) for part in parts("€".encode() * 50, 64)] == [63, 63, 24]
    assert parts(b"a" * 60 + b"\rb" * 5 + b"\r\n", 64)[0] == b"a" * 60 + b"\rb\r"


def test_utf16_that_has_no_mark_gets_one_where_its_beginning_is_missing() -> None:
    text = "The purge valve. " * 60
    first, *others = parts(text.encode("utf-16-le"), 400)
    assert not first.startswith(codecs.BOM_UTF16_LE)
    assert others
    assert all(part.startswith(codecs.BOM_UTF16_LE) for part in others)
    assert first.decode("utf-16-le") + "".join(p.decode("utf-16") for p in others) == text


def test_every_part_of_a_table_begins_with_its_header(tmp_path: Path) -> None:
    header = b"code,remark\n"
    rows = [b'AX-%d,"two\nlines, one cell"\n' % number for number in range(60)]
    found = parts(header + b"".join(rows), 200, table=True)
    assert b"".join([header, *(part.removeprefix(header) for part in found)]) == header + b"".join(
        rows
    )
    for part in found:
        assert part.startswith(header)
        assert part.endswith(b'cell"\n')
    (tmp_path / "a.csv").write_bytes(found[-1])
    assert "code: AX-59 | remark: two lines, one cell" in extract(tmp_path / "a.csv").text


def test_a_stray_quote_does_not_make_a_row_endless() -> None:
    rows = b"".join(b'AX-%d,a 5" pipe\n' % number for number in range(40))
    found = parts(b"code,remark\n" + rows, 100, table=True)
    assert all(part.endswith(b"pipe\n") and len(part) <= 100 for part in found)


def test_a_text_that_grew_keeps_its_parts_but_the_last() -> None:
    before = parts(LINE.encode() * 50, 500)
    after = parts(LINE.encode() * 80, 500)
    assert after[: len(before) - 1] == before[:-1]


def test_cutting_takes_the_memory_of_a_few_parts_however_long_the_text() -> None:
    size = 1 << 20

    class Endless:
        left = 64 * size

        def read(self, wanted: int = -1, /) -> bytes:
            piece = b"purge valve\n" * (min(wanted, self.left) // 12 + 1)
            piece = piece[: min(wanted, self.left)]
            self.left -= len(piece)
            return piece

    tracemalloc.start()
    try:
        total = sum(len(part) for part in cut(Endless(), part_bytes=size))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == 64 * size
    assert peak < 6 * size


def lines_of(size: int) -> Iterator[str]:
    return (f"{number:07d} {LINE}" for number in range(size // (len(LINE) + 8) + 1))


def test_only_text_above_the_size_is_read_in_parts(tmp_path: Path) -> None:
    small, large = tmp_path / "small.log", tmp_path / "large.log"
    small.write_text("".join(lines_of(PARTS_FROM - 1_000)))
    large.write_text("".join(lines_of(PARTS_FROM)))
    assert container_kind(small) is None
    assert container_kind(large) == "large text"
    into = tmp_path / "into"
    into.mkdir()
    held = unpack(large, into)
    assert [member.name for member in held.members] == [b"part 0001", b"part 0002", b"part 0003"]
    assert held.members[0].path.name == "large, part 1.log"
    assert b"".join(member.path.read_bytes() for member in held.members) == large.read_bytes()
    for begin in ("<!doctype html>", '{"text": "', "{\\rtf1 "):
        large.write_text(begin + "".join(lines_of(PARTS_FROM)))
        assert container_kind(large) is None


def test_a_text_beyond_measure_is_refused_with_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "endless.log"
    path.write_text(LINE)
    with path.open("r+b") as stream:
        stream.truncate(large_text.MAX_CUT_BYTES + 1)
    with pytest.raises(NotExtractable, match=r"8\.0 GB, over the limit of 8 GB"):
        large_text.refuse_beyond_measure(path)


def test_a_large_text_is_found_part_by_part_and_goes_with_its_file(workplace: Workplace) -> None:
    """ing-21: wholly in, although it is over the size that one document may have."""
    words = ["The anodizing bath overheats.", "A gasket leaks.", "The chiller trips."]
    gap = "\n" * (PART_BYTES + (1 << 20))
    big = workplace.write("big.log", gap.join(words))
    workplace.write("other.md", "Change the filter.")
    report = workplace.ingest()
    assert (report.outcomes["added"], report.failed) == (4, [])
    assert workplace.ids("anodizing", "lexical") == ["big.log/part 0001"]
    assert workplace.ids("chiller", "lexical") == ["big.log/part 0003"]
    assert not workplace.ingest().new_version
    with Catalogue(workplace.archive) as catalogue:
        titles = [document.title for document in catalogue.documents(1)]
    assert titles == ["big, part 1", "big, part 2", "big, part 3", "other"]
    big.write_text("Only the gasket is left.")
    report = workplace.ingest(allow_retire=True)
    assert len(report.retired) == 3
    assert workplace.ids("gasket", "lexical") == ["big.log"]
    assert workplace.ids("chiller", "lexical") == []
