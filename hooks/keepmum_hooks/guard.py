"""The guard hook: blocks tool calls that would write a secret to another memory server or to a file of memories.

Calls that are not guarded are let through before the scanner is imported. A guarded call that cannot be checked is
blocked by an explicit answer, because clients run the tool when a hook fails.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # private, no stub; `signal` alone would cost a third of a hook

from keepmum_hooks import clients, event, files, payload, places, switches
from keepmum_hooks.guard_rules import (
    ALLOWLIST_REFUSAL,
    SETTINGS_REFUSAL,
    GuardRules,
    changes_allowlist,
    disables_guard,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["DeadlineError", "answer", "cancel_deadline", "guard", "set_deadline"]

_SECONDS = 2.0  # of the five after which the client stops waiting and runs the tool
_MOST_FINDINGS = 5  # named in one answer

_REFUSED = (
    "Keepmum refused this write to memory, and nothing was written: it holds a secret. {findings}. "
    "Write it again without the secret: say instead where it is kept, such as a password manager or the name of an "
    "environment variable.{allowing}"
)
_ALLOWING = (
    " If it is not a secret, the user can say so in their own terminal: `keepmum allow FINGERPRINT --why TEXT`. "
    "Fingerprint: {fingerprints}."
)
_UNCHECKED = (
    "Keepmum could not check this write to memory for secrets, so nothing was written: {why}. "
    "Tell the user; `keepmum doctor` says what is wrong."
)


class DeadlineError(BaseException):
    """The time is up. Not an `Exception`, so that no code in between handles it as an error of its own."""


def guard(hint: str, environ: Mapping[str, str]) -> str:
    """The JSON that blocks the tool call on standard input, or "" to allow it."""
    raw = files.read_up_to(0, payload.STDIN_LIMIT + 1)
    if len(raw) > payload.STDIN_LIMIT:
        payload.drain_stdin()
    try:
        set_deadline(_SECONDS)  # not earlier: a call that was not read to its end could only be allowed
        try:
            return answer(hint, raw, environ)
        finally:
            cancel_deadline()
    except DeadlineError:
        return _refuse_unchecked(hint, raw, environ, "it took too long")


def answer(hint: str, raw: bytes, environ: Mapping[str, str]) -> str:
    """The JSON that blocks the call in the payload `raw`, or ""."""
    content = payload.parse(raw) if len(raw) <= payload.STDIN_LIMIT else None
    if content is None:
        why = "it is too long" if len(raw) > payload.STDIN_LIMIT else "it could not be read"
        return _refuse_unchecked(hint, raw, environ, why)
    name = clients.detect(hint, content, environ)
    if name not in clients.CLIENTS:
        return ""  # another client ran our hook file, and we do not know what it would accept as an answer
    try:
        return _judge(clients.CLIENTS[name](), name, content, environ)
    except Exception as error:  # noqa: BLE001 - no error may let a memory be written unchecked
        return _refuse_unchecked(name, raw, environ, f"the guard failed ({type(error).__name__})")


def set_deadline(seconds: float) -> None:
    """Raise `DeadlineError` in the main thread after this time: a hook that the client has to kill blocks nothing.

    On Windows, which has no such timer, do nothing.
    """
    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, _raise_deadline)
        _signal.setitimer(_signal.ITIMER_REAL, seconds)


def cancel_deadline() -> None:
    """Raise no `DeadlineError` any more."""
    if hasattr(_signal, "setitimer"):
        _signal.setitimer(_signal.ITIMER_REAL, 0)


def _raise_deadline(_number: int, _frame: object) -> None:
    raise DeadlineError


def _judge(client: clients.Client, name: str, content: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The answer to a payload that could be parsed.

    Raises: any error that occurs before it is clear whether the call is guarded.
    """
    call = client.read_call(content, environ)
    if call is None:
        return ""
    home = places.home(environ)
    settings = switches.read(home, call.session, call.cwd, environ)
    if not settings.guard:
        return ""
    rules = GuardRules(environ, settings.guard_paths, settings.guard_tools, settings.guard_servers)
    if home is not None and changes_allowlist(call, home, rules):
        return client.refuse(ALLOWLIST_REFUSAL)
    if home is not None and disables_guard(call, home, rules):
        return client.refuse(SETTINGS_REFUSAL)
    if not rules.apply_to(call):
        return ""
    if home is not None:
        files.mark(places.heartbeat_file(home, name, event.GUARD))
    reason = _objection(call, rules, home)
    return client.refuse(reason) if reason else ""


def _objection(call: event.ToolCall, rules: GuardRules, home: str | None) -> str:
    """Why the call must not be made, or ""."""
    try:
        if home is not None:
            from keepmum_hooks import module_cache

            module_cache.load(home)
        findings, fingerprints = _find_secrets(call, rules, home)
    except DeadlineError:
        return _UNCHECKED.format(why="it took too long")
    except ImportError:
        return _UNCHECKED.format(why="the scanner could not be loaded")
    except BaseException as error:  # noqa: BLE001 - a broken scanner may raise anything, and must not allow the call
        return _UNCHECKED.format(why=f"the scanner failed ({type(error).__name__})")
    if not findings:
        return ""
    shown = [*findings[:_MOST_FINDINGS], *(["and more"] if len(findings) > _MOST_FINDINGS else [])]
    allowing = _ALLOWING.format(fingerprints=", ".join(fingerprints[:_MOST_FINDINGS])) if fingerprints else ""
    return _REFUSED.format(findings="; ".join(shown), allowing=allowing)


def _find_secrets(call: event.ToolCall, rules: GuardRules, home: str | None) -> tuple[list[str], list[str]]:
    """The findings in the call's texts and in the files that it would change, and their fingerprints.

    Raises: any error of the scanner, ImportError when it cannot be loaded.
    """
    from keepmum_hooks.call_scan import AllowlistScanner, find_secrets

    if rules.is_memory_tool(call.tool):
        return find_secrets(call, home)
    from keepmum_hooks import edits

    if call.command and not call.paths and "*** " not in call.command:
        copied, of_copied = edits.find_copied(call, rules, AllowlistScanner(home))
        findings, fingerprints = find_secrets(call, home)
        return [*findings, *copied], [*fingerprints, *of_copied]
    findings, fingerprints, covered = edits.find_secrets(call, rules, AllowlistScanner(home))
    more_findings, more_fingerprints = find_secrets(call.without(covered), home)
    return [*findings, *more_findings], [*fingerprints, *more_fingerprints]


def _refuse_unchecked(hint: str, raw: bytes, environ: Mapping[str, str], why: str) -> str:
    """The answer to a call that could not be checked: blocked if it names a memory and the guard is on."""
    cancel_deadline()
    if hint not in clients.CLIENTS:
        return ""
    try:
        settings = switches.read(places.home(environ), "", "", environ)
        rules = GuardRules(environ, settings.guard_paths, settings.guard_tools, settings.guard_servers)
        is_on = settings.guard
    except Exception:  # noqa: BLE001 - settings that cannot be read do not switch the guard off
        rules, is_on = GuardRules(environ), True
    if not is_on or not rules.are_named_in(raw):
        return ""
    return clients.CLIENTS[hint]().refuse(_UNCHECKED.format(why=why))
