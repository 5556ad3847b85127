"""The secret of a server, under which it keeps digests of keys and signs what clients carry for it."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping

from keepmum.core.errors import SettingsError
from keepmum.system import private_files

__all__ = ["checked_secret", "make_secret", "read_secret", "secret_file"]

_VARIABLE = "KEEPMUM_SERVER_SECRET"
_BYTES = 32
_LEAST = 32  # characters of a secret in a variable
_LONGEST = 4096


def secret_file(home: str) -> str:
    """The file that holds the secret, in the folder of the server's state."""
    return os.path.join(home, "server.key")


def make_secret(home: str) -> bytes:
    """The secret in the file, which is created when it is missing.

    Raises: SettingsError, OSError.
    """
    with contextlib.suppress(FileExistsError):
        private_files.create_file(secret_file(home), secrets.token_hex(_BYTES).encode())
    return _checked(_text_of(secret_file(home)), secret_file(home))


def read_secret(home: str, environ: Mapping[str, str]) -> bytes | None:
    """The secret in the variable, in the file that another variable names, or in the server's own file.

    None where there is none.

    Raises: SettingsError when it is too short or cannot be read.
    """
    if environ.get(_VARIABLE):
        return _checked(environ[_VARIABLE], _VARIABLE)
    if environ.get(f"{_VARIABLE}_FILE"):
        return _checked(_text_of(environ[f"{_VARIABLE}_FILE"]), f"{_VARIABLE}_FILE")
    path = secret_file(home)
    return _checked(_text_of(path), path) if os.path.exists(path) else None


def checked_secret(content: bytes, place: str) -> bytes:
    """The secret in the content of its file, which is at `place`.

    Raises: SettingsError.
    """
    try:
        return _checked(content.decode().strip(), place)
    except UnicodeDecodeError:
        raise SettingsError(f"the server's secret in {place} is not text") from None


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_LONGEST + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the server's secret cannot be read from {path} ({type(error).__name__})") from None


def _checked(text: str, place: str) -> bytes:
    if not _LEAST <= len(text) <= _LONGEST:
        raise SettingsError(f"{place}: the server's secret must have {_LEAST} to {_LONGEST:,} characters")
    return text.encode()
