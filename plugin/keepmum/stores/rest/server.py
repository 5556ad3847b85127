"""Which server, and what is sent along: a value."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Server"]


@dataclass(frozen=True, slots=True)
class Server:
    """A server by its origin (scheme, host and port), and the key that the user stored for just that origin."""

    origin: str
    key: str | None = field(default=None, repr=False)
    no_key: str = ""  # why there is no key, with the next step
    ca_file: str | None = None
    trailer: bool = False  # carry what the first API cannot hold at the end of the text
