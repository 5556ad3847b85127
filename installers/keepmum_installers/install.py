"""Installing: plan, show the plan, put the code in place, execute the plan, try the server, print a summary."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from keepmum.core.wording import counted
from keepmum_installers import apply, demo, files, runtime, semantic, sharing, shell_command, team
from keepmum_installers.app import layout, placing
from keepmum_installers.app.bundle import Bundle
from keepmum_installers.clients import CLIENTS
from keepmum_installers.clients.client import Client, InstallSpec, Scope
from keepmum_installers.console import Console
from keepmum_installers.errors import FileChanged, FileLeft, InstallError
from keepmum_installers.journal import Journal
from keepmum_installers.locking import locked
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change, Plan, Step
from keepmum_installers.product import Product
from keepmum_installers.source import parse_source

__all__ = ["Options", "install"]

# A plan is executed within milliseconds, so a second attempt nearly always succeeds.
_ATTEMPTS = 20
_Planner = Callable[[], Plan]


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for."""

    scope: Scope = "user"
    source: str | None = None
    clients: tuple[str, ...] = ()
    """Their names; empty means every client that is found."""
    settings: tuple[str, ...] = ()
    """Settings for the repository, each `NAME=VALUE`."""
    runtime: bool = True
    semantic: bool = True
    server: bool = False
    """Whether the packages of `keepmum serve` are installed."""
    dry_run: bool = False
    share_key: bool = False
    """Whether the repository gets the key for the team's server."""
    origin: str | None = None
    """The address that upgrades come from; empty for the public one, None to leave it as it is."""
    verbose: bool = False
    """Whether to name each file and command; for a repository, and for a dry run, they are named in any case."""

    @property
    def names_each(self) -> bool:
        """Whether each file and command is named."""
        return self.verbose or self.dry_run or self.scope != "user"


def install(  # noqa: PLR0913, PLR0917 - what, from where, for whom
    options: Options,
    product: Product,
    root: str | None,
    machine: Machine,
    console: Console,
    code: Bundle | None = None,
) -> int:
    """The exit code: 0 when everything was installed and the demonstration succeeded.

    Clients run the code under `root`: it is there, or `code` is put there first.

    Raises: InstallError when a named client cannot be installed for that scope, or the source is not valid.
    """
    console.say(f"Keepmum {product.version}")
    if not options.names_each and _chosen(options, machine):
        console.say(_found(options, machine))
    spec = InstallSpec(product, root, options.scope, options.source, _checked(options, machine, console))
    planned, problems = _plan_all(_planners(options, spec, machine))
    for problem in problems:
        console.problem(problem)
    if problems and (not planned or _concerns_all(problems, options)):
        console.say("Nothing was changed.")
        return 1
    if root is not None:
        command = partial(shell_command.plan, root, machine)
        planned.insert(0, (command, command()))
    reads = root if code is None else code.folder
    lines = [*_code_lines(code, product, machine), *_plan_lines(planned, options), *_packages(options, reads, machine)]
    _show(lines, options, product, machine, console)
    if options.dry_run:
        for line in (line for _, plan in planned if not plan.steps for line in plan.notes):
            console.say(line)  # for a client that cannot be set up from here, the commands to type
        console.say("Nothing was changed: this was a dry run.")
        return 1 if problems else 0
    put = None if code is None else partial(_put_code, code, product.version, options.origin, machine.home)
    done = _execute(planned, machine, console, put)
    is_complete = not problems and len(done) == len(planned)
    if root is not None:
        _build_runtime(options, root, machine, console)
        is_complete = _demonstrate(root, machine, product, console, brief=not options.names_each) and is_complete
    _say_summary(done, root, machine, console, options)
    return 0 if is_complete else 1


def _checked(options: Options, machine: Machine, console: Console) -> str | None:
    """The key to share, with its server; None when no key is shared.

    Raises: InstallError when the options are wrong.
    """
    if options.scope == "project":
        team.check(options.settings, machine)
    if options.source is not None:
        parse_source(options.source, machine.cwd)  # so that a bad source is an error even when no client is found
    return _shared(options, machine, console)


def _shared(options: Options, machine: Machine, console: Console) -> str | None:
    """The key to share, with its server; None when no key is shared."""
    if not options.share_key:
        return None
    if options.scope != "project":
        raise InstallError("--share-key is for a repository; nothing was done", "Use it with --scope project.")
    if sharing.CLIENT not in _chosen(options, machine):
        title = CLIENTS[sharing.CLIENT].title
        raise InstallError(f"--share-key needs {title}; nothing was done", f"Add --client {sharing.CLIENT}.")
    return sharing.shared_key(options.settings, machine, console, ask=not options.dry_run)


def _planners(options: Options, spec: InstallSpec, machine: Machine) -> list[_Planner]:
    """The functions that plan for each client, and for the files that clients share."""
    chosen = _chosen(options, machine)
    planners: list[_Planner] = [partial(_of_client, CLIENTS[name], spec, machine) for name in chosen]
    if options.scope == "project":
        planners.append(partial(team.plan, options.settings, machine))
        if spec.shared_key:
            last = Plan(closing=sharing.closing(spec.shared_key))
            planners.append(lambda: last)
    elif options.settings:
        raise InstallError("--set is for a repository; nothing was done", "Use it with --scope project.")
    if options.scope != "user":
        return [partial(_inside, planner, machine.repository) for planner in planners]
    return planners or [lambda: _NO_CLIENT]


def _of_client(client: Client, spec: InstallSpec, machine: Machine) -> Plan:
    return replace(client.plan(spec, machine), title=client.title)


def _inside(planner: _Planner, top: str) -> Plan:
    """The plan without changes of files outside the repository, where a link of a cloned one may lead."""
    plan = planner()
    outside = [step for step in plan.steps if isinstance(step, Change) and not files.lies_in(step.path, top)]
    problems = (
        FileLeft(f"{step.path} was left unchanged: it leads to {os.path.realpath(step.path)}", "Remove that link.")
        for step in outside
    )
    return replace(
        plan, steps=tuple(step for step in plan.steps if step not in outside), problems=(*plan.problems, *problems)
    )


def _chosen(options: Options, machine: Machine) -> tuple[str, ...]:
    """The named clients; else those that are found; else, for a repository, all that support it."""
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
        "Once one is installed, run this installer again, or with --client NAME for what to type by hand.",
    )
)


def _plan_all(planners: Iterable[_Planner]) -> tuple[list[tuple[_Planner, Plan]], list[InstallError]]:
    """The plans that could be made, each with its planner, and what went wrong."""
    planned: list[tuple[_Planner, Plan]] = []
    problems: list[InstallError] = []
    for planner in planners:
        try:
            plan = planner()
        except InstallError as error:
            problems.append(error)
        else:
            planned.append((planner, plan))
            problems += plan.problems
    return planned, problems


def _concerns_all(problems: Iterable[InstallError], options: Options) -> bool:
    """Whether one of the problems means that no plan may be executed.

    A wrong source or folder is wrong for every file of a repository, and a key is shared completely or not at all.
    """
    is_of_one_file = all(isinstance(problem, FileLeft) for problem in problems)
    return options.share_key or (options.scope != "user" and not is_of_one_file)


def _show(lines: Sequence[str], options: Options, product: Product, machine: Machine, console: Console) -> None:
    console.say("To do:" if lines else "Nothing to do here.")
    for line in lines:
        console.say(f"  {line}")
    named = {"claude-code", "codex"} & {*_chosen(options, machine)}
    if options.scope == "project" and options.source is None and named:
        where = f"https://github.com/{product.repository}"
        console.say(f"Teammates get the plugin from {where}. This is a guess: --source names another place.")


def _found(options: Options, machine: Machine) -> str:
    """The clients that get the plugin, and those that were not found."""
    chosen = _chosen(options, machine)
    here = _listed(CLIENTS[name].title for name in chosen)
    missing = ", ".join(client.title for name, client in CLIENTS.items() if name not in chosen)
    if options.clients:
        return f"For: {here}."
    return f"Found: {here}. Not found: {missing}." if missing else f"Found: {here}."


def _listed(names: Iterable[str]) -> str:
    """The names in a sentence: `A, B and C`."""
    *first, last = list(names) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _code_lines(code: Bundle | None, product: Product, machine: Machine) -> Iterator[str]:
    if code is None:
        return
    path = placing.planned_folder(code, product.version, machine.home)
    if layout.target(layout.current(machine.home)) != os.path.realpath(path):
        yield f"put the code into {path}"


def _plan_lines(planned: Sequence[tuple[_Planner, Plan]], options: Options) -> Iterator[str]:
    """What the plans do: each step of them, or one line for all clients."""
    plans = [plan for _, plan in planned]
    if options.names_each:
        for plan in plans:
            yield from map(str, plan.steps if options.dry_run else _summarised(plan.steps))
        return
    of_clients = [plan for plan in plans if plan.title]
    if any(plan.steps for plan in plans if not plan.title):
        yield "create the command `keepmum`"
    steps = [step for plan in of_clients for step in plan.steps]
    if steps:
        changes = sum(isinstance(step, Change) for step in steps)
        parts = [counted(changes, "file")] * bool(changes)
        parts += [counted(len(steps) - changes, "command")] * (len(steps) > changes)
        titles = _listed(plan.title for plan in of_clients if plan.steps)
        yield f"add the plugin to {titles}: {' and '.join(parts)}, which -v names; `keepmum uninstall` undoes them"


def _summarised(steps: Sequence[Step]) -> Iterator[Step | str]:
    """The steps, with one line for all files of ours that are written for one reason."""
    for (is_own, why), group in groupby(steps, lambda step: (isinstance(step, Change) and step.undo is None, step.why)):
        alike = list(group)
        if is_own and len(alike) > 1:
            folder = os.path.commonpath([os.path.dirname(step.path) for step in alike if isinstance(step, Change)])
            yield f"write {len(alike)} files in {folder}: {why}"
        else:
            yield from alike


def _put_code(code: Bundle, version: str, origin: str | None, home: str) -> None:
    """Copy the code to the home and make it the current version."""
    files.private_folder(layout.folder(home))
    if origin:
        files.write(layout.origin(home), origin.encode())
    with locked(layout.folder(home)):
        if origin == "" and os.path.exists(layout.origin(home)):
            os.unlink(layout.origin(home))
        placing.switch(placing.place(code, version, home), home)
        placing.prune(home)


def _execute(
    planned: Sequence[tuple[_Planner, Plan]], machine: Machine, console: Console, put: Callable[[], None] | None
) -> list[Plan]:
    """The plans that were executed; under a lock, so that each installation sees the result of the one before.

    Raises: InstallError when the code could not be put in place; nothing else was changed then.
    """
    done = []
    is_ours = machine.home == os.path.join(machine.user_home, ".keepmum")
    files.private_folder(machine.home)
    files.tighten(machine.home, is_ours=is_ours)
    if put is not None:
        put()
    with locked(machine.home):
        journal = Journal(machine.home)
        for planner, plan in planned:
            try:
                _attempt(planner, plan, journal, machine)
            except InstallError as error:
                console.problem(error)
            else:
                done.append(plan)
    files.tighten(machine.home, is_ours=is_ours)  # with no umask everybody could write to what is new
    return done


def _attempt(planner: _Planner, plan: Plan, journal: Journal, machine: Machine) -> None:
    """Execute a plan; plan again when another program wrote the same files meanwhile."""
    for _ in range(_ATTEMPTS):
        try:
            apply.carry_out(plan.steps, journal, machine)
        except FileChanged:
            plan = planner()
        else:
            return
    apply.carry_out(plan.steps, journal, machine)


def _packages(options: Options, root: str | None, machine: Machine) -> Iterator[str]:
    if root is None or not options.runtime:
        return
    found = runtime.look(root, machine)
    if not found or found.missing or found.outdated:
        folder = os.path.join(machine.home, "runtime")
        yield f"install packages into {folder}: the core needs none (--no-runtime: install none)"
    if options.semantic and (line := semantic.plan(root, machine)):
        yield line
    if options.server and ((found := runtime.look(root, machine, runtime.SERVER)) is None or found.missing):
        yield "install the packages of `keepmum serve`"


def _build_runtime(options: Options, root: str, machine: Machine, console: Console) -> None:
    """Build the runtime as far as wanted and possible; the core works without it."""
    try:
        if options.runtime:
            built = runtime.build(root, machine, console)
            if options.verbose:
                console.say(f"Packages: complete, on Python {built.version}.")
            if options.semantic:
                semantic.prepare(root, machine, console)
            else:
                semantic.decline(machine)
            if options.server:
                runtime.build(root, machine, console, runtime.SERVER)
        else:
            runtime.ensure_interpreter(machine)
    except InstallError as error:
        console.problem(error)
        console.say("Keepmum works without them: the core needs no packages.")


def _demonstrate(root: str, machine: Machine, product: Product, console: Console, *, brief: bool) -> bool:
    try:
        steps = demo.run(root, machine, product)
    except InstallError as error:
        console.problem(error)
        return False
    if brief:
        ready = f"the server was ready in {steps[0].milliseconds:.0f} ms"
        console.say(f"Tried here: a note was kept and found by a question, one with a token was refused; {ready}.")
        return True
    console.say("Demonstration on this machine:")
    for each in steps:
        console.say(f"  {each.what:<72} {each.milliseconds:6.1f} ms")
    return True


def _say_summary(plans: Sequence[Plan], root: str | None, machine: Machine, console: Console, options: Options) -> None:
    for line in (line for plan in plans for line in plan.notes):
        console.say(line)
    starts = [plan.starts for plan in plans if plan.starts]
    for line in starts if options.names_each else _SESSIONS[: len(starts)]:
        console.say(line)
    for folder in dict.fromkeys(plan.reads for plan in plans if plan.reads):
        if not layout.is_link(folder):
            console.say(f"They run the code in {folder}: keep that folder.")
    console.say(
        f"Memories are stored in {machine.home}, readable only by you. Your memories do not leave this machine."
    )
    for line in shell_command.hint(machine) if root is not None else ():
        console.say(line)
    typed = shell_command.invocation(machine)
    upgrade = f" Upgrade: {typed} upgrade." if root is not None and layout.is_link(root) else ""
    console.say(f"Check: {typed} doctor.{upgrade} Remove: {typed} uninstall (memories stay).")
    for line in (line for plan in plans for line in plan.closing):
        console.demand(line)


_SESSIONS = ("Sessions that are open now have it when you start them again.",)
