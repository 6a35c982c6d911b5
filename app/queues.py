"""The queues of one reviewer over the topics of a project, as they stand now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.judging import Queue, make_queue, order_seed, others_judged, token
from app.label_states import label_states
from app.pools import candidates
from corpus.judging import Judgment, Project, standing
from store.catalogue import Catalogue, Version
from store.judging import judgments
from store.pools import pooled


def queues(
    catalogue: Catalogue,
    version: Version,
    project: Project,
    judge: str,
    topic_id: str | None = None,
    groups: tuple[str, ...] = (),
) -> dict[str, Queue]:
    """A reviewer's queue for every topic that has a pool in a project, or for one of them.

    What this reviewer adjudicated is in none: who saw the others' grades is no blind judge of it.
    """
    pools = {
        name: found
        for name, found in pooled(catalogue, project.name).items()
        if topic_id in (None, name)
    }
    given = judgments(catalogue, topic_id, project=project.name)
    mine = [label for label in standing(given) if label.judge == judge]
    labels: dict[str, dict[str, Judgment]] = {}
    for label in mine:
        if label.role == "judge":
            labels.setdefault(label.topic_id, {})[label.doc_id] = label
    settled = {(label.topic_id, label.doc_id) for label in mine if label.role == "adjudicator"}
    states = label_states(catalogue, version, mine)
    others = others_judged(given, judge)
    return {
        name: make_queue(
            [entry for entry in found if (name, entry.doc_id) not in settled],
            labels.get(name, {}),
            judge,
            name,
            states={
                doc_id: states[doc_id, label.revision].state
                for doc_id, label in labels.get(name, {}).items()
            },
            others=others.get(name, {}),
            enough=project.judges_per_pair,
        )
        for name, found in candidates(catalogue, version, pools, groups).items()
    }


def next_topic(found: Mapping[str, Queue], judge: str, current: str = "") -> str:
    """The topic to judge next: the one whose waiting documents were judged least by others, and of
    equal ones the first in an order of the reviewer's own; empty where nothing waits."""

    def place(topic_id: str) -> tuple[float, str]:
        queue = found[topic_id]
        waiting = queue.pending()
        judged = sum(queue.others.get(entry.doc_id, 0) for entry in waiting)
        return judged / len(waiting), token(order_seed(judge, ""), topic_id)

    waiting = [name for name, queue in found.items() if queue.pending() and name != current]
    return min(waiting, key=place, default="")


def also_judged(given: Iterable[Judgment], topic_id: str, doc_id: str, judge: str) -> list[str]:
    """Who else has a label on a document; for the eyes of one who has judged it."""
    return sorted(
        label.judge
        for label in standing(given)
        if (label.topic_id, label.doc_id) == (topic_id, doc_id)
        and label.judge != judge
        and label.role == "judge"
    )
