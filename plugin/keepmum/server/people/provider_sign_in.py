"""A sign-in at an identity provider, as an interface for the dashboard, which loads none of its modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from keepmum.core.errors import KeepmumError
from keepmum.server.people.roles import Principal, Role

__all__ = ["Answered", "Begun", "NotSignedIn", "ProviderSignIn", "SignedIn"]


class NotSignedIn(KeepmumError):
    """The sign-in at the identity provider failed; another may succeed."""


class Begun(NamedTuple):
    """A sign-in that began."""

    ticket: str  # for the browser's tab, which alone can finish it
    address: str  # of the provider, to which the browser goes


class Answered(NamedTuple):
    """What the browser brings back: its ticket, and what the provider has put into the address."""

    ticket: str
    state: str
    code: str
    iss: str  # the issuer; "" where the provider does not name it


class SignedIn(NamedTuple):
    """Who has signed in."""

    principal: Principal
    given: Mapping[str, Role]  # the roles that the provider gives them


class ProviderSignIn(Protocol):
    """Signs people in."""

    @property
    def host(self) -> str:
        """The name of the provider, for people."""

    def begin(self, back: str) -> Begun:
        """Begin a sign-in that leads back to the address `back`.

        Raises: StoreUnavailable when the provider does not answer.
        """

    def finish(self, answered: Answered, back: str) -> SignedIn:
        """The person who signed in.

        Raises: NotSignedIn; StoreUnavailable when the provider does not answer.
        """
