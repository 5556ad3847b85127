"""Which tool calls the guard checks, and which it always refuses."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from keepmum_hooks import guard
from keepmum_hooks.event import ToolCall
from keepmum_hooks.guard_rules import (
    ALLOWLIST_REFUSAL,
    SETTINGS_REFUSAL,
    FilePattern,
    GuardRules,
    matches,
    overlaps,
    parts_of,
)

USER = "/home/u"
ENVIRON = {"HOME": USER, "USERPROFILE": USER}
FINGERPRINT = "0123456789abcdef" * 2


def is_guarded(call: ToolCall, **settings: tuple[str, ...]) -> bool:
    return GuardRules(ENVIRON, **settings).apply_to(call)


def server_call(name: str) -> ToolCall:
    return ToolCall(tool=name, input={})


def write_call(path: str, cwd: str = "/p") -> ToolCall:
    return ToolCall(tool="Write", input={}, cwd=cwd, paths=(path,))


def shell_call(command: str, cwd: str = "/p") -> ToolCall:
    return ToolCall(tool="Bash", input={}, cwd=cwd, command=command)


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
def test_a_memory_tool_is_guarded(name: str) -> None:
    assert is_guarded(server_call(name))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("mcp__github__create_issue", id="no memory tool"),
        pytest.param("mcp__plugin_keepmum_memory__remember", id="our own server"),
        pytest.param("mcp__keepmum__remember", id="our own server, by hand"),
        pytest.param("mcp__memory__delete_observations", id="a tool that deletes"),
        pytest.param("mcp__memory__forget", id="a tool that forgets"),
        pytest.param("Read", id="a tool of the client"),
        pytest.param("mcp__x__delete_note", id="a tool that deletes a note"),
    ],
)
def test_any_other_tool_is_not_guarded(name: str) -> None:
    assert not is_guarded(server_call(name))


def test_tools_named_in_the_settings_are_guarded() -> None:
    assert is_guarded(server_call("mcp__wiki__put"), tools=("mcp__wiki__*",))
    assert not is_guarded(server_call("mcp__keepmum__recall"), tools=("*",))


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
    assert is_guarded(write_call(path))


@pytest.mark.parametrize(
    "path", ["/p/src/memory/cache.py", "/p/claude.py", "/p/README.md", "rules/a.md", "/p/docs/AGENTS.md.txt", ""]
)
def test_any_other_file_is_not_guarded(path: str) -> None:
    assert not is_guarded(write_call(path))


def test_a_moved_client_folder_is_guarded() -> None:
    rules = GuardRules({**ENVIRON, "CLAUDE_CONFIG_DIR": "/cfg"})
    assert rules.apply_to(write_call("/cfg/projects/p/memory/a.md"))


def test_files_named_in_the_settings_are_guarded() -> None:
    assert is_guarded(write_call("/p/notes/a.txt"), files=("notes/**",))


def test_a_link_to_a_memory_file_is_guarded(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").touch()
    (tmp_path / "notes.txt").symlink_to("CLAUDE.md")
    assert is_guarded(write_call("notes.txt", str(tmp_path)))


def test_a_memory_file_that_links_elsewhere_is_guarded(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").symlink_to("elsewhere.txt")
    assert is_guarded(write_call(str(tmp_path / "AGENTS.md")))


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
        "cp /tmp/x CLAUDE.md",
        "mv /tmp/x ./CLAUDE.md",
        "ln -sf /tmp/x .cursor/rules/a.mdc",
        "python3 - <<'EOF'\nopen('CLAUDE.md', 'w').write('x')\nEOF",
        "F=CLAUDE.md; echo x > $F",
        "cd .cursor && echo x > rules/a.mdc",
        "cd /p/.github; cd instructions; tee a.md",
        "git -C .claude mv x skills/a/SKILL.md",
        'Add-Content -LiteralPath "$env:USERPROFILE\\.claude\\rules\\a.md" x',
        "cmd /c copy x %USERPROFILE%\\.gemini\\GEMINI.md",
    ],
)
def test_a_command_that_names_a_memory_file_is_guarded(command: str) -> None:
    assert is_guarded(shell_call(command))


@pytest.mark.parametrize(
    "command",
    [
        "echo x >> CLAUDE.m?",
        "echo x >> CLA*",
        "echo x >> [C]LAUDE.md",
        "echo x >> CLAUDE.[mM]d",
        "cat > {CLAUDE,AGENTS}.md",
        "cat > {README,{CLAUDE,AGENTS}}.md",
        "tee {CLAUDE,}.md",
        "tee .cursor/rule*/x.mdc",
        "tee .c*/rules/x.mdc",
        "echo x > .github/copilot-*",
        'echo x > CLAU""DE.md',
        "echo x > CLAU''DE.md",
        "echo x > CLAUDE\\.md",
        "echo x > 'CLAUDE'.md",
        "echo x > $'CLAUDE\\x2emd'",
        "echo x > $'\\103LAUDE.md'",
        "echo x > $'CLAUDE\\u002emd'",
        "python3 -c \"open('CLAUDE' + '.md', 'w')\"",
        "python3 -c \"open(os.path.join('.cursor', 'rules', 'a.mdc'), 'w')\"",
        "node -e \"fs.writeFileSync(path.join('.claude','rules','a.md'), x)\"",
        "N=CLAUDE; echo x > $N.md",
        "N=CLAUDE; echo x > ${N}.md",
        "echo x > $(echo CLAUDE).md",
        "sed -i s/a/b/ CLAUDE.*",
        "Set-Content CLAUDE`.md x",
        "D=.cursor; echo x > $D/rules/a.mdc",
        "a=CLAUDE; b=.md; echo x > $a$b",
        "python3 -c \"f='CLAUDE'; open(f + '.md', 'w')\"",
        "echo x > $(printf CLAUDE.%s md)",
        "sh -c 'echo x > CLAUDE.m?'",
        "bash <<EOF\necho x > CLAUDE.m?\nEOF",
        "for f in CLAUDE AGENTS; do echo x >> $f.md; done",
        "find . -name 'CLAUDE*' -exec sed -i 's/a/x/' {} +",
        "echo x > CLAUDE\\\n.md",
        "cat > .claude/{skills,commands}/x.md",
        "cat > a.txt <<EOF\nx\nEOF\necho x > CLAUDE.m?",
    ],
)
def test_a_command_that_writes_to_what_can_be_a_memory_file_is_guarded(command: str) -> None:
    assert is_guarded(shell_call(command))


@pytest.mark.parametrize(
    "command",
    [
        "mysql -e 'SELECT * FROM x' > out",
        "ls CLAUDE.m? 2>/dev/null",
        "git add *.md",
        "rm -rf build/*",
        'curl -d \'{"a": "b", "c": "d"}\' > out.json',
        "echo x > docs/{a,b}.md",
        "echo x > $DIR/notes.txt",
        'echo x > "$FILE"',
        "awk '{print $1}' a > b",
        "jq '.claude*' a > b",
        "for f in *.py; do python $f > $f.log; done",
        "./run.sh *.json > out",
        "cat docs/*.md > out",
        "sed -i 's/x/y/' .env.*",
        "python manage.py x > logs/$(date).txt",
        "cat > a.py <<EOF\nglob('CLAUDE.m?')\nEOF",
        "for f in *.py; do sed -i s/a/b/ $f; done",
    ],
)
def test_a_command_with_open_words_for_other_files_is_not_guarded(command: str) -> None:
    assert not is_guarded(shell_call(command))


@pytest.mark.parametrize("size", [1 << 16, 1 << 20])
def test_a_long_command_is_judged_quickly(size: int) -> None:
    hostile = ("{a,b}" * 4 + "$x[y]*? ") * (size // 20)
    started = time.process_time()
    is_guarded(shell_call(f"cat > x <<'EOF'\n{hostile}\nEOF"))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("pattern", "word", "expected"),
    [
        ("claude.md", "claude.m?", True),
        ("claude.md", "*.md", True),
        ("claude.md", "cl*md", True),
        ("claude.md", "cl*me", False),
        ("claude.md", "claude.md", True),
        ("claude.md", "claude.md?", False),
        ("claude.md", "claude.md*", True),
        ("claude.md", "*", False),
        ("claude.md", "?????????", False),
        ("rules-*", "rule*", True),
        ("rules-*", "r*-code", True),
        (".*", "*", False),
        (".*", "**", True),
        (".cursorrules", "**rules", True),
        (".cursorrules", "*rules", False),
        ("*.agent.md", "a.*.md", True),
        ("*.agent.md", "a.*.mdx", False),
    ],
)
def test_two_patterns_overlap_when_one_name_matches_both(pattern: str, word: str, expected: bool) -> None:  # noqa: FBT001 - as above
    assert overlaps(pattern, word) is expected


def test_a_command_inside_a_memory_folder_is_guarded() -> None:
    assert is_guarded(shell_call("echo x > a.md", "/p/.memories"))


@pytest.mark.parametrize("command", ["pytest -q", "cat claude.md.bak", "echo AGENTS", "ls src/memory", ""])
def test_any_other_command_is_not_guarded(command: str) -> None:
    assert not is_guarded(shell_call(command))


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param({"tool_name": "mcp__memory__add"}, True, id="a memory tool"),
        pytest.param({"tool_name": "mcp__github__x", "tool_input": "CLAUDE.md"}, False, id="a tool of another server"),
        pytest.param({"tool_name": "mcp__keepmum__remember"}, False, id="our own tool"),
        pytest.param({"tool_name": "Write", "tool_input": {"file_path": "/p/CLAUDE.md"}}, True, id="a memory file"),
        pytest.param({"tool_name": "Write", "tool_input": {"file_path": "C:\\p\\.Memories\\a"}}, True, id="Windows"),
        pytest.param({"tool_name": "Write", "tool_input": {"file_path": "/p/a.py"}}, False, id="another file"),
        pytest.param({"tool_name": "Write", "tool_input": {"file_path": "/p/notes/a"}}, True, id="in the settings"),
        pytest.param({}, False, id="nothing"),
    ],
)
def test_a_truncated_payload_is_judged_by_the_names_in_it(payload: dict[str, object], expected: bool) -> None:  # noqa: FBT001 - a table's column
    raw = json.dumps(payload).encode()[:-1]
    assert GuardRules(ENVIRON, files=("notes/**",)).are_named_in(raw) is expected


@pytest.mark.parametrize("raw", [b"", b"\x00" * 100, b"\xff" * 100, b'{"tool_name"'])
def test_garbage_names_no_memory(raw: bytes) -> None:
    assert not GuardRules(ENVIRON).are_named_in(raw)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        pytest.param("CLAUDE.md", "/p/CLAUDE.md", True, id="a name in any folder"),
        pytest.param("CLAUDE.md", "/CLAUDE.md", True, id="a name at the root"),
        pytest.param("CLAUDE.md", "/p/claude.MD", True, id="case is ignored"),
        pytest.param("CLAUDE.md", "/p/CLAUDE.md.py", False, id="not part of a name"),
        pytest.param("CLAUDE.md", "/p/CLAUDE.md/x", False, id="not a folder of that name"),
        pytest.param(".memories/**", "/p/.memories/a/b.md", True, id="everything below a folder"),
        pytest.param(".memories/**", "/p/.memories", True, id="the folder itself"),
        pytest.param(".memories/**", "/p/x.memories/a", False, id="not a folder with that suffix"),
        pytest.param("a/b/*.md", "/p/a/b/c.md", True, id="a star in a name"),
        pytest.param("a/b/*.md", "/p/a/b/c/d.md", False, id="a star matches within one part"),
        pytest.param("~/.x/**/memory/**", "/home/u/.x/p/q/memory/m.md", True, id="the user's folder"),
        pytest.param("~/.x/**/memory/**", "/home/u/.x/memory/m.md", True, id="no folder between"),
        pytest.param("~/.x/**/memory/**", "/home/v/.x/p/memory/m.md", False, id="another user's folder"),
        pytest.param("/abs/*.md", "/abs/a.md", True, id="an absolute pattern"),
        pytest.param("/abs/*.md", "/p/abs/a.md", False, id="an absolute pattern matches nowhere else"),
        pytest.param("C:/abs/*.md", "c:\\abs\\a.md", True, id="Windows"),
    ],
)
def test_a_file_pattern_matches(pattern: str, path: str, expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert FilePattern(pattern, USER).matches(parts_of(path)) is expected


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("mcp__wiki__*", "mcp__wiki__write", True),
        ("mcp__wiki__*", "mcp__WIKI__write", True),
        ("mcp__wiki__*", "mcp__wikis__write", False),
        ("*note*", "mcp__x__notes", True),
        ("a*b*c", "a1b2c", True),
        ("a*b*c", "a1c2b", False),
        ("a*a", "a", False),
        ("same", "same", True),
        ("same", "sames", False),
        ("*", "", True),
    ],
)
def test_a_star_matches_any_characters(pattern: str, name: str, expected: bool) -> None:  # noqa: FBT001 - as above
    assert matches(pattern, name) is expected


def test_dots_in_a_path_are_resolved_by_name() -> None:
    assert parts_of("/a/./b//../c/") == ("a", "c")


def test_a_hostile_pattern_is_matched_quickly() -> None:
    pattern = FilePattern("/".join(["**", "*a*"] * 60), USER)
    assert not pattern.matches(("a" * 50 + "b",) * 50 + ("c",))


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / ".keepmum").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / ".keepmum")
    return {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}


def answer(environ: dict[str, str], tool: str, tool_input: dict[str, str]) -> str:
    payload = {
        "session_id": "s", "cwd": environ["HOME"] + "/project", "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": tool_input,
    }  # fmt: skip
    return guard.answer("claude-code", json.dumps(payload).encode(), environ)


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
@pytest.mark.parametrize("name", ["allow.toml", "fingerprint.key"])
@pytest.mark.parametrize(
    "folder", ["{home}/.keepmum", "{home}/link", "{home}/x/../.keepmum", "../.keepmum", "~/.keepmum"]
)
def test_writing_an_allowlist_file_is_refused(environ: dict[str, str], tool: str, name: str, folder: str) -> None:
    path = f"{folder.format(home=environ['HOME'])}/{name}"
    output = answer(environ, tool, {"file_path": path, "content": "", "new_string": "", "old_string": ""})
    assert json.loads(output)["hookSpecificOutput"]["permissionDecisionReason"] == ALLOWLIST_REFUSAL


@pytest.mark.parametrize(
    "command",
    [
        "echo '[[allowed]]' >> ~/.keepmum/allow.toml",
        "cp x $HOME/.keepmum/fingerprint.key",
        'tee "${HOME}/.keepmum/allow.toml" < list',
        "cd ~/.keepmum && echo x > allow.toml",
        "rm -f ../.keepmum/allow.toml",
        f"keepmum allow {FINGERPRINT} --why x",
        f"~/.keepmum/bin/keepmum allow --why x {FINGERPRINT}",
        f"env -u CLAUDECODE keepmum allow {FINGERPRINT} --why x",
        f'script -qc "keepmum allow {FINGERPRINT} --why x" /dev/null',
        f"python3 -m keepmum.cli allow {FINGERPRINT} --why x",
        'keepmum allow "$FOUND" --why x',
        f"keepmum allow {FINGERPRINT} --revoke",
    ],
)
def test_a_command_that_changes_the_allowlist_is_refused(environ: dict[str, str], command: str) -> None:
    output = answer(environ, "Bash", {"command": command})
    assert json.loads(output)["hookSpecificOutput"]["permissionDecisionReason"] == ALLOWLIST_REFUSAL


@pytest.mark.parametrize(
    "command",
    [
        "keepmum allow --list",
        "keepmum audit",
        "git commit -m 'say how keepmum allow works'",
        "grep -rn 'allow.toml' docs",
        "cat project/allow.toml",
        f"git show {FINGERPRINT}",
        f"git log --allow-empty {FINGERPRINT}",
    ],
)
def test_a_command_that_only_mentions_the_allowlist_is_allowed(environ: dict[str, str], command: str) -> None:
    assert answer(environ, "Bash", {"command": command}) == ""


@pytest.mark.parametrize(
    "path", ["allow.toml", "fingerprint.key", "~/project/.keepmum/allow.toml", "~/.keepmum/config.toml"]
)
def test_writing_other_files_is_allowed(environ: dict[str, str], path: str) -> None:
    assert answer(environ, "Write", {"file_path": path, "content": "x"}) == ""


def test_a_disabled_guard_allows_changes_of_the_allowlist(environ: dict[str, str]) -> None:
    Path(environ["HOME"], ".keepmum", "config.toml").write_text("[guard]\nenabled = false\n", encoding="utf-8")
    assert answer(environ, "Write", {"file_path": "~/.keepmum/allow.toml", "content": ""}) == ""


def reason(output: str) -> str:
    return str(json.loads(output)["hookSpecificOutput"]["permissionDecisionReason"]) if output else ""


@pytest.mark.parametrize("folder", ["{home}/.keepmum", "{home}/link", "~/.keepmum", "../.keepmum"])
@pytest.mark.parametrize(
    "text",
    [
        "enabled = false\n",
        "[guard]\nenabled = false\n",
        "guard.enabled=false",
        '"enabled" = false',
        "guard = {enabled = false}",
    ],
)
def test_an_agent_cannot_write_settings_that_switch_the_guard_off(
    environ: dict[str, str], folder: str, text: str
) -> None:
    path = f"{folder.format(home=environ['HOME'])}/config.toml"
    assert reason(answer(environ, "Write", {"file_path": path, "content": text})) == SETTINGS_REFUSAL


def test_an_edit_of_the_settings_is_judged_by_its_result(environ: dict[str, str]) -> None:
    file = Path(environ["HOME"], ".keepmum", "config.toml")
    file.write_text("[capture]\nenabled = true\n[guard]\nenabled = true\n", encoding="utf-8")
    edit = {"file_path": str(file), "old_string": "[guard]\nenabled = true", "new_string": "[guard]\nenabled = false"}
    assert reason(answer(environ, "Edit", edit)) == SETTINGS_REFUSAL
    edit |= {"old_string": "[capture]\nenabled = true", "new_string": "[capture]\nenabled = false"}
    assert answer(environ, "Edit", edit) == ""


@pytest.mark.parametrize(
    "command",
    [
        "keepmum off",
        "~/.keepmum/bin/keepmum off",
        "env -u CLAUDECODE keepmum off",
        "echo 'guard.enabled = false' >> ~/.keepmum/config.toml",
        "cd ~/.keepmum && sed -i s/true/false/ config.toml",
        "cp /tmp/x $HOME/.keepmum/config.toml",
    ],
)
def test_a_command_that_switches_the_guard_off_is_refused(environ: dict[str, str], command: str) -> None:
    assert reason(answer(environ, "Bash", {"command": command})) == SETTINGS_REFUSAL


@pytest.mark.parametrize(
    "command",
    [
        "keepmum off --session",
        "keepmum off --project",
        "keepmum on",
        "cat ~/.keepmum/config.toml",
        "sed -i 's/every = 5/every = 7/' ~/.keepmum/config.toml",
        "echo 'enabled = false' >> project/config.toml",
        "git commit -m 'turn keepmum hooks off-by-default'",
    ],
)
def test_other_switches_and_settings_are_allowed(environ: dict[str, str], command: str) -> None:
    assert answer(environ, "Bash", {"command": command}) == ""
