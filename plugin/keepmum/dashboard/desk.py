"""Answers the calls of a page or a panel: one function for views, one for verbs, one for exports."""

from __future__ import annotations

from collections.abc import Iterator

from keepmum.core.errors import InvalidInput, StoreReadOnly
from keepmum.dashboard import changes, exports, views
from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.base import Dashboard, agents_of
from keepmum.dashboard.cards import cards
from keepmum.dashboard.failures import Forbidden

__all__ = ["Desk"]

_SHOWN = 100  # of the memories that a verb changed


class Desk:
    """The calls of one dashboard; all from one thread.

    Raises: KeepmumError from each call, which `failures.failure` turns into JSON.
    """

    def __init__(self, dashboard: Dashboard) -> None:
        self.dashboard = dashboard

    def ask(self, view: str, args: JsonObject) -> JsonObject:
        """What a view shows."""
        show = views.VIEWS.get(view)
        if show is None or view not in views.offered(self.dashboard):
            raise InvalidInput("view", f"is none of {', '.join(sorted(views.offered(self.dashboard)))}")
        given = Arguments(args)
        changes, data = self.dashboard.as_of(lambda: show(self.dashboard, given))
        frame = {"about": views.about(self.dashboard)} if given.flag("about") else {}
        return {**self._answer(data, changes), **frame}

    def change(self, verb: str, args: JsonObject) -> JsonObject:
        """Do what a person decided; the answer says what undoes it."""
        dashboard = self.dashboard
        do = changes.VERBS.get(verb)
        if do is None:
            raise InvalidInput("do", f"is none of {', '.join(changes.VERBS)}")
        reason = dashboard.service.store.capabilities.reason
        if not dashboard.service.store.capabilities.writable:
            raise StoreReadOnly(reason or "the memory cannot be written at the moment; nothing was changed")
        if verb not in views.verbs_of(dashboard):
            who = "the page of a server does not offer it to your role"
            reason = who if dashboard.where == "server" else "a person does it at `keepmum dashboard`"
            raise Forbidden(f"`{verb}` is not offered here: {reason}")
        done = do(dashboard, Arguments(args))
        return self._answer(
            {
                "done": verb,
                "memories": cards(dashboard, done.memories[:_SHOWN]),
                "count": len(done.memories),
                "undo": done.undo or None,
                "queued": done.queued,
                "said": done.said,
            },
            dashboard.service.changes(),
        )

    def export(self, kind: str, args: JsonObject) -> Iterator[str]:
        """The memories that pass the filters of a list, as the text of a file in parts."""
        if self.dashboard.where == "panel":
            raise Forbidden("an export is offered in the browser: `keepmum dashboard`")
        return exports.texts(self.dashboard, kind, Arguments(args))

    def close(self) -> None:
        """Close the service."""
        self.dashboard.service.close()

    def _answer(self, data: JsonObject, changes: int) -> JsonObject:
        service = self.dashboard.service
        return {
            "now": service.now(),
            "changes": changes,
            "agents": agents_of(data),
            "caveat": service.caveat(),
            "data": data,
        }
