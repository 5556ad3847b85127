"""The server's certificate: what is refused, and how it follows its files."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from certificates import Authority, serial_of
from keepmum.core.errors import SettingsError
from keepmum.server.certificate import Certificate


class Site:
    """The two files of a server, and who issues them."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.cert, self.key = folder / "chain.pem", folder / "key.pem"
        self.serial = self.authority.issue(self.cert, self.key)

    def certificate(self) -> Certificate:
        return Certificate(str(self.cert), str(self.key))

    def shown_by(self, certificate: Certificate, name: str | None = "localhost") -> int:
        """The serial number that a new connection sees."""
        to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        trusting = self.authority.trusting()
        trusting.check_hostname = name is not None
        client = trusting.wrap_bio(to_client, to_server, server_hostname=name)
        server = certificate.context.wrap_bio(to_server, to_client, server_side=True)
        pending = [client.do_handshake, server.do_handshake]
        for step in pending * 5:
            try:
                step()
            except ssl.SSLWantReadError:
                continue
        return serial_of(client)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.mark.parametrize("name", ["localhost", None])
def test_a_new_connection_sees_the_files_as_they_are_now(site: Site, name: str | None) -> None:
    certificate = site.certificate()
    assert (certificate.follow(), site.shown_by(certificate, name)) == (False, site.serial)
    renewed = site.authority.issue(site.cert, site.key)
    assert (certificate.follow(), site.shown_by(certificate, name)) == (True, renewed)


def test_a_certificate_without_its_key_leaves_the_former_one(site: Site) -> None:
    certificate = site.certificate()
    renewed = site.authority.issue(site.cert)
    with pytest.raises(SettingsError, match="is not the key"):
        certificate.follow()
    assert site.shown_by(certificate) == site.serial
    assert not certificate.follow()  # it is reported once
    renewed = site.authority.issue(site.cert, site.key)
    assert (certificate.follow(), site.shown_by(certificate)) == (True, renewed)


def test_a_missing_file_leaves_the_former_one(site: Site) -> None:
    certificate = site.certificate()
    site.key.unlink()
    with pytest.raises(SettingsError, match=r"tls\.key: .*key\.pem cannot be read"):
        certificate.follow()
    assert site.shown_by(certificate) == site.serial


def test_it_says_for_whom_and_how_long_it_is(site: Site) -> None:
    assert site.certificate().about.startswith("localhost, 127.0.0.1, ::1, valid until 20")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(lambda site: site.cert.unlink(), r"tls\.cert: .*chain\.pem cannot be read", id="no file"),
        pytest.param(lambda site: site.cert.write_text("x"), r"tls\.cert: .* no certificate", id="no certificate"),
        pytest.param(lambda site: site.key.write_text("x"), r"tls\.key: .* no private key", id="no key"),
        pytest.param(lambda site: site.authority.issue(site.cert), "is not the key of the first", id="another key"),
        pytest.param(
            lambda site: site.authority.issue(site.cert, site.key, password=b"any"),
            "without a password", id="a key with a password",
        ),
        pytest.param(lambda site: site.authority.issue(site.cert, site.key, (-9, -1)), "expired on 20", id="expired"),
        pytest.param(lambda site: site.authority.issue(site.cert, site.key, (1, 9)), "by the clock", id="not yet"),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_an_error(site: Site, change: Callable[[Site], object], message: str) -> None:
    change(site)
    with pytest.raises(SettingsError, match=message) as refused:
        site.certificate()
    assert "PRIVATE" not in str(refused.value)
