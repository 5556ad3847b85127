"""Our reader of a repository and GitPython's agree on repositories that GitPython made."""

from __future__ import annotations

import random
from pathlib import Path

import git
import pytest

from keepmum.workspace.git.repository import find_repository, git_context, remote_of

BRANCHES = ("main", "feature/login", "fix-12", "release/2026.11/rc", "größe", "v1")
NOT_FROM_THIS_MACHINE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": "/nowhere"}


def change(repository: git.Repo, rng: random.Random) -> None:
    """One step that changes HEAD, a branch, a tag, the packed refs or a remote."""
    branch = rng.choice(BRANCHES)
    match rng.randrange(7):
        case 0 | 1:
            repository.index.commit("A commit")
        case 2:
            repository.create_head(branch, force=True)
            repository.head.reference = repository.heads[branch]
        case 3:
            repository.head.reference = repository.head.commit
        case 4:
            repository.create_tag(branch, force=True, message=rng.choice((None, "A tag")))
        case 5:
            repository.git.pack_refs("--all")
        case _:
            name = f"{branch}.{rng.randrange(100)}" if rng.random() < 0.8 else "origin"
            if name not in [remote.name for remote in repository.remotes]:
                repository.create_remote(name, f"https://git.example.com/team/{branch}.git")


@pytest.mark.parametrize("seed", range(12))
def test_branch_commit_and_remote_are_those_of_gitpython(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with git.Repo.init(tmp_path / "api", initial_branch="main") as repository:
        with repository.config_writer() as settings:  # annotated tags need an author
            settings.set_value("user", "name", "A").set_value("user", "email", "a@example.com")
        repository.index.commit("The first commit")
        for _ in range(rng.randrange(4, 14)):
            change(repository, rng)
        branch = None if repository.head.is_detached else repository.active_branch.name
        commit = repository.head.commit.hexsha[:12]
        urls = {remote.name: str(remote.config_reader.get("url")) for remote in repository.remotes}
    found = git_context(str(tmp_path / "api"), NOT_FROM_THIS_MACHINE)
    assert (found.branch, found.commit) == (branch, commit)
    ours = find_repository(str(tmp_path / "api"))
    assert ours is not None
    remote = remote_of(ours, NOT_FROM_THIS_MACHINE)
    name = "origin" if "origin" in urls else min(urls, default="")
    assert (remote and (remote.name, remote.url)) == ((name, urls[name]) if urls else None)
