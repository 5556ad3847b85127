"""Which project a session works on.

An id says which memories belong together; a name is what people call the project. Two repositories called `api` have
one name and two ids. Ids come in three forms, none of which can pass for another:

    github.com/owner/repo      a repository, by its remote: the same in every clone, worktree and colleague's machine
    path:3f9c2a71b0d4e586      a repository without a remote, or a plain folder, by where it lies
    acme                       a name that somebody chose: all who choose it share it

The first of these that says anything decides: the argument, KEEPMUM_PROJECT, the nearest `.keepmum.toml`, git, the
client's word, the working folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from keepmum.core.errors import InvalidInput
from keepmum.system.folders import real_folder, upward, user_home
from keepmum.workspace.git.remote_url import folder_id, remote_id
from keepmum.workspace.git.repository import Repository, find_repository, remote_of
from keepmum.workspace.settings import Settings, find_project_file, project_name

__all__ = ["UNPLACED", "Project", "find_project", "working_folder"]

UNPLACED = "path:unplaced"  # the id where nothing says which project it is; no folder has it
_NOBODY = "working folder"
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
    """The project of a session whose process runs in the folder `start`, which need not exist any more.

    Args:
        start: the working folder of the process.
        environ: the variables that the client gave it.
        settings: as loaded for `working_folder(start, environ, client_roots)`.
        client_roots: folders that the client named, as paths or `file:` URIs: MCP roots, a session's note.
        chosen: a name or an id, as a tool's argument gives it.

    Raises: InvalidInput when `chosen` can be neither.
    """
    folder, said_by = _place(start, environ, client_roots)
    repository = find_repository(folder)
    project = _by_settings(folder, repository, settings)
    if project is None and said_by == _NOBODY and _is_no_project(folder, environ):
        project = Project(UNPLACED, "unplaced", folder, "nothing: this folder is no project")
    if project is None:
        project = _by_repository(repository, environ) if repository else _by_folder(folder, said_by)
    return project if chosen is None or chosen in {project.id, project.name} else _by_choice(chosen, project.root)


def working_folder(start: str, environ: Mapping[str, str], client_roots: Sequence[str] = ()) -> str:
    """The folder that the session works in, as a real path: `start`, unless the client knows better.

    The home folder, the file system's root and the plugin's own folder are where clients start servers for want of
    anything better; none of them is taken when the client named another. Elsewhere `start` gives way only when it
    lies in no repository and under no `.keepmum.toml`.
    """
    return _place(start, environ, client_roots)[0]


def _place(start: str, environ: Mapping[str, str], client_roots: Sequence[str]) -> tuple[str, str]:
    """The working folder, and who named it."""
    own = (real_folder(start), _NOBODY)
    said = list(_client_folders(environ, client_roots))
    if _is_anywhere(own[0], environ):
        return said[0] if said else own
    for place in (own, *said):
        if find_project_file(place[0]) or find_repository(place[0]):
            return place
    return said[0] if said else own


def _client_folders(environ: Mapping[str, str], client_roots: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The folders that the client named, strongest first; the file system's root stands for "no folder"."""
    words = [(environ.get(variable, ""), variable) for variable in _CLIENT_VARIABLES]
    words += [(_path_of(root), "the folder itself") for root in client_roots]
    if "COPILOT_AGENT_SESSION_ID" in environ:
        # Copilot CLI has no roots, starts servers in the plugin, and hands on where its user's shell stood.
        words.append((environ.get("PWD", ""), "the shell's folder"))
    for word, said_by in words:
        if os.path.isabs(word) and os.path.isdir(word):
            folder = real_folder(word)
            if not _is_top(folder):
                yield folder, said_by


def _path_of(root: str) -> str:
    """The path in a `file:` URI, or `root` itself; clients differ in whether they escape what a URI must."""
    from urllib.parse import unquote

    if not root.lower().startswith("file:"):
        return root
    path = "/" + root[len("file:") :].removeprefix("//").partition("/")[2]
    if path[2:3] == ":":  # file:///C:/folder
        path = path[1:]
    return next((spelling for spelling in (unquote(path), path) if os.path.isdir(spelling)), path)


def _is_anywhere(folder: str, environ: Mapping[str, str]) -> bool:
    """Whether a server starts in `folder` when its client had no folder in mind."""
    home = user_home(environ)
    return (os.path.isabs(home) and folder == real_folder(home)) or _is_no_project(folder, environ)


def _is_no_project(folder: str, environ: Mapping[str, str]) -> bool:
    """Whether nobody works in `folder`: the top of the file system, this plugin, or the plugin the client names."""
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
        if repository and repository.is_submodule and not _lies_in(named_root, repository.root):
            return None  # what the repository around a submodule is called does not name the submodule
        root = named_root
    return Project(settings.project, settings.project, root, source)


def _by_repository(repository: Repository, environ: Mapping[str, str]) -> Project:
    remote = remote_of(repository, environ)
    remote_name = remote_id(remote.url, repository.root) if remote else None
    if remote is None or remote_name is None:
        return Project(folder_id(repository.common_dir), _folder_name(repository), repository.root, "git folder")
    name = _folder_name(repository) if remote_name.startswith("path:") else remote_name.rpartition("/")[2]
    return Project(remote_name, name, repository.root, f"git remote {remote.name}")


def _by_folder(folder: str, said_by: str) -> Project:
    return Project(folder_id(folder), _shown(os.path.basename(folder) or folder), folder, said_by)


def _by_choice(chosen: str, root: str) -> Project:
    if chosen.startswith("path:") or ("/" in chosen and ":" not in chosen):
        return Project(chosen, chosen.rpartition("/")[2], root, "argument")
    try:
        return Project(project_name(chosen), chosen, root, "argument")
    except ValueError as allowed:
        raise InvalidInput("project", f"must be {allowed}, or a project's id") from None


def _folder_name(repository: Repository) -> str:
    """What the repository's main folder is called: `api` for `api`, `api.git`, `api/.bare` and their working trees."""
    place = repository.common_dir if repository.linked else repository.root
    if os.path.basename(place).startswith("."):
        place = os.path.dirname(place)
    return _shown(os.path.basename(place).removesuffix(".git") or place)


def _shown(name: str) -> str:
    """`name` with a mark in place of bytes that are no text, which no store or protocol could carry."""
    return name.encode("utf-8", "replace").decode()


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
