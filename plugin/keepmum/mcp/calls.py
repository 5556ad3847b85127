"""The three requests that handlers serve: tools/call, resources/read and prompts/get.

A request is planned when it arrives, so that an invalid one is answered at once, and run later on the handlers' thread.
Expected errors become tool results or protocol errors, as the request requires.
"""

from __future__ import annotations

from keepmum.core import jsonrpc
from keepmum.core.errors import InvalidInput, KeepmumError, NotFound
from keepmum.mcp.arguments import check, check_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final, Protocol

    from keepmum.mcp.surface import Context, Handlers, Prompt, Surface, Tool

    Json = dict[str, object]
else:
    Protocol = object

__all__ = ["Call", "PromptCall", "ResourceCall", "ToolCall", "plan"]


class Call(Protocol):
    """A planned request."""

    subject: str  # names the request in internal errors; never text from the client

    def run(self, handlers: Handlers, context: Context) -> Json:
        """The result from the handlers.

        Raises: KeepmumError as the handlers do.
        """

    def refuse(self, error: KeepmumError) -> Json:
        """The result that reports an expected error.

        Raises: jsonrpc.RpcError for requests whose results cannot report errors.
        """


def plan(surface: Surface, method: str, params: Mapping[str, object]) -> Call | None:
    """The call for a request; None for a method that handlers do not serve.

    Raises: jsonrpc.RpcError when the parameters are invalid.
    """
    if method == "tools/call" and surface.tools:
        return _plan_tool(surface, params)
    if method == "resources/read" and (surface.resources or surface.templates):
        return _plan_resource(surface, params)
    if method == "prompts/get" and surface.prompts:
        return _plan_prompt(surface, params)
    return None


class ToolCall:
    """A tool call. Errors are returned as results, which the model reads and can act on."""

    def __init__(self, tool: Tool, arguments: Json) -> None:
        self.subject = tool.name
        self._tool: Final = tool
        self._arguments: Final = arguments

    def run(self, handlers: Handlers, context: Context) -> Json:
        """The text of the tool."""
        arguments = check(self._tool.parameters, self._arguments)
        if not self._tool.for_panel:
            return _tool_result(handlers.call(self._tool.name, arguments, context), *context.remarks)
        answer = handlers.show(self._tool.name, arguments, context)
        data = {} if answer.data is None else {"structuredContent": answer.data}
        failed = {"isError": True} if answer.failed else {}
        return {**_tool_result(answer.text), **data, **failed}

    def refuse(self, error: KeepmumError) -> Json:
        """The error message as the result of the tool, marked as an error."""
        return {**_tool_result(_message(error)), "isError": True}


class ResourceCall:
    """A request to read a resource."""

    subject = "resources/read"

    def __init__(self, uri: str, meta: Mapping[str, object] | None = None) -> None:
        self._uri: Final = uri
        self._meta: Final = {} if meta is None else {"_meta": meta}

    def run(self, handlers: Handlers, context: Context) -> Json:
        """The content of the resource."""
        mime_type, text = handlers.read(self._uri, context)
        return {"contents": [{"uri": self._uri, "mimeType": mime_type, "text": text, **self._meta}]}

    def refuse(self, error: KeepmumError) -> Json:
        """Always raises: reading a resource reports errors in the protocol."""
        if isinstance(error, NotFound):
            raise jsonrpc.RpcError(jsonrpc.RESOURCE_NOT_FOUND, _message(error))
        raise _as_rpc(error)


class PromptCall:
    """A request for a prompt."""

    subject = "prompts/get"

    def __init__(self, prompt: Prompt, arguments: dict[str, str]) -> None:
        self._prompt: Final = prompt
        self._arguments: Final = arguments

    def run(self, handlers: Handlers, context: Context) -> Json:
        """The prompt as one user message."""
        text = handlers.prompt(self._prompt.name, self._arguments, context)
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": self._prompt.description, "messages": [message]}

    def refuse(self, error: KeepmumError) -> Json:
        """Always raises: a prompt reports errors in the protocol."""
        raise _as_rpc(error)


def _plan_tool(surface: Surface, params: Mapping[str, object]) -> ToolCall:
    name = params.get("name")
    wanted = surface.aliases.get(name, name) if isinstance(name, str) else None
    for tool in surface.tools:
        if tool.name == wanted:
            return ToolCall(tool, _arguments(params))
    raise jsonrpc.RpcError(
        jsonrpc.INVALID_PARAMS, f"unknown tool; choose one of {', '.join(tool.name for tool in surface.tools)}"
    )


def _plan_resource(surface: Surface, params: Mapping[str, object]) -> ResourceCall:
    uri = _text(params, "uri")
    listed = next((each for each in surface.resources if each.uri == uri), None)
    if listed is None and uri.startswith("ui:"):  # a page that this client cannot show
        raise jsonrpc.RpcError(jsonrpc.RESOURCE_NOT_FOUND, "this server has no such resource")
    return ResourceCall(uri, None if listed is None else listed.contents_meta)


def _plan_prompt(surface: Surface, params: Mapping[str, object]) -> PromptCall:
    name = params.get("name")
    for prompt in surface.prompts:
        if prompt.name == name:
            try:
                return PromptCall(prompt, _texts(check(_prompt_schema(prompt), _arguments(params))))
            except InvalidInput as error:
                raise _as_rpc(error) from None
    known = ", ".join(prompt.name for prompt in surface.prompts)
    raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, f"unknown prompt; choose one of {known}")


def _prompt_schema(prompt: Prompt) -> Json:
    return {
        "properties": {argument.name: {"type": "string"} for argument in prompt.arguments},
        "required": [argument.name for argument in prompt.arguments if argument.required],
        "additionalProperties": False,
    }


def _arguments(params: Mapping[str, object]) -> Json:
    arguments = params.get("arguments")
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, 'invalid params: "arguments" must be an object')
    return arguments


def _text(params: Mapping[str, object], field: str) -> str:
    value = params.get(field)
    if not isinstance(value, str):
        raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, f'invalid params: "{field}" must be text')
    try:
        return check_text(field, value)
    except InvalidInput as error:
        raise _as_rpc(error) from None


def _texts(arguments: Mapping[str, object]) -> dict[str, str]:
    return {name: value for name, value in arguments.items() if isinstance(value, str)}


def _tool_result(*texts: str) -> Json:
    return {"content": [{"type": "text", "text": text} for text in texts]}


def _as_rpc(error: KeepmumError) -> jsonrpc.RpcError:
    code = jsonrpc.INVALID_PARAMS if isinstance(error, InvalidInput) else jsonrpc.INTERNAL_ERROR
    return jsonrpc.RpcError(code, _message(error))


def _message(error: KeepmumError) -> str:
    """The error in one line; it may repeat a stored title or name."""
    from keepmum.core.framing import inline  # not needed for a handshake

    return inline(str(error))
