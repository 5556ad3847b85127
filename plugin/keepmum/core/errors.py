"""What can go wrong, as one small tree.

KeepmumError                 expected: told to the user in one sentence
├── InvalidInput             a field is missing, of a wrong type, or past a limit; nothing was stored
├── NotFound                 no memory goes by that id, prefix or key
├── Ambiguous                a prefix fits several memories
├── SecretFound              the text holds a secret; nothing was stored
├── ScannerFailed            the scanner could not judge; nothing was stored, and nothing is shown
├── SettingsError            a settings file or variable is wrong
├── SwitchedOff              the user or the project wants no memory here; nothing was read or stored
├── ConfirmationNeeded       the call would remove several memories; it lists them and asks first
├── EmbeddingError           no vector could be made; search goes on by words
│   └── ModelMissing         the local model is not installed
└── StoreError               the store refused or failed
    ├── StoreReadOnly        it can be read and not written
    ├── StoreUnavailable     a server cannot be reached just now; may be tried again
    ├── KeyRefused           a server does not take the key; trying again does not help
    ├── Unsupported          the store cannot do this; the message says what it can
    └── StoreBusy            another process held it too long; may be tried again

Messages say what happened, where, and what to do next. None of them holds a secret or the text around one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # the server imports this before its handshake
    from collections.abc import Sequence

__all__ = [
    "Ambiguous",
    "ConfirmationNeeded",
    "EmbeddingError",
    "InvalidInput",
    "KeepmumError",
    "KeyRefused",
    "ModelMissing",
    "NotFound",
    "ScannerFailed",
    "SecretFound",
    "SettingsError",
    "StoreBusy",
    "StoreError",
    "StoreReadOnly",
    "StoreUnavailable",
    "SwitchedOff",
    "Unsupported",
]


_ALLOWING = "If it is no secret, the user can say so in their own terminal: `keepmum allow FINGERPRINT --why TEXT`."


class KeepmumError(Exception):
    """Something expected went wrong; the message is fit to be shown."""


class InvalidInput(KeepmumError):
    """A field is missing, has the wrong type, or is past its limit."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class NotFound(KeepmumError):
    """No memory goes by that id, prefix or key."""


class Ambiguous(KeepmumError):
    """A prefix fits several memories; the message lists the first of them."""


class SecretFound(KeepmumError):
    """The text holds what looks like a secret; nothing was stored.

    `places` holds one `(field, rule, line)` a finding, never the text; `fingerprints` are what a person who knows
    that it is no secret can allow it by.
    """

    def __init__(self, places: Sequence[tuple[str, str, int]], fingerprints: Sequence[str] = ()) -> None:
        self.places = list(places)
        self.fingerprints = list(fingerprints)
        where = "; ".join(f"{rule} in {field}, line {line}" for field, rule, line in places)
        known = f" {_ALLOWING} Fingerprint: {', '.join(fingerprints)}." if fingerprints else ""
        super().__init__(
            f"refused, nothing stored: {where}. Say where the secret is kept (a vault path, a variable's name) "
            f"instead of what it is, and try again.{known}"
        )


class ScannerFailed(KeepmumError):
    """The scanner could not judge a text; what is not judged is neither kept nor shown."""

    def __init__(self) -> None:
        super().__init__("the scanner failed; nothing was stored; run `keepmum doctor`")


class SwitchedOff(KeepmumError):
    """The user or the project wants no memory here; nothing was read or stored."""

    def __init__(self, by: str) -> None:
        super().__init__(f"Keepmum is switched off here, by {by}: nothing was read or stored. Do not try again")


class SettingsError(KeepmumError):
    """A settings file or variable is wrong; the message names file, line and what is allowed."""


class ConfirmationNeeded(KeepmumError):
    """The call would remove several memories; nothing was removed yet."""


class EmbeddingError(KeepmumError):
    """No vector could be made; what is kept, and the search by words, is unharmed."""


class ModelMissing(EmbeddingError):
    """The local model is not installed, be it that nobody wanted it; the message says which command fetches it."""


class StoreError(KeepmumError):
    """The store refused or failed; what was stored before is unharmed."""


class StoreReadOnly(StoreError):
    """The store can be read and not written."""


class StoreUnavailable(StoreError):
    """A server cannot be reached or cannot serve just now; trying again is safe.

    `unsent`: the request did not reach the server; `retry_after`: seconds it asked to wait, 0 when unknown.
    """

    def __init__(self, message: str, *, unsent: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.unsent = unsent
        self.retry_after = retry_after


class KeyRefused(StoreError):
    """A server does not take the key, or not for this project; trying again does not help."""


class Unsupported(StoreError):
    """The store cannot do what was asked; the message says what it can."""


class StoreBusy(StoreError):
    """Another process held the store too long; trying again is safe."""
