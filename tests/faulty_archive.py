"""One prepared archive that the tests of faults copy and harm, and what has to hold afterwards."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.query.present import rows
from app.query.protocol import make_protocol
from app.query.ranking import Ranking
from app.query.search import Engines, SearchResult, search
from corpus.judging import Judgment, Topic
from indexer.checking import verify
from indexer.cli import main
from store.archive import Archive
from store.catalogue import Catalogue
from store.errors import CounterpointError
from store.generations import current_generation
from store.judging import add_judgment, add_topics, judgments
from tests.conftest import Workplace, make_workplace

QUERIES = ("torque of the flange", "HX-004 gasket", "chiller")
DOCUMENTS = 12

Answers = dict[str, SearchResult]
Shown = dict[str, list[str]]


def prepare(folder: Path, encoder: str) -> Workplace:
    """A dozen documents in two versions, with labels and a kept search."""
    workplace = make_workplace(folder, encoder)
    for number in range(DOCUMENTS):
        text = "\n\n".join(
            f"Sheet {number}, step {part}: the {'flange' if number % 2 else 'gasket'} of "
            f"HX-{number:03d} is tightened to {number * 7 + part} N·m before the chiller runs."
            for part in range(number % 3 + 1)
        )
        workplace.write(f"sheet{number:02d}.txt", text)
    workplace.ingest(message="first")
    workplace.write("sheet03.txt", "Sheet 3, revised: the flange of HX-003 has a torque of 45 N·m.")
    workplace.write("sheet12.txt", "Sheet 12: the purge valve of the chiller, rarely opened.")
    workplace.ingest(message="second")
    with Catalogue(workplace.archive) as catalogue:
        add_topics(catalogue, [Topic("t", "flange", "its torque", "ana", "dev")])
        for number in range(DOCUMENTS):
            doc_id = f"sheet{number:02d}.txt"
            add_judgment(catalogue, Judgment("t", doc_id, 1, number % 4, "ana", "2026", 2, True))
    workplace.search("flange")
    return workplace


@dataclass(frozen=True)
class Copy:
    """A copy of the prepared archive, and what the original answered."""

    workplace: Workplace
    before: Answers
    shown: Shown
    labels: list[Judgment]

    @property
    def archive(self) -> Archive:
        return self.workplace.archive

    @property
    def served(self) -> Path:
        return self.archive.generations / current_generation(self.archive)

    def run(self, *command: str) -> int:
        return main([*command, "--archive", str(self.archive.root)])

    def ingest(self) -> int:
        return self.run("ingest", str(self.workplace.files))

    def answers_or_says_so(self) -> bool:
        """Search, and compare: the answers of before, or a part of them that is called partial, or
        one sentence. Returns whether all was answered as before."""
        try:
            found, shown = answers(self.archive)
        except CounterpointError as error:
            assert is_a_sentence(str(error))
            return False
        whole = True
        for query, result in found.items():
            before = self.before[query].record
            if result.partial:
                whole = False
                for now, then in zip(result.record.rankings, before.rankings, strict=True):
                    assert_same_or_unavailable(now, then)
            else:
                assert result.record.record_id == before.record_id
                assert shown[query] == self.shown[query]
        return whole

    def is_as_before(self, *, encoded_anew: bool = False) -> None:
        """Every answer, text and label. A vector that is encoded in other company than before
        differs in its last digits, so that only the order is the same then."""
        found, shown = answers(self.archive)
        name = order_of if encoded_anew else record_of
        assert {query: name(result) for query, result in found.items()} == {
            query: name(result) for query, result in self.before.items()
        }
        assert shown == self.shown
        assert list(verify(self.archive)) == []
        self.has_its_labels()

    def has_its_labels(self) -> None:
        with Catalogue(self.archive) as catalogue:
            assert judgments(catalogue) == self.labels


def record_of(result: SearchResult) -> object:
    return result.record.record_id


def order_of(result: SearchResult) -> object:
    return [(hit.id, hit.rank, hit.score) for hit in result.record.fused]


def copy_of(original: Workplace, folder: Path) -> Copy:
    shutil.copytree(original.archive.root, folder / "archive")
    shutil.copytree(original.files, folder / "files")
    found, shown = answers(original.archive)
    with Catalogue(original.archive) as catalogue:
        labels = judgments(catalogue)
    # The files keep their place, for a source is known by its folder.
    workplace = Workplace(original.files, Archive(folder / "archive"), original.encoder)
    return Copy(workplace, found, shown, labels)


def answers(archive: Archive) -> tuple[Answers, Shown]:
    """What every query finds, and the text that is shown of each hit."""
    engines = Engines(archive)
    found, shown = {}, {}
    with Catalogue(archive) as catalogue:
        for query in QUERIES:
            result = search(engines, catalogue, query, make_protocol(), keep=False)
            found[query] = result
            shown[query] = [row.passage.text for row in rows(engines, catalogue, result, 0, 20)]
    return found, shown


def assert_same_or_unavailable(now: Ranking, then: Ranking) -> None:
    if now.unavailable:
        assert is_a_sentence(now.unavailable)
    else:
        assert now.hits == then.hits


def is_a_sentence(message: str) -> bool:
    """One line that says which command helps."""
    return "\n" not in message and "python -m indexer" in message


def flipped(data: bytes, position: int, bit: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]


def _flip(place: Callable[[bytes, random.Random], int]) -> Callable[[bytes, random.Random], bytes]:
    return lambda data, chance: flipped(data, place(data, chance), chance.randrange(8))


HARMS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "truncated to nothing": lambda data, chance: b"",
    "truncated to half": lambda data, chance: data[: len(data) // 2],
    "one byte lost": lambda data, chance: data[:-1],
    "junk appended": lambda data, chance: data + b"junk",
    "first byte flipped": _flip(lambda data, chance: 0),
    "middle byte flipped": _flip(lambda data, chance: len(data) // 2),
    "last byte flipped": _flip(lambda data, chance: len(data) - 1),
    "a random byte flipped": _flip(lambda data, chance: chance.randrange(len(data))),
}
"""What can happen to the bytes of a file; an empty one stays as it is."""


def harmed(data: bytes, harm: str, seed: str) -> bytes:
    return HARMS[harm](data, random.Random(f"{harm} {seed}")) if data else data


def replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "something").write_text("else")


def replaced_by_a_dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("nowhere"))


REPLACEMENTS: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "replaced by a folder": replaced_by_a_folder,
    "replaced by a dangling link": replaced_by_a_dangling_link,
}
