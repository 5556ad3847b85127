"""Certificates for tests, made when a test runs: an authority, and what it issues for this machine."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

__all__ = ["Authority", "serial_of"]

_NAMES = [x509.DNSName("localhost"), *(x509.IPAddress(ipaddress.ip_address(one)) for one in ("127.0.0.1", "::1"))]


class Authority:
    """Issues certificates that are trusted by a client with its file `ca`."""

    def __init__(self, folder: Path) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority of tests")])
        self._certificate = self._signed(self._name, self._key, days=(-1, 30), is_authority=True)
        self.ca = folder / "ca.pem"
        self.ca.write_bytes(self._certificate.public_bytes(Encoding.PEM))

    def issue(
        self, cert: Path, key: Path | None = None, days: tuple[int, int] = (-1, 30), password: bytes = b""
    ) -> int:
        """Write a chain and its key, valid between two days from now; returns the serial number."""
        private = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
        issued = self._signed(name, private, days, is_authority=False)
        locked: KeySerializationEncryption = BestAvailableEncryption(password) if password else NoEncryption()
        if key is not None:
            key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))
        cert.write_bytes(issued.public_bytes(Encoding.PEM) + self._certificate.public_bytes(Encoding.PEM))
        return issued.serial_number

    def trusting(self) -> ssl.SSLContext:
        """A client's context that trusts this authority only."""
        return ssl.create_default_context(cafile=str(self.ca))

    def _signed(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, days: tuple[int, int], *, is_authority: bool
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + timedelta(days=days[0]))
            .not_valid_after(now + timedelta(days=days[1]))
            .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
            .add_extension(x509.SubjectAlternativeName(_NAMES), critical=False)
            .sign(self._key, hashes.SHA256())
        )


def serial_of(connection: ssl.SSLSocket | ssl.SSLObject) -> int:
    """The serial number of the certificate that the server showed."""
    shown = connection.getpeercert(binary_form=True)
    assert shown is not None
    return x509.load_der_x509_certificate(shown).serial_number
