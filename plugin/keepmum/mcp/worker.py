"""The handlers' side of a session: opens them late, carries out calls, closes them. All on the handlers' thread."""

from __future__ import annotations

from keepmum.core import jsonrpc
from keepmum.core.errors import KeepmumError
from keepmum.core.faults import internal_error, report
from keepmum.mcp.client import root_paths, told_with_call
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
    """A request on its way through; the reading thread may cancel it meanwhile."""

    __slots__ = ("call", "cancelled", "client", "request")

    def __init__(self, request: jsonrpc.Request, call: Call, client: Client) -> None:
        self.request: Final = request
        self.call: Final = call
        self.client: Final = client
        self.cancelled = False

    @property
    def meta(self) -> Json:
        """What the client sends along, unchecked."""
        meta = self.request.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


class Worker:
    """Handlers that are opened when first needed, and again at the next need when that failed."""

    def __init__(self, open_handlers: OpenHandlers, notify: Notify, log: Log) -> None:
        self._open: Final = open_handlers
        self._notify: Final = notify
        self._log: Final = log
        self._handlers: Handlers | None = None
        self._roots: tuple[str, ...] = ()
        self._session = ""

    def warm(self, client: Client) -> None:
        """Open the handlers before the first call needs them."""
        try:
            self._opened(self._context(client))
        except KeepmumError:
            pass  # each call will try again, and say so
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as in `answer`
            report("opening", error)

    def take_roots(self, client: Client, result: object) -> None:
        """Keep the client's folders, from its answer to `roots/list`, and tell the handlers."""
        self._roots = root_paths(result)
        if self._handlers is None:
            return  # opening will give them the folders
        try:
            self._handlers.roots_changed(self._context(client))
        except KeepmumError:
            # Where they are is not where the client works. The next call opens them there, or says why not.
            self.close()
            self._handlers = None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as in `answer`
            report("roots", error)

    def answer(self, work: Work) -> Json:
        """The answer to a request, whatever happens."""
        request_id = work.request.id
        try:
            return jsonrpc.result(request_id, self._result(work))
        except jsonrpc.RpcError as error:
            return jsonrpc.failure(request_id, error)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a fault in one request must not end the conversation
            return jsonrpc.failure(request_id, internal_error(work.call.subject, error))

    def close(self) -> None:
        """Close the handlers, if they were opened."""
        if self._handlers is None:
            return
        try:
            self._handlers.close()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the process ends in any case
            report("closing", error)

    def _result(self, work: Work) -> Json:
        try:
            self._follow(work)
            context = self._context(work.client, work)
            return work.call.carry_out(self._opened(context), context)
        except KeepmumError as error:
            return work.call.refuse(error)

    def _follow(self, work: Work) -> None:
        """Go where the call comes from, if its client says so: to another session, which may work in other folders.

        Raises: KeepmumError when the handlers cannot go there; the next call will try again.
        """
        before = self._session, self._roots
        session, folders = told_with_call(work.meta)
        told = session, folders or (self._roots if session == self._session else ())
        if not session or told == before:
            return
        self._session, self._roots = told
        if self._handlers is None:
            return  # opening will give them session and folders
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
    """A context whose progress, log and cancellation are the client's."""

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
        told = {"progressToken": self._token, "progress": done, "total": total, "message": message}
        self._notify("notifications/progress", {name: value for name, value in told.items() if value is not None})

    def cancelled(self) -> bool:
        return self._work is not None and self._work.cancelled

    def log(self, level: str, message: str) -> None:
        self._log(level, message)
