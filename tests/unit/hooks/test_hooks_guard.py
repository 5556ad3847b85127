"""The guard: who is refused, what is said, and what happens when it cannot tell."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from keepmum.workspace.allowlist import Allowed, Allowlist
from keepmum_hooks import deadline, guard, payload, places, switches
from keepmum_hooks.event import GUARD

HINT = "claude-code"


def token() -> str:
    """A string that looks like a key of a code host, put together here so that no file holds one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


class Scene:
    """A home, a project and the calls that are made there."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "keepmum"
        self.project = folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.environ = {"HOME": str(folder), "USERPROFILE": str(folder), "KEEPMUM_HOME": str(self.home)}

    def payload(self, tool: str, given: object, **changes: object) -> bytes:
        common = {"session_id": "s", "cwd": str(self.project), "hook_event_name": "PreToolUse"}
        return json.dumps({**common, "tool_name": tool, "tool_input": given, **changes}).encode()

    def objection(self, raw: bytes) -> str:
        """The reason of the refusal, or "" when there is none."""
        said = guard.answer(HINT, raw, self.environ)
        if not said:
            return ""
        decision = json.loads(said)["hookSpecificOutput"]
        assert (decision["hookEventName"], decision["permissionDecision"]) == ("PreToolUse", "deny")
        reason: str = decision["permissionDecisionReason"]
        return reason

    def remembers(self, given: dict[str, object]) -> str:
        return self.objection(self.payload("mcp__memory__add", given))

    def writes(self, name: str, text: str) -> str:
        return self.objection(self.payload("Write", {"file_path": str(self.project / name), "content": text}))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def plant_scanner(monkeypatch: pytest.MonkeyPatch, scan: Callable[[str], object] | None) -> None:
    """Put a scanner in the place of ours, or one that cannot be loaded."""
    module = ModuleType("keepmum_scanner")
    module.__dict__["scan"] = lambda text, _key=None: scan(text) if scan else None
    monkeypatch.setitem(sys.modules, "keepmum_scanner", module if scan else None)


# -- what is refused -------------------------------------------------------------------------------------------------


def test_a_secret_is_refused_by_rule_field_and_line(scene: Scene) -> None:
    reason = scene.remembers({"items": [{"note": f"one\nthe token is {token()}"}]})
    assert "github.token in items[0].note, line 2" in reason
    assert "without the secret" in reason


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"odd_name": f"use {token()}"}, id="a field of any name"),
        pytest.param({"a": {"b": [[{"c": token()}]]}}, id="deep inside"),
        pytest.param({token(): 1}, id="a name"),
        pytest.param({"data": json.dumps({"a": token()}).replace("p_", "\\u0070_")}, id="escaped in JSON in a text"),
        pytest.param({"credentials": {"password": "hunter" + "2!xY"}}, id="a value that its name tells"),
    ],
)
def test_a_secret_is_refused_wherever_it_stands(scene: Scene, given: dict[str, object]) -> None:
    assert "holds a secret" in scene.remembers(given)


def test_a_refusal_names_what_a_person_can_allow_and_then_it_passes(scene: Scene) -> None:
    allowed = Allowlist(str(scene.home))
    reason = scene.remembers({"text": f"use {token()}"})
    fingerprint = reason.rpartition("Fingerprint: ")[2].rstrip(".")
    allowed.add(Allowed(fingerprint, "made up", "2026-11-21"))
    assert scene.remembers({"text": f"use {token()}"}) == ""


def test_a_refusal_says_nothing_of_the_secret(scene: Scene) -> None:
    reason = scene.remembers({token(): {"x": token()}, "text": f"a {token()} b"})
    assert not any(token()[at : at + 5] in reason for at in range(len(token()) - 4))


def test_many_findings_are_told_in_short(scene: Scene) -> None:
    reason = scene.remembers({"items": [token()] * 50})
    assert reason.count("github.token") == 5
    assert "and more" in reason


def test_a_write_without_a_secret_goes_on(scene: Scene) -> None:
    assert scene.remembers({"text": "Deploys go through the blue pool."}) == ""
    assert scene.writes("CLAUDE.md", "# Rules\n") == ""


def test_a_memory_file_is_guarded_and_source_is_not(scene: Scene) -> None:
    assert "github.token in content, line 1" in scene.writes("AGENTS.md", token())
    assert scene.writes("main.py", token()) == ""


def test_a_secret_may_be_edited_out(scene: Scene) -> None:
    edit = {"file_path": "CLAUDE.md", "old_string": token(), "new_string": "(in the password manager)"}
    assert scene.objection(scene.payload("Edit", edit)) == ""
    assert scene.objection(scene.payload("Edit", {**edit, "new_string": token()}))


def test_another_servers_old_string_is_no_exception(scene: Scene) -> None:
    assert scene.remembers({"old_string": token()})


def test_a_command_is_guarded_when_it_names_a_memory_file(scene: Scene) -> None:
    command = f"echo {token()} >> "
    assert "in command" in scene.objection(scene.payload("Bash", {"command": command + "AGENTS.md"}))
    assert scene.objection(scene.payload("Bash", {"command": command + "notes.txt"})) == ""


def test_what_is_not_guarded_needs_no_scanner(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_scanner(monkeypatch, None)
    assert scene.writes("main.py", token()) == ""


def test_a_guarded_call_leaves_a_heartbeat(scene: Scene) -> None:
    beat = Path(places.heartbeat_file(str(scene.home), HINT, GUARD))
    scene.writes("main.py", "x")
    assert not beat.exists()
    scene.writes("CLAUDE.md", "x")
    assert beat.exists()


# -- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["enabled = false", "guard.enabled = false", "[guard]\nenabled = false"])
def test_the_user_switches_the_guard_off(scene: Scene, text: str) -> None:
    (scene.home / "config.toml").write_text(text, encoding="utf-8")
    assert scene.remembers({"text": token()}) == ""


@pytest.mark.parametrize("text", ["enabled = false", "[guard]\nenabled = false\npaths = []"])
def test_a_project_does_not_switch_the_guard_off(scene: Scene, text: str) -> None:
    (scene.project / ".keepmum.toml").write_text(f"{text}\n", encoding="utf-8")
    assert scene.remembers({"text": token()})


def test_the_environment_and_the_session_switch_the_guard_off(scene: Scene) -> None:
    scene.environ["KEEPMUM_ENABLED"] = "0"
    assert scene.remembers({"text": token()}) == ""
    del scene.environ["KEEPMUM_ENABLED"]
    marker = Path(places.off_marker(str(scene.home), "s"))
    marker.parent.mkdir(parents=True)
    marker.touch()
    assert scene.remembers({"text": token()}) == ""


@pytest.mark.parametrize("enabled", ["capture.enabled", "briefing.enabled"])
def test_what_switches_other_hooks_off_leaves_the_guard(scene: Scene, enabled: str) -> None:
    (scene.home / "config.toml").write_text(f"{enabled} = false\n", encoding="utf-8")
    assert scene.remembers({"text": token()})


def test_user_and_project_add_up(scene: Scene) -> None:
    (scene.home / "config.toml").write_text('guard.paths = ["*.one"]\nguard.tools = ["mcp__a__*"]', encoding="utf-8")
    (scene.project / ".keepmum.toml").write_text('guard.paths = ["*.two"]', encoding="utf-8")
    assert all(scene.writes(name, token()) for name in ("x.one", "x.two", "CLAUDE.md"))
    assert scene.objection(scene.payload("mcp__a__put", {"text": token()}))


def test_without_a_home_the_guard_still_stands(scene: Scene) -> None:
    scene.environ = {}
    assert scene.remembers({"text": token()})


# -- failures --------------------------------------------------------------------------------------------------------


def raising(error: BaseException) -> Callable[[str], object]:
    def scan(_: str) -> object:
        raise error

    return scan


@pytest.mark.parametrize(
    ("scan", "why"),
    [
        pytest.param(None, "could not be loaded", id="no scanner"),
        pytest.param(raising(RuntimeError(token())), "failed (RuntimeError)", id="a scanner that breaks"),
        pytest.param(raising(SystemExit(0)), "failed (SystemExit)", id="a scanner that ends the process"),
        pytest.param(raising(deadline.DeadlineError()), "too long", id="a scanner that is slow"),
        pytest.param(lambda _: None, "failed (TypeError)", id="a scanner that answers nothing"),
    ],
)
def test_what_cannot_be_checked_is_refused(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, scan: Callable[[str], object] | None, why: str
) -> None:
    plant_scanner(monkeypatch, scan)
    reasons = [scene.remembers({"text": "harmless"}), scene.writes("CLAUDE.md", "harmless")]
    assert all(why in reason and token()[:8] not in reason for reason in reasons)
    assert scene.writes("main.py", "harmless") == ""


def test_settings_that_cannot_be_read_switch_nothing_off(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "read", lambda *_: 1 / 0)
    assert "failed (ZeroDivisionError)" in scene.remembers({"text": "harmless"})
    assert scene.writes("main.py", "harmless") == ""


@pytest.mark.parametrize(
    "given", [pytest.param(None, id="no input"), pytest.param([], id="a list"), pytest.param("text", id="a text")]
)
def test_a_call_that_does_not_say_what_it_does_is_refused(scene: Scene, given: object) -> None:
    assert "could not check" in scene.objection(scene.payload("mcp__memory__add", given))
    assert scene.objection(scene.payload("mcp__github__add", given)) == ""


def test_a_write_without_a_path_is_judged_by_what_it_names(scene: Scene) -> None:
    assert scene.objection(scene.payload("Write", {"file_path": None, "content": "CLAUDE.md"}))
    assert scene.objection(scene.payload("Write", {"file_path": None, "content": "x"})) == ""


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b"\x00" * 100, b"\xff" * 100])
def test_noise_is_let_through(scene: Scene, raw: bytes) -> None:
    assert scene.objection(raw) == ""


def test_half_a_payload_that_names_a_memory_is_refused(scene: Scene) -> None:
    assert "could not be read" in scene.objection(scene.payload("mcp__memory__add", {"text": "x"})[:-1])
    assert scene.objection(scene.payload("mcp__github__add", {"text": "x"})[:-1]) == ""


@pytest.mark.parametrize("more", [0, 1])
def test_a_payload_over_the_cap_is_refused_unread(scene: Scene, more: int) -> None:
    raw = scene.payload("mcp__memory__add", {"text": ""})
    padded = raw[:-1] + b" " * (payload.STDIN_LIMIT - len(raw) + more) + b"}"
    assert ("too long" in scene.objection(padded)) is bool(more)


def test_an_unreadable_payload_is_let_through_where_the_guard_is_off(scene: Scene) -> None:
    (scene.home / "config.toml").write_text("guard.enabled = false", encoding="utf-8")
    assert scene.objection(scene.payload("mcp__memory__add", None)) == ""


def test_what_is_no_call_is_let_through(scene: Scene) -> None:
    raw = scene.payload("mcp__memory__add", {"text": token()}, hook_event_name="PostToolUse")
    assert scene.objection(raw) == ""
