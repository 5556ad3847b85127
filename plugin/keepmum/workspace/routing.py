"""Which store a new memory goes to, by its scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepmum.core.memory import SCOPES, Scope

__all__ = ["STORES", "parsed", "routes"]

STORES = ("sqlite", "markdown", "rest")


def parsed(route: str) -> tuple[Scope, str]:
    """Scope and store of a route that is written `scope:store`.

    Raises: ValueError saying what is allowed.
    """
    word, _, store = route.partition(":")
    scope = next((scope for scope in SCOPES if scope == word.strip()), None)
    if scope is None or store.strip() not in STORES:
        raise ValueError(f"a list of scope:store, with {', '.join(SCOPES)} and {', '.join(STORES)}")
    return scope, store.strip()


def routes(kind: str, said: Sequence[str]) -> Mapping[Scope, str]:
    """The store of every scope, where `kind` is the store that is chosen and `said` are the routes that are.

    Files of a repository belong to its project: what is global, or of one session, stays in the database.
    """
    usual = {scope: "sqlite" if kind == "markdown" and scope != "project" else kind for scope in SCOPES}
    return {**usual, **dict(map(parsed, said))}
