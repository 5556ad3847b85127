"""Routes new memories to stores by their scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepmum.core.memory import SCOPES, Scope

__all__ = ["STORES", "parse_route", "store_by_scope"]

STORES = ("sqlite", "markdown", "rest")


def parse_route(route: str) -> tuple[Scope, str]:
    """The scope and the store of a route, `scope:store`.

    Raises: ValueError with what is allowed.
    """
    word, _, store = route.partition(":")
    scope = next((scope for scope in SCOPES if scope == word.strip()), None)
    if scope is None or store.strip() not in STORES:
        raise ValueError(f"a list of scope:store, with {', '.join(SCOPES)} and {', '.join(STORES)}")
    return scope, store.strip()


def store_by_scope(kind: str, routes: Sequence[str]) -> Mapping[Scope, str]:
    """The store of every scope, for the configured kind of store and the configured routes.

    Markdown files belong to a repository, so by default only the scope "project" is stored in them.
    """
    default = {scope: "sqlite" if kind == "markdown" and scope != "project" else kind for scope in SCOPES}
    return {**default, **dict(map(parse_route, routes))}
