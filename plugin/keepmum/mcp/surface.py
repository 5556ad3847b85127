"""What an MCP server offers, as data, and the interface of its handlers. No I/O, cheap to import.

A server is a `Surface` (names, texts, schemas) and a function that opens its `Handlers`. They are separate because
clients ask for the surface at once with a short timeout, while handlers open stores and import more.

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
    "TAGS",
    "Answer",
    "Context",
    "Handlers",
    "Prompt",
    "PromptArgument",
    "Resource",
    "Surface",
    "Template",
    "Tool",
    "parameters",
    "text",
]

TAGS = {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 100}, "maxItems": 20}
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Tool:
    """A tool; its parameters are a JSON schema in the subset that `keepmum.mcp.arguments` enforces."""

    __slots__ = ("annotations", "description", "for_panel", "meta", "name", "parameters", "title")

    def __init__(  # noqa: PLR0913 - the fields of a value
        self,
        name: str,
        description: str,
        parameters: Mapping[str, object],
        annotations: Mapping[str, object],
        *,
        meta: Mapping[str, object] | None = None,
        title: str | None = None,
        for_panel: bool = False,
    ) -> None:
        self.name: Final = name
        self.for_panel: Final = for_panel  # answered by `Handlers.show`
        self.description: Final = description
        self.parameters: Final = parameters
        self.annotations: Final = annotations
        self.meta: Final = meta
        self.title: Final = title

    def to_wire(self) -> Json:
        """The tool in the form of `tools/list`, without unset fields."""
        return _present(
            name=self.name,
            title=self.title,
            description=self.description,
            inputSchema=self.parameters,
            annotations=self.annotations,
            _meta=self.meta,
        )


class Resource:
    """A text with a fixed URI."""

    __slots__ = ("contents_meta", "description", "mime_type", "name", "title", "uri")
    _URI = "uri"  # the protocol's field

    def __init__(  # noqa: PLR0913 - the fields of a value
        self,
        uri: str,
        name: str,
        description: str,
        mime_type: str = "text/markdown",
        title: str | None = None,
        *,
        contents_meta: Mapping[str, object] | None = None,
    ) -> None:
        self.uri: Final = uri
        self.name: Final = name
        self.description: Final = description
        self.mime_type: Final = mime_type
        self.title: Final = title
        self.contents_meta: Final = contents_meta  # the `_meta` of its contents

    def to_wire(self) -> Json:
        """The resource in the form of `resources/list` or `resources/templates/list`."""
        facts = _present(name=self.name, title=self.title, description=self.description, mimeType=self.mime_type)
        return {self._URI: self.uri, **facts}


class Template(Resource):
    """Texts whose URIs match an RFC 6570 template."""

    __slots__ = ()
    _URI = "uriTemplate"


class PromptArgument:
    """An argument of a prompt; its value is a string."""

    __slots__ = ("description", "name", "required")

    def __init__(self, name: str, description: str, *, required: bool = False) -> None:
        self.name: Final = name
        self.description: Final = description
        self.required: Final = required

    def to_wire(self) -> Json:
        """The argument in the form of `prompts/list`."""
        return {"name": self.name, "description": self.description, "required": self.required}


class Prompt:
    """A text that a user requests by name, as a command of the client."""

    __slots__ = ("arguments", "description", "name", "title")

    def __init__(
        self, name: str, description: str, arguments: Sequence[PromptArgument] = (), title: str | None = None
    ) -> None:
        self.name: Final = name
        self.description: Final = description
        self.arguments: Final = tuple(arguments)
        self.title: Final = title

    def to_wire(self) -> Json:
        """The prompt in the form of `prompts/list`."""
        return _present(
            name=self.name,
            title=self.title,
            description=self.description,
            arguments=[argument.to_wire() for argument in self.arguments],
        )


class Surface:
    """Everything a server offers; empty parts are neither announced nor answered.

    `aliases` maps other names to tools; they are accepted in calls and not listed.
    """

    __slots__ = ("aliases", "instructions", "prompts", "resources", "templates", "tools")

    def __init__(  # noqa: PLR0913, PLR0917 - the fields of a value
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


class Answer:
    """The result of a tool of the panel: a text, and the same as data."""

    __slots__ = ("data", "failed", "text")

    def __init__(self, text: str, data: Mapping[str, object] | None = None, *, failed: bool = False) -> None:
        self.text: Final = text
        self.data: Final = data
        self.failed: Final = failed


class Context:
    """The caller of a request, with progress, log and cancellation.

    This base class does nothing, for tests and other callers without a client; sessions pass a subclass that reaches
    the client.
    """

    __slots__ = ("agent", "agent_version", "client_name", "meta", "protocol", "remarks", "roots", "session")

    def __init__(  # noqa: PLR0913 - the fields of a value
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
        self.agent: Final = agent  # the id of a known agent, such as "claude-code", or `clientInfo.name`
        self.agent_version: Final = agent_version
        self.client_name: Final = client_name or agent  # `clientInfo.name`, unchanged
        self.protocol: Final = protocol  # the negotiated version
        self.roots: Final = roots  # the client's folders as local paths; empty until known
        self.session: Final = session  # the client's session id, or ""
        self.meta: Final[Mapping[str, object]] = {} if meta is None else meta  # the request's `_meta`, unchecked
        self.remarks: Final[list[str]] = []  # texts that follow the result of a tool, for tools that answer in JSON

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress, if the client asked for it; `done` must increase with each call."""

    def cancelled(self) -> bool:
        """Whether the client has cancelled the request; it then gets no response."""
        return False

    def log(self, level: str, message: str) -> None:
        """Send a log message of one of LOG_LEVELS, unless the client chose a higher level."""


class Handlers(Protocol):
    """The implementation of a surface. Runs on the thread that opened it, one request at a time.

    The message of a `KeepmumError` is sent to the client; any other exception becomes an internal error without its
    message, which might contain a secret.
    """

    def call(self, name: str, arguments: dict[str, object], context: Context) -> str:
        """The result of a tool; `arguments` are validated against its schema."""

    def show(self, name: str, arguments: dict[str, object], context: Context) -> Answer:
        """The result of a tool of the panel."""

    def read(self, uri: str, context: Context) -> tuple[str, str]:
        """MIME type and text of a resource.

        Raises: NotFound when no resource has this URI.
        """

    def prompt(self, name: str, arguments: dict[str, str], context: Context) -> str:
        """The text of a prompt; required arguments are present, unknown ones are not."""

    def roots_changed(self, context: Context) -> None:
        """Called when the client has sent its folders or its session.

        Raises: KeepmumError when the handlers cannot work there; a call that named the place is then refused.
        """

    def close(self) -> None:
        """Called once at the end; must be fast, because the client waits for the process."""


def text(description: str, max_length: int) -> Json:
    """The JSON schema of a string."""
    return {"type": "string", "description": description, "maxLength": max_length}


def parameters(required: Sequence[str] = (), /, **properties: object) -> Json:
    """The JSON schema of a tool's parameters, without additional properties."""
    needs = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needs, "additionalProperties": False}


def _present(**fields: object) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
