"""Fixtures that several features' tests share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from app.query.protocol import make_protocol
from app.query.search import Engines, SearchResult, search
from corpus.scope import Scope
from indexer.ingest import Request, ingest
from indexer.report import Report
from store.archive import Archive
from store.catalogue import Catalogue
from store.centring import centre_of
from store.embedded import build_generation
from store.embedded.build import EncoderIdentity
from store.encoder import open_encoder
from store.manifest import Manifest
from store.vectors import VectorCache
from tests.tiny_encoder import make_tiny_encoder

# No test times what it tries: the first example of a run may load a language model.
settings.register_profile("counterpoint", deadline=None)
settings.load_profile("counterpoint")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real documents, cases and collections beside the checkout."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the shared folder of real documents is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a real but tiny encoder: the folder of a sentence-transformers model."""
    return str(make_tiny_encoder(tmp_path_factory.mktemp("encoder")))


@dataclass(frozen=True)
class Workplace:
    """A folder of files and the archive they are ingested into."""

    files: Path
    archive: Archive
    encoder: str

    def write(self, name: str, text: str) -> Path:
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def ingest(self, *paths: Path, allow_retire: bool = False, message: str = "") -> Report:
        request = Request(paths or (self.files,), message, self.encoder, allow_retire)
        return ingest(self.archive, request)

    def ingest_sources(self, *, allow_retire: bool = False) -> Report:
        """Ingest what ``archive.toml`` lists."""
        request = Request((), encoder=self.encoder, allow_retire=allow_retire)
        return ingest(self.archive, request)

    def build_with_copies(self) -> Manifest:
        """Build the newest version's indexes again, as they are built for very many passages."""
        with Catalogue(self.archive) as catalogue, VectorCache(self.archive) as cache:
            encoder = open_encoder(self.encoder)
            return build_generation(
                self.archive,
                catalogue,
                cache,
                catalogue.versions()[-1],
                EncoderIdentity(encoder.name, encoder.fingerprint, encoder.dimension),
                centre_of(encoder, cache),
                exact_up_to=0,
            )

    def search(self, query: str, scope: Scope | None = None, **protocol: object) -> SearchResult:
        engines = Engines(self.archive)
        with Catalogue(self.archive) as catalogue:
            return search(
                engines, catalogue, query, make_protocol(**protocol), scope, searcher="test"
            )

    def ids(self, query: str, system: str) -> list[str]:
        """The documents one system ranks for a query, best first."""
        rankings = {ranking.system: ranking for ranking in self.search(query).record.rankings}
        return [hit.id for hit in rankings[system].hits]


def make_workplace(folder: Path, encoder: str) -> Workplace:
    """An empty folder beside an archive that is not there yet."""
    files = folder / "files"
    files.mkdir()
    return Workplace(files, Archive(folder / "archive"), encoder)


def filled_workplace(folder: Path, encoder: str, texts: Mapping[str, str]) -> Workplace:
    """A workplace whose files, given as name to text, are ingested."""
    made = make_workplace(folder, encoder)
    for name, text in texts.items():
        made.write(name, text)
    made.ingest()
    return made


@pytest.fixture
def workplace(tmp_path: Path, tiny_encoder: str) -> Workplace:
    """A workplace of the test's own."""
    return make_workplace(tmp_path, tiny_encoder)


TRIED, SURVIVED = "fault tried", "fault survived"


class Faults:
    """Counts the faults that a test makes and those that were survived.

    The counts are properties of the test, which also reach the summary from another process.
    """

    def __init__(self, properties: list[tuple[str, object]]) -> None:
        self._properties = properties

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Everything that has to hold after the fault ``name`` belongs inside."""
        self._properties.append((TRIED, name))
        yield
        self._properties.append((SURVIVED, name))


@pytest.fixture
def faults(request: pytest.FixtureRequest) -> Faults:
    """What a test of faults names each of them with."""
    return Faults(request.node.user_properties)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many faults were tried, and which were not survived."""
    tried, survived = (
        [
            (report.nodeid, name)
            for outcome in ("passed", "failed")
            for report in terminalreporter.stats.get(outcome, [])
            if report.when == "call"
            for key, name in report.user_properties
            if key == wanted
        ]
        for wanted in (TRIED, SURVIVED)
    )
    if tried:
        terminalreporter.write_line(f"faults: {len(tried)} tried, {len(survived)} survived")
        for test, name in sorted(set(tried) - set(survived)):
            terminalreporter.write_line(f"not survived: {name} ({test})")
