"""Every third-party import of the product is declared in pyproject.toml, public, and no declared package is unused."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDERS = ("plugin", "scanner", "hooks", "installers")
IMPORT_NAMES = {"pyjwt": "jwt", "pyyaml": "yaml"}  # where it differs from the name of the package
MORE_NAMES = {"psycopg": "psycopg_pool"}  # of what an extra of the package brings
BUILT_IN = {"_sha2"}  # a module of Python 3.12, imported under a condition

# Violations that are still to be fixed. Remove a line once its import is gone or declared.
UNDECLARED: set[str] = set()
PRIVATE = {
    "detect_secrets.core.scan._process_line_based_plugins",  # the public functions read files only
}


@pytest.fixture(scope="module")
def imports(root: Path) -> set[str]:
    """The dotted names of everything that is imported from outside, lazily or not."""
    files = {path for folder in FOLDERS for path in (root / folder).rglob("*.py")}
    packages = {path.name for folder in FOLDERS for path in (root / folder).iterdir()}
    own = packages | {path.stem for path in files}  # `run.py` imports modules of its package as top-level ones
    found = {name for path in files for name in imported(path.read_text(encoding="utf-8"))}
    return {name for name in found if name.partition(".")[0] not in own | BUILT_IN | sys.stdlib_module_names}


@pytest.fixture(scope="module")
def declared(root: Path) -> set[str]:
    """The import names of the dependencies, also of those that only a server needs."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [*project["dependencies"], *(text for part in project["optional-dependencies"].values() for text in part)]
    names = {re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0] for text in listed}
    return {IMPORT_NAMES.get(name, name.replace("-", "_")) for name in names} | {
        MORE_NAMES[name] for name in names if name in MORE_NAMES
    }


def imported(source: str) -> Iterator[str]:
    """The dotted name of each absolute import in a module, wherever it is."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_import_is_declared(imports: set[str], declared: set[str]) -> None:
    assert {name.partition(".")[0] for name in imports} - declared == UNDECLARED


def test_every_dependency_is_imported(imports: set[str], declared: set[str]) -> None:
    assert declared - {name.partition(".")[0] for name in imports} == set()


def test_no_import_is_private(imports: set[str]) -> None:
    assert {name for name in imports if re.search(r"\._", name)} == PRIVATE


def test_lazy_imports_count() -> None:
    assert list(imported("def f():\n    import a.b\n    from c import d\n    from . import e\n")) == ["a.b", "c.d"]
