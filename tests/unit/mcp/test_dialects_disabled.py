"""No dialect stores, finds or shows anything in a project where Keepmum is switched off."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepmum.core.errors import SwitchedOff
from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.surface import Context, Handlers

every_dialect = pytest.mark.parametrize("dialect", tuple(DIALECTS))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A disabled project; the server starts in its parent folder."""
    (tmp_path / "off" / ".git").mkdir(parents=True)
    (tmp_path / "off" / ".keepmum.toml").write_text("enabled = false\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "off"


@pytest.fixture
def context(folder: Path) -> Context:
    return Context(agent="codex", session="one", roots=(str(folder),))


@contextlib.contextmanager
def opened(dialect: str, context: Context) -> Iterator[Handlers]:
    with contextlib.closing(DIALECTS[dialect][1](context)) as handlers:
        yield handlers


@every_dialect
def test_tools_are_refused_when_opened_in_a_disabled_project(dialect: str, context: Context) -> None:
    with opened(dialect, context) as handlers:
        for tool in DIALECTS[dialect][0].tools:
            with pytest.raises(SwitchedOff, match=r"\.keepmum\.toml:1"):
                handlers.call(tool.name, {}, context)


@every_dialect
def test_tools_are_refused_after_a_move_to_a_disabled_project(dialect: str, context: Context) -> None:
    with opened(dialect, Context(agent="codex")) as handlers:
        handlers.roots_changed(context)
        for tool in DIALECTS[dialect][0].tools:
            with pytest.raises(SwitchedOff, match=r"\.keepmum\.toml:1"):
                handlers.call(tool.name, {}, context)


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if DIALECTS[name][0].resources])
def test_resources_and_prompts_are_refused(dialect: str, context: Context) -> None:
    surface = DIALECTS[dialect][0]
    with opened(dialect, context) as handlers:
        for resource in surface.resources:
            with pytest.raises(SwitchedOff):
                handlers.read(resource.uri, context)
        for prompt in surface.prompts:
            with pytest.raises(SwitchedOff):
                handlers.prompt(prompt.name, {}, context)
