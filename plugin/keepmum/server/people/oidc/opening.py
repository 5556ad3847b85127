"""Opens the identity provider of the settings."""

from __future__ import annotations

from typing import NamedTuple

from keepmum.core.validation import Scan
from keepmum.server.people.api_keys import ApiKeys
from keepmum.server.people.oidc.claims import Claims, Rules
from keepmum.server.people.oidc.fetch import Fetcher
from keepmum.server.people.oidc.members import Members
from keepmum.server.people.oidc.provider import Provider
from keepmum.server.people.oidc.sign_in import CodeFlow
from keepmum.server.people.oidc.tokens import Verifier
from keepmum.server.settings import ServerSettings
from keepmum.service.team import TeamRecords

__all__ = ["Oidc", "count_keys", "open_oidc"]


class Oidc(NamedTuple):
    """The people of the provider, and their sign-in to the dashboard; None when that was not set up."""

    members: Members
    flow: CodeFlow | None


def open_oidc(settings: ServerSettings, records: TeamRecords, scan: Scan, secret: bytes) -> Oidc:
    """The provider of the settings, whose documents are read in the background from now on."""
    fetcher = _fetcher(settings)
    provider = Provider(settings.oidc_issuer, fetcher)
    verifier = Verifier(settings.oidc_issuer, provider.key)
    audience = settings.oidc_audience or (settings.url, f"{settings.url}/mcp")

    def verify(token: str) -> Claims | None:
        """The claims of an access token for this server."""
        return verifier.access(token, audience)

    rules = Rules(settings.oidc_name_claim, settings.oidc_roles_claim, settings.oidc_projects_claim, settings.oidc_map)
    reserved = ApiKeys(settings.api_keys, secret).names
    members = Members(settings.oidc_issuer, verify, rules, records, scan, reserved=reserved)
    flow = None
    if settings.oidc_client_id:
        flow = CodeFlow(
            provider, fetcher, verifier, members,
            client=settings.oidc_client_id, client_secret=settings.oidc_client_secret, secret=secret,
        )  # fmt: skip
    provider.begin()
    return Oidc(members, flow)


def count_keys(settings: ServerSettings) -> int:
    """How many keys the provider of the settings publishes.

    Raises: ProviderAway with what is wrong.
    """
    return Provider(settings.oidc_issuer, _fetcher(settings)).read()


def _fetcher(settings: ServerSettings) -> Fetcher:
    return Fetcher(settings.oidc_issuer, settings.oidc_hosts, private=settings.oidc_private)
