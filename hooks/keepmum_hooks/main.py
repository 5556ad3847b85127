"""One hook run: the client's payload in, one JSON object or nothing out."""

from __future__ import annotations

import sys

from keepmum_hooks import clients, event, files, payload, places, switches
from keepmum_hooks.system import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["answer", "main", "run"]


def run(environ: Mapping[str, str]) -> None:
    """Run the hook named on the command line and write its answer to standard output.

    Raises: any error that occurs before there is an answer.
    """
    sys.path.append(sys.path[0] + "/../scanner")
    output = main(sys.argv[1:], environ).encode("ascii")
    while output:
        output = output[calls.write(1, output) :]
    module_cache = sys.modules.get("keepmum_hooks.module_cache")
    if module_cache is not None:
        module_cache.save()


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """The text to print for `EVENT --client NAME` with the payload on standard input.

    Raises: any error, ValueError for other arguments; the caller must keep it from the client.
    """
    kind, option, hint = arguments
    if kind not in event.KINDS or option != "--client":
        raise ValueError(f"usage: run.py {{{' | '.join(event.KINDS)}}} --client NAME")
    if kind == event.GUARD:
        from keepmum_hooks.guard import guard

        text = guard(hint, environ)
    else:
        text = answer(kind, hint, payload.read_stdin(), environ)
    return text or clients.SILENCE.get(hint, "")


def answer(kind: str, hint: str, raw: bytes | None, environ: Mapping[str, str]) -> str:
    """The JSON for the client that sent the payload `raw`, "" for no answer; `hint` names the client as in `detect`."""
    home = places.home(environ)
    content = payload.parse(raw) if raw else None
    if home is None or content is None:
        return ""
    name = clients.detect(hint, content, environ)
    if name not in clients.CLIENTS:
        return ""  # another client ran our hook file, and we do not know what it would accept as an answer
    client = clients.CLIENTS[name]()
    received = client.read(kind, content, environ)
    if received is None:
        return ""
    settings = switches.read(home, received.session, received.cwd, environ)
    if not settings.enabled:
        return ""
    files.mark(places.heartbeat_file(home, name, kind))
    if kind == event.STOP:
        from keepmum_hooks.stop import stop

        text = stop(received, settings, home, name)
    else:
        from keepmum_hooks.start import start

        text = start(received, settings, home)
    return client.render(received, text) if text else ""
