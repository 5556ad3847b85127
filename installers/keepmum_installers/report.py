"""`keepmum status` and `keepmum doctor`: what they look at, as lines for people or one JSON object for programs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from keepmum_installers import doctor
from keepmum_installers.clients import CLIENTS
from keepmum_installers.finding import Finding, Level, note
from keepmum_installers.machine import Machine
from keepmum_installers.product import bundle_root, installed
from keepmum_installers.voice import Voice

__all__ = ["show_findings", "show_status", "show_trials"]

_SIGNS = {"ok": "ok     ", "note": "note   ", "problem": "problem"}


def show_status(probes: doctor.Probes) -> int:
    """Says in a few lines what is installed and how much is remembered; gives 0."""
    voice, machine, product = Voice(), Machine.this(), installed(bundle_root())
    facts = probes.store()
    project, folder, source = probes.project()[1:]
    voice.say(f"Keepmum {product.version}")
    voice.say(f"  memories  {facts.get('memories')}, in {facts.get('path')}")
    for remark in filter(None, (facts.get("reason"), facts.get("notice"))):
        voice.say(f"  store     {remark}")
    for server in doctor.servers(facts):
        voice.say(f"  server    {server.says}")
    voice.say(f"  project   {project}, at {folder} (known from {source})")
    missing: list[str] = []
    for name, client in CLIENTS.items():
        findings = list(client.checks(machine, product))
        if any(each.level == "absent" for each in findings):
            missing.append(client.title)
            continue
        worst = next((each for level in ("problem", "note") for each in findings if each.level == level), None)
        about = worst.about.replace(name, client.title, 1) if worst else client.title
        voice.say(f"  {about}: {worst.says if worst else 'all is well'}")
    if missing:
        voice.say(f"  not found: {', '.join(missing)}")
    for setting, value, place in probes.settings():
        if place != "default":
            voice.say(f"  {setting} = {value}, from {place}")
    return 0


def show_findings(probes: doctor.Probes, *, as_json: bool) -> int:
    """Says every finding of the doctor; gives 1 when one is a problem, else 0."""
    root = bundle_root()
    found = doctor.examine(installed(root), root, Machine.this(), probes)
    return _show(found if as_json else _together(found), as_json=as_json)


def show_trials(clients: Sequence[str], *, as_json: bool) -> int:
    """Says what live trials of these clients (or of all) show; gives 1 when something is a problem, else 0."""
    from keepmum_installers.live import command

    return _show(command.examine(clients, bundle_root(), Machine.this()), as_json=as_json)


def _together(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings; where several in a row say the same of one client, as one."""
    for (client, level, says, next_step), row in itertools.groupby(findings, _gist):
        parts = [each.about.removeprefix(client).strip() for each in row]
        yield Finding(level, f"{client} {', '.join(parts)}".rstrip(), says, next_step)


def _gist(finding: Finding) -> tuple[str, Level, str, str]:
    return finding.about.partition(" ")[0], finding.level, finding.says, finding.next_step


def _show(findings: Iterable[Finding], *, as_json: bool) -> int:
    """Says findings, each when it is there, or all in one JSON object; gives the exit code."""
    voice, shown = Voice(), []
    for finding in findings:
        shown.append(finding)
        if not as_json and finding.level != "absent":
            _say(voice, finding)
    missing = [finding.about for finding in shown if finding.level == "absent"]
    if missing and not as_json:
        says = f"{', '.join(CLIENTS[name].title for name in missing)}: not found"
        _say(voice, note("clients", says, "Install one, then run `keepmum install`."))
    count = sum(finding.level == "problem" for finding in shown)
    if as_json:
        value = {"ok": not count, "findings": [asdict(finding) for finding in shown]}
        voice.say(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        voice.say("No problems." if not count else f"{count} problem{'s' if count > 1 else ''}.")
    return 1 if count else 0


def _say(voice: Voice, finding: Finding) -> None:
    voice.say(f"{_SIGNS[finding.level]}  {finding.about}: {finding.says}")
    if finding.next_step:
        voice.say(f"         → {finding.next_step}")
