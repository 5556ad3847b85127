"""Claude Code, where Keepmum is a plugin from a marketplace.

For one user the client's own commands register the plugin. For a project the repository's settings name marketplace
and plugin, and every teammate's client does the rest once the folder is trusted.

Source: https://code.claude.com/docs/en/plugins-reference, read 2026-11-21; and the client itself, 2.1.329.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping

from keepmum_hooks import places
from keepmum_installers import files
from keepmum_installers.clients.client import Scope, Wish
from keepmum_installers.errors import InstallError, NotPlainJson
from keepmum_installers.finding import Finding, note, ok, problem
from keepmum_installers.machine import Machine
from keepmum_installers.merge import parse
from keepmum_installers.plan import Call, Plan, Step, edit_json
from keepmum_installers.product import MARKETPLACE, PLUGIN, SERVER, Product
from keepmum_installers.source import Source, folder, github, parse_source

__all__ = ["ClaudeCode"]

_NAME = "claude-code"
_ROOT = "${CLAUDE_PLUGIN_ROOT}"
# Without -I a file in the user's project could shadow a module; without -S every start pays for site-packages.
_PYTHON = ["-I", "-S"]
# The client's default is ten minutes. The hooks need milliseconds, and nobody should wait for a stuck one.
_HOOK_SECONDS = 5
_EVENTS = {"SessionStart": "session-start", "Stop": "stop"}
_RENDERED = "Rendered from pyproject.toml by keepmum_installers.manifests; change it there."

# The first version that hands a Stop hook's additionalContext to the model without calling it a problem.
# Source: https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md, read 2026-11-21
_WHOLE_SINCE = (2, 1, 163)
_LOOK_SECONDS = 20
_WEEK = 7 * 24 * 3600


class ClaudeCode:
    """Claude Code on the command line."""

    title = "Claude Code"

    def manifests(self, product: Product) -> Mapping[str, object]:
        """The plugin's and the marketplace's manifest, the MCP servers and the hooks."""
        return {
            ".claude-plugin/plugin.json": _plugin(product),
            ".claude-plugin/marketplace.json": _marketplace(product),
            ".mcp.json": _servers(),
            "hooks/hooks.json": _hooks(),
        }

    def program(self, machine: Machine) -> str | None:
        """The path of `claude`: on PATH, else where the client's own installer puts it."""
        usual = (
            os.path.join(machine.user_home, *place, "claude") for place in ((".local", "bin"), (".claude", "local"))
        )
        return machine.find("claude") or next((path for path in usual if os.access(path, os.X_OK)), None)

    def plan(self, wish: Wish, machine: Machine) -> Plan:
        """For the user: the client's commands. For a project: an edit of the repository's settings."""
        program = self.program(machine)
        if wish.scope != "user":
            return _plan_repository(wish, machine)
        source = _user_source(wish, machine)
        if program is None:
            return Plan(notes=_by_hand(source))
        return Plan(tuple(_register(program, source, wish.product, machine)), tuple(_old_version(program, machine)))

    def settings_file(self, scope: Scope, machine: Machine) -> str:
        """The client's settings file for that scope."""
        if scope == "user":
            return os.path.join(_settings_folder(machine), "settings.json")
        return os.path.join(_repository(machine), ".claude", _FILES[scope])

    def remains(self, machine: Machine) -> Iterable[str]:
        """The plugin where it was installed by hand."""
        program = self.program(machine)
        entries = _entries(program, machine) if program else []
        if any(entry.get("id") == PLUGIN and entry.get("scope") == "user" for entry in entries):
            yield "Claude Code still has the plugin: it was there before this installer, or was installed by hand."
            yield f"  To take it out: claude plugin uninstall {PLUGIN}"

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:
        """Client, interpreter, registration, switches and heartbeats."""
        program = self.program(machine)
        if program is None:
            yield note(_NAME, "Claude Code is not on this machine's PATH", "Install it, then run `keepmum install`.")
            return
        yield _check_version(program, machine)
        yield _check_interpreter(machine)
        yield from _check_registration(program, machine, product)
        yield from _check_switches(machine)
        for event, word in _EVENTS.items():
            yield _check_heartbeat(event, places.heartbeat_file(machine.home, _NAME, word))


# Manifests


def _plugin(product: Product) -> dict[str, object]:
    return {
        "name": product.name,
        "displayName": product.name.capitalize(),
        "version": product.version,
        "description": product.description,
        "author": {"name": product.author},
        "homepage": product.homepage,
        "repository": product.homepage,
        "license": product.licence,
        "keywords": list(product.keywords),
        "metadata": {"generated": _RENDERED},
        # Nothing leaves the machine; the client shows this to whoever is about to install.
        "network": {"hosts": []},
        "userConfig": {
            "capture_every": {
                "type": "number",
                "title": "Turns between two captures",
                "description": "After so many turns the agent is asked to keep what it learned.",
                # The client hands hooks saved values only, so the Stop hook holds the same default itself.
                "default": 5,
                "min": 1,
                "max": 1000,
            }
        },
    }


def _marketplace(product: Product) -> dict[str, object]:
    return {
        "name": MARKETPLACE,
        "description": product.description,
        "owner": {"name": product.author},
        "plugins": [
            {
                "name": product.name,
                # The repository's root is the plugin's root: a folder and a git address work alike.
                "source": "./",
                "description": product.description,
                "category": "productivity",
                "tags": list(product.keywords),
            }
        ],
    }


def _servers() -> dict[str, object]:
    arguments = [*_PYTHON, f"{_ROOT}/plugin/launch.py", "mcp", "--client", _NAME]
    return {"mcpServers": {SERVER: {"command": "python3", "args": arguments}}}


def _hooks() -> dict[str, object]:
    return {"description": _RENDERED, "hooks": {event: [{"hooks": [_hook(word)]}] for event, word in _EVENTS.items()}}


def _hook(word: str) -> dict[str, object]:
    # The form with "args" starts no shell: nothing to quote, and no profile that prints before the answer.
    arguments = [*_PYTHON, f"{_ROOT}/hooks/run.py", word, "--client", _NAME]
    return {"type": "command", "command": "python3", "args": arguments, "timeout": _HOOK_SECONDS}


# For one user


def _user_source(wish: Wish, machine: Machine) -> Source:
    if wish.source is not None:
        return parse_source(wish.source, machine.cwd)
    # The client's own copy of the plugin vanishes with the next update, so it is nothing to install from.
    if wish.root is None or _inside(wish.root, _settings_folder(machine)):
        return github(wish.product.repository)
    return folder(wish.root)


def _register(program: str, source: Source, product: Product, machine: Machine) -> Iterator[Step]:
    known = _known_source(program, machine)
    if known != source:
        before = ("plugin", "marketplace", "remove", MARKETPLACE) if known is None else _add(known)
        yield _command(program, "marketplace", _add(source), "make the plugin known", before, machine)
    entry = next((each for each in _entries(program, machine) if each.get("scope") == "user"), None)
    scope = ("--scope", "user")
    if entry is None or not entry.get("enabled"):
        back = ("plugin", "uninstall" if entry is None else "disable", PLUGIN, *scope)
        yield _command(program, "plugin", ("plugin", "install", PLUGIN, *scope), "switch it on for you", back, machine)
    elif source.kind != "directory" and entry.get("version") != product.version:
        back = ("plugin", "uninstall", PLUGIN, *scope)
        refresh = ("plugin", "marketplace", "update", MARKETPLACE)
        yield _command(program, "plugin", refresh, f"look for version {product.version}", back, machine)
        yield _command(program, "plugin", ("plugin", "update", PLUGIN, *scope), "take it", back, machine)


def _add(source: Source) -> tuple[str, ...]:
    return ("plugin", "marketplace", "add", source.where)


def _command(  # noqa: PLR0913, PLR0917 - a call by its parts, as the plan shows it
    program: str, what: str, arguments: tuple[str, ...], why: str, undo: tuple[str, ...], machine: Machine
) -> Call:
    settings = os.path.join(_settings_folder(machine), "settings.json")
    return Call(_NAME, what, program, arguments, why, undo, settings)


def _known_source(program: str, machine: Machine) -> Source | None:
    """Where the client gets our marketplace from now; None when it does not know it."""
    for entry in _listed(program, ("plugin", "marketplace", "list", "--json"), machine):
        kind, where = entry.get("source"), entry.get("path") or entry.get("url") or entry.get("repo")
        if entry.get("name") == MARKETPLACE and isinstance(where, str):
            if kind == "directory":
                return Source("directory", os.path.realpath(where))
            return github(where) if kind == "github" else Source("git", where)
    return None


def _entries(program: str, machine: Machine) -> list[dict[str, object]]:
    """What the client knows of plugins of our name, one entry a scope."""
    name = PLUGIN.partition("@")[0] + "@"
    entries = _listed(program, ("plugin", "list", "--json"), machine)
    return [entry for entry in entries if str(entry.get("id", "")).startswith(name)]


def _listed(program: str, arguments: tuple[str, ...], machine: Machine) -> list[dict[str, object]]:
    done = machine.run((program, *arguments), _LOOK_SECONDS)
    try:
        value = json.loads(done.out)
    except ValueError:
        raise InstallError(
            f"`{' '.join(('claude', *arguments))}` gave no list: {done.sentence}",
            "Run `claude update`, then try again.",
        ) from None
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _by_hand(source: Source) -> tuple[str, ...]:
    return (
        "Claude Code was not found on PATH, so the plugin is not registered yet.",
        "When it is there, run this installer again, or type in Claude Code:",
        f"  /plugin marketplace add {source.where}",
        f"  /plugin install {PLUGIN}",
    )


def _old_version(program: str, machine: Machine) -> Iterator[str]:
    version = _version(program, machine)
    if version is not None and version < _WHOLE_SINCE:
        whole = ".".join(map(str, _WHOLE_SINCE))
        yield f"Claude Code before {whole} shows the capture request as a problem; `claude update` mends that."


def _version(program: str, machine: Machine) -> tuple[int, ...] | None:
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", machine.run((program, "--version"), _LOOK_SECONDS).out)
    return tuple(map(int, found.groups())) if found else None


def _settings_folder(machine: Machine) -> str:
    return machine.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(machine.user_home, ".claude")


# For a repository


_FILES = {"project": "settings.json", "local": "settings.local.json"}


def _plan_repository(wish: Wish, machine: Machine) -> Plan:
    top = _repository(machine)
    if os.path.realpath(os.path.join(top, ".claude")) == os.path.realpath(_settings_folder(machine)):
        raise InstallError(f"{top} is your home, not a project", "Go to the project's folder, or use --scope user.")
    source = _repository_source(wish, machine, top)
    path = os.path.join(top, ".claude", _FILES[wish.scope])
    wanted = (
        (("extraKnownMarketplaces", MARKETPLACE), {"source": _settings_value(source, top)}),
        (("enabledPlugins", PLUGIN), True),
    )
    change = edit_json(
        path, wanted, "switch the plugin on for " + ("the team" if wish.scope == "project" else "you here")
    )
    closing = _for_teammates(source) if wish.scope == "project" else _for_yourself()
    return Plan((change,) if change else (), closing=closing)


def _repository(machine: Machine) -> str:
    """The top folder of the repository around the working folder, else the working folder itself."""
    at = os.path.realpath(machine.cwd)
    while not os.path.exists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if above == at:
            return os.path.realpath(machine.cwd)
        at = above
    return at


def _repository_source(wish: Wish, machine: Machine, top: str) -> Source:
    if wish.source is None and wish.scope == "local":
        # This file stays on this machine, so the clone that is here anyway will do.
        return _user_source(wish, machine)
    source = github(wish.product.repository) if wish.source is None else parse_source(wish.source, machine.cwd)
    if wish.scope == "project" and source.kind == "directory" and not _inside(source.where, top):
        raise InstallError(
            f"{source.where} lies outside the repository {top}, where no teammate has it",
            "Leave --source out, give a git address, or put Keepmum inside the repository.",
        )
    return source


def _settings_value(source: Source, top: str) -> dict[str, str]:
    if source.kind == "github":
        return {"source": "github", "repo": source.where}
    if source.kind == "git":
        return {"source": "git", "url": source.where}
    if not _inside(source.where, top):
        return {"source": "directory", "path": source.where}
    below = os.path.relpath(source.where, top).replace(os.sep, "/")
    return {"source": "directory", "path": "./" if below == "." else f"./{below}"}


def _for_teammates(source: Source) -> tuple[str, ...]:
    where = "this repository" if source.kind == "directory" else source.where
    return (
        "Commit .claude/settings.json. Then a teammate has to:",
        "  1. pull, start Claude Code in the repository, and say yes when it asks whether to trust the folder;",
        f"     the plugin comes from {where} by itself (`claude -p`: from its second run on)",
        "  2. have python3 on PATH, 3.11 or newer",
        "Memories are not in the repository: each machine keeps its own.",
    )


def _for_yourself() -> tuple[str, ...]:
    return (".claude/settings.local.json is for this machine: keep it out of git.",)


def _inside(path: str, folder: str) -> bool:
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


# How it is doing


def _check_version(program: str, machine: Machine) -> Finding:
    version = _version(program, machine)
    if version is None:
        return problem(_NAME, f"{program} does not say its version", "Run `claude doctor`.")
    text = ".".join(map(str, version))
    if version < _WHOLE_SINCE:
        whole = ".".join(map(str, _WHOLE_SINCE))
        return note(
            _NAME, f"version {text}; before {whole} the capture request shows as a problem", "Run `claude update`."
        )
    return ok(_NAME, f"version {text} at {program}")


def _check_interpreter(machine: Machine) -> Finding:
    about = f"{_NAME} python3"
    path = machine.find("python3")
    if path is None:
        return problem(about, "hooks and server start as `python3`, which is not on PATH", "Put python3 on PATH.")
    done = machine.run((path, "-I", "-S", "-c", "import sys; print(*sys.version_info[:3], sep='.')"), _LOOK_SECONDS)
    version = done.out.strip()
    if done.code or not re.fullmatch(r"3\.\d+\.\d+", version):
        return problem(
            about, f"{path} does not run: {done.sentence}", "Install Python, or put a working one first on PATH."
        )
    if int(version.split(".")[1]) < 9:
        return problem(about, f"{path} is {version}, too old for the hooks", "Put Python 3.9 or newer first on PATH.")
    return ok(about, f"{version} at {path}")


def _check_registration(program: str, machine: Machine, product: Product) -> Iterator[Finding]:
    about = f"{_NAME} plugin"
    try:
        entries, source = _entries(program, machine), _known_source(program, machine)
    except InstallError as error:
        yield problem(about, str(error), error.next_step)
        return
    ours = [entry for entry in entries if entry.get("id") == PLUGIN]
    if not ours:
        yield problem(about, "the plugin is not installed", "Run `keepmum install`.")
    for entry in ours:
        yield _check_entry(about, entry, source, product)
    for entry in entries:
        if entry not in ours and entry.get("enabled"):
            other = str(entry.get("id"))
            says = (
                f"{other} is on as well, so every hook runs twice"
                if ours
                else f"{other} is on, from another marketplace"
            )
            yield problem(about, says, f"Run `claude plugin uninstall {other}`.")


def _check_entry(about: str, entry: Mapping[str, object], source: Source | None, product: Product) -> Finding:
    scope, version = entry.get("scope"), entry.get("folderVersion") or entry.get("version")
    place = entry.get("readFromFolder")
    if not entry.get("enabled"):
        return note(about, f"installed for {scope}, and switched off", f"Run `claude plugin enable {PLUGIN}`.")
    if isinstance(place, str) and not os.path.isdir(place):
        return problem(
            about, f"it is read from {place}, which is gone", "Run `keepmum install` from the clone you have."
        )
    if version != product.version:
        return note(
            about,
            f"the client runs version {version}, this is {product.version}",
            f"Run `claude plugin update {PLUGIN}`, or `keepmum install`.",
        )
    return ok(
        about, f"version {version}, for {scope}, from {place or (source.where if source else 'an unknown place')}"
    )


def _check_switches(machine: Machine) -> Iterator[Finding]:
    """What the client's settings switch off, and where."""
    in_project = os.path.join(_repository(machine), ".claude")
    for path in (
        os.path.join(_settings_folder(machine), "settings.json"),
        *(os.path.join(in_project, name) for name in _FILES.values()),
    ):
        try:
            settings = parse((files.read(path) or b"{}").decode("utf-8", "replace"))
        except (NotPlainJson, InstallError) as error:
            yield problem(f"{_NAME} settings", f"{path}: {error}", "Mend it: the client ignores the whole file.")
            continue
        enabled = settings.get("enabledPlugins")
        if isinstance(enabled, dict) and enabled.get(PLUGIN) is False:
            yield note(f"{_NAME} settings", f"{path} switches the plugin off", f'Set "{PLUGIN}" to true there.')
        if settings.get("disableAllHooks") is True:
            yield problem(f"{_NAME} settings", f"{path} switches all hooks off", 'Remove "disableAllHooks" there.')


def _check_heartbeat(event: str, path: str) -> Finding:
    about = f"{_NAME} {event} hook"
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
