"""The query language: what signs mean, that nothing else is one, and that both lists obey."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.query.highlight import marks_in
from app.query.narrow import MAX_EXPANSIONS
from app.query.read_as import in_words, read_as
from app.query.search import NOTHING_ASKED, ONLY_CONDITIONS
from corpus.query_filters import FIELDS, meaning
from corpus.query_terms import Phrase, Prefix, QueryTerms, Terms
from corpus.stopwords import STOP_WORDS
from corpus.terms import MAX_PREFIXES, MAX_QUERY_TERMS, WORD, fold_words, read_query
from store.embedded import open_backend
from store.embedded.analysis import schema
from store.embedded.clauses import clauses_of
from tests.conftest import Workplace, filled_workplace

ROOT = Path(__file__).resolve().parents[1]

TEXTS = {
    "manuals/pump.md": "# Pump service\n\nUse the torque wrench on the pump. Compressor is off.",
    "manuals/valve.md": "# Shut-off valve\n\nThe wrench gives torque. The pump leaks at the valve.",
    "manuals/seal.txt": "Replace the seal of the pump. Compressed air leak near AX-2041/B.",
    "notes/motor.txt": "motor -40 °C rated, compression ring, relay ax2041b",
    "notes/bomba.txt": "La bomba pierde aceite por la junta; apretar con llave dinamométrica.",
    "notes/alarm.txt": "An ALM means that the PINS are wet. See CrashLoopBackOff.",
}


@pytest.fixture(scope="module")
def plant(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    """A small archive that no test of this file changes."""
    return filled_workplace(tmp_path_factory.mktemp("plant"), tiny_encoder, TEXTS)


def lists(plant: Workplace, query: str) -> tuple[set[str], set[str]]:
    """What the lexical and what the semantic list of a query hold."""
    lexical, semantic = plant.search(query).record.rankings
    assert not lexical.unavailable
    assert not semantic.unavailable
    return {hit.id for hit in lexical.hits}, {hit.id for hit in semantic.hits}


def examples() -> Iterator[tuple[str, str]]:
    text = (ROOT / "docs/query-language.md").read_text(encoding="utf-8")
    for line in text.partition("## Examples")[2].splitlines():
        if match := re.fullmatch(r"\| `(.+)` \| (.+) \|", line):
            yield match[1], match[2]


def test_the_examples_of_the_documentation_are_read_as_it_says() -> None:
    documented = dict(examples())
    assert len(documented) > 25
    read = {query: in_words(read_query(query)) for query in documented}
    assert read == documented


def test_the_documentation_names_every_field() -> None:
    text = (ROOT / "docs/query-language.md").read_text(encoding="utf-8")
    assert [name for name in FIELDS if f"`{name}`" not in text and "\u0301" in name] == []
    assert [name for name in set(FIELDS.values()) if f"`{name}`" not in text] == []


def test_phrases_prefixes_and_alternatives_are_terms_of_their_own() -> None:
    terms = read_query('"Par de Apriete"~2 compr* pump OR bomba seal')
    assert terms.asked.phrases == (Phrase(("par", "de", "apriete"), 2),)
    assert terms.asked.prefixes == (Prefix("compr"),)
    assert terms.words == ("pump", "bomba", "seal")
    assert terms.alternatives == (Terms(words=("pump", "bomba")),)
    assert terms.semantic_text == "Par de Apriete compr pump bomba seal"


@pytest.mark.parametrize(
    "query", ["-40", "\u221240 °C", "motor -40", "two-column", "a - b", "--dry-run", "ls -l", "-"]
)
def test_a_hyphen_that_does_not_begin_a_word_excludes_nothing(query: str) -> None:
    """lex-03"""
    terms = read_query(query)
    assert not terms.excluded
    assert terms.notes == ()


@pytest.mark.parametrize(
    "query",
    ["error: 0x80070005", "relay:", "https://a.b/c", "C:\\temp\\x", "Init:CrashLoopBackOff"],
)
def test_a_word_before_a_colon_is_a_word_unless_it_is_a_field(query: str) -> None:
    """lex-01"""
    terms = read_query(query)
    assert terms.filters == ()
    assert terms.notes == ()
    words = [word for word in WORD.findall(fold_words(query)) if word not in STOP_WORDS]
    assert list(terms.words) == list(dict.fromkeys(words))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("pump lang:xx", "lang understands a language"),
        ("pump after:yesterday", "after understands a day"),
        ("pump hasta:2024-13", "hasta understands a day"),
        ("pump type:Warning", "type understands a kind of file"),
        ('pump "torque wrench', "not closed"),
        ("OR pump", "OR joins two"),
        ("pu* co*", "at least 3 letters"),
        ('"a b"~99', "at most 10"),
        ("pump -the", "nearly every document"),
    ],
)
def test_what_means_nothing_is_read_as_words_with_a_note(query: str, said: str) -> None:
    terms = read_query(query)
    assert said in " ".join(terms.notes)
    assert terms.searchable
    assert terms.filters == ()
    assert read_as(terms).startswith("Read as: ")


def test_dates_are_whole_days_months_or_years() -> None:
    assert meaning("after", "2024") == ("2024-01-01",)
    assert meaning("before", "2024") == ("2024-12-31",)
    assert meaning("before", "2023-02") == ("2023-02-28",)
    assert meaning("before", "2024-02-30") == ()


operands = st.sampled_from(
    [
        *("pump", "-", '"', "OR", "*", ":", "~2", "compr*", "-leak", 'title:"', "type:pdf", "x"),
        *("-type:pdf", '"air leak"', "AX-2041/B", "(", "code:", "after:2024", "«", "»", "-40"),
        *("lang:", "path:"),
    ]
)
written = st.one_of(
    st.text(max_size=3000),
    st.lists(st.one_of(operands, st.text(max_size=4)), max_size=30).map(" ".join),
    st.lists(operands, max_size=30).map("".join),
    st.lists(operands, min_size=100, max_size=300).map(" ".join),
)


def held(terms: QueryTerms) -> int:
    asked = terms.asked
    return len(asked.words) + len(asked.codes) + len(asked.phrases) + len(asked.prefixes)


@given(written)
def test_any_text_at_all_is_read_and_its_work_is_bounded(text: str) -> None:
    terms = read_query(text)
    assert held(terms) <= MAX_QUERY_TERMS
    prefixes = (*terms.asked.prefixes, *terms.excluded.prefixes)
    assert len(prefixes) <= MAX_PREFIXES
    assert all(prefix.text for prefix in prefixes)
    assert all(phrase.words for phrase in (*terms.asked.phrases, *terms.excluded.phrases))
    assert len(terms.filters) <= MAX_QUERY_TERMS
    assert len(clauses_of(schema(), terms)) <= MAX_QUERY_TERMS
    assert all(len(note) < 2_200 for note in terms.notes)
    in_words(terms)


@given(
    st.text(
        st.characters(exclude_characters='"\u201c\u201d\u201e\u00ab\u00bb\uff02-*:\uff0a\uff1a~'),
        max_size=300,
    )
)
def test_a_query_without_signs_is_its_words_and_its_text(text: str) -> None:
    terms = read_query(text)
    if "OR" in terms.text.split() or re.search(r"-", terms.text):
        return
    words = WORD.findall(fold_words(text.replace("\0", " ")))
    wanted = list(dict.fromkeys(word for word in words if word not in STOP_WORDS))
    assert list(terms.words) == wanted[: len(terms.words)]
    assert len(terms.words) == min(len(wanted), MAX_QUERY_TERMS - len(terms.codes))
    assert terms.semantic_text == terms.text
    assert not (terms.asked.phrases or terms.asked.prefixes or terms.alternatives or terms.narrowed)


def test_a_query_that_is_made_of_codes_only_says_so() -> None:
    for query in ("AX-2041/B", "the M851", "10 kΩ", "G28 or G29", "AX 2041", "¿M851?"):
        assert read_query(query).codes_only, query
    for query in ("relay AX-2041/B", '"AX-2041"', "pump", "", "AX-20*", "de la"):
        assert not read_query(query).codes_only, query


def test_short_capitals_have_no_stem_except_in_a_line_of_capitals() -> None:
    assert read_query("ALM PINS").asked.unstemmed == ("alm", "pins")
    assert read_query("pins PINS").asked.unstemmed == ()
    assert read_query("SET THE PUMP ON").asked.unstemmed == ()


def test_a_phrase_finds_its_words_in_order_and_slop_lets_them_move(plant: Workplace) -> None:
    assert lists(plant, '"torque wrench"')[0] == {"manuals/pump.md"}
    assert lists(plant, '"wrench torque"')[0] == set()
    assert lists(plant, '"wrench torque"~1')[0] == {"manuals/valve.md"}
    assert lists(plant, '"wrench torque"~2')[0] == {"manuals/pump.md", "manuals/valve.md"}
    assert lists(plant, '"pump"')[0] == {"manuals/pump.md", "manuals/valve.md", "manuals/seal.txt"}
    assert lists(plant, '"pump service"')[0] == {"manuals/pump.md"}


def test_a_prefix_finds_every_word_and_code_that_begins_so(plant: Workplace) -> None:
    assert lists(plant, "compress*")[0] == {
        *("manuals/pump.md", "manuals/seal.txt", "notes/motor.txt")
    }
    assert lists(plant, "AX-20*")[0] == {"manuals/seal.txt", "notes/motor.txt"}
    (prefix,) = plant.search("compress*").record.terms.asked.prefixes
    assert set(prefix.words) == {"compressor", "compressed", "compression"}


def test_a_prefix_of_very_many_words_is_cut_and_says_so(workplace: Workplace) -> None:
    workplace.write("a.txt", " ".join(f"word{number}" for number in range(MAX_EXPANSIONS + 9)))
    workplace.write("b.txt", "word0 wording")
    workplace.ingest()
    result = workplace.search("word*")
    (prefix,) = result.record.terms.asked.prefixes
    assert len(prefix.words) == MAX_EXPANSIONS
    assert any("50 most frequent" in note for note in result.notes)
    cut = (
        open_backend(workplace.archive)
        .for_reader(())
        .words_beginning("word", 99, frozenset({"b.txt"}))
    )
    assert set(cut) == {"word0", "wording"}


def test_what_or_joins_is_one_clause(plant: Workplace) -> None:
    found, _ = lists(plant, "seal OR bomba")
    assert found == {"manuals/seal.txt", "notes/bomba.txt"}
    assert [c.text for c in clauses_of(schema(), read_query("seal OR bomba pump"))] == [
        "pump",
        "seal OR bomba",
    ]


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("pump -leak", {"manuals/pump.md", *(name for name in TEXTS if "notes" in name)}),
        ('pump -"torque wrench"', set(TEXTS) - {"manuals/pump.md"}),
        ("relay -AX2041B", set(TEXTS) - {"manuals/seal.txt", "notes/motor.txt"}),
        (
            "pump -compress*",
            set(TEXTS) - {"manuals/pump.md", "manuals/seal.txt", "notes/motor.txt"},
        ),
        ("pump type:markdown", {"manuals/pump.md", "manuals/valve.md"}),
        ("pump -tipo:md", set(TEXTS) - {"manuals/pump.md", "manuals/valve.md"}),
        ("pump lang:es", {"notes/bomba.txt"}),
        ("pump path:NOTES\\", {"notes/motor.txt", "notes/bomba.txt", "notes/alarm.txt"}),
        ("pump title:valve", {"manuals/valve.md"}),
        ('pump title:"shut-off valve" title:service', {"manuals/valve.md", "manuals/pump.md"}),
        ("pump -title:valve", set(TEXTS) - {"manuals/valve.md"}),
        ("pump code:ax-2041.B", {"manuals/seal.txt", "notes/motor.txt"}),
        ("pump code:AX2041B path:notes", {"notes/motor.txt"}),
        ("pump after:2000 before:2999", set(TEXTS)),
        ("pump before:1999", set()),
        ("pump tag:nothing", set()),
    ],
)
def test_filters_and_exclusions_bind_both_systems(
    plant: Workplace, query: str, kept: set[str]
) -> None:
    """fil-02: the semantic list holds whatever is permitted, so that it shows the set itself."""
    lexical, semantic = lists(plant, query)
    assert semantic == kept
    assert lexical <= kept


def test_an_excluded_document_is_never_in_either_list(plant: Workplace) -> None:
    words = sorted({word for text in TEXTS.values() for word in WORD.findall(fold_words(text))})
    content = [
        word for word in words if word not in STOP_WORDS and word.isalpha() and len(word) > 1
    ]

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(content), st.sampled_from(content))
    def never(wanted: str, unwanted: str) -> None:
        lexical, semantic = lists(plant, f"{wanted} -{unwanted}")
        holding = {
            name for name, text in TEXTS.items() if unwanted in WORD.findall(fold_words(text))
        }
        assert not holding & (lexical | semantic)
        assert lexical <= semantic

    never()


@pytest.mark.parametrize("query", ["type:pdf", "-leak", "-leak lang:en", "-AX-2041", 'title:"x y"'])
def test_a_query_of_conditions_alone_finds_nothing_and_says_so(
    plant: Workplace, query: str
) -> None:
    result = plant.search(query)
    assert result.record.fused == ()
    assert ONLY_CONDITIONS in result.notes
    assert NOTHING_ASKED not in result.notes
    assert not result.partial


def test_how_a_query_was_read_is_in_the_record_and_in_a_note(plant: Workplace) -> None:
    result = plant.search('"torque wrench" -leak type:md')
    read = result.record.as_data()["read"]
    assert read["phrases"] == [{"words": ["torque", "wrench"], "slop": 0}]
    assert read["excluded"]["words"] == ["leak"]
    assert read["filters"][0]["values"] == ["text/markdown"]
    assert result.notes == ('Read as: "torque wrench"; without leak; only type:md.',)
    assert plant.search("torque wrench").notes == ()


def test_conditions_that_cannot_be_told_leave_no_list_unbound(workplace: Workplace) -> None:
    for name in ("manuals/pump.md", "manuals/seal.txt"):
        workplace.write(name, TEXTS[name])
    workplace.ingest()
    (generation,) = workplace.archive.generations.iterdir()
    next((generation / "lexical").glob("*.term")).unlink()
    result = workplace.search("pump -leak")
    assert result.partial
    assert result.record.fused == ()
    assert len(result.notes) == 2
    assert not workplace.search("pump").record.rankings[1].unavailable


def test_the_exact_spelling_is_above_another_and_that_above_a_part(workplace: Workplace) -> None:
    """lex-05"""
    spelled = {
        "a_part.txt": "Relay AX-2041 in the panel",
        "b_folded.txt": "Relay ax2041b in the panel",
        "c_exact.txt": "Relay AX-2041/B in the panel",
    }
    for name, text in spelled.items():
        workplace.write(name, text)
    workplace.ingest()
    assert workplace.ids("AX-2041/B", "lexical") == ["c_exact.txt", "b_folded.txt", "a_part.txt"]
    assert workplace.ids("ax2041b", "lexical")[0] == "b_folded.txt"
    assert workplace.ids("AX-2041", "lexical")[0] == "a_part.txt"


def test_numbers_units_and_threads_meet_in_every_spelling(workplace: Workplace) -> None:
    texts = {
        "ohm.txt": "bleeder resistor of 10 kΩ",
        "cold.txt": "rated to -40 °C outdoors",
        "inch.txt": 'hose of 3/8" bore',
        "thread.txt": "bolt M8 x 1,25 galvanised",
        "sum.txt": "a total of 1.234,5 litros",
        "grouped.txt": "after 1,234 cycles",
        "flag.txt": "run it with --dry-run first",
    }
    for name, text in texts.items():
        workplace.write(name, text)
    workplace.ingest()
    queries = {
        **dict.fromkeys(("10kΩ", "10 kohm", "10k"), "ohm.txt"),
        **dict.fromkeys(("-40°C", "\u221240 ºC"), "cold.txt"),
        **dict.fromkeys(('3/8"', "3/8 inch"), "inch.txt"),
        **dict.fromkeys(("M8x1.25", "M8×1.25"), "thread.txt"),
        **dict.fromkeys(("1,234.5", "1234.5"), "sum.txt"),
        **dict.fromkeys(("1234", "1.234"), "grouped.txt"),
        **dict.fromkeys(("--dry-run", "dry-run"), "flag.txt"),
    }
    assert {query: workplace.ids(query, "lexical")[:1] for query in queries} == {
        query: [name] for query, name in queries.items()
    }


def test_humps_are_words_both_ways(workplace: Workplace) -> None:
    workplace.write("code.txt", "state CrashLoopBackOff")
    workplace.write("prose.txt", "a crash loop back off follows")
    workplace.ingest()
    assert workplace.ids("CrashLoopBackOff", "lexical") == ["code.txt", "prose.txt"]
    assert set(workplace.ids("crash", "lexical")) == {"code.txt", "prose.txt"}


def test_short_capitals_match_without_a_stem_at_both_ends(plant: Workplace) -> None:
    assert plant.ids("pin", "lexical") == []
    assert plant.ids("PIN", "lexical") == []
    assert plant.ids("pins", "lexical") == plant.ids("PINS", "lexical") == ["notes/alarm.txt"]


def marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in marks_in(text, read_query(query))]


@pytest.mark.parametrize(
    ("text", "query", "marks"),
    [
        ("válvula: torque wrench, wrench", '"torque wrench"', ["torque", "wrench"]),
        ("wrench gives torque", '"torque wrench"~2', []),
        ("wrench gives torque", '"torque wrench"~3', ["wrench", "torque"]),
        ("presión compresora compás", "compr*", ["compresora"]),
        ("año: relé ax 2041 b y AX-2041/C", "AX-2041/B", ["ax", "2041", "b", "AX", "2041"]),
        ("Rele\u0301 AX\u20112041/B listo", "ax2041b", ["AX\u20112041/B"]),
        ("a 10 k\u2126 resistor", "10kΩ", ["10 k\u2126"]),
        ("perno M8×1,25 aquí", "M8x1.25", ["M8×1,25"]),
        ("the PINS and pins", "pin", ["pins"]),
        ("pump leak", "pump -leak type:pdf", ["pump"]),
    ],
)
def test_marks_show_phrases_prefixes_and_codes_in_any_spelling(
    text: str, query: str, marks: list[str]
) -> None:
    """lex-15"""
    assert marked(text, query) == marks
