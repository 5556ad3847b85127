"""`python3 scanner` as a real process, with every interpreter of this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hidden import assert_hidden

SCANNER = Path(__file__).parents[2] / "scanner"
LIMIT = 60  # seconds; a scan takes a few hundredths
GITHUB = "gh" + "p_" + "a1B2" * 9
VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def interpreter(version: str, home: str = os.path.expanduser("~")) -> str | None:
    """A Python of this version; each candidate is started, since one on the path may be a broken shim."""
    kept = sorted(Path(home).glob(f".pyenv/versions/{version}.*/bin/python3"))
    check = f"import sys; sys.exit(sys.version_info[:2] != {tuple(map(int, version.split('.')))})"
    for candidate in (shutil.which(f"python{version}"), *map(str, kept)):
        if candidate and subprocess.run([candidate, "-c", check], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


@pytest.fixture(params=VERSIONS)
def any_python(request: pytest.FixtureRequest) -> str:
    python = interpreter(request.param)
    if python is None:
        pytest.skip(f"no Python {request.param} on this machine")
    return python


def run(
    *arguments: str, stdin: bytes = b"", python: str = sys.executable, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [python, "-I", "-S", str(SCANNER), *arguments],
        input=stdin,
        capture_output=True,
        timeout=LIMIT,
        check=False,
        cwd=cwd,
        env={},
    )


def test_text_on_standard_input_is_scanned(any_python: str) -> None:
    done = run(stdin=f"note\nkey {GITHUB}\n".encode(), python=any_python)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"<stdin>:2:5: github.token\n", b"")


def test_clean_text_prints_nothing(any_python: str) -> None:
    done = run(stdin="nothing but prose, «so» 👍🏽\n".encode(), python=any_python)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_package_in_the_current_folder_does_not_shadow_ours(tmp_path: Path) -> None:
    (tmp_path / "keepmum_scanner").mkdir()
    (tmp_path / "keepmum_scanner" / "__init__.py").write_text("raise SystemExit(9)")
    assert run(stdin=GITHUB.encode(), cwd=tmp_path).returncode == 1


def test_json_is_one_document_for_all_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name} {GITHUB}")
    done = run("--json", str(tmp_path / "a"), str(tmp_path / "b"))
    assert done.returncode == 1
    assert [Path(report["file"]).name for report in json.loads(done.stdout)] == ["a", "b"]


@pytest.mark.parametrize(
    "stdin",
    [
        pytest.param(bytes(range(256)) * 40, id="binary"),
        pytest.param(b"\x00" + GITHUB.encode(), id="NUL before a token"),
    ],
)
def test_binary_input_is_refused_in_one_line(stdin: bytes) -> None:
    done = run(stdin=stdin)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"scanner: <stdin>: binary data, not text\n")


@pytest.mark.parametrize(
    "stdin",
    [
        pytest.param(b"\xed\xa0\x80 " + GITHUB.encode(), id="lone surrogate"),
        pytest.param(b"caf\xe9 " + GITHUB.encode(), id="Latin-1"),
        pytest.param(b"\xef\xbb\xbf" + GITHUB.encode(), id="byte order mark"),
    ],
)
def test_unusual_bytes_do_not_hide_a_token(stdin: bytes) -> None:
    done = run(stdin=stdin)
    assert done.returncode == 1
    assert done.stdout.endswith(b": github.token\n")
    assert done.stderr == b""


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    done = run(str(tmp_path / "none"), str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


def test_no_part_of_the_secret_is_printed() -> None:
    done = run("--json", stdin=f"key {GITHUB}".encode())
    shown = (done.stdout + done.stderr).decode().replace("github.token", "")
    assert not [GITHUB[start : start + 5] for start in range(len(GITHUB) - 4) if GITHUB[start : start + 5] in shown]


def test_a_scan_of_plain_text_imports_no_slow_module(any_python: str) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SCANNER)!r}); import keepmum_scanner; keepmum_scanner.scan('a note');"
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run([any_python, "-I", "-S", "-c", code], capture_output=True, timeout=LIMIT, check=True)
    slow = {"typing", "dataclasses", "pathlib", "subprocess", "logging", "argparse", "json", "hashlib", "unicodedata"}
    assert not slow & set(done.stdout.decode().split())


def test_what_decided_is_explained_without_the_text(any_python: str) -> None:
    done = run("--json", "--explain", stdin=f"note\nkey {GITHUB}\n".encode(), python=any_python)
    (found,) = [report for report in json.loads(done.stdout) if report["rule"]]
    assert (done.returncode, found["rule"], found["explanation"]["name"]["word"]) == (1, "github.token", "key")
    assert_hidden(GITHUB[4:10], done.stdout, done.stderr)


def test_line_is_masked_with_the_same_shape(any_python: str) -> None:
    done = run("--mask", stdin=f"note\nkey {GITHUB}\n".encode(), python=any_python)
    assert (done.returncode, done.stdout[:8], len(done.stdout)) == (0, b"key " + GITHUB[:4].encode(), 45)
    assert_hidden(GITHUB[4:10], done.stdout, done.stderr)


def test_plain_scan_loads_neither_explanations_nor_masks() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SCANNER)!r}); from keepmum_scanner.cli import main; main(sys.argv[1:]); "
        "print([name for name in sys.modules if name.rpartition('.')[2] in ('explain', 'masking', 'public_words')])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], input=b"", capture_output=True, check=True, timeout=LIMIT)
    assert done.stdout == b"[]\n"
