"""One hook run: the client's payload in, one JSON object or nothing out."""

from __future__ import annotations

from keepmum_hooks import clients, files, payload, places, switches
from keepmum_hooks import event as events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["answer", "main"]


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """What to print for `EVENT --client NAME` with the payload on standard input.

    Raises: whatever goes wrong; the caller's duty is to keep it from the client.
    """
    kind, hint = _understand(arguments)
    if kind == events.GUARD:
        from keepmum_hooks.guard import guard

        said = guard(hint, environ)
    else:
        said = answer(kind, hint, payload.read_stdin(), environ)
    return said or clients.SILENCE.get(hint, "")


def answer(kind: str, hint: str, raw: bytes | None, environ: Mapping[str, str]) -> str:
    """The JSON for the client named by its payload `raw`, else by `hint`; empty for nothing."""
    home = places.home(environ)
    content = payload.parse(raw) if raw else None
    if home is None or content is None:
        return ""
    name = clients.detect(hint, content, environ)
    if name not in clients.CLIENTS:
        return ""  # another client's hook ran our file; what it would read as an answer is not ours to guess
    client = clients.CLIENTS[name]()
    event = client.read(kind, content, environ)
    if event is None:
        return ""
    chosen = switches.read(home, event.session, event.cwd, environ)
    if not chosen.enabled:
        return ""
    files.mark(places.heartbeat_file(home, name, kind))
    text = _act(event, chosen, home)
    return client.render(event, text) if text else ""


def _understand(arguments: Sequence[str]) -> tuple[str, str]:
    """The event and the client in the command line.

    Raises: ValueError for anything but an event, then `--client` and a name.
    """
    kind, option, hint = arguments
    if kind not in events.KINDS or option != "--client":
        raise ValueError(f"usage: run.py {{{' | '.join(events.KINDS)}}} --client NAME")
    return kind, hint


def _act(event: events.Event, chosen: switches.Switches, home: str) -> str | None:
    if event.kind == events.STOP:
        from keepmum_hooks.stop import stop

        return stop(event, chosen, home)
    from keepmum_hooks.start import start

    return start(event, chosen, home)
