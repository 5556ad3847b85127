"""One entry of a client's list of MCP servers, with and without the guard in front of the server. Pure."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Any

from keepmum_installers.errors import InstallError

__all__ = ["guarded", "is_guarded", "is_keepmum", "unguarded"]

Entry = Mapping[str, Any]
_STDIO = ("stdio", "local")
_HTTP = ("http", "streamable-http", "streamableHttp")
_VARIABLE = "KEEPMUM_GUARD_HEADER_"
_CLIENT_AUTHENTICATION = ("oauth", "headersHelper")
_SEPARATOR = "--"


def guarded(entry: Entry, call: Sequence[str], *, url_is_http: bool = False) -> dict[str, Any]:
    """The entry that starts the same server through the guard, which `call` starts; all other members stay.

    Raises: InstallError when the guard does not support such a server.
    """
    kind = entry.get("type", "stdio" if "command" in entry else "http" if url_is_http else None)
    if kind == "local" and _is_string_list(entry.get("command")) and entry["command"]:
        return {**entry, "command": [*call, _SEPARATOR, *entry["command"]]}  # one list, as in OpenCode
    if kind in _STDIO and isinstance(entry.get("command"), str) and _is_string_list(entry.get("args", [])):
        words = [*call, _SEPARATOR, entry["command"], *entry.get("args", [])]
        return {**entry, "command": words[0], "args": words[1:]}
    if any(name in entry for name in _CLIENT_AUTHENTICATION):
        raise InstallError(
            "the client itself authenticates at the server, which does not work through the guard",
            "Give the entry a header with a key instead, and run this again.",
        )
    if kind in _HTTP and isinstance(entry.get("url"), str) and _has_string_values(entry.get("headers", {})):
        return _over_http(entry, call)
    if kind == "sse":
        raise InstallError("the server uses the old SSE transport, which the guard does not support", _USE_HTTP)
    raise InstallError(
        "the entry is neither a command with arguments nor an http server", "It was left unchanged; see docs/guard.md."
    )


def is_guarded(entry: object) -> bool:
    """Whether the entry starts its server through the guard."""
    return isinstance(entry, Mapping) and _guard_arguments(entry) is not None


def is_keepmum(entry: object) -> bool:
    """Whether the entry starts Keepmum's own server, which scans every write itself."""
    return isinstance(entry, Mapping) and _our_arguments(entry, "mcp") is not None


def unguarded(entry: Entry) -> dict[str, Any] | None:
    """The entry without the guard; None when that cannot be derived."""
    words = _guard_arguments(entry)
    if words is None:
        return None
    if _SEPARATOR in words:
        command, *arguments = words[words.index(_SEPARATOR) + 1 :] or [""]
        if isinstance(entry["command"], list):
            return {**entry, "command": [command, *arguments]} if command else None
        return {**entry, "command": command, "args": arguments} if command else None
    return _http_entry(entry, words)


_USE_HTTP = "If the server also has an http address, use that instead and run this again."


def _over_http(entry: Entry, call: Sequence[str]) -> dict[str, Any]:
    """A header's value moves into the entry's environment: every user of the machine can read arguments."""
    words, environment = [*call, "--url", entry["url"]], dict(entry.get("env", {}))
    for number, (name, value) in enumerate(entry.get("headers", {}).items(), start=1):
        words += ["--header-env", f"{name}={_VARIABLE}{number}"]
        environment[f"{_VARIABLE}{number}"] = value
    rest = {key: value for key, value in entry.items() if key not in {"type", "url", "headers", "env"}}
    return {"command": words[0], "args": words[1:], **({"env": environment} if environment else {}), **rest}


def _http_entry(entry: Entry, words: Sequence[str]) -> dict[str, Any] | None:
    options = list(itertools.pairwise(words))
    url = next((value for name, value in options if name == "--url"), None)
    if url is None:
        return None
    environment = dict(entry.get("env", {}))
    named = [value.partition("=") for name, value in options if name == "--header-env"]
    headers = {name: environment.pop(variable, "") for name, _, variable in named}
    rest = {key: value for key, value in entry.items() if key not in {"command", "args", "env"}}
    added = {"headers": headers} if headers else {}
    return {"type": "http", "url": url, **added, **({"env": environment} if environment else {}), **rest}


def _guard_arguments(entry: Entry) -> list[str] | None:
    """The arguments after `guard` in an entry that starts our guard; None for any other entry."""
    words = _our_arguments(entry, "guard")
    return words if words and words[0].startswith("--") else None


def _our_arguments(entry: Entry, verb: str) -> list[str] | None:
    """The arguments after `verb` in an entry that starts this command of ours; None for any other entry."""
    command, arguments = entry.get("command"), entry.get("args")
    if _is_string_list(command) and command:
        command, *arguments = command
    if not isinstance(command, str) or not isinstance(arguments, list) or not _is_string_list(arguments):
        return None
    if verb not in arguments:
        return None
    at = arguments.index(verb)
    starter = (command, *arguments[:at])[-1]
    # The command itself, or an interpreter and the launcher of the plugin.
    ours = os.path.basename(starter) in {"keepmum", "keepmum.exe"} or starter.endswith(
        os.path.join("plugin", "launch.py")
    )
    return arguments[at + 1 :] if ours else None


def _is_string_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _has_string_values(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values())
