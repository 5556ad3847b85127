"""The output of `keepmum status` and `keepmum doctor`: lines for people, or one JSON object for programs."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace

from keepmum.core.framing import inline
from keepmum.core.wording import counted
from keepmum_installers import doctor
from keepmum_installers.clients import CLIENTS
from keepmum_installers.console import Console
from keepmum_installers.finding import Finding, note, ok
from keepmum_installers.machine import Machine
from keepmum_installers.product import bundle_root, installed

__all__ = ["findings", "show_findings", "show_status", "show_trials"]

_SIGNS = {"ok": "ok     ", "note": "note   ", "problem": "problem"}


def show_status(probes: doctor.Probes) -> int:
    """Print what is installed and how much is remembered; returns 0."""
    console, machine, product = Console(), Machine.this(), installed(bundle_root())
    facts = probes.store()
    identity, project, folder, origin = probes.project()
    console.say(f"Keepmum {product.version}")
    console.say(f"  memories  {facts.get('memories')}, in {facts.get('path')}")
    for reason in filter(None, (facts.get("reason"), facts.get("notice"))):
        console.say(f"  store     {reason}")
    if waiting := doctor.to_review(facts):
        console.say(f"  review    {waiting}: `keepmum review`")
    for server in doctor.servers(facts, identity):
        console.say(f"  server    {server.says}")
    console.say(f"  project   {inline(f'{project}, at {folder}')} (known from {origin})")
    if wrong := probes.left_out():
        console.say(f"  settings  {wrong}")
    missing: list[str] = []
    for name, client in CLIENTS.items():
        findings = list(client.checks(machine, product))
        if any(each.level == "absent" for each in findings):
            missing.append(client.title)
            continue
        worst = next((each for level in ("problem", "note") for each in findings if each.level == level), None)
        about = worst.about.replace(name, client.title, 1) if worst else client.title
        console.say(f"  {about}: {worst.says if worst else 'no problems'}")
    if missing:
        console.say(f"  not found: {', '.join(missing)}")
    for setting, value, source in probes.settings():
        if source != "default":
            console.say(f"  {setting} = {value}, from {source}")
    return 0


def findings(probes: doctor.Probes) -> list[Finding]:
    """The findings of the doctor, those of one client merged where they are not problems."""
    root = bundle_root()
    return list(_brief(doctor.examine(installed(root), root, Machine.this(), probes)))


def show_findings(probes: doctor.Probes, *, as_json: bool, verbose: bool = False) -> int:
    """Print the findings of the doctor; returns 1 when one is a problem, else 0.

    Without `verbose`, what is not a problem of a client takes one line.
    """
    root = bundle_root()
    found = doctor.examine(installed(root), root, Machine.this(), probes)
    if as_json:
        return _show(found, as_json=True)
    if verbose:
        return _show(_grouped(found), as_json=False)
    status = _show(_brief(found), as_json=False)
    Console().say("`keepmum doctor -v` shows every check.")
    return status


def show_trials(clients: Sequence[str], *, as_json: bool) -> int:
    """Print the findings of live trials of these clients, or of all; returns 1 when one is a problem, else 0."""
    from keepmum_installers.live import results

    def say(name: str) -> None:
        if not as_json:
            Console().say(f"         {CLIENTS[name].title} is started, which takes some seconds …")

    return _show(results.examine(clients, bundle_root(), Machine.this(), say), as_json=as_json)


def _brief(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, with those of one client that are not problems merged into one."""
    for client, row in itertools.groupby(findings, lambda each: each.about.partition(" ")[0]):
        rest = list(row)
        if client in CLIENTS:
            yield from (each for each in rest if each.level in {"absent", "problem"})
            rest = _merged(client, [each for each in rest if each.level in {"ok", "note"}])
        yield from rest


def _merged(client: str, findings: Sequence[Finding]) -> list[Finding]:
    """One finding for all: what there is to do, or else the first of them and how many checks passed."""
    todo = [each for each in _grouped(findings) if each.level == "note" and each.next_step]
    missing = [each for each in todo if each.next_step.startswith("Run `keepmum install")]
    todo = missing or todo  # hooks that are not installed cannot have run
    if todo:
        says = "; ".join(_sentence(each, client) for each in todo)
        return [note(client, says, " ".join(dict.fromkeys(each.next_step for each in todo)))]
    passed = counted(len(findings), "check") + " passed"
    return [ok(client, f"{findings[0].says}; {passed}")] if findings else []


def _sentence(finding: Finding, client: str) -> str:
    """What was found about one or several parts of a client."""
    parts, says = finding.about.removeprefix(client).strip(), finding.says
    if says.startswith(f"the {parts} "):
        return says
    first, comma, last = parts.rpartition(", ")
    if comma:
        parts, says = f"{first} and {last}", re.sub(r"^has\b", "have", says)
    return f"{parts} {says}".strip()


def _grouped(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, with consecutive ones that say the same of one client merged."""
    rows = itertools.groupby(findings, lambda each: (each.about.partition(" ")[0], replace(each, about="")))
    for (client, finding), row in rows:
        parts = [each.about.removeprefix(client).strip() for each in row]
        yield replace(finding, about=f"{client} {', '.join(parts)}".rstrip())


def _show(findings: Iterable[Finding], *, as_json: bool) -> int:
    """Print each finding as it arrives, or all as one JSON object; returns the exit code."""
    console, shown = Console(), []
    for finding in findings:
        shown.append(finding)
        if not as_json and finding.level != "absent":
            _say(console, finding)
    missing = [finding.about for finding in shown if finding.level == "absent"]
    if missing and not as_json:
        says = f"{', '.join(CLIENTS[name].title for name in missing)}: not found"
        _say(console, note("clients", says, "Install one, then run `keepmum install`."))
    count = sum(finding.level == "problem" for finding in shown)
    if as_json:
        value = {"ok": not count, "findings": [asdict(finding) for finding in shown]}
        console.say(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        console.say(f"{counted(count, 'problem')}." if count else "No problems.")
    return 1 if count else 0


def _say(console: Console, finding: Finding) -> None:
    console.say(f"{_SIGNS[finding.level]}  {finding.about}: {finding.says}")
    if finding.next_step:
        console.say(f"         → {finding.next_step}")
