"""Edits of guarded files are judged by the text that they make, in the form of every client."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keepmum_hooks import guard

Json = dict[str, Any]


def token() -> str:
    """A string that looks like a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def password() -> str:
    """A password that a person makes up: only its name gives it away."""
    return "Blue" + "Horse" + "42!"


class Scene:
    """A project with one memory file."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "CLAUDE.md"
        self.folder = folder

    def reason(self, client: str, tool: str, tool_input: Json) -> str:
        """Why the client's tool is refused, or ""."""
        event = {"gemini-cli": "BeforeTool", "opencode": "tool.execute.before", "cursor": "preToolUse"}
        sent = {
            "session_id": "s", "cwd": str(self.folder), "hook_event_name": event.get(client, "PreToolUse"),
            "tool_name": tool, "tool_input": tool_input,
        }  # fmt: skip
        if client == "cursor":
            sent["cursor_version"] = "1"
        environ = {"HOME": str(self.folder / "home"), "KEEPMUM_HOME": str(self.folder / "keepmum")}
        output = guard.answer(client, json.dumps(sent).encode(), environ)
        assert password() not in output
        assert token()[8:16] not in output
        return output

    def edit(self, old: str, new: str, **more: object) -> str:
        fields = {"file_path": str(self.file), "old_string": old, "new_string": new, **more}
        return self.reason("claude-code", "Edit", fields)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def hunk(old: str, new: str) -> str:
    return f"*** Begin Patch\n*** Update File: CLAUDE.md\n@@\n-{old}\n+{new}\n*** End Patch"


# How each client replaces the word `old` in a line by `new`: the client, its tool, and the input.
FORMS: list[tuple[str, str, Callable[[str, str, str], Json]]] = [
    ("claude-code", "Edit", lambda path, old, new: {"file_path": path, "old_string": old, "new_string": new}),
    (
        "claude-code",
        "MultiEdit",
        lambda path, old, new: {"file_path": path, "edits": [{"old_string": old, "new_string": new}]},
    ),
    ("gemini-cli", "replace", lambda path, old, new: {"file_path": path, "old_string": old, "new_string": new}),
    ("opencode", "edit", lambda path, old, new: {"filePath": path, "oldString": old, "newString": new}),
    ("copilot", "Edit", lambda path, old, new: {"path": path, "old_str": old, "new_str": new}),
    (
        "copilot",
        "str_replace_editor",
        lambda path, old, new: {"command": "str_replace", "path": path, "old_str": old, "new_str": new},
    ),
    (
        "copilot",
        "replace_string_in_file",
        lambda path, old, new: {"filePath": path, "oldString": old, "newString": new},
    ),
    (
        "copilot",
        "multi_replace_string_in_file",
        lambda path, old, new: {"replacements": [{"filePath": path, "oldString": old, "newString": new}]},
    ),
    ("cursor", "StrReplace", lambda path, old, new: {"path": path, "old_string": old, "new_string": new}),
    ("cursor", "search_replace", lambda path, old, new: {"file_path": path, "old_string": old, "new_string": new}),
    (
        "claude-code",
        "mcp__filesystem__edit_file",
        lambda path, old, new: {"path": path, "edits": [{"oldText": old, "newText": new}]},
    ),
    (
        "claude-code",
        "mcp__serena__replace_content",
        lambda path, old, new: {"relative_path": path, "needle": old, "repl": new, "mode": "literal"},
    ),
    (
        "codex",
        "mcp__jetbrains__replace_text_in_file",
        lambda path, old, new: {"pathInProject": path, "oldText": old, "newText": new},
    ),
]
PATCHES: list[tuple[str, str, str]] = [
    ("codex", "apply_patch", "command"),
    ("opencode", "apply_patch", "patchText"),
    ("copilot", "apply_patch", "input"),
]


@pytest.mark.parametrize(("client", "tool", "form"), FORMS, ids=[f"{client} {tool}" for client, tool, _ in FORMS])
def test_a_value_is_judged_with_its_name_in_the_file(
    scene: Scene, client: str, tool: str, form: Callable[[str, str, str], Json]
) -> None:
    scene.file.write_text("# Access\n\npassword: TBD\nport: 1\n", encoding="utf-8")
    path = str(scene.file)
    assert "line 3 of the file" in scene.reason(client, tool, form(path, "TBD", password()))
    assert scene.reason(client, tool, form(path, "TBD", "see the password manager")) == ""
    assert scene.reason(client, tool, form(path, "port: 1", "port: 5433")) == ""


@pytest.mark.parametrize(("client", "tool", "field"), PATCHES)
def test_a_patch_is_judged_by_the_file_that_it_makes(scene: Scene, client: str, tool: str, field: str) -> None:
    scene.file.write_text("| user | password |\n| --- | --- |\n| ada | TBD |\n", encoding="utf-8")
    assert "of the file" in scene.reason(client, tool, {field: hunk("| ada | TBD |", f"| ada | {password()} |")})
    assert scene.reason(client, tool, {field: hunk("| ada | TBD |", "| ada | in the vault |")}) == ""
    scene.file.write_text(f"token: {token()}\n", encoding="utf-8")
    assert scene.reason(client, tool, {field: hunk(f"token: {token()}", "token: in the vault")}) == ""


def test_half_a_token_completes_the_other_half(scene: Scene) -> None:
    scene.file.write_text(f"the key is {token()[:9]}REST\n", encoding="utf-8")
    assert "github" in scene.edit("REST", token()[9:])


def test_a_row_is_judged_with_the_head_of_its_table(scene: Scene) -> None:
    scene.file.write_text("| user | password |\n| --- | --- |\n| ada | TBD |\n", encoding="utf-8")
    assert scene.edit("TBD", password())


def test_a_name_for_a_value_that_is_there_is_refused(scene: Scene) -> None:
    scene.file.write_text(f"colour: {password()}\n", encoding="utf-8")
    assert scene.edit("colour", "password")


@pytest.mark.parametrize("every", [False, True])
def test_each_occurrence_is_replaced_where_the_client_does(scene: Scene, every: bool) -> None:  # noqa: FBT001 - a switch
    scene.file.write_text("note: TBD\npassword: TBD\n", encoding="utf-8")
    assert bool(scene.edit("TBD", password(), replace_all=every)) is every


def test_several_edits_are_made_one_after_the_other(scene: Scene) -> None:
    scene.file.write_text("a: TBD\n", encoding="utf-8")
    edits = [{"old_string": "a:", "new_string": "password:"}, {"old_string": "TBD", "new_string": password()}]
    assert scene.reason("claude-code", "MultiEdit", {"file_path": str(scene.file), "edits": edits})


def test_a_secret_that_is_there_does_not_block_other_edits(scene: Scene) -> None:
    scene.file.write_text(f"token: {token()}\ncolour: red\n", encoding="utf-8")
    assert scene.edit("red", "blue") == ""
    assert scene.edit(f"token: {token()}\ncolour: red", f"token: {token()}\ncolour: blue") == ""
    assert scene.edit(f"token: {token()}\n", "") == ""
    whole = f"token: {token()}\ncolour: blue\n"
    assert scene.reason("cursor", "Write", {"file_path": str(scene.file), "content": whole}) == ""


def test_a_second_copy_of_a_secret_is_refused(scene: Scene) -> None:
    scene.file.write_text(f"token: {token()}\ncolour: red\n", encoding="utf-8")
    assert scene.edit("red", token())


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        pytest.param("Write", {"path": "CLAUDE.md", "file_text": "@"}, id="a whole text"),
        pytest.param("create", {"command": "create", "path": "CLAUDE.md", "file_text": "@"}, id="create"),
        pytest.param("insert", {"path": "CLAUDE.md", "insert_line": 1, "insert_text": "@"}, id="insert"),
        pytest.param("insert", {"path": "CLAUDE.md", "insert_line": 1, "new_str": "@"}, id="insert, older"),
        pytest.param("insert_edit_into_file", {"filePath": "CLAUDE.md", "code": "@"}, id="code"),
        pytest.param("edit_notebook_file", {"filePath": ".memories/a.ipynb", "newCode": "@"}, id="a notebook"),
        pytest.param("editFiles", {"files": ["CLAUDE.md"], "edits": ["@"]}, id="unknown fields"),
        pytest.param("Write", {"path": "CLAUDE.md", "content": "@", "text": "x"}, id="two texts, the first"),
        pytest.param("Write", {"path": "CLAUDE.md", "content": "x", "text": "@"}, id="two texts, the second"),
        pytest.param("Edit", {"path": "CLAUDE.md", "edits": [{"new_str": "@"}]}, id="nothing to replace"),
        pytest.param("Edit", {"path": "CLAUDE.md", "old_str": "absent", "new_str": "@"}, id="not in the file"),
        pytest.param("Edit", {"path": "CLAUDE.md", "old_str": 7, "new_str": "@"}, id="not a text"),
        pytest.param(
            "Edit", {"root_path": "/x", "file": "CLAUDE.md", "old_str": "red", "new_str": "@"}, id="two paths"
        ),
    ],
)
def test_every_form_of_a_secret_is_refused(scene: Scene, tool: str, tool_input: Json) -> None:
    scene.file.write_text("colour: red\nport: 1\n", encoding="utf-8")
    sent = json.loads(json.dumps(tool_input).replace("@", f"use {token()}"))
    reason = scene.reason("copilot", tool, sent)
    assert "github.token in " in reason
    assert scene.reason("copilot", tool, tool_input) == ""


def test_an_insertion_is_judged_with_the_lines_around_it(scene: Scene) -> None:
    scene.file.write_text("| user | password |\n| --- | --- |\n", encoding="utf-8")
    row = {"path": "CLAUDE.md", "insert_line": 2, "insert_text": f"| ada | {password()} |\n"}
    assert "line 3 of the file" in scene.reason("copilot", "insert", row)


@pytest.mark.parametrize("field", ["line", "start_line", "insertLine"])
def test_a_server_that_inserts_lines_is_judged_by_the_result(scene: Scene, field: str) -> None:
    scene.file.write_text("| user | password |\n| --- | --- |\n", encoding="utf-8")
    row = {"path": "CLAUDE.md", field: 2, "content": f"| ada | {password()} |\n"}
    assert "of the file" in scene.reason("claude-code", "mcp__files__insert", row)


@pytest.mark.parametrize(
    ("old", "new"),
    [("old", "new"), ("search", "replace"), ("find", "replacement"), ("regex", "repl"), ("pattern", "replace_with")],
)
def test_other_names_of_the_two_texts_are_known(scene: Scene, old: str, new: str) -> None:
    scene.file.write_text("password: TBD\n", encoding="utf-8")
    assert scene.reason("claude-code", "mcp__files__edit", {"path": "CLAUDE.md", old: "TBD", new: password()})
    assert scene.reason("claude-code", "mcp__files__edit", {"path": "CLAUDE.md", old: "TBD", new: "gone"}) == ""


def test_dots_in_the_path_lead_to_the_file(scene: Scene) -> None:
    scene.file.write_text("password: TBD\n", encoding="utf-8")
    fields = {"file_path": "./absent/../CLAUDE.md", "old_string": "TBD", "new_string": password()}
    assert scene.reason("claude-code", "Edit", fields)


def test_the_number_of_expected_replacements_counts(scene: Scene) -> None:
    scene.file.write_text("note: TBD\npassword: TBD\n", encoding="utf-8")
    fields = {"file_path": "CLAUDE.md", "old_string": "TBD", "new_string": password()}
    assert scene.reason("gemini-cli", "replace", {**fields, "expected_replacements": 2})
    assert scene.reason("gemini-cli", "replace", fields) == ""


def test_blanks_at_the_ends_of_lines_are_ignored_as_some_clients_do(scene: Scene) -> None:
    scene.file.write_text("## Access  \n  password: TBD\n", encoding="utf-8")
    fields = {"file_path": str(scene.file), "old_string": "## Access\npassword: TBD"}
    assert scene.reason("gemini-cli", "replace", {**fields, "new_string": f"## Access\npassword: {password()}"})


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_ends_make_no_difference(scene: Scene, ending: str) -> None:
    scene.file.write_bytes(ending.join(["a", "password: TBD", "b", ""]).encode())
    assert scene.edit("password: TBD\nb", f"password: {password()}\nb")


def test_a_long_file_is_judged_around_the_edit(scene: Scene) -> None:
    filler = "The blue pool drains before the green one.\n" * 10_000
    scene.file.write_text(f"{filler}password: TBD\n{filler}", encoding="utf-8")
    assert "line 10001 of the file" in scene.edit("TBD", password())
    assert scene.edit("TBD", "in the vault") == ""


def test_an_edit_of_a_very_long_file_is_scanned_alone(scene: Scene) -> None:
    scene.file.write_text("The blue pool drains first.\n" * 60_000, encoding="utf-8")
    assert "github.token in new_string, line 1" in scene.edit("first", token())
    assert scene.edit("first", "last") == ""


def test_a_file_that_a_patch_adds_or_renames_is_judged(scene: Scene) -> None:
    added = f"*** Begin Patch\n*** Add File: AGENTS.md\n+password: {password()}\n*** End Patch"
    assert "line 1 of the file" in scene.reason("codex", "apply_patch", {"command": added})
    moved = f"*** Begin Patch\n*** Update File: a.md\n*** Move to: AGENTS.md\n@@\n a\n+{token()}\n*** End Patch"
    assert scene.reason("codex", "apply_patch", {"command": moved})


def test_other_files_of_a_patch_are_not_judged(scene: Scene) -> None:
    other = f"*** Add File: tests/data.py\n+{token()}\n*** Update File: CLAUDE.md\n@@\n-a\n+b"
    scene.file.write_text("a\n", encoding="utf-8")
    assert scene.reason("codex", "apply_patch", {"command": f"*** Begin Patch\n{other}\n*** End Patch"}) == ""


def test_a_hunk_that_is_not_in_the_file_is_judged_alone(scene: Scene) -> None:
    assert scene.reason("codex", "apply_patch", {"command": hunk("absent", f"password: {password()}")})
    assert scene.reason("codex", "apply_patch", {"command": hunk(f"password: {password()}", "password: gone")}) == ""


def test_a_refusal_names_the_fingerprint(scene: Scene) -> None:
    scene.file.write_text("password: TBD\n", encoding="utf-8")
    assert "Fingerprint: " in scene.edit("TBD", password())


# -- files that a command copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "cp notes.txt CLAUDE.md",
        "cp -f ./notes.txt .claude/rules/",
        "mv notes.txt CLAUDE.md",
        "ln -sf notes.txt AGENTS.md",
        "cat notes.txt >> CLAUDE.md",
        "cat notes.txt | tee -a CLAUDE.md",
        "cd . && cat head.txt notes.txt > 'CLAUDE.md'; echo done",
        "dd if=notes.txt of=CLAUDE.md",
        "tee CLAUDE.md < notes.txt",
        "install -m 644 notes.txt CLAUDE.md",
        "Copy-Item notes.txt CLAUDE.md",
        "Get-Content notes.txt | Add-Content CLAUDE.md",
    ],
)
def test_a_file_that_a_command_copies_is_scanned(scene: Scene, command: str) -> None:
    source = scene.folder / "notes.txt"
    source.write_text(f"one\nuse {token()}\n", encoding="utf-8")
    reason = scene.reason("claude-code", "Bash", {"command": command})
    assert "github.token in the file that command copies, line 2" in reason
    source.write_text("one\nuse the vault\n", encoding="utf-8")
    assert scene.reason("claude-code", "Bash", {"command": command}) == ""


@pytest.mark.parametrize(
    "command",
    [
        "cp CLAUDE.md notes.txt",
        "cat notes.txt",
        "source notes.txt && echo done >> CLAUDE.md",
        "grep -c x notes.txt; cat CLAUDE.md",
        "docker run --env-file notes.txt x || cat absent >> CLAUDE.md",
    ],
)
def test_a_file_that_reaches_no_memory_is_not_scanned(scene: Scene, command: str) -> None:
    (scene.folder / "notes.txt").write_text(f"use {token()}\n", encoding="utf-8")
    assert scene.reason("claude-code", "Bash", {"command": command}) == ""


def test_a_copy_of_what_is_there_is_allowed(scene: Scene) -> None:
    scene.file.write_text(f"use {token()}\n", encoding="utf-8")
    (scene.folder / "notes.txt").write_text(f"use {token()}\nmore\n", encoding="utf-8")
    assert scene.reason("claude-code", "Bash", {"command": "cp notes.txt CLAUDE.md"}) == ""


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/TBD/@/' CLAUDE.md",
        'sed -i "s|TBD|@|g" CLAUDE.md',
        "perl -pi -e 's/TBD$/@/' ./CLAUDE.md",
        "sed -i s,TBD,@, CLAUDE.md",
    ],
)
def test_a_substitution_is_judged_by_the_file_that_it_makes(scene: Scene, command: str) -> None:
    scene.file.write_text("# Access\npassword: TBD\n", encoding="utf-8")
    reason = scene.reason("claude-code", "Bash", {"command": command.replace("@", password())})
    assert "in command, line 2 of the file" in reason
    assert scene.reason("claude-code", "Bash", {"command": command.replace("@", "gone")}) == ""
