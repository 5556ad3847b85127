"""The guard: what it refuses, with which message, and what happens when it cannot check a call."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from keepmum.workspace.allowlist import Allowed, Allowlist
from keepmum_hooks import files, guard, payload, places, switches
from keepmum_hooks.event import GUARD

HINT = "claude-code"
ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such timer")


def token() -> str:
    """A string that looks like a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4E5" * 3 + "f6G7h8"


class Scene:
    """A home, a project, and tool calls in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "keepmum"
        self.project = folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.environ = {"HOME": str(folder), "USERPROFILE": str(folder), "KEEPMUM_HOME": str(self.home)}

    def payload(self, tool: str, tool_input: object, **changes: object) -> bytes:
        common = {"session_id": "s", "cwd": str(self.project), "hook_event_name": "PreToolUse"}
        return json.dumps({**common, "tool_name": tool, "tool_input": tool_input, **changes}).encode()

    def objection(self, raw: bytes) -> str:
        """The reason of the refusal, or "" when the call is allowed."""
        output = guard.answer(HINT, raw, self.environ)
        if not output:
            return ""
        decision = json.loads(output)["hookSpecificOutput"]
        assert (decision["hookEventName"], decision["permissionDecision"]) == ("PreToolUse", "deny")
        reason: str = decision["permissionDecisionReason"]
        return reason

    def remember(self, tool_input: dict[str, object]) -> str:
        return self.objection(self.payload("mcp__memory__add", tool_input))

    def write(self, name: str, text: str) -> str:
        return self.objection(self.payload("Write", {"file_path": str(self.project / name), "content": text}))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def replace_scanner(monkeypatch: pytest.MonkeyPatch, scan: Callable[[str], object] | None) -> None:
    """Replace our scanner by another one, or by one that cannot be imported."""
    module = ModuleType("keepmum_scanner")
    module.__dict__["scan"] = lambda text, _key=None: scan(text) if scan else None
    monkeypatch.setitem(sys.modules, "keepmum_scanner", module if scan else None)


# -- what is refused -------------------------------------------------------------------------------------------------


def test_a_secret_is_refused_by_rule_field_and_line(scene: Scene) -> None:
    reason = scene.remember({"items": [{"note": f"one\nthe token is {token()}"}]})
    assert "github.token in items[0].note, line 2" in reason
    assert "without the secret" in reason


@pytest.mark.parametrize(
    "tool_input",
    [
        pytest.param({"odd_name": f"use {token()}"}, id="an unknown field"),
        pytest.param({"a": {"b": [[{"c": token()}]]}}, id="deep inside"),
        pytest.param({token(): 1}, id="a field name"),
        pytest.param({"data": json.dumps({"a": token()}).replace("p_", "\\u0070_")}, id="escaped in JSON in a string"),
        pytest.param({"credentials": {"password": "hunter" + "2!xY"}}, id="a value identified by its name"),
    ],
)
def test_a_secret_is_refused_wherever_it_is(scene: Scene, tool_input: dict[str, object]) -> None:
    assert "holds a secret" in scene.remember(tool_input)


def test_a_refusal_names_the_fingerprint_that_allows_the_text(scene: Scene) -> None:
    allowlist = Allowlist(str(scene.home))
    reason = scene.remember({"text": f"use {token()}"})
    fingerprint = reason.rpartition("Fingerprint: ")[2].rstrip(".")
    allowlist.add(Allowed(fingerprint, "made up", "2026-11-21"))
    assert scene.remember({"text": f"use {token()}"}) == ""


def test_a_refusal_contains_no_part_of_the_secret(scene: Scene) -> None:
    reason = scene.remember({token(): {"x": token()}, "text": f"a {token()} b"})
    assert not any(token()[at : at + 5] in reason for at in range(len(token()) - 4))


def test_a_refusal_names_at_most_five_findings(scene: Scene) -> None:
    reason = scene.remember({"items": [token()] * 50})
    assert reason.count("github.token") == 5
    assert "and more" in reason


def test_a_write_without_a_secret_is_allowed(scene: Scene) -> None:
    assert scene.remember({"text": "Deploys go through the blue pool."}) == ""
    assert scene.write("CLAUDE.md", "# Rules\n") == ""


def test_a_memory_file_is_guarded_and_source_is_not(scene: Scene) -> None:
    assert "github.token in content, line 1" in scene.write("AGENTS.md", token())
    assert scene.write("main.py", token()) == ""


def test_an_edit_may_remove_a_secret(scene: Scene) -> None:
    edit = {"file_path": "CLAUDE.md", "old_string": token(), "new_string": "(in the password manager)"}
    assert scene.objection(scene.payload("Edit", edit)) == ""
    assert scene.objection(scene.payload("Edit", {**edit, "new_string": token()}))


def test_a_field_called_old_string_of_another_server_is_scanned(scene: Scene) -> None:
    assert scene.remember({"old_string": token()})


def test_a_command_is_guarded_when_it_names_a_memory_file(scene: Scene) -> None:
    command = f"echo {token()} >> "
    assert "in command" in scene.objection(scene.payload("Bash", {"command": command + "AGENTS.md"}))
    assert scene.objection(scene.payload("Bash", {"command": command + "notes.txt"})) == ""


def test_a_call_that_is_not_guarded_needs_no_scanner(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_scanner(monkeypatch, None)
    assert scene.write("main.py", token()) == ""


def test_a_guarded_call_leaves_a_heartbeat(scene: Scene) -> None:
    heartbeat = Path(places.heartbeat_file(str(scene.home), HINT, GUARD))
    scene.write("main.py", "x")
    assert not heartbeat.exists()
    scene.write("CLAUDE.md", "x")
    assert heartbeat.exists()


# -- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["enabled = false", "guard.enabled = false", "[guard]\nenabled = false"])
def test_the_user_can_switch_the_guard_off(scene: Scene, text: str) -> None:
    (scene.home / "config.toml").write_text(text, encoding="utf-8")
    assert scene.remember({"text": token()}) == ""


@pytest.mark.parametrize("text", ["enabled = false", "[guard]\nenabled = false\npaths = []"])
def test_a_project_cannot_switch_the_guard_off(scene: Scene, text: str) -> None:
    (scene.project / ".keepmum.toml").write_text(f"{text}\n", encoding="utf-8")
    assert scene.remember({"text": token()})


@pytest.mark.parametrize("value", ["0", "false", "off", "no"])
def test_the_environment_cannot_switch_the_guard_off(scene: Scene, value: str) -> None:
    scene.environ["KEEPMUM_ENABLED"] = value
    assert scene.remember({"text": token()})


def test_a_session_that_is_switched_off_keeps_the_guard(scene: Scene) -> None:
    marker = Path(places.off_marker(str(scene.home), "s"))
    marker.parent.mkdir(parents=True)
    marker.touch()
    assert scene.remember({"text": token()})


@pytest.mark.parametrize("enabled", ["capture.enabled", "briefing.enabled"])
def test_the_switches_of_other_hooks_leave_the_guard_on(scene: Scene, enabled: str) -> None:
    (scene.home / "config.toml").write_text(f"{enabled} = false\n", encoding="utf-8")
    assert scene.remember({"text": token()})


def test_patterns_of_user_and_project_are_combined(scene: Scene) -> None:
    (scene.home / "config.toml").write_text('guard.paths = ["*.one"]\nguard.tools = ["mcp__a__*"]', encoding="utf-8")
    (scene.project / ".keepmum.toml").write_text('guard.paths = ["*.two"]', encoding="utf-8")
    assert all(scene.write(name, token()) for name in ("x.one", "x.two", "CLAUDE.md"))
    assert scene.objection(scene.payload("mcp__a__put", {"text": token()}))


def test_the_guard_works_without_a_home(scene: Scene) -> None:
    scene.environ = {}
    assert scene.remember({"text": token()})


# -- failures --------------------------------------------------------------------------------------------------------


def raising(error: BaseException) -> Callable[[str], object]:
    def scan(_: str) -> object:
        raise error

    return scan


@pytest.mark.parametrize(
    ("scan", "why"),
    [
        pytest.param(None, "could not be loaded", id="no scanner"),
        pytest.param(raising(RuntimeError(token())), "failed (RuntimeError)", id="a scanner that raises"),
        pytest.param(raising(SystemExit(0)), "failed (SystemExit)", id="a scanner that exits"),
        pytest.param(raising(guard.DeadlineError()), "too long", id="a slow scanner"),
        pytest.param(lambda _: None, "failed (TypeError)", id="a scanner that returns nothing"),
    ],
)
def test_a_guarded_call_that_cannot_be_checked_is_refused(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, scan: Callable[[str], object] | None, why: str
) -> None:
    replace_scanner(monkeypatch, scan)
    reasons = [scene.remember({"text": "harmless"}), scene.write("CLAUDE.md", "harmless")]
    assert all(why in reason and token()[:8] not in reason for reason in reasons)
    assert scene.write("main.py", "harmless") == ""


def test_settings_that_cannot_be_read_leave_the_guard_on(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switches, "read", lambda *_: 1 / 0)
    assert "failed (ZeroDivisionError)" in scene.remember({"text": "harmless"})
    assert scene.write("main.py", "harmless") == ""


@pytest.mark.parametrize(
    "tool_input", [pytest.param(None, id="no input"), pytest.param([], id="a list"), pytest.param("text", id="a text")]
)
def test_a_memory_tool_call_without_valid_input_is_refused(scene: Scene, tool_input: object) -> None:
    assert "could not check" in scene.objection(scene.payload("mcp__memory__add", tool_input))
    assert scene.objection(scene.payload("mcp__github__add", tool_input)) == ""


def test_a_write_without_a_path_is_judged_by_the_names_in_it(scene: Scene) -> None:
    assert scene.objection(scene.payload("Write", {"file_path": None, "content": "CLAUDE.md"}))
    assert scene.objection(scene.payload("Write", {"file_path": None, "content": "x"})) == ""


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b"\x00" * 100, b"\xff" * 100])
def test_garbage_is_allowed(scene: Scene, raw: bytes) -> None:
    assert scene.objection(raw) == ""


def test_a_truncated_payload_that_names_a_memory_is_refused(scene: Scene) -> None:
    assert "could not be read" in scene.objection(scene.payload("mcp__memory__add", {"text": "x"})[:-1])
    assert scene.objection(scene.payload("mcp__github__add", {"text": "x"})[:-1]) == ""


@pytest.mark.parametrize("more", [0, 1])
def test_a_payload_over_the_limit_is_refused(scene: Scene, more: int) -> None:
    raw = scene.payload("mcp__memory__add", {"text": ""})
    padded = raw[:-1] + b" " * (payload.STDIN_LIMIT - len(raw) + more) + b"}"
    assert ("too long" in scene.objection(padded)) is bool(more)


def test_an_unreadable_payload_is_allowed_when_the_guard_is_off(scene: Scene) -> None:
    (scene.home / "config.toml").write_text("guard.enabled = false", encoding="utf-8")
    assert scene.objection(scene.payload("mcp__memory__add", None)) == ""


def test_another_event_is_allowed(scene: Scene) -> None:
    raw = scene.payload("mcp__memory__add", {"text": token()}, hook_event_name="PostToolUse")
    assert scene.objection(raw) == ""


# -- the deadline ---------------------------------------------------------------------------------------------------


@pytest.fixture
def _restored_signal() -> Iterator[None]:
    import signal

    before = signal.getsignal(signal.SIGALRM)
    yield
    guard.cancel_deadline()
    signal.signal(signal.SIGALRM, before)


def run_past_deadline() -> None:
    guard.set_deadline(0.01)
    while True:
        pass


@ON_POSIX
@pytest.mark.usefixtures("_restored_signal")
def test_a_run_that_exceeds_its_deadline_is_stopped() -> None:
    with pytest.raises(guard.DeadlineError):
        run_past_deadline()


def test_no_code_handles_the_deadline_as_an_error_of_its_own() -> None:
    assert not issubclass(guard.DeadlineError, Exception)


@ON_POSIX
@pytest.mark.usefixtures("_restored_signal")
def test_a_cancelled_deadline_is_not_raised() -> None:
    import signal

    guard.set_deadline(60)
    guard.cancel_deadline()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.fixture
def done(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a whole run does about its time; standard input is a call that writes a secret to a memory."""
    done: list[str] = []
    raw, read = scene.payload("mcp__memory__add", {"text": token()}), files.read_up_to

    def read_or_note(descriptor: int, *limits: int) -> bytes:
        if descriptor:
            return read(descriptor, *limits)
        done.append("read")
        return raw

    monkeypatch.setattr(files, "read_up_to", read_or_note)
    monkeypatch.setattr(guard, "set_deadline", lambda _: done.append("set"))
    monkeypatch.setattr(guard, "cancel_deadline", lambda: done.append("cancelled"))
    return done


def test_the_deadline_is_set_when_the_payload_was_read(scene: Scene, done: list[str]) -> None:
    """A process that was stopped while it read would know nothing of the call, and would have to allow it."""
    assert "holds a secret" in guard.guard(HINT, scene.environ)
    assert done == ["read", "set", "cancelled"]


def test_a_deadline_at_the_very_end_is_an_answer_too(
    scene: Scene, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel_too_late() -> None:
        done.append("cancelled")
        if done.count("cancelled") == 1:
            raise guard.DeadlineError

    monkeypatch.setattr(guard, "cancel_deadline", cancel_too_late)
    assert "took too long" in guard.guard(HINT, scene.environ)
