"""Help texts and usage errors of the command line."""

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
    """Shows the choices of an option once, in its own line."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.choices and action.metavar and action.option_strings:
            return f"{action.help}; one of {', '.join(map(str, action.choices))}"
        return action.help


class Parser(argparse.ArgumentParser):
    """An argument parser whose error messages mask secrets."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help, **options})

    def error(self, message: str) -> NoReturn:
        """Print usage and message to standard error, and exit with status 2."""
        super().error(_masked(message, [message]))


def without_secrets(message: str, argv: Iterable[str]) -> str:
    """`message` with the secrets masked that it repeats from the command line."""
    quoted = [part for word in argv for part in (word, word.partition("=")[2]) if part and part in message]
    return _masked(message, quoted)


def _masked(message: str, quoted: Iterable[str]) -> str:
    """`message` with the secrets in its `quoted` parts masked; all of it withheld when the scanner fails."""
    try:
        for part in quoted:
            from keepmum_scanner import redact, scan

            message = message.replace(part, redact(part, scan(part)))
    except Exception:  # noqa: BLE001 - a damaged scanner raises anything; unscanned text is not shown
        return "[not repeated, since the scanner failed; run `keepmum doctor`]"
    return message


def describe(commands: console.Subparsers[argparse.ArgumentParser]) -> dict[str, str]:
    """The help line of each command by name; also sets it as the description of the command's own help."""
    says = {each.dest: each.help or "" for each in commands._choices_actions}  # noqa: SLF001 - argparse has no public access
    for name, line in says.items():
        command = commands.choices[name]
        command.description = f"{line[:1].upper()}{line[1:]}."
        command.set_defaults(refuse=command.error)
    return says


def listed(groups: Mapping[str, Iterable[str]], says: Mapping[str, str]) -> str:
    """The commands under their headings, wrapped to the terminal's width."""
    width = shutil.get_terminal_size().columns - 2
    lines: list[str] = []
    for heading, names in groups.items():
        lines += ["", f"{heading}:"]
        for name in names:
            lines += textwrap.wrap(says[name], width, initial_indent=f"  {name:<11}", subsequent_indent=" " * 13)
    return "\n".join(lines[1:])


def unknown(word: str, commands: Iterable[str]) -> str:
    """The message for an unknown command, with the one that does what other programs call so, or the closest match."""
    near = _CALLED_ELSEWHERE.get(word.lower()) or next(iter(difflib.get_close_matches(word, list(commands), n=1)), "")
    instead = f"did you mean `keepmum {near}`?" if near else "`keepmum help` lists them"
    return f"there is no command {word!r}; {instead}"


_CALLED_ELSEWHERE = {
    word: command
    for command, words in {
        "remember": "add create insert new note put save set store write",
        "recall": "ask find grep list log ls query search",
        "load": "cat get open print read show view",
        "load --history": "diff history revisions versions",
        "forget": "clean clear del delete discard drop purge remove rm",
        "forget --undo": "recover restore revert undelete undo",
        "resume": "brief briefing context continue summary",
        "review": "dedupe duplicates stale",
        "scan": "check lint secrets",
        "audit": "redact verify",
        "export": "backup dump",
        "import": "ingest",
        "status": "config info settings stats project version",
        "doctor": "diagnose health test",
        "model status": "embed embedding embeddings",
        "backend list": "backends remote server stores use",
        "outbox": "push queue sync",
        "login": "auth key",
        "on": "enable start",
        "off": "disable pause stop",
        "install": "init setup update upgrade",
        "mcp": "serve",
    }.items()
    for word in words.split()
}
