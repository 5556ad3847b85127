"""Determines the project of a session.

The id decides which memories belong together; the name is for people. Two repositories called `api` have the same name
and different ids. Ids have three distinct forms:

    github.com/owner/repo      a repository, by its remote: the same in every clone and worktree, on every machine
    path:3f9c2a71b0d4e586      a repository without a remote, or a plain folder, by its path
    acme                       a configured name, shared by everyone who configures it

The first of these that is defined decides: the argument, KEEPMUM_PROJECT, the nearest `.keepmum.toml`, git, the folder
that the client names, the working folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from keepmum.core.errors import InvalidInput
from keepmum.system.folders import is_inside, real_folder, upward, user_home
from keepmum.workspace.git.remote_url import folder_id, remote_id
from keepmum.workspace.git.repository import Repository, find_repository, remote_of
from keepmum.workspace.settings import Settings, find_project_file, project_name

__all__ = ["UNPLACED", "Project", "find_project", "holds_key", "without_key", "working_folder"]

UNPLACED = "path:unplaced"  # the id when there is no project; no folder has this id
_PROCESS = "working folder"
_MAY_BE_KEY = re.compile(r"[A-Za-z0-9_+-]{16}|://")
_CLIENT_VARIABLES = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR")
_PLUGIN_VARIABLES = ("CLAUDE_PLUGIN_ROOT", "CURSOR_PLUGIN_ROOT", "COPILOT_PLUGIN_ROOT", "PLUGIN_ROOT")


@dataclass(frozen=True, slots=True)
class Project:
    """One project: `id` for stores, `name` for people, `root` as a real path, `source` for `keepmum status`."""

    id: str
    name: str
    root: str
    source: str


def find_project(
    start: str,
    environ: Mapping[str, str],
    settings: Settings,
    client_roots: Sequence[str] = (),
    chosen: str | None = None,
) -> Project:
    """The project of a session.

    Args:
        start: the working folder of the process; it may have been deleted.
        environ: the variables of the process.
        settings: as loaded for `working_folder(start, environ, client_roots)`.
        client_roots: folders that the client named, as paths or `file:` URIs: MCP roots, a session's note.
        chosen: a name or an id, from a tool's argument.

    Raises: InvalidInput when `chosen` is neither.
    """
    folder, named_by = _folder(start, environ, client_roots)
    repository = find_repository(folder)
    project = _by_settings(folder, repository, settings)
    if project is None and named_by == _PROCESS and _is_no_project(folder, environ):
        project = Project(UNPLACED, "unplaced", folder, "nothing: this folder is not a project")
    if project is None:
        project = _by_repository(repository, environ) if repository else _by_folder(folder, named_by)
    if chosen is not None and chosen not in {project.id, project.name}:
        project = _by_choice(chosen, project.root)
    return without_key(project)


def without_key(project: Project) -> Project:
    """`project`, with a digest in place of an id or a name that contains a key of a known format."""
    digest = folder_id(project.id).removeprefix("path:")
    return replace(
        project,
        id=f"path:{digest}" if holds_key(project.id) else project.id,
        name=f"project-{digest[:8]}" if holds_key(project.name) else project.name,
    )


def holds_key(text: str) -> bool:
    """Whether an id, a name or a path contains a key of a known format; words and numbers alone are not scanned."""
    if _MAY_BE_KEY.search(text) is None:
        return False
    try:
        from keepmum_scanner import scan
        from keepmum_scanner.finding import in_field

        return bool(in_field("project_id", scan(text)))
    except Exception:  # noqa: BLE001 - a damaged scanner raises anything; then nothing can be stored
        return False


def working_folder(start: str, environ: Mapping[str, str], client_roots: Sequence[str] = ()) -> str:
    """The folder in which the session works, as a real path: `start`, or a folder that the client names.

    Clients without a folder start servers in the home folder, the file system's root or the plugin's folder; then a
    folder that the client names is used. Any other `start` is used unless it is in no repository and has no
    `.keepmum.toml`.
    """
    return _folder(start, environ, client_roots)[0]


def _folder(start: str, environ: Mapping[str, str], client_roots: Sequence[str]) -> tuple[str, str]:
    """The working folder, and what named it."""
    own = (real_folder(start), _PROCESS)
    named = list(_client_folders(environ, client_roots))
    candidates = [] if _is_default_folder(own[0], environ) else [own, *named]
    fallback = named[0] if named else own
    return next((each for each in candidates if find_project_file(each[0]) or find_repository(each[0])), fallback)


def _client_folders(environ: Mapping[str, str], client_roots: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The folders that the client names, strongest first; clients use the file system's root for "no folder"."""
    paths = [(environ.get(variable, ""), variable) for variable in _CLIENT_VARIABLES]
    paths += [(_path_of(root), "the folder itself") for root in client_roots]
    if "COPILOT_AGENT_SESSION_ID" in environ:
        # Copilot CLI sends no roots and starts servers in the plugin's folder; PWD is that of the user's shell.
        paths.append((environ.get("PWD", ""), "the shell's folder"))
    for path, named_by in paths:
        if os.path.isabs(path) and os.path.isdir(path):
            folder = real_folder(path)
            if not _is_top(folder):
                yield folder, named_by


def _path_of(root: str) -> str:
    """The path of a `file:` URI, or `root` itself; not all clients escape paths in URIs."""
    from urllib.parse import unquote

    if not root.lower().startswith("file:"):
        return root
    path = "/" + root[len("file:") :].removeprefix("//").partition("/")[2]
    if path[2:3] == ":":  # file:///C:/folder
        path = path[1:]
    return next((spelling for spelling in (unquote(path), path) if os.path.isdir(spelling)), path)


def _is_default_folder(folder: str, environ: Mapping[str, str]) -> bool:
    """Whether clients without a folder start servers in `folder`."""
    home = user_home(environ)
    return (os.path.isabs(home) and folder == real_folder(home)) or _is_no_project(folder, environ)


def _is_no_project(folder: str, environ: Mapping[str, str]) -> bool:
    """Whether `folder` is the file system's root, in this plugin, or in a plugin that the client names."""
    roots = {real_folder(environ[name]) for name in _PLUGIN_VARIABLES if os.path.isabs(environ.get(name, ""))}
    return _is_top(folder) or any(
        above in roots or os.path.isfile(os.path.join(above, "plugin", "keepmum", "__init__.py"))
        for above in upward(folder)
    )


def _is_top(folder: str) -> bool:
    return folder == os.path.dirname(folder)


def _by_settings(folder: str, repository: Repository | None, settings: Settings) -> Project | None:
    if settings.project is None:
        return None
    source = settings.source_of("project")
    root = repository.root if repository else folder
    file = settings.project_file
    if file is not None and source.startswith(file):
        named_root = os.path.dirname(file)
        if repository and repository.is_submodule and not is_inside(named_root, repository.root):
            return None  # the name of the outer repository is not that of its submodule
        root = named_root
    return Project(settings.project, settings.project, root, source)


def _by_repository(repository: Repository, environ: Mapping[str, str]) -> Project:
    remote = remote_of(repository, environ)
    remote_name = remote_id(remote.url, repository.root) if remote else None
    if remote is None or remote_name is None:
        return Project(folder_id(repository.common_dir), _folder_name(repository), repository.root, "git folder")
    name = _folder_name(repository) if remote_name.startswith("path:") else remote_name.rpartition("/")[2]
    return Project(remote_name, name, repository.root, f"git remote {remote.name}")


def _by_folder(folder: str, named_by: str) -> Project:
    return Project(folder_id(folder), _printable(os.path.basename(folder) or folder), folder, named_by)


def _by_choice(chosen: str, root: str) -> Project:
    if chosen.startswith("path:") or ("/" in chosen and ":" not in chosen):
        return Project(chosen, chosen.rpartition("/")[2], root, "argument")
    try:
        return Project(project_name(chosen), chosen, root, "argument")
    except ValueError as allowed:
        raise InvalidInput("project", f"must be {allowed}, or a project's id") from None


def _folder_name(repository: Repository) -> str:
    """The name of the repository's main folder: `api` for `api`, `api.git`, `api/.bare` and their working trees."""
    place = repository.common_dir if repository.linked else repository.root
    if os.path.basename(place).startswith("."):
        place = os.path.dirname(place)
    return _printable(os.path.basename(place).removesuffix(".git") or place)


def _printable(name: str) -> str:
    """`name` with bytes that are not text replaced by `?`, since no store or protocol accepts them."""
    return name.encode("utf-8", "replace").decode()
