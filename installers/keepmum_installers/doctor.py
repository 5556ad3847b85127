"""The checks of `keepmum doctor`: each gives findings with a next step."""

from __future__ import annotations

import contextlib
import os
import platform
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from keepmum.core.errors import KeepmumError
from keepmum.core.framing import inline
from keepmum.core.wording import counted
from keepmum_hooks import places
from keepmum_installers import files, leftovers, runtime, semantic
from keepmum_installers.clients import CLIENTS
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, note, ok, problem
from keepmum_installers.journal import Journal, Wrote
from keepmum_installers.machine import Machine
from keepmum_installers.product import Product

__all__ = ["Probes", "examine", "servers", "to_review"]

_SWITCHES = {
    "enabled": "Keepmum is switched off",
    "capture.enabled": "the agent is not asked to store what it learned",
    "briefing.enabled": "sessions start without a briefing",
    "guard.enabled": "secrets are not kept out of other memories",
}
_OPINION = "Run `keepmum install` again for its packages, or set scanner.second_opinion to false."
_AGAIN = "Run `keepmum install` again."
_MOST_FILES = 20  # that are named one by one


class Probes(Protocol):
    """What the doctor reads from the store and the settings."""

    def store(self) -> Mapping[str, object]:
        """Facts about the store: its path, whether it is writable, and whether it is intact."""

    def settings(self) -> Sequence[tuple[str, str, str]]:
        """Name, value and source of every setting in effect."""

    def left_out(self) -> str:
        """What is wrong in the project's file, in a sentence; empty when nothing is."""

    def project(self) -> tuple[str, str, str, str]:
        """Id, name, root and source of the project of the working folder."""


def examine(product: Product, root: str | None, machine: Machine, probes: Probes) -> list[Finding]:
    """Every finding; what others depend on comes first."""
    from keepmum_installers.live import results  # with a web server: `keepmum status` imports this module without it

    findings: list[Finding] = [_interpreter(product)]
    findings += _home(machine)
    findings.append(_runtime(root, machine))
    findings += semantic.check(root, machine)
    findings.append(_scanner())
    findings += _core(probes)
    findings += _session(machine)
    findings += _leftovers(machine)
    trials = results.load(machine)
    for name, client in CLIENTS.items():
        findings += client.checks(machine, product)
        findings += results.findings(name, trials[name]) if name in trials else ()
    return findings


def _scanner() -> Finding:
    """Whether the scanner finds a key, and nothing in plain text; the key is assembled here: no file may hold one."""
    try:
        from keepmum_scanner import scan

        works = bool(scan(f"ghp{'_'}{'4fQ9zR7k' * 4}Xb21")) and not scan("Deploys go through the blue pool first.")
    except Exception as error:  # noqa: BLE001 - with any fault of the scanner nothing can be stored
        return problem("scanner", f"fails ({type(error).__name__}), so nothing can be stored", _AGAIN)
    if not works:
        return problem("scanner", "does not tell a secret from plain text", _AGAIN)
    return ok("scanner", "finds a key and passes plain text")


def _core(probes: Probes) -> Iterator[Finding]:
    """The findings about the core; a problem that several checks meet, such as a broken settings file, appears once."""
    reported: set[str] = set()
    for about, check in (("settings", _settings), ("store", _store), ("project", _project)):
        for finding in _guarded(about, check, probes):
            if finding.level != "problem" or finding.says not in reported:
                yield finding
            reported.add(finding.says)


def _guarded(about: str, check: Callable[[Probes], Iterator[Finding]], probes: Probes) -> Iterator[Finding]:
    """The findings of one check of the core; an error of the core is a finding too."""
    try:
        yield from check(probes)
    except KeepmumError as error:
        yield problem(about, str(error), "Fix that, then run `keepmum doctor` again.")


def _interpreter(product: Product) -> Finding:
    versions = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return ok("keepmum", f"version {product.version}, on {versions}, at {sys.executable}")


def _home(machine: Machine) -> Iterator[Finding]:
    if not os.path.isdir(machine.home):
        yield note("home", f"{machine.home} does not exist yet", "It is created when the first memory is stored.")
        return
    if not os.access(machine.home, os.W_OK):
        yield problem("home", f"{machine.home} is not writable, so nothing can be stored", "Check its owner and mode.")
    unsafe = list(_unsafe(machine.home))
    if unsafe:
        says = f"others own or can write to {', '.join(unsafe)}, from where programs are started"
        yield problem("home", says, f"Run `chmod -R go-w {machine.home}`; what another user owns, move away.")
    exposed = list(_exposed(machine.home))
    if exposed:
        yield problem("home", f"others can read {', '.join(exposed)}", f"Run `chmod -R go-rwx {machine.home}`.")
    else:
        yield ok("home", f"{machine.home}, for its owner only")


def _exposed(home: str) -> Iterator[str]:
    """What others may read in the home; nothing when they cannot enter the folder."""
    if os.name == "nt" or not _open_to_others(home):
        return
    yield home
    for name in sorted(os.listdir(home)):
        path = os.path.join(home, name)
        if os.path.isfile(path) and _open_to_others(path):
            yield name


def _unsafe(home: str) -> Iterator[str]:
    """The folders from which code is run and that others own or may write to, as far as the home lets them in."""
    for name in () if os.name == "nt" else ("", "app", "bin", "cache", "plugins", "runtime", "state"):
        path = os.path.join(home, name) if name else home
        with contextlib.suppress(OSError):
            facts = os.stat(path)
            if facts.st_uid != os.getuid() or facts.st_mode & 0o022:
                yield path


def _open_to_others(path: str) -> bool:
    return bool(stat.S_IMODE(os.stat(path).st_mode) & 0o077)


def _runtime(root: str | None, machine: Machine) -> Finding:
    found = runtime.look(root, machine)
    if found is None:
        return ok("runtime", "not installed; the core does not need it")
    if found.missing:
        return note("runtime", f"packages are missing: {', '.join(found.missing)}", _AGAIN)
    if found.outdated:
        return note("runtime", "its packages belong to another version of Keepmum", _AGAIN)
    return ok("runtime", f"complete, on Python {found.version}")


def _store(probes: Probes) -> Iterator[Finding]:
    facts = probes.store()
    path, memories, indexed = facts.get("path"), facts.get("memories"), facts.get("indexed")
    size = int(str(facts.get("bytes") or 0)) / 1024
    if facts.get("integrity") != "ok":
        yield problem(
            "store",
            f"{path} is damaged",
            "Start any client once: opening the store moves it aside and recovers it row by row.",
        )
    elif memories != indexed:
        held = counted(_number(memories), "memory")
        yield problem("store", f"{held}, but {indexed} in the index", "Run `keepmum export`, then report it.")
    else:
        held = counted(_number(memories), "memory")
        backups = counted(_number(facts.get("backups")), "backup")
        yield ok("store", f"{held}, all indexed, {size:,.0f} KiB, {backups}, at {path}")
    if not facts.get("writable"):
        yield problem("store", f"read only: {facts.get('reason')}", "Nothing can be stored until that is fixed.")
    if facts.get("notice"):
        yield note("store", str(facts["notice"]), "Compare with what you remember; the kept files are yours to delete.")
    if waiting := to_review(facts):
        yield note("review", waiting, "Run `keepmum review` in a terminal.")
    yield from servers(facts, probes.project()[0])
    for part in _parts(facts):
        yield from _files(part)


def _number(fact: object) -> int:
    return fact if isinstance(fact, int) else 0


def to_review(facts: Mapping[str, object]) -> str:
    """How many items a person should review, from the facts of the store; empty for none."""
    items = _number(facts.get("review"))
    return f"{counted(items, 'item')} of this project to review" if items else ""


def servers(facts: Mapping[str, object], project: str) -> Iterator[Finding]:
    """The state of each team's server, from the facts of the store, and whether its key is for a project."""
    return (_server(part, project) for part in _parts(facts) if part.get("server"))


def _parts(facts: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The facts of the parts of a composite store; those of the store itself when it is a single one."""
    stores = facts.get("stores")
    return [part for part in stores.values() if isinstance(part, Mapping)] if isinstance(stores, Mapping) else [facts]


def _files(facts: Mapping[str, object]) -> Iterator[Finding]:
    """Each file of memories that has a problem."""
    problems = facts.get("problems")
    texts = problems if isinstance(problems, Sequence) else ()
    for text in texts[:_MOST_FILES]:
        yield note("file", f"{facts.get('path')}: {text}", "Fix the file by hand; all others are still read.")
    if len(texts) > _MOST_FILES:
        yield note(
            "file",
            counted(len(texts) - _MOST_FILES, "more file like these", "more files like these"),
            "Fix those above, then run `keepmum doctor` again.",
        )


def _server(facts: Mapping[str, object], project: str) -> Finding:
    """The state of the team's server, and the writes that wait for it."""
    queued, refused = _number(facts.get("queued")), _number(facts.get("refused"))
    waits, were = "waits" if queued == 1 else "wait", "was" if refused == 1 else "were"
    waiting = f"{counted(queued, 'write')} {waits}, {refused:,} {were} refused"
    roles = facts.get("roles")  # a server that is not Keepmum's own has none
    if isinstance(roles, Mapping) and not {project, "*"} & roles.keys():
        return problem(
            "server",
            inline(f"{facts['server']} answers, but its key has no role in the project {project}; {waiting}"),
            "Ask its administrator for `keepmum people role`, or for another key.",
        )
    if facts.get("reached"):
        return ok("server", f"{facts['server']} answers, collection {facts.get('collection')}; {waiting}")
    reason, login = str(facts.get("problem")), f"`keepmum login {facts.get('server')}`"
    step = f"Run {login}" if facts.get("key_refused") or login in reason else "`keepmum whoami` tries it again"
    return problem("server", f"{reason}; {waiting}", f"{step}; waiting writes are kept.")


def _project(probes: Probes) -> Iterator[Finding]:
    identity, name, root, source = probes.project()
    yield ok("project", inline(f"{name} ({identity}), at {root}, known from {source}"))


def _settings(probes: Probes) -> Iterator[Finding]:
    """Which settings are off, and where; other settings only with their source."""
    if wrong := probes.left_out():
        yield problem("settings", wrong, "Fix that line in the project's file.")
    chosen = [entry for entry in probes.settings() if entry[2] != "default"]
    for name, value, source in chosen:
        if name in _SWITCHES and value.lower() == "false":
            yield note("settings", f"{_SWITCHES[name]}: {name} is false in {source}", _how_to_unset(source))
        else:
            yield ok("settings", f"{name} is set in {source}")
        if name == "scanner.second_opinion" and value.lower() == "true" and not _has_second_opinion():
            yield note("scanner", "detect-secrets is missing, so there is no second opinion", _OPINION)
    if not chosen:
        yield ok("settings", "every setting has its default")


def _has_second_opinion() -> bool:
    from keepmum_scanner.detect_secrets_opinion import is_installed

    return is_installed()


def _how_to_unset(source: str) -> str:
    """How to unset a setting. A project file can only switch off, so true is not always allowed there."""
    return "Remove that line." if os.path.isabs(source) else "Unset that variable."


def _session(machine: Machine) -> Iterator[Finding]:
    session = machine.environ.get("CLAUDE_CODE_SESSION_ID")
    if session and os.path.exists(places.off_marker(machine.home, session)):
        yield note("settings", "Keepmum is switched off for this session", "Run `keepmum on --session`.")


def _leftovers(machine: Machine) -> Iterator[Finding]:
    for path in leftovers.moved_aside(machine):
        yield note("leftovers", f"{path} is a damaged store that was moved aside", "Delete it if you miss no memories.")
    try:
        records = list(Journal(machine.home))
    except InstallError as error:
        yield problem("leftovers", str(error), error.next_step)
        return
    for record in records:
        if isinstance(record, Wrote) and files.read(record.path) is None:
            yield note("leftovers", f"{record.path} was installed and is missing", _AGAIN)
