"""Whether a kept experiment still holds, and in what two of them differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from app.evaluation import experiment
from app.evaluation.evaluate import evaluate
from app.evaluation.measures import measure_names
from app.evaluation.protocols import Parameters
from app.evaluation.request import Request
from app.evaluation.study import gather, listed
from app.query.record import canonical
from app.query.search import Engines
from store.catalogue import Catalogue
from store.errors import CounterpointError
from store.evaluation import KeptExperiment

State = Literal["VALID", "DRIFTED", "CANNOT CHECK"]

SHOWN = 3
"""How many topics are named where several have changed."""


@dataclass(frozen=True, slots=True)
class Validity:
    """What became of an experiment; ``reasons`` are empty where it is valid."""

    state: State
    reasons: tuple[str, ...] = ()


def validate(engines: Engines, catalogue: Catalogue, kept: KeptExperiment) -> Validity:
    """Read the inputs of an experiment again and, where they are the same, measure again.

    No figure is shown, so that an experiment on sealed topics can be validated without a look.
    """
    body = json.loads(kept.body)
    if body["schema"] != experiment.SCHEMA:
        return Validity("CANNOT CHECK", (f"it was kept in form {body['schema']}",))
    request = _request(body["asked"])
    try:
        material = gather(engines, catalogue, request)
        if changed := _changes(body["inputs"], json.loads(canonical(material.inputs))):
            return Validity("DRIFTED", tuple(changed))
        evaluation = evaluate(
            listed(engines, catalogue, request, material),
            material.qrels,
            [topic.topic_id for topic in material.topics],
            measure_names(request.measures),
        )
    except CounterpointError as error:
        return Validity("CANNOT CHECK", (str(error),))
    now = json.loads(canonical(experiment.outcome_of(evaluation)))
    differing = [name for name, row in body["outcome"].items() if now.get(name) != row]
    if differing or set(now) != set(body["outcome"]):
        names = ", ".join(differing or sorted(set(now) ^ set(body["outcome"])))
        return Validity("DRIFTED", (f"the inputs are the same and the lists are not: {names}",))
    return Validity("VALID")


@dataclass(frozen=True, slots=True)
class Difference:
    """In what two experiments differ: inputs in words, and fields of protocols by fusion."""

    inputs: tuple[str, ...]
    fields: tuple[str, ...]

    @property
    def warning(self) -> str:
        """A sentence where a difference in figures has no single cause, else nothing."""
        count = len(self.fields) + len(self.inputs)
        if count <= 1:
            return ""
        return (
            f"{count} things differ between these experiments; a difference in their figures "
            "cannot be put down to one of them."
        )


def difference(first: KeptExperiment, second: KeptExperiment) -> Difference:
    """Compare two experiments by what decided them; fusions are paired in order."""
    one, other = json.loads(first.body)["inputs"], json.loads(second.body)["inputs"]
    mine, theirs = one.pop("protocols"), other.pop("protocols")
    fields = []
    for (name, protocol), (other_name, other_protocol) in zip(
        mine.items(), theirs.items(), strict=False
    ):
        pair = name if name == other_name else f"{name} and {other_name}"
        before, after = _flat(protocol), _flat(other_protocol)
        fields += [
            f"{pair}: {key} {before.get(key, 'none')} and {after.get(key, 'none')}"
            for key in dict.fromkeys([*before, *after])
            if before.get(key) != after.get(key) and key != "hash"
        ]
    if len(mine) != len(theirs):
        fields.append(f"{len(mine)} and {len(theirs)} fusions")
    return Difference(tuple(_changes(one, other)), tuple(fields))


def _request(asked: Mapping[str, Any]) -> Request:
    return Request(
        split="test" if asked["split"] == "test" else "dev",
        protocols=tuple(
            Parameters(name, tuple((key, value) for key, value in values))
            for name, values in asked["protocols"]
        ),
        measures=tuple(asked["measures"]),
        topics=Path(asked["topics"]) if asked["topics"] else None,
        qrels=Path(asked["qrels"]) if asked["qrels"] else None,
        runs=tuple((name, Path(path)) for name, path in asked["runs"]),
        project=asked["project"],
        view=asked["view"],
    )


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two sets of inputs, in words."""
    changes = []
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            changes.append(f"{key}: {', '.join(names[:SHOWN])}{more}")
        else:
            changes.append(f"{key}: {old} and now {new}")
    return changes


def _flat(protocol: Mapping[str, Any]) -> dict[str, str]:
    fields = {key: str(value) for key, value in protocol.items() if key != "systems"}
    for system in protocol["systems"]:
        fields |= {
            f"{key} of {system['name']}": str(value)
            for key, value in system.items()
            if key != "name"
        }
    return fields
