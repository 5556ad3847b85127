"""Our hooks under the rules of Cursor's executor, and tests that our copy of the executor follows them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import patient_guard
from cursor_executor import BadConfig, Executor, load
from hidden import assert_hidden
from keepmum_hooks import places
from keepmum_hooks.capture_prompt import capture_prompt
from keepmum_installers.clients.cursor import manifests

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the hooks of these tests start through a POSIX shell")

Json = dict[str, Any]
MEMORY = {"tool_name": "add", "mcp_server_name": "memory", "command": "npx server-memory"}


def token() -> str:
    """A string that looks like a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """The client's environment: a home, and a PATH whose python3 is the one that runs these tests."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").symlink_to(os.path.realpath(sys.executable))
    path = os.pathsep.join([str(tools), "/usr/bin", "/bin"])
    return {"PATH": path, "HOME": str(tmp_path), "KEEPMUM_HOME": str(tmp_path / "keepmum")}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work space"
    folder.mkdir()
    return folder


@pytest.fixture
def cursor(patient_plugin: Path, workspace: Path, environ: dict[str, str]) -> Executor:
    """The client with our plugin."""
    return Executor([patient_plugin], workspace, environ)


@pytest.fixture
def twice(root: Path, patient_plugin: Path, tmp_path: Path, workspace: Path, environ: dict[str, str]) -> Executor:
    """The client with our plugin loaded twice: from its own folder, and imported from Claude Code."""
    copy = patient_guard.copied(root, tmp_path / "copy of the plugin")
    return Executor([patient_plugin, copy], workspace, environ)


def brief(environ: dict[str, str], workspace: Path, text: str) -> None:
    file = Path(places.briefing_file(environ["KEEPMUM_HOME"], str(workspace)))
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")


def memory_call(text: str) -> Json:
    return {**MEMORY, "tool_input": json.dumps({"note": text})}


# -- our hooks -------------------------------------------------------------------------------------------------------


def test_every_fifth_turn_gets_one_followup(cursor: Executor) -> None:
    assert [turn for turn in range(1, 17) if cursor.turn(turn) == [capture_prompt("cursor")]] == [5, 10, 15]


def test_every_fifth_turn_gets_one_followup_from_a_plugin_loaded_twice(twice: Executor) -> None:
    sent = {turn: twice.turn(turn) for turn in range(1, 11)}
    assert {turn: followups for turn, followups in sent.items() if followups} == {
        5: [capture_prompt("cursor")],
        10: [capture_prompt("cursor")],
    }


def test_aborted_turns_do_not_count(cursor: Executor) -> None:
    for turn in range(1, 5):
        cursor.turn(turn)
    cursor.generation = "gen-aborted"
    assert not cursor.run("stop", status="aborted", loop_count=0).followup
    assert cursor.turn(5) == [capture_prompt("cursor")]


def test_a_session_starts_with_its_briefing(cursor: Executor, environ: dict[str, str], workspace: Path) -> None:
    brief(environ, workspace, "- known")
    assert cursor.run("sessionStart", is_background_agent=False).context == "- known"


def test_a_session_gets_one_briefing_from_a_plugin_loaded_twice(
    twice: Executor, environ: dict[str, str], workspace: Path
) -> None:
    brief(environ, workspace, "- known")
    assert twice.run("sessionStart", is_background_agent=False).context == "- known"


def test_without_a_folder_in_the_payload_the_project_is_found(
    cursor: Executor, environ: dict[str, str], workspace: Path
) -> None:
    brief(environ, workspace, "- known")
    cursor.roots = []
    assert cursor.run("sessionStart", is_background_agent=False).context == "- known"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
def test_a_secret_for_a_memory_is_refused_with_a_reason(cursor: Executor, mark: bytes) -> None:
    cursor.mark = mark
    merged = cursor.run("beforeMCPExecution", **memory_call(f"use {token()}"))
    assert merged.permission == "deny"
    assert "github.token in note, line 1" in merged.reason
    assert_hidden(token(), json.dumps(merged.answers))


def test_a_secret_is_refused_by_a_plugin_loaded_twice(twice: Executor) -> None:
    assert twice.run("beforeMCPExecution", **memory_call(token())).permission == "deny"


CALLS: list[Any] = [
    pytest.param("beforeMCPExecution", memory_call("The pool is blue."), id="a memory without a secret"),
    pytest.param("beforeMCPExecution", {**memory_call(token()), "mcp_server_name": "browser"}, id="another server"),
    pytest.param("beforeShellExecution", {"command": "ls", "cwd": "", "sandbox": False}, id="a command"),
    pytest.param("preToolUse", {"tool_name": "Write", "tool_input": {"file_path": "a.py", "content": "x"}}, id="write"),
]


@pytest.mark.parametrize(("event", "fields"), CALLS)
def test_an_allowed_call_is_answered_with_one_empty_object(cursor: Executor, event: str, fields: Json) -> None:
    merged = cursor.run(event, **fields)
    assert (merged.permission, merged.answers) == ("allow", [{}])


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        pytest.param(
            "preToolUse",
            {"tool_name": "Write", "tool_input": {"file_path": "AGENTS.md", "content": token()}},
            id="a memory file",
        ),
        pytest.param(
            "preToolUse",
            {"tool_name": "EditNotebook", "tool_input": {"target_file": ".cursor/rules/a.mdc", "text": token()}},
            id="a memory file, by an unknown tool",
        ),
        pytest.param(
            "beforeShellExecution",
            {"command": f"echo {token()} >> CLAUDE.md", "cwd": "", "sandbox": False},
            id="a command that names a memory file",
        ),
    ],
)
def test_a_secret_for_a_memory_file_is_refused(cursor: Executor, event: str, fields: Json) -> None:
    assert cursor.run(event, **fields).permission == "deny"


@pytest.mark.parametrize("tool", ["Read", "Grep", "Shell", "MCP:add_memory", "MCP:add"])
def test_tools_with_their_own_event_start_no_second_hook(cursor: Executor, tool: str) -> None:
    assert cursor.run("preToolUse", tool_name=tool, tool_input={}).answers == []


def test_each_servers_tool_starts_one_hook(cursor: Executor) -> None:
    for tool in ("add_memory", "createEntities", "write-note", "click"):
        assert len(cursor.run("beforeMCPExecution", tool_name=tool, tool_input="{}").answers) == 1


# -- our hooks, broken -----------------------------------------------------------------------------------------------


def test_without_python_memory_tools_are_blocked_and_everything_else_is_allowed(
    root: Path, workspace: Path, environ: dict[str, str]
) -> None:
    cursor = Executor([root], workspace, {**environ, "PATH": str(workspace)})
    assert cursor.run("beforeMCPExecution", tool_name="add_memory", tool_input="{}").permission == "deny"
    assert cursor.run("beforeMCPExecution", tool_name="click", tool_input="{}").permission == "allow"
    assert cursor.run("beforeShellExecution", command="ls", cwd="", sandbox=False).permission == "allow"
    assert cursor.turn(1) == []


@pytest.fixture
def broken(root: Path, tmp_path: Path, workspace: Path, environ: dict[str, str]) -> Executor:
    """The client with a plugin whose hooks cannot be imported."""
    copy = tmp_path / "broken"
    for part in (".cursor-plugin", "hooks"):
        shutil.copytree(root / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "hooks" / "keepmum_hooks" / "payload.py").write_text("raise OSError\n", encoding="utf-8")
    return Executor([copy], workspace, environ)


def test_a_broken_guard_refuses_memory_tools_with_a_reason(broken: Executor) -> None:
    merged = broken.run("beforeMCPExecution", **memory_call("The pool is blue."))
    assert merged.permission == "deny"
    assert "could not check" in merged.reason


def test_a_broken_guard_allows_other_tools_with_an_object(broken: Executor) -> None:
    fields = {"tool_name": "click", "tool_input": "{}", "mcp_server_name": "browser"}
    merged = broken.run("beforeMCPExecution", **fields)
    assert (merged.permission, merged.answers) == ("allow", [{}])


def test_a_broken_stop_hook_gives_no_followup(broken: Executor) -> None:
    assert broken.turn(1) == []


# -- the executor of these tests -------------------------------------------------------------------------------------

Make = Callable[..., Executor]


@pytest.fixture
def plugins(tmp_path: Path, workspace: Path, environ: dict[str, str]) -> Make:
    """Creates a client with one plugin for each list of hook entries, all for one event."""

    def make(*of_plugins: list[Json], event: str = "preToolUse", version: object = 1) -> Executor:
        folders = []
        for number, entries in enumerate(of_plugins):
            folder = tmp_path / f"plugin {number}"
            (folder / ".cursor-plugin").mkdir(parents=True)
            (folder / ".cursor-plugin" / "plugin.json").write_text('{"name":"p","hooks":"h.json"}', encoding="utf-8")
            config = {"version": version, "hooks": {event: entries}}
            (folder / "h.json").write_text(json.dumps(config), encoding="utf-8")
            folders.append(folder)
        return Executor(folders, workspace, environ)

    return make


def prints(text: str, code: int = 0) -> Json:
    return {"command": f"cat >/dev/null; printf %s '{text}'; exit {code}"}


def decision(cursor: Executor) -> tuple[str, str]:
    merged = cursor.run("preToolUse", tool_name="Write", tool_input={})
    return merged.permission, merged.reason


@pytest.mark.parametrize(
    ("entry", "permission"),
    [
        pytest.param(prints("{}"), "allow", id="an empty object"),
        pytest.param(prints('{"permission":"deny","user_message":"no"}'), "deny", id="a denial"),
        pytest.param(prints('welcome {"permission":"deny"}'), "deny", id="shell output before it"),
        pytest.param(prints("", 2), "deny", id="exit 2"),
        pytest.param(prints("", 1), "allow", id="another exit code"),
        pytest.param({**prints("", 1), "failClosed": True}, "deny", id="another exit code, fail closed"),
        pytest.param(prints("no JSON"), "deny", id="not JSON"),
        pytest.param(prints('{"permission":"maybe"}'), "deny", id="an unknown permission"),
        pytest.param(prints(""), "allow", id="no output"),
        pytest.param({**prints(""), "failClosed": True}, "deny", id="no output, fail closed"),
        pytest.param({"command": "exec sleep 9", "timeout": 0.1}, "allow", id="timeout"),
        pytest.param(
            {"command": "exec sleep 9", "timeout": 0.1, "failClosed": True}, "deny", id="timeout, fail closed"
        ),
        pytest.param({**prints("no JSON"), "matcher": "^Read$"}, "allow", id="another tool"),
        pytest.param(
            prints('{"hookSpecificOutput":{"permissionDecision":"deny"}}'), "allow", id="another client's answer"
        ),
    ],
)
def test_an_outcome_has_the_effect_it_has_in_the_client(plugins: Make, entry: Json, permission: str) -> None:
    assert decision(plugins([entry]))[0] == permission


def test_hooks_run_concurrently_and_a_denial_wins(plugins: Make, tmp_path: Path) -> None:
    # Each waits for the other's file: if they ran one after the other, the first would time out and be ignored.
    first = {"command": f"touch '{tmp_path}/a'; until [ -e '{tmp_path}/b' ]; do :; done; echo '{{}}'", "timeout": 20}
    deny = """'{"permission":"deny","user_message":"no"}'"""
    second = {"command": f"touch '{tmp_path}/b'; until [ -e '{tmp_path}/a' ]; do :; done; echo {deny}", "timeout": 20}
    assert decision(plugins([first], [second])) == ("deny", "no")


def test_messages_of_several_hooks_are_joined(plugins: Make) -> None:
    assert decision(plugins([prints('{"permission":"deny","user_message":"a"}')] * 2)) == ("deny", "a\n\n---\n\na")


def test_followups_end_at_the_hooks_limit(plugins: Make) -> None:
    cursor = plugins([{**prints('{"followup_message":"more"}'), "loop_limit": 2}], event="stop")
    assert cursor.turn(1) == ["more", "more"]


@pytest.mark.parametrize(("event", "in_workspace"), [("stop", True), ("preToolUse", False)])
def test_hooks_start_in_the_folder_that_the_client_uses(
    plugins: Make,
    tmp_path: Path,
    workspace: Path,
    event: str,
    in_workspace: bool,  # noqa: FBT001 - a column of the table
) -> None:
    entry = {"command": f'pwd > "{tmp_path}/cwd"; echo "$CURSOR_PLUGIN_ROOT" > "{tmp_path}/root"; echo "{{}}"'}
    plugins([entry], event=event).run(event, status="completed", loop_count=0, tool_name="Write")
    plugin = tmp_path / "plugin 0"
    assert Path((tmp_path / "cwd").read_text(encoding="utf-8").strip()) == (workspace if in_workspace else plugin)
    assert (tmp_path / "root").read_text(encoding="utf-8").strip() == str(plugin)


@pytest.mark.parametrize(
    ("event", "version", "entry"),
    [
        pytest.param("stop", "1", {}, id="a version that is not a number"),
        pytest.param("stop", None, {}, id="no version"),
        pytest.param("Stop", 1, {}, id="an event of another client"),
        pytest.param("stop", 1, {"command": None}, id="no command"),
        pytest.param("stop", 1, {"loop_limit": 0}, id="a limit of zero"),
        pytest.param("stop", 1, {"timeout": 0}, id="a timeout of zero"),
        pytest.param("stop", 1, {"failClosed": "yes"}, id="a string instead of a boolean"),
    ],
)
def test_a_file_with_one_error_is_refused(plugins: Make, event: str, version: object, entry: Json) -> None:
    with pytest.raises(BadConfig):
        plugins([{**prints("{}"), **entry}], event=event, version=version)


def test_our_file_is_accepted(root: Path) -> None:
    assert set(load(root)["hooks"]) == set(manifests.hooks(manifests.Start())["hooks"])
