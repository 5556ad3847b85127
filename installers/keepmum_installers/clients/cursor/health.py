"""How Keepmum is doing in Cursor: the plugin's files, the interpreter that they name, and whether hooks ever ran."""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_hooks.event import GUARD
from keepmum_installers import files
from keepmum_installers.clients.checks import lately
from keepmum_installers.clients.cursor import manifests, places
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.merge import parse
from keepmum_installers.product import Product

__all__ = ["checks"]

_NAME = places.NAME
_AGAIN = "Run `keepmum install --client cursor`."
_SHOWN = (
    "If you use Cursor daily, look at Settings, Hooks: the plugin may be off there, or hooks of plugins altogether."
)
_SAY_VERSION = "import sys; print(*sys.version_info[:2], sep='.')"
_SECONDS = 20


def checks(machine: Machine, product: Product) -> Iterator[Finding]:
    """Every finding about this client; one line where it is not installed."""
    found = machine.find("cursor-agent") or machine.find("cursor") or places.config_folder(machine)
    if not os.path.exists(found):
        yield absent(_NAME, "Cursor")
        return
    yield ok(_NAME, f"at {found}")
    place = places.plugin_folder(machine)
    if not os.path.lexists(place):
        yield note(f"{_NAME} plugin", f"there is none in {place}; one from a marketplace is not seen from here", _AGAIN)
    elif os.path.islink(place):
        yield problem(f"{_NAME} plugin", f"{place} is a link, which Cursor refuses", f"Remove it. {_AGAIN}")
    else:
        yield from _plugin(place, machine, product)
    yield from lately(_NAME, {**places.EVENTS, "guard": GUARD}, machine, _SHOWN)


def _plugin(place: str, machine: Machine, product: Product) -> Iterator[Finding]:
    about = f"{_NAME} plugin"
    try:
        plugin, servers, hooks = (
            _read(place, name) for name in (manifests.MANIFEST, manifests.SERVERS, manifests.HOOKS)
        )
        command, launch = _server(servers)
    except InstallError as error:
        yield problem(about, str(error), error.next_step)
        return
    if not os.path.isfile(launch):
        yield problem(about, f"its code at {launch} is gone", f"{_AGAIN} Do so in another clone.")
    elif plugin.get("version") != product.version or not hooks.get("hooks"):
        yield note(about, f"it is version {plugin.get('version')}, this is {product.version}", _AGAIN)
    else:
        yield ok(about, f"version {product.version}, at {place}")
    done = machine.run((command, "-I", "-S", "-c", _SAY_VERSION), _SECONDS)
    if done.code:
        yield problem(f"{_NAME} python", f"{command} does not run: {done.sentence}", _AGAIN)
    else:
        yield ok(f"{_NAME} python", f"{done.out.strip()} at {command}")


def _read(place: str, name: str) -> dict[str, object]:
    """What the file says.

    Raises: InstallError when it is missing or damaged.
    """
    content = files.read(os.path.join(place, *name.split("/")))
    if content is None:
        raise InstallError(f"{place} lacks {name}", _AGAIN)
    return parse(content.decode("utf-8", "replace"))


def _server(servers: dict[str, object]) -> tuple[str, str]:
    """The interpreter and the script that the server starts with.

    Raises: InstallError when the entry is none of ours.
    """
    try:
        (entry,) = servers["mcpServers"].values()  # type: ignore[attr-defined]  # whatever it is, one error answers
        return str(entry["command"]), str(entry["args"][2])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise InstallError("its server was changed by hand", _AGAIN) from None
