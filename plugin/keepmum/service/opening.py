"""Open a memory service: for a client's session, with its settings and project, or for a program."""

from __future__ import annotations

import _thread
import contextlib
import functools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from keepmum import embedding
from keepmum.core import validation
from keepmum.core.errors import KeepmumError, StoreError, report
from keepmum.core.memory import SCOPES, JsonValue, Scope, Trust
from keepmum.embedding import BackgroundEmbedder, Embedder
from keepmum.service import MemoryService, OpenedWith, Place, ServiceOptions, open_service
from keepmum.stores import CompositeSpec, MarkdownSpec, RestSpec, SqliteSpec, StoreSpec, registry_path
from keepmum.system.folders import user_home
from keepmum.workspace import allowlist, project, routing, settings
from keepmum.workspace.git import repository
from keepmum.workspace.resolve import Workspace, backend_kind, is_users_server, left_out, resolve, server_of
from keepmum_hooks import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner import Finding

__all__ = ["DASHBOARD", "INSTALLED", "moved", "open_memory", "open_session"]

INSTALLED: Final = "installed"
DASHBOARD: Final = "dashboard"  # the channel of what a person writes there
_NAMES = 4096  # of branches and files, whose verdicts are cached

# Variables in which clients name the session; a key of scope `session` belongs to it.
_SESSION_VARIABLES = ("KEEPMUM_SESSION", "CLAUDE_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID")


def open_session(  # noqa: PLR0913 - who asks and from where, as clients say it
    environ: Mapping[str, str],
    agent: str,
    roots: Sequence[str] | None = None,
    *,
    session: str = "",
    origin: str = "mcp",
    trust: Trust = "agent",
    upkeep: bool = True,
    drains: bool | None = None,
    quiet: bool = False,
    routes: Sequence[str] = (),
    stores: Sequence[str] = (),
    resolved: Workspace | None = None,
) -> MemoryService:
    """The memory of the working folder, for `agent`; for `roots` and `session` see `resolve`.

    With `upkeep`, backups, expiry and briefings run in the background. With `drains`, which defaults to
    `upkeep`, queued writes are sent. `routes` name the store of new memories by scope; the default is the settings',
    and then the memories that Koi's tools have stored in files are read as well.
    `stores` are opened in any case. `trust` is that of what is written; with `quiet`, reads log nothing.
    `resolved` is the result of `resolve`, if the caller has it.

    Raises: SettingsError, StoreError.
    """
    chosen, found = resolved or resolve(environ, roots, session)
    first_scan = allowlist.AllowlistScanner(places.home(environ))
    scan, *warnings = _with_second_opinion(_with_personal_data(first_scan, chosen.scanner), chosen.scanner, found.root)
    leading = routing.store_by_scope(backend_kind(chosen), routes or chosen.backend.routes)
    service = open_service(
        _store_spec(
            chosen, environ, found, leading, stores, drains=upkeep if drains is None else drains, joins=not routes
        ),
        scan,
        ServiceOptions(
            place=_place(environ, chosen, found, session),
            agent=agent if origin == DASHBOARD else chosen.agent or agent,  # a person is not an agent
            origin=origin,
            trust=trust,
            quiet=quiet,
            default_scope=validation.one_of("scope", chosen.scope, SCOPES),
            policy=chosen.retention.policy,
            home=places.home(environ),
            briefing_tokens=chosen.briefing.tokens if chosen.briefing.enabled else 0,
            recall_tokens=chosen.recall.tokens,
            notices=lambda: (*warnings, *filter(None, [first_scan.problem, left_out(chosen)])),
            checked_out=_CheckedOut(environ, with_changes="markdown" in leading.values()),
            embedder=embedding.in_background(chosen, environ),
            opened_with=_opened_with(chosen, found),
            resolves_citations=upkeep,
        ),
    )
    if upkeep:
        with contextlib.suppress(StoreError):  # a full disk must not prevent reading; writes will report it
            service.settle()
        service.context.resolve_citations()
        service.warm()
        _thread.start_new_thread(_upkeep, (dict(environ), session, tuple(routes), Workspace(chosen, found)))
    return service


def open_memory(
    path: str | os.PathLike[str],
    embedder: Embedder | Literal["installed"] | None = INSTALLED,
    *,
    project: str | None = None,
    user: str | None = None,
    agent: str = "library",
) -> MemoryService:
    """The memory in the file at `path`, created when it does not exist; use it in a `with`, or `close` it.

    It remembers, recalls and forgets as the tools do, and waits for the embedder where those fall back to lexical
    search. `embedder` is the model that the user has installed, unless one is given; with None search is lexical.
    Without a `project` it reads the memories of all projects.

        with open_memory("notes.db") as memory:
            memory.remember(text="Deploys go through the blue pool first", tags=["deploy"])
            for match in memory.recall("which pool gets a deploy first?", limit=3):
                print(match.score, match.memory.title, match.why)

    Raises: StoreError when the file can be neither read nor created, SettingsError when the user's settings are wrong.
    """
    service = open_service(
        SqliteSpec(os.fspath(path)),
        allowlist.AllowlistScanner(places.home(os.environ)),
        ServiceOptions(
            place=Place(project=project, name=project or "", user=user),
            agent=agent,
            origin="library",
            embedder=_background(embedder),
            patient=True,
        ),
    )
    if service.store.notice:
        report(service.store.notice)  # a program may never ask for notices
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
    """The service in this session, and in the project of the client's folders unless another has precedence.

    When the settings of that project need more than another place, such as its team's server, another service is
    opened and the one before closed.

    Raises: SettingsError, StoreError; the service before then stays open, and where it was.
    """
    chosen, found = resolve(environ, roots, session)
    if _opened_with(chosen, found) != service.context.options.opened_with:
        fresh = open_session(environ, agent, roots, session=session, routes=routes, resolved=Workspace(chosen, found))
        service.close()
        return fresh
    place = _place(environ, chosen, found, session)
    if place != service.place:
        service.go(place, _project_root(found))
        service.settle()
        service.context.resolve_citations()
    return service


def _opened_with(chosen: settings.Settings, found: project.Project) -> OpenedWith:
    names = ("store", "backend", "scanner", "retention", "briefing", "embedding", "agent", "scope", "home", "problems")
    baseline = found.root if chosen.scanner.second_opinion else ""
    return OpenedWith(backend_kind(chosen), baseline, tuple(getattr(chosen, name) for name in names))


def _store_spec(  # noqa: PLR0913 - everything that decides where memories are stored
    chosen: settings.Settings,
    environ: Mapping[str, str],
    found: project.Project,
    routes: Mapping[Scope, str],
    stores: Sequence[str],
    *,
    drains: bool,
    joins: bool,
) -> StoreSpec:
    """The one store that all `routes` lead to, or a composite of several and of those named in `stores`.

    With `joins`, also of the files of repositories in which this user has stored memories in files.

    Raises: StoreError when there is no home folder, SettingsError when the file of keys is invalid.
    """
    if chosen.store.path is None or chosen.home is None:
        raise StoreError("there is no home folder for the memory store; set HOME, or KEEPMUM_HOME to a folder")
    wanted = {*routes.values(), *stores}
    files = None
    if "markdown" in wanted:
        files = _markdown_spec(chosen.home, environ, found)
    elif joins and (_chose_koi(chosen) or os.path.exists(registry_path(user_home(environ) or chosen.home))):
        files = _markdown_spec(chosen.home, environ, found)._replace(registered_only=not _chose_koi(chosen))
    is_single = len(wanted) == 1 and not stores
    database = SqliteSpec(chosen.store.path, backed_up=True)
    if wanted == {"sqlite"} and is_single and files is None:
        return database
    server = _rest_spec(chosen, environ, found, drains=drains) if "rest" in wanted else None
    if server is not None and is_single and files is None:
        return server
    parts: dict[str, SqliteSpec | RestSpec] = {} if wanted == {"rest"} and is_single else {"sqlite": database}
    if server is not None:
        parts["rest"] = server
    return CompositeSpec(parts, routes, markdown=files)


def _chose_koi(chosen: settings.Settings) -> bool:
    """Whether the user chose the dialect that stores in files; a repository's own file does not count."""
    by_project = chosen.project_file is not None and chosen.source_of("dialect").startswith(chosen.project_file)
    return chosen.dialect == "koi" and not by_project


def _rest_spec(
    chosen: settings.Settings, environ: Mapping[str, str], found: project.Project, *, drains: bool
) -> RestSpec:
    assert chosen.home is not None
    named = server_of(chosen, environ)
    path = os.path.join(chosen.home, "servers", re.sub("[^a-z0-9.]+", "-", named.origin.partition("//")[2]) + ".db")
    return RestSpec(
        named,
        SqliteSpec(path),
        chosen.home,
        drains=drains,
        trailer=chosen.backend.v1_trailer,
        projects={found.id: found.name},
        approved=is_users_server(chosen, named.origin),
    )


def _markdown_spec(home: str, environ: Mapping[str, str], found: project.Project) -> MarkdownSpec:
    def project_of(root: str, name: str) -> str:
        try:
            found = project.find_project(root, environ, settings.load(environ, root, lenient=True), (root,)).id
        except KeepmumError:  # its settings are wrong, which is for those who work there
            return name
        return name if found.startswith("path:") else found

    cache = os.path.join(home, "cache")
    return MarkdownSpec(
        _project_root(found), cache, found.id, user_home=user_home(environ) or home, project_of=project_of
    )


def _project_root(found: project.Project) -> str:
    """The folder whose files are the project's memories; empty outside all projects."""
    return "" if found.id == project.UNPLACED else found.root


class _CheckedOut:
    """Branch and commit of a folder; with `with_changes`, also the files that differ from it.

    A branch or file whose name looks like a secret is left out: it must not stop a write.
    """

    def __init__(self, environ: Mapping[str, str], *, with_changes: bool) -> None:
        self._environ = environ
        self._with_changes = with_changes
        # Cached, since the same names return with each write and no allow list can change the result.
        self._is_plain = functools.lru_cache(_NAMES)(
            lambda name: not validation.scan_text(name, allowlist.AllowlistScanner(None))
        )

    def __call__(self, root: str) -> Mapping[str, JsonValue] | None:
        found = repository.git_context(root, self._environ)
        if found.commit is None:
            return None
        branch = found.branch if found.branch and self._is_plain(found.branch) else None
        context: dict[str, JsonValue] = {"branch": branch, "commit": found.commit}
        changed = repository.changed_files(root, self._environ) if self._with_changes else None
        if changed is None:
            return context
        return {**context, "dirty": bool(changed), "files_changed": [name for name in changed if self._is_plain(name)]}


class _MoreRules:
    """A scanner with more rules for each text; they have none for related fields."""

    def __init__(self, scan: Callable[[str], Sequence[Finding]], related: validation.Related) -> None:
        self._scan = scan
        self.related = related

    def __call__(self, text: str) -> Sequence[Finding]:
        """The findings of both in `text`."""
        return self._scan(text)


_Scanner = allowlist.AllowlistScanner | _MoreRules


def _with_personal_data(scan: allowlist.AllowlistScanner, chosen: settings.Scanner) -> _Scanner:
    """The scanner, which also finds personal data if that is configured."""
    if not chosen.personal_data:
        return scan
    from keepmum_scanner.personal_data import with_personal_data

    return _MoreRules(with_personal_data(scan), scan.related)


def _with_second_opinion(
    scan: _Scanner, chosen: settings.Scanner, root: str
) -> tuple[validation.Scanner, *tuple[str, ...]]:
    """The scanner of all writes, followed by warnings for the user.

    A second opinion only adds findings: without it the first scanner works alone, and nothing is refused for that.
    """
    if not chosen.second_opinion:
        return (scan,)
    from keepmum_scanner.detect_secrets_opinion import with_second_opinion

    baseline = os.path.join(root, ".secrets.baseline")
    try:
        known = baseline if os.path.isfile(baseline) else None
        return (_MoreRules(with_second_opinion(scan, known, chosen.plugins), scan.related),)
    except ImportError:
        return scan, "scanner.second_opinion is on and detect-secrets is missing: pip install detect-secrets"
    except ValueError as reason:
        second = with_second_opinion(scan, None, chosen.plugins)
        return _MoreRules(second, scan.related), f"{reason}; every plugin is used instead"


def _place(environ: Mapping[str, str], chosen: settings.Settings, found: project.Project, session: str = "") -> Place:
    session = next((environ[name] for name in _SESSION_VARIABLES if environ.get(name)), session)
    return Place(project=found.id, name=found.name, root=found.root, session=session or None, user=chosen.user)


def _upkeep(environ: dict[str, str], session: str, routes: Sequence[str], resolved: Workspace) -> None:
    """Expiry and backups, over a connection of their own; the doctor reports what goes wrong."""
    with (
        contextlib.suppress(KeepmumError, OSError),
        open_session(environ, "keepmum", session=session, upkeep=False, routes=routes, resolved=resolved) as service,
    ):
        service.upkeep()


def _background(embedder: Embedder | Literal["installed"] | None) -> BackgroundEmbedder | None:
    if embedder is None:
        return None
    if embedder == INSTALLED:
        return embedding.in_background(settings.load(os.environ, None), os.environ)
    home = places.home(os.environ)
    return BackgroundEmbedder(lambda: embedder, calibrate=lambda opened: embedding.calibrate(opened, home))
