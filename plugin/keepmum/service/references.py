"""Which memory a name means: a key, an id in either spelling, the beginning of an id, or the id that its file gives."""

from __future__ import annotations

from collections.abc import Sequence

from keepmum.core import ids
from keepmum.core.errors import Ambiguous, NotFound
from keepmum.core.memory import Memory
from keepmum.stores import Store

__all__ = ["resolve", "resolve_former"]

_SHORTEST_PREFIX = 4
_LISTED = 5


def resolve(store: Store, word: str, spaces: Sequence[str], user: str | None, now: int) -> Memory:
    """The one memory that `word` means: by key in the first of `spaces` that has it, else by id, else by its file's.

    A key that no visible memory holds means none, not the one that held it last: see `resolve_former`.
    The word itself is not repeated in an error: it may be anything that was pasted.

    Raises: NotFound, Ambiguous.
    """
    for space in spaces:
        memory = store.by_key(space, word)
        if memory is not None and memory.is_visible(now):
            return memory
    return _by_id(store, word, user)


def resolve_former(store: Store, word: str, spaces: Sequence[str], user: str | None, now: int) -> Memory:
    """As `resolve`, but a key that nothing visible holds means the memory that gave it up last.

    Raises: NotFound, Ambiguous.
    """
    try:
        return resolve(store, word, spaces, user, now)
    except NotFound:
        former = [memory for space in spaces if (memory := store.last_by_key(space, word)) is not None]
        if not former:
            raise
        return max(former, key=lambda memory: memory.updated_at)


def _by_id(store: Store, word: str, user: str | None) -> Memory:
    bounds = ids.id_range(word) if len(word.removeprefix(ids.PREFIX)) >= _SHORTEST_PREFIX else None
    found = [] if bounds is None else store.between(*bounds, limit=_LISTED + 1)
    if not found and (files := store.features.files) is not None:
        found = store.get(files.with_file_id(word))
    found = [memory for memory in found if memory.user == user]
    if len(found) > 1:
        some = ", ".join(f"{memory.id} ({memory.title})" for memory in found[:_LISTED])
        raise Ambiguous(f"that is the id, or the beginning of the id, of several memories: {some}")
    if found:
        return found[0]
    if bounds is None:
        size = "1 character" if len(word) == 1 else f"{len(word)} characters"
        raise NotFound(f"no memory has this key of {size}; give a key, an id, or at least 4 characters of an id")
    raise NotFound("no memory has an id that begins so; `recall` finds memories by what they say")
