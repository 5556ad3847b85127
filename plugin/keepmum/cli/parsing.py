"""The parser of the command line: every command says what it does, and its help fits a screen."""

from __future__ import annotations

import argparse
import difflib
import shutil
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from keepmum.cli import console

__all__ = ["Help", "Parser", "describe", "listed", "unknown", "without_secrets"]


class Help(argparse.RawDescriptionHelpFormatter):
    """Help that names the choices of an argument once, below it, and not wherever the argument is mentioned."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.choices and action.metavar and action.option_strings:
            return f"{action.help}; one of {', '.join(map(str, action.choices))}"
        return action.help


class Parser(argparse.ArgumentParser):
    """A parser that quotes what it does not understand, as all do, but no secret in it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, **options})

    def error(self, message: str) -> NoReturn:
        """End the process with usage and message on standard error; status 2."""
        super().error(_harmless(message, [message]))


def without_secrets(message: str, argv: Iterable[str]) -> str:
    """A message that may repeat words of the command line, without the secrets in these."""
    told = [part for word in argv for part in (word, word.partition("=")[2]) if part and part in message]
    return _harmless(message, told)


def _harmless(message: str, told: Iterable[str]) -> str:
    """`message` without the secrets in what is `told` in it; nothing of it where the scanner cannot say."""
    try:
        for part in told:
            from keepmum_scanner import redact, scan

            message = message.replace(part, redact(part, scan(part)))
    except Exception:  # noqa: BLE001 - a damaged file raises anything, and what is not judged is not shown
        return "[not repeated, since the scanner failed; run `keepmum doctor`]"
    return message


def describe(commands: console.Subparsers[argparse.ArgumentParser]) -> dict[str, str]:
    """What each command does, by its name; from here on its own help begins with that, and it refuses words itself."""
    says = {each.dest: each.help or "" for each in commands._choices_actions}  # noqa: SLF001 - argparse shows them in no other way
    for name, line in says.items():
        command = commands.choices[name]
        command.description = f"{line[:1].upper()}{line[1:]}."
        command.set_defaults(refuse=command.error)
    return says


def listed(groups: Mapping[str, Iterable[str]], says: Mapping[str, str]) -> str:
    """The commands under their headings, one a line, as wide as the terminal."""
    width = shutil.get_terminal_size().columns - 2
    lines: list[str] = []
    for heading, names in groups.items():
        lines += ["", f"{heading}:"]
        for name in names:
            lines += textwrap.wrap(says[name], width, initial_indent=f"  {name:<11}", subsequent_indent=" " * 13)
    return "\n".join(lines[1:])


def unknown(word: str, commands: Iterable[str]) -> str:
    """That there is no such command, and which one may have been meant."""
    near = difflib.get_close_matches(word, list(commands), n=1)
    instead = f"did you mean `keepmum {near[0]}`?" if near else "`keepmum --help` lists them"
    return f"there is no command {word!r}; {instead}"
