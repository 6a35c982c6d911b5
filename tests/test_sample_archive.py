"""The sample archive keeps its promises: counts, traps, topics, judgments and made files."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import docx
import pypdfium2
import pytest

from corpus.judging import GRADES, Topic
from corpus.sample.make_binaries import build, main

SAMPLE = Path(__file__).resolve().parents[1] / "corpus" / "sample"
ARCHIVE = SAMPLE / "archive"

SAME_SUBJECT = [
    (
        "procedures/px-310-b-mechanical-seal-rev3.md",
        "es/procedimientos/cierre-mecánico-px-310-b.md",
    ),
    ("procedures/lockout-tagout.pdf", "es/procedimientos/bloqueo-y-etiquetado.pdf"),
    (
        "procedures/chiller-start-up-after-shutdown.docx",
        "es/procedimientos/arranque-enfriadora.docx",
    ),
    ("procedures/conveyor-chain-tension.md", "es/procedimientos/tensado-cadena-transportador.md"),
    ("procedures/compressor-oil-change.html", "es/procedimientos/cambio-aceite-compresor.html"),
    ("alarms/plc-alarm-list.csv", "es/alarmas/lista-alarmas-plc.csv"),
    ("bulletins/sb-2022-11-dryer-purge-valve.pdf", "es/boletines/bs-2022-11-válvula-de-purga.pdf"),
    ("safety/caustic-soda-handling.md", "es/seguridad/sosa-cáustica-cip.md"),
    ("safety/robot-cell-safe-access.docx", "es/seguridad/acceso-célula-robot.docx"),
]


def files() -> list[Path]:
    return sorted(path for path in ARCHIVE.rglob("*") if path.is_file())


def topics() -> list[Topic]:
    with (SAMPLE / "topics.toml").open("rb") as stream:
        return [
            Topic(topic_id=entry.pop("id"), **entry) for entry in tomllib.load(stream)["topics"]
        ]


def judgments() -> list[tuple[str, str, int]]:
    with (SAMPLE / "judgments.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["topic_id"], row["path"], int(row["grade"])) for row in rows]


def text_boxes(page: pypdfium2.PdfPage) -> list[tuple[float, float, float, float]]:
    """The (left, bottom, right, top) of each run of text below the page's title, in points."""
    text = page.get_textpage()
    boxes = [text.get_rect(index) for index in range(text.count_rects())]
    return [box for box in boxes if box[3] < page.get_height() - 105]


def test_six_formats_and_two_languages_are_present() -> None:
    formats = Counter(path.suffix for path in files())
    assert set(formats) == {".md", ".html", ".txt", ".csv", ".docx", ".pdf"}
    assert min(formats.values()) >= 5
    spanish = [path for path in files() if path.relative_to(ARCHIVE).parts[0] == "es"]
    assert len(files()) >= 36
    assert len(spanish) >= 10


@pytest.mark.parametrize("pair", SAME_SUBJECT, ids=lambda pair: Path(pair[0]).stem)
def test_subject_exists_in_both_languages(pair: tuple[str, str]) -> None:
    assert all((ARCHIVE / path).is_file() for path in pair)


def test_the_sample_stays_small() -> None:
    sizes = {path.name: path.stat().st_size for path in files()}
    assert max(sizes.values()) < 60_000
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < 1_000_000


def test_counts_in_the_readme_are_true() -> None:
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    assert f"{len(files())} files" in readme
    assert f"{len(topics())} queries" in readme
    assert f"{len(judgments())} judgments" in readme


def test_made_files_are_reproduced_byte_for_byte() -> None:
    made = dict(build())
    committed = {path.relative_to(ARCHIVE) for path in files() if path.suffix in (".pdf", ".docx")}
    assert set(made) == committed
    differing = [path for path, content in made.items() if (ARCHIVE / path).read_bytes() != content]
    assert differing == []


def test_check_option_finds_the_committed_files_current() -> None:
    assert main(["--check"]) == 0


def test_two_revisions_differ_in_the_gland_torque() -> None:
    old, new = (
        (ARCHIVE / f"procedures/px-310-b-mechanical-seal-rev{n}.md").read_text(encoding="utf-8")
        for n in (2, 3)
    )
    assert "**28 N·m**" in old and "16 N·m" not in old
    assert "**16 N·m**" in new and "28 N·m" not in new


def test_near_duplicates_differ_in_one_value() -> None:
    name = "tt-204-temperature-loop.md"
    words, other = (
        (ARCHIVE / folder / name).read_text(encoding="utf-8").split()
        for folder in ("calibration", "calibration/superseded")
    )
    assert [pair for pair in zip(words, other, strict=True) if pair[0] != pair[1]] == [
        ("+7.0", "+9.0")
    ]


def test_thread_chart_is_identical_under_two_paths_and_nothing_else_is() -> None:
    by_content = defaultdict(list)
    for path in files():
        by_content[path.read_bytes()].append(path.relative_to(ARCHIVE).as_posix())
    assert [paths for paths in by_content.values() if len(paths) > 1] == [
        ["parts/Fastener and thread chart.md", "workshop/fastener-and-thread-chart.md"]
    ]


def test_spanish_night_note_is_cp1252_and_not_utf8() -> None:
    content = (ARCHIVE / "es/notas de turno/2024-03-12 noche.txt").read_bytes()
    with pytest.raises(UnicodeDecodeError):
        content.decode("utf-8")
    assert "Muñoz" in content.decode("cp1252")


def test_spanish_alarm_list_keeps_its_mark_and_line_ends() -> None:
    content = (ARCHIVE / "es/alarmas/lista-alarmas-plc.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    assert content.count(b"\n") == content.count(b"\r\n") > 10


def test_csv_rows_are_as_wide_as_their_header() -> None:
    for path in ARCHIVE.rglob("*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as stream:
            delimiter = ";" if "es" in path.relative_to(ARCHIVE).parts else ","
            header, *rows = csv.reader(stream, delimiter=delimiter)
        assert 10 <= len(rows) <= 40, path
        assert {len(row) for row in rows} == {len(header)}, path


def test_html_pages_carry_markup_that_is_not_text() -> None:
    pages = [path.read_text(encoding="utf-8") for path in ARCHIVE.rglob("*.html")]
    assert all("<style>" in page and "<nav>" in page for page in pages)
    assert sum("<script>" in page for page in pages) >= 2


def test_word_files_have_a_table_a_header_and_a_footer() -> None:
    for path in ARCHIVE.rglob("*.docx"):
        document = docx.Document(str(path))
        section = document.sections[0]
        assert document.tables, path
        assert "Arroyo Claro" in section.header.paragraphs[0].text, path
        assert section.footer.paragraphs[0].text, path


def test_dryer_bulletin_is_set_in_two_columns() -> None:
    page = pypdfium2.PdfDocument(ARCHIVE / "bulletins/sb-2022-11-dryer-purge-valve.pdf")[0]
    middle = page.get_width() / 2
    boxes = text_boxes(page)
    left = [box for box in boxes if box[2] < middle]
    right = [box for box in boxes if box[0] > middle]
    assert len(left) + len(right) == len(boxes)
    beside = [a for a in left if any(a[1] < b[3] and b[1] < a[3] for b in right)]
    assert len(beside) > 20


def test_lockout_procedure_is_set_in_one_column_on_three_pages() -> None:
    document = pypdfium2.PdfDocument(ARCHIVE / "procedures/lockout-tagout.pdf")
    middle = document[0].get_width() / 2
    assert len(document) == 3
    assert sum(box[0] < middle < box[2] for box in text_boxes(document[0])) >= 8


def test_table_of_the_valve_sheet_can_be_read_from_the_pdf() -> None:
    page = pypdfium2.PdfDocument(ARCHIVE / "parts/valve-kv-1140-c-parts.pdf")[0]
    text = page.get_textpage().get_text_bounded()
    assert all(word in text for word in ("DPH.1140-3", "3/8-16 UNC", "27 N·m", 'G 1/4"'))


def test_topics_are_split_twelve_to_eight_and_named_once() -> None:
    assert Counter(topic.split for topic in topics()) == {"dev": 12, "test": 8}
    assert len({topic.topic_id for topic in topics()}) == len(topics()) == 20
    assert all(topic.need and topic.author for topic in topics())


def test_judgments_are_grades_of_existing_files_given_once() -> None:
    rows = judgments()
    names = {path.relative_to(ARCHIVE).as_posix() for path in files()}
    assert len(rows) >= 120
    assert {path for _, path, _ in rows} <= names
    assert {grade for _, _, grade in rows} == set(GRADES)
    assert len({(topic, path) for topic, path, _ in rows}) == len(rows)
    assert {topic for topic, _, _ in rows} == {topic.topic_id for topic in topics()}


def test_every_topic_has_an_answer_and_something_that_only_looks_like_one() -> None:
    grades = defaultdict(list)
    for topic, _, grade in judgments():
        grades[topic].append(grade)
    assert all(max(given) >= 2 and min(given) == 0 for given in grades.values())


def test_identical_files_are_judged_alike() -> None:
    grades = {(topic, (ARCHIVE / path).read_bytes(), grade) for topic, path, grade in judgments()}
    assert len(grades) == len({(topic, content) for topic, content, _ in grades})
