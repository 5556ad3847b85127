"""`keepmum serve run` with its own certificate, on IPv6, and behind a proxy."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from certificates import Authority, serial_of
from server_process import ADA, KEYS, TeamServer

LAUNCH = Path(__file__).resolve().parents[2] / "plugin" / "launch.py"
LIMIT = 60.0  # seconds


class Site:
    """A server with a certificate."""

    def __init__(self, folder: Path, *options: str, environ: Mapping[str, str] | None = None) -> None:
        self.authority = Authority(folder)
        self.cert, self.key = folder / "chain.pem", folder / "key.pem"
        self.serial = self.authority.issue(self.cert, self.key)
        files = {"KEEPMUM_SERVER_TLS_CERT": str(self.cert), "KEEPMUM_SERVER_TLS_KEY": str(self.key)}
        self.server = TeamServer(folder, *options, environ={**files, **(environ or {})})

    def status(self, host: str = "127.0.0.1") -> tuple[int, int]:
        """The status of a request, and the serial number of the certificate."""
        trusting = self.authority.trusting()
        connection = http.client.HTTPSConnection(host, self.server.port, timeout=LIMIT, context=trusting)
        with contextlib.closing(connection):
            connection.request("GET", "/api/v1/config", headers={"Authorization": f"Bearer {ADA}"})
            serial = serial_of(connection.sock)
            return connection.getresponse().status, serial

    def wait_for(self, event: str) -> dict[str, str]:
        """The first line of the log about an event."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            for line in _events(self.server):
                if line["event"] == event:
                    return line
            time.sleep(0.05)
        raise AssertionError(self.server.log)


def _events(server: TeamServer) -> list[dict[str, str]]:
    """The lines of the log; each of them is JSON."""
    return [json.loads(line) for line in server.log]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("server"))
    with site.server:
        yield site


def test_a_renewed_certificate_is_served_and_a_bad_one_is_not(site: Site) -> None:
    assert site.status() == (200, site.serial)
    site.authority.issue(site.cert)
    assert "is not the key" in site.wait_for("certificate not read")["reason"]
    assert site.status() == (200, site.serial)
    renewed = site.authority.issue(site.cert, site.key)
    site.wait_for("certificate read")
    assert site.status() == (200, renewed)


def test_what_is_not_tls_is_refused_and_nothing_of_it_is_logged(site: Site) -> None:
    with socket.create_connection(("127.0.0.1", site.server.port), LIMIT) as plain:
        plain.sendall(b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer a-zirconium-word\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            assert b"HTTP/1.1 200" not in plain.recv(1000)
    trusting = site.authority.trusting()
    with (
        socket.create_connection(("127.0.0.1", site.server.port), LIMIT) as connection,
        trusting.wrap_socket(connection, server_hostname="localhost") as secured,
    ):
        secured.sendall(b"a-zirconium-word\r\n\r\n")
        assert secured.recv(1000).startswith(b"HTTP/1.1 400")
    assert site.status()[0] == 200
    assert site.wait_for("warning")["logger"] == "uvicorn.error"
    assert "zirconium" not in "".join(site.server.log)


def test_every_address_is_that_of_ipv4_too(tmp_path: Path) -> None:
    site = Site(tmp_path, "--bind", "::", environ={"KEEPMUM_SERVER_URL": "https://localhost"})
    with site.server:
        assert [site.status(host)[0] for host in ("::1", "127.0.0.1")] == [200, 200]
        assert site.wait_for("listening")["url"] == f"https://[::]:{site.server.port}"


def test_wrong_keys_are_counted_for_each_client_of_a_proxy(tmp_path: Path) -> None:
    def ask(forwarded: str) -> int:
        return server.ask("GET", "/api/v2", key="wrong", headers={"X-Forwarded-For": forwarded}).status

    with TeamServer(tmp_path, environ={"KEEPMUM_SERVER_TRUSTED_PROXIES": "127.0.0.1"}) as server:
        assert [ask(f"192.0.2.{number}, 203.0.113.9") for number in range(11)] == [401] * 10 + [429]
        assert ask("203.0.113.9, 198.51.100.1") == 401


def test_a_certificate_that_cannot_be_used_is_reported_at_the_start(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    cert, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    authority.issue(cert, key, password=b"any")
    environ = {
        "PATH": os.defpath, "HOME": str(tmp_path), "KEEPMUM_HOME": str(tmp_path), "API_KEYS": KEYS,
        "KEEPMUM_SERVER_TLS_CERT": str(cert), "KEEPMUM_SERVER_TLS_KEY": str(key),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-I", str(LAUNCH), "serve", "run"], env=environ, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    assert (done.returncode, "tls.key: " in done.stderr, "password" in done.stderr) == (1, True, True)
