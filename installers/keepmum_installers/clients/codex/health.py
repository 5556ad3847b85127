"""The doctor's checks of Codex: client, plugin, trust and last runs of its hooks, and its server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from keepmum_hooks.event import GUARD
from keepmum_installers import files, local_plugin
from keepmum_installers.app import layout
from keepmum_installers.clients.checks import dotted, interpreter, last_runs
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.clients.codex import app_server, command_line, manifests, registration, settings
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, absent, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.product import PLUGIN, Product, bundle_root

__all__ = ["checks"]

_NAME = settings.NAME
_AGAIN = "Run `keepmum install --client codex`."
_REVIEW = "Start `codex` and type /hooks to review them; unattended runs skip them silently."
_IF_UNUSED = "If you use Codex daily, check what /hooks shows in it."


def checks(machine: Machine, product: Product) -> Iterator[Finding]:
    """Every finding about this client; a single one when it is not installed."""
    codex = command_line.program(machine)
    if codex is None:
        yield absent(_NAME, "Codex")
        return
    yield _version(codex, machine)
    try:
        config = settings.read(settings.config_file(machine))
        entry = command_line.entry(codex, machine)
    except InstallError as error:
        yield problem(f"{_NAME} plugin", str(error), error.next_step)
        return
    yield from _switches(config, machine)
    yield from _repository(config, machine)
    if entry is None:
        yield problem(f"{_NAME} plugin", "the plugin is not installed", _AGAIN)
        return
    yield from _plugin(entry, machine, product)
    yield from _trust(codex, machine)
    yield from last_runs(_NAME, {**settings.EVENTS, "guard": GUARD}, machine, _IF_UNUSED)


def _version(codex: str, machine: Machine) -> Finding:
    version, oldest = command_line.version(codex, machine), command_line.OLDEST
    if version is None:
        return problem(_NAME, f"{codex} does not report its version", "Run `codex doctor`.")
    says = f"version {dotted(version)} at {codex}"
    if version < oldest:
        return problem(_NAME, f"{says}, too old: {dotted(oldest)} is needed", "Run `codex update`.")
    return ok(_NAME, says)


def _switches(config: Mapping[str, object], machine: Machine) -> Iterator[Finding]:
    """What the user's settings switch off or override."""
    about, path = f"{_NAME} settings", settings.config_file(machine)
    features, servers = config.get("features"), config.get("mcp_servers")
    if isinstance(features, dict):
        for name in ("hooks", "plugins"):
            if features.get(name) is False:
                yield problem(about, f"{path} switches all {name} off", f"Remove `{name} = false` under [features].")
    if isinstance(servers, dict) and settings.SERVER in servers:
        says = f"{path} has another server named {settings.SERVER}, which hides the plugin's"
        yield problem(about, says, f"Run `codex mcp remove {settings.SERVER}`, or give it another name.")


def _repository(config: Mapping[str, object], machine: Machine) -> Iterator[Finding]:
    """Whether the repository's settings are used: the client reads them only in folders that the user trusts."""
    path, projects = settings.repository_file(machine), config.get("projects")
    if PLUGIN not in (files.read(path) or b"").decode("utf-8", "replace"):
        return
    folders = {machine.cwd, os.path.realpath(machine.cwd), machine.repository}
    known = projects if isinstance(projects, dict) else {}
    levels = [known[folder].get("trust_level") for folder in folders if isinstance(known.get(folder), dict)]
    if "trusted" not in levels:
        says = f"{path} enables the plugin, but is not used: the folder is not trusted"
        yield note(f"{_NAME} repository", says, "Start `codex` there and answer yes when it asks.")


def _plugin(entry: Mapping[str, object], machine: Machine, product: Product) -> Iterator[Finding]:
    about = f"{_NAME} plugin"
    version = str(entry.get("version") or "local")
    copy = settings.copy_of_plugin(machine, version)
    if not entry.get("enabled"):
        yield note(
            about, "installed, but switched off", f'Set `enabled = true` under [plugins."{PLUGIN}"], or {_AGAIN}'
        )
    elif version != "local":
        if version != product.version:
            says = f"the client runs version {version}, this is {product.version}"
            yield note(about, says, f"Run `codex plugin marketplace upgrade` and `codex plugin add {PLUGIN}`.")
        else:
            yield ok(about, f"version {version}, at {copy}")
        yield interpreter(_NAME, machine)
    elif not os.path.isfile(script := manifests.installed_script(copy) or "an unknown path"):
        yield problem(about, f"its code at {script} does not exist", "Install Keepmum again.")
    elif (root := bundle_root()) is not None and local_plugin.differs(
        registration.plugin_files(InstallSpec(product, layout.for_clients(root, machine.home)), machine), copy
    ):
        yield note(about, f"{copy} belongs to another clone or version", _AGAIN)
    else:
        yield ok(about, f"version {product.version}, at {copy}")


def _trust(codex: str, machine: Machine) -> Iterator[Finding]:
    """Whether the user trusts our hooks, as the client reports it."""
    about = f"{_NAME} hooks"
    try:
        found = app_server.hooks(codex, machine)
    except InstallError as error:
        yield note(about, str(error), error.next_step)
        return
    if not found:
        yield problem(about, "the client sees no hooks of the plugin", _AGAIN)
    for trust in sorted({hook.trust for hook in found}):
        names = ", ".join(dict.fromkeys(hook.event for hook in found if hook.trust == trust))
        if trust in {"trusted", "managed"}:
            yield ok(about, f"{trust}: {names}")
        elif trust == "modified":
            yield problem(about, f"changed since you trusted them, so they do not run: {names}", _REVIEW)
        else:
            # No problem: it is the last step of every installation, which only the user can take.
            yield note(about, f"not trusted yet, so they do not run: {names}", _REVIEW)
    off = [hook.event for hook in found if not hook.enabled]
    if off:
        yield note(about, f"switched off: {', '.join(off)}", "Type /hooks in Codex to switch them on.")
