"""Which names and origins requests may give, so that no web page reaches the server by a name of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from keepmum.server.call import HttpError

__all__ = ["Hosts", "origin_of"]

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Hosts:
    """The names of this server: those of its URL, those that the settings add, and this machine's own."""

    def __init__(self, url: str, more: Sequence[str] = ()) -> None:
        named = urlsplit(url).netloc.lower()
        self._names = frozenset({*(name.lower() for name in more), *([named] if named else [])})
        self._origin = origin_of(url)

    def check(self, headers: Mapping[str, str]) -> None:
        """Check the Host and Origin of a request.

        Raises: HttpError 421 for another host, 403 for another origin.
        """
        host = headers.get("host", "").lower()
        name, port = _split(host)
        if host not in self._names and name not in self._names and name not in _LOOPBACK:
            raise HttpError(421, "this server has another name; use the address that its operator gave you")
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin.lower(), port):
            raise HttpError(403, "requests from pages of other origins are refused")

    def _is_own(self, origin: str, port: str) -> bool:
        if origin == self._origin:
            return True
        scheme, _, rest = origin.partition("://")
        name, own_port = _split(rest)
        return scheme in {"http", "https"} and name in _LOOPBACK and own_port == port


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL, as browsers write an origin; empty for an empty one."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower() if parts.netloc else ""


def _split(host: str) -> tuple[str, str]:
    """Name and port of a Host header; the port may be empty."""
    name, separator, port = host.rpartition(":")
    return (name, port) if separator and port.isdecimal() else (host, "")
