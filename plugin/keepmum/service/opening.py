"""Where the parts are put together: settings, project, store, scanner and service for one process."""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from keepmum import embedding
from keepmum.core import validation
from keepmum.core.errors import KeepmumError, StoreError
from keepmum.core.memory import JsonValue, Scope
from keepmum.service import MemoryService, Place, open_service
from keepmum.system.folders import real_folder, upward, user_home
from keepmum.workspace import allowlist, credentials, project, routing, settings
from keepmum.workspace.git import changes as git_changes
from keepmum.workspace.git import repository
from keepmum_hooks import places

__all__ = ["backend", "kind_of", "moved", "open_memory", "server", "survey"]

Routes = Mapping[Scope, str]
Surveyed = tuple[settings.Settings, project.Project]
_DEFAULT_ORIGIN = "http://localhost:3100"  # where servers of the first API listen

# How clients tell a server which session it serves; a key of scope `session` belongs to it.
_SESSION_VARIABLES = ("KEEPMUM_SESSION", "CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")


def open_memory(  # noqa: PLR0913 - who asks and from where, in the words of the client
    environ: Mapping[str, str],
    agent: str,
    roots: Sequence[str] | None = None,
    *,
    session: str = "",
    origin: str = "mcp",
    upkeep: bool = True,
    drains: bool | None = None,
    routes: Sequence[str] = (),
    stores: Sequence[str] = (),
    surveyed: Surveyed | None = None,
) -> MemoryService:
    """The memory as it is seen from the working folder, for `agent`; for `roots` and `session` see `survey`.

    With `upkeep`, what needs doing from time to time (backups, expiry, briefings) is done in the background; with
    `drains`, and wherever there is upkeep, writes that wait for a server are sent. `routes` say which store a new
    memory goes to, by its scope; where there are none, the settings do. `stores` are opened in any case. Whoever has
    asked `survey` already gives what it said as `surveyed`.

    Raises: SettingsError, StoreError.
    """
    chosen, found = surveyed or survey(environ, roots, session)
    judge = allowlist.Judge(places.home(environ))
    scan, *doubts = _with_second_opinion(judge, chosen.scanner, found.root)
    leading = routing.routes(backend(chosen), routes or chosen.backend.routes)
    path, kind, options = _store(chosen, environ, found, leading, stores, drains=upkeep if drains is None else drains)
    service = open_service(
        path,
        scan,
        backend=kind,
        options=options,
        place=_place(environ, chosen, found, session),
        agent=chosen.agent or agent,
        origin=origin,
        default_scope=chosen.scope,
        policy=chosen.retention.policy,
        home=places.home(environ),
        briefing_tokens=chosen.briefing.tokens if chosen.briefing.enabled else 0,
        notices=lambda: (*doubts, *filter(None, [judge.problem])),
        checked_out=lambda root: _checked_out(root, environ, changes="markdown" in leading.values()),
        embedder=embedding.in_background(chosen, environ),
        basis=_basis(chosen, found),
    )
    if upkeep:
        with contextlib.suppress(StoreError):  # a full disk keeps nobody from reading; writes will say so
            service.settle()
        service.warm()
        _thread.start_new_thread(_upkeep, (dict(environ), session, tuple(routes), (chosen, found)))
    return service


def moved(  # noqa: PLR0913 - a service, and who asks for it from where
    service: MemoryService,
    environ: Mapping[str, str],
    agent: str,
    roots: Sequence[str],
    *,
    session: str = "",
    routes: Sequence[str] = (),
) -> MemoryService:
    """The service in the session, and in the project that the client's folders name unless another is stronger.

    Where the settings of that project ask for more than another place, such as for its team's server, it is another
    service, and the one before is closed.

    Raises: SettingsError, StoreError; the service before is then still open, and where it was.
    """
    chosen, found = survey(environ, roots, session)
    if _basis(chosen, found) != service.basis:
        fresh = open_memory(environ, agent, roots, session=session, routes=routes, surveyed=(chosen, found))
        service.close()
        return fresh
    place = _place(environ, chosen, found, session)
    if place != service.place:
        service.go(place, _rooted(found))
        service.settle()
    return service


def kind_of(service: MemoryService) -> str:
    """The kind of store that a service was opened with; empty for one that was not opened here."""
    return service.basis.kind if isinstance(service.basis, _Basis) else ""


class _Basis(NamedTuple):
    """All that a service is made of and cannot change: where this differs, it takes another."""

    kind: str
    baseline: str
    parts: tuple[object, ...]


def _basis(chosen: settings.Settings, found: project.Project) -> _Basis:
    names = ("store", "backend", "scanner", "retention", "briefing", "embedding", "agent", "scope", "home")
    baseline = found.root if chosen.scanner.second_opinion else ""
    return _Basis(backend(chosen), baseline, tuple(getattr(chosen, name) for name in names))


def survey(environ: Mapping[str, str], roots: Sequence[str] | None = None, session: str = "") -> Surveyed:
    """The settings and the project that hold in the working folder.

    Clients start servers in folders that mean nothing, and say by `roots` which they work in. Of a `session` that the
    client names, the note of the hook that saw it start says more. Without `roots` a person stands in the working
    folder and means it.

    Raises: SettingsError.
    """
    start = _working_folder()
    named = (start,) if roots is None else (*_noted(environ, session, roots), *roots)
    chosen = settings.load(environ, project.working_folder(start, environ, named))
    return chosen, project.find_project(start, environ, chosen, named)


def _noted(environ: Mapping[str, str], session: str, roots: Sequence[str]) -> tuple[str, ...]:
    """The folder that the session's note tells, unless the client has moved on to other folders since."""
    home = places.home(environ)
    if home is None or not session:
        return ()
    try:
        with open(places.session_note(home, session), encoding="utf-8") as file:
            folder = json.load(file).get("cwd")
    except (OSError, ValueError, AttributeError):
        return ()
    is_there = isinstance(folder, str) and os.path.isdir(folder)
    return (folder,) if is_there and (not roots or any(_lies_in(folder, root) for root in roots)) else ()


def _lies_in(folder: str, root: str) -> bool:
    return real_folder(root) in upward(real_folder(folder))


def backend(chosen: settings.Settings) -> str:
    """The kind of store that holds: what is said, or a server's where one is named."""
    said = chosen.source_of("backend.kind") != "default"
    return chosen.backend.kind if said or chosen.backend.origin is None else "rest"


def key_of(chosen: settings.Settings, environ: Mapping[str, str], origin: str) -> credentials.Key | None:
    """The key that a server may have; None when there is none for it.

    Raises: SettingsError when the file of keys is wrong.
    """
    approved, listed = settings.is_approved(chosen, origin), settings.is_listed(chosen, origin)
    return credentials.find(chosen.home, environ, origin, approved=approved, listed=listed)


def server(chosen: settings.Settings, environ: Mapping[str, str]) -> credentials.Server:
    """The server that is named, with the key that it may have.

    Raises: SettingsError when the file of keys is wrong.
    """
    origin = chosen.backend.origin or _DEFAULT_ORIGIN
    key = key_of(chosen, environ, origin)
    return credentials.Server(
        origin,
        key.secret if key else None,
        no_key="" if key else f"there is no key for {origin}; the user can store one by `keepmum login {origin}`",
        ca_file=chosen.backend.ca_file,
    )


def _store(  # noqa: PLR0913 - everything that decides where memories are kept
    chosen: settings.Settings,
    environ: Mapping[str, str],
    found: project.Project,
    routes: Routes,
    stores: Sequence[str],
    *,
    drains: bool,
) -> tuple[str, str, Mapping[str, object]]:
    """Path, kind and options of the store that `routes` lead to; with `stores`, or where they are several, of all.

    Raises: StoreError where there is no home folder, SettingsError when the file of keys is wrong.
    """
    if chosen.store.path is None or chosen.home is None:
        raise StoreError("there is no home folder for the memory store; set HOME, or KEEPMUM_HOME to a folder")
    wanted = {*routes.values(), *stores}
    if wanted == {"sqlite"} and not stores:
        return chosen.store.path, "sqlite", {}
    mirror = _mirror(chosen, environ, found, drains=drains) if "rest" in wanted else None
    if mirror is not None and wanted == {"rest"} and not stores:
        return mirror[0], "rest", mirror[1]
    parts = {} if mirror is None else {"rest": mirror}
    files = _files(chosen.home, environ, found) if "markdown" in wanted else None
    return chosen.store.path, "joined", {"parts": parts, "routes": routes, "files": files}


def _mirror(
    chosen: settings.Settings, environ: Mapping[str, str], found: project.Project, *, drains: bool
) -> tuple[str, Mapping[str, object]]:
    """Where what is known of a server lies, and the options of its store."""
    assert chosen.home is not None
    named = server(chosen, environ)
    path = os.path.join(chosen.home, "servers", re.sub("[^a-z0-9.]+", "-", named.origin.partition("//")[2]) + ".db")
    return path, {
        "server": named,
        "home": chosen.home,
        "drains": drains,
        "trailer": chosen.backend.v1_trailer,
        "projects": {found.id: found.name},
    }


def _files(home: str, environ: Mapping[str, str], found: project.Project) -> Mapping[str, object]:
    """What the store of a repository's files is opened with."""

    def project_of(root: str, name: str) -> str:
        try:
            found = project.find_project(root, environ, settings.load(environ, root), (root,)).id
        except KeepmumError:  # its settings are wrong, which is for those who work there
            return name
        return name if found.startswith("path:") else found

    everywhere = {
        "cache": os.path.join(home, "cache"),
        "user_home": user_home(environ) or home,
        "project_of": project_of,
    }
    return {"root": _rooted(found), "project": found.id, "everywhere": everywhere}


def _rooted(found: project.Project) -> str:
    """The folder whose files are a project's memories; none where nothing says which project this is."""
    return "" if found.id == project.UNPLACED else found.root


def _checked_out(root: str, environ: Mapping[str, str], *, changes: bool) -> Mapping[str, JsonValue] | None:
    """Branch and commit of a folder, with `changes` what differs from it too.

    A branch or file whose name looks like a secret is left out: it must not stop a write.
    """
    found = repository.git_context(root, environ)
    if found.commit is None:
        return None
    judge = allowlist.Judge(None)
    branch = found.branch if found.branch and not validation.findings(found.branch, judge) else None
    context: dict[str, JsonValue] = {"branch": branch, "commit": found.commit}
    changed = git_changes.changed_files(root) if changes else None
    if changed is None:
        return context
    plain = [name for name in changed if not validation.findings(name, judge)]
    return {**context, "dirty": bool(changed), "files_changed": plain}


def _with_second_opinion(
    judge: allowlist.Judge, chosen: settings.Scanner, root: str
) -> tuple[validation.Scan, *tuple[str, ...]]:
    """What judges each text before it is kept, and behind it what a user has to know of that.

    A second opinion only adds findings: where it cannot be had, the first stands alone and nothing is refused for it.
    """
    if not chosen.second_opinion:
        return (judge,)
    from keepmum_scanner.detect_secrets_opinion import with_second_opinion

    baseline = os.path.join(root, ".secrets.baseline")
    try:
        return (with_second_opinion(judge, baseline if os.path.isfile(baseline) else None, chosen.plugins),)
    except ImportError:
        return judge, "scanner.second_opinion is on and detect-secrets is missing: pip install detect-secrets"
    except ValueError as reason:
        return with_second_opinion(judge, None, chosen.plugins), f"{reason}; every plugin is used instead"


def _place(environ: Mapping[str, str], chosen: settings.Settings, found: project.Project, session: str = "") -> Place:
    told = next((environ[name] for name in _SESSION_VARIABLES if environ.get(name)), session)
    return Place(project=found.id, name=found.name, root=found.root, session=told or None, user=chosen.user)


def _upkeep(environ: dict[str, str], session: str, routes: Sequence[str], surveyed: Surveyed) -> None:
    """Expiry and backups, over a connection of their own; whatever goes wrong is for the doctor to find."""
    with (
        contextlib.suppress(KeepmumError, OSError),
        open_memory(environ, "keepmum", session=session, upkeep=False, routes=routes, surveyed=surveyed) as service,
    ):
        service.upkeep()


def _working_folder() -> str:
    """The working folder, or the root when it was deleted under us."""
    try:
        return os.getcwd()
    except OSError:
        return os.path.abspath(os.sep)
