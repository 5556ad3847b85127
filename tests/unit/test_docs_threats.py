"""The table of threats names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_every_threat_has_tests_that_exist(root: Path) -> None:
    page = (root / "docs/server-threats.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and "`tests/" in line]
    assert [row.split(" | ")[0] for row in rows if row.startswith("| T")] == [f"| T{number}" for number in range(1, 16)]
    named = {(path, name) for row in rows for path, name in _NAMED.findall(row)}
    assert {f"{path}::{name}" for path, name in named if name not in _functions(root / path)} == set()
    assert len(named) == page.count("`tests/")


def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
