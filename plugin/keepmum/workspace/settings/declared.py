"""The declarations of all settings; docs, checks and `keepmum status` are derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType

from keepmum.core.memory import SCOPES
from keepmum.workspace import routing
from keepmum.workspace.settings import checks
from keepmum.workspace.settings.setting import PROJECT_FILE, USER_FILE, Setting, Value, declared, setting

__all__ = [
    "DEFAULT",
    "SETTINGS",
    "Backend",
    "Briefing",
    "Capture",
    "Embedding",
    "Guard",
    "Recall",
    "Retention",
    "Scanner",
    "Settings",
    "Store",
]

DEFAULT = "default"  # the source of a value that is not set
_ANYWHERE = (PROJECT_FILE, USER_FILE)
_DIALECTS = ("keepmum", "hackathon", "koi", "per-user", "shared", "token-saver")
_EVERY = ("KEEPMUM_CAPTURE_EVERY", "CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY")


@dataclass(frozen=True, slots=True)
class Capture:
    """When the agent is asked to record what it learnt."""

    enabled: bool = setting("Ask the agent, every few turns, to record what it learnt.", default=True, files=_ANYWHERE)
    every: int = setting("Turns between two requests.", default=5, between=(1, 1000), files=_ANYWHERE, variables=_EVERY)
    unattended: bool = setting(
        "Also ask in unattended runs, where the reply replaces the answer.",
        default=False,
        variables=("KEEPMUM_CAPTURE_UNATTENDED",),
    )


@dataclass(frozen=True, slots=True)
class Briefing:
    """The briefing at the start of a session."""

    enabled: bool = setting("Give each new session a briefing on the project.", default=True, files=_ANYWHERE)
    tokens: int = setting(
        "The maximum length of the briefing, in tokens.", default=1000, between=(0, 1000), files=_ANYWHERE
    )


@dataclass(frozen=True, slots=True)
class Recall:
    """What a search answers."""

    tokens: int = setting(
        "The length of an answer, in tokens; texts that exceed it are listed by title.",
        default=600,
        between=(100, 10_000),
        files=_ANYWHERE,
    )


@dataclass(frozen=True, slots=True)
class Guard:
    """Which other memories Keepmum keeps secrets out of; the hooks read these lines themselves."""

    enabled: bool = setting("Keep secrets out of other servers' memories and of memory files.", default=True)
    paths: tuple[str, ...] = setting(
        'More files to guard, such as "notes/**"; a project can only add to your list.',
        default=(),
        files=_ANYWHERE,
        check=checks.pattern,
    )
    tools: tuple[str, ...] = setting(
        'More tools to guard, such as "mcp__wiki__*"; a project can only add to your list.',
        default=(),
        files=_ANYWHERE,
        check=checks.pattern,
    )
    servers: tuple[str, ...] = setting(
        'More servers to guard, by name, such as "wiki"; a project can only add to your list.',
        default=(),
        files=_ANYWHERE,
        check=checks.server,
    )


@dataclass(frozen=True, slots=True)
class Retention:
    """How memories fade."""

    policy: str = setting(
        "How memories fade that are not loaded.", default="ebbinghaus", choices=("ebbinghaus", "linear", "none")
    )


@dataclass(frozen=True, slots=True)
class Store:
    """Where memories are kept."""

    path: str | None = setting(
        "The database file; by default memory.db in Keepmum's home.", default=None, check=checks.absolute_path
    )


@dataclass(frozen=True, slots=True)
class Backend:
    """Which store is used, and which servers the user trusts."""

    kind: str = setting(
        "The kind of store; by default `rest` when a server is set, otherwise `sqlite`.",
        default="sqlite",
        choices=routing.STORES,
        variables=("KEEPMUM_BACKEND",),
    )
    routes: tuple[str, ...] = setting(
        'The store for new memories of a scope, such as "project:markdown" or "shared:rest"; the others go to `kind`.',
        default=(),
        check=checks.route,
        variables=("KEEPMUM_ROUTES",),
    )
    origin: str | None = setting(
        "A team's server; `keepmum login` stores a key for it.",
        default=None,
        files=_ANYWHERE,
        check=checks.origin,
        variables=("MEMORY_API_BASE_URL", "MEMORY_API_URL", "SHARED_MEMORY_API_URL"),
    )
    approved: tuple[str, ...] = setting(
        "Servers that a project file or a variable may name, in addition to those with a stored key.",
        default=(),
        check=checks.origin,
    )
    ca_file: str | None = setting(
        "A file with certificate authorities to trust, in addition to the system's.",
        default=None,
        check=checks.absolute_path,
    )
    v1_trailer: bool = setting(
        "Append fields that a server of the first API does not have (kind, key, why, …) to the text.", default=False
    )


@dataclass(frozen=True, slots=True)
class Scanner:
    """Additions to the scanner; no setting weakens it."""

    second_opinion: bool = setting("Also scan with detect-secrets, if it is installed.", default=False)
    plugins: tuple[str, ...] = setting(
        "Files with your own detect-secrets plugins.", default=(), check=checks.absolute_path
    )
    personal_data: bool = setting(
        "Also refuse numbers of payment cards and bank accounts (IBAN), and US social security numbers.",
        default=False,
    )


@dataclass(frozen=True, slots=True)
class Embedding:
    """The embedder for search by meaning.

    Only the user's own file can set these, since the server receives every memory; a repository could set variables
    through a client's settings.
    """

    provider: str = setting(
        'The embedder for search by meaning: the model on this machine, a server, or "none".',
        default="local",
        choices=("local", "openai-compatible", "none"),
    )
    url: str | None = setting(
        "The server's URL up to /embeddings, such as https://host/v1.", default=None, check=checks.url
    )
    model: str | None = setting("The server's name for the model.", default=None, check=checks.person)
    dimensions: int = setting(
        "The length of the server's vectors; 0 for the model's default.", default=0, between=(0, 16_384)
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of all settings for one working folder, and their sources."""

    enabled: bool = setting(
        "Keepmum as a whole; a project file can only switch it off.",
        default=True,
        files=_ANYWHERE,
        variables=("KEEPMUM_ENABLED",),
    )
    project: str | None = setting(
        "The project's name, instead of the repository's.",
        default=None,
        files=(PROJECT_FILE,),
        check=checks.project_name,
        variables=("KEEPMUM_PROJECT", "DEFAULT_PROJECT"),
    )
    scope: str = setting(
        "The default scope of a new memory: who sees it.",
        default="project",
        choices=SCOPES,
        files=_ANYWHERE,
        variables=("KEEPMUM_SCOPE",),
    )
    dialect: str = setting(
        "The names under which the tools are offered.",
        default="keepmum",
        choices=_DIALECTS,
        files=_ANYWHERE,
        variables=("KEEPMUM_DIALECT",),
    )
    agent: str | None = setting(
        "The name under which this agent's memories are stored.",
        default=None,
        check=checks.person,
        variables=("KEEPMUM_AGENT", "DEFAULT_AGENT"),
    )
    user: str | None = setting(
        "Separate this user's memories from those of others.",
        default=None,
        check=checks.person,
        variables=("KEEPMUM_USER",),
    )
    capture: Capture = field(default_factory=Capture)
    briefing: Briefing = field(default_factory=Briefing)
    recall: Recall = field(default_factory=Recall)
    guard: Guard = field(default_factory=Guard)
    retention: Retention = field(default_factory=Retention)
    store: Store = field(default_factory=Store)
    backend: Backend = field(default_factory=Backend)
    scanner: Scanner = field(default_factory=Scanner)
    embedding: Embedding = field(default_factory=Embedding)
    home: str | None = None  # Keepmum's folder; None when the user has no home folder
    project_file: str | None = None  # the `.keepmum.toml` that was read
    named: tuple[str, ...] = ()  # all servers that the user's own file names
    problems: tuple[str, ...] = ()  # what is wrong in the project's file and was left out
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False, compare=False)

    def value_of(self, name: str) -> Value:
        """The value of a setting by its dotted name.

        Raises: KeyError when there is no such setting.
        """
        value: Value = attrgetter(SETTINGS[name].name)(self)
        return value

    def source_of(self, name: str) -> str:
        """The source of a value: `<path>:<line>`, the name of a variable, or "default".

        Raises: KeyError when there is no such setting.
        """
        return self.sources.get(name, DEFAULT) if name in SETTINGS else self.sources[name]


SETTINGS: Mapping[str, Setting] = MappingProxyType(declared(Settings))
