"""Who may do what to a memory that a path names; what may not be read does not exist."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from keepmum.core import ids
from keepmum.core.errors import InvalidInput, NotFound
from keepmum.core.memory import JsonValue, Memory, Trust
from keepmum.server.call import Call, HttpError
from keepmum.server.people.roles import Role
from keepmum.service import MemoryService, OtherRevision, Place
from keepmum.service.exchange import SEVERAL
from keepmum.service.idempotency import Claim, once

__all__ = ["at_memory", "find", "named", "overtaken", "run_once"]

_Result = TypeVar("_Result")
_SHORTEST = 4  # characters of a prefix
_UNKNOWN = "nothing that this key may read has this name or id"


def find(service: MemoryService, reference: str) -> Memory:
    """The memory with this id or prefix of an id, among those that the service may read.

    Raises: NotFound, InvalidInput when several ids begin so.
    """
    whole = ids.complete_id(reference)
    if whole is not None:
        found = service.load_complete([whole])
    else:
        bounds = ids.id_range(reference) if len(reference.removeprefix(ids.PREFIX)) >= _SHORTEST else None
        found = [] if bounds is None else service.id_range(*bounds, 2)
    if len(found) > 1:
        is_one_id = len({memory.id for memory in found}) == 1
        raise InvalidInput("id", SEVERAL if is_one_id else "is a prefix of several ids; give more characters")
    if not found:
        raise NotFound(_UNKNOWN)
    return found[0]


def named(call: Call) -> str:
    """What the path names."""
    return call.path["id"]


@contextlib.contextmanager
def at_memory(
    call: Call, role: Role, *, trust: Trust = "team", agent: str = ""
) -> Iterator[tuple[MemoryService, Memory]]:
    """The memory that the path names, and a service in its project, session and space of a user.

    Raises: NotFound when it may not be read, Forbidden when the role in its project is smaller.
    """
    with call.service(None, "reader") as reading:
        memory = find(reading, named(call))
    call.require(memory.project or "", role)
    place = Place(project=memory.project, name=memory.project or "", session=memory.session, user=memory.user)
    with call.service(memory.project or "", role, place=place, trust=trust, agent=agent) as service:
        yield service, memory


def overtaken(error: OtherRevision) -> HttpError:
    """The answer to a write that names another revision than the present one."""
    if error.present is None:
        return HttpError(409, f"{error}; nothing was stored")
    revision = error.present.revision
    problem = f"the memory has revision {revision} now; read it, and decide again. Nothing was stored"
    return HttpError(412, problem, {"etag": f'"{revision}"'}, revision=revision)


def run_once(
    call: Call, content: JsonValue, run: Callable[[], _Result], replay: Callable[[tuple[str, ...]], _Result]
) -> _Result:
    """The result of `run`, or of `replay` when the same request with its `Idempotency-Key` was answered before.

    Raises: HttpError 422 when the key came with another request, and whatever `run` raises.
    """
    key = call.headers.get("idempotency-key", "")
    if not key:
        return run()
    if len(key) > 255 or not key.isprintable():
        raise InvalidInput("Idempotency-Key", "must have at most 255 printable characters")
    digest = hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).digest()
    kept = hashlib.blake2b(key.encode(), digest_size=16, key=call.secret[:64]).hexdigest()  # it may be anything
    claim = Claim(call.principal.id or call.principal.key, kept, digest, time.time_ns() // 1_000_000)
    try:
        return once(call.team.records, claim, run, replay)
    except InvalidInput as error:
        if error.field == "Idempotency-Key":
            raise HttpError(422, str(error), field="Idempotency-Key") from None
        raise
