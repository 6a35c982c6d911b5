"""Filtering is the same as filtering first: for each list, for the fusion, and at what cost."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.query.protocol import DEFAULT_COVERAGE, make_protocol
from app.query.retrieve import FIRST_FACTOR
from app.query.search import Engines, search
from corpus.language import query_language
from corpus.query_filters import media_types
from corpus.scope import Scope
from corpus.terms import read_query
from store.backend import Backend, EngineHits, View
from store.catalogue import Catalogue
from tests.conftest import Workplace, make_workplace

DOCUMENTS = 160
SHARES = {"one": 0.01, "ten": 0.1, "ninety": 0.9}
CODES = ("AX-2041/B", "E-417", "HX-204")
WORDS = {
    "en": ["pump", "valve", "seal", "pressure", "inspect", "gasket", "leak", "motor", "torque"],
    "es": ["bomba", "válvula", "junta", "presión", "revisar", "fuga", "arranque", "motor", "par"],
}
QUERIES = (
    "pump valve",
    "válvula bomba",
    "AX-2041/B",
    "motor E-417",
    "leak pressure torque -gasket",
)


@dataclass(frozen=True)
class Known:
    """What the test itself wrote into one document."""

    language: str
    kind: str
    folder: str
    tags: frozenset[str]
    groups: frozenset[str]
    day: str
    codes: frozenset[str]


@dataclass
class Counted:
    """A backend that counts what its views are asked for and hands over."""

    backend: Backend
    asked: list[tuple[str, int, int, frozenset[str] | None]] = field(default_factory=list)

    def for_reader(self, groups: Any) -> Any:
        return CountedView(self.backend.for_reader(groups), self.asked)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)


@dataclass
class CountedView:
    """A view that counts what it is asked for and hands over."""

    view: View
    asked: list[tuple[str, int, int, frozenset[str] | None]]

    def lexical(self, query: Any, limit: int, permitted: Any, *more: Any) -> EngineHits:
        hits = self.view.lexical(query, limit, permitted, *more)
        self.asked.append(("lexical", limit, len(hits.scores), permitted))
        return hits

    def semantic(self, vector: Any, limit: int, permitted: Any, language: str = "") -> EngineHits:
        hits = self.view.semantic(vector, limit, permitted, language)
        self.asked.append(("semantic", limit, len(hits.scores), permitted))
        return hits

    def __getattr__(self, name: str) -> Any:
        return getattr(self.view, name)


def written(workplace: Workplace, seed: int) -> dict[str, Known]:
    """Random documents with random metadata, a few hundred passages in all."""
    chance = random.Random(seed)
    places = list(range(DOCUMENTS))
    chance.shuffle(places)
    tagged = {
        name: set(places[: max(1, round(share * DOCUMENTS))]) for name, share in SHARES.items()
    }
    known = {}
    for number in range(DOCUMENTS):
        language = chance.choice(["en", "es"])
        kind, ending = chance.choice([("text", "txt"), ("markdown", "md"), ("html", "html")])
        folder = chance.choice(["a", "a/b", "c"])
        tags = {name for name, members in tagged.items() if number in members}
        groups = chance.choice([set(), set(), {"staff"}, {"board", "staff"}])
        day = f"2024-0{chance.randint(1, 9)}-15"
        codes = {code for code in CODES if chance.random() < 0.15}
        paragraphs = [
            " ".join(chance.choices(WORDS[language], k=20)) + "."
            for _ in range(chance.randint(1, 4))
        ]
        for code in sorted(codes):
            paragraphs[chance.randrange(len(paragraphs))] += f" See {code}."
        name = f"{folder}/d{number:03d}.{ending}"
        if kind == "html":
            paragraphs = [f"<p>{text}</p>" for text in paragraphs]
        workplace.write(name, "\n\n".join(paragraphs))
        workplace.write(
            f"{name}.meta.toml",
            f'language = "{language}"\ndate = {day}\ntags = {sorted(tags)}\n'
            f"groups = {sorted(groups)}\n",
        )
        known[name] = Known(
            language, kind, folder, frozenset(tags), frozenset(groups), day, frozenset(codes)
        )
    workplace.ingest()
    return known


@pytest.fixture(scope="module", params=[1, 2])
def corpus(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str
) -> tuple[Workplace, dict[str, Known]]:
    workplace = make_workplace(tmp_path_factory.mktemp("filters"), tiny_encoder)
    return workplace, written(workplace, request.param)


def permitted_by_hand(known: Mapping[str, Known], scope: Scope) -> set[str]:
    """The definition of every filter, over what the test wrote."""
    kinds = {kind: set(media_types([kind])) for kind in ("text", "markdown", "html")}
    return {
        name
        for name, one in known.items()
        if (not one.groups or one.groups & set(scope.groups))
        and (scope.languages is None or one.language in scope.languages)
        and (scope.media_types is None or kinds[one.kind] & set(scope.media_types))
        and (scope.folder is None or f"{one.folder}/".startswith(f"{scope.folder}/"))
        and (scope.tags is None or one.tags & set(scope.tags))
        and (scope.since is None or one.day >= scope.since)
        and (scope.until is None or one.day <= scope.until)
        and (scope.codes is None or one.codes & set(scope.codes))
    }


def filtered_list(
    hits: EngineHits, permitted: set[str], unit: str, depth: int
) -> list[tuple[str, float]]:
    """Of the whole list the permitted part, one entry for each unit, cut at the depth."""
    best: dict[str, float] = {}
    for passage, document, score in zip(hits.passage_ids, hits.doc_ids, hits.scores, strict=True):
        if document in permitted:
            name = document if unit == "document" else passage
            best[name] = max(score, best.get(name, score))
    return sorted(best.items(), key=lambda entry: (-entry[1], entry[0]))[:depth]


def some(*values: str) -> st.SearchStrategy[tuple[str, ...] | None]:
    return st.none() | st.lists(st.sampled_from(values), min_size=1, unique=True).map(tuple)


days = st.none() | st.sampled_from(["2024-02-15", "2024-05-01", "2024-08-15"])
scopes = st.builds(
    Scope,
    languages=some("en", "es"),
    folder=st.none() | st.sampled_from(["a", "a/b", "c"]),
    media_types=some("text", "markdown", "html").map(
        lambda kinds: None if kinds is None else media_types(kinds)
    ),
    groups=st.lists(st.sampled_from(["staff", "board"]), unique=True).map(tuple),
    tags=some(*SHARES),
    since=days,
    until=days,
    codes=some(*CODES),
)


def test_both_lists_and_their_fusion_are_those_of_filtering_first(
    corpus: tuple[Workplace, dict[str, Known]],
) -> None:
    """fil-01, fil-02: at 1 %, 10 % and 90 % permitted, and under every filter together."""
    workplace, known = corpus
    engines = Engines(workplace.archive)
    backend = engines.backend
    assert 200 <= backend.manifest.passages <= 900
    everything = backend.manifest.passages + 1

    @cache
    def whole(query: str, system: str, groups: tuple[str, ...]) -> EngineHits:
        view, terms = backend.for_reader(groups), read_query(query)
        if system == "lexical":
            return view.lexical(terms, everything, None, float(Fraction(DEFAULT_COVERAGE)))
        vector = engines.encode(terms.semantic_text)
        return view.semantic(vector, everything, None, query_language(terms.semantic_text))

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        scopes | st.sampled_from([Scope(tags=(name,), groups=("staff",)) for name in SHARES]),
        st.sampled_from(QUERIES),
        st.sampled_from(["document", "passage"]),
        st.integers(1, 30),
    )
    def equal(scope: Scope, query: str, unit: str, depth: int) -> None:
        protocol = make_protocol(depths={"lexical": depth, "semantic": depth + 2}, unit=unit)
        terms = read_query(query)
        permitted = permitted_by_hand(known, scope)
        permitted -= backend.for_reader(scope.groups).matching_documents(terms.excluded)
        with Catalogue(workplace.archive) as catalogue:
            record = search(engines, catalogue, query, protocol, scope, keep=False).record
        wanted: dict[str, Fraction] = {}
        weights = protocol.weights_for({one.system: one.held for one in record.rankings})
        lists = zip(record.rankings, protocol.systems, weights, strict=True)
        for ranking, system, weight in lists:
            if ranking.not_asked:
                assert terms.codes_only and record.rankings[0].hits
                continue
            hits = whole(query, system.name, scope.groups)
            found = filtered_list(hits, permitted, unit, system.depth)
            assert [(hit.id, hit.score) for hit in ranking.hits] == found
            for rank, (name, _) in enumerate(found, start=1):
                wanted[name] = wanted.get(name, Fraction(0)) + weight / (protocol.k + rank)
        order = sorted(wanted.items(), key=lambda entry: (-entry[1], entry[0]))
        assert [(hit.id, hit.score) for hit in record.fused] == order

    equal()


@pytest.mark.parametrize("share", SHARES)
def test_the_work_is_bounded_whatever_share_is_permitted(
    corpus: tuple[Workplace, dict[str, Known]], share: str
) -> None:
    """The engines hand over permitted passages only, no more than the list needs twice over."""
    workplace, known = corpus
    depth = 10
    first = depth * FIRST_FACTOR + 1
    groups = ("staff", "board")

    def counted(scope: Scope) -> list[tuple[str, int, int, frozenset[str] | None]]:
        engines = Engines(workplace.archive)
        backend = Counted(engines.backend)
        engines.backend = backend  # type: ignore[assignment]
        protocol = make_protocol(depths={"lexical": depth, "semantic": depth})
        with Catalogue(workplace.archive) as catalogue:
            search(engines, catalogue, "pump valve motor", protocol, scope, keep=False)
        return backend.asked

    scope = Scope(tags=(share,), groups=groups)
    permitted = permitted_by_hand(known, scope)
    backend = Engines(workplace.archive).backend
    asked = counted(scope)
    everything = counted(Scope(groups=groups))
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.version(backend.manifest.inputs.corpus_version)
        within = sum(
            entry.passages
            for entry in catalogue.live_passages(version)
            if entry.doc_id in permitted
        )
    # The last question asks for all passages of a few documents: whether they match at all.
    ranked = [entry for entry in asked if entry[1] <= backend.manifest.passages]
    assert len({id(one) for _, _, _, one in ranked}) == 1
    assert all(one == permitted for _, _, _, one in ranked)
    for system in ("lexical", "semantic"):
        limits = [limit for name, limit, _, _ in ranked if name == system]
        rows = [found for name, _, found, _ in ranked if name == system]
        assert limits[0] == first
        assert limits[-1] <= max(first, 2 * within)
        assert all(found <= min(limit, within) for limit, found in zip(limits, rows, strict=True))
        most = sum(found for name, _, found, _ in everything if name == system)
        assert sum(rows) <= 2 * max(first, most)


def test_a_code_is_held_in_any_spelling_and_one_without_letters_or_digits_is_refused(
    corpus: tuple[Workplace, dict[str, Known]],
) -> None:
    workplace, known = corpus
    groups = ("staff", "board")
    holding = {name for name, one in known.items() if "AX-2041/B" in one.codes}
    for spelling in ("AX-2041/B", "ax2041b", "AX 2041 B"):
        record = workplace.search("motor", Scope(codes=(spelling,), groups=groups)).record
        assert {hit.id for hit in record.fused} == holding
        assert record.as_data()["scope"]["codes"] == (spelling,)
    assert workplace.search("motor", Scope(codes=("ZZ-999",))).record.fused == ()
    with pytest.raises(ValueError, match="letters or digits"):
        Scope(codes=("--",))
