"""`subscriptions/listen`: a stream that says which resources changed, for clients of 2026-07-28.

A notification has a URI that the client named, and nothing else. Lists of tools, prompts and resources change only with
the version of the server, whose end closes the stream, so changes of lists are not offered.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions, read 2026-11-23.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple
from urllib.parse import unquote

import anyio
import anyio.to_thread
from mcp import types
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY, ResourceUpdated, event_to_notification

from keepmum.core import jsonrpc
from keepmum.core.errors import Ambiguous, InvalidInput, KeepmumError, NotFound
from keepmum.mcp.dialects import DIALECTS
from keepmum.server.feed import Changes, Feed
from keepmum.server.mcp.caller import FindPrincipal
from keepmum.server.mcp.calls import Edge, RemoteCall
from keepmum.server.mcp.dialect import Context, request_of, sender_of
from keepmum.server.people.roles import Principal
from keepmum.service import MemoryService, Place
from keepmum.service.team import ORGANISATION, Team

__all__ = ["Listener"]

_SCHEME = "memory://"
_MOST = 100  # resources of one stream


class Listener(NamedTuple):
    """Serves the streams of one dialect."""

    dialect: str
    team: Team
    feed: Feed
    principal: FindPrincipal
    edge: Edge
    limiter: anyio.CapacityLimiter  # counts the threads that read memories

    async def serve(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Announce changes until the client leaves, its key is withdrawn, or the server stops.

        Raises: MCPError when the request names too many resources or no project, or the key has too many streams.
        """
        sender = sender_of(context)
        request = RemoteCall(self.dialect, context.method, context.params or {}, sender, context.protocol_version)
        try:
            uris = _accepted(params.notifications.resource_subscriptions or ())
            self.edge.take(sender.principal.key, "read")
            place = request.place("reader")
            with self.feed.stream(sender.principal.key):
                return await self._announce(context, sender.principal, place, uris)
        except KeepmumError as error:
            code = jsonrpc.INVALID_PARAMS if isinstance(error, InvalidInput) else jsonrpc.INTERNAL_ERROR
            raise MCPError(code, str(error)) from None
        except Exception as error:  # noqa: BLE001 - the SDK's log, which would name it, is off
            raise MCPError(jsonrpc.INTERNAL_ERROR, jsonrpc.internal_error(context.method, error).message) from None

    async def _announce(
        self, context: Context, principal: Principal, place: Place, uris: Sequence[str]
    ) -> types.SubscriptionsListenResult:
        meta: dict[str, object] = {SUBSCRIPTION_ID_META_KEY: context.request_id}
        headers = dict(request_of(context).headers)
        watched = _Watched(place.project or "", [each.uri for each in DIALECTS[self.dialect][0].resources], uris)

        def begin() -> int:
            after = self.feed.head()  # before the look, so that no change is between the two
            with self._service(principal, place) as service:
                watched.look_up(service)
            return after

        def changed(changes: Changes) -> list[str]:
            with self._service(changes.principal, place) as service:
                return watched.changed(changes, service)

        after = await anyio.to_thread.run_sync(begin, limiter=self.limiter)
        await context.session.send_notification(_acknowledgment(uris, meta), context.request_id)
        following = self.feed.follow(principal, lambda: self.principal(headers), after)
        async with contextlib.aclosing(following) as followed:
            async for changes in followed:
                named = await anyio.to_thread.run_sync(changed, changes, limiter=self.limiter) if changes.rows else ()
                for uri in named:
                    announced = event_to_notification(ResourceUpdated(uri), meta)
                    await context.session.send_notification(announced, context.request_id)
        return types.SubscriptionsListenResult(_meta=meta)

    def _service(self, principal: Principal, place: Place) -> AbstractContextManager[MemoryService]:
        """A service that logs nothing."""
        grant = principal.grant(ORGANISATION)
        return self.team.service(grant, actor=principal.name, place=place, origin="mcp", quiet=True)


class _Watched:
    """The resources of a stream, and the memories that they stand for."""

    def __init__(self, project: str, overviews: Sequence[str], uris: Sequence[str]) -> None:
        """`overviews` are the resources that change with any memory of the project."""
        self._project = project
        self._overviews = [uri for uri in uris if uri in overviews]
        self._references = {uri: unquote(uri.removeprefix(_SCHEME)) for uri in uris if uri not in overviews}
        self._ids: dict[str, str] = {}  # of memories, by URI

    def look_up(self, service: MemoryService) -> None:
        """Find the memories that the resources stand for now.

        Raises: StoreError.
        """
        for uri, reference in self._references.items():
            with contextlib.suppress(NotFound, Ambiguous, InvalidInput):  # it may come to exist
                self._ids[uri] = service.find(reference).id

    def changed(self, changes: Changes, service: MemoryService) -> list[str]:
        """The URIs of the resources that changed."""
        subjects = {row.subject for row in changes.rows if row.subject is not None}
        for memory in service.load_complete(sorted(subjects)) if self._references else ():
            key = memory.key if self._is_here(memory.project) else None
            renamed = [uri for uri, reference in self._references.items() if reference in {memory.id, key}]
            self._ids |= dict.fromkeys(renamed, memory.id)
        overviews = self._overviews if any(self._is_here(row.project) for row in changes.rows) else []
        return [*overviews, *(uri for uri, memory in self._ids.items() if memory in subjects)]

    def _is_here(self, project: str | None) -> bool:
        """Whether the memories of a project are among those of this place."""
        return (project or "") in {"", self._project}


def _accepted(uris: Sequence[str]) -> list[str]:
    """The resources that may change, of those that a client asks for.

    Raises: InvalidInput when they are too many.
    """
    if len(uris) > _MOST:
        raise InvalidInput("resourceSubscriptions", f"has more than {_MOST} resources")
    return [uri for uri in dict.fromkeys(uris) if uri.startswith(_SCHEME)]


def _acknowledgment(uris: Sequence[str], meta: dict[str, object]) -> types.SubscriptionsAcknowledgedNotification:
    honoured = types.SubscriptionFilter(resource_subscriptions=list(uris) or None)
    return types.SubscriptionsAcknowledgedNotification(
        params=types.SubscriptionsAcknowledgedNotificationParams(notifications=honoured, _meta=meta)
    )
