"""How Keepmum is doing in Claude Code: client, interpreter, plugin, what is switched off, hooks and server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from keepmum_hooks.event import GUARD
from keepmum_installers import files, handover
from keepmum_installers.clients.checks import interpreter, lately
from keepmum_installers.clients.claude import command_line, places, staging
from keepmum_installers.clients.client import Scope
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.merge import parse
from keepmum_installers.product import PLUGIN, Product, bundle_root
from keepmum_installers.source import Source

__all__ = ["checks"]

_NAME = places.NAME
_SCOPES: tuple[Scope, ...] = ("user", "project", "local")
_SHOWN = "If you use Claude Code daily, see what /hooks shows in it."


def checks(machine: Machine, product: Product) -> Iterator[Finding]:
    """Every finding about this client; one line where it is not installed."""
    claude = command_line.program(machine)
    if claude is None:
        yield absent(_NAME, "Claude Code")
        return
    yield _version(claude, machine)
    python = (staging.start(machine) or (places.PYTHON,))[0]
    yield interpreter(_NAME, machine, None if python == places.PYTHON else python)
    yield from _registration(claude, machine, product)
    yield from _switches(machine)
    yield from lately(_NAME, {**places.EVENTS, "guard": GUARD}, machine, _SHOWN)


def _version(claude: str, machine: Machine) -> Finding:
    version, whole = command_line.version(claude, machine), command_line.WHOLE_SINCE
    if version is None:
        return problem(_NAME, f"{claude} does not say its version", "Run `claude doctor`.")
    says = f"version {command_line.dotted(version)} at {claude}"
    if version < whole:
        before = f"; before {command_line.dotted(whole)} the capture request shows as a problem"
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
    """A plugin that only settings switch on is in no list of the client, though it runs where the folder is trusted."""
    for path in (places.settings_file(scope, machine) for scope in _SCOPES):
        if _enabled(_settings(path)) is True:
            return ok(about, f"{path} switches it on, for whoever trusts the folder")
    return problem(about, "the plugin is not installed", "Run `keepmum install`.")


def _entry(
    about: str, entry: Mapping[str, object], source: Source | None, machine: Machine, product: Product
) -> Finding:
    scope, version = entry.get("scope"), entry.get("folderVersion") or entry.get("version")
    folder = entry.get("readFromFolder")
    if not entry.get("enabled"):
        return note(about, f"installed for {scope}, and switched off", f"Run `claude plugin enable {PLUGIN}`.")
    if isinstance(folder, str) and not os.path.isdir(folder):
        return problem(about, f"it is read from {folder}, which is gone", "Run `keepmum install` from another clone.")
    if version != product.version:
        says = f"the client runs version {version}, this is {product.version}"
        return note(about, says, f"Run `claude plugin update {PLUGIN}`, or `keepmum install`.")
    place = str(folder or (source.where if source else "an unknown place"))
    found = ok(about, f"version {version}, for {scope}, from {place}")
    is_handed_over = os.path.realpath(place) == os.path.realpath(staging.folder(machine))
    return (_code(about, machine, product) if is_handed_over else None) or found


def _code(about: str, machine: Machine, product: Product) -> Finding | None:
    """What is wrong with the code that the plugin in Keepmum's home names; None where nothing is."""
    python, launch = staging.start(machine) or (places.PYTHON, "an unknown place")
    if not os.path.isfile(launch):
        return problem(about, f"its code at {launch} is gone", "Run `keepmum install` from another clone.")
    root, place = bundle_root(), staging.folder(machine)
    if root is not None and handover.differs(staging.texts(product, root, python), place):
        return note(about, f"{place} is of another clone or version", "Run `keepmum install`.")
    return None


def _switches(machine: Machine) -> Iterator[Finding]:
    """What the client's settings switch off, and in which file."""
    about = f"{_NAME} settings"
    for path in (places.settings_file(scope, machine) for scope in _SCOPES):
        settings = _settings(path)
        if isinstance(settings, InstallError):
            yield problem(about, f"{path}: {settings}", "Mend it: the client ignores the whole file.")
        elif _enabled(settings) is False:
            yield note(about, f"{path} switches the plugin off", f'Set "{PLUGIN}" to true there.')
        elif settings.get("disableAllHooks") is True:
            yield problem(about, f"{path} switches all hooks off", 'Remove "disableAllHooks" there.')


def _settings(path: str) -> dict[str, object] | InstallError:
    """What the file says; the error when it cannot be read."""
    try:
        return parse((files.read(path) or b"{}").decode("utf-8", "replace"))
    except InstallError as error:
        return error


def _enabled(settings: dict[str, object] | InstallError) -> object:
    """Whether the settings switch the plugin on or off; None when they do not mention it."""
    enabled = None if isinstance(settings, InstallError) else settings.get("enabledPlugins")
    return enabled.get(PLUGIN) if isinstance(enabled, dict) else None
