"""One evaluation from what was asked to what is shown; the command and the page both call this.

The test split is opened here or not at all: figures on sealed topics need a reason and frozen
protocols, and are in the ledger before anybody is shown them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.evaluation import experiment
from app.evaluation.candidates import Progress, retrieve_candidates, runs_of
from app.evaluation.evaluate import Evaluation, evaluate
from app.evaluation.measures import measure_names
from app.evaluation.qrels import Qrels, qrels_of_labels, read_qrels
from app.evaluation.request import Opening, Request
from app.evaluation.runs import Run, fused_from_runs, read_trec_run
from app.evaluation.topic_sets import topics_of_archive, topics_of_file
from app.query.protocol import Protocol
from app.query.record import canonical
from app.query.search import Engines
from corpus.judging import Split, Topic
from store.catalogue import Catalogue
from store.errors import BadInput, Sealed
from store.evaluation import (
    LEAST_PREFIX,
    Look,
    add_look,
    freeze,
    frozen_protocols,
    keep_experiment,
    sealed_topics,
)
from store.judging import judgments


@dataclass(frozen=True, slots=True)
class Report:
    """An evaluation and all that decides it. ``protocols`` are those of its fusions, by name.

    ``look`` is the entry in the ledger where topics were sealed. ``corpus_version`` is 0 where
    nothing was searched. ``body`` is the experiment as canonical JSON.
    """

    evaluation: Evaluation
    split: Split
    topics: Mapping[str, Topic]
    protocols: Mapping[str, Protocol]
    corpus_version: int
    experiment_id: str
    body: str
    look: Look | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the figures has to know."""
        if self.look is not None:
            before = self.look.number - 1
            times = "once" if before == 1 else f"{before} times"
            said = (
                f"Look {self.look.number} at the test split, by {self.look.looked_by}: "
                f"{self.look.reason}. It was looked at {times} before."
            )
        elif self.split == "test":
            said = "Nothing is known of earlier looks at these topics, which come from files."
        else:
            said = "Settings may have been chosen on these topics; report on the test split."
        return (said, *self.evaluation.notes)


@dataclass(frozen=True, slots=True)
class Material:
    """What an evaluation is made of, read but not measured."""

    topics: tuple[Topic, ...]
    qrels: Qrels
    protocols: tuple[tuple[str, Protocol], ...]
    runs: tuple[Run, ...]
    inputs: Mapping[str, object]


def study(
    engines: Engines,
    catalogue: Catalogue,
    request: Request,
    opening: Opening,
    progress: Progress | None = None,
) -> Report:
    """Evaluate over an archive, and keep the experiment.

    :raises Sealed: the topics are sealed, and there is no reason or a protocol is not frozen
    :raises BadInput: what was asked cannot be used
    """
    material = gather(engines, catalogue, request)
    look = _permission(engines, catalogue, material, opening)
    require_labels(material.topics, material.qrels)
    report = _measured(request, material, listed(engines, catalogue, request, material, progress))
    if look is not None:
        # The ledger comes first: nothing else keeps or shows a figure that it does not know of.
        bodies = {one.hash: canonical(one.as_data()) for one in report.protocols.values()}
        freeze(catalogue, bodies, opening.who)
        result = canonical({row.name: row.means for row in report.evaluation.rows})
        look = replace(look, experiment=report.experiment_id, result=result)
        report = replace(report, look=add_look(catalogue, look))
    keep_experiment(catalogue, report.experiment_id, report.body, opening.who)
    return report


def study_of_files(request: Request) -> Report:
    """Evaluate run files against a file of labels, without an archive.

    :raises BadInput: what was asked cannot be used
    """
    if request.qrels is None or not request.runs:
        raise BadInput("without an archive, an evaluation needs runs and a file of labels")
    qrels = read_qrels(request.qrels)
    if request.topics is not None:
        topics = topics_of_file(request.topics, request.split)
    else:
        topics = tuple(Topic(name, name, name, "", request.split) for name in qrels.grades)
    require_labels(topics, qrels)
    runs = _read_runs(request)
    protocols = _protocols(request, runs)
    material = Material(
        topics,
        qrels,
        protocols,
        runs,
        experiment.inputs_of(request.split, topics, qrels, protocols),
    )
    return _measured(request, material, _with_fusions(material))


def gather(engines: Engines, catalogue: Catalogue, request: Request) -> Material:
    """Read topics, labels and protocols; nothing is searched for, and nothing is measured."""
    manifest = engines.backend.manifest
    documents = catalogue.documents(manifest.inputs.corpus_version)
    if request.topics is None:
        topics = topics_of_archive(catalogue, request.split)
    else:
        topics = topics_of_file(request.topics, request.split)
    if request.qrels is None:
        revisions = {document.doc_id: document.revision for document in documents}
        qrels = qrels_of_labels(
            judgments(catalogue, project=request.project), revisions, request.view
        )
    else:
        # A file may call a document by its place, with or without the folder it was read from.
        places = [(path, document.doc_id) for document in documents for path in document.locations]
        names = {path.partition("/")[2]: doc_id for path, doc_id in places} | dict(places)
        names |= {document.doc_id: document.doc_id for document in documents}
        qrels = read_qrels(request.qrels, names)
    runs = _read_runs(request)
    protocols = _protocols(request, runs)
    inputs = experiment.inputs_of(request.split, topics, qrels, protocols, manifest)
    return Material(topics, qrels, protocols, runs, inputs)


def listed(
    engines: Engines,
    catalogue: Catalogue,
    request: Request,
    material: Material,
    progress: Progress | None = None,
) -> list[Run]:
    """Every row's lists: those of the files, or those of a search for each topic."""
    if material.runs:
        return _with_fusions(material)
    retrieved = retrieve_candidates(
        engines,
        catalogue,
        material.topics,
        [protocol for _, protocol in material.protocols],
        request.scope,
        progress,
    )
    return runs_of(material.protocols, retrieved)


def sealed_among(catalogue: Catalogue, topics: Sequence[Topic]) -> tuple[str, ...]:
    """The ids of topics that may only be reported on, however they are called here."""
    sealed = sealed_topics(catalogue)
    return tuple(topic.topic_id for topic in topics if topic.split == "test" or sealed.holds(topic))


def require_labels(topics: Sequence[Topic], qrels: Qrels) -> None:
    """:raises BadInput: nothing is labelled relevant, so that every figure would be 0"""
    if not any(qrels.relevant(topic.topic_id) for topic in topics):
        raise BadInput(
            f"no document is labelled relevant for any of the {len(topics)} topics; judge some, or "
            "name a file of labels with --qrels"
        )


def _permission(
    engines: Engines, catalogue: Catalogue, material: Material, opening: Opening
) -> Look | None:
    """The look that will be entered in the ledger, or None where no topic is sealed."""
    topics = sealed_among(catalogue, material.topics)
    if not topics:
        return None
    if len(topics) < len(material.topics):
        raise Sealed(
            f"{topics[0]!r} and {len(topics) - 1} more of these topics are in the test split and "
            "the others are not; evaluate the two splits apart"
        )
    if not opening.reason.strip():
        raise Sealed(
            "the test split is sealed: say why it is opened with --reason, and freeze the protocol"
        )
    if not opening.who.strip():
        raise Sealed("the test split is sealed: say who looks at it")
    protocols = {protocol.hash: protocol for _, protocol in material.protocols}
    known = frozen_protocols(catalogue)
    digits = [text.removeprefix("sha256:") for text in opening.frozen]
    for text in digits:
        if len(text) < LEAST_PREFIX:
            raise Sealed(f"a frozen protocol is named by at least {LEAST_PREFIX} letters of a hash")
    for name, protocol in protocols.items():
        begins = name.removeprefix("sha256:")
        if name not in known and not any(begins.startswith(text) for text in digits):
            raise Sealed(
                f"the test split is sealed: protocol {protocol.short_hash} is not frozen; freeze "
                f"it with --frozen {protocol.short_hash} if nothing of it will change any more"
            )
    manifest = engines.backend.manifest
    return Look(
        looked_by=opening.who,
        reason=opening.reason.strip().rstrip("."),
        protocols=tuple(protocols),
        topics=topics,
        corpus_version=manifest.inputs.corpus_version,
        generation=manifest.fingerprint,
        experiment="",
        result="",
    )


def _measured(request: Request, material: Material, runs: Sequence[Run]) -> Report:
    evaluation = evaluate(
        runs,
        material.qrels,
        [topic.topic_id for topic in material.topics],
        measure_names(request.measures),
    )
    body = experiment.body_of(request, material.inputs, evaluation)
    version = material.inputs.get("corpus_version", 0)
    return Report(
        evaluation,
        request.split,
        {topic.topic_id: topic for topic in material.topics},
        dict(material.protocols),
        version if isinstance(version, int) else 0,
        experiment.id_of(body),
        body,
    )


def _read_runs(request: Request) -> tuple[Run, ...]:
    return tuple(read_trec_run(name, path) for name, path in request.runs)


def _protocols(request: Request, runs: Sequence[Run]) -> tuple[tuple[str, Protocol], ...]:
    longest = max((len(ids) for run in runs for ids in run.lists.values()), default=0)
    names = [run.name for run in runs]
    return tuple(
        (one.name, one.protocol_of(names, longest) if runs else one.protocol())
        for one in request.protocols
    )


def _with_fusions(material: Material) -> list[Run]:
    fusions = [fused_from_runs(*named, material.runs) for named in material.protocols]
    return [*material.runs, *fusions]
