"""Which topics are evaluated on: of the archive, or of a file."""

from __future__ import annotations

import json
from pathlib import Path

from app.evaluation.runs import lines_of
from app.topic_files import read_topics
from corpus.judging import Split, Topic
from store.catalogue import Catalogue
from store.errors import BadInput
from store.evaluation import sealed_topics
from store.judging import topics


def topics_of_archive(catalogue: Catalogue, split: Split) -> tuple[Topic, ...]:
    """The archive's topics of a split, by id. One that was ever in *test* is in *test*.

    :raises BadInput: there are none
    """
    sealed = sealed_topics(catalogue)
    found = [
        topic for topic in topics(catalogue) if ("test" if sealed.holds(topic) else "dev") == split
    ]
    if not found:
        raise BadInput(
            f"this archive has no topics in the split {split!r}; "
            "add some with `python -m app topics FILE.toml`"
        )
    return tuple(found)


def topics_of_file(path: Path, split: Split) -> tuple[Topic, ...]:
    """The topics of a split in a TOML file, or all of a JSON Lines file of queries.

    A line of the latter is an object with ``_id`` and ``text``; it names no split, and its topics
    are those of the split that is asked for.

    :raises BadInput: the file cannot be read, or has no topic of that split
    """
    if path.suffix == ".jsonl":
        found = [
            _query(path, number, line, split)
            for number, line in enumerate(lines_of(path), start=1)
            if line.strip()
        ]
    else:
        found = [topic for topic in read_topics(path) if topic.split == split]
    ids = [topic.topic_id for topic in found]
    if twice := next((name for name in ids if ids.count(name) > 1), ""):
        raise BadInput(f"{path} has topic {twice!r} twice")
    if not found:
        raise BadInput(f"{path} has no topics in the split {split!r}")
    return tuple(found)


def _query(path: Path, number: int, line: str, split: Split) -> Topic:
    try:
        body = json.loads(line)
        return Topic(str(body["_id"]), str(body["text"]), str(body["text"]), "", split)
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"line {number} of {path} is not an object with _id and text ({error})"
        ) from error
