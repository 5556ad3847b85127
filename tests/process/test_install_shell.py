"""`install.sh` in any shell and any state of the machine, without a stack trace."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

Shell = list[str]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
LIMIT = 120  # seconds
USAGE = "usage: sh installers/install.sh [options]; --help lists them"
SHELLS = {"dash": ["dash"], "busybox": ["busybox", "sh"], "bash": ["bash", "--posix"]}
TOOLS = ("sh", "uname", "tail", "dirname", "cat", "env")


@pytest.fixture(params=[pytest.param(name, id=name) for name in SHELLS])
def shell(request: pytest.FixtureRequest) -> Shell:
    """A shell that `sh` may be."""
    name, *options = SHELLS[request.param]
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not on this machine")
    return [found, *options]


@pytest.fixture
def sh() -> Shell:
    """The shell of this machine."""
    return ["/bin/sh"]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A PATH with what the script itself needs, and no Python."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


@pytest.fixture
def run(root: Path, home: Path, programs: Path, tmp_path: Path) -> Run:
    """Runs the installer with an empty HOME and nothing but `programs` on PATH."""

    def run(shell: Shell, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        variables = {"HOME": str(home), "PATH": str(programs), **environ}
        return subprocess.run(
            [*shell, str(root / "installers" / "install.sh"), *arguments],
            env={name: value for name, value in variables.items() if value},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )

    return run


def _python(programs: Path, name: str = "python3", script: str = "") -> None:
    """Puts an interpreter on PATH: this one, or a fake one."""
    path = programs / name
    path.write_text("#!/bin/sh\n" + (script or f'exec {shlex.quote(sys.executable)} "$@"') + "\n")
    path.chmod(0o755)


def test_empty_machine_gets_everything_and_a_demonstration(run: Run, shell: Shell, programs: Path, home: Path) -> None:
    _python(programs)
    done = run(shell, "--no-runtime", "--verbose")
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("kept:", "found:", "refused:", "No client was found", "Your memories do not leave this machine"):
        assert words in done.stdout
    assert stat.S_IMODE((home / ".keepmum").stat().st_mode) == 0o700


def test_the_windows_launcher_finds_a_python_behind_a_stub(run: Run, shell: Shell, programs: Path, home: Path) -> None:
    _python(programs, script="exit 49")
    _python(programs, "py", f'[ "$1" = -3 ] || exit 2; shift; exec {shlex.quote(sys.executable)} "$@"')
    done = run(shell, "--no-runtime")
    assert (done.returncode, done.stderr) == (0, "")
    command = (home / ".keepmum" / "bin" / "keepmum").read_text(encoding="utf-8")
    assert sys._base_executable in command  # type: ignore[attr-defined]  # of every CPython since 3.7


def test_vector_search_is_planned_unless_declined(run: Run, sh: Shell, programs: Path) -> None:
    _python(programs)
    wanted, unwanted = run(sh, "--dry-run"), run(sh, "--dry-run", "--no-semantic")
    assert "install vector search" in wanted.stdout
    assert "install packages" in unwanted.stdout
    assert "meaning" not in unwanted.stdout


def test_installed_command_works(run: Run, sh: Shell, programs: Path, home: Path) -> None:
    _python(programs)
    run(sh, "--no-runtime")
    command = [str(home / ".keepmum" / "bin" / "keepmum"), "--version"]
    done = subprocess.run(command, env={"HOME": str(home)}, capture_output=True, text=True, timeout=LIMIT, check=True)
    assert re.fullmatch(r"keepmum \d+\.\d+\.\d+\n", done.stdout)


def test_second_run_does_no_harm(run: Run, sh: Shell, programs: Path) -> None:
    _python(programs)
    run(sh, "--no-runtime")
    done = run(sh, "--no-runtime")
    assert (done.returncode, "Nothing to do" in done.stdout) == (0, True)


def test_removal_leaves_an_empty_home(run: Run, shell: Shell, programs: Path, home: Path) -> None:
    _python(programs)
    run(shell, "--no-runtime")
    done = run(shell, "--uninstall")
    assert (done.returncode, done.stderr) == (0, "")
    assert list(home.iterdir()) == []


def test_each_time_of_the_demonstration_is_shown(run: Run, sh: Shell, programs: Path) -> None:
    _python(programs)
    assert len(re.findall(r" +\d+\.\d ms$", run(sh, "--no-runtime", "-v").stdout, re.MULTILINE)) == 4


@pytest.mark.parametrize(
    ("script", "words"),
    [
        pytest.param("echo 'is 3.9' >&2; exit 1", "is 3.9", id="too old"),
        pytest.param("exit 49", "does not run", id="a stub for an app store"),
        pytest.param("echo Python was not found; exit 0", "Python was not found", id="a stub that succeeds"),
        pytest.param("echo 'has no SQLite' >&2; exit 1", "has no SQLite", id="a build without SQLite"),
    ],
)
def test_unusable_python_is_refused_with_the_reason(
    run: Run, sh: Shell, programs: Path, script: str, words: str
) -> None:
    _python(programs, "python3", script)
    done = run(sh, "--dry-run", KEEPMUM_PYTHON=str(programs / "python3"))
    assert done.returncode == 1
    assert f"{programs / 'python3'} {words}\n" in done.stderr
    assert "next: install one" in done.stderr


def test_unusable_python_is_skipped(run: Run, sh: Shell, programs: Path) -> None:
    _python(programs, "python3", "echo 'Python was not found'; exit 49")
    _python(programs, "python3.12")
    assert run(sh, "--dry-run").returncode == 0


def test_stub_of_macos_is_not_started(run: Run, shell: Shell, programs: Path) -> None:
    (programs / "uname").unlink()
    _python(programs, "uname", "echo Darwin")
    done = run(shell, "--dry-run", KEEPMUM_PYTHON="/usr/bin/python3")
    assert done.returncode == 1
    assert "/usr/bin/python3 only offers to install the developer tools" in done.stderr
    assert "brew install python" in done.stderr


def test_interpreter_with_a_warning_is_used(run: Run, sh: Shell, programs: Path) -> None:
    _python(programs, "python3", f"echo 'a warning' >&2; exec {shlex.quote(sys.executable)} \"$@\"")
    assert run(sh, "--dry-run", KEEPMUM_PYTHON=str(programs / "python3")).returncode == 0


def test_python_off_path_is_found_where_uv_puts_it(run: Run, sh: Shell, home: Path) -> None:
    folder = home / ".local" / "share" / "uv" / "python" / "cpython-3.13" / "bin"
    folder.mkdir(parents=True)
    _python(folder)
    assert run(sh, "--dry-run").returncode == 0


def test_named_python_is_the_only_one_tried(run: Run, sh: Shell, programs: Path) -> None:
    _python(programs)
    done = run(sh, "--dry-run", KEEPMUM_PYTHON="/nowhere/python")
    assert done.returncode == 1
    assert "/nowhere/python" in done.stderr
    assert str(programs) not in done.stderr


def test_path_with_spaces_and_quotes_works(run: Run, shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "it's mine"
    folder.mkdir()
    _python(folder)
    done = run(shell, "--dry-run", KEEPMUM_PYTHON=str(folder / "python3"))
    assert done.returncode == 0


def test_help_needs_no_python(run: Run, shell: Shell) -> None:
    done = run(shell, "--help")
    assert (done.returncode, done.stdout.startswith("usage: sh installers/install.sh")) == (0, True)


def test_help_names_every_option(run: Run, sh: Shell, programs: Path, root: Path) -> None:
    _python(programs)
    offered = set(re.findall(r"--[a-z-]+", run(sh, "--help").stdout))
    for verb in ("install", "uninstall"):
        command = [sys.executable, str(root / "installers"), verb, "--help"]
        text = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True).stdout
        assert set(re.findall(r"--[a-z-]+", text)) <= offered


@pytest.mark.parametrize("arguments", [["--bogus"], ["--scope", "world"], ["--client", "nobody"], ["--source"]])
def test_wrong_usage_is_exit_code_two(run: Run, sh: Shell, programs: Path, home: Path, arguments: list[str]) -> None:
    _python(programs)
    done = run(sh, *arguments)
    usage, problem = done.stderr.splitlines()
    assert (done.returncode, usage, list(home.iterdir())) == (2, USAGE, [])
    assert problem.startswith("install.sh: error: ")


def test_missing_home_names_the_variable_to_set(run: Run, sh: Shell, programs: Path) -> None:
    _python(programs)
    done = run(sh, HOME="")
    assert (done.returncode, "Set HOME" in done.stderr) == (1, True)


def test_home_that_cannot_be_created_is_an_error(run: Run, sh: Shell, programs: Path, tmp_path: Path) -> None:
    _python(programs)
    (tmp_path / "file").touch()
    done = run(sh, "--no-runtime", HOME=str(tmp_path / "file" / "home"))
    assert (done.returncode, "could not create" in done.stderr, "Traceback" in done.stderr) == (1, True, False)


def test_closed_output_does_not_stop_an_installation(sh: Shell, programs: Path, root: Path, home: Path) -> None:
    _python(programs)
    script = f"sh {shlex.quote(str(root / 'installers' / 'install.sh'))} --no-runtime | :"
    environ = {"HOME": str(home), "PATH": str(programs)}
    done = subprocess.run([*sh, "-c", script], env=environ, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stderr == ""
    assert os.access(home / ".keepmum" / "bin" / "keepmum", os.X_OK)


def test_missing_packages_stop_nothing(run: Run, sh: Shell, programs: Path) -> None:
    _python(programs)
    (programs / "uv").write_text(
        "#!/bin/sh\necho 'error: no network, see https://me:hidden@index.invalid/' >&2; exit 2\n"
    )
    (programs / "uv").chmod(0o755)
    done = run(sh)
    assert done.returncode == 0
    assert "no network" in done.stderr
    assert "hidden" not in done.stderr + done.stdout
    assert "Keepmum works without them" in done.stdout


def test_uv_gets_the_lock_and_the_runtime(run: Run, sh: Shell, programs: Path, home: Path) -> None:
    _python(programs)
    said = home.parent / "uv-said"
    (programs / "uv").write_text(f'#!/bin/sh\necho "$@" >{shlex.quote(str(said))}\n')
    (programs / "uv").chmod(0o755)
    run(sh)
    runtime = home / ".keepmum" / "runtime" / "bin" / "python"
    lock = home / ".keepmum" / "app" / "current" / "installers" / "locks" / "runtime.txt"
    assert said.read_text() == f"pip install --python {runtime} --require-hashes -r {lock}\n"


@pytest.fixture
def bundle(root: Path, tmp_path: Path) -> Path:
    """A clone in which nothing has run."""
    folder = tmp_path / "bundle"
    for name in ("installers", "plugin", "scanner", "hooks", ".claude-plugin"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", folder)
    return folder


def _install_from(bundle: Path, sh: Shell, home: Path, programs: Path) -> subprocess.CompletedProcess[str]:
    command = [*sh, str(bundle / "installers" / "install.sh"), "--no-runtime"]
    environ = {"HOME": str(home), "PATH": str(programs)}
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=LIMIT, check=False)


def test_installer_changes_nothing_in_its_own_folder(sh: Shell, bundle: Path, home: Path, programs: Path) -> None:
    _python(programs)
    before = sorted((bundle / "installers").rglob("*"))
    assert _install_from(bundle, sh, home, programs).returncode == 0
    assert sorted((bundle / "installers").rglob("*")) == before


def test_server_that_does_not_start_is_a_failure_with_a_next_step(
    sh: Shell, bundle: Path, home: Path, programs: Path
) -> None:
    _python(programs)
    (bundle / "plugin" / "launch.py").write_text("raise SystemExit(3)\n")
    done = _install_from(bundle, sh, home, programs)
    assert done.returncode == 1
    assert "the server exited" in done.stderr
    assert "next: " in done.stderr
