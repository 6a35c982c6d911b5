"""Who may import whom, held by reading every import statement of the project."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "corpus": {"corpus"},
    "store": {"corpus", "store"},
    "indexer": {"corpus", "store", "indexer"},
    "app": {"corpus", "store", "app"},
}
ONLY_IN = {
    "tantivy": ("store/embedded/",),
    "faiss": ("store/embedded/",),
    "sqlite_utils": ("store/",),
    "sqlite3": ("store/",),
    "sentence_transformers": ("store/encoder.py",),
    "streamlit": ("app/streamlit_app.py", "app/resources.py", "app/pages/"),
    "pickle": (),
    "joblib": (),
}


def sources() -> list[Path]:
    return sorted(path for package in MAY_IMPORT for path in (ROOT / package).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where a name comes from"
            yield (node.module or "").partition(".")[0]


def test_packages_import_only_downwards() -> None:
    for path in sources():
        package = path.relative_to(ROOT).parts[0]
        ours = {name for name in imported(path) if name in MAY_IMPORT}
        assert ours <= MAY_IMPORT[package], f"{path.relative_to(ROOT)} imports {ours}"


def test_engines_and_frameworks_are_imported_in_their_one_place() -> None:
    """sec-01 as well: nothing that unpickles is imported anywhere."""
    for path in sources():
        place = path.relative_to(ROOT).as_posix()
        for name in set(imported(path)) & set(ONLY_IN):
            allowed = ONLY_IN[name]
            assert place.startswith(allowed) if allowed else False, f"{place} imports {name}"


def test_the_search_for_imports_sees_what_is_there() -> None:
    found = {name for path in sources() for name in imported(path)}
    assert {"tantivy", "faiss", "sqlite_utils", "sentence_transformers"} <= found
    assert len(sources()) > 30


@pytest.mark.parametrize("call", ["allow_pickle=True", "torch.load", "yaml.load(", "eval("])
def test_no_data_file_can_run_code(call: str) -> None:
    """sec-01"""
    offenders = [path for path in sources() if call in path.read_text(encoding="utf-8")]
    assert offenders == []


def test_no_frame_file_hides_a_module_when_streamlit_runs() -> None:
    """Streamlit puts the script's folder first on the path."""
    hidden = {*sys.stdlib_module_names, *packages_distributions(), *MAY_IMPORT}
    names = {path.stem for path in (ROOT / "app").glob("*.py")} - {"__init__", "__main__"}
    assert names & hidden == set()
