"""The guard before a tool is used: a secret reaches no memory of another server, and no file that agents remember by.

What is not guarded is let through before the scanner is even imported. What is guarded and cannot be checked is
forbidden: clients take a hook that fails for one that has no objection.
"""

from __future__ import annotations

from keepmum_hooks import clients, deadline, event, files, module_cache, payload, personal, places, switches
from keepmum_hooks.guarded import Guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from keepmum_hooks.call import Call
    from keepmum_hooks.clients import Client

__all__ = ["answer", "guard"]

_SECONDS = 2.0  # of the five after which the client stops waiting, and lets the tool run
_MOST_FINDINGS = 5  # told of in one answer

_REFUSED = (
    "Keepmum refused this write to memory, and nothing was written: it holds a secret. {places}. "
    "Write it again without the secret: say instead where it is kept, such as a password manager or the name of an "
    "environment variable.{allowing}"
)
_ALLOWING = (
    " If it is no secret, the user can say so in their own terminal: `keepmum allow FINGERPRINT --why TEXT`. "
    "Fingerprint: {fingerprints}."
)
_UNCHECKED = (
    "Keepmum could not check this write to memory for secrets, so nothing was written: {why}. "
    "Tell the user; `keepmum doctor` says what is wrong."
)


def guard(hint: str, environ: Mapping[str, str]) -> str:
    """The JSON that forbids the tool call on standard input, or "" when it may be made."""
    deadline.set_to(_SECONDS)
    raw = b""
    try:
        raw = payload.read_head(payload.STDIN_LIMIT + 1)
        if len(raw) > payload.STDIN_LIMIT:
            payload.drain_stdin()
        return answer(hint, raw, environ)
    except deadline.DeadlineError:
        return _unless_off(hint, raw, environ, "it took too long")
    finally:
        deadline.lift()


def answer(hint: str, raw: bytes, environ: Mapping[str, str]) -> str:
    """The JSON that forbids the call in the payload `raw`, or ""."""
    content = payload.parse(raw) if len(raw) <= payload.STDIN_LIMIT else None
    if content is None:
        why = "it is too long" if len(raw) > payload.STDIN_LIMIT else "it could not be read"
        return _unless_off(hint, raw, environ, why)
    name = clients.detect(hint, content, environ)
    if name not in clients.CLIENTS:
        return ""  # another client's hook ran our file; what it would read as an answer is not ours to guess
    try:
        return _judge(clients.CLIENTS[name](), name, content, environ)
    except Exception as error:  # noqa: BLE001 - whatever it is, a memory must not be written unchecked
        return _unless_off(name, raw, environ, f"the guard failed ({type(error).__name__})")


def _judge(client: Client, name: str, content: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The answer to a call that could be read.

    Raises: whatever goes wrong before the call is known to concern a memory.
    """
    call = client.read_call(content, environ)
    if call is None:
        return ""
    home = places.home(environ)
    chosen = switches.read(home, call.session, call.cwd, environ)
    if not chosen.guard:
        return ""
    guarded = Guarded(environ, chosen.guard_paths, chosen.guard_tools)
    if home is not None and personal.decides(call, home, guarded):
        return client.refuse(personal.REASON)
    if not guarded.concerns(call):
        return ""
    if home is not None:
        files.mark(places.heartbeat_file(home, name, event.GUARD))
    reason = _objection(call, home)
    return client.refuse(reason) if reason else ""


def _objection(call: Call, home: str | None) -> str:
    """Why the call must not be made, or ""."""
    try:
        found, fingerprints = _places(call, home)
    except deadline.DeadlineError:
        return _UNCHECKED.format(why="it took too long")
    except ImportError:
        return _UNCHECKED.format(why="the scanner could not be loaded")
    except BaseException as error:  # noqa: BLE001 - a broken scanner may do anything, and must not clear the call
        return _UNCHECKED.format(why=f"the scanner failed ({type(error).__name__})")
    if not found:
        return ""
    told = [*found[:_MOST_FINDINGS], *(["and more"] if len(found) > _MOST_FINDINGS else [])]
    allowing = _ALLOWING.format(fingerprints=", ".join(fingerprints[:_MOST_FINDINGS])) if fingerprints else ""
    return _REFUSED.format(places="; ".join(told), allowing=allowing)


def _places(call: Call, home: str | None) -> tuple[list[str], list[str]]:
    """Each finding by rule, field and line, and their fingerprints: each once and in order, never by its text."""
    if home is not None:
        module_cache.load(home)
    from keepmum_hooks.allowed import Judge
    from keepmum_hooks.texts import texts

    judge = Judge(home)
    found: dict[str, None] = {}
    fingerprints: dict[str, None] = {}
    for text in texts(call.input, call.standing):
        for finding in judge(text.text):
            place = text.place(lambda name: not judge(name))
            found[f"{finding.rule} in {place}, line {text.line(finding.start)}"] = None
            if finding.fingerprint:
                fingerprints[finding.fingerprint] = None
    return list(found), list(fingerprints)


def _unless_off(hint: str, raw: bytes, environ: Mapping[str, str], why: str) -> str:
    """The answer to a call that could not be judged: forbidden when it names a memory and the guard is on."""
    deadline.lift()
    if hint not in clients.CLIENTS:
        return ""
    try:
        chosen = switches.read(places.home(environ), "", "", environ)
        guarded = Guarded(environ, chosen.guard_paths, chosen.guard_tools)
        is_on = chosen.guard
    except Exception:  # noqa: BLE001 - settings that cannot be read switch nothing off
        guarded, is_on = Guarded(environ), True
    if not is_on or not guarded.are_named_in(raw):
        return ""
    return clients.CLIENTS[hint]().refuse(_UNCHECKED.format(why=why))
