"""What commands share: the memory as seen from here, and the words to and from a person."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from keepmum.core.errors import ConfirmationNeeded, InvalidInput
from keepmum.core.memory import LIMITS
from keepmum.service import MemoryService, opening
from keepmum.workspace.resolve import backend_kind, resolve

__all__ = [
    "Memory",
    "Subparsers",
    "ask",
    "check_server",
    "days",
    "made",
    "memories",
    "positive",
    "print_json",
    "read_text",
    "say",
    "tell",
    "tell_refused",
    "write_lines",
]

_AGENT = "cli"
_MOST_DAYS = 36_500
_REASONS, _PLACES = 20, 10  # that are told of what was refused
Subparsers = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for what add_subparsers gives


def say(line: str) -> None:
    """Print what was asked for."""
    print(line)  # noqa: T201


class Memory:
    """The memory as seen from the working folder, for the length of one command."""

    def __init__(self, origin: str = "cli", *, tells: bool = True, stores: Sequence[str] = ()) -> None:
        self._tells = tells
        self._service = opening.open_session(os.environ, _AGENT, origin=origin, upkeep=False, stores=stores)

    def __enter__(self) -> MemoryService:
        return self._service

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        # At the end, since damage may be found, and mended, on the way; an error tells of it by itself.
        caveat = self._service.caveat()
        for notice in (caveat, *self._service.notices()) if self._tells and error is None else ():
            if notice and (notice == caveat or notice not in caveat):  # which may say why by itself
                tell(notice)
        self._service.close()


def positive(text: str) -> int:
    """A whole number above zero, for argparse."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return number


def days(text: str) -> float:
    """So many days in seconds, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= _MOST_DAYS:
        raise argparse.ArgumentTypeError(f"must be a number of days, above 0 and at most {_MOST_DAYS}")
    return number * 86_400


def read_text(stream: TextIO) -> str:
    """All of a stream.

    Raises: InvalidInput when it is not UTF-8, or longer than a memory may be; the rest of it is not read.
    """
    if stream.isatty():
        tell("type the memory, then end of input (Ctrl-D)")
    try:
        text = stream.read(LIMITS.text + 1)  # characters, of which each is a byte or more
    except UnicodeDecodeError:
        raise InvalidInput("text", "is not UTF-8; only text can be remembered") from None
    if len(text) > LIMITS.text and stream.read(1):
        raise InvalidInput("text", f"has more than the {LIMITS.text:,} bytes that fit; keep one concept a memory")
    return text


@contextlib.contextmanager
def made(path: str) -> Iterator[TextIO]:
    """A new text file for its owner alone, since it will hold memories; gone again when writing it fails.

    Raises: InvalidInput when it cannot be made, or exists.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InvalidInput("file", f"{path} exists already; choose another name") from None
    except OSError as error:
        raise InvalidInput("file", f"{path}: {error.strerror}") from None
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            yield file
    except BaseException:
        os.unlink(path)
        raise


def write_lines(file: TextIO, lines: Iterable[str]) -> int:
    """How many lines were written."""
    count = 0
    for line in lines:
        file.write(line + "\n")
        count += 1
    return count


def ask(question: str, otherwise: str = "nothing was removed") -> None:
    """Nothing, when a person at the terminal says yes.

    Raises: ConfirmationNeeded otherwise.
    """
    if not sys.stdin.isatty():
        raise ConfirmationNeeded(f"{otherwise}: there is nobody to ask here. Repeat it with --yes.")
    try:
        answer = input(f"{question} [y/N] ")
    except EOFError:  # Ctrl-D
        answer = ""
    if answer.strip().lower() not in {"y", "yes"}:
        raise ConfirmationNeeded(otherwise)


def memories(count: int) -> str:
    """So many memories, as one says it: `1 memory`, `2,000 memories`."""
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


def check_server(name: str) -> None:
    """Nothing, when a team's server is named, or its kind is chosen, which stands for one on this machine.

    Raises: InvalidInput for the argument `name` otherwise.
    """
    chosen = resolve(os.environ).settings
    if backend_kind(chosen) != "rest" and chosen.backend.origin is None:
        raise InvalidInput(name, "no team server is named; `keepmum backend use URL` names one")


def print_json(value: object) -> None:
    """Print a value as JSON."""
    say(json.dumps(value, ensure_ascii=False, indent=2))


def tell(message: str) -> None:
    """Print a remark where it does not mix with what was asked for, and behind what was printed of that."""
    with contextlib.suppress(OSError):  # whoever closed our output is told as it ends
        sys.stdout.flush()
    sys.stderr.write(f"keepmum: {message}\n")


def tell_refused(refused: Iterable[tuple[str, str]]) -> None:
    """Print, of places and the reasons why each was refused, a line for each reason; of many of either the first."""
    places: dict[str, list[str]] = {}
    for place, reason in refused:
        places.setdefault(reason, []).append(place)
    for reason, those in list(places.items())[:_REASONS]:
        more = f" and {len(those) - _PLACES:,} more" if len(those) > _PLACES else ""
        tell(f"{', '.join(those[:_PLACES])}{more}: {reason}")
    if len(places) > _REASONS:
        tell(f"and for {len(places) - _REASONS:,} more reasons")
