"""Which calls concern a memory that is not ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keepmum_hooks.call import Call
from keepmum_hooks.guarded import Guarded

ENVIRON = {"HOME": "/home/u", "USERPROFILE": "/home/u"}


def concerns(call: Call, **settings: tuple[str, ...]) -> bool:
    return Guarded(ENVIRON, **settings).concerns(call)


def tool(name: str) -> Call:
    return Call(tool=name, input={})


def written(path: str, cwd: str = "/p") -> Call:
    return Call(tool="Write", input={}, cwd=cwd, paths=(path,))


def run(command: str, cwd: str = "/p") -> Call:
    return Call(tool="Bash", input={}, cwd=cwd, command=command)


@pytest.mark.parametrize(
    "name",
    [
        "mcp__memory__create_entities",
        "mcp__memory__search_nodes",
        "mcp__graph__create_entities",
        "mcp__kg__add_observations",
        "mcp__mem0__add",
        "mcp__openmemory__add_memories",
        "mcp__plugin_other_Memory__save",
        "mcp__notes__write_note",
        "mcp__basic-memory__edit-note",
        "mcp__knowledge-graph__put",
        "mcp__x__Remember",
    ],
)
def test_a_tool_that_speaks_of_memory_is_guarded(name: str) -> None:
    assert concerns(tool(name))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("mcp__github__create_issue", id="another matter"),
        pytest.param("mcp__plugin_keepmum_memory__remember", id="our own server"),
        pytest.param("mcp__keepmum__remember", id="our own server, by hand"),
        pytest.param("mcp__memory__delete_observations", id="a tool that takes out"),
        pytest.param("mcp__memory__forget", id="a tool that forgets"),
        pytest.param("Read", id="a tool of the client"),
        pytest.param("remember", id="no server's tool"),
    ],
)
def test_any_other_tool_is_not(name: str) -> None:
    assert not concerns(tool(name))


def test_the_users_tools_are_guarded_too() -> None:
    assert concerns(tool("mcp__wiki__put"), tools=("mcp__wiki__*",))
    assert not concerns(tool("mcp__keepmum__recall"), tools=("*",))


@pytest.mark.parametrize(
    "path",
    [
        "/p/CLAUDE.md",
        "/p/sub/CLAUDE.local.md",
        "AGENTS.md",
        "sub/../GEMINI.md",
        "/p/MEMORY.md",
        "/p/.memories/2026/one.md",
        "/p/.cursor/rules/style.mdc",
        "/p/.claude/rules/a.md",
        "/home/u/.claude/projects/-p/memory/topic.md",
        "~/.claude/memory/x.md",
        "~/.codex/memories/x.md",
        "C:\\p\\CLAUDE.md",
    ],
)
def test_a_memory_file_is_guarded(path: str) -> None:
    assert concerns(written(path))


@pytest.mark.parametrize(
    "path", ["/p/src/memory/cache.py", "/p/claude.py", "/p/README.md", "rules/a.md", "/p/docs/AGENTS.md.txt", ""]
)
def test_any_other_file_is_not(path: str) -> None:
    assert not concerns(written(path))


def test_the_clients_own_folder_is_guarded_wherever_it_lies() -> None:
    elsewhere = Guarded({**ENVIRON, "CLAUDE_CONFIG_DIR": "/cfg"})
    assert elsewhere.concerns(written("/cfg/projects/p/memory/a.md"))


def test_the_users_files_are_guarded_too() -> None:
    assert concerns(written("/p/notes/a.txt"), files=("notes/**",))


def test_a_link_to_a_memory_file_is_guarded(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").touch()
    (tmp_path / "notes.txt").symlink_to("CLAUDE.md")
    assert concerns(written("notes.txt", str(tmp_path)))


def test_a_memory_file_that_links_elsewhere_is_guarded(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").symlink_to("elsewhere.txt")
    assert concerns(written(str(tmp_path / "AGENTS.md")))


@pytest.mark.parametrize(
    "command",
    [
        "echo x >> AGENTS.md",
        "echo x>>AGENTS.md",
        "echo x | tee -a ./CLAUDE.md",
        "sed -i 's/a/b/' /p/CLAUDE.md",
        "cp /tmp/x ~/.claude/projects/p/memory/x.md",
        'cp /tmp/x "$HOME/.claude/projects/p/memory/x.md"',
        "cd .memories && echo x > a",
        "printf x > '.cursor/rules/a.mdc'",
        "dd if=/tmp/x of=MEMORY.md",
        'python3 -c \'open("CLAUDE.md", "a")\'',
        "cat <<EOF >> docs/AGENTS.md\nx\nEOF",
        "Set-Content -Path .\\CLAUDE.md -Value x",
    ],
)
def test_a_command_that_names_a_memory_file_is_guarded(command: str) -> None:
    assert concerns(run(command))


def test_a_command_inside_a_memory_folder_is_guarded() -> None:
    assert concerns(run("echo x > a.md", "/p/.memories"))


@pytest.mark.parametrize("command", ["pytest -q", "cat claude.md.bak", "echo AGENTS", "ls src/memory", ""])
def test_any_other_command_is_not(command: str) -> None:
    assert not concerns(run(command))


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param({"tool_name": "mcp__memory__add"}, True, id="a memory tool"),
        pytest.param({"tool_name": "mcp__github__x", "tool_input": "CLAUDE.md"}, False, id="another server's"),
        pytest.param({"tool_name": "mcp__keepmum__remember"}, False, id="our own"),
        pytest.param({"tool_name": "Write", "tool_input": {"file_path": "/p/CLAUDE.md"}}, True, id="a memory file"),
        pytest.param({"tool_name": "Write", "tool_input": {"file_path": "C:\\p\\.Memories\\a"}}, True, id="Windows"),
        pytest.param({"tool_name": "Write", "tool_input": {"file_path": "/p/a.py"}}, False, id="another file"),
        pytest.param({"tool_name": "Write", "tool_input": {"file_path": "/p/notes/a"}}, True, id="the user's"),
        pytest.param({}, False, id="nothing"),
    ],
)
def test_a_cut_payload_is_judged_by_what_it_names(payload: dict[str, object], expected: bool) -> None:  # noqa: FBT001 - a table's column
    raw = json.dumps(payload).encode()[:-1]
    assert Guarded(ENVIRON, files=("notes/**",)).are_named_in(raw) is expected


@pytest.mark.parametrize("raw", [b"", b"\x00" * 100, b"\xff" * 100, b'{"tool_name"'])
def test_noise_names_no_memory(raw: bytes) -> None:
    assert not Guarded(ENVIRON).are_named_in(raw)
