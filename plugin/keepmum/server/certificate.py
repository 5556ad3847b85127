"""The certificate of the server, which is read again when its files change."""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from keepmum.core.errors import SettingsError

__all__ = ["Certificate"]


class Certificate:
    """A TLS context for new connections; those that are open keep theirs."""

    def __init__(self, cert: str, key: str) -> None:
        """Read the chain in `cert` and the private key in `key`, both PEM files.

        Raises: SettingsError when they cannot be used, with the file and the reason.
        """
        self._files = (cert, key)
        self._seen = self._state()
        self._current = _read(cert, key)
        self.context = self._current.context
        self.context.sni_callback = self._choose

    @property
    def about(self) -> str:
        """The names in the certificate, and its last day."""
        return f"{', '.join(self._current.names) or 'no name'}, valid until {self._current.expires:%Y-%m-%d}"

    def follow(self) -> bool:
        """Whether the files changed and were read again.

        Raises: SettingsError when they changed and cannot be used; the former certificate stays until they change
        again.
        """
        state = self._state()
        if state == self._seen:
            return False
        self._seen = state
        self._current = _read(*self._files)
        return True

    def _state(self) -> list[tuple[int, ...]]:
        """What differs after any change of the files, their permissions included."""
        return [_state_of(path) for path in self._files]

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        """Give a new connection the certificate that was read last; called with or without a server name."""
        connection.context = self._current.context


class _Usable(NamedTuple):
    """A certificate that can be served."""

    context: ssl.SSLContext
    names: tuple[str, ...]
    expires: datetime


def _read(cert: str, key: str) -> _Usable:
    """The certificate in these files, in a context of its own.

    A context that serves is never changed: OpenSSL drops its key when the next certificate has another one.

    Raises: SettingsError.
    """
    leaf = _leaf(cert)
    if _private_key(key).public_key() != leaf.public_key():
        raise SettingsError(f"tls.key: {key} is not the key of the first certificate in {cert}")
    now = datetime.now(UTC)
    if now >= leaf.not_valid_after_utc:
        raise SettingsError(f"tls.cert: {cert} expired on {leaf.not_valid_after_utc:%Y-%m-%d}; renew it")
    if now < leaf.not_valid_before_utc:
        raise SettingsError(
            f"tls.cert: {cert} is valid from {leaf.not_valid_before_utc:%Y-%m-%d %H:%M} UTC on, and by the clock of "
            f"this machine it is {now:%Y-%m-%d %H:%M}"
        )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(cert, key, password=b"")  # a password would be asked for at the terminal
    except OSError as error:  # ssl.SSLError too: such as a key that is too short
        raise SettingsError(f"tls.cert: {cert} cannot be used ({_reason(error)})") from None
    return _Usable(context, _names(leaf), leaf.not_valid_after_utc)


def _leaf(path: str) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(_content(path, "tls.cert"))[0]
    except ValueError:
        raise SettingsError(f"tls.cert: {path} holds no certificate in PEM form") from None


def _private_key(path: str) -> PrivateKeyTypes:
    try:
        return load_pem_private_key(_content(path, "tls.key"), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # TypeError: it has a password
        raise SettingsError(f"tls.key: {path} holds no private key in PEM form without a password") from None


def _content(path: str, setting: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise SettingsError(f"{setting}: {path} cannot be read ({_reason(error)})") from None


def _reason(error: OSError) -> str:
    return error.reason if isinstance(error, ssl.SSLError) else error.strerror or type(error).__name__


def _names(leaf: x509.Certificate) -> tuple[str, ...]:
    try:
        named = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    return tuple(str(each.value) for each in named if isinstance(each, (x509.DNSName, x509.IPAddress)))


def _state_of(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:  # it may be replaced at this moment
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
