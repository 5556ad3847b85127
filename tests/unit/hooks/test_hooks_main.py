"""One hook run from payload to answer, and what ends it early."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keepmum_hooks import main, places
from keepmum_hooks.event import SESSION_START, STOP

HINT = "claude-code"


def stop_payload(**fields: object) -> bytes:
    return json.dumps({"session_id": "s", "hook_event_name": "Stop", "prompt_id": "p", **fields}).encode()


def answer(home: Path, raw: bytes | None, **environ: str) -> str:
    variables = {"KEEPMUM_HOME": str(home), "KEEPMUM_CAPTURE_EVERY": "1", "AI_AGENT": "claude-code_2-1-329_x"}
    return main.answer(STOP, HINT, raw, {**variables, **environ})


def test_a_due_stop_is_answered(tmp_path: Path) -> None:
    assert "additionalContext" in json.loads(answer(tmp_path, stop_payload()))["hookSpecificOutput"]


def test_a_start_is_answered_with_its_briefing(tmp_path: Path) -> None:
    file = Path(places.briefing_file(str(tmp_path), str(tmp_path)))
    file.parent.mkdir(parents=True)
    file.write_text("- known", encoding="utf-8")
    raw = json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "cwd": str(tmp_path)}).encode()
    output = json.loads(main.answer(SESSION_START, HINT, raw, {"KEEPMUM_HOME": str(tmp_path)}))
    assert output["hookSpecificOutput"] == {"hookEventName": "SessionStart", "additionalContext": "- known"}


@pytest.mark.parametrize(
    ("raw", "environ"),
    [
        pytest.param(None, {}, id="a payload that is too long"),
        pytest.param(b"", {}, id="no payload"),
        pytest.param(b"{", {}, id="a truncated payload"),
        pytest.param(stop_payload(hook_event_name="SubagentStop"), {}, id="another event"),
        pytest.param(stop_payload(), {"KEEPMUM_HOME": ""}, id="no home"),
        pytest.param(stop_payload(), {"KEEPMUM_ENABLED": "off"}, id="switched off"),
    ],
)
def test_an_ignored_run_leaves_no_answer_and_no_file(
    tmp_path: Path, raw: bytes | None, environ: dict[str, str]
) -> None:
    assert answer(tmp_path, raw, **environ) == ""
    assert not list(tmp_path.iterdir())


def test_a_run_leaves_a_heartbeat(tmp_path: Path) -> None:
    answer(tmp_path, stop_payload(stop_hook_active=True))
    assert Path(places.heartbeat_file(str(tmp_path), HINT, STOP)).exists()


def test_a_heartbeat_that_cannot_be_written_does_not_withhold_the_answer(tmp_path: Path) -> None:
    heartbeat = Path(places.heartbeat_file(str(tmp_path), HINT, STOP))
    heartbeat.parent.parent.mkdir()
    heartbeat.parent.write_text("not a folder", encoding="utf-8")
    assert answer(tmp_path, stop_payload())


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["stop"],
        ["stop", "--client"],
        ["nonsense", "--client", "x"],
        ["stop", "-c", "x"],
        ["stop", "--client", "x", "y"],
    ],
)
def test_a_wrong_command_line_is_an_error(arguments: list[str]) -> None:
    with pytest.raises(ValueError, match=r"usage|unpack"):
        main.main(arguments, {})
