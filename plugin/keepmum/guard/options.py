"""The command line of the proxy; read by hand, since argparse would cost a quarter of the start."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

__all__ = ["USAGE", "Options", "UsageError", "is_proxy", "parse"]

USAGE = """\
usage: keepmum guard [--results] -- COMMAND [ARGUMENT ...]
       keepmum guard [--results] --url URL [--header-env NAME=VARIABLE ...]
       keepmum guard add|remove CLIENT SERVER [--scope user|project|local] [--dry-run]
       keepmum guard list [CLIENT]
"""


class UsageError(ValueError):
    """The command line is wrong; the message says how, and repeats none of it."""


class Options:
    """What stands behind the guard, and whether its answers are masked. Exactly one of command and url is set."""

    __slots__ = ("command", "headers", "results", "url")

    def __init__(self, command: Sequence[str], url: str, headers: Sequence[tuple[str, str]], *, results: bool) -> None:
        self.command: Final = tuple(command)
        self.url: Final = url
        self.headers: Final = tuple(headers)  # name of the header, name of the variable that holds its value
        self.results: Final = results


def is_proxy(words: Sequence[str]) -> bool:
    """Whether the words after `guard` start a proxy; the other commands begin with a word of their own."""
    return words[:1] != ["--help"] and "".join(words[:1]).startswith("--")


def parse(words: Sequence[str]) -> Options:
    """The options that the words after `guard` spell.

    Raises: UsageError.
    """
    rest, command = _cut(words)
    url, headers, results = "", [], False
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name == "--results" and not equals:
            results = True
            continue
        if name not in {"--url", "--header-env"}:
            raise UsageError("an option that the guard does not know, or a command without -- before it")
        if not equals:
            if not rest:
                raise UsageError(f"{name} needs a value")
            value = rest.pop(0)
        if name == "--url":
            url = value
        else:
            headers.append(_header(value))
    if bool(command) == bool(url):
        raise UsageError("one server is needed: a command after --, or --url")
    if headers and not url:
        raise UsageError("--header-env goes with --url")
    return Options(command, url, headers, results=results)


def _cut(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before the first `--`, and those after it."""
    end = words.index("--") if "--" in words else len(words)
    return list(words[:end]), list(words[end + 1 :])


def _header(text: str) -> tuple[str, str]:
    name, _, variable = text.partition("=")
    if not name.strip() or not variable.isidentifier():
        raise UsageError("--header-env takes NAME=VARIABLE, the variable's name and never the value itself")
    return name.strip(), variable
