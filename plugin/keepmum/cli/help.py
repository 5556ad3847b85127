"""Help texts and usage errors of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, NoReturn

__all__ = ["Help", "Parser", "without_secrets"]


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
