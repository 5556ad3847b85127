"""Find memories by reference, and build the filter of a read: what a caller names, as the store understands it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypedDict

from keepmum.core import ids, validation
from keepmum.core.errors import Ambiguous, Incomplete, InvalidInput, KeepmumError, NotFound
from keepmum.core.framing import inline
from keepmum.core.memory import (
    KINDS,
    LIMITS,
    LISTED,
    SCOPES,
    Filter,
    Memory,
    Order,
    Scope,
    Status,
    Tier,
    Trust,
    space_of,
)
from keepmum.service.context import ServiceContext
from keepmum.stores import Store
from keepmum.stores.base import caveat, cut, known_folders

__all__ = [
    "Found",
    "Wanted",
    "again",
    "filter_of",
    "find",
    "find_all",
    "find_each",
    "listing",
    "owner_of",
    "pages",
    "project_id",
]

_SHORTEST_PREFIX = 4
_PAGE = 1_000  # memories of a read that a server may take its time for
_PASSES = 10  # over a list that changes while it is read
_LAST_ID = "\U0010ffff"
_LISTED = 5  # memories that an error about an ambiguous id names
_CHECKED = 50  # memories per read; a server takes a larger number for the read of a program


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
    trusts: tuple[Trust, ...]  # none: every level


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
        trusts=given.get("trusts", ()),
    )


def project_id(context: ServiceContext, name: str | None) -> str | None:
    """The id of the project called `name`: the session's, the only known one of that name, or the name itself."""
    if name in {None, context.place.name, context.place.project}:
        return context.place.project
    seen = {owner for _, owner, called in known_folders(context.store) if called == name}
    return seen.pop() if len(seen) == 1 else name


def find(context: ServiceContext, reference: str, *, former: bool = False, like: Memory | None = None) -> Memory:
    """The one memory with this key, id (in either spelling), prefix of an id, or id in its file; not masked.

    A key that no visible memory has means none, or with `former` the memory that had it last. An id that several
    projects use means the memory in the project of `like`, by default in that of the context's place.
    Errors do not repeat the reference: it may be any text that was pasted.

    Raises: NotFound, Ambiguous.
    """
    store, place, now = context.store, context.place, context.clock()
    word = validation.clean("id", reference, LIMITS.key, one_line=True)
    spaces = [space_of(scope, place.project, place.session, place.user) for scope in SCOPES]
    outside = None
    for space in spaces:
        memory = store.by_key(space, word)
        if memory is not None and memory.is_visible(now):
            if memory.trust != "outside":
                return memory
            outside = outside or memory  # text from outside hides no other memory with this key
    if outside is not None:
        return outside
    try:
        return _by_id(context, word, place.project if like is None else like.project)
    except Ambiguous as error:  # it names memories
        raise Ambiguous(context.masker.text(str(error))) from None
    except NotFound:
        held = [memory for space in spaces if former and (memory := store.last_by_key(space, word)) is not None]
        if not held:
            raise
        return max(held, key=lambda memory: memory.updated_at)


def again(context: ServiceContext, memory: Memory) -> Memory:
    """A memory that was found, as it is now.

    Raises: NotFound, Ambiguous.
    """
    return find(context, memory.id, like=memory)


def owner_of(context: ServiceContext, reference: str) -> str | None:
    """The user whom the memory with this complete id belongs to; None when it belongs to no user, or there is none."""
    memory = ids.complete_id(reference.strip())
    found = [] if memory is None else context.store.get([memory])
    return found[0].user if found else None


def find_all(context: ServiceContext, references: Sequence[str]) -> list[Memory]:
    """The memories of all references, each once.

    Raises: NotFound, Ambiguous.
    """
    return list({memory.id: memory for memory in (find(context, each) for each in references)}.values())


class Found(NamedTuple):
    """The memories of several references, each once, and why others name none."""

    memories: list[Memory]
    missing: tuple[str, ...]  # `ids[1]: REASON`, by place: a reference may be any text that was pasted


def find_each(context: ServiceContext, references: Sequence[str], *, unexpired: bool = False) -> Found:
    """The memories of those references that name one; with `unexpired`, only of those that have not expired.

    Raises: NotFound, Ambiguous, InvalidInput when none does.
    """
    now = context.clock()
    found: dict[str, Memory] = {}
    missing: dict[str, KeepmumError] = {}
    for number, reference in enumerate(references):
        try:
            memory = find(context, reference)
        except (NotFound, Ambiguous, InvalidInput) as error:
            missing[f"ids[{number}]"] = error
            continue
        if unexpired and memory.status == "active" and not memory.is_visible(now):
            expired = f"{memory.id} has expired; `keepmum forget --undo` brings it back"
            missing[f"ids[{number}]"] = NotFound(expired)
        else:
            found[memory.id] = memory
    if missing and not found and len(missing) == 1:
        raise next(iter(missing.values()))
    reasons = tuple(f"{place}: {error}" for place, error in missing.items())
    if missing and not found:
        raise NotFound("; ".join(reasons))
    return Found(list(found.values()), reasons)


def pages(store: Store) -> Iterator[list[Memory]]:
    """All memories of a store, page by page in the order of ids, of any status, project and user.

    Raises: Incomplete after the last page when a server did not list everything.
    """
    after, known, problem = "", set[tuple[str, str | None]](), ""
    while found := store.between(after, _LAST_ID, _PAGE + len(known)):
        problem = problem or caveat(store)
        page = [memory for memory in found if (memory.id, memory.project) not in known]
        if not page:
            break
        yield page
        after = page[-1].id
        known = {(memory.id, memory.project) for memory in found if memory.id == after}
    if problem := problem or caveat(store):
        raise Incomplete(problem)


def listing(
    store: Store, wanted: Filter, *, order: Order = "created", only_current: bool = False
) -> Iterator[list[Memory]]:
    """All memories that pass the filter, page by page, each once and with its text.

    A memory that is written or removed meanwhile shifts the pages. Each page overlaps with the one before, which shows
    that; another pass then returns what was missed.

    Raises: Incomplete after the last page when a server did not list everything; with `only_current`, before the first
        page that is not the server's answer.
    """
    seen: set[str] = set()
    problem = ""
    for _ in range(_PASSES):
        start, last, shifted = 0, "", False
        while True:
            page = store.browse(wanted, order=order, limit=_PAGE, offset=start)
            reason = caveat(store)
            problem = problem or reason
            if only_current and reason != cut(store):
                raise Incomplete(reason)
            shifted = shifted or bool(last and [memory.id for memory in page[:1]] != [last])
            if len(page) <= (1 if last else 0):
                break
            whole = [memory for memory in page if memory.origin != LISTED]
            if fresh := [memory for memory in whole if memory.id not in seen]:
                yield fresh
            seen.update(memory.id for memory in whole)
            start, last = start + len(page) - 1, page[-1].id
        if not shifted:
            break
    else:
        problem = problem or "memories were added and removed all the time; try again"
    if problem:
        raise Incomplete(problem)


def _by_id(context: ServiceContext, word: str, project: str | None) -> Memory:
    store = context.store
    bounds = ids.id_range(word) if len(word.removeprefix(ids.PREFIX)) >= _SHORTEST_PREFIX else None
    found = [] if bounds is None else _of_user(store, *bounds, context.place.user)
    if not found and (files := store.features.files) is not None:
        found = [memory for memory in store.get(files.with_file_id(word)) if memory.user == context.place.user]
    if len({memory.id for memory in found}) < len(found):  # projects of PostgreSQL may share an id
        found = [memory for memory in found if memory.project == project] or found
        if len(found) > 1:
            each = ", ".join(
                f"{inline(memory.project or 'none')} ({inline(memory.title)})" for memory in found[:_LISTED]
            )
            raise Ambiguous(
                f"memories of several projects have ids that begin so: {each}; name the project that is meant, over "
                "HTTP in the header X-Keepmum-Project"
            )
    if len(found) > 1:
        some = ", ".join(f"{memory.id} ({inline(memory.title)})" for memory in found[:_LISTED])
        more = " and more; give more characters of the id" if len(found) > _LISTED else ""
        raise Ambiguous(f"that is the id, or a prefix of the id, of several memories: {some}{more}")
    if found:
        return found[0]
    if bounds is None:
        size = "1 character" if len(word) == 1 else f"{len(word)} characters"
        raise NotFound(f"no memory has this key of {size}; give a key, an id, or at least 4 characters of an id")
    if context.place.user is None and owner_of(context, word) is not None:
        raise NotFound("this memory belongs to a user; `keepmum` finds it by its id, or with KEEPMUM_USER set")
    raise NotFound("no memory has this key, or an id that begins so; search for it by its content")


def _of_user(store: Store, first: str, last: str, user: str | None) -> list[Memory]:
    """The first memories of a user with ids in [first, last]; one more than an error lists."""
    found: list[Memory] = []
    while page := store.between(first, last, _CHECKED):
        found += [memory for memory in page if memory.user == user and memory not in found]
        if len(found) > _LISTED or len(page) < _CHECKED or page[-1].id in {first, last}:
            break
        first = page[-1].id
    return found[: _LISTED + 1]


def _scopes(scope: str | None, project: str | None) -> tuple[Scope, ...]:
    """The scopes that a read is limited to; none for all of them. Naming a project limits the read to it."""
    if scope in {None, "all"}:
        return () if project is None else ("project", "shared")
    return (validation.one_of("scope", scope or "", SCOPES),)
