"""`keepmum remember`, `recall`, `load`, `forget` and `resume`: one call of the service each."""

from __future__ import annotations

import argparse
import sys

from keepmum.cli import console
from keepmum.core import briefing, serialization
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import KINDS, SCOPES
from keepmum.core.when import parse_when

__all__ = ["register"]

_NOTHING_YET = "nothing is remembered for this project yet"


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    for add in (_add_remember, _add_recall, _add_load, _add_forget, _add_resume):
        add(commands)


def _add_remember(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("remember", help="keep a memory")
    command.add_argument("text", nargs="*", metavar="TEXT", help="what to keep; from standard input when missing")
    command.add_argument("--title", help="a short headline; the first line when missing")
    command.add_argument("--key", help="a stable name; writing to it again replaces")
    command.add_argument("--kind", choices=KINDS, metavar="KIND", help="note when missing")
    command.add_argument("--why", help="the reason")
    command.add_argument("--tag", action="append", default=[], dest="tags", metavar="TAG", help="may be repeated")
    command.add_argument(
        "--scope", choices=SCOPES, metavar="SCOPE", help="project when missing; global: in every project"
    )
    command.add_argument("--importance", type=float, help="0 to 1")
    command.add_argument("--supersedes", metavar="ID", help="the memory that this one replaces")
    command.add_argument(
        "--ttl-days", type=console.days, dest="ttl_seconds", metavar="DAYS", help="forget it after so many days"
    )
    command.add_argument("--source", help="where it is from")
    command.set_defaults(run=_remember)


def _add_recall(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("recall", help="search the memory, or list the latest")
    command.add_argument("query", nargs="*", metavar="QUERY", help="a question or keywords")
    command.add_argument(
        "--kind", action="append", default=[], choices=KINDS, dest="kinds", metavar="KIND", help="may be repeated"
    )
    command.add_argument("--tag", action="append", default=[], dest="tags", metavar="TAG", help="any of these")
    command.add_argument(
        "--scope", choices=(*SCOPES, "all"), metavar="SCOPE", help="this project and global when missing"
    )
    command.add_argument("--since", metavar="WHEN", help="changed since: 2026-01-31, today, 12h, 7d")
    command.add_argument("--limit", type=console.positive, default=10, help="at most so many; 10 when missing")
    command.add_argument("--tokens", type=console.positive, help="at most what can be read in full for so many")
    command.add_argument("--explain", action="store_true", help="say what decided, leg by leg")
    command.add_argument("--trash", action="store_true", help="look in the trash instead")
    command.add_argument("--json", action="store_true", help="every field, for programs")
    command.set_defaults(run=_recall)


def _add_load(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("load", help="show memories in full")
    command.add_argument("ids", nargs="+", metavar="ID", help="an id, the beginning of one, or a key")
    command.add_argument("--history", action="store_true", help="show what they were before, too")
    command.add_argument("--json", action="store_true", help="every field, for programs")
    command.set_defaults(run=_load)


def _add_forget(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("forget", help="remove memories; undone with --undo for 30 days")
    command.add_argument("ids", nargs="*", metavar="ID", help="an id, the beginning of one, or a key")
    command.add_argument("--query", help="every word must occur")
    command.add_argument("--tag", action="append", default=[], dest="tags", metavar="TAG", help="all of these")
    command.add_argument("--older-than", metavar="WHEN", help="not changed since: 2026-01-31, 30d")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--archive", action="store_const", const="archive", dest="mode", help="keep, but do not recall")
    how.add_argument("--purge", action="store_const", const="purge", dest="mode", help="remove for good, at once")
    how.add_argument("--undo", action="store_true", help="bring back, or take back the last change")
    command.add_argument("--dry-run", action="store_true", help="only show what would be removed")
    command.add_argument("--yes", action="store_true", help="do not ask")
    command.set_defaults(run=_forget, mode="trash")


def _add_resume(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("resume", help="what is needed to go on with this project")
    command.add_argument("--tokens", type=console.positive, default=1500, help="at most so many; 1500 when missing")
    command.set_defaults(run=_resume)


def _remember(arguments: argparse.Namespace) -> int:
    text = " ".join(arguments.text) if arguments.text else console.read_text(sys.stdin)
    with console.Memory() as memory:
        answer = memory.remember(
            text,
            supersedes=arguments.supersedes,
            title=arguments.title,
            key=arguments.key,
            kind=arguments.kind,
            why=arguments.why,
            tags=arguments.tags or None,
            scope=arguments.scope,
            importance=arguments.importance,
            ttl_seconds=arguments.ttl_seconds,
            source=arguments.source,
        )
        memory.settle()  # the next session that starts here is told of it
    done = f"queued ({answer.queued} waiting for the server)" if answer.queued else answer.action
    console.say(f"{done or 'known already'}: {briefing.index_line(answer.memory)[2:]}")
    return 0


def _recall(arguments: argparse.Namespace) -> int:
    with console.Memory() as memory:
        memory.warm(wait=True)
        found = memory.recall(
            " ".join(arguments.query),
            kinds=arguments.kinds,
            tags=arguments.tags,
            scope=arguments.scope,
            since=None if arguments.since is None else parse_when("--since", arguments.since, memory.now()),
            limit=arguments.limit,
            tokens=arguments.tokens,
            statuses=("trashed",) if arguments.trash else ("active",),
        )
        nothing = not found and not memory.count()
        # Who never installed a model is not told of it with each answer; who did is, when it does not work.
        tells = arguments.explain or not (found and memory.model_missing)
        lexical_only = memory.lexical_only if arguments.query and tells else ""
        elsewhere = memory.elsewhere([match.memory for match in found])
    if arguments.json:
        console.print_json(
            [{**serialization.to_json(one.memory), "score": one.score, "found_by": one.why} for one in found]
        )
    for match in () if arguments.json else found:
        project = elsewhere.get(match.memory.id, "")
        line = briefing.match_line(match, explain=arguments.explain, project=project)
        console.say(line if arguments.query else briefing.index_line(match.memory, project=project))
    if lexical_only and not nothing:
        console.tell(f"lexical only: {lexical_only}")
    if not found:
        console.tell(_NOTHING_YET if nothing else "no memories match")
    return 0 if found else 1


def _load(arguments: argparse.Namespace) -> int:
    with console.Memory() as memory:
        loaded = memory.load(arguments.ids)
        elsewhere = memory.elsewhere(loaded)
        past = {item.id: memory.history(item.id) for item in loaded} if arguments.history else {}
    if arguments.json:
        console.print_json([serialization.to_json(item) for item in loaded])
        return 0
    for item in loaded:
        console.say(briefing.full(item, elsewhere.get(item.id, "")))
        for revision in past.get(item.id, ()):
            before = serialization.parse(revision.before)
            console.say(f"  before {briefing.day(revision.at)} ({revision.action} by {revision.agent}): {before.text}")
    return 0


def _forget(arguments: argparse.Namespace) -> int:
    with console.Memory() as memory:
        if arguments.undo:
            if not arguments.ids:
                raise InvalidInput("ID", "is missing; --undo needs the memories to bring back")
            for reference in arguments.ids:
                answer = memory.undo(reference)
                console.say(f"{answer.action}: {briefing.index_line(answer.memory)[2:]}")
            return 0
        older = arguments.older_than
        wanted = {
            "query": arguments.query,
            "tags": arguments.tags,
            "older_than": None if older is None else parse_when("--older-than", older, memory.now()),
            "mode": arguments.mode,
        }
        listed = memory.forget(arguments.ids, **wanted, dry_run=True)
        for item in listed.memories:
            console.say(briefing.index_line(item))
        if not listed.memories:
            console.tell("no memories match")
            return 0
        if arguments.dry_run:
            console.tell(f"{len(listed.memories)} would be {listed.action}")
            return 0
        if (not arguments.ids or arguments.mode == "purge") and not arguments.yes:
            console.ask(f"{len(listed.memories)} will be {listed.action}. Go on?")
        done = memory.forget(arguments.ids, **wanted, confirmation=listed.confirmation)
    waiting = f"; queued, {done.queued} waiting for the server" if done.queued else ""
    console.say(f"{len(done.memories)} {done.action}{waiting}")
    if arguments.mode != "purge":
        console.tell("`keepmum forget --undo ID` brings one back")
    return 0


def _resume(arguments: argparse.Namespace) -> int:
    with console.Memory() as memory:
        told = memory.resume(arguments.tokens)
        known = memory.count()
    if told:
        console.say(told)
    else:
        fits = f"nothing of what is known fits into {arguments.tokens} tokens; --tokens takes more"
        console.tell(fits if known else _NOTHING_YET)
    return 0
