"""Hooks as clients start them: real processes, on every interpreter of this machine, with all kinds of faults."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from interpreters import VERSIONS, wanted
from keepmum_hooks import places

LIMIT = 120  # seconds; a hook takes milliseconds
SESSION = "c7f0fbca-a509-4a37-bece-ba09cc355bad"
CLAUDE = {"AI_AGENT": "claude-code_2-1-329_harness", "CLAUDE_CODE_SESSION_ATTENDED": "1"}


class Answer(NamedTuple):
    """What a hook returned to its client."""

    code: int
    out: bytes
    err: bytes


SILENCE = Answer(0, b"", b"")


class Hooks:
    """The hooks of one copy of the plugin, with their own home."""

    def __init__(self, plugin: Path, folder: Path, python: str = sys.executable) -> None:
        self.script = plugin / "hooks" / "run.py"
        self.python = python
        self.home = folder / "keepmum"
        self.project = folder / "project"
        self.project.mkdir()
        self.environ = {"HOME": str(folder), "USERPROFILE": str(folder), "KEEPMUM_HOME": str(self.home), **CLAUDE}

    def run(self, *arguments: str, stdin: bytes, **changes: str | None) -> Answer:
        environ = {name: value for name, value in {**self.environ, **changes}.items() if value is not None}
        done = subprocess.run(
            [self.python, "-I", "-S", str(self.script), *arguments],
            input=stdin,
            env=environ,
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def stop(self, prompt: str = "p", /, **changes: str | None) -> Answer:
        return self.run("stop", "--client", "claude-code", stdin=self.payload("Stop", prompt_id=prompt), **changes)

    def start(self, source: str = "startup", /, **changes: str | None) -> Answer:
        payload = self.payload("SessionStart", source=source)
        return self.run("session-start", "--client", "claude-code", stdin=payload, **changes)

    def payload(self, event: str, **fields: Any) -> bytes:
        common = {"session_id": SESSION, "cwd": str(self.project), "hook_event_name": event}
        return json.dumps({**common, **fields}).encode()

    def brief(self, text: str) -> None:
        file = Path(places.briefing_file(str(self.home), str(self.project)))
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")

    def turns(self) -> bytes:
        return Path(places.turns_file(str(self.home), SESSION)).read_bytes()


@pytest.fixture
def hooks(root: Path, tmp_path: Path) -> Hooks:
    return Hooks(root, tmp_path)


def context_of(answer: Answer) -> str:
    assert (answer.code, answer.err) == (0, b"")
    text: str = json.loads(answer.out)["hookSpecificOutput"]["additionalContext"]
    return text


# -- on every interpreter --------------------------------------------------------------------------------------------


@pytest.fixture(params=VERSIONS)
def any_hooks(request: pytest.FixtureRequest, root: Path, tmp_path: Path) -> Hooks:
    """The hooks on one of the supported Python versions."""
    return Hooks(root, tmp_path, wanted(request.param))


def test_the_fifth_turn_is_answered_on_every_version(any_hooks: Hooks) -> None:
    answers = [any_hooks.stop(f"p{n}") for n in range(1, 6)]
    assert answers[:4] == [SILENCE] * 4
    assert "keepmum:memory" in context_of(answers[4])


def test_a_briefing_is_given_on_every_version(any_hooks: Hooks) -> None:
    any_hooks.brief("- naïve: “quoted”\n")
    assert context_of(any_hooks.start()) == "- naïve: “quoted”"


def test_the_project_switches_off_on_every_version(any_hooks: Hooks) -> None:
    any_hooks.brief("- known")
    (any_hooks.project / ".keepmum.toml").write_text('# ours\nproject = "p"\nenabled = false\n', encoding="utf-8")
    assert any_hooks.start() == SILENCE


def test_the_private_json_module_works_on_every_version(any_hooks: Hooks) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(any_hooks.script.parent)!r}); from keepmum_hooks import payload;"
        'value = payload._parse_quickly(\'{"a": [1, 2.5, null, "x"]}\');'
        "sys.exit(value != {'a': [1, 2.5, None, 'x']} or 'json' in sys.modules or 're' in sys.modules)"
    )
    assert subprocess.run([any_hooks.python, "-I", "-S", "-B", "-c", code], check=False, timeout=LIMIT).returncode == 0


def test_a_hook_imports_little_on_every_version(any_hooks: Hooks) -> None:
    unwanted = {"json", "re", "typing", "pathlib", "dataclasses", "subprocess", "os", "logging", "argparse", "hashlib"}
    code = (
        f"import sys; sys.path.insert(0, {str(any_hooks.script.parent)!r});"
        "import keepmum_hooks.main, keepmum_hooks.stop, keepmum_hooks.start, keepmum_hooks.clients.claude_code;"
        "import keepmum_hooks.capture_prompt, keepmum_hooks.toml_lines;"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [any_hooks.python, "-I", "-S", "-B", "-c", code], capture_output=True, text=True, check=True, timeout=LIMIT
    )
    assert not unwanted & set(done.stdout.split())


# -- which runs answer -----------------------------------------------------------------------------------------------


def test_an_older_client_gets_an_answer_that_it_accepts(hooks: Hooks) -> None:
    answer = hooks.stop(AI_AGENT="claude-code_2-1-100_harness", KEEPMUM_CAPTURE_EVERY="1")
    assert json.loads(answer.out)["decision"] == "block"


def test_an_unattended_run_is_counted_without_an_answer(hooks: Hooks) -> None:
    answers = [hooks.stop(f"p{n}", CLAUDE_CODE_SESSION_ATTENDED="0") for n in range(1, 6)]
    assert answers == [SILENCE] * 5
    assert hooks.turns().count(b"\nU ") == 5


def test_an_unknown_client_gets_no_answer(hooks: Hooks) -> None:
    assert hooks.run("stop", "--client", "nobody", stdin=hooks.payload("Stop"), KEEPMUM_CAPTURE_EVERY="1") == SILENCE


def test_a_continuation_of_another_client_gets_no_answer(hooks: Hooks) -> None:
    payload = hooks.payload("Stop", cursor_version="2.0", loop_count=1)
    assert hooks.run("stop", "--client", "claude-code", stdin=payload, KEEPMUM_CAPTURE_EVERY="1") == SILENCE


def test_a_hook_leaves_a_heartbeat(hooks: Hooks) -> None:
    hooks.stop()
    assert Path(places.heartbeat_file(str(hooks.home), "claude-code", "stop")).exists()


@pytest.mark.parametrize("source", ["environment", "session", "project", "user"])
def test_off_means_off_from_every_source(hooks: Hooks, source: str) -> None:
    hooks.brief("- known")
    changes = {"KEEPMUM_CAPTURE_EVERY": "1"}
    if source == "environment":
        changes["KEEPMUM_ENABLED"] = "0"
    elif source == "session":
        marker = Path(places.off_marker(str(hooks.home), SESSION))
        marker.parent.mkdir(parents=True)
        marker.touch()
    elif source == "project":
        (hooks.project / ".keepmum.toml").write_text("enabled = false\n", encoding="utf-8")
    else:
        (hooks.home / "config.toml").write_text("enabled = false\n", encoding="utf-8")
    before = sorted(str(path) for path in hooks.home.glob("state/**/*"))
    assert (hooks.start(**changes), hooks.stop(**changes)) == (SILENCE, SILENCE)
    assert sorted(str(path) for path in hooks.home.glob("state/**/*")) == before


# -- files -----------------------------------------------------------------------------------------------------------


def test_a_hook_changes_nothing_in_the_plugin(root: Path, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    shutil.copytree(root / "hooks", plugin / "hooks", ignore=shutil.ignore_patterns("__pycache__"))
    before = {str(path): path.stat().st_mtime_ns for path in plugin.rglob("*")}
    hooks = Hooks(plugin, tmp_path)
    hooks.start()
    hooks.stop()
    hooks.run("nonsense", stdin=b"")
    hooks.stop(HOME=None, USERPROFILE=None, KEEPMUM_HOME=None)
    assert {str(path): path.stat().st_mtime_ns for path in plugin.rglob("*")} == before


def test_bytecode_is_cached_in_the_home_from_the_second_run(hooks: Hooks) -> None:
    hooks.stop()
    hooks.stop()
    assert list((hooks.home / "cache" / "pycache").rglob("keepmum_hooks/main.*.pyc"))


def test_truncated_bytecode_fails_one_run_only(hooks: Hooks) -> None:
    hooks.stop("p1")
    hooks.stop("p1")
    for file in (hooks.home / "cache" / "pycache").rglob("*.pyc"):
        os.truncate(file, file.stat().st_size // 2)
    assert hooks.stop("p2") == Answer(0, b"", b"keepmum: the hook failed (EOFError)\n")
    assert hooks.stop("p3") == SILENCE
    assert hooks.turns().count(b"\nT ") == 3


def test_bytecode_of_a_changed_module_is_replaced(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "hooks", tmp_path / "plugin" / "hooks", ignore=shutil.ignore_patterns("__pycache__"))
    hooks = Hooks(tmp_path / "plugin", tmp_path)
    for module in ("main", "files", "stop"):
        hooks.stop()
        hooks.stop()
        (bytecode,) = (hooks.home / "cache" / "pycache").rglob(f"keepmum_hooks/{module}.*.pyc")
        before = bytecode.read_bytes()
        with (hooks.script.parent / "keepmum_hooks" / f"{module}.py").open("a", encoding="utf-8") as file:
            file.write("_CHANGED = True\n")
        hooks.stop()
        assert bytecode.read_bytes() != before


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="named"),
        pytest.param({"KEEPMUM_HOME": None}, id="in the user's home"),
        pytest.param({"KEEPMUM_HOME": "~/.elsewhere"}, id="with a tilde"),
    ],
)
def test_run_py_and_the_package_agree_on_the_home(hooks: Hooks, changes: dict[str, str | None]) -> None:
    for _ in range(2):
        hooks.stop(**changes)
    home = places.home({name: value for name, value in {**hooks.environ, **changes}.items() if value is not None})
    assert home is not None
    assert sorted(os.listdir(home)) == ["cache", "state"]
    (bytecode,) = Path(home, "cache", "pycache").rglob("keepmum_hooks/main.*.pyc")
    os.truncate(bytecode, bytecode.stat().st_size // 2)
    assert hooks.stop(**changes).err == b"keepmum: the hook failed (EOFError)\n"  # run.py found it there


def test_all_state_is_private(hooks: Hooks) -> None:
    hooks.brief("- known")
    shutil.rmtree(hooks.home)
    hooks.start()
    hooks.stop()
    kept = [hooks.home, *hooks.home.glob("state/**/*")]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in kept}
    assert modes == {0o700, 0o600}


def test_missing_parents_of_the_home_are_created_private(hooks: Hooks) -> None:
    deep = hooks.home / "a" / "b"
    for prompt in ("one", "two"):
        hooks.stop(prompt, KEEPMUM_HOME=str(deep))
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (hooks.home, hooks.home / "a", deep)} == {0o700}
    assert sorted(os.listdir(deep)) == ["cache", "state"]


# -- faults ----------------------------------------------------------------------------------------------------------


def is_harmless(answer: Answer) -> bool:
    """Whether the client continues as without a hook."""
    return answer.code == 0 and answer.out == b"" and b"Traceback" not in answer.err and answer.err.count(b"\n") <= 1


@pytest.mark.parametrize("event", ["stop", "session-start"])
@pytest.mark.parametrize(
    "stdin",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x00" * 100, id="NUL"),
        pytest.param(b"\xff\xfe" * 100, id="not UTF-8"),
        pytest.param(b"{", id="a truncated object"),
        pytest.param(b"[1]", id="a list"),
        pytest.param(b'{"a":' * 200_000, id="deeply nested"),
        pytest.param(b"[" * 3_000_000, id="more deeply nested"),
        pytest.param(b'{"session_id": ' + b"9" * 10_000 + b"}", id="a number of ten thousand digits"),
        pytest.param(b'{"a": "' + b"x" * (11 << 20) + b'"}', id="eleven megabytes"),
    ],
)
def test_garbage_gets_no_answer(hooks: Hooks, event: str, stdin: bytes) -> None:
    assert is_harmless(hooks.run(event, "--client", "claude-code", stdin=stdin))


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"session_id": ["x"]}, id="session of the wrong type"),
        pytest.param({"session_id": "../../etc/x\0"}, id="hostile session"),
        pytest.param({"session_id": "x" * 10_000}, id="long session"),
        pytest.param({"session_id": "\ud800"}, id="session that is not text"),
        pytest.param({"cwd": "/a\0b"}, id="folder with NUL"),
        pytest.param({"cwd": "\ud800"}, id="folder that is not text"),
        pytest.param({"cwd": 7}, id="folder of the wrong type"),
        pytest.param({"cwd": "/missing/folder"}, id="missing folder"),
        pytest.param({"cwd": "/" + "x/" * 5000}, id="long folder"),
        pytest.param({"prompt_id": {"a": 1}}, id="prompt of the wrong type"),
        pytest.param({"background_tasks": [1, {"id": []}, {"id": "a b\n", "type": 7}]}, id="odd tasks"),
        pytest.param({"hook_event_name": "SubagentStop"}, id="another event"),
    ],
)
@pytest.mark.parametrize("event", ["stop", "session-start"])
def test_invalid_fields_get_no_answer(hooks: Hooks, event: str, fields: dict[str, object]) -> None:
    name = {"stop": "Stop", "session-start": "SessionStart"}[event]
    payload = hooks.payload(name, **{"prompt_id": "p", **fields})
    assert is_harmless(hooks.run(event, "--client", "claude-code", stdin=payload))


@pytest.mark.parametrize(
    "arguments",
    [[], ["stop"], ["guard", "--client", "x"], ["stop", "claude-code", "--client"], ["stop", "--client", ""]],
)
def test_a_wrong_command_line_gets_no_answer(hooks: Hooks, arguments: list[str]) -> None:
    assert is_harmless(hooks.run(*arguments, stdin=hooks.payload("Stop"), KEEPMUM_CAPTURE_EVERY="1")) or arguments[
        -1:
    ] == [""]


def test_an_error_message_contains_nothing_of_the_payload(hooks: Hooks) -> None:
    Path(places.turns_file(str(hooks.home), SESSION)).mkdir(parents=True)
    answer = hooks.stop("canary", KEEPMUM_CAPTURE_EVERY="1")
    assert (answer.code, answer.out) == (0, b"")
    assert answer.err == b"keepmum: the hook failed (IsADirectoryError)\n"


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "locked"])
@pytest.mark.parametrize("path_of", [places.turns_file, places.session_note])
def test_a_state_file_of_the_wrong_kind_gets_no_answer(hooks: Hooks, path_of: Any, kind: str) -> None:
    path = Path(path_of(str(hooks.home), SESSION))
    path.parent.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(hooks.project / "target")
    else:
        path.touch(mode=0o000)
        path.parent.chmod(0o500)
    try:
        answers = [hooks.stop(), hooks.start()]
    finally:
        path.parent.chmod(0o700)
    assert all(is_harmless(answer) for answer in answers)
    assert not (hooks.project / "target").exists()


@pytest.mark.parametrize(
    "damage", [b"", b"\x00" * 50, b"\nT p", b"T x .\n" * 100_000, random.Random(1).randbytes(1000)]
)
def test_a_damaged_log_is_skipped(hooks: Hooks, damage: bytes) -> None:
    log = Path(places.turns_file(str(hooks.home), SESSION))
    log.parent.mkdir(parents=True)
    log.write_bytes(damage)
    assert "keepmum:memory" in context_of(hooks.stop(KEEPMUM_CAPTURE_EVERY="1"))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a file system that nobody can write")
def test_a_home_that_cannot_be_written_gets_no_answer(hooks: Hooks) -> None:
    assert is_harmless(hooks.stop(KEEPMUM_CAPTURE_EVERY="1", KEEPMUM_HOME="/proc/self/keepmum"))


@pytest.mark.parametrize("changes", [{"HOME": None, "USERPROFILE": None, "KEEPMUM_HOME": None}, {"KEEPMUM_HOME": "x"}])
def test_without_a_home_there_is_no_answer(hooks: Hooks, changes: dict[str, str | None]) -> None:
    assert hooks.stop(KEEPMUM_CAPTURE_EVERY="1", **changes) == SILENCE


def test_a_relative_home_is_not_created(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hooks.project)
    assert hooks.stop(KEEPMUM_HOME="relative") == SILENCE
    assert not os.listdir(hooks.project)


def test_a_home_that_is_a_file_gets_no_answer(hooks: Hooks) -> None:
    hooks.home.write_text("not a folder", encoding="utf-8")
    assert is_harmless(hooks.stop(KEEPMUM_CAPTURE_EVERY="1"))


def test_a_full_disk_gets_no_answer(hooks: Hooks) -> None:
    limited = f"ulimit -f 0; exec {sys.executable} -I -S {hooks.script} stop --client claude-code"
    done = subprocess.run(
        ["sh", "-c", limited],
        input=hooks.payload("Stop", prompt_id="p"),
        env={**hooks.environ, "KEEPMUM_CAPTURE_EVERY": "1"},
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert is_harmless(Answer(done.returncode, done.stdout, done.stderr))


def test_a_client_that_closes_its_pipe_causes_no_traceback(hooks: Hooks) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = subprocess.run(
            [hooks.python, "-I", "-S", str(hooks.script), "stop", "--client", "claude-code"],
            input=hooks.payload("Stop", prompt_id="p"),
            env={**hooks.environ, "KEEPMUM_CAPTURE_EVERY": "1"},
            stdout=write_end,
            stderr=subprocess.PIPE,
            timeout=LIMIT,
            check=False,
        )
    finally:
        os.close(write_end)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


def test_modules_planted_in_the_working_folder_are_not_run(hooks: Hooks) -> None:
    for name in ("json.py", "_json.py", "keepmum_hooks.py", "os.py"):
        (hooks.project / name).write_text("raise SystemExit(7)", encoding="utf-8")
    done = subprocess.run(
        [hooks.python, "-I", "-S", str(hooks.script), "stop", "--client", "claude-code"],
        input=hooks.payload("Stop", prompt_id="p"),
        env={**hooks.environ, "KEEPMUM_CAPTURE_EVERY": "1", "PYTHONPATH": str(hooks.project)},
        cwd=hooks.project,
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert "keepmum:memory" in context_of(Answer(done.returncode, done.stdout, done.stderr))


# -- concurrency -----------------------------------------------------------------------------------------------------


def test_40_concurrent_hooks_count_40_turns_and_prompt_8_times(hooks: Hooks) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda n: hooks.stop(f"p{n}"), range(40)))
    assert hooks.turns().count(b"\nT ") == 40
    assert sum(answer != SILENCE for answer in answers) == 8


@pytest.mark.heavy
def test_400_concurrent_hooks_count_400_turns_and_prompt_80_times(hooks: Hooks) -> None:
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda n: hooks.stop(f"p{n}"), range(400)))
    assert hooks.turns().count(b"\nT ") == 400
    assert sum(answer != SILENCE for answer in answers) == 80


def test_hooks_registered_twice_prompt_once(hooks: Hooks) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: hooks.stop(f"p{n // 2}"), range(20)))
    assert sum(answer != SILENCE for answer in answers) == 2
