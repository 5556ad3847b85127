"""A server that may be away: when it is asked, when it is left alone, and who hears that it is back."""

from __future__ import annotations

from typing import Any

from keepmum.core.errors import StoreUnavailable
from keepmum.stores.rest.contact import Contact
from keepmum.workspace.credentials import Server


def test_who_waits_for_a_server_hears_that_it_is_back() -> None:
    now, heard = [0.0], []
    contact = Contact(Server("https://memory.example", "a-key"), lambda _: _nothing(), lambda: now[0])
    contact.on_return = lambda: heard.append(now[0])
    assert contact.ask(lambda _: _away(), lambda: "known here") == "known here"
    assert contact.ask(lambda _: "the server's", lambda: "known here") == "known here"  # it is left alone
    now[0] = 6.0
    assert contact.ask(lambda _: "the server's", lambda: "known here") == "the server's"
    assert contact.ask(lambda _: "the server's", lambda: "known here") == "the server's"
    assert (heard, contact.caveat) == ([6.0], "")


def _away() -> str:
    raise StoreUnavailable("it is away")


def _nothing() -> Any:
    return object()
