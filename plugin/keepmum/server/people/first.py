"""Opens a server's memory for its operator, and makes what a server needs to start: a secret and a first key."""

from __future__ import annotations

import contextlib
import getpass
from collections.abc import Iterator, Mapping

from keepmum.core import validation
from keepmum.core.errors import SettingsError
from keepmum.server.people.administration import Administration, NewKey
from keepmum.server.people.keys import KeyRing, digest_of
from keepmum.server.people.roles import EVERY_PROJECT
from keepmum.server.people.secret import make_secret, read_secret, secret_file
from keepmum.service.team import Team, TeamRecords

__all__ = ["administration", "first_key", "is_secret_of", "key_ring", "operator", "secret_of"]

_CHECK = "the secret of this server"  # a changed digest of it shows another secret
_FIRST = "admin"  # name of the first person


def operator() -> str:
    """The actor in the audit log of what is done on the server's machine; no person can have such a name."""
    try:
        return f"operator:{getpass.getuser()}"
    except (KeyError, OSError):  # an account without a name
        return "operator:"


def secret_of(home: str, environ: Mapping[str, str], records: TeamRecords) -> bytes:
    """The secret of the server, which is made when there is none yet.

    Raises: SettingsError when keys exist that were made under another secret.
    """
    secret = read_secret(home, environ)
    if secret is None:
        if records.keys():
            raise SettingsError(
                f"the server's secret is missing, so no key can be checked. Restore {secret_file(home)} or set "
                "KEEPMUM_SERVER_SECRET"
            )
        secret = make_secret(home)
    expected = digest_of(_CHECK, secret)
    if records.secret_digest(expected) != expected:
        raise SettingsError(
            f"{secret_file(home)} or KEEPMUM_SERVER_SECRET is not the secret under which the keys were made, so no key "
            "would be valid. Restore the former one"
        )
    return secret


def is_secret_of(secret: bytes, records: TeamRecords) -> bool:
    """Whether the keys are kept under this secret, or under none yet."""
    return records.secret_digest(None) in {None, digest_of(_CHECK, secret)}


def key_ring(home: str, environ: Mapping[str, str], records: TeamRecords) -> KeyRing:
    """The keys of a server.

    Raises: SettingsError as `secret_of`.
    """
    return KeyRing(records, secret_of(home, environ, records))


@contextlib.contextmanager
def administration(
    team: Team, home: str, environ: Mapping[str, str], scan: validation.Scan
) -> Iterator[Administration]:
    """What the operator does with people and keys; closes the memory at the end.

    Raises: SettingsError as `secret_of`.
    """
    with contextlib.closing(team):
        yield Administration(team.records, secret_of(home, environ, team.records), scan, operator())


def first_key(admin: Administration) -> NewKey | None:
    """A key of a new person who is admin of every project; None when there are people already."""
    if admin.people():
        return None
    person = admin.add(_FIRST, {EVERY_PROJECT: "admin"})
    return admin.make_key(person.name, "first")
