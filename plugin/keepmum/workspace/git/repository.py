"""Facts about a folder's git repository: its location, remote, branch and commit.

They are read from `.git`, `commondir`, `config`, `HEAD` and the refs; no code of the repository is run. `git` is run,
once, only when the configuration includes other files, the refs are in a reftable, or changed files are wanted.
Source: https://git-scm.com/docs/gitrepository-layout, read 2026-11-21.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from keepmum.system.folders import real_folder, upward, user_home
from keepmum.workspace.git import config, process

__all__ = ["GitContext", "Remote", "Repository", "changed_files", "find_repository", "git_context", "remote_of"]

_MAX_BYTES = 16 << 20  # read from one file; enough for the packed refs of the largest repositories
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")
_SUBMODULE = re.compile(r"/\.git/(?:worktrees/[^/]+/)?modules/")
_SHORT_COMMIT = 12  # digits, unique in any known repository


@dataclass(frozen=True, slots=True)
class Repository:
    """The folders of a repository, as real paths."""

    root: str  # the top of the working tree, or the bare repository
    git_dir: str  # of this working tree
    common_dir: str  # shared by all working trees of the repository

    @property
    def linked(self) -> bool:
        """Whether this working tree was created by `git worktree add`."""
        return self.git_dir != self.common_dir

    @property
    def is_submodule(self) -> bool:
        """Whether this is a submodule of another repository."""
        return _SUBMODULE.search(self.git_dir.replace(os.sep, "/")) is not None and self.git_dir != self.root


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote of a repository. The URL may contain a password, so it is neither shown nor stored."""

    name: str
    url: str

    def __repr__(self) -> str:
        return f"Remote(name={self.name!r})"


@dataclass(frozen=True, slots=True)
class GitContext:
    """The branch, None when detached, and 12 digits of the commit, None before the first one."""

    branch: str | None = None
    commit: str | None = None


def find_repository(start: str) -> Repository | None:
    """The repository that contains `start`, or None; pointers to missing repositories are skipped."""
    for folder in upward(real_folder(start)):
        git_dir = _git_dir_of(folder)
        if git_dir is not None:
            inside_it = git_dir == folder and os.path.basename(folder) == ".git"
            return Repository(os.path.dirname(folder) if inside_it else folder, git_dir, _common_dir(git_dir))
    return None


def remote_of(repository: Repository, environ: Mapping[str, str]) -> Remote | None:
    """The remote that identifies the repository: `origin`, else the first by name."""
    entries = _configuration(repository, environ)
    urls: dict[str, str] = {}
    for key, value in entries:
        if key.startswith("remote.") and key.endswith(".url") and value:
            urls.setdefault(key[len("remote.") : -len(".url")], value)  # git fetches from the first URL
    if not urls:
        return None
    name = "origin" if "origin" in urls else min(urls)
    return Remote(name, _with_instead_of(urls[name], entries))


def git_context(root: str, environ: Mapping[str, str] = os.environ) -> GitContext:
    """Branch and commit that are checked out at `root`; both None where there is no repository."""
    repository = find_repository(root)
    if repository is None:
        return GitContext()
    head = _text(os.path.join(repository.git_dir, "HEAD")).strip()
    if head == "ref: refs/heads/.invalid":  # written for old readers when the refs are in a reftable
        return _context_from_git(repository, environ)
    if not head.startswith("ref:"):
        return GitContext(None, _short(head))
    ref = head.removeprefix("ref:").strip()
    return GitContext(ref.removeprefix("refs/heads/"), _short(_commit_of(ref, repository)))


def changed_files(root: str, environ: Mapping[str, str] = os.environ) -> list[str] | None:
    """As `process.changed_files`; None also where there is no working tree."""
    repository = find_repository(root)
    if repository is None or repository.root == repository.git_dir:
        return None
    return process.changed_files(repository.git_dir, repository.root, environ)


def _git_dir_of(folder: str) -> str | None:
    marker = os.path.join(folder, ".git")
    if os.path.isfile(marker):
        pointer = _text(marker).strip()
        target = real_folder(os.path.join(folder, pointer.removeprefix("gitdir:").strip()))
        return target if pointer.startswith("gitdir:") and _is_git_dir(target) else None
    if _is_git_dir(marker):
        return os.path.realpath(marker)
    return folder if _is_git_dir(folder) else None


def _is_git_dir(folder: str) -> bool:
    """Whether git would accept `folder` as a repository."""
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return False
    return os.path.isfile(os.path.join(folder, "commondir")) or all(
        os.path.isdir(os.path.join(folder, name)) for name in ("objects", "refs")
    )


def _common_dir(git_dir: str) -> str:
    pointer = _text(os.path.join(git_dir, "commondir")).strip()
    return real_folder(os.path.join(git_dir, pointer)) if pointer else git_dir


def _configuration(repository: Repository, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """The settings that can define a remote, weakest file first, like git."""
    entries = [entry for path in _config_files(repository, environ) for entry in config.parse(_text(path))]
    includes = any(key.startswith(("include.", "includeif.")) for key, _ in entries)
    if includes or "GIT_CONFIG_COUNT" in environ:  # the latter defines settings in variables
        pattern = r"^(remote\..*\.url|url\..*\.insteadof)$"
        answer = process.run_git(
            ["config", "-z", "--get-regexp", pattern], repository.git_dir, repository.root, environ
        )
        if answer is not None:
            return [(key, value) for key, _, value in (item.partition("\n") for item in answer.split("\0")) if key]
    return entries


def _config_files(repository: Repository, environ: Mapping[str, str]) -> Iterable[str]:
    """Source: https://git-scm.com/docs/git-config ("FILES"), read 2026-11-21."""
    home = user_home(environ)
    if environ.get("GIT_CONFIG_NOSYSTEM", "0").lower() in {"", "0", "false", "no", "off"}:
        yield environ.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig")
    if "GIT_CONFIG_GLOBAL" in environ:
        yield environ["GIT_CONFIG_GLOBAL"]
    elif home:
        yield os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git", "config")
        yield os.path.join(home, ".gitconfig")
    yield os.path.join(repository.common_dir, "config")
    yield os.path.join(repository.git_dir, "config.worktree")


def _with_instead_of(url: str, entries: list[tuple[str, str]]) -> str:
    """`url` with the longest matching `url.<base>.insteadOf` prefix replaced by its base, like git."""
    bases = {
        value: key[len("url.") : -len(".insteadof")]
        for key, value in entries
        if key.startswith("url.") and key.endswith(".insteadof") and value and url.startswith(value)
    }
    if not bases:
        return url
    longest = max(bases, key=len)
    return bases[longest] + url[len(longest) :]


def _commit_of(ref: str, repository: Repository) -> str:
    for folder in (repository.git_dir, repository.common_dir):
        loose = _text(os.path.join(folder, *ref.split("/"))).strip() if ".." not in ref else ""
        if loose:
            return loose
    for line in _text(os.path.join(repository.common_dir, "packed-refs")).splitlines():
        commit, _, name = line.partition(" ")
        if name == ref:
            return commit
    return ""


def _context_from_git(repository: Repository, environ: Mapping[str, str]) -> GitContext:
    question = ["rev-parse", "HEAD", "--symbolic-full-name", "HEAD"]
    answer = process.run_git(question, repository.git_dir, repository.root, environ)
    if answer is None:
        return GitContext()
    commit, _, ref = answer.strip().partition("\n")
    return GitContext(ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else None, _short(commit))


def _short(commit: str) -> str | None:
    return commit[:_SHORT_COMMIT] if _COMMIT.fullmatch(commit) else None


def _text(path: str) -> str:
    """The first 16 MiB of a file; empty when it is missing, unreadable or not a regular file."""
    if not os.path.isfile(path):  # opening a pipe would wait for a writer
        return ""
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
