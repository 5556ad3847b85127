"""The expected errors, as one tree.

KeepmumError                 the base class; the message is shown to the user
├── InvalidInput             a field is missing, of a wrong type or over a limit; nothing was stored
├── NotFound                 no memory has that id, id prefix or key
├── Ambiguous                an id prefix matches several memories
├── SecretFound              the text contains a secret; nothing was stored
├── ScannerFailed            the scanner failed; nothing was stored or shown
├── SettingsError            a settings file or variable is invalid
├── SwitchedOff              memory is switched off here; nothing was read or stored
├── ConfirmationNeeded       the call would remove several memories; it lists them first
├── QuotaExceeded            a project or server may store no more; nothing was stored
├── EmbeddingError           no vector could be computed; search is lexical
│   └── ModelMissing         the local model is not installed
└── StoreError               the store refused or failed
    ├── Incomplete           not every memory could be listed; those that could were returned
    ├── StoreReadOnly        the store cannot be written
    ├── StoreUnavailable     a server cannot be reached; a retry may succeed
    ├── KeyRefused           a server refuses the key; a retry does not help
    ├── Unsupported          the store cannot do this; the message says what it can do
    └── StoreBusy            another process locked it for too long; a retry may succeed

Messages say what happened, where, and what to do next. They never contain a secret or the text around one.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # imported before the handshake, so `typing` is not
    from collections.abc import Mapping, Sequence

__all__ = [
    "Ambiguous",
    "ConfirmationNeeded",
    "EmbeddingError",
    "Incomplete",
    "InvalidInput",
    "KeepmumError",
    "KeyRefused",
    "ModelMissing",
    "NotFound",
    "QuotaExceeded",
    "ScannerFailed",
    "SecretFound",
    "SettingsError",
    "StoreBusy",
    "StoreError",
    "StoreReadOnly",
    "StoreUnavailable",
    "SwitchedOff",
    "Unsupported",
    "report",
    "report_unexpected",
]

_ALLOW_HINT = (
    "If it is not a secret, the user can say so in their own terminal: `keepmum allow FINGERPRINT --why TEXT`."
)


class KeepmumError(Exception):
    """The base class of expected errors; the message can be shown to the user."""


class InvalidInput(KeepmumError):
    """A field is missing, of a wrong type or over its limit; nothing was stored."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem

    def renamed(self, names: Mapping[str, str]) -> InvalidInput:
        """The error with the name that the caller's tool has for the field."""
        return InvalidInput(_renamed(self.field, names), self.problem)


class NotFound(KeepmumError):
    """No memory has that id, id prefix or key."""


class Ambiguous(KeepmumError):
    """An id prefix matches several memories; the message lists the first of them."""


class SecretFound(KeepmumError):
    """The text contains what looks like a secret; nothing was stored.

    `places` has one `(field, rule, line)` per finding, never the text. With `fingerprints` a person can allow findings
    that are not secrets.
    """

    def __init__(self, places: Sequence[tuple[str, str, int]], fingerprints: Sequence[str] = ()) -> None:
        self.places = list(places)
        self.fingerprints = list(fingerprints)
        where = "; ".join(f"{rule} in {field}, line {line}" for field, rule, line in places)
        known = f" {_ALLOW_HINT} Fingerprint: {', '.join(fingerprints)}." if fingerprints else ""
        super().__init__(
            f"refused, nothing stored: {where}. Say where the secret is kept (a vault path, a variable's name) "
            f"instead of what it is, and try again.{known}"
        )

    def renamed(self, names: Mapping[str, str]) -> SecretFound:
        """The error with the names that the caller's tool has for the fields."""
        places = [(_renamed(field, names), rule, line) for field, rule, line in self.places]
        return SecretFound(places, self.fingerprints)


class ScannerFailed(KeepmumError):
    """The scanner failed; a text that was not scanned is neither stored nor shown."""

    def __init__(self) -> None:
        super().__init__("the scanner failed; nothing was stored; run `keepmum doctor`")


class SwitchedOff(KeepmumError):
    """The user or the project has switched memory off here; nothing was read or stored."""

    def __init__(self, by: str) -> None:
        super().__init__(f"Keepmum is switched off here, by {by}: nothing was read or stored. Do not try again")


class SettingsError(KeepmumError):
    """A settings file or variable is invalid; the message names the file, the line and the allowed values."""


class ConfirmationNeeded(KeepmumError):
    """The call would remove several memories; nothing was removed yet."""


class EmbeddingError(KeepmumError):
    """No vector could be computed; stored memories and lexical search are not affected."""


class ModelMissing(EmbeddingError):
    """The local model is not installed; the message names the command that installs it."""


class QuotaExceeded(KeepmumError):
    """A project, or the whole server, may store no more; nothing was stored."""


class StoreError(KeepmumError):
    """The store refused or failed; what was stored before is intact."""


class Incomplete(StoreError):
    """Not every memory could be listed. Raised after those that could."""


class StoreReadOnly(StoreError):
    """The store can be read but not written."""


class StoreUnavailable(StoreError):
    """A server cannot be reached or is unable to serve; a retry is safe.

    `unsent`: the request did not reach the server; `retry_after`: seconds it asked to wait, 0 when unknown.
    """

    def __init__(self, message: str, *, unsent: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.unsent = unsent
        self.retry_after = retry_after


class KeyRefused(StoreError):
    """A server refuses the key, or refuses it for this project; a retry does not help."""


class Unsupported(StoreError):
    """The store cannot do this; the message says what it can do."""


class StoreBusy(StoreError):
    """Another process locked the store for too long; a retry is safe."""


def _renamed(field: str, names: Mapping[str, str]) -> str:
    """`field`, which may be a path such as `data.name`, with its first name replaced."""
    name, dot, rest = field.partition(".")
    return f"{names.get(name, name)}{dot}{rest}"


def report(message: str) -> None:
    """Write a message to stderr, if there is one."""
    try:
        sys.stderr.write(f"keepmum: {message}\n")
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass  # there is no standard error, or the client closed it


def report_unexpected(subject: str, error: BaseException) -> None:
    """Write the type and place of an unexpected error to stderr; not its message, which may contain a secret."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" at {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
    report(f"internal error in {subject}: {type(error).__name__}{where}")
