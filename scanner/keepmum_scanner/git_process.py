"""Starts git, for every part of Keepmum; no repository can make it start another program.

A repository's configuration can name programs: filters, hooks, monitors, textconv, remote helpers and more, with each
version of git. So git reads that configuration only in commands that report settings and names. Every other command
runs in a `view`: a temporary git folder with a configuration of ours, which refers to the repository's index and
objects. A filter never runs, so a file that a filter changes (Git LFS) counts as changed once it was touched.

The program is taken from an absolute entry of PATH outside the work tree, starts without the caller's git variables,
and may not contact a server.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Ask = Callable[..., str]
    Run = Callable[..., bytes]

__all__ = ["LOCATION", "GitFailed", "find_program", "run", "view"]

# The variables that name another repository, index or object folder; git sets some of them for hooks.
LOCATION = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
)  # fmt: skip
_SAFE = {
    "GIT_ALLOW_PROTOCOL": ":",  # none: a missing object would be fetched, by a command from the configuration
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# The settings that decide how files compare with the index. None of them names a program; each value is one word.
_SETTINGS = (
    "core.autocrlf", "core.checkstat", "core.eol", "core.filemode", "core.ignorecase", "core.longpaths",
    "core.precomposeunicode", "core.symlinks", "core.trustctime", "extensions.objectformat",
)  # fmt: skip
_EXCLUDES = "core.excludesfile"
_COPIED = ("info/exclude", "info/attributes", "shallow")
_TIMEOUT = 60.0  # seconds


class GitFailed(Exception):
    """Git gave no answer; the message says why. `status` is its exit status, None when it was not run to its end."""

    def __init__(self, why: str, status: int | None = None) -> None:
        super().__init__(why)
        self.status = status


def run(  # noqa: PLR0913, PLR0917 - how a process is started
    arguments: Sequence[str],
    cwd: str,
    environ: Mapping[str, str] = os.environ,
    variables: Mapping[str, str] | None = None,
    timeout: float = _TIMEOUT,
    text: bytes | None = None,
) -> bytes:
    """The output of git.

    Args:
        arguments: a command that reads the repository's configuration, such as `config`, only if it starts no program.
        cwd: the folder to run in; no program inside its work tree is started.
        environ: everything but git's own variables is taken from here.
        variables: git's own variables, such as `GIT_DIR`.
        timeout: seconds, after which git and all its children are killed.
        text: what git reads from its standard input.

    Raises: GitFailed.
    """
    program = find_program("git", cwd, environ)
    if program is None:
        raise GitFailed("git is not installed, or only in a folder of the repository")
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    try:
        with subprocess.Popen(
            [program, "--no-pager", *arguments],
            # Not inherited: a server's own standard input carries its protocol.
            stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env={**kept, **(variables or {}), **_SAFE, "PATH": os.pathsep.join(_safe_path(cwd, environ))},
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # no console window on Windows
        ) as child:
            try:
                output = child.communicate(text, timeout=timeout)[0]
            except BaseException:  # also Ctrl-C, which does not reach another session
                _kill(child)
                raise
    except (OSError, ValueError, subprocess.TimeoutExpired):
        raise GitFailed("git cannot be started, or takes too long") from None
    if child.returncode != 0:
        raise GitFailed("git failed: not a repository, or a damaged one", child.returncode)
    return output


@contextlib.contextmanager
def view(
    cwd: str,
    environ: Mapping[str, str] = os.environ,
    variables: Mapping[str, str] | None = None,
    timeout: float = _TIMEOUT,
) -> Iterator[tuple[str, Run]]:
    """The top of the work tree around `cwd`, and a function that runs git there in safety: `run("status", "-z")`.

    The arguments are those of `run`. The function takes another folder of the work tree as `cwd`,
    and `text` as `run` does.

    Raises: GitFailed.
    """
    # The user's own variables may name other files of settings, or hold some.
    own = {name: value for name, value in environ.items() if name.startswith("GIT_CONFIG")}

    def ask(*arguments: str) -> str:
        output = run(arguments, cwd, environ, {**own, **(variables or {})}, timeout)
        return output.decode("utf-8", "surrogateescape")

    top, paths, head = _locate(ask, cwd)
    settings = _settings(ask)
    excludes = _excludes(settings.pop(_EXCLUDES, ""), environ)
    folder = _temporary_folder()
    inside = {
        **{name: value for name, value in (variables or {}).items() if name == LOCATION[-1]},
        "GIT_DIR": folder,
        "GIT_WORK_TREE": top,
        "GIT_INDEX_FILE": paths["index"],
        "GIT_OBJECT_DIRECTORY": paths["objects"],
        # Nor the user's own configuration: its filters take further commands from the repository's.
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": folder,
        "XDG_CONFIG_HOME": folder,
    }

    def answer(*arguments: str, cwd: str = cwd, text: bytes | None = None) -> bytes:
        return run(("-c", f"{_EXCLUDES}={excludes}", *arguments), cwd, environ, inside, timeout, text)

    try:
        _write(folder, paths, head, settings)
        yield top, answer
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _locate(ask: Ask, cwd: str) -> tuple[str, dict[str, str], str]:
    """The top of the work tree, the paths of files of its git folder, and the commit, "" before the first.

    Raises: GitFailed.
    """
    names = ("index", "objects", *_COPIED)
    paths = [word for name in names for word in ("--git-path", name)]
    # `--revs-only` skips HEAD before the first commit.
    top, *found = ask("rev-parse", "--show-toplevel", *paths, "--revs-only", "HEAD").rstrip("\n").split("\n")
    if len(found) not in (len(names), len(names) + 1):
        raise GitFailed("the path of the repository has a line break")
    head = found[len(names)] if len(found) > len(names) else ""
    return top, {name: os.path.abspath(os.path.join(cwd, path)) for name, path in zip(names, found)}, head


def _settings(ask: Ask) -> dict[str, str]:
    """The values that the repository and the user chose for the settings that a view keeps."""
    names = "|".join((*_SETTINGS, _EXCLUDES)).replace(".", "[.]")
    try:
        output = ask("config", "-z", "--get-regexp", f"^({names})$")
    except GitFailed as failed:
        if failed.status != 1:
            raise  # it took too long: without the settings, files that are ignored would be named
        return {}  # none of them is set
    pairs = (entry.partition("\n") for entry in output.split("\0") if entry)
    return {name: value if separator else "true" for name, separator, value in pairs}


def _excludes(path: str, environ: Mapping[str, str]) -> str:
    """The user's file of ignored names. Source: https://git-scm.com/docs/gitignore, read 2026-11-22."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    if path.startswith("~/"):
        return home + path[1:]
    return path or os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git", "ignore")


def _temporary_folder() -> str:
    try:
        return tempfile.mkdtemp(prefix="keepmum-git-")
    except OSError:
        raise GitFailed("no temporary folder can be created") from None


def _write(folder: str, paths: Mapping[str, str], head: str, settings: Mapping[str, str]) -> None:
    """Create the files that git requires in a git folder, and those that say which files are ignored.

    Raises: GitFailed.
    """
    lines = ["[core]", "\trepositoryformatversion = 1", "\tbare = false"]
    for name, value in settings.items():
        if value.isascii() and value.replace("-", "").isalnum():
            section, _, key = name.partition(".")
            lines += [f"[{section}]", f"\t{key} = {value}"]
    index = os.path.dirname(paths["index"])
    try:
        os.mkdir(os.path.join(folder, "refs"))
        os.mkdir(os.path.join(folder, "info"))
        _put(folder, "config", "\n".join(lines).encode())
        _put(folder, "HEAD", (head or "ref: refs/heads/none").encode())
        for name in _COPIED:
            if os.path.isfile(paths[name]):
                shutil.copyfile(paths[name], os.path.join(folder, name))
        for name in os.listdir(index):
            if name.startswith("sharedindex."):  # the larger part of an index that is split
                shutil.copyfile(os.path.join(index, name), os.path.join(folder, name))
    except OSError:
        raise GitFailed("the repository cannot be read") from None


def _put(folder: str, name: str, content: bytes) -> None:
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content + b"\n")


def _safe_path(cwd: str, environ: Mapping[str, str]) -> list[str]:
    """The absolute entries of PATH outside the work trees around `cwd`."""
    trees = _work_trees(os.path.realpath(cwd), environ)
    entries = environ.get("PATH", os.defpath).split(os.pathsep)
    return [entry for entry in entries if os.path.isabs(entry) and not _is_in_any(entry, trees)]


def find_program(name: str, cwd: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """The program in an absolute entry of PATH outside the work trees around `cwd`; None when there is none."""
    trees = _work_trees(os.path.realpath(cwd), environ)
    for entry in _safe_path(cwd, environ):
        path = os.path.join(entry, name + ".exe" if os.name == "nt" else name)
        if os.path.isfile(path) and os.access(path, os.X_OK) and not _is_in_any(path, trees):
            return path
    return None


def _work_trees(cwd: str, environ: Mapping[str, str]) -> list[str]:
    """The folders whose programs are not run: the work trees around `cwd`, or `cwd` itself where there is none.

    A home folder that is a repository, as some users have it, counts only if there is no other.
    """
    folders = [cwd]
    while os.path.dirname(folders[-1]) != folders[-1]:
        folders.append(os.path.dirname(folders[-1]))
    home = os.path.realpath(environ.get("HOME") or environ.get("USERPROFILE") or os.sep)
    found = [folder for folder in folders if os.path.lexists(os.path.join(folder, ".git"))] or folders[:1]
    return found[:1] + [folder for folder in found[1:] if not _is_in_any(home, [folder])]


def _is_in_any(path: str, folders: list[str]) -> bool:
    """Whether the path, as it is written or without symbolic links, is one of the folders or below it."""
    spellings = {os.path.abspath(path), os.path.realpath(path)}
    return any((one + os.sep).startswith(folder.rstrip(os.sep) + os.sep) for one in spellings for folder in folders)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill the process group, since `git` may be a wrapper script with children of its own."""
    if os.name != "nt":
        import signal

        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
