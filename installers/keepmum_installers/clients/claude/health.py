"""How Keepmum is doing in Claude Code: the client, its interpreter, the plugin, what is switched off, the hooks."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping

from keepmum_hooks.places import heartbeat_file
from keepmum_installers import files
from keepmum_installers.clients.claude import command_line, places
from keepmum_installers.clients.client import Scope
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.merge import parse
from keepmum_installers.product import PLUGIN, Product
from keepmum_installers.source import Source

__all__ = ["checks", "interpreter"]

_NAME = places.NAME
_OLDEST = (3, 9)  # what the hooks run on; the server finds a newer one by itself
_SAY_VERSION = "import sys; print(*sys.version_info[:2], sep='.')"
_SCOPES: tuple[Scope, ...] = ("user", "project", "local")
_SECONDS = 20
_WEEK = 7 * 24 * 3600


def checks(machine: Machine, product: Product) -> Iterator[Finding]:
    """Every finding about this client; one line where it is not installed."""
    claude = command_line.program(machine)
    if claude is None:
        yield note(_NAME, "Claude Code was not found on PATH", "Install it, then run `keepmum install`.")
        return
    yield _version(claude, machine)
    yield interpreter(machine)
    yield from _registration(claude, machine, product)
    yield from _switches(machine)
    for event, word in places.EVENTS.items():
        yield _heartbeat(f"{_NAME} {event} hook", heartbeat_file(machine.home, _NAME, word))


def _version(claude: str, machine: Machine) -> Finding:
    version, whole = command_line.version(claude, machine), command_line.WHOLE_SINCE
    if version is None:
        return problem(_NAME, f"{claude} does not say its version", "Run `claude doctor`.")
    says = f"version {command_line.dotted(version)} at {claude}"
    if version < whole:
        before = f"; before {command_line.dotted(whole)} the capture request shows as a problem"
        return note(_NAME, says + before, "Run `claude update`.")
    return ok(_NAME, says)


def interpreter(machine: Machine) -> Finding:
    """Whether `python3` starts: the manifests can name no path, since they are the same on every machine."""
    about, path = f"{_NAME} python3", machine.find("python3")
    if path is None:
        return problem(about, "hooks and server start as `python3`, which is not on PATH", "Put python3 on PATH.")
    done = machine.run((path, "-I", "-S", "-c", _SAY_VERSION), _SECONDS)
    found = re.fullmatch(r"(\d+)\.(\d+)", done.out.strip())
    if done.code or not found:
        return problem(about, f"{path} does not run: {done.sentence}", "Put a Python that works first on PATH.")
    if (int(found[1]), int(found[2])) < _OLDEST:
        return problem(about, f"{path} is {found[0]}, too old for the hooks", "Put 3.9 or newer first on PATH.")
    return ok(about, f"{found[0]} at {path}")


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
        yield _entry(about, entry, source, product)
    for other in {str(entry.get("id")) for entry in entries if entry not in ours and entry.get("enabled")}:
        says = f"{other} is on as well, so every hook runs twice" if ours else f"{other} is on instead"
        yield problem(about, says, f"Run `claude plugin uninstall {other}`.")


def _absent(about: str, machine: Machine) -> Finding:
    """A plugin that only settings switch on is in no list of the client, though it runs where the folder is trusted."""
    for path in (places.settings_file(scope, machine) for scope in _SCOPES):
        if _enabled(_settings(path)) is True:
            return ok(about, f"{path} switches it on, for whoever trusts the folder")
    return problem(about, "the plugin is not installed", "Run `keepmum install`.")


def _entry(about: str, entry: Mapping[str, object], source: Source | None, product: Product) -> Finding:
    scope, version = entry.get("scope"), entry.get("folderVersion") or entry.get("version")
    folder = entry.get("readFromFolder")
    if not entry.get("enabled"):
        return note(about, f"installed for {scope}, and switched off", f"Run `claude plugin enable {PLUGIN}`.")
    if isinstance(folder, str) and not os.path.isdir(folder):
        return problem(about, f"it is read from {folder}, which is gone", "Run `keepmum install` from another clone.")
    if version != product.version:
        says = f"the client runs version {version}, this is {product.version}"
        return note(about, says, f"Run `claude plugin update {PLUGIN}`, or `keepmum install`.")
    place = folder or (source.where if source else "an unknown place")
    return ok(about, f"version {version}, for {scope}, from {place}")


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


def _heartbeat(about: str, path: str) -> Finding:
    try:
        age = max(0.0, time.time() - os.stat(path).st_mtime)
    except OSError:
        return note(about, "has not run yet", "Start Claude Code in a folder that you trust, and say something.")
    if age > _WEEK:
        return note(about, f"last ran {_ago(age)}", "If you use Claude Code daily, see what /hooks shows in it.")
    return ok(about, f"last ran {_ago(age)}")


def _ago(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now" if seconds < 60 else "a minute ago"
