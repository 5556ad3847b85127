"""Which project a folder belongs to, tested on real repositories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum.core.errors import InvalidInput
from keepmum.workspace.project import UNPLACED, Project, find_project, working_folder
from keepmum.workspace.settings import load

Git = Callable[..., str]
GITHUB = "https://github.com/acme/api.git"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {
        "HOME": str(tmp_path / "home"),
        "KEEPMUM_HOME": str(tmp_path / "state"),
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
    }


@pytest.fixture
def git(environ: dict[str, str]) -> Git:
    """Runs git in a folder, with an empty home."""
    person = {
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    first = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always")

    def run(folder: Path, *arguments: str) -> str:
        command = ["git", *first, *arguments]
        done = subprocess.run(
            command, cwd=folder, env=environ | person, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout.strip()

    return run


@pytest.fixture
def make(tmp_path: Path, git: Git) -> Callable[..., Path]:
    """Creates a repository with one commit and these remotes."""

    def repository(path: str, **remotes: str) -> Path:
        folder = tmp_path / path
        folder.mkdir(parents=True)
        git(folder, "init", "-q")
        git(folder, "commit", "-q", "--allow-empty", "-m", "first")
        for name, url in remotes.items():
            git(folder, "remote", "add", name, url)
        return folder

    return repository


Make = Callable[..., Path]


def project_of(start: Path | str, environ: dict[str, str], *client_roots: str, chosen: str | None = None) -> Project:
    settings = load(environ, working_folder(str(start), environ, client_roots))
    return find_project(str(start), environ, settings, client_roots, chosen)


# --- git ---


def test_a_repository_is_identified_by_its_remote(make: Make, environ: dict[str, str]) -> None:
    root = make("work", origin=GITHUB)
    assert project_of(root, environ) == Project("github.com/acme/api", "api", str(root), "git remote origin")


def test_a_folder_of_a_repository_is_the_same_project(make: Make, environ: dict[str, str]) -> None:
    root = make("work", origin=GITHUB)
    (root / "apps" / "web").mkdir(parents=True)
    assert project_of(root / "apps" / "web", environ) == project_of(root, environ)


@pytest.mark.parametrize("remotes", [{}, {"origin": GITHUB}], ids=["no remote", "remote"])
@pytest.mark.parametrize("place", ["elsewhere", "api/.trees/one"], ids=["next to it", "inside"])
def test_working_trees_of_one_repository_share(
    make: Make, git: Git, environ: dict[str, str], tmp_path: Path, *, place: str, remotes: dict[str, str]
) -> None:
    root = make("api", **remotes)
    git(root, "worktree", "add", "-q", str(tmp_path / place))
    tree = project_of(tmp_path / place, environ)
    assert (tree.id, tree.name) == (project_of(root, environ).id, "api")


def test_the_root_of_a_working_tree_is_its_own_folder(
    make: Make, git: Git, environ: dict[str, str], tmp_path: Path
) -> None:
    git(make("api"), "worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "tree" / "sub").mkdir()
    assert project_of(tmp_path / "tree" / "sub", environ).root == str(tmp_path / "tree")


def test_a_working_tree_that_lost_its_repository_is_a_plain_folder(
    make: Make, git: Git, environ: dict[str, str], tmp_path: Path
) -> None:
    root = make("api")
    git(root, "worktree", "add", "-q", str(tmp_path / "tree"))
    root.rename(tmp_path / "moved")
    assert project_of(tmp_path / "tree", environ).source == "working folder"


def test_a_submodule_is_its_own_project(make: Make, git: Git, environ: dict[str, str]) -> None:
    library, around = make("library"), make("around", origin=GITHUB)
    git(around, "submodule", "--quiet", "add", str(library), "vendor/library")
    inner = project_of(around / "vendor" / "library", environ)
    assert inner.id != project_of(around, environ).id
    assert inner.root == str(around / "vendor" / "library")


def test_the_name_of_the_repository_around_does_not_name_a_submodule(
    make: Make, git: Git, environ: dict[str, str]
) -> None:
    library, around = make("library"), make("around")
    git(around, "submodule", "--quiet", "add", str(library), "vendor/library")
    (around / ".keepmum.toml").write_text("project = 'around'", encoding="utf-8")
    assert project_of(around / "vendor" / "library", environ).name == "library"


def test_a_submodule_can_be_named(make: Make, git: Git, environ: dict[str, str]) -> None:
    library, around = make("library"), make("around")
    git(around, "submodule", "--quiet", "add", str(library), "vendor/library")
    (around / "vendor" / "library" / ".keepmum.toml").write_text("project = 'around'", encoding="utf-8")
    assert project_of(around / "vendor" / "library", environ).id == "around"


def test_a_bare_repository_is_a_project(make: Make, git: Git, environ: dict[str, str], tmp_path: Path) -> None:
    git(make("api"), "clone", "-q", "--bare", ".", str(tmp_path / "store" / "api.git"))
    git(tmp_path / "store" / "api.git", "remote", "remove", "origin")
    found = project_of(tmp_path / "store" / "api.git" / "refs", environ)
    assert (found.name, found.root) == ("api", str(tmp_path / "store" / "api.git"))


def test_working_trees_around_a_hidden_bare_repository_share(
    make: Make, git: Git, environ: dict[str, str], tmp_path: Path
) -> None:
    source = make("source", origin=GITHUB)
    (tmp_path / "api").mkdir()
    git(source, "clone", "-q", "--bare", ".", str(tmp_path / "api" / ".bare"))
    git(tmp_path / "api" / ".bare", "remote", "remove", "origin")
    (tmp_path / "api" / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    git(tmp_path / "api", "worktree", "add", "-q", "one")
    git(tmp_path / "api", "worktree", "add", "-q", "two")
    trees = [project_of(tmp_path / "api" / tree, environ) for tree in ("one", "two")]
    assert [tree.name for tree in trees] == ["api", "api"]
    assert trees[0].id == trees[1].id == project_of(tmp_path / "api", environ).id


def test_inside_the_git_folder_is_inside_the_project(make: Make, environ: dict[str, str]) -> None:
    root = make("api")
    assert project_of(root / ".git" / "refs", environ) == project_of(root, environ)


def test_a_git_folder_kept_elsewhere_is_followed(git: Git, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    git(tmp_path / "api", "init", "-q", "--separate-git-dir", str(tmp_path / "kept"))
    assert project_of(tmp_path / "api", environ).name == "api"


def test_repositories_with_one_name_are_two_projects(make: Make, environ: dict[str, str]) -> None:
    one, two = project_of(make("a/api"), environ), project_of(make("b/api"), environ)
    assert one.name == two.name == "api"
    assert one.id != two.id


def test_a_clone_of_a_local_repository_shares_with_it(
    make: Make, git: Git, environ: dict[str, str], tmp_path: Path
) -> None:
    root = make("api")
    git(tmp_path, "clone", "-q", str(root), "copy")
    assert project_of(tmp_path / "copy", environ).id == project_of(root, environ).id


def test_a_symbolic_link_leads_to_the_project(make: Make, environ: dict[str, str], tmp_path: Path) -> None:
    root = make("api")
    (root / "sub").mkdir()
    (tmp_path / "link").symlink_to(root / "sub")
    assert project_of(tmp_path / "link", environ) == project_of(root, environ)


def test_a_deleted_folder_still_belongs_to_its_repository(make: Make, environ: dict[str, str]) -> None:
    root = make("api")
    assert project_of(root / "gone" / "too", environ) == project_of(root, environ)


@pytest.mark.parametrize(
    ("remotes", "chosen"),
    [
        pytest.param({"zeta": GITHUB, "origin": "https://github.com/me/api"}, "me", id="origin"),
        pytest.param({"upstream": GITHUB}, "acme", id="the only one"),
        pytest.param({"zeta": "https://github.com/z/api", "alpha": "https://github.com/a/api"}, "a", id="by name"),
    ],
)
def test_one_of_several_remotes_decides(
    make: Make, environ: dict[str, str], remotes: dict[str, str], chosen: str
) -> None:
    assert project_of(make("work", **remotes), environ).id == f"github.com/{chosen}/api"


def test_insteadof_is_applied(make: Make, git: Git, environ: dict[str, str]) -> None:
    root = make("work", origin="gh:acme/api")
    (Path(environ["HOME"]) / ".gitconfig").write_text(
        '[url "https://example.com/"]\n\tinsteadOf = g\n[url "git@github.com:"]\n\tinsteadOf = gh:\n', encoding="utf-8"
    )
    assert git(root, "remote", "get-url", "origin") == "git@github.com:acme/api"
    assert project_of(root, environ).id == "github.com/acme/api"


@pytest.mark.parametrize("where", ["user", "repository"])
def test_an_included_file_is_read_by_git(
    make: Make, git: Git, environ: dict[str, str], tmp_path: Path, where: str
) -> None:
    root = make("work", origin="gh:acme/api")
    (tmp_path / "extra").write_text('[url "ssh://git@github.com/"]\n\tinsteadOf = gh:\n', encoding="utf-8")
    git(root, "config", "--global" if where == "user" else "--local", "include.path", str(tmp_path / "extra"))
    assert project_of(root, environ).id == "github.com/acme/api"


def test_a_conditional_include_is_judged_by_git(make: Make, git: Git, environ: dict[str, str], tmp_path: Path) -> None:
    here, there = make("here/api", origin="co:api"), make("there/api", origin="co:api")
    (tmp_path / "extra").write_text('[url "https://git.corp.example/team/"]\n\tinsteadOf = co:\n', encoding="utf-8")
    git(here, "config", "--global", f"includeIf.gitdir:{tmp_path}/here/.path", str(tmp_path / "extra"))
    assert project_of(here, environ).id == "git.corp.example/team/api"
    assert project_of(there, environ).id == "co/api"


def test_a_configuration_in_variables_is_read_by_git(make: Make, environ: dict[str, str]) -> None:
    variables = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "url.git@github.com:.insteadOf",
        "GIT_CONFIG_VALUE_0": "gh:",
    }
    assert project_of(make("work", origin="gh:acme/api"), environ | variables).id == "github.com/acme/api"


def test_without_git_an_include_is_passed_over(make: Make, git: Git, environ: dict[str, str], tmp_path: Path) -> None:
    root = make("work", origin=GITHUB)
    git(root, "config", "include.path", str(tmp_path / "extra"))
    assert project_of(root, environ | {"PATH": str(tmp_path)}).id == "github.com/acme/api"


def test_a_program_of_the_repository_is_never_run(make: Make, git: Git, environ: dict[str, str]) -> None:
    root = make("work", origin=GITHUB)
    git(root, "config", "include.path", "extra")
    (root / "git").write_text(f"#!/bin/sh\ntouch {root}/ran\n", encoding="utf-8")
    (root / "git").chmod(0o755)
    project_of(root, environ | {"PATH": f".{os.pathsep}{root}{os.pathsep}{environ['PATH']}"})
    assert not (root / "ran").exists()


def test_a_hanging_git_is_stopped(
    make: Make, git: Git, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make("work", origin=GITHUB)
    git(root, "config", "include.path", "extra")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\nsleep 60 & wait\n", encoding="utf-8")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setattr("keepmum.workspace.git.process._TIMEOUT", 0.1)
    assert project_of(root, environ | {"PATH": f"{tmp_path / 'bin'}:{environ['PATH']}"}).id == "github.com/acme/api"


@pytest.mark.parametrize("content", ['[remote "origin"]\nurl = "', "\0\0\xff", "[", "", '[remote "origin"]\nurl'])
def test_a_damaged_configuration_leaves_the_folder(make: Make, environ: dict[str, str], content: str) -> None:
    root = make("api", origin=GITHUB)
    (root / ".git" / "config").write_text(content, encoding="latin-1")
    assert project_of(root, environ).source == "git folder"


def test_a_configuration_that_is_a_pipe_is_not_opened(make: Make, environ: dict[str, str]) -> None:
    root = make("api")
    (root / ".git" / "config").unlink()
    os.mkfifo(root / ".git" / "config")
    assert project_of(root, environ).source == "git folder"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_configuration_leaves_the_folder(make: Make, environ: dict[str, str]) -> None:
    root = make("api", origin=GITHUB)
    (root / ".git" / "config").chmod(0)
    assert project_of(root, environ).source == "git folder"


def test_a_folder_that_becomes_a_repository_stays_the_same_project(
    git: Git, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "api").mkdir()
    before = project_of(tmp_path / "api", environ).id
    git(tmp_path / "api", "init", "-q")
    assert project_of(tmp_path / "api", environ).id == before


# --- explicit projects ---


def test_a_nearer_project_file_names_a_part_of_a_repository(make: Make, environ: dict[str, str]) -> None:
    root = make("mono", origin=GITHUB)
    (root / "web" / "src").mkdir(parents=True)
    (root / "web" / ".keepmum.toml").write_text("\nproject = 'web'", encoding="utf-8")
    source = f"{root / 'web' / '.keepmum.toml'}:2"
    assert project_of(root / "web" / "src", environ) == Project("web", "web", str(root / "web"), source)
    assert project_of(root, environ).id == "github.com/acme/api"


def test_a_project_file_without_a_name_leaves_it_to_git(make: Make, environ: dict[str, str]) -> None:
    root = make("api", origin=GITHUB)
    (root / "web").mkdir()
    (root / "web" / ".keepmum.toml").write_text("scope = 'shared'", encoding="utf-8")
    assert project_of(root / "web", environ).id == "github.com/acme/api"


def test_a_project_file_above_several_repositories_makes_them_one(
    make: Make, environ: dict[str, str], tmp_path: Path
) -> None:
    one, two = make("work/api"), make("work/web")
    (tmp_path / "work" / ".keepmum.toml").write_text("project = 'acme'", encoding="utf-8")
    assert project_of(one, environ) == project_of(two, environ)


def test_the_variable_beats_the_project_file(make: Make, environ: dict[str, str]) -> None:
    root = make("api")
    (root / ".keepmum.toml").write_text("project = 'file'", encoding="utf-8")
    found = project_of(root, environ | {"KEEPMUM_PROJECT": "variable"})
    assert found == Project("variable", "variable", str(root), "KEEPMUM_PROJECT")


def test_the_argument_beats_everything(make: Make, environ: dict[str, str]) -> None:
    found = project_of(make("api"), environ | {"KEEPMUM_PROJECT": "variable"}, chosen="argument")
    assert (found.id, found.source) == ("argument", "argument")


def test_an_argument_may_be_an_id(make: Make, environ: dict[str, str]) -> None:
    found = project_of(make("api"), environ, chosen="github.com/acme/web")
    assert (found.id, found.name) == ("github.com/acme/web", "web")


def test_an_argument_may_be_the_name_of_the_project_one_is_in(make: Make, environ: dict[str, str]) -> None:
    root = make("work", origin=GITHUB)
    assert project_of(root, environ, chosen="api") == project_of(root, environ)


@pytest.mark.parametrize("chosen", ["", " ", "*", "a:b", "x" * 101, "a\nb"])
def test_an_argument_that_can_be_no_project_is_refused(make: Make, environ: dict[str, str], chosen: str) -> None:
    with pytest.raises(InvalidInput, match="project"):
        project_of(make("api"), environ, chosen=chosen)


def test_a_plain_folder_is_a_project_of_its_own(environ: dict[str, str], tmp_path: Path) -> None:
    for folder in ("a/notes", "b/notes"):
        (tmp_path / folder).mkdir(parents=True)
    one, two = project_of(tmp_path / "a/notes", environ), project_of(tmp_path / "b/notes", environ)
    assert (one.name, one.root, one.source) == ("notes", str(tmp_path / "a/notes"), "working folder")
    assert one.id != two.id


@pytest.mark.parametrize("variable", ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR"])
def test_the_clients_variable_beats_a_plain_folder(
    make: Make, environ: dict[str, str], tmp_path: Path, variable: str
) -> None:
    root = make("api", origin=GITHUB)
    (tmp_path / "plain").mkdir()
    assert project_of(tmp_path / "plain", environ | {variable: str(root)}).id == "github.com/acme/api"


def test_copilot_cli_says_where_its_users_shell_stood(make: Make, environ: dict[str, str], tmp_path: Path) -> None:
    root, plain = make("api", origin=GITHUB), tmp_path / "plain"
    plain.mkdir()
    copilot = {"COPILOT_AGENT_SESSION_ID": "s", "PWD": str(root)}
    assert project_of(plain, environ | copilot).id == "github.com/acme/api"
    assert project_of(plain, environ | {"PWD": str(root)}).root == str(plain)


def test_the_clients_word_does_not_beat_a_repository(make: Make, environ: dict[str, str]) -> None:
    here, there = make("here"), make("there")
    assert project_of(here, environ | {"CLAUDE_PROJECT_DIR": str(there)}).root == str(here)


def test_a_clients_plain_folder_is_a_project(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "said" / "sub").mkdir(parents=True)
    found = project_of(tmp_path / "said" / "sub", environ | {"CLAUDE_PROJECT_DIR": str(tmp_path / "said")})
    assert (found.name, found.root, found.source) == ("said", str(tmp_path / "said"), "CLAUDE_PROJECT_DIR")


@pytest.mark.parametrize("form", ["{}", "file://{}", "FILE://localhost{}", "file:{}"])
def test_a_client_root_is_a_path_or_a_uri(make: Make, environ: dict[str, str], form: str) -> None:
    root = make("api")
    assert project_of(environ["HOME"], environ, form.format(root)).root == str(root)


@pytest.mark.parametrize("folder", ["a b", "100%25", "é"])
@pytest.mark.parametrize("escaped", [True, False])
def test_a_client_root_may_be_escaped_or_not(
    make: Make, environ: dict[str, str], folder: str, *, escaped: bool
) -> None:
    from urllib.parse import quote

    root = make(folder)
    assert project_of(environ["HOME"], environ, f"file://{quote(str(root)) if escaped else root}").root == str(root)


@pytest.mark.parametrize(
    "root", ["", "relative", "/no/such/folder", "vscode-remote://host/x", "file://", "a\0b", "file:///%00"]
)
def test_a_client_root_that_is_not_a_folder_says_nothing(environ: dict[str, str], tmp_path: Path, root: str) -> None:
    (tmp_path / "plain").mkdir()
    assert project_of(tmp_path / "plain", environ, root).root == str(tmp_path / "plain")


def test_the_home_folder_gives_way_to_what_the_client_said(environ: dict[str, str], git: Git, tmp_path: Path) -> None:
    git(Path(environ["HOME"]), "init", "-q")  # some people keep their dotfiles in a repository
    (tmp_path / "said").mkdir()
    assert project_of(environ["HOME"], environ, str(tmp_path / "said")).root == str(tmp_path / "said")


def test_the_home_folder_is_a_project_when_the_client_said_nothing(environ: dict[str, str]) -> None:
    assert project_of(environ["HOME"], environ).root == environ["HOME"]


def test_the_top_of_the_file_system_gives_way_to_what_the_client_said(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "said").mkdir()
    assert project_of("/", environ, str(tmp_path / "said")).root == str(tmp_path / "said")


def test_the_top_of_the_file_system_is_never_the_project(environ: dict[str, str]) -> None:
    assert project_of("/", environ).id == UNPLACED


def test_a_relative_start_in_a_folder_that_is_gone_says_nothing(
    make: Make, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make("api")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert project_of(".", environ).id == UNPLACED
    assert project_of(".", environ, str(root)).root == str(root)


@pytest.fixture(params=["by its variable", "by its files"])
def plugin(request: pytest.FixtureRequest, make: Make, environ: dict[str, str]) -> Path:
    """The plugin's folder as a client copied or cloned it; the server has to recognise both."""
    root = make("cache/keepmum", origin="https://github.com/keepmum/keepmum")
    if request.param == "by its variable":
        environ["CLAUDE_PLUGIN_ROOT"] = str(root)
    else:
        (root / "plugin" / "keepmum").mkdir(parents=True)
        (root / "plugin" / "keepmum" / "__init__.py").touch()
    return root


def test_the_plugins_folder_gives_way_to_what_the_client_said(
    plugin: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "said").mkdir()
    assert project_of(plugin, environ, str(tmp_path / "said")).root == str(tmp_path / "said")


def test_the_plugins_folder_is_never_the_project(plugin: Path, environ: dict[str, str]) -> None:
    assert project_of(plugin, environ).id == UNPLACED


def test_the_plugins_folder_is_a_project_when_the_client_says_so(plugin: Path, environ: dict[str, str]) -> None:
    assert project_of(plugin, environ | {"CLAUDE_PROJECT_DIR": str(plugin)}).name == "keepmum"


def test_without_home_variables_a_project_is_found(make: Make, environ: dict[str, str]) -> None:
    root = make("api", origin=GITHUB)
    found = project_of(root, {"PATH": environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"})
    assert found.id == "github.com/acme/api"


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="the file system takes text alone")
def test_a_folder_whose_name_is_not_text_gets_a_name_that_is(environ: dict[str, str], tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    assert project_of(os.fsdecode(folder), environ).name == "caf?"


@pytest.mark.parametrize("form", ["https://me:{}@github.com/acme/api", "https://{}@github.com/acme/api"])
def test_no_credential_reaches_a_project(make: Make, environ: dict[str, str], form: str) -> None:
    canary = "gh" + "p_" + "a1B2" * 9
    found = project_of(make("work", origin=form.format(canary)), environ)
    assert found.id == "github.com/acme/api"
    assert_hidden(canary[4:], repr(found))
