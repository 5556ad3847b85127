"""Requests to the identity provider: to the configured hosts only, limited in time and size.

An address in a document must be at the issuer's host or another host of the settings. Redirects are not followed. The
connection goes to an IP address that was checked, so a name server cannot direct it into a private network.
"""

from __future__ import annotations

import functools
import ipaddress
import re
import socket
import ssl
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx

from keepmum.core.errors import InvalidInput, StoreUnavailable
from keepmum.server.edge.proxies import Address, address_of, is_loopback
from keepmum.server.edge.validation import parsed

__all__ = ["SECONDS", "Fetcher", "ProviderAway", "Reply"]

SECONDS = 5.0  # for a request, from the name lookup to the last byte
_LARGEST = 512 * 1024  # bytes of an answer
_HEADERS = {"accept": "application/json", "accept-encoding": "identity"}
_HOST = re.compile(r"[a-z0-9.-]{1,253}(:[0-9]{1,5})?")  # what a message may repeat of a document


class ProviderAway(StoreUnavailable):
    """The identity provider cannot be reached, or does not answer as it must."""


class Reply(NamedTuple):
    """An answer that holds a JSON object."""

    status: int
    body: Mapping[str, object]


class Fetcher:
    """Sends requests to the hosts of one issuer."""

    def __init__(self, issuer: str, hosts: Iterable[str] = (), *, private: bool = False) -> None:
        """`hosts` are further ones; with `private`, their names may stand for addresses of a private network."""
        parts = urlsplit(issuer)
        self.host = parts.hostname or ""
        self._scheme = f"{parts.scheme}://"
        self._origins = frozenset(map(_origin, (issuer, *(self._scheme + host for host in hosts)))) - {""}
        self._only_loopback = parts.scheme == "http"
        self._private = private
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if parts.scheme == "https":
            self._tls = httpx.create_ssl_context(trust_env=False)
            self._tls.load_default_certs()

    def check(self, url: object, what: str) -> str:
        """The address `url`, which is at one of the hosts.

        Raises: ProviderAway.
        """
        origin = _origin(url) if isinstance(url, str) else ""
        if isinstance(url, str) and origin in self._origins:
            return url
        host = origin.removeprefix(self._scheme)
        if _HOST.fullmatch(host):
            raise ProviderAway(
                f"the identity provider names a {what} at {host}, which is not used; add that host to oidc.hosts if "
                "it belongs to the provider"
            )
        raise ProviderAway(f"the identity provider names a {what} that is no address of the form {self._scheme}HOST")

    def get(self, url: str) -> Mapping[str, object]:
        """The JSON object at an address of the issuer.

        Raises: ProviderAway.
        """
        reply = self._ask("GET", url, {}, None)
        if reply.status != 200:
            raise ProviderAway(f"the identity provider answers with status {reply.status}")
        return reply.body

    def post(self, url: str, form: Mapping[str, str], basic: tuple[str, str] | None) -> Reply:
        """The answer to a form, which is sent with a name and a password when `basic` has them.

        Raises: ProviderAway.
        """
        return self._ask("POST", url, form, basic)

    def _ask(self, method: str, url: str, form: Mapping[str, str], basic: tuple[str, str] | None) -> Reply:
        async def ask() -> tuple[int, bytes]:
            with anyio.fail_after(SECONDS):
                return await self._try_addresses(method, httpx.URL(url), form, basic)

        try:
            status, raw = anyio.run(ask)
        except TimeoutError:
            raise ProviderAway("the identity provider takes too long to answer") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            raise ProviderAway(f"the identity provider cannot be reached ({type(error).__name__})") from None
        try:
            body = parsed(raw)
        except InvalidInput as error:
            raise ProviderAway(f"the answer of the identity provider is not usable: {error}") from None
        if not isinstance(body, dict):
            raise ProviderAway("the answer of the identity provider is no JSON object")
        return Reply(status, body)

    async def _try_addresses(
        self, method: str, url: httpx.URL, form: Mapping[str, str], basic: tuple[str, str] | None
    ) -> tuple[int, bytes]:
        """Status and body of the first address that accepts a connection."""
        failure: httpx.HTTPError = httpx.ConnectError("there is no address")
        for address in await self._addresses(url):
            try:
                return await self._send(method, url, address, form, basic)
            except httpx.ConnectError as error:
                failure = error
        raise failure

    async def _addresses(self, url: httpx.URL) -> list[Address]:
        """The addresses of the host in a URL.

        Raises: ProviderAway when one of them must not be asked.
        """
        host = url.raw_host.decode()
        # A name server that does not answer is left behind: asyncio's own lookup would hold the loop until it ends.
        look_up = functools.partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
        found = await anyio.to_thread.run_sync(look_up, abandon_on_cancel=True)
        addresses = [ipaddress.ip_address(text) for text in dict.fromkeys(str(entry[4][0]) for entry in found)]
        if not all(self._is_allowed(host, address) for address in addresses):
            raise ProviderAway(
                f"{host} has an address of a private network; set oidc.private if that is where the identity "
                "provider is"
            )
        return addresses

    def _is_allowed(self, host: str, address: Address) -> bool:
        mapped = getattr(address, "ipv4_mapped", None) or address
        if self._only_loopback:
            return bool(mapped.is_loopback)
        if self._private or address_of(host) or is_loopback(host):
            return not (mapped.is_link_local or mapped.is_multicast or mapped.is_unspecified)
        return bool(mapped.is_global) and not mapped.is_multicast

    async def _send(
        self, method: str, url: httpx.URL, address: Address, form: Mapping[str, str], basic: tuple[str, str] | None
    ) -> tuple[int, bytes]:
        headers = {**_HEADERS, "host": url.netloc.decode()}
        pinned = url.copy_with(host=str(address))
        extensions = {"sni_hostname": url.raw_host.decode()}  # whose certificate it must be
        async with (
            httpx.AsyncClient(verify=self._tls, trust_env=False, follow_redirects=False, timeout=SECONDS) as client,
            client.stream(
                method, pinned, headers=headers, data=form or None, auth=basic, extensions=extensions
            ) as response,
        ):
            if response.is_redirect:
                raise ProviderAway("the identity provider redirects, which is not followed; check oidc.issuer")
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                raise ProviderAway("the identity provider compressed its answer, which was not asked for")
            parts, size = [], 0
            async for part in response.aiter_raw():
                size += len(part)
                if size > _LARGEST:
                    raise ProviderAway(f"the answer of the identity provider is larger than {_LARGEST >> 10} KiB")
                parts.append(part)
            return response.status_code, b"".join(parts)


def _origin(url: str) -> str:
    """Scheme, host and port of an address that names no user; empty for any other text."""
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        return ""
    host = parts.netloc.decode()
    return "" if parts.userinfo or not host else f"{parts.scheme}://{host}"
