"""The results of a live trial with a fake client."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from keepmum_hooks.capture_prompt import CAPTURE_PROMPT
from keepmum_installers.errors import InstallError
from keepmum_installers.live import results
from keepmum_installers.live.messages import Messages
from keepmum_installers.live.model import Call
from keepmum_installers.live.sandbox import Sandbox
from keepmum_installers.live.trial import TrialResult, run_trial
from keepmum_installers.machine import Machine

TOOLS = ("remember", "recall", "load", "forget", "resume")


class Client:
    """A fake client with chosen faults, which executes the tool calls of the model."""

    api = Messages()

    def __init__(self, *, briefs: str = "model", captures: str = "model", guards: bool = True) -> None:
        self.briefs = briefs
        self.captures = captures
        self.guards = guards

    def install(self, program: str, box: Sandbox) -> None:
        assert os.path.isdir(box.root)

    def run(self, program: str, box: Sandbox, model: str, prompt: str) -> str:
        shown = []
        messages: list[Any] = [{"role": "user", "content": prompt}]
        (file,) = (Path(box.keepmum_home) / "state" / "briefings").iterdir()
        briefing = file.read_text(encoding="utf-8")
        if self.briefs == "model":
            messages.append({"role": "user", "content": briefing})
        elif self.briefs == "user":
            shown.append(briefing)
        while (answer := _ask(model, messages))["type"] == "tool_use":
            messages += [{"role": "assistant", "content": [answer]}, self._result(answer)]
        if self.captures == "model":
            messages.append({"role": "user", "content": CAPTURE_PROMPT})
            _ask(model, messages)
        elif self.captures == "user":
            shown.append(CAPTURE_PROMPT)
        return "\n".join(shown)

    def write(self, path: str, text: str) -> Call:
        return Call("Write", {"file_path": path, "content": text})

    def _result(self, call: dict[str, Any]) -> dict[str, Any]:
        text = "refused: github.token"
        if call["name"] == "Write" and not self.guards:
            Path(call["input"]["file_path"]).write_text(call["input"]["content"], encoding="utf-8")
            text = "written"
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": text}]}


def _ask(model: str, messages: list[Any]) -> dict[str, Any]:
    tools = [{"name": f"mcp__plugin_keepmum_memory__{tool}"} for tool in TOOLS]
    body = json.dumps({"messages": messages, "tools": [*tools, {"name": "Write"}]}).encode()
    with urllib.request.urlopen(f"{model}/v1/messages", body, timeout=60) as answer:
        block: dict[str, Any] = json.load(answer)["content"][0]
    return block


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(
        user_home=str(tmp_path),
        home=str(tmp_path / "keepmum"),
        cwd=str(tmp_path),
        config_home=str(tmp_path),
        environ=os.environ,
    )


def tried(root: Path, machine: Machine, **faults: Any) -> TrialResult:
    return run_trial("A client", Client(**faults), "true", str(root), machine)


def test_a_client_that_passes_everything_on_passes_the_trial(root: Path, machine: Machine) -> None:
    assert tried(root, machine).passed


@pytest.mark.parametrize(("to", "verdict"), [("user", "shown to the user only"), ("nobody", "dropped")])
def test_a_briefing_that_does_not_reach_the_model_is_reported(
    root: Path, machine: Machine, to: str, verdict: str
) -> None:
    result = tried(root, machine, briefs=to)
    assert (result.briefing, result.capture, result.passed) == (verdict, "reached the model", False)


@pytest.mark.parametrize(("to", "verdict"), [("user", "shown to the user only"), ("nobody", "dropped")])
def test_a_capture_request_that_does_not_reach_the_model_is_reported(
    root: Path, machine: Machine, to: str, verdict: str
) -> None:
    assert tried(root, machine, captures=to).capture == verdict


def test_a_guard_that_misses_a_secret_is_reported(root: Path, machine: Machine) -> None:
    result = tried(root, machine, guards=False)
    assert (result.write, result.guard, result.passed) == ("refused", "not refused", False)


def test_a_client_without_requests_is_an_error(root: Path, machine: Machine) -> None:
    class Silent(Client):
        def run(self, program: str, box: Sandbox, model: str, prompt: str) -> str:
            return ""

    with pytest.raises(InstallError, match="asked its model nothing"):
        run_trial("A client", Silent(), "true", str(root), machine)


def test_a_failing_command_is_an_error_with_its_message(tmp_path: Path) -> None:
    box = Sandbox(str(tmp_path), str(tmp_path), str(tmp_path), {"PATH": os.environ["PATH"]})
    with pytest.raises(InstallError, match="the session failed: not today"):
        box.run(("sh", "-c", "echo not today >&2; exit 3"), "the session")


def a_result(**changes: Any) -> TrialResult:
    values = {
        "client": "A client", "version": "1.2.3", "day": "2026-11-21", "tools": TOOLS, "system": "Linux",
        "briefing": "reached the model", "capture": "reached the model", "write": "refused", "guard": "refused",
    }  # fmt: skip
    return TrialResult(**{**values, **changes})


@pytest.fixture
def remembered(machine: Machine) -> Machine:
    results.save("a-client", a_result(), machine)
    return machine


def test_a_result_is_saved(remembered: Machine) -> None:
    assert results.load(remembered) == {"a-client": a_result()}


def test_a_new_result_replaces_the_last(remembered: Machine) -> None:
    results.save("a-client", a_result(version="1.2.4"), remembered)
    results.save("another", a_result(), remembered)
    assert [result.version for result in results.load(remembered).values()] == ["1.2.4", "1.2.3"]


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"a-client": 1}', b'{"a-client": {}}', b"\xff"])
def test_a_damaged_file_has_no_result(remembered: Machine, content: bytes) -> None:
    Path(remembered.state("live.json")).write_bytes(content)
    assert results.load(remembered) == {}


def test_a_passed_trial_is_one_finding() -> None:
    (finding,) = results.findings("a-client", a_result())
    assert (finding.level, finding.about) == ("ok", "a-client live")
    assert "with A client 1.2.3 on Linux, 2026-11-21: 5 tools offered" in finding.says


def test_each_fault_is_a_finding_with_a_next_step() -> None:
    found = list(results.findings("a-client", a_result(briefing="dropped", guard="not refused", tools=("recall",))))
    assert [(finding.level, finding.says.rpartition("2026-11-21: ")[2]) for finding in found] == [
        ("problem", "the briefing: dropped"),
        ("problem", "a secret for a memory file: not refused"),
        ("note", "tools offered: recall"),
    ]
    assert all("doctor --live a-client" in finding.next_step for finding in found)
