"""Cursor's files in the bundle follow the rules of its loader and its published schemas."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from keepmum_hooks.clients.cursor import PLAIN_TOOLS
from keepmum_hooks.guard_table import WORDS
from keepmum_installers.clients.cursor import manifests
from keepmum_installers.product import read

Json = dict[str, Any]

# The fields that the schemas allow, with their types; they allow no others.
# Source: https://github.com/cursor/plugins/tree/main/schemas, read 2026-11-21
PLUGIN_FIELDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(
        "name displayName description version publisher homepage repository license logo category".split(), str
    ),
    **dict.fromkeys(("minClientVersions", "author", "variables"), dict),
    **dict.fromkeys(("keywords", "tags"), list),
    **dict.fromkeys(("commands", "agents", "skills", "rules"), (str, list)),
    "hooks": (str, dict),
    "mcpServers": (str, dict, list),
}
MARKETPLACE_FIELDS = {"name": str, "owner": dict, "metadata": dict, "plugins": list}
ENTRY_FIELDS = {"name": str, "source": str, "description": str, "minClientVersions": dict}
PERSON_FIELDS = {"name": str, "email": str}
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?")


@pytest.fixture
def rendered(root: Path) -> dict[str, Any]:
    return dict(manifests.render(read(str(root))))


def check(value: Json, fields: dict[str, Any], *required: str) -> None:
    assert set(required) <= set(value) <= set(fields)
    for name, one in value.items():
        assert isinstance(one, fields[name]), name
        assert one, f"{name} is empty"


def test_the_plugin_conforms_to_the_schema(rendered: Json) -> None:
    plugin = rendered[manifests.MANIFEST]
    check(plugin, PLUGIN_FIELDS, "name")
    check(plugin["author"], PERSON_FIELDS, "name")
    assert NAME.fullmatch(plugin["name"])
    assert VERSION.fullmatch(plugin["version"])
    assert all(urlsplit(plugin[name]).scheme == "https" for name in ("homepage", "repository"))


def test_the_marketplace_conforms_to_the_schema(rendered: Json) -> None:
    marketplace = rendered[".cursor-plugin/marketplace.json"]
    check(marketplace, MARKETPLACE_FIELDS, "name", "plugins")
    check(marketplace["owner"], PERSON_FIELDS, "name")
    (entry,) = marketplace["plugins"]
    check(entry, ENTRY_FIELDS, "name", "source")
    assert entry["name"] == rendered[manifests.MANIFEST]["name"]


@pytest.mark.parametrize("field", ["skills", "rules", "hooks", "mcpServers"])
def test_the_named_files_exist_and_are_not_links(root: Path, rendered: Json, field: str) -> None:
    path = rendered[manifests.MANIFEST][field]
    assert path.startswith("./")
    assert (root / path).exists()
    assert not (root / path).is_symlink()


def test_the_loader_reads_cursors_manifest(root: Path) -> None:
    # A root plugin.json would switch hooks off in Copilot CLI and VS Code, which read it as another format.
    assert not (root / "plugin.json").exists()


def test_hooks_have_a_version_that_is_a_number(rendered: Json) -> None:
    assert type(rendered[manifests.HOOKS]["version"]) is int


def test_a_followup_gets_no_further_one(rendered: Json) -> None:
    (stop,) = rendered[manifests.HOOKS]["hooks"]["stop"]
    assert stop["loop_limit"] == 1


def entry_for(rendered: Json, event: str, subject: str) -> list[Json]:
    entries: list[Json] = rendered[manifests.HOOKS]["hooks"][event]
    return [entry for entry in entries if re.search(entry.get("matcher", ""), subject)]


@pytest.mark.parametrize("tool", [*WORDS, "add_memory", "addMemory", "createEntities", "write-note"])
def test_a_memory_tool_is_blocked_when_the_guard_cannot_run(rendered: Json, tool: str) -> None:
    (entry,) = entry_for(rendered, "beforeMCPExecution", f"MCP:{tool}")
    assert entry["failClosed"] is True


@pytest.mark.parametrize("tool", ["click", "search", "add"])
def test_other_tools_are_checked_but_not_blocked_when_the_guard_cannot_run(rendered: Json, tool: str) -> None:
    (entry,) = entry_for(rendered, "beforeMCPExecution", f"MCP:{tool}")
    assert "failClosed" not in entry


@pytest.mark.parametrize(
    ("tool", "count"), [("Write", 1), ("EditNotebook", 1), ("MCP:add", 0), *((tool, 0) for tool in PLAIN_TOOLS)]
)
def test_tools_that_may_write_files_are_checked(rendered: Json, tool: str, count: int) -> None:
    assert len(entry_for(rendered, "preToolUse", tool)) == count


def test_the_plugins_root_is_quoted_for_the_shell(rendered: Json) -> None:
    for entries in rendered[manifests.HOOKS]["hooks"].values():
        for entry in entries:
            assert '"${CURSOR_PLUGIN_ROOT}/hooks/run.py"' in entry["command"]


def test_the_servers_name_is_unusual(rendered: Json) -> None:
    # "memory" is nearly everywhere the name of the reference server.
    assert list(rendered[manifests.SERVERS]["mcpServers"]) == ["keepmum"]


def test_the_rule_is_always_on(rendered: Json) -> None:
    head, body = rendered[manifests.RULES].removeprefix("---\n").split("---\n", 1)
    assert "alwaysApply: true\n" in head
    assert "search it" in body


def test_a_folder_with_a_quote_is_one_shell_word() -> None:
    command = manifests.Start(root="/o'brien/my keepmum", python="/py 3/python3").hook("stop")
    import shlex

    assert shlex.split(command)[:4] == ["/py 3/python3", "-I", "-S", "/o'brien/my keepmum/hooks/run.py"]


def test_the_link_of_the_readme_adds_the_server(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert f"[one click]({manifests.link()})" in readme
    query = parse_qs(urlsplit(manifests.link()).query)
    entry = json.loads(base64.b64decode(query["config"][0]))
    assert (query["name"], entry["args"]) == (["keepmum"], ["mcp", "--client", "cursor"])


def test_every_file_is_json_or_text(rendered: Json) -> None:
    assert all(isinstance(value, str) or json.dumps(value) for value in rendered.values())
