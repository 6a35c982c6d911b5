"""Which document a file is: identity through edits, moves, copies and returns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from indexer.plan import Plan, make_plan
from store.versions import History, Place


class Timeline:
    """A catalogue's memory in a dictionary, brought forward one version at a time."""

    def __init__(self) -> None:
        self.live: dict[str, str] = {}
        self.places: dict[Place, str] = {}
        self.revisions: list[tuple[str, int, str]] = []
        self.last_at: dict[Place, str] = {}

    def step(self, files: dict[str, str]) -> Plan:
        found = {Place(1, path.encode()): digest for path, digest in files.items()}
        plan = make_plan(
            found, History(self.live, self.places, tuple(self.revisions), self.last_at)
        )
        self.live = {doc_id: digest for doc_id, (_, digest) in plan.revisions.items()}
        self.places = plan.places
        self.last_at = {**self.last_at, **plan.places}
        for doc_id, (revision, digest) in sorted(plan.revisions.items()):
            if (doc_id, revision, digest) not in self.revisions:
                self.revisions.append((doc_id, revision, digest))
        return plan


def outcomes(plan: Plan) -> dict[str, str]:
    return {place.path.decode(): outcome for place, outcome in plan.outcomes.items()}


def documents(plan: Plan) -> dict[str, str]:
    return {place.path.decode(): doc_id for place, doc_id in plan.places.items()}


def test_an_edit_is_a_new_revision_of_the_same_document() -> None:
    timeline = Timeline()
    timeline.step({"a.txt": "one"})
    plan = timeline.step({"a.txt": "two"})
    assert outcomes(plan) == {"a.txt": "changed"}
    assert plan.revisions == {"a.txt": (2, "two")}


def test_a_renamed_file_is_the_same_document() -> None:
    """ing-02"""
    timeline = Timeline()
    timeline.step({"a.txt": "one", "b.txt": "other"})
    plan = timeline.step({"c.txt": "one"})
    assert outcomes(plan) == {"c.txt": "moved"}
    assert documents(plan) == {"c.txt": "a.txt"}
    assert plan.retired == ("b.txt",)


def test_equal_bytes_are_one_document_at_two_places() -> None:
    """ing-20"""
    timeline = Timeline()
    plan = timeline.step({"a.txt": "one", "b.txt": "one"})
    assert documents(plan) == {"a.txt": "a.txt", "b.txt": "a.txt"}
    assert outcomes(plan) == {"a.txt": "added", "b.txt": "copied"}
    plan = timeline.step({"b.txt": "one"})
    assert (documents(plan), plan.retired) == ({"b.txt": "a.txt"}, ())


def test_a_new_file_at_a_name_that_moved_on_gets_a_name_of_its_own() -> None:
    timeline = Timeline()
    timeline.step({"a.txt": "one"})
    timeline.step({"b.txt": "one"})
    plan = timeline.step({"b.txt": "one", "a.txt": "else"})
    assert documents(plan) == {"b.txt": "a.txt", "a.txt": "a.txt~2"}


def test_two_files_that_swap_their_bytes_keep_their_documents() -> None:
    timeline = Timeline()
    timeline.step({"a.txt": "one", "b.txt": "two"})
    plan = timeline.step({"a.txt": "two", "b.txt": "one"})
    assert documents(plan) == {"a.txt": "b.txt", "b.txt": "a.txt"}
    assert set(outcomes(plan).values()) == {"moved"}


def test_a_document_comes_back_with_its_bytes_in_the_revision_they_had() -> None:
    """lab-09: a label that names document and revision is right again."""
    timeline = Timeline()
    timeline.step({"a.txt": "one", "z.txt": "z"})
    timeline.step({"z.txt": "z"})
    plan = timeline.step({"elsewhere.txt": "one", "z.txt": "z"})
    assert documents(plan)["elsewhere.txt"] == "a.txt"
    assert plan.revisions["a.txt"] == (1, "one")
    assert outcomes(plan)["elsewhere.txt"] == "restored"


def test_an_edit_that_is_undone_is_the_old_revision_again() -> None:
    timeline = Timeline()
    for digest in ("one", "two", "one"):
        plan = timeline.step({"a.txt": digest})
    assert plan.revisions == {"a.txt": (1, "one")}


trees = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d/e", "d/f"]), st.sampled_from(["1", "2", "3", "4"])
)


@given(st.lists(trees, min_size=1, max_size=6))
def test_every_place_has_its_bytes_and_nothing_is_lost_or_doubled(
    history: list[dict[str, str]],
) -> None:
    timeline = Timeline()
    before: set[str] = set()
    for files in history:
        plan = timeline.step(files)
        held = {path: plan.revisions[doc_id][1] for path, doc_id in documents(plan).items()}
        assert held == files
        digests = [digest for _, digest in plan.revisions.values()]
        assert len(digests) == len(set(digests)), "equal bytes are one document"
        assert set(plan.retired) == before - set(plan.revisions)
        names = [(doc_id, revision) for doc_id, revision, _ in timeline.revisions]
        assert len(names) == len(set(names)), "a revision is one content for ever"
        before = set(plan.revisions)


@given(trees)
def test_the_same_files_again_change_nothing(files: dict[str, str]) -> None:
    timeline = Timeline()
    timeline.step(files)
    again = timeline.step(files)
    assert not again.changes_anything
    assert set(again.outcomes.values()) <= {"unchanged"}
