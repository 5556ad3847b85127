"""`keepmum guard -- COMMAND` and `keepmum guard --url URL`; parsed by hand, since argparse would slow the start."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

__all__ = ["USAGE", "Options", "UsageError", "is_proxy", "main", "parse"]

USAGE = """\
usage: keepmum guard [--results] -- COMMAND [ARGUMENT ...]
       keepmum guard [--results] --url URL [--header-env NAME=VARIABLE ...]
       keepmum guard add|remove CLIENT SERVER [--scope user|project|local] [--dry-run]
       keepmum guard list [CLIENT]
"""


class UsageError(ValueError):
    """The command line is wrong; the message does not repeat its arguments, which may contain secrets."""


class Options:
    """The server behind the guard, and whether its responses are masked. Exactly one of command and url is set."""

    __slots__ = ("command", "headers", "results", "url")

    def __init__(self, command: Sequence[str], url: str, headers: Sequence[tuple[str, str]], *, results: bool) -> None:
        self.command: Final = tuple(command)
        self.url: Final = url
        self.headers: Final = tuple(headers)  # (header, environment variable with its value)
        self.results: Final = results


def main(words: Sequence[str]) -> int:
    """Run the guard and return the exit status of the server; 2 when the command line is wrong."""
    try:
        chosen = parse(words)
    except UsageError as error:
        sys.stderr.write(f"keepmum guard: {error}\n{USAGE}")
        return 2
    if chosen.command:
        from keepmum.guard import proxy

        return proxy.run(chosen.command, mask_results=chosen.results)
    from keepmum.guard import remote

    return remote.run(chosen.url, chosen.headers, mask_results=chosen.results)


def is_proxy(words: Sequence[str]) -> bool:
    """Whether the arguments after `guard` start a proxy; the other commands start with a word."""
    return words[:1] != ["--help"] and "".join(words[:1]).startswith("--")


def parse(words: Sequence[str]) -> Options:
    """The options in the arguments after `guard`.

    Raises: UsageError.
    """
    rest, command = _split(words)
    url, headers, results = "", [], False
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name == "--results" and not equals:
            results = True
            continue
        if name not in {"--url", "--header-env"}:
            raise UsageError("unknown option, or a command without -- before it")
        if not equals:
            if not rest:
                raise UsageError(f"{name} needs a value")
            value = rest.pop(0)
        if name == "--url":
            url = value
        else:
            headers.append(_header(value))
    if bool(command) == bool(url):
        raise UsageError("give one server: a command after --, or --url")
    if headers and not url:
        raise UsageError("--header-env requires --url")
    return Options(command, url, headers, results=results)


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments before and after the first `--`."""
    end = words.index("--") if "--" in words else len(words)
    return list(words[:end]), list(words[end + 1 :])


def _header(text: str) -> tuple[str, str]:
    name, _, variable = text.partition("=")
    if not name.strip() or not variable.isidentifier():
        raise UsageError("--header-env takes NAME=VARIABLE: the name of the variable, never the value")
    return name.strip(), variable
