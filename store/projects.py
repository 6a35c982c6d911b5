"""Judging projects on disk: what each grade means, until the first label fixes it."""

from __future__ import annotations

from sqlite3 import IntegrityError

from corpus.judging import Project
from store.catalogue import Catalogue
from store.database import writing
from store.errors import BadInput, UnknownProject
from store.judging import now


def add_project(catalogue: Catalogue, project: Project, author: str) -> None:
    """Make a project.

    :raises BadInput: there is one of that name
    """
    with writing(catalogue.database) as db:
        if _row(catalogue, project.name) is not None:
            raise BadInput(f"there is a project {project.name!r} already")
        db.table("projects").insert(
            {
                "name": project.name,
                "judges_per_pair": project.judges_per_pair,
                "author": author,
                "created_at": now(),
            }
        )
        db.table("project_grades").insert_all(
            {"project": project.name, "grade": grade, "sentence": sentence}
            for grade, sentence in enumerate(project.grades)
        )


def change_project(catalogue: Catalogue, project: Project) -> None:
    """Give the project of this name these grades and this number of judges.

    The number of judges may always change; the grades only while nothing was judged by them, and
    that is for the database to refuse, so that no first label can slip in between.

    :raises UnknownProject: nobody made it
    :raises BadInput: its grades would change, and it has labels
    """
    with writing(catalogue.database) as db:
        known = _known(catalogue, project.name)
        db.execute(
            "UPDATE projects SET judges_per_pair = ? WHERE name = ?",
            [project.judges_per_pair, project.name],
        )
        for grade, sentence in enumerate(project.grades):
            if sentence == known.grades[grade]:
                continue
            try:
                db.execute(
                    "UPDATE project_grades SET sentence = ? WHERE project = ? AND grade = ?",
                    [sentence, project.name, grade],
                )
            except IntegrityError as error:
                raise BadInput(
                    f"project {project.name!r} has labels, and what its grades mean cannot change "
                    "any more; make a new project"
                ) from error


def projects(catalogue: Catalogue) -> list[Project]:
    """Every project, by name."""
    names = [row["name"] for row in catalogue.rows("SELECT name FROM projects ORDER BY name")]
    return [_known(catalogue, name) for name in names]


def project(catalogue: Catalogue, name: str) -> Project:
    """:raises UnknownProject: nobody made it"""
    return _known(catalogue, name)


def is_frozen(catalogue: Catalogue, name: str) -> bool:
    """Whether a label of the project fixed what its grades mean."""
    rows = catalogue.rows("SELECT 1 FROM judgments WHERE project = :name LIMIT 1", name=name)
    return next(rows, None) is not None


def _row(catalogue: Catalogue, name: str) -> dict[str, int | None] | None:
    rows = catalogue.rows("SELECT judges_per_pair FROM projects WHERE name = :name", name=name)
    return next(rows, None)


def _known(catalogue: Catalogue, name: str) -> Project:
    row = _row(catalogue, name)
    if row is None:
        raise UnknownProject(f"there is no project {name!r}; `python -m app projects` lists them")
    sentences = catalogue.rows(
        "SELECT sentence FROM project_grades WHERE project = :name ORDER BY grade", name=name
    )
    zero, one, two, three = (entry["sentence"] for entry in sentences)
    return Project(name, (zero, one, two, three), row["judges_per_pair"])
