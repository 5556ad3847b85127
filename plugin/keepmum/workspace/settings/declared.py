"""The one list of settings, a line each: names, types, choices, places and help are rendered from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

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
    "Retention",
    "Scanner",
    "Settings",
    "Store",
]

DEFAULT = "default"  # where a value is from that nobody has set
_ANYWHERE = (PROJECT_FILE, USER_FILE)
_DIALECTS = ("keepmum", "hackathon", "koi", "per-user", "shared", "token-saver")
_EVERY = ("KEEPMUM_CAPTURE_EVERY", "CLAUDE_PLUGIN_OPTION_CAPTURE_EVERY")


@dataclass(frozen=True, slots=True)
class Capture:
    """When the agent is asked to record what it learnt."""

    enabled: bool = setting("Ask the agent, every few turns, to record what it learnt.", default=True, files=_ANYWHERE)
    every: int = setting(
        "Turns from one question to the next.", default=5, between=(1, 1000), files=_ANYWHERE, variables=_EVERY
    )
    unattended: bool = setting(
        "Ask in unattended runs too, where the reply replaces the answer.",
        default=False,
        variables=("KEEPMUM_CAPTURE_UNATTENDED",),
    )


@dataclass(frozen=True, slots=True)
class Briefing:
    """What a session is told at its start."""

    enabled: bool = setting("Tell each new session what is known of the project.", default=True, files=_ANYWHERE)
    tokens: int = setting("The most that the briefing may cost.", default=1000, between=(0, 1000), files=_ANYWHERE)


@dataclass(frozen=True, slots=True)
class Guard:
    """Which memories besides its own Keepmum keeps secrets out of; the hooks read these lines for themselves."""

    enabled: bool = setting("Keep secrets out of other servers' memories and out of memory files.", default=True)
    paths: tuple[str, ...] = setting(
        'More files to guard, such as "notes/**"; what a project adds, it adds to yours.',
        default=(),
        files=_ANYWHERE,
        check=checks.pattern,
    )
    tools: tuple[str, ...] = setting(
        'More tools to guard, such as "mcp__wiki__*"; what a project adds, it adds to yours.',
        default=(),
        files=_ANYWHERE,
        check=checks.pattern,
    )


@dataclass(frozen=True, slots=True)
class Retention:
    """How memories fade."""

    policy: str = setting(
        "How memories that nobody loads fade.", default="ebbinghaus", choices=("ebbinghaus", "linear", "none")
    )


@dataclass(frozen=True, slots=True)
class Store:
    """Where memories are kept."""

    path: str | None = setting(
        "The database; by default memory.db in Keepmum's home.", default=None, check=checks.absolute_path
    )


@dataclass(frozen=True, slots=True)
class Backend:
    """Which store is used, and which servers the user trusts."""

    kind: str = setting(
        "The kind of store; where it is not said, `rest` when a server is named, else `sqlite`.",
        default="sqlite",
        choices=routing.STORES,
        variables=("KEEPMUM_BACKEND",),
    )
    routes: tuple[str, ...] = setting(
        'Where new memories of a scope go, such as "project:markdown" and "shared:rest"; the others go to `kind`.',
        default=(),
        check=checks.route,
        variables=("KEEPMUM_ROUTES",),
    )
    origin: str | None = setting(
        "A team's server; a key for it is stored by `keepmum login`.",
        default=None,
        files=_ANYWHERE,
        check=checks.origin,
        variables=("MEMORY_API_BASE_URL", "MEMORY_API_URL", "SHARED_MEMORY_API_URL"),
    )
    approved: tuple[str, ...] = setting(
        "Servers that a project file or a variable may name, besides those with a stored key.",
        default=(),
        check=checks.origin,
    )
    ca_file: str | None = setting(
        "Certificates of authorities to trust besides the system's.", default=None, check=checks.absolute_path
    )
    v1_trailer: bool = setting(
        "Send what a server of the first API cannot hold (kind, key, why, …) at the end of the text.", default=False
    )


@dataclass(frozen=True, slots=True)
class Scanner:
    """What is asked beside the scanner; nothing weakens it."""

    second_opinion: bool = setting("Ask detect-secrets too, where it is installed.", default=False)
    plugins: tuple[str, ...] = setting(
        "Files with detect-secrets plugins of your own.", default=(), check=checks.absolute_path
    )


@dataclass(frozen=True, slots=True)
class Embedding:
    """What turns texts into vectors, for search by meaning.

    In the user's own file alone: whoever names a server here is sent every memory, and a repository can set variables
    through a client's settings.
    """

    provider: str = setting(
        'Who reads memories for search by meaning: the model on this machine, a server, or nobody ("none").',
        default="local",
        choices=("local", "openai-compatible", "none"),
    )
    url: str | None = setting(
        "The server's address up to /embeddings, such as https://host/v1.",
        default=None,
        check=checks.url,
    )
    model: str | None = setting("The server's name for the model.", default=None, check=checks.person)
    dimensions: int = setting(
        "The length of the server's vectors; 0 for as many as it sends.", default=0, between=(0, 16_384)
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The values that hold in one place, and where each of them came from."""

    enabled: bool = setting(
        "Keepmum as a whole; a project file may only switch it off.",
        default=True,
        files=_ANYWHERE,
        variables=("KEEPMUM_ENABLED",),
    )
    project: str | None = setting(
        "The project's name, where the repository is not to say it.",
        default=None,
        files=(PROJECT_FILE,),
        check=checks.project_name,
        variables=("KEEPMUM_PROJECT", "DEFAULT_PROJECT"),
    )
    scope: str = setting(
        "Who sees a new memory unless it says so itself.",
        default="project",
        choices=SCOPES,
        files=_ANYWHERE,
        variables=("KEEPMUM_SCOPE",),
    )
    dialect: str = setting(
        "Under which names the tools are offered.",
        default="keepmum",
        choices=_DIALECTS,
        files=_ANYWHERE,
        variables=("KEEPMUM_DIALECT",),
    )
    agent: str | None = setting(
        "The name under which this agent's memories are kept.",
        default=None,
        check=checks.person,
        variables=("KEEPMUM_AGENT", "DEFAULT_AGENT"),
    )
    user: str | None = setting(
        "Keep this user's memories apart from everyone else's.",
        default=None,
        check=checks.person,
        variables=("KEEPMUM_USER",),
    )
    capture: Capture = field(default_factory=Capture)
    briefing: Briefing = field(default_factory=Briefing)
    guard: Guard = field(default_factory=Guard)
    retention: Retention = field(default_factory=Retention)
    store: Store = field(default_factory=Store)
    backend: Backend = field(default_factory=Backend)
    scanner: Scanner = field(default_factory=Scanner)
    embedding: Embedding = field(default_factory=Embedding)
    home: str | None = None  # the folder of Keepmum's state; None where the user has no home
    project_file: str | None = None  # the `.keepmum.toml` that was read
    named: tuple[str, ...] = ()  # the servers that the user's own file names, whichever holds here
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False, compare=False)

    def value_of(self, name: str) -> Value:
        """The value of a setting by its dotted name, as `keepmum status` lists them.

        Raises: KeyError when there is no such setting.
        """
        value: Any = self
        for part in SETTINGS[name].name.split("."):
            value = getattr(value, part)
        found: Value = value
        return found

    def source_of(self, name: str) -> str:
        """Where the value of `name` came from: `<path>:<line>`, the name of a variable, or "default".

        Raises: KeyError when there is no such setting.
        """
        return self.sources.get(name, DEFAULT) if name in SETTINGS else self.sources[name]


SETTINGS: Mapping[str, Setting] = MappingProxyType(declared(Settings))
