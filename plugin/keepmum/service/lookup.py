"""Find memories by reference, and build the filter of a read: what a caller names, as the store understands it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from keepmum.core import ids, validation
from keepmum.core.errors import Ambiguous, NotFound
from keepmum.core.memory import KINDS, LIMITS, SCOPES, Filter, Memory, Scope, Status, Tier, space_of
from keepmum.service.context import ServiceContext
from keepmum.stores import Store
from keepmum.stores.base import known_folders

__all__ = ["Wanted", "filter_of", "find", "find_all", "pages", "project_id"]

_SHORTEST_PREFIX = 4
_PAGE = 200
_LAST_ID = "\U0010ffff"
_LISTED = 5  # memories that an error about an ambiguous id names


class Wanted(TypedDict, total=False):
    """Which memories a read looks at; a filter that is not given lets everything through."""

    kinds: Sequence[str]
    tags: Sequence[str]
    all_tags: bool
    scope: str | None  # one of the scopes, or `all` for every project
    agent: str | None
    since: int | None
    until: int | None
    statuses: tuple[Status, ...]
    project: str | None  # the name or id of one project, instead of the session's
    keys: str | None  # a pattern that the key must match (`keepmum.core.keys`)
    tier: Tier | None


def filter_of(context: ServiceContext, wanted: Wanted | None = None) -> Filter:
    """The filter that `wanted` means in the context's place.

    Raises: InvalidInput.
    """
    place, given = context.place, wanted or {}
    scope = given.get("scope")
    named = given.get("project")
    return Filter(
        now=context.clock(),
        project=project_id(context, named),
        session=place.session,
        user=place.user,
        # A session outside all projects reads those of every project.
        everywhere=scope == "all" or (scope is None and named is None and place.project is None),
        scopes=_scopes(scope, named),
        kinds=tuple(validation.one_of("kinds", kind, KINDS) for kind in given.get("kinds", ())),
        tags=validation.clean_tags(given.get("tags", ())),
        all_tags=given.get("all_tags", False),
        agent=given.get("agent"),
        since=given.get("since"),
        until=given.get("until"),
        statuses=given.get("statuses", ("active",)),
        keys=given.get("keys"),
        tier=given.get("tier"),
    )


def project_id(context: ServiceContext, name: str | None) -> str | None:
    """The id of the project called `name`: the session's, the only known one of that name, or the name itself."""
    if name in {None, context.place.name, context.place.project}:
        return context.place.project
    seen = {owner for _, owner, called in known_folders(context.store) if called == name}
    return seen.pop() if len(seen) == 1 else name


def find(context: ServiceContext, reference: str, *, former: bool = False) -> Memory:
    """The one memory with this key, id (in either spelling), prefix of an id, or id in its file; not masked.

    A key that no visible memory has means none, or with `former` the memory that had it last.
    Errors do not repeat the reference: it may be any text that was pasted.

    Raises: NotFound, Ambiguous.
    """
    store, place, now = context.store, context.place, context.clock()
    word = validation.clean("id", reference, LIMITS.key, one_line=True)
    spaces = [space_of(scope, place.project, place.session, place.user) for scope in SCOPES]
    for space in spaces:
        memory = store.by_key(space, word)
        if memory is not None and memory.is_visible(now):
            return memory
    try:
        return _by_id(context, word)
    except Ambiguous as error:  # it names memories
        raise Ambiguous(context.masker.text(str(error))) from None
    except NotFound:
        held = [memory for space in spaces if former and (memory := store.last_by_key(space, word)) is not None]
        if not held:
            raise
        return max(held, key=lambda memory: memory.updated_at)


def find_all(context: ServiceContext, references: Sequence[str]) -> list[Memory]:
    """The memories of all references, each once.

    Raises: NotFound, Ambiguous.
    """
    return list({memory.id: memory for memory in (find(context, each) for each in references)}.values())


def pages(store: Store) -> Iterator[list[Memory]]:
    """All memories of a store, page by page in the order of ids, of any status, project and user."""
    after = ""
    while page := [memory for memory in store.between(after, _LAST_ID, _PAGE + 1) if memory.id != after]:
        yield page
        after = page[-1].id


def _by_id(context: ServiceContext, word: str) -> Memory:
    store = context.store
    bounds = ids.id_range(word) if len(word.removeprefix(ids.PREFIX)) >= _SHORTEST_PREFIX else None
    found = [] if bounds is None else store.between(*bounds, limit=_LISTED + 1)
    if not found and (files := store.features.files) is not None:
        found = store.get(files.with_file_id(word))
    found = [memory for memory in found if memory.user == context.place.user]
    if len(found) > 1:
        some = ", ".join(f"{memory.id} ({memory.title})" for memory in found[:_LISTED])
        raise Ambiguous(f"that is the id, or a prefix of the id, of several memories: {some}")
    if found:
        return found[0]
    if bounds is None:
        size = "1 character" if len(word) == 1 else f"{len(word)} characters"
        raise NotFound(f"no memory has this key of {size}; give a key, an id, or at least 4 characters of an id")
    raise NotFound("no memory has an id with this prefix; `recall` finds memories by their content")


def _scopes(scope: str | None, project: str | None) -> tuple[Scope, ...]:
    """The scopes that a read is limited to; none for all of them. Naming a project limits the read to it."""
    if scope in {None, "all"}:
        return () if project is None else ("project", "shared")
    return (validation.one_of("scope", scope or "", SCOPES),)
