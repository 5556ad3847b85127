"""Installing: plan, show the plan, carry it out, prove the main job, say what is where."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from keepmum_installers import apply, command, demo, files, runtime, semantic, sharing, team
from keepmum_installers.clients import CLIENTS
from keepmum_installers.clients.client import Scope, Wish
from keepmum_installers.errors import FileChanged, InstallError
from keepmum_installers.journal import Journal
from keepmum_installers.locking import locked
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.product import Product
from keepmum_installers.source import parse_source
from keepmum_installers.voice import Voice

__all__ = ["Options", "install"]

# Between a plan and its writing lie milliseconds, so a second attempt nearly always succeeds.
_ATTEMPTS = 20
_Planner = Callable[[], Plan]


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for."""

    scope: Scope = "user"
    source: str | None = None
    clients: tuple[str, ...] = ()
    """Their names; none stands for every client that is found."""
    settings: tuple[str, ...] = ()
    """What a repository is to say to everybody, each `NAME=VALUE`."""
    runtime: bool = True
    semantic: bool = True
    dry_run: bool = False
    share_key: bool = False
    """Whether the key for the team's server is to stand in the repository."""


def install(options: Options, product: Product, root: str | None, machine: Machine, voice: Voice) -> int:
    """The exit code: 0 when everything that was asked for is in place and the main job works here.

    Raises: InstallError when a client that was named cannot be installed for that scope, or the source is none.
    """
    voice.say(f"Keepmum {product.version}")
    if options.source is not None:
        parse_source(options.source, machine.cwd)  # which no client that is missing would look at
    shared = _shared(options, machine, voice)
    planned, failed = _planned(
        _planners(options, Wish(product, root, options.scope, options.source, shared), machine), voice
    )
    if failed and (not planned or options.scope != "user"):  # what a repository says of all clients comes whole
        voice.say("Nothing was changed.")
        return 1
    if root is not None:
        planned.insert(0, (own := partial(command.plan, root, machine), own()))
    _show([plan for _, plan in planned], _lines_of_packages(options, root, machine), voice)
    if options.dry_run:
        for line in (line for _, plan in planned if not plan.steps for line in plan.notes):
            voice.say(line)  # of a client that cannot be set up from here: what its user can do
        voice.say("Nothing was changed: this was a dry run.")
        return 1 if failed else 0
    done = _carry_out(planned, machine, voice)
    failed = failed or len(done) < len(planned)
    if root is not None:
        _build_runtime(options, root, machine, voice)
        failed = not _show_main_job(root, machine, product, voice) or failed
    _say_summary(done, root, machine, voice)
    return 1 if failed else 0


def _shared(options: Options, machine: Machine, voice: Voice) -> str | None:
    """The key that is to be shared, with its server; None when none is."""
    if not options.share_key:
        return None
    if options.scope != "project":
        raise InstallError("--share-key is for a repository; nothing was done", "Use it with --scope project.")
    if sharing.CLIENT not in _chosen(options, machine):
        title = CLIENTS[sharing.CLIENT].title
        raise InstallError(f"--share-key needs {title}; nothing was done", f"Add --client {sharing.CLIENT}.")
    return sharing.shared_key(options.settings, machine, voice, ask=not options.dry_run)


def _planners(options: Options, wish: Wish, machine: Machine) -> list[_Planner]:
    """What makes the plan of each client, and of what they share."""
    chosen = _chosen(options, machine)
    planners: list[_Planner] = [partial(CLIENTS[name].plan, wish, machine) for name in chosen]
    if options.scope == "project":
        planners.append(partial(team.plan, options.settings, machine))
        if wish.shared_key:
            last = Plan(closing=sharing.closing(wish.shared_key))
            planners.append(lambda: last)
    elif options.settings:
        raise InstallError("--set is for a repository; nothing was done", "Use it with --scope project.")
    return planners or [lambda: _NO_CLIENT]


def _chosen(options: Options, machine: Machine) -> tuple[str, ...]:
    """The clients that were named; else those that are found; else, for a repository, all that can be set up there."""
    able = [name for name, client in CLIENTS.items() if options.scope in client.scopes]
    for name in options.clients:
        if name not in able:
            raise InstallError(
                f"{CLIENTS[name].title} cannot be set up with --scope {options.scope}; nothing was done",
                f"Use --scope {' or '.join(CLIENTS[name].scopes)}.",
            )
    found = [name for name in able if CLIENTS[name].is_here(machine)]
    return options.clients or tuple(found if found or options.scope == "user" else able)


_TITLES = ", ".join(client.title for client in CLIENTS.values())
_NO_CLIENT = Plan(
    notes=(
        f"No client was found, so none has the plugin yet. Keepmum knows: {_TITLES}.",
        "When one is there, run this installer again; --client NAME says what to type where that does not help.",
    )
)


def _planned(planners: Iterable[_Planner], voice: Voice) -> tuple[list[tuple[_Planner, Plan]], bool]:
    """The plans that could be made, each with what makes it anew; and whether one could not."""
    planned: list[tuple[_Planner, Plan]] = []
    failed = False
    for planner in planners:
        try:
            planned.append((planner, planner()))
        except InstallError as error:
            failed = True
            voice.problem(error)
    return planned, failed


def _show(plans: Sequence[Plan], of_packages: Iterable[str], voice: Voice) -> None:
    lines = [*(str(step) for plan in plans for step in plan.steps), *of_packages]
    voice.say("To do:" if lines else "Nothing to do here.")
    for line in lines:
        voice.say(f"  {line}")


def _carry_out(planned: Sequence[tuple[_Planner, Plan]], machine: Machine, voice: Voice) -> list[Plan]:
    """The plans that were carried out; one installation at a time, so that each finds what the last one did."""
    done = []
    files.private_folder(machine.home)
    with locked(machine.home):
        journal = Journal(machine.home)
        for planner, plan in planned:
            try:
                _attempt(planner, plan, journal, machine)
            except InstallError as error:
                voice.problem(error)
            else:
                done.append(plan)
    return done


def _attempt(planner: _Planner, plan: Plan, journal: Journal, machine: Machine) -> None:
    """Carries a plan out; makes it anew when somebody else wrote the same files meanwhile."""
    for _ in range(_ATTEMPTS):
        try:
            apply.carry_out(plan.steps, journal, machine)
        except FileChanged:
            plan = planner()
        else:
            return
    apply.carry_out(plan.steps, journal, machine)


def _lines_of_packages(options: Options, root: str | None, machine: Machine) -> Iterator[str]:
    if root is None or not options.runtime:
        return
    found = runtime.look(root, machine)
    if not found or found.missing or found.behind:
        folder = os.path.join(machine.home, "runtime")
        yield f"install packages into {folder}: the core needs none (--no-runtime: install none)"
    if options.semantic and (line := semantic.plan(root, machine)):
        yield line


def _build_runtime(options: Options, root: str, machine: Machine, voice: Voice) -> None:
    """Builds the runtime as far as that is wanted and possible; the core works without it."""
    try:
        if options.runtime:
            built = runtime.build(root, machine, voice)
            voice.say(f"Packages: complete, on Python {built.version}.")
            if options.semantic:
                semantic.prepare(root, machine, voice)
        else:
            runtime.ensure_interpreter(machine)
    except InstallError as error:
        voice.problem(error)
        voice.say("Keepmum works all the same: the core needs no packages.")


def _show_main_job(root: str, machine: Machine, product: Product, voice: Voice) -> bool:
    voice.say("The main job, on this machine:")
    try:
        shown = demo.show(root, machine, product)
    except InstallError as error:
        voice.problem(error)
        return False
    for each in shown:
        voice.say(f"  {each.what:<72} {each.milliseconds:6.1f} ms")
    return True


def _say_summary(plans: Sequence[Plan], root: str | None, machine: Machine, voice: Voice) -> None:
    call = command.how_to_call(machine)
    for plan in plans:
        for line in plan.notes:
            voice.say(line)
    voice.say(f"Memories live in {machine.home}, for your eyes only. Nothing leaves this machine.")
    voice.say(f"To see how it is doing: {call} doctor")
    if root is not None:
        installer = shlex.quote(os.path.join(root, "installers", "install.sh"))
        voice.say(f"To remove it: sh {installer} --uninstall (memories stay; with --purge they go too)")
    for plan in plans:
        for line in plan.closing:
            voice.say(line)
