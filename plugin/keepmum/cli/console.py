"""What commands share: the memory of the working folder, and input and output on the terminal."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from keepmum.core.errors import ConfirmationNeeded, Incomplete, InvalidInput, SettingsError
from keepmum.core.memory import LIMITS, Memory
from keepmum.core.wording import counted
from keepmum.service import MemoryService, opening
from keepmum.workspace.entry import trust_of_terminal
from keepmum.workspace.resolve import Workspace, backend_kind, resolve
from keepmum_hooks import places

__all__ = [
    "Listing",
    "Session",
    "Subparsers",
    "confirm",
    "create_file",
    "days",
    "err",
    "memory_count",
    "out",
    "positive",
    "print_json",
    "print_refused",
    "read_text",
    "require_server",
    "state_home",
    "write_lines",
]

_AGENT = "cli"
_MOST_DAYS = 36_500
_MAX_REASONS, _MAX_PLACES = 20, 10  # printed for refused items
Subparsers = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for the result of add_subparsers


def out(line: str) -> None:
    """Print a line of the result to standard output."""
    print(line)  # noqa: T201


class Session:
    """The memory of the working folder, open while one command runs; prints the service's notices at the end."""

    def __init__(  # noqa: PLR0913 - as of `open_session`
        self,
        origin: str = "cli",
        *,
        notices: bool = True,
        stores: Sequence[str] = (),
        routes: Sequence[str] = (),
        environ: Mapping[str, str] = os.environ,
        resolved: Workspace | None = None,
    ) -> None:
        self._notices = notices
        trust = trust_of_terminal(environ)
        self._service = opening.open_session(
            environ, _AGENT, origin=origin, trust=trust, upkeep=False, stores=stores, routes=routes, resolved=resolved
        )

    def __enter__(self) -> MemoryService:
        return self._service

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        # At the end, because damage may be found and repaired during the command; errors mention it themselves.
        caveat = self._service.caveat()
        for notice in (caveat, *self._service.notices()) if self._notices and error is None else ():
            if notice and (notice == caveat or notice not in caveat):  # the caveat may include the notice
                err(notice)
        self._service.close()


class Listing:
    """All memories of a listing, and afterwards why there should be more of them."""

    def __init__(self, found: Iterator[Memory]) -> None:
        self._found = found
        self.problem = ""

    def __iter__(self) -> Iterator[Memory]:
        try:
            yield from self._found
        except Incomplete as error:
            self.problem = str(error)

    def complain(self, what: str, caveat: str) -> None:
        """Print that `what` is not complete, if so, and why, unless that is in the `caveat` that was printed."""
        if self.problem:
            err(f"{what} is not complete{'' if self.problem in caveat else f': {self.problem}'}")


def positive(text: str) -> int:
    """A positive integer, for argparse."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return number


def days(text: str) -> float:
    """A number of days, in seconds, for argparse."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= _MOST_DAYS:
        raise argparse.ArgumentTypeError(f"must be a number of days, above 0 and at most {_MOST_DAYS}")
    return number * 86_400


def read_text(stream: TextIO) -> str:
    """The whole stream.

    Raises: InvalidInput when it is not UTF-8, or longer than the limit for a memory (the rest is not read).
    """
    if stream.isatty():
        err("type the memory, then press Ctrl-D")
    try:
        text = stream.read(LIMITS.text + 1)  # characters; each is at least one byte
    except UnicodeDecodeError:
        raise InvalidInput("text", "is not UTF-8; only text can be remembered") from None
    if len(text) > LIMITS.text and stream.read(1):
        raise InvalidInput("text", f"has more than the {LIMITS.text:,} bytes that fit; store one concept per memory")
    return text


@contextlib.contextmanager
def create_file(path: str) -> Iterator[TextIO]:
    """A new text file, mode 0600, because it will hold memories; removed if writing fails.

    Raises: InvalidInput when it exists or cannot be created.
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
    """Write each line; return their number."""
    count = 0
    for line in lines:
        file.write(line + "\n")
        count += 1
    return count


def confirm(question: str, otherwise: str = "nothing was removed") -> None:
    """Ask a person at the terminal for confirmation.

    Raises: ConfirmationNeeded when the answer is not yes, or nobody can answer.
    """
    if not sys.stdin.isatty():
        raise ConfirmationNeeded(f"{otherwise}: this is not a terminal. Repeat the command with --yes.")
    try:
        answer = input(f"{question} [y/N] ")
    except EOFError:  # Ctrl-D
        answer = ""
    if answer.strip().lower() not in {"y", "yes"}:
        raise ConfirmationNeeded(otherwise)


def memory_count(count: int) -> str:
    """A number of memories in words: `1 memory`, `2,000 memories`."""
    return counted(count, "memory")


def require_server(name: str) -> None:
    """Check that a team server is configured; the kind "rest" alone means one on this machine.

    Raises: InvalidInput for the argument `name` when none is.
    """
    chosen = resolve(os.environ).settings
    if backend_kind(chosen) != "rest" and chosen.backend.origin is None:
        raise InvalidInput(name, "no team server is configured; `keepmum backend use URL` configures one")


def state_home(environ: Mapping[str, str] = os.environ) -> str:
    """Keepmum's state folder.

    Raises: SettingsError when there is no home folder.
    """
    home = places.home(environ)
    if home is None:
        raise SettingsError("there is no home folder; set HOME or KEEPMUM_HOME to an absolute path")
    return home


def print_json(value: object) -> None:
    """Print a value as JSON."""
    out(json.dumps(value, ensure_ascii=False, indent=2))


def err(message: str) -> None:
    """Print a message to standard error, after flushing standard output."""
    with contextlib.suppress(OSError):  # a closed output is reported when the command ends
        sys.stdout.flush()
    sys.stderr.write(f"keepmum: {message}\n")


def print_refused(refused: Iterable[tuple[str, str]]) -> None:
    """Print one line per reason from (place, reason) pairs; long lists are cut, with the number left out."""
    by_reason: dict[str, list[str]] = {}
    for place, reason in refused:
        by_reason.setdefault(reason, []).append(place)
    for reason, those in list(by_reason.items())[:_MAX_REASONS]:
        more = f" and {len(those) - _MAX_PLACES:,} more" if len(those) > _MAX_PLACES else ""
        err(f"{', '.join(those[:_MAX_PLACES])}{more}: {reason}")
    if len(by_reason) > _MAX_REASONS:
        err(f"and {counted(len(by_reason) - _MAX_REASONS, 'more reason')}")
