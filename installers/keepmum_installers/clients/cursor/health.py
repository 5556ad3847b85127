"""The doctor's checks of Cursor: the plugin's files, the interpreter that they name, and the last runs of hooks."""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_hooks.event import GUARD
from keepmum_installers import formats, local_plugin
from keepmum_installers.clients.checks import interpreter, last_runs
from keepmum_installers.clients.cursor import local, manifests
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.product import Product

__all__ = ["checks"]

_NAME = manifests.NAME
_AGAIN = "Run `keepmum install --client cursor`."
_IF_UNUSED = (
    "If you use Cursor daily, check Settings, Hooks: the plugin may be off there, or hooks of plugins altogether."
)


def checks(machine: Machine, product: Product) -> Iterator[Finding]:
    """Every finding about this client; a single one when it is not installed."""
    found = machine.find("cursor-agent") or machine.find("cursor") or local.config_folder(machine)
    if not os.path.exists(found):
        yield absent(_NAME, "Cursor")
        return
    yield ok(_NAME, f"at {found}")
    folder = local.plugin_folder(machine)
    if not os.path.lexists(folder):
        yield note(f"{_NAME} plugin", f"there is none in {folder}; one from a marketplace cannot be seen here", _AGAIN)
    elif os.path.islink(folder):
        yield problem(f"{_NAME} plugin", f"{folder} is a symbolic link, which Cursor refuses", f"Remove it. {_AGAIN}")
    else:
        yield from _plugin(folder, machine, product)
    yield from last_runs(_NAME, {**manifests.EVENTS, "guard": GUARD}, machine, _IF_UNUSED)


def _plugin(folder: str, machine: Machine, product: Product) -> Iterator[Finding]:
    about = f"{_NAME} plugin"
    try:
        plugin, _, hooks = (_read(folder, name) for name in (manifests.MANIFEST, manifests.SERVERS, manifests.HOOKS))
    except InstallError as error:
        yield problem(about, str(error), error.next_step)
        return
    start = local_plugin.server(folder, manifests.SERVERS)
    if start is None:
        yield problem(about, "its server was changed by hand", _AGAIN)
        return
    python, launch = start
    if not os.path.isfile(launch):
        yield problem(about, f"its code at {launch} does not exist", "Install Keepmum again.")
    elif plugin.get("version") != product.version or not hooks.get("hooks"):
        yield note(about, f"it is version {plugin.get('version')}, this is {product.version}", _AGAIN)
    else:
        yield ok(about, f"version {product.version}, at {folder}")
    yield interpreter(_NAME, machine, python)


def _read(folder: str, name: str) -> dict[str, object]:
    """The content of a file of the plugin.

    Raises: InstallError when it is missing or damaged.
    """
    path = local_plugin.path(folder, name)
    if not os.path.exists(path):
        raise InstallError(f"{folder} lacks {name}", _AGAIN)
    return formats.values(path)
