"""Opens the handlers late, runs calls, and closes them, all on the handlers' thread."""

from __future__ import annotations

from keepmum.core import jsonrpc
from keepmum.core.errors import KeepmumError, report_unexpected
from keepmum.mcp.client import root_paths, session_of_call
from keepmum.mcp.surface import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from keepmum.mcp.calls import Call
    from keepmum.mcp.client import Client
    from keepmum.mcp.surface import Handlers, OpenHandlers

    Json = dict[str, object]
    Notify = Callable[[str, Json], None]  # method and parameters of a notification
    Log = Callable[[str, str], None]  # level and message

__all__ = ["Work", "Worker"]


class Work:
    """A pending request; the reading thread may cancel it."""

    __slots__ = ("call", "cancelled", "client", "request")

    def __init__(self, request: jsonrpc.Request, call: Call, client: Client) -> None:
        self.request: Final = request
        self.call: Final = call
        self.client: Final = client
        self.cancelled = False

    @property
    def meta(self) -> Json:
        """The request's `_meta`, unchecked."""
        meta = self.request.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


class Worker:
    """Opens the handlers when they are first needed; after a failure, the next call tries again."""

    def __init__(self, open_handlers: OpenHandlers, notify: Notify, log: Log) -> None:
        self._open: Final = open_handlers
        self._notify: Final = notify
        self._log: Final = log
        self._handlers: Handlers | None = None
        self._roots: tuple[str, ...] = ()
        self._session = ""

    def warm(self, client: Client) -> None:
        """Open the handlers before the first call."""
        try:
            self._opened(self._context(client))
        except KeepmumError:
            pass  # each call tries again and reports the error
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as in `answer`
            report_unexpected("opening", error)

    def set_roots(self, client: Client, result: object) -> None:
        """Store the client's folders from its response to `roots/list`, and update the handlers."""
        self._roots = root_paths(result)
        if self._handlers is None:
            return  # opening passes the folders
        try:
            self._handlers.roots_changed(self._context(client))
        except KeepmumError:
            # They are in the wrong place now. The next call opens them in the new one, or reports why it cannot.
            self.close()
            self._handlers = None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as in `answer`
            report_unexpected("roots", error)

    def answer(self, work: Work) -> Json:
        """The response to a request. Never raises."""
        request_id = work.request.id
        try:
            return jsonrpc.result(request_id, self._result(work))
        except jsonrpc.RpcError as error:
            return jsonrpc.failure(request_id, error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an error in one request must not end the session
            return jsonrpc.failure(request_id, jsonrpc.internal_error(work.call.subject, error))

    def close(self) -> None:
        """Close the handlers, if they were opened."""
        if self._handlers is None:
            return
        try:
            self._handlers.close()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the process is ending
            report_unexpected("closing", error)

    def _result(self, work: Work) -> Json:
        try:
            self._move_to_session(work)
            context = self._context(work.client, work)
            return work.call.run(self._opened(context), context)
        except KeepmumError as error:
            return work.call.refuse(error)

    def _move_to_session(self, work: Work) -> None:
        """Move the handlers to the session and folders that the call names, if it does.

        Raises: KeepmumError when the handlers cannot move there; the next call tries again.
        """
        before = self._session, self._roots
        session, folders = session_of_call(work.meta)
        after = session, folders or (self._roots if session == self._session else ())
        if not session or after == before:
            return
        self._session, self._roots = after
        if self._handlers is None:
            return  # opening passes session and folders
        try:
            self._handlers.roots_changed(self._context(work.client, work))
        except BaseException:
            self._session, self._roots = before
            raise

    def _opened(self, context: Context) -> Handlers:
        if self._handlers is None:
            self._handlers = self._open(context)
        return self._handlers

    def _context(self, client: Client, work: Work | None = None) -> Context:
        return _ClientContext(client, (self._session, self._roots), work, self._notify, self._log)


class _ClientContext(Context):
    """A context that sends progress and log messages to the client and reports cancellation."""

    __slots__ = ("_log", "_notify", "_token", "_work")

    def __init__(
        self, client: Client, place: tuple[str, tuple[str, ...]], work: Work | None, notify: Notify, log: Log
    ) -> None:
        super().__init__(
            agent=client.agent,
            agent_version=client.agent_version,
            client_name=client.name,
            protocol=client.protocol,
            roots=place[1],
            session=place[0],
            meta=None if work is None else work.meta,
        )
        token = self.meta.get("progressToken")
        self._token: Final = token if isinstance(token, (str, int)) and not isinstance(token, bool) else None
        self._work: Final = work
        self._notify: Final = notify
        self._log: Final = log

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        if self._token is None or self.cancelled():
            return
        params = {"progressToken": self._token, "progress": done, "total": total, "message": message}
        self._notify("notifications/progress", {name: value for name, value in params.items() if value is not None})

    def cancelled(self) -> bool:
        return self._work is not None and self._work.cancelled

    def log(self, level: str, message: str) -> None:
        self._log(level, message)
