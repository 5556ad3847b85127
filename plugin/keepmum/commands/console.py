"""What commands share: the memory as seen from here, and the words to and from a person."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from typing import TextIO, cast

from keepmum import application
from keepmum.errors import ConfirmationNeeded, InvalidInput
from keepmum.memory import LIMITS
from keepmum.service import MemoryService

__all__ = ["Memory", "Subparsers", "ask", "opened", "positive", "print_json", "read_text", "say", "tell", "write_lines"]

_AGENT = "cli"
Subparsers = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for what add_subparsers gives


def say(line: str) -> None:
    """Print what was asked for."""
    print(line)  # noqa: T201


class Memory:
    """The memory as seen from the working folder, for the length of one command."""

    def __init__(self, origin: str = "cli") -> None:
        self._service = application.open_memory(os.environ, _AGENT, origin=origin, upkeep=False)
        for notice in self._service.notices():
            tell(notice)

    def __enter__(self) -> MemoryService:
        return self._service

    def __exit__(self, *_: object) -> None:
        self._service.close()


def positive(text: str) -> int:
    """A whole number above zero, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def read_text(stream: TextIO) -> str:
    """All of a stream, up to what a memory may hold and a little more, so that the limit is told."""
    if stream.isatty():
        tell("type the memory, then end of input (Ctrl-D)")
    try:
        return stream.read(LIMITS.text * 2)
    except UnicodeDecodeError:
        raise InvalidInput("text", "is not UTF-8; only text can be remembered") from None


def opened(path: str, mode: str) -> TextIO:
    """A text file, for its owner alone when it is made (`mode` "x").

    Raises: InvalidInput when it cannot be opened, or exists although it is to be made.
    """
    try:
        descriptor_mode = 0o600  # an export holds memories: for its owner alone
        opener = None if mode == "r" else lambda name, flags: os.open(name, flags, descriptor_mode)
        file = open(path, mode, encoding="utf-8", newline="\n" if mode == "x" else None, opener=opener)  # noqa: SIM115 - the caller closes it
        return cast("TextIO", file)
    except FileExistsError:
        raise InvalidInput("file", f"{path} exists already; choose another name") from None
    except OSError as error:
        raise InvalidInput("file", f"{path}: {error.strerror}") from None


def write_lines(file: TextIO, lines: Iterable[str]) -> int:
    """How many lines were written."""
    count = 0
    for line in lines:
        file.write(line + "\n")
        count += 1
    return count


def ask(question: str) -> None:
    """Nothing, when a person at the terminal says yes.

    Raises: ConfirmationNeeded otherwise.
    """
    if not sys.stdin.isatty():
        raise ConfirmationNeeded("nothing was removed: this removes more than was named. Repeat it with --yes.")
    if input(f"{question} [y/N] ").strip().lower() not in {"y", "yes"}:
        raise ConfirmationNeeded("nothing was removed")


def print_json(value: object) -> None:
    """Print a value as JSON."""
    say(json.dumps(value, ensure_ascii=False, indent=2))


def tell(message: str) -> None:
    """Print a remark where it does not mix with what was asked for."""
    sys.stderr.write(f"keepmum: {message}\n")
