"""An entry of a client's list of MCP servers, with the guard in front of the server and without. Pure."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepmum_installers.clients.client import Scope
from keepmum_installers.errors import InstallError

__all__ = ["ServerList", "guarded", "is_guarded", "unguarded"]

Entry = Mapping[str, Any]
_STDIO = ("stdio", "local")
_HTTP = ("http", "streamable-http", "streamableHttp")
_VARIABLE = "KEEPMUM_GUARD_HEADER_"
_SIGNED_IN_BY_THE_CLIENT = ("oauth", "headersHelper")
_BEFORE_THE_COMMAND = "--"


@dataclass(frozen=True, slots=True)
class ServerList:
    """A list of servers: whom it holds for, its file, and where it stands in that."""

    scope: Scope
    path: str
    keys: tuple[str, ...]
    url_is_http: bool = False
    """Whether an address without a type is one of Streamable HTTP, as it is in some clients."""


def guarded(entry: Entry, call: Sequence[str], *, url_is_http: bool = False) -> dict[str, Any]:
    """The entry that starts the same server by `call`, the words that start the guard; all it does not name stays.

    Raises: InstallError when the guard could not stand in front of such a server.
    """
    kind = entry.get("type", "stdio" if "command" in entry else "http" if url_is_http else None)
    if kind == "local" and _are_words(entry.get("command")) and entry["command"]:
        return {**entry, "command": [*call, _BEFORE_THE_COMMAND, *entry["command"]]}  # one list, as OpenCode has it
    if kind in _STDIO and isinstance(entry.get("command"), str) and _are_words(entry.get("args", [])):
        words = [*call, _BEFORE_THE_COMMAND, entry["command"], *entry.get("args", [])]
        return {**entry, "command": words[0], "args": words[1:]}
    if any(name in entry for name in _SIGNED_IN_BY_THE_CLIENT):
        raise InstallError(
            "the client itself signs in to the server, which it cannot do through the guard",
            "Give the entry a header with a key in it instead, and run this again.",
        )
    if kind in _HTTP and isinstance(entry.get("url"), str) and _are_texts(entry.get("headers", {})):
        return _over_http(entry, call)
    if kind == "sse":
        raise InstallError("the server speaks the old SSE transport, which the guard does not", _USE_HTTP)
    raise InstallError(
        "the entry is neither a command with arguments nor an http server", "It was left alone; see docs/guard.md."
    )


def is_guarded(entry: object) -> bool:
    """Whether the entry starts its server through the guard."""
    return isinstance(entry, Mapping) and _guard_words(entry) is not None


def unguarded(entry: Entry) -> dict[str, Any] | None:
    """The entry as it may have been before the guard came; None when that does not show."""
    words = _guard_words(entry)
    if words is None:
        return None
    if _BEFORE_THE_COMMAND in words:
        command, *arguments = words[words.index(_BEFORE_THE_COMMAND) + 1 :] or [""]
        if isinstance(entry["command"], list):
            return {**entry, "command": [command, *arguments]} if command else None
        return {**entry, "command": command, "args": arguments} if command else None
    return _back_to_http(entry, words)


_USE_HTTP = "If the server has an http address too, put that in its place and run this again."


def _over_http(entry: Entry, call: Sequence[str]) -> dict[str, Any]:
    """A header's value moves into the entry's environment: arguments are shown to every user of the machine."""
    words, environment = [*call, "--url", entry["url"]], dict(entry.get("env", {}))
    for number, (name, value) in enumerate(entry.get("headers", {}).items(), start=1):
        words += ["--header-env", f"{name}={_VARIABLE}{number}"]
        environment[f"{_VARIABLE}{number}"] = value
    rest = {key: value for key, value in entry.items() if key not in {"type", "url", "headers", "env"}}
    return {"command": words[0], "args": words[1:], **({"env": environment} if environment else {}), **rest}


def _back_to_http(entry: Entry, words: Sequence[str]) -> dict[str, Any] | None:
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


def _guard_words(entry: Entry) -> list[str] | None:
    """What stands behind `guard` in an entry of ours; None in any other."""
    command, arguments = entry.get("command"), entry.get("args")
    if _are_words(command) and command:
        command, *arguments = command
    if not isinstance(command, str) or not isinstance(arguments, list) or not _are_words(arguments):
        return None
    if "guard" not in arguments:
        return None
    at = arguments.index("guard")
    starter = (command, *arguments[:at])[-1]
    # The command itself, or an interpreter and the launcher of the plugin.
    ours = os.path.basename(starter) in {"keepmum", "keepmum.exe"} or starter.endswith(
        os.path.join("plugin", "launch.py")
    )
    return arguments[at + 1 :] if ours and arguments[at + 1 : at + 2] and arguments[at + 1].startswith("--") else None


def _are_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _are_texts(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values())
