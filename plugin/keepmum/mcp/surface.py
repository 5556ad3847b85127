"""What an MCP server offers, as data, and what its handlers are given. No transport, no I/O, cheap to import.

A server is a `Surface` (names, texts, schemas) and a function that opens its `Handlers`. The two are apart because
clients ask for the surface at once and give up soon, while handlers open stores and import what they need.

Field names on the wire are those of the protocol.
Source: https://modelcontextprotocol.io/specification/2025-11-25/schema, read 2026-11-21.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Final, Protocol

    Json = dict[str, object]
    OpenHandlers = Callable[["Context"], "Handlers"]
else:
    Protocol = object

__all__ = [
    "LOG_LEVELS",
    "Context",
    "Handlers",
    "Prompt",
    "PromptArgument",
    "Resource",
    "Surface",
    "Template",
    "Tool",
    "parameters",
]

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Tool:
    """One tool: its parameters are a JSON schema within the subset that `keepmum.mcp.arguments` enforces."""

    __slots__ = ("annotations", "description", "meta", "name", "parameters", "title")

    def __init__(  # noqa: PLR0913 - a tool has six parts, and a value names them all
        self,
        name: str,
        description: str,
        parameters: Mapping[str, object],
        annotations: Mapping[str, object],
        *,
        meta: Mapping[str, object] | None = None,
        title: str | None = None,
    ) -> None:
        self.name: Final = name
        self.description: Final = description
        self.parameters: Final = parameters
        self.annotations: Final = annotations
        self.meta: Final = meta
        self.title: Final = title

    def to_wire(self) -> Json:
        """The tool as `tools/list` shows it; what is not set is left out."""
        return _present(
            name=self.name,
            title=self.title,
            description=self.description,
            inputSchema=self.parameters,
            annotations=self.annotations,
            _meta=self.meta,
        )


class Resource:
    """A text that can be read under a fixed URI."""

    __slots__ = ("description", "mime_type", "name", "title", "uri")
    _URI = "uri"  # what the protocol calls it

    def __init__(
        self, uri: str, name: str, description: str, mime_type: str = "text/markdown", title: str | None = None
    ) -> None:
        self.uri: Final = uri
        self.name: Final = name
        self.description: Final = description
        self.mime_type: Final = mime_type
        self.title: Final = title

    def to_wire(self) -> Json:
        """What `resources/list`, or `resources/templates/list`, shows of it."""
        facts = _present(name=self.name, title=self.title, description=self.description, mimeType=self.mime_type)
        return {self._URI: self.uri, **facts}


class Template(Resource):
    """A family of texts, each under a URI that fits an RFC 6570 template."""

    __slots__ = ()
    _URI = "uriTemplate"


class PromptArgument:
    """One argument of a prompt; its value is always a string."""

    __slots__ = ("description", "name", "required")

    def __init__(self, name: str, description: str, *, required: bool = False) -> None:
        self.name: Final = name
        self.description: Final = description
        self.required: Final = required

    def to_wire(self) -> Json:
        """The argument as a part of its prompt."""
        return {"name": self.name, "description": self.description, "required": self.required}


class Prompt:
    """A text that a user can ask for by name, as a command of the client."""

    __slots__ = ("arguments", "description", "name", "title")

    def __init__(
        self, name: str, description: str, arguments: Sequence[PromptArgument] = (), title: str | None = None
    ) -> None:
        self.name: Final = name
        self.description: Final = description
        self.arguments: Final = tuple(arguments)
        self.title: Final = title

    def to_wire(self) -> Json:
        """The prompt as `prompts/list` shows it."""
        return _present(
            name=self.name,
            title=self.title,
            description=self.description,
            arguments=[argument.to_wire() for argument in self.arguments],
        )


class Surface:
    """All that a server offers. What is empty is neither announced nor answered.

    `aliases` are other names that tools answer to, for callers that know them by these; no list shows them.
    """

    __slots__ = ("aliases", "instructions", "prompts", "resources", "templates", "tools")

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of a server, in the order of its lists
        self,
        instructions: str,
        tools: Sequence[Tool] = (),
        resources: Sequence[Resource] = (),
        templates: Sequence[Template] = (),
        prompts: Sequence[Prompt] = (),
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.aliases: Final[Mapping[str, str]] = {} if aliases is None else aliases
        self.instructions: Final = instructions
        self.tools: Final = tuple(tools)
        self.resources: Final = tuple(resources)
        self.templates: Final = tuple(templates)
        self.prompts: Final = tuple(prompts)


class Context:
    """Who is asking, and a way to answer while the work goes on.

    As it stands nobody listens and nobody cancels, which is what tests and other callers without a client need;
    the session hands out contexts that reach the client.
    """

    __slots__ = ("agent", "agent_version", "client_name", "meta", "protocol", "roots", "session")

    def __init__(  # noqa: PLR0913 - one value with many facts
        self,
        *,
        agent: str = "unknown",
        agent_version: str = "",
        client_name: str = "",
        protocol: str = "",
        roots: tuple[str, ...] = (),
        session: str = "",
        meta: Mapping[str, object] | None = None,
    ) -> None:
        self.agent: Final = agent  # the id of a known agent, as in "claude-code", else `clientInfo.name`
        self.agent_version: Final = agent_version
        self.client_name: Final = client_name or agent  # `clientInfo.name` as it stands there
        self.protocol: Final = protocol  # the negotiated version
        self.roots: Final = roots  # the client's folders as paths of this machine; empty until it has told them
        self.session: Final = session  # the client's id of the conversation, or "" where it does not tell it
        self.meta: Final[Mapping[str, object]] = {} if meta is None else meta  # the request's `_meta`, unchecked

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the work is, if it asked to be told; `done` must grow from call to call."""

    def cancelled(self) -> bool:
        """Whether the client no longer wants the answer; what is cancelled gets none."""
        return False

    def log(self, level: str, message: str) -> None:
        """Send a line to the client's log, unless the client set a higher level. One of LOG_LEVELS."""


class Handlers(Protocol):
    """What stands behind a surface. All of it runs on one thread, the one that opened it, one request at a time.

    Any `KeepmumError` is told to the client in its own words; anything else that is raised is told as an internal
    error, without its words, since they may hold what must not be shown.
    """

    def call(self, name: str, arguments: dict[str, object], context: Context) -> str:
        """The text that a tool answers with; `arguments` were checked against the tool's schema."""

    def read(self, uri: str, context: Context) -> tuple[str, str]:
        """MIME type and text of a resource.

        Raises: NotFound when nothing goes by that URI.
        """

    def prompt(self, name: str, arguments: dict[str, str], context: Context) -> str:
        """The text of a prompt; every required argument is there, and no unknown one."""

    def roots_changed(self, context: Context) -> None:
        """Called when the client has told its folders or its session, at the start or anew.

        Raises: KeepmumError when that place cannot be worked in; a call that told of it is then refused.
        """

    def close(self) -> None:
        """Called once at the end; it must not wait for anything slow, since the client waits for the process."""


def parameters(required: Sequence[str] = (), /, **properties: object) -> Json:
    """The JSON schema of a tool's parameters: these properties and no others."""
    needs = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needs, "additionalProperties": False}


def _present(**fields: object) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
