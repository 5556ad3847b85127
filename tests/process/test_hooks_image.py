"""Images of a run: the next run needs no import system, and whatever is wrong with one, the answer is the same."""

from __future__ import annotations

import json
import marshal
import os
import shutil
import subprocess
import sys
from _imp import source_hash
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interpreters import VERSIONS, wanted
from keepmum_hooks import image as images
from keepmum_hooks import places

LIMIT = 30  # seconds
NOTE = "Deploys go through the blue pool first; see docs/deploy_guide.md, and ask for the token in the vault.\n" * 20


def token() -> str:
    """A string that looks like a key of a code host, put together here so that no file holds one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


class Guard:
    """The guard hook of a copy of the plugin that a test may change, with a home of its own."""

    def __init__(self, root: Path, folder: Path, python: str = sys.executable) -> None:
        self.plugin = folder / "plugin"
        for name in ("hooks", "scanner"):
            shutil.copytree(root / name, self.plugin / name, ignore=shutil.ignore_patterns("__pycache__"))
        self.home = folder / "keepmum"
        self.python = python
        self.environ = {"HOME": str(folder), "USERPROFILE": str(folder), "KEEPMUM_HOME": str(self.home)}

    def run(self, text: str, *options: str) -> subprocess.CompletedProcess[bytes]:
        """One run before a foreign memory tool that is given the text."""
        payload = {
            "session_id": "s",
            "cwd": str(self.home),
            "hook_event_name": "PreToolUse",
            "tool_name": "mcp__memory__add",
            "tool_input": {"text": text},
        }
        return subprocess.run(
            [
                self.python,
                "-I",
                "-S",
                *options,
                str(self.plugin / "hooks" / "run.py"),
                "guard",
                "--client",
                "claude-code",
            ],
            input=json.dumps(payload).encode(),
            env=self.environ,
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )

    def refuses(self) -> bool:
        """Whether a secret is refused, and a plain note is not; says so as it should."""
        bad, good = self.run(f"{NOTE}\n{token()}"), self.run(NOTE)
        assert (bad.returncode, bad.stderr) == (good.returncode, good.stderr) == (0, b"")
        return b"github.token in text, line 22" in bad.stdout and good.stdout == b""

    def imported(self, text: str) -> set[str]:
        """The modules that a run imports from files, as the interpreter tells it."""
        lines = self.run(text, "-X", "importtime").stderr.decode().splitlines()
        return {line.rpartition("|")[2].strip() for line in lines}

    @property
    def images(self) -> list[Path]:
        return sorted(Path(places.images_folder(str(self.home))).iterdir())


@pytest.fixture
def guard(root: Path, tmp_path: Path) -> Guard:
    return Guard(root, tmp_path)


@pytest.fixture
def warm(guard: Guard) -> Guard:
    """A guard that has seen all this before."""
    for _ in range(3):
        assert guard.refuses()
    return guard


@pytest.mark.parametrize("version", VERSIONS)
def test_a_warm_run_imports_no_module_of_ours_and_compiles_nothing_on_every_version(
    version: str, root: Path, tmp_path: Path
) -> None:
    guard = Guard(root, tmp_path, wanted(version))
    assert all(guard.refuses() for _ in range(3))
    for text in (NOTE, f"{NOTE}\n{token()}"):
        imported = guard.imported(text)
        assert "posix" in imported or sys.platform == "win32"
        assert not {name for name in imported if name.startswith("keepmum")} | ({"re", "enum", "__future__"} & imported)


def test_launcher_and_package_agree_on_the_form_of_an_image(root: Path) -> None:
    assert f"\n_FORMAT = {images.FORMAT}  #" in (root / "hooks" / "runner.py").read_text(encoding="utf-8")


def test_each_stage_of_a_run_has_an_image_that_is_private(warm: Guard) -> None:
    assert [path.name.partition("-")[0] for path in warm.images] == ["guard", "scanner"]
    assert {path.stat().st_mode & 0o777 for path in warm.images} == {0o600}


def test_what_is_not_guarded_loads_no_image_of_the_scanner(guard: Guard) -> None:
    payload = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Write"}
    for _ in range(2):
        subprocess.run(
            [guard.python, "-I", "-S", str(guard.plugin / "hooks/run.py"), "guard", "--client", "claude-code"],
            input=json.dumps({**payload, "tool_input": {"file_path": "/p/main.py", "content": token()}}).encode(),
            env=guard.environ,
            timeout=LIMIT,
            check=True,
        )
    assert [path.name.partition("-")[0] for path in guard.images] == ["guard"]


def test_a_warm_run_writes_nothing_more(warm: Guard) -> None:
    before = [(path.name, path.stat().st_mtime_ns) for path in warm.images]
    assert warm.refuses()
    assert [(path.name, path.stat().st_mtime_ns) for path in warm.images] == before


def damaged(data: bytes, how: str) -> bytes:
    middle = len(data) // 2
    return {
        "empty": b"",
        "cut short": data[:middle],
        "a byte changed": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "the sum changed": bytes([data[0] ^ 1]) + data[1:],
        "zeros": bytes(len(data)),
        "another text": b"not an image at all",
        "a sum over nothing": source_hash(1, b""),
        "a sum over a number": source_hash(1, marshal.dumps(7)) + marshal.dumps(7),
        "a sum over a list": source_hash(1, marshal.dumps([])) + marshal.dumps([]),
    }[how]


@pytest.mark.parametrize("stage", [0, 1])
@pytest.mark.parametrize(
    "how",
    [
        "empty",
        "cut short",
        "a byte changed",
        "the sum changed",
        "zeros",
        "another text",
        "a sum over nothing",
        "a sum over a number",
        "a sum over a list",
    ],
)
def test_a_damaged_image_changes_no_answer_and_is_mended(warm: Guard, stage: int, how: str) -> None:
    image = warm.images[stage]
    whole = image.read_bytes()
    image.write_bytes(damaged(whole, how))
    assert warm.refuses()
    assert warm.refuses()
    assert len(image.read_bytes()) == len(whole)


@pytest.mark.parametrize("stage", [0, 1])
def test_an_image_that_is_no_file_changes_no_answer(warm: Guard, stage: int) -> None:
    image = warm.images[stage]
    image.unlink()
    os.mkfifo(image)
    assert warm.refuses()


def changed(image: Path, name: str, source: str, codes: Mapping[str, object] | None = None) -> bytes:
    """The image with another module in the place of one, and with all else as it should be."""
    raw = image.read_bytes()
    version, modules, kept = marshal.loads(raw[8:])
    made = [
        (
            *module[:-1],
            marshal.dumps(compile(source, name, "exec") if module[0] == name else marshal.loads(raw[-module[-1] :])),
        )
        for module in modules
    ]
    body = images._image(made, kept if codes is None else codes)
    assert version == sys.version
    return source_hash(images.FORMAT, body) + body


def hostile(image: Path) -> bytes:
    """An image that is right in all but what it does: it lets everything pass."""
    return changed(image, "keepmum_scanner", "def scan(text, key=None):\n    return []\n")


def test_only_its_mode_keeps_a_hostile_image_out_so_the_next_test_proves_something(warm: Guard) -> None:
    warm.images[1].write_bytes(hostile(warm.images[1]))
    assert warm.run(token()).stdout == b""


@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_image_that_others_can_write_is_not_used(warm: Guard, mode: int) -> None:
    image = warm.images[1]
    image.write_bytes(hostile(image))
    image.chmod(mode)
    assert b"github.token" in warm.run(token()).stdout


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_an_image_of_another_user_is_not_used(warm: Guard) -> None:
    image = warm.images[1]
    image.write_bytes(hostile(image))
    os.chown(image, 12345, 12345)
    assert b"github.token" in warm.run(token()).stdout


def test_an_image_behind_a_link_is_not_used(warm: Guard, tmp_path: Path) -> None:
    image = warm.images[1]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(hostile(image))
    image.unlink()
    image.symlink_to(elsewhere)
    assert b"github.token" in warm.run(token()).stdout


@pytest.mark.parametrize("name", ["hooks/keepmum_hooks/guard.py", "scanner/keepmum_scanner/scan.py"])
def test_a_source_that_changes_is_obeyed_at_once(warm: Guard, name: str) -> None:
    with (warm.plugin / name).open("a", encoding="utf-8") as file:
        file.write("\nraise RuntimeError('planted')\n")
    answer = warm.run(NOTE)
    assert answer.returncode == 2 or b"could not check this write" in answer.stdout


@pytest.mark.parametrize("name", ["hooks/keepmum_hooks/guard.py", "scanner/keepmum_scanner/scan.py"])
def test_a_source_that_is_gone_is_missed_at_once(warm: Guard, name: str) -> None:
    (warm.plugin / name).unlink()
    answer = warm.run(NOTE)
    assert answer.returncode == 2 or b"could not check this write" in answer.stdout


def test_after_a_failure_the_images_are_gone(warm: Guard) -> None:
    failing = "def main(arguments, environ):\n    raise RuntimeError\n"
    warm.images[0].write_bytes(changed(warm.images[0], "keepmum_hooks.main", failing))
    assert warm.run(NOTE).returncode == 2
    assert warm.refuses()


def test_an_image_whose_module_cannot_be_executed_is_made_anew(warm: Guard) -> None:
    warm.images[1].write_bytes(changed(warm.images[1], "keepmum_scanner.tokens", "raise RuntimeError\n"))
    assert warm.refuses()
    assert warm.refuses()


def test_expressions_that_the_interpreter_does_not_take_are_compiled(warm: Guard) -> None:
    image = warm.images[1]
    codes = marshal.loads(image.read_bytes()[8:])[2]
    assert codes
    broken = {expression: (code[0], b"\xff" * len(code[1]), *code[2:]) for expression, code in codes.items()}
    image.write_bytes(changed(image, "", "", broken))
    assert warm.refuses()


def test_two_copies_of_the_plugin_have_images_of_their_own(root: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = Guard(root, tmp_path / "one"), Guard(root, tmp_path / "two")
    two.environ, two.home = one.environ, one.home
    assert one.refuses()
    assert two.refuses()
    assert len(one.images) == 4


def test_a_cache_that_cannot_be_written_changes_no_answer(guard: Guard) -> None:
    guard.home.mkdir()
    (guard.home / "cache").write_text("in the way", encoding="utf-8")
    assert guard.refuses()
    assert guard.refuses()


def test_runs_at_once_agree(guard: Guard) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(guard.run, [token()] * 24))
    assert {answer.returncode for answer in answers} == {0}
    # On a machine that does a great deal else, a run may not be through in its time, and then refuses for that.
    told = [answer.stdout for answer in answers if b"it took too long" not in answer.stdout]
    assert told
    assert all(b"github.token" in words for words in told)
    assert [path.name.partition("-")[0] for path in guard.images] == ["guard", "scanner"]


def test_an_image_holds_nothing_of_what_was_written(warm: Guard) -> None:
    assert not any(token()[4:16].encode() in path.read_bytes() for path in warm.images)
