"""The public API: what `keepmum` exports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import keepmum
from keepmum.core import errors

LIMIT = 60  # seconds
_HEAVY = ("dataclasses", "typing", "re", "sqlite3", "keepmum.core", "keepmum.service", "keepmum_scanner", "importlib")


@pytest.mark.parametrize("name", keepmum.__all__)
def test_every_exported_name_resolves(name: str) -> None:
    assert getattr(keepmum, name).__name__ == name


def test_other_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="'keepmum' has no attribute 'open_service'"):
        _ = keepmum.open_service  # type: ignore[attr-defined]  # it is not exported


def test_every_error_is_exported() -> None:
    assert {name for name in errors.__all__ if name[0].isupper()} <= set(keepmum.__all__)


def test_importing_keepmum_imports_nothing_else(root: Path) -> None:
    program = f"import sys; sys.path.insert(0, {str(root / 'plugin')!r}); before = set(sys.modules); import keepmum; "
    program += f"print(sorted((set(sys.modules) - before) & set({_HEAVY!r})))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, timeout=LIMIT, check=True
    )
    assert done.stdout == "[]\n"


def test_the_page_names_every_export(root: Path) -> None:
    page = (root / "docs" / "library.md").read_text(encoding="utf-8")
    assert [name for name in keepmum.__all__ if not re.search(rf"\b{name}\b", page)] == []


def test_the_example_runs(
    root: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(
        r"```python\n(.*?)```", (root / "docs" / "library.md").read_text(encoding="utf-8"), re.DOTALL
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    secret = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
    (tmp_path / "config.env").write_text(f"TOKEN={secret}\n", encoding="utf-8")
    exec(compile(example.replace('"notes.db", ', '"notes.db", None, '), "library.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "Deploys go through the blue pool first mem_" in printed
    assert "refused, nothing stored: github.token in text, line 1" in printed
