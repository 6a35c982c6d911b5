"""Counts over the candidates of a search, and the filters that they lead to."""

from __future__ import annotations

import doctest
import json
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import main
from app.pages import facet_markup
from app.pages.address import Address, read_address
from app.query import facets as facets_module
from app.query.facets import FIELDS, Facet, Facets, facets
from app.query.present import rows
from app.query.protocol import make_protocol
from app.query.search import Engines, search
from corpus.query_filters import KINDS, MEDIA_TYPES, media_types
from corpus.scope import Scope
from store.catalogue import Catalogue
from store.errors import BadInput
from tests.conftest import Workplace, make_workplace

EN = "The purge valve of the pump leaks after a restart and the seal has to be replaced."
ES = "La válvula de purga de la bomba pierde después de un arranque y se cambia la junta."


@pytest.fixture(scope="module")
def plant(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Workplace:
    """Two languages, three types, folders two deep, tags, and one document for the board alone."""
    workplace = make_workplace(tmp_path_factory.mktemp("facets"), tiny_encoder)
    long = "\n\n".join(f"{EN} Part {number} of it." for number in range(8))
    workplace.write("pumps/en/a.md", f"# A\n\n{long} HX-204")
    workplace.write("pumps/en/b.txt", f"{EN} AX-2041/B")
    workplace.write("pumps/es/c.txt", ES)
    workplace.write("valves/d.html", f"<title>D</title><p>{EN}</p>")
    workplace.write("top.txt", f"{EN} At the top.")
    workplace.write("valves/secret.txt", f"{EN} Only for the board.")
    workplace.write("valves/secret.txt.meta.toml", 'groups = ["board"]\ntags = ["hidden"]\n')
    workplace.write("pumps/en/a.md.meta.toml", 'tags = ["pumps", "safety"]\n')
    workplace.write("pumps/en/b.txt.meta.toml", 'tags = ["pumps"]\n')
    workplace.ingest()
    return workplace


def counted(
    workplace: Workplace, scope: Scope | None = None, **protocol: object
) -> tuple[Facets, Counter[str]]:
    """The facets of a search, and how many candidates each document of it has."""
    engines = Engines(workplace.archive)
    with Catalogue(workplace.archive) as catalogue:
        asked = make_protocol(**protocol)
        result = search(engines, catalogue, "purge valve", asked, scope, keep=False)
        shown = rows(engines, catalogue, result, 0, len(result.record.fused))
        return facets(catalogue, result), Counter(row.document.doc_id for row in shown)


def values(found: Facets) -> dict[str, dict[str, int]]:
    return {facet.field: dict(facet.counts) for facet in found.facets}


@pytest.mark.parametrize("module", [facets_module, facet_markup])
def test_examples_in_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["document", "passage"])
def test_counts_are_of_all_fused_candidates_and_of_nothing_else(
    plant: Workplace, unit: str
) -> None:
    found, documents = counted(plant, unit=unit)
    assert set(documents) == {
        *("pumps/en/a.md", "pumps/en/b.txt", "pumps/es/c.txt", "valves/d.html", "top.txt"),
    }
    assert found.candidates == sum(documents.values())
    a = documents["pumps/en/a.md"]
    assert (a > 1) == (unit == "passage")
    assert values(found) == {
        "language": {"en": found.candidates - 1, "es": 1},
        "type": {"markdown": a, "text": 3, "html": 1},
        "folder": {"pumps": a + 2, "valves": 1},
        "tag": {"pumps": a + 1, "safety": a},
    }
    assert [facet.field for facet in found.facets] == list(FIELDS)
    for facet in found.facets:
        assert list(facet.counts) == sorted(facet.counts, key=lambda one: (-one[1], one[0]))


def test_what_filters_and_groups_rule_out_is_in_no_count(plant: Workplace) -> None:
    everyone, _ = counted(plant)
    assert "hidden" not in values(everyone)["tag"]
    board, _ = counted(plant, Scope(groups=("board",)))
    assert values(board)["tag"]["hidden"] == 1
    spanish, _ = counted(plant, Scope(languages=("es",)))
    assert (spanish.candidates, values(spanish)["language"]) == (1, {"es": 1})
    nothing, _ = counted(plant, Scope(folder="nowhere"))
    assert (nothing.candidates, values(nothing)) == (0, {name: {} for name in FIELDS})


def test_a_count_is_what_the_search_finds_when_it_is_followed(plant: Workplace) -> None:
    found, documents = counted(plant)
    filters = {
        "language": lambda value: Scope(languages=(value,)),
        "type": lambda value: Scope(media_types=media_types([value])),
        "folder": lambda value: Scope(folder=value),
        "tag": lambda value: Scope(tags=(value,)),
    }
    for facet in found.facets:
        for value, count in facet.counts:
            narrowed, within = counted(plant, filters[facet.field](value))
            assert narrowed.candidates == count
            assert set(within) <= set(documents)


def test_below_a_folder_the_next_ones_are_counted(plant: Workplace) -> None:
    found, _ = counted(plant, Scope(folder="pumps"))
    assert values(found)["folder"] == {"pumps/en": 2, "pumps/es": 1}
    below, _ = counted(plant, Scope(folder="pumps/en"))
    assert values(below)["folder"] == {}


def test_every_type_has_one_short_name_that_means_it() -> None:
    for media_type, kind in KINDS.items():
        assert media_type in MEDIA_TYPES[kind]
    assert {media for several in MEDIA_TYPES.values() for media in several} == set(KINDS)
    with pytest.raises(ValueError, match="a type is a kind of file: pdf"):
        media_types(["pdf", "sheet music"])


def test_the_command_filters_by_type_and_code_and_counts_the_candidates(
    plant: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--archive", str(plant.archive.root)]

    def found(*arguments: str) -> dict[str, object]:
        assert main(["search", "purge valve", "--json", *arguments, *where]) == 0
        body: dict[str, object] = json.loads(capsys.readouterr().out)
        return body

    def ids(*arguments: str) -> set[str]:
        return {row["doc_id"] for row in found(*arguments)["fused"]}  # type: ignore[attr-defined]

    assert ids("--type", "md") == {"pumps/en/a.md"}
    assert ids("--type", "md", "--type", "html") == {"pumps/en/a.md", "valves/d.html"}
    assert ids("--code", "ax2041b") == {"pumps/en/b.txt"}
    assert ids("--code", "hx 204", "--code", "AX-2041/B") == {"pumps/en/a.md", "pumps/en/b.txt"}
    assert ids("--code", "AX-2041/B", "--type", "md") == set()
    assert found("--limit", "1")["facets"] == {
        "counted": "fused documents",
        "candidates": 5,
        "language": [{"value": "en", "count": 4}, {"value": "es", "count": 1}],
        "type": [
            {"value": "text", "count": 3},
            {"value": "html", "count": 1},
            {"value": "markdown", "count": 1},
        ],
        "folder": [{"value": "pumps", "count": 3}, {"value": "valves", "count": 1}],
        "tag": [{"value": "pumps", "count": 2}, {"value": "safety", "count": 1}],
    }
    assert main(["search", "purge valve", "--limit", "1", *where]) == 0
    assert "of the 5 candidates, by language: en 4, es 1" in capsys.readouterr().out
    for wrong, message in (("--type", "a type is a kind of file"), ("--code", "letters or digits")):
        assert main(["search", "x", wrong, "*", *where]) == 2
        assert message in capsys.readouterr().err


class Links(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[Address] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ("div", "p", "dl", "dt", "dd", "span", "a", "b")
        for name, value in attrs:
            if name == "href":
                known = parse_qs(urlsplit(value or "").query, keep_blank_values=True)
                self.addresses.append(read_address({key: one[0] for key, one in known.items()}))

    def handle_data(self, data: str) -> None:
        self.text += data


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@given(words, words, st.integers(1, 5_000))
def test_following_a_count_sets_that_filter_and_keeps_the_rest(
    value: str, query: str, count: int
) -> None:
    """sec-02: a tag or a folder is text from outside."""
    asked = Address(q=query, k="7", since="2024-01-01", n="30")
    found = Facets(count, "document", (Facet("tag", ((value, count),)), Facet("folder", ())))
    links = Links(facet_markup.counts(found, asked, "Ana"))
    assert f"Of the {count:,} candidate" in links.text
    assert value in links.text
    if "," in value:
        assert links.addresses == []
    else:
        wanted = Address(q=query, k="7", since="2024-01-01", tag=value)
        assert links.addresses == [wanted]


def test_a_filter_that_is_set_is_no_link_and_no_candidates_show_nothing() -> None:
    found = Facets(2, "document", (Facet("language", (("es", 2), ("", 1))),))
    links = Links(facet_markup.counts(found, Address(lang="es"), ""))
    assert links.addresses == []
    assert "Spanish 2" in links.text
    assert "unknown 1" in links.text
    many = Facets(99, "document", (Facet("tag", tuple((f"t{n}", 99 - n) for n in range(30))),))
    assert "and 22 more" in Links(facet_markup.counts(many, Address(), "")).text
    assert facet_markup.counts(Facets(), Address(), "") == ""


def test_an_address_makes_the_type_and_code_filters_it_names() -> None:
    asked = Address(type="md,pdf", code=" M8×1,25 ; AX-2041/B;")
    assert asked.scope == Scope(
        media_types=("text/markdown", "application/pdf"), codes=("M8×1,25", "AX-2041/B")
    )
    assert asked.filters
    for wrong in (Address(type="sheet music"), Address(code="--")):
        with pytest.raises(BadInput):
            _ = wrong.scope
