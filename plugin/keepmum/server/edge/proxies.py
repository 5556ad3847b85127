"""Where a request comes from: behind trusted proxies, the address of the client before them."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

__all__ = ["Address", "Proxies", "address_of", "is_loopback"]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Proxies:
    """The proxies whose `X-Forwarded-*` headers count."""

    def __init__(self, trusted: Sequence[str] = ()) -> None:
        """`trusted` lists addresses and networks."""
        self._networks = [ipaddress.ip_network(each, strict=False) for each in trusted]

    def __contains__(self, text: str) -> bool:
        """Whether an address is that of a trusted proxy."""
        return self._has(address_of(text))

    def source(self, peer: str, forwarded_for: str) -> str:
        """The address of the client of a request that `peer` sent.

        Each proxy adds the address that it saw at the end of `forwarded_for`, so the list is read from its end, up to
        the first address that is not a proxy's: the client there could have written everything before it.
        """
        found = address_of(peer)
        for text in reversed(forwarded_for.split(",")):
            if not self._has(found):
                break
            before = address_of(text)
            if before is None:
                break
            found = before
        return peer if found is None else str(found)

    def _has(self, address: Address | None) -> bool:
        return address is not None and any(address in network for network in self._networks)


def address_of(text: str) -> Address | None:
    """The address in a text such as `192.0.2.1`, `192.0.2.1:8080`, `2001:db8::1` or `[2001:db8::1]:8080`.

    An IPv4 address that IPv6 carries (`::ffff:192.0.2.1`) is that IPv4 address. None for anything else.
    """
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def is_loopback(address: str) -> bool:
    """Whether an address is this machine only."""
    parsed = address_of(address)
    return address == "localhost" if parsed is None else parsed.is_loopback
