"""The plugin in the real Codex: tools, briefing, reminders, refusals, trust, and removal."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clients import patience
from clients.codex import DEFERRING, PLUGIN, POINTER, Codex, CodexModel
from clients.other_memory import SERVER
from clients.samples import DUE, TURNS
from hidden import assert_hidden
from keepmum.mcp.dialects.keepmum.tools import INSTRUCTIONS
from keepmum_hooks import places
from keepmum_hooks.capture_prompt import CAPTURE_PROMPT, SKILLS
from keepmum_installers.live.model import Call, Say
from releases import copy

pytestmark = pytest.mark.clients

REMEMBER = "mcp__keepmum__remember"
KEY = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
NOTE = {"title": "Blue pool", "text": "Deploys go through the blue pool first."}
SERVERS = ".mcp.codex.json"  # in the plugin
FREELY = ("--dangerously-bypass-approvals-and-sandbox",)
EVERY_TURN = {"KEEPMUM_CAPTURE_EVERY": "1", "KEEPMUM_CAPTURE_UNATTENDED": "1"}


@pytest.fixture
def model() -> Iterator[CodexModel]:
    with CodexModel() as model:
        yield model


@pytest.fixture
def newcomer(codex_program: Path, model: CodexModel, tmp_path: Path) -> Codex:
    """A user with the client and without the plugin."""
    return Codex(codex_program, tmp_path / "user", model.url)


@pytest.fixture
def user(newcomer: Codex, snapshot: Path, project: Path, share_bytecode: Callable[[Path], None]) -> Codex:
    """A user with the plugin."""
    share_bytecode(newcomer.memories)
    newcomer.take(snapshot, folder=project)
    return newcomer


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def holds(folder: Path, text: str) -> bool:
    return any(text.encode() in content for content in contents(folder).values())


# --- tools


def test_tools_are_offered_and_kept_memories_belong_to_the_project(
    user: Codex, model: CodexModel, snapshot: Path, project: Path, tmp_path: Path
) -> None:
    model.will(Call(REMEMBER, NOTE))
    user.ask("hello", folder=project)
    assert REMEMBER in model.tools()
    assert "Kept" in model.news(1), "codex exec asks nobody, and refuses tools that do not say what they do"
    assert "Blue pool" in user.keepmum(snapshot, "recall", "blue pool", folder=project)
    user.keepmum(snapshot, "recall", "blue pool", folder=tmp_path, expected=1)  # there is none elsewhere


def test_a_model_that_has_to_search_for_tools_reads_when_to(user: Codex, model: CodexModel, project: Path) -> None:
    user.ask("hello", "--model", DEFERRING, folder=project)
    assert REMEMBER not in model.tools()
    assert f"- mcp__keepmum: {INSTRUCTIONS[:200]}" in model.texts()[0]
    assert f"- {SKILLS['codex']}: " in model.texts()[0]


def test_what_removes_memories_is_not_done_where_nobody_can_be_asked(
    user: Codex, model: CodexModel, project: Path
) -> None:
    model.will(Call("mcp__keepmum__recall", {"query": "pool"}), Call("mcp__keepmum__forget", {"query": "pool"}))
    user.ask("hello", folder=project)
    assert "Nothing is remembered" in model.news(1)
    assert "requires approval" in model.news(2)


def test_a_secret_is_refused_and_stored_nowhere(user: Codex, model: CodexModel, project: Path) -> None:
    model.will(Call(REMEMBER, {"text": f"The deploy key is {KEY}."}))
    user.ask("hello", folder=project)
    assert "refused, nothing stored" in model.news(1)
    assert not holds(user.memories, KEY)


def test_the_bundle_itself_is_a_plugin_that_finds_the_project(
    newcomer: Codex, model: CodexModel, product: Path, project: Path
) -> None:
    newcomer.run("plugin", "marketplace", "add", str(product), folder=project)
    newcomer.run("plugin", "add", PLUGIN, folder=project)
    shutil.rmtree(product)  # the client has a copy of its own, and starts the server in it
    before = contents(newcomer.copy)
    model.will(Call(REMEMBER, NOTE))
    newcomer.ask("hello", folder=project)
    assert "Kept" in model.news(1)
    assert "Blue pool" in newcomer.keepmum(newcomer.copy, "recall", "blue pool", folder=project)
    assert contents(newcomer.copy) == before


# --- briefing


def test_a_briefing_is_given_once_and_not_again_over_resumes(
    user: Codex, model: CodexModel, snapshot: Path, project: Path
) -> None:
    user.keepmum(snapshot, "remember", "--kind", "decision", "Deploys go through the blue pool first.", folder=project)
    user.ask("one", folder=project)
    user.ask("two", folder=project, resume=True)
    assert [text.count("blue pool first") for text in model.texts()] == [1, 1]
    assert '"role": "developer"' in model.texts()[0].partition("blue pool first")[0].rpartition('{"type": "message"')[2]


def test_a_long_briefing_in_any_script_arrives_whole_and_is_written_nowhere_else(
    user: Codex, model: CodexModel, project: Path
) -> None:
    (user.copy / SERVERS).write_text('{"mcpServers": {}}', encoding="utf-8")  # ours would remove a file of no memories
    lines = [f"- {number}: 蓝色池先部署，然后是绿色池。" for number in range(400)]  # noqa: RUF001 - it is Chinese
    briefing = Path(places.briefing_file(str(user.memories), str(project)))
    briefing.parent.mkdir(parents=True)
    briefing.write_text("\n".join(lines), encoding="utf-8")
    user.ask("hello", folder=project)
    arrived = model.texts()[0]
    assert lines[0] in arrived
    assert lines[300] in arrived  # the hook cuts later lines
    assert "hook_outputs" not in arrived
    assert REMEMBER not in model.tools()


# --- reminders


def reminded_after(model: CodexModel) -> list[int]:
    """The turns, by the number in the user's "turn N", after which the model was reminded."""
    turns: list[int] = []
    turn = 0
    for number in range(len(model.requests)):
        news = model.news(number)
        said = re.findall(r'"turn (\d+)"', news)
        turn = int(said[-1]) if said else turn
        if CAPTURE_PROMPT in news:
            turns.append(turn)
    return turns


def test_in_one_long_session_every_fifth_turn_reminds_once(user: Codex, model: CodexModel, project: Path) -> None:
    with user.conversation(project) as session:
        session.trust_hooks()
        for turn in range(1, 17):
            tools = [Call(REMEMBER, {"text": f"What turn {turn} taught."})] * (turn % 3)
            model.will(*tools, Say("done"))
            session.say(f"turn {turn}")
    assert reminded_after(model) == [5, 10, 15]


def test_what_the_reminder_leads_to_reminds_no_more(user: Codex, model: CodexModel, project: Path) -> None:
    user.environ["KEEPMUM_CAPTURE_EVERY"] = "1"
    with user.conversation(project) as session:
        session.trust_hooks()
        model.will(Say("the answer"), Call(REMEMBER, NOTE), Say("kept"))
        session.say("turn 1")
    assert reminded_after(model) == [1]
    assert len(model.requests) == 3


def test_over_resumed_processes_every_fifth_turn_reminds_once(user: Codex, model: CodexModel, project: Path) -> None:
    user.environ["KEEPMUM_CAPTURE_UNATTENDED"] = "1"
    for turn in TURNS:
        user.ask(f"turn {turn}", folder=project, resume=turn > 1)
    assert reminded_after(model) == DUE


def test_a_run_without_a_person_keeps_its_answer(user: Codex, model: CodexModel, project: Path) -> None:
    user.environ["KEEPMUM_CAPTURE_EVERY"] = "1"
    model.will(Say("the answer"))
    assert user.ask("question", folder=project) == "the answer"
    assert reminded_after(model) == []


def test_a_run_without_a_person_that_goes_on_with_a_persons_session_keeps_its_answer(
    user: Codex, model: CodexModel, project: Path
) -> None:
    user.environ["KEEPMUM_CAPTURE_EVERY"] = "2"
    with user.conversation(project) as session:
        session.trust_hooks()
        session.say("turn 1")
    model.will(Say("the answer"))
    assert user.ask("turn 2", folder=project, resume=True) == "the answer"
    assert reminded_after(model) == []


@pytest.mark.parametrize("place", ["environment", "project", "user"])
def test_off_is_off(user: Codex, model: CodexModel, project: Path, place: str) -> None:
    user.environ.update(EVERY_TURN)
    if place == "environment":
        user.environ["KEEPMUM_ENABLED"] = "0"
    else:
        file = project / ".keepmum.toml" if place == "project" else user.memories / "config.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text("enabled = false\n", encoding="utf-8")
    user.ask("hello", folder=project)
    assert len(model.requests) == 1
    assert REMEMBER not in model.tools()


# --- the guard


def test_a_secret_for_another_memory_server_is_refused(user: Codex, model: CodexModel, project: Path) -> None:
    script, kept = user.home / "server.py", user.home / "kept.jsonl"
    script.write_text(SERVER, encoding="utf-8")
    with user.config.open("a", encoding="utf-8") as file:
        file.write(f'\n[mcp_servers.notes]\ncommand = "python3"\nargs = ["{script}", "{kept}"]\n')
        file.write(f"startup_timeout_sec = {patience.SECONDS}\nrequired = true\n")  # it begins without others
    write = {"entities": [{"name": "key", "observations": [f"it is {KEY}"]}]}
    clean = {"entities": [{"name": "pool", "observations": ["it is blue"]}]}
    model.will(Call("mcp__notes__create_entities", write), Call("mcp__notes__create_entities", clean))
    user.ask("hello", *FREELY, folder=project)
    assert "Keepmum refused this write to memory" in model.news(1)
    assert "Keepmum" not in model.news(2)
    assert "it is blue" in kept.read_text(encoding="utf-8")
    assert_hidden(KEY, kept.read_text(encoding="utf-8"))


def patch(*lines: str) -> Call:
    return Call("apply_patch", {"input": "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])})


def test_a_patch_that_puts_a_secret_into_a_memory_file_is_refused(
    user: Codex, model: CodexModel, project: Path
) -> None:
    memory = project / "AGENTS.md"
    memory.write_text(f"key: {KEY}\npool: green\n", encoding="utf-8")
    model.will(
        patch("*** Add File: CLAUDE.md", f"+The key is {KEY}."),
        patch("*** Update File: AGENTS.md", "@@", f"-key: {KEY}", " pool: green"),
    )
    user.ask("hello", *FREELY, "--model", DEFERRING, folder=project)
    assert "Keepmum refused this write to memory" in model.news(1)
    assert not (project / "CLAUDE.md").exists()
    assert memory.read_text(encoding="utf-8") == "pool: green\n", "a secret may be taken out"


def test_a_command_that_puts_a_secret_into_a_memory_file_is_refused(
    user: Codex, model: CodexModel, project: Path
) -> None:
    model.will(
        Call("exec_command", {"cmd": f"echo '{KEY}' >> AGENTS.md"}),
        Call("exec_command", {"cmd": "echo fine >> AGENTS.md"}),
    )
    user.ask("hello", *FREELY, folder=project)
    assert "Keepmum refused this write to memory" in model.news(1)
    assert (project / "AGENTS.md").read_text(encoding="utf-8") == "fine\n"


# --- trust


def test_hooks_that_nobody_reviewed_do_not_run_and_the_doctor_says_so(
    user: Codex, snapshot: Path, project: Path
) -> None:
    user.run("exec", "hello", folder=project)
    assert not (user.memories / "state" / "heartbeat" / "codex.session-start").exists()
    report = said(user, snapshot, project, well=True)
    assert "not trusted yet, so they do not run: pre_tool_use, session_start, stop" in report


def test_hooks_stay_trusted_over_sessions_and_updates_and_not_over_changes(
    user: Codex, model: CodexModel, snapshot: Path, project: Path
) -> None:
    with user.conversation(project) as session:
        session.trust_hooks()
    before = contents(user.copy)
    model.will(Call(REMEMBER, NOTE))
    user.run("exec", "hello", folder=project)
    user.run("plugin", "add", PLUGIN, folder=project)
    user.run("exec", "hello", folder=project)
    assert contents(user.copy) == before
    assert "trusted: pre_tool_use, session_start, stop" in said(user, snapshot, project, well=True)
    with (user.copy / "plugin" / "skills" / "memory" / "SKILL.md").open("a", encoding="utf-8") as file:
        file.write("\nchanged\n")
    assert "changed since you trusted them" in said(user, snapshot, project)


def test_hooks_stay_trusted_over_an_upgrade_and_nothing_needs_the_clone(
    newcomer: Codex, snapshot: Path, project: Path, tmp_path: Path
) -> None:
    clone, keepmum = copy(snapshot, tmp_path / "clone"), str(newcomer.memories / "bin" / "keepmum")
    newcomer.installer(clone, "--no-runtime", "--client", "codex", folder=project)
    shutil.rmtree(clone)
    with newcomer.conversation(project) as session:
        session.trust_hooks()
    newer = copy(snapshot, tmp_path / "newer", "9.0.0")
    upgrade = [keepmum, "upgrade", "--from", str(newer)]
    said = subprocess.run(upgrade, env=newcomer.environ, cwd=project, capture_output=True, text=True, check=True).stdout
    assert "Version 9.0.0 is the current one" in said
    assert "trust" not in said
    newcomer.run("exec", "hello", folder=project)
    assert (newcomer.memories / "state" / "heartbeat" / "codex.session-start").exists()


def said(user: Codex, snapshot: Path, folder: Path, *, well: bool = False) -> str:
    """The doctor's report; unless `well`, it has to find a problem."""
    return user.keepmum(snapshot, "doctor", "-v", folder=folder, expected=0 if well else 1)


def test_in_a_terminal_a_user_reviews_the_hooks_and_then_sees_one_line_of_a_reminder(
    user: Codex, model: CodexModel, project: Path
) -> None:
    user.environ["KEEPMUM_CAPTURE_EVERY"] = "1"
    with user.config.open("a", encoding="utf-8") as file:
        file.write(f'\n[projects."{project}"]\ntrust_level = "trusted"\n')
    with user.terminal(project) as terminal:
        terminal.wait_for("Hooks need review")
        terminal.press("\x1b[B")
        terminal.wait_for(f"{POINTER} 2. Trust all")
        terminal.press("\r")
        terminal.wait_for("Ask Codex to do anything")
        terminal.type("hi")
        terminal.wait_for("done", count=2)  # the answer, and what the reminder led to
        assert terminal.text.count("use its memory skill (keepmum:memory)") == 1
    # The client also asks the model for a title, at any time, so the requests have no fixed order.
    assert sum(CAPTURE_PROMPT in model.news(number) for number in range(len(model.requests))) == 1


def test_a_folder_with_any_name_is_not_an_obstacle(
    newcomer: Codex, model: CodexModel, product: Path, project: Path, tmp_path: Path
) -> None:
    odd = product.rename(tmp_path / 'it\'s a $HOME, «ünd» "so on"')
    newcomer.environ.update(EVERY_TURN)
    newcomer.take(odd, folder=project)
    model.will(Call(REMEMBER, NOTE))
    newcomer.ask("hello", folder=project)
    assert "Kept" in model.news(1)
    assert CAPTURE_PROMPT in model.news(2)


# --- the installer


def test_installing_and_removing_leaves_the_home_as_it_was(newcomer: Codex, snapshot: Path, project: Path) -> None:
    shutil.rmtree(newcomer.home / ".local", ignore_errors=True)
    newcomer.config.chmod(0o644)
    before = contents(newcomer.home), newcomer.config.stat().st_mode
    newcomer.installer(snapshot, "--no-runtime", "--client", "codex", folder=project)
    with newcomer.conversation(project) as session:
        session.trust_hooks()
        assert {hook["trustStatus"] for hook in session.hooks()} == {"trusted"}
    newcomer.installer(snapshot, "--uninstall", folder=project)
    after = {name: content for name, content in contents(newcomer.home).items() if not is_the_clients(name)}
    assert (after, newcomer.config.stat().st_mode) == before
    assert not (newcomer.folder / "plugins").exists()


def is_the_clients(name: str) -> bool:
    """Whether the file is the client's own: state, logs, built-in skills."""
    top = name.split(os.sep)[1] if name.startswith(".codex") else ""
    own = (".tmp", ".hook-trust", "skills", "installation_id")
    return bool(re.fullmatch(r".*\.sqlite(-\w+)?", top)) or top in own


@pytest.mark.parametrize("trusted", [True, False])
def test_a_repository_switches_the_plugin_on_for_users_who_trust_it(
    user: Codex, model: CodexModel, snapshot: Path, project: Path, *, trusted: bool
) -> None:
    config = user.config.read_text(encoding="utf-8").replace("enabled = true", "enabled = false")
    level = "trusted" if trusted else "untrusted"
    user.config.write_text(f'{config}\n[projects."{project}"]\ntrust_level = "{level}"\n', encoding="utf-8")
    user.installer(snapshot, "--no-runtime", "--client", "codex", "--scope", "project", folder=project)
    user.ask("hello", folder=project)
    assert (REMEMBER in model.tools()) is trusted
