"""The one line that installs: piped from a server, without a clone, without a terminal, and whatever goes wrong."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keepmum_installers.app import layout
from releases import Releases, copy, publish

pytestmark = pytest.mark.heavy

LIMIT = 120  # seconds
TOOLS = ("sh", "uname", "tail", "dirname", "cat", "env", "mktemp", "rm", "cp", "sed")
Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def bundle(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy(root, tmp_path_factory.mktemp("bundle"))


@pytest.fixture(scope="module")
def published(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a server with one release, 0.1.0, to be copied: packing takes longer."""
    folder = tmp_path_factory.mktemp("published")
    publish(folder, bundle, "0.1.0")
    shutil.copy(bundle / "installers" / "install.sh", folder)
    return folder


@pytest.fixture
def releases(published: Path, tmp_path: Path) -> Iterator[Releases]:
    """A server with one release, 0.1.0."""
    server = Releases(Path(shutil.copytree(published, tmp_path / "server", symlinks=True)))
    yield server
    server.close()


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A PATH with a Python, and what the script needs; no git, curl or wget."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in TOOLS:
        (folder / name).symlink_to(shutil.which(name) or "")
    (folder / "python3").symlink_to(os.path.realpath(sys.executable))
    return folder


def _with(programs: Path, name: str) -> None:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not on this machine")
    (programs / name).symlink_to(found)


@pytest.fixture
def run(home: Path, programs: Path, tmp_path: Path, releases: Releases) -> Callable[..., Done]:
    """Runs a shell command with an empty home, outside of any clone, with nothing but `programs` on PATH."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()

    def run(script: str, **environ: str) -> Done:
        variables = {"HOME": str(home), "PATH": str(programs), "KEEPMUM_SOURCE": releases.address, **environ}
        return subprocess.run(
            ["/bin/sh", "-c", script],
            env={name: value for name, value in variables.items() if value},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )

    return run


@pytest.fixture
def piped(run: Callable[..., Done], root: Path) -> Callable[..., Done]:
    """Runs the script from a pipe, as `curl | sh -s -- OPTIONS` does."""
    script = shlex.quote(str(root / "installers" / "install.sh"))
    return lambda *options, **environ: run(
        f"cat {script} | sh -s -- {shlex.join(options or ['--no-runtime'])}", **environ
    )


def _installed(home: Path) -> str | None:
    target = layout.target(layout.current(str(home / ".keepmum")))
    return target and os.path.basename(target)


def _keepmum(home: Path, *arguments: str) -> Done:
    """The installed command."""
    command = [str(home / ".keepmum" / "bin" / "keepmum"), *arguments]
    return subprocess.run(command, env={"HOME": str(home)}, capture_output=True, text=True, timeout=LIMIT, check=False)


def _untouched(home: Path) -> bool:
    return list(home.iterdir()) == []


@pytest.mark.parametrize("line", ["curl -fsSL {}/install.sh | sh", "wget -qO- {}/install.sh | sh"])
def test_the_line_of_the_readme_installs(
    run: Callable[..., Done], releases: Releases, programs: Path, home: Path, line: str
) -> None:
    _with(programs, line.partition(" ")[0])
    done = run(line.format(releases.origin) + " -s -- --no-runtime")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Keepmum will be installed for you only, without administrator rights:\n")
    assert "a note was kept and found by a question, one with a token was refused" in done.stdout
    assert len(done.stdout.splitlines()) <= 13
    assert _installed(home) == "0.1.0"
    assert releases.asked == [
        "/install.sh",
        "/releases/latest/download/SHA256SUMS",
        "/releases/download/v0.1.0/keepmum-0.1.0.tar.gz",
    ]


def test_a_machine_with_python_only_can_fetch(piped: Callable[..., Done], home: Path) -> None:
    done = piped("--dry-run")
    assert (done.returncode, done.stderr, "Keepmum 0.1.0\n" in done.stdout) == (0, "", True)
    assert _untouched(home)


def test_what_was_installed_needs_nothing_else(piped: Callable[..., Done], home: Path, tmp_path: Path) -> None:
    (home / ".cursor").mkdir()
    copied = copy(Path(__file__).parents[2], tmp_path / "clone")
    assert piped("--no-runtime", KEEPMUM_SOURCE=str(copied)).returncode == 0
    shutil.rmtree(copied)
    for arguments in (["remember", "Deploys go first to blue"], ["doctor"]):
        done = _keepmum(home, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
    for path in (home / ".cursor").rglob("*.json"):
        assert str(copied) not in path.read_text()


def test_a_version_can_be_chosen(piped: Callable[..., Done], releases: Releases, bundle: Path, tmp_path: Path) -> None:
    releases.offer(copy(bundle, tmp_path / "newer", "0.2.0"), "0.2.0")
    assert "Keepmum 0.1.0\n" in piped("--version", "0.1.0", "--dry-run").stdout
    assert "Keepmum 0.2.0\n" in piped("--dry-run").stdout


@pytest.mark.parametrize("form", ["folder", "archive", "archive with a hash"])
def test_it_installs_offline(
    piped: Callable[..., Done], releases: Releases, bundle: Path, tmp_path: Path, form: str
) -> None:
    path = shutil.copy(next(releases.folder.rglob("*.tar.gz")), tmp_path)
    if form == "archive with a hash":
        shutil.copy(next(releases.folder.rglob("SHA256SUMS")), f"{path}.sha256")
    done = piped("--dry-run", KEEPMUM_SOURCE=str(bundle) if form == "folder" else path)
    assert (done.returncode, done.stderr, releases.asked) == (0, "", [])
    assert "put the code into ~/.keepmum/app/0.1.0\n" in done.stdout


def test_it_installs_from_a_repository(
    piped: Callable[..., Done], programs: Path, bundle: Path, tmp_path: Path
) -> None:
    _with(programs, "git")
    origin = Path(shutil.copytree(bundle, tmp_path / "work"))
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm a", "tag v0.1.0"):
        subprocess.run(["git", *command.split()], cwd=origin, check=True, timeout=LIMIT)
    origin.rename(tmp_path / "keepmum.git")
    done = piped("--version", "0.1.0", "--dry-run", KEEPMUM_SOURCE=str(tmp_path / "keepmum.git"))
    assert (done.returncode, "app/0.1.0\n" in done.stdout) == (0, True), done.stderr


def test_a_truncated_script_does_nothing(run: Callable[..., Done], root: Path, home: Path, tmp_path: Path) -> None:
    whole = (root / "installers" / "install.sh").read_text(encoding="utf-8").rstrip("\n")
    part = tmp_path / "part.sh"
    last = len(whole) - len('{ main "$@"; }')
    for length in (*range(0, last, 2003), *range(last, len(whole), 3)):
        part.write_text(whole[:length], encoding="utf-8")
        done = run(f"cat {part} | sh -s -- --no-runtime")
        assert (done.stdout, _untouched(home)) == ("", True), length


@pytest.mark.parametrize("tool", ["curl", "wget", ""])
def test_a_truncated_download_changes_nothing(
    piped: Callable[..., Done], releases: Releases, programs: Path, home: Path, tool: str
) -> None:
    if tool:
        _with(programs, tool)
    releases.truncated = True
    done = piped(TMPDIR=str(programs.parent))
    assert (done.returncode, _untouched(home)) == (1, True)
    assert "could not fetch" in done.stderr or "damaged" in done.stderr
    assert "  next: " in done.stderr
    assert not list(programs.parent.glob("tmp.*"))  # the temporary folder was removed


def test_a_wrong_hash_changes_nothing(piped: Callable[..., Done], releases: Releases, home: Path) -> None:
    path = next(releases.folder.rglob("*.tar.gz"))
    path.write_bytes(path.read_bytes() + b"\0")
    done = piped()
    assert (done.returncode, _untouched(home)) == (1, True)
    assert "the archive is damaged or not the expected one" in done.stderr


def test_a_hash_can_be_pinned(piped: Callable[..., Done], home: Path) -> None:
    done = piped(KEEPMUM_SHA256="0" * 64)
    assert (done.returncode, _untouched(home)) == (1, True)
    assert "instead of 0000" in done.stderr


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("http://127.0.0.1:9/releases", "could not fetch"),
        ("http://192.0.2.1/releases", "does not begin with https://"),
        ("/nowhere", "holds no Keepmum"),
        ("/nowhere.tar.gz", "could not be unpacked"),
    ],
)
def test_a_source_that_is_not_there_is_an_error_with_a_next_step(
    piped: Callable[..., Done], home: Path, source: str, says: str
) -> None:
    done = piped(KEEPMUM_SOURCE=source)
    assert (done.returncode, says in done.stderr, "Traceback" in done.stderr) == (1, True, False)
    assert _untouched(home)


def test_a_version_that_does_not_exist_is_an_error(piped: Callable[..., Done], home: Path) -> None:
    done = piped("--version", "9.9.9")
    assert (done.returncode, "v9.9.9/SHA256SUMS" in done.stderr, _untouched(home)) == (1, True, True)


def test_a_place_that_offers_another_version_is_refused(
    piped: Callable[..., Done], releases: Releases, home: Path
) -> None:
    folder = releases.folder / "releases" / "download"
    (folder / "v0.0.9").symlink_to(folder / "v0.1.0")
    done = piped("--version", "0.0.9")
    assert (done.returncode, "names version 0.1.0" in done.stderr, _untouched(home)) == (1, True, True)


def test_the_proxy_is_used(piped: Callable[..., Done], releases: Releases, programs: Path, home: Path) -> None:
    _with(programs, "curl")
    done = piped(KEEPMUM_SOURCE="http://127.0.0.1:9/releases", http_proxy=releases.origin)
    assert done.returncode == 1  # the proxy of this test knows the paths of its own address only
    assert releases.asked == ["http://127.0.0.1:9/releases/latest/download/SHA256SUMS"]
    assert _untouched(home)


def test_files_of_the_working_folder_are_not_run(piped: Callable[..., Done], tmp_path: Path) -> None:
    for name in ("sh", "install.sh", "__main__.py", "keepmum_installers/install.py", "installers/__main__.py"):
        path = tmp_path / "elsewhere" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("raise SystemExit('hostile')\n")
    done = piped("--dry-run")
    assert (done.returncode, done.stderr, "app/0.1.0\n" in done.stdout) == (0, "", True)


def test_a_full_disk_is_an_error_and_leaves_no_half_version(run: Callable[..., Done], root: Path, home: Path) -> None:
    # No file may be longer than this many blocks of 512 bytes, which the archive's list of hashes is not.
    script = shlex.quote(str(root / "installers" / "install.sh"))
    done = run(f"ulimit -f 100; sh {script} --no-runtime", KEEPMUM_SOURCE="")
    assert (done.returncode, "could not copy the code" in done.stderr, "Traceback" in done.stderr) == (1, True, False)
    assert [path.name for path in (home / ".keepmum" / "app").iterdir()] == []


def test_a_home_that_is_not_a_folder_is_an_error(piped: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = piped(HOME=str(tmp_path / "file"))
    assert (done.returncode, "could not create" in done.stderr, "Traceback" in done.stderr) == (1, True, False)


def test_others_cannot_write_the_code_whatever_the_umask_is(run: Callable[..., Done], root: Path, home: Path) -> None:
    script = shlex.quote(str(root / "installers" / "install.sh"))
    assert run(f"umask 0; sh {script} --no-runtime", KEEPMUM_SOURCE="").returncode == 0
    paths = [path for path in (home / ".keepmum").rglob("*") if not path.is_symlink()]
    assert [path for path in paths if path.stat().st_mode & 0o022] == []


def test_two_installations_at_once_agree(root: Path, home: Path, programs: Path) -> None:
    command = ["/bin/sh", str(root / "installers" / "install.sh"), "--no-runtime"]
    environ = {"HOME": str(home), "PATH": str(programs)}
    children = [subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [child.wait(LIMIT) for child in children] == [0, 0]
    assert sorted(path.name for path in (home / ".keepmum" / "app").iterdir()) == ["0.1.0", "current"]


def test_a_clone_can_be_run_in_place(run: Callable[..., Done], root: Path, home: Path) -> None:
    script = shlex.quote(str(root / "installers" / "install.sh"))
    done = run(f"sh {script} --no-runtime --develop", KEEPMUM_SOURCE="")
    assert (done.returncode, done.stderr, _installed(home)) == (0, "", None)
    assert str(root / "plugin" / "launch.py") in (home / ".keepmum" / "bin" / "keepmum").read_text()


def test_a_temporary_folder_cannot_be_run_in_place(piped: Callable[..., Done], home: Path) -> None:
    done = piped("--develop")
    assert (done.returncode, "needs a folder that stays" in done.stderr, _untouched(home)) == (1, True, True)


def test_the_piped_script_removes_everything(piped: Callable[..., Done], home: Path) -> None:
    piped()
    done = piped("--uninstall")
    assert (done.returncode, done.stderr, _untouched(home)) == (0, "", True)


def test_the_package_installs_itself(root: Path, tmp_path: Path, home: Path, programs: Path) -> None:
    """As `uvx keepmum install` and `pipx run keepmum install`: from what the wheel holds, which is removed later."""
    packages = _as_in_a_wheel(root, tmp_path / "packages")
    command = [sys.executable, "-I", "-c", _FROM_PACKAGES, str(packages), "install", "--no-runtime"]
    environ = {"HOME": str(home), "PATH": str(programs)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert (done.returncode, done.stderr, _installed(home)) == (0, "", "0.1.0")
    shutil.rmtree(packages)
    assert _keepmum(home, "doctor").returncode == 0


_FROM_PACKAGES = "import sys; sys.path.insert(0, sys.argv.pop(1)); from keepmum.cli.main import run; run()"


def _as_in_a_wheel(root: Path, folder: Path) -> Path:
    """The files of a wheel, as `pyproject.toml` tells the build to put them."""
    import tomllib

    wheel = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    places = {name: name.rpartition("/")[2] for name in wheel["wheel"]["packages"]}
    for source, target in (places | wheel["wheel"]["force-include"]).items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        if (root / source).is_dir():
            shutil.copytree(root / source, folder / target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(root / source, folder / target)
    return folder


def test_a_wheel_holds_what_a_clone_does(root: Path, tmp_path: Path) -> None:
    from keepmum_installers.app.bundle import bundle_at

    packages = _as_in_a_wheel(root, tmp_path / "packages")
    command = [sys.executable, "-I", "-c", _NAMES, str(packages)]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True).stdout
    assert set(listed.split()) == set(bundle_at(str(root)).paths)


_NAMES = (
    "import sys; sys.path.insert(0, sys.argv[1]); from keepmum_installers.app.bundle import own_bundle; "
    "print(*own_bundle().paths)"
)
