"""The doctor's checks of Claude Code: client, interpreter, plugin, switches, hooks and server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from keepmum_hooks.event import GUARD
from keepmum_installers import formats, local_plugin
from keepmum_installers.app import layout
from keepmum_installers.clients.checks import dotted, interpreter, last_runs
from keepmum_installers.clients.claude import command_line, manifests, settings
from keepmum_installers.clients.client import Scope
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.product import PLUGIN, Product, bundle_root
from keepmum_installers.source import Source

__all__ = ["checks"]

_NAME = settings.NAME
_SCOPES: tuple[Scope, ...] = ("user", "project", "local")
_IF_UNUSED = "If you use Claude Code daily, check what /hooks shows in it."


def checks(machine: Machine, product: Product) -> Iterator[Finding]:
    """Every finding about this client; a single one when it is not installed."""
    claude = command_line.program(machine)
    if claude is None:
        yield absent(_NAME, "Claude Code")
        return
    yield _version(claude, machine)
    python = (manifests.installed_start(machine) or (settings.PYTHON,))[0]
    yield interpreter(_NAME, machine, None if python == settings.PYTHON else python)
    yield from _registration(claude, machine, product)
    yield from _switches(machine)
    yield from last_runs(_NAME, {**settings.EVENTS, "guard": GUARD}, machine, _IF_UNUSED)


def _version(claude: str, machine: Machine) -> Finding:
    version, whole = command_line.version(claude, machine), command_line.WHOLE_SINCE
    if version is None:
        return problem(_NAME, f"{claude} does not report its version", "Run `claude doctor`.")
    says = f"version {dotted(version)} at {claude}"
    if version < whole:
        before = f"; before {dotted(whole)} the capture request shows as a problem"
        return note(_NAME, says + before, "Run `claude update`.")
    return ok(_NAME, says)


def _registration(claude: str, machine: Machine, product: Product) -> Iterator[Finding]:
    about = f"{_NAME} plugin"
    try:
        entries, source = command_line.entries(claude, machine), command_line.known_source(claude, machine)
    except InstallError as error:
        yield problem(about, str(error), error.next_step)
        return
    ours = [entry for entry in entries if entry.get("id") == PLUGIN]
    if not ours:
        yield _absent(about, machine)
    for entry in ours:
        yield _entry(about, entry, source, machine, product)
    for other in {str(entry.get("id")) for entry in entries if entry not in ours and entry.get("enabled")}:
        says = f"{other} is on as well, so every hook runs twice" if ours else f"{other} is on instead"
        yield problem(about, says, f"Run `claude plugin uninstall {other}`.")


def _absent(about: str, machine: Machine) -> Finding:
    """For a plugin that the client does not list: whether settings enable it, which is enough in a trusted folder."""
    for path in (settings.settings_file(scope, machine) for scope in _SCOPES):
        if _enabled(_read(path)) is True:
            return ok(about, f"{path} enables it in folders that are trusted")
    return problem(about, "the plugin is not installed", "Run `keepmum install`.")


def _entry(
    about: str, entry: Mapping[str, object], source: Source | None, machine: Machine, product: Product
) -> Finding:
    scope, version = entry.get("scope"), entry.get("folderVersion") or entry.get("version")
    folder = entry.get("readFromFolder")
    if not entry.get("enabled"):
        return note(about, f"installed for {scope}, but switched off", f"Run `claude plugin enable {PLUGIN}`.")
    if isinstance(folder, str) and not os.path.isdir(folder):
        return problem(about, f"it is read from {folder}, which is missing", "Install Keepmum again.")
    if version != product.version:
        says = f"the client runs version {version}, this is {product.version}"
        return note(about, says, f"Run `claude plugin update {PLUGIN}`, or `keepmum install`.")
    origin = str(folder or (source.where if source else "an unknown source"))
    found = ok(about, f"version {version}, for {scope}, from {origin}")
    is_generated = os.path.realpath(origin) == os.path.realpath(manifests.plugin_folder(machine))
    return (_code(about, machine, product) if is_generated else None) or found


def _code(about: str, machine: Machine, product: Product) -> Finding | None:
    """A fault of the code that the plugin in Keepmum's home points to; None when there is none."""
    python, launch = manifests.installed_start(machine) or (settings.PYTHON, "an unknown path")
    if not os.path.isfile(launch):
        return problem(about, f"its code at {launch} does not exist", "Install Keepmum again.")
    root, folder = bundle_root(), manifests.plugin_folder(machine)
    wanted = layout.for_clients(root, machine.home) if root else ""
    if wanted and local_plugin.differs(manifests.plugin_files(product, wanted, python), folder):
        return note(about, f"{folder} belongs to another clone or version", "Run `keepmum install`.")
    return None


def _switches(machine: Machine) -> Iterator[Finding]:
    """What the settings files of the client switch off."""
    about = f"{_NAME} settings"
    for path in (settings.settings_file(scope, machine) for scope in _SCOPES):
        values = _read(path)
        if isinstance(values, InstallError):
            yield problem(about, f"{path}: {values}", "Fix it: the client ignores the whole file.")
        elif _enabled(values) is False:
            yield note(about, f"{path} switches the plugin off", f'Set "{PLUGIN}" to true there.')
        elif values.get("disableAllHooks") is True:
            yield problem(about, f"{path} switches all hooks off", 'Remove "disableAllHooks" there.')


def _read(path: str) -> dict[str, object] | InstallError:
    """The settings in the file, or the error that kept it from being read."""
    try:
        return formats.values(path)
    except InstallError as error:
        return error


def _enabled(values: dict[str, object] | InstallError) -> object:
    """The value of the plugin's switch in the settings; None when they do not mention it."""
    enabled = None if isinstance(values, InstallError) else values.get("enabledPlugins")
    return enabled.get(PLUGIN) if isinstance(enabled, dict) else None
