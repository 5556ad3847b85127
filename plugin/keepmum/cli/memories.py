"""`keepmum remember`, `recall`, `load`, `forget` and `resume`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from keepmum.cli import console, terminal
from keepmum.core import briefing, memory_text, serialization, trust
from keepmum.core.errors import Ambiguous, InvalidInput, NotFound
from keepmum.core.framing import folded, word
from keepmum.core.memory import KINDS, SCOPES, SOURCE_KINDS, TRUSTED, JsonValue, Match
from keepmum.core.when import parse_when
from keepmum.service import MemoryService, Wanted

__all__ = ["register"]

_LIMIT = 10
_PATIENCE = 1.0  # seconds that a command may take to compare the code that memories cite
_NOTHING_YET = "there are no memories for this project yet"
_ALL_FROM_OUTSIDE = "all memories come from outside: `keepmum recall` shows them, and `keepmum review` asks about each"
_NO_MATCH = "no memory has every word of the query; `keepmum recall` finds similar ones, to be removed by id"


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    for add in (_add_remember, _add_recall, _add_load, _add_forget, _add_resume):
        add(commands)


def _add_remember(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("remember")
    command.add_argument("text", nargs="*", metavar="TEXT", help="the memory; default: standard input")
    command.add_argument("--title", help="a headline; default: the first line")
    command.add_argument("--key", help="a stable name; writing to it again replaces the memory")
    command.add_argument("--kind", choices=KINDS, metavar="KIND", help="default: note")
    command.add_argument("--why", help="the reason")
    command.add_argument("--tag", action="append", default=[], dest="tags", metavar="TAG", help="repeatable")
    command.add_argument("--scope", choices=SCOPES, metavar="SCOPE", help="default: project; global: every project")
    command.add_argument("--importance", type=float, help="0 to 1")
    command.add_argument("--supersedes", metavar="ID", help="the memory to replace")
    command.add_argument(
        "--ttl-days", type=console.days, dest="ttl_seconds", metavar="DAYS", help="days until it expires"
    )
    command.add_argument("--source", help="where the information comes from")
    command.add_argument(
        "--source-kind",
        choices=SOURCE_KINDS,
        metavar="KIND",
        help="user, agent, web, file or tool; text from web, file or tool is kept as text from outside",
    )
    command.set_defaults(run=_remember)


def _add_recall(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("recall")
    command.add_argument("query", nargs="*", metavar="QUERY", help="a question or keywords")
    command.add_argument(
        "--kind", action="append", default=[], choices=KINDS, dest="kinds", metavar="KIND", help="repeatable"
    )
    command.add_argument("--tag", action="append", default=[], dest="tags", metavar="TAG", help="any of these")
    command.add_argument("--scope", choices=(*SCOPES, "all"), metavar="SCOPE", help="default: this project and global")
    command.add_argument("--since", metavar="WHEN", help="changed since: 2026-01-31, today, 12h, 7d")
    command.add_argument(
        "--limit", type=console.positive, help="maximum number; default: those that fit best, up to 10"
    )
    command.add_argument("--tokens", type=console.positive, help="length of the answer; default: recall.tokens")
    command.add_argument("--explain", action="store_true", help="show the scores")
    command.add_argument("--trash", action="store_true", help="search the trash")
    command.add_argument("--json", action="store_true", help="print every field as JSON")
    command.set_defaults(run=_recall)


def _add_load(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("load")
    command.add_argument("ids", nargs="+", metavar="ID", help="an id, an id prefix, or a key")
    command.add_argument("--history", action="store_true", help="also show earlier versions")
    command.add_argument("--json", action="store_true", help="print every field as JSON")
    command.set_defaults(run=_load)


def _add_forget(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("forget")
    command.add_argument("ids", nargs="*", metavar="ID", help="an id, an id prefix, or a key")
    command.add_argument("--query", help="every word must occur")
    command.add_argument("--tag", action="append", default=[], dest="tags", metavar="TAG", help="all of these")
    command.add_argument("--older-than", metavar="WHEN", help="not changed since: 2026-01-31, 30d")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--archive", action="store_const", const="archive", dest="mode", help="hide from recall")
    how.add_argument("--purge", action="store_const", const="purge", dest="mode", help="remove permanently")
    how.add_argument("--undo", action="store_true", help="restore a removed memory, or revert its last change")
    command.add_argument("--dry-run", action="store_true", help="only list what would be removed")
    command.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    command.set_defaults(run=_forget, mode="trash")


def _add_resume(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("resume")
    command.add_argument("--tokens", type=console.positive, default=1500, help="maximum length; default: 1500")
    command.set_defaults(run=_resume)


def _remember(arguments: argparse.Namespace) -> int:
    text = " ".join(arguments.text) if arguments.text else console.read_text(sys.stdin)
    with console.Session() as memory:
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
            source_kind=arguments.source_kind,
        )
        memory.settle()  # updates the briefing of the next session
    done = f"queued ({answer.queued} in the queue)" if answer.queued else answer.action
    console.out(f"{done or 'unchanged'}: {memory_text.index_line(answer.memory)[2:]}")
    if answer.kept is not None:
        console.err(f"{memory_text.kept_line(answer.kept)}")
    if answer.wrong is not None:
        console.err(memory_text.wrong_line(*answer.wrong))
    return 0


def _recall(arguments: argparse.Namespace) -> int:
    with console.Session() as memory:
        memory.warm(wait=True)
        wanted = _filters(arguments, memory.now())
        found: Sequence[Match] = memory.recall(" ".join(arguments.query), limit=arguments.limit or _LIMIT, **wanted)
        if arguments.query and not (arguments.limit or arguments.json):
            found = memory_text.leading(found)
        total = 0 if arguments.query else memory.count(**wanted)
        is_empty = not found and not memory.count()
        nothing = _nothing(memory) if is_empty else "no memories match"
        # A missing model is the user's choice and not worth a message with each result; a failing one is.
        shows_reason = arguments.query and not is_empty and (arguments.explain or not (found and memory.model_missing))
        lexical_only = memory.lexical_only if shows_reason else ""
        answer = None if arguments.json else _answer(memory, found, arguments)
        memory.note_use(answer.used if answer else ())
    if answer is None:
        console.print_json([_fields(match) for match in found])
    else:
        weak = ["No memory matches this query; this is the nearest:"] if answer.is_weak else []
        terminal.page([*weak, *answer.entries])
    if lexical_only:
        console.err(f"lexical only: {lexical_only}")
    shown = len(answer.entries if answer else found)
    if found and total > shown:
        console.err(f"the latest {shown} of {total:,}; --limit and --tokens show more")
    elif answer and answer.left_out:
        console.err(f"{answer.left_out} more left out; --tokens shows more")
    if not found:
        console.err(nothing)
    return 0 if found else 1


def _filters(arguments: argparse.Namespace, now: int) -> Wanted:
    return {
        "kinds": arguments.kinds,
        "tags": arguments.tags,
        "scope": arguments.scope,
        "since": None if arguments.since is None else parse_when("--since", arguments.since, now),
        "statuses": ("trashed",) if arguments.trash else ("active",),
    }


def _fields(match: Match) -> dict[str, JsonValue]:
    """A match as JSON: every field of the memory, and why it matched."""
    why: dict[str, JsonValue] = {
        "score": match.score, "fit": round(match.fit, 3), "band": match.band, "found_by": match.why,
    }  # fmt: skip
    return {**serialization.to_json(match.memory), **why}


def _answer(memory: MemoryService, found: Sequence[Match], arguments: argparse.Namespace) -> memory_text.Answer:
    """The matches for a person at a terminal, or as agents read them."""
    memories = [match.memory for match in found]
    elsewhere, remarks = memory.elsewhere(memories), memory.remarks(memories, _PATIENCE)
    if arguments.tokens or not terminal.is_for_person():
        budget = arguments.tokens or memory.recall_tokens
        return memory_text.matches(found, elsewhere, budget, explain=arguments.explain, remarks=remarks)
    is_weak = bool(found) and all(match.band == "weak" for match in found)
    entries = terminal.cards(found, elsewhere, remarks, explain=arguments.explain)
    return memory_text.Answer(tuple(entries), tuple(one.id for one in memories), 0, is_weak)


def _load(arguments: argparse.Namespace) -> int:
    with console.Session() as memory, memory.at_owner_of(arguments.ids):
        loaded, missing = memory.load_each(arguments.ids)
        elsewhere = memory.elsewhere(loaded)
        remarks = {} if arguments.json else memory.remarks(loaded, _PATIENCE)
        shown = memory_text.full_each(loaded, elsewhere, remarks, memory.replaced(loaded))
        past = {item.id: memory.history(item.id) for item in loaded} if arguments.history else {}
    if arguments.json:
        from keepmum.service.importers.keepmum import to_json  # imports more than most commands need

        console.print_json([to_json(item, past.get(item.id, ())) for item in loaded])
    for item, text in () if arguments.json else zip(loaded, shown, strict=True):
        console.out(text)
        for revision in past.get(item.id, ()):
            before = serialization.parse({"trust": trust.first(revision.before), **revision.before})
            change = f"{memory_text.provenance(before)}; {revision.action} by {word(revision.agent)}"
            console.out(f"  before {memory_text.day(revision.at)} ({change}): {folded(before.text)}")
    return _print_missing(missing)


def _print_missing(reasons: Sequence[str]) -> int:
    """Print why ids name no memory; return the exit status."""
    for reason in reasons:
        console.err(reason)
    return 1 if reasons else 0


def _forget(arguments: argparse.Namespace) -> int:
    with console.Session() as memory, memory.at_owner_of(arguments.ids):
        if arguments.undo:
            if not arguments.ids:
                raise InvalidInput("ID", "is missing; --undo needs the ids of the memories to restore")
            return _undo(memory, arguments.ids)
        older = arguments.older_than
        wanted = {
            "query": arguments.query,
            "tags": arguments.tags,
            "older_than": None if older is None else parse_when("--older-than", older, memory.now()),
            "mode": arguments.mode,
        }
        listed = memory.forget(arguments.ids, **wanted, dry_run=True)
        for line in memory_text.index_lines(listed.memories):
            console.out(line)
        if listed.already:
            console.err(f"{listed.action} already: {console.memory_count(listed.already)}")
        if not listed.memories:
            if not listed.already:
                console.err(f"nothing was removed: {_NO_MATCH if arguments.query else 'no memories match'}")
            return 0 if listed.already else 1
        count = console.memory_count(len(listed.memories))
        if arguments.dry_run:
            console.err(f"{count} would be {listed.action}")
            return 0
        if (not arguments.ids or arguments.mode == "purge") and not arguments.yes:
            console.confirm(f"{count} will be {listed.action}. Continue?")
        done = memory.forget(arguments.ids, **wanted, confirmation=listed.confirmation)
    waiting = f"; queued, {done.queued} in the queue" if done.queued else ""
    console.out(f"{console.memory_count(len(done.memories))} {done.action}{waiting}")
    if arguments.mode != "purge":
        console.err("`keepmum forget --undo ID` restores one")
    return 0


def _undo(memory: MemoryService, references: Sequence[str]) -> int:
    """Undo the last change of each memory; one that cannot be undone does not stop the others."""
    failed = 0
    for number, reference in enumerate(references):
        try:
            answer = memory.undo(reference)
        except (NotFound, Ambiguous, InvalidInput) as error:
            if len(references) == 1:
                raise
            failed = _print_missing([f"ids[{number}]: {error}"])
        else:
            console.out(f"{answer.action}: {memory_text.index_line(answer.memory)[2:]}")
    return failed


def _nothing(memory: MemoryService) -> str:
    """That there are no memories; after damage, that none can be read: the notice says why."""
    return "no memory can be read for this project" if memory.store.notice else _NOTHING_YET


def _resume(arguments: argparse.Namespace) -> int:
    with console.Session() as memory:
        summary = memory.resume(arguments.tokens, _PATIENCE)
        count, trusted, nothing = memory.count(), memory.count(trusts=TRUSTED), _nothing(memory)
    if summary:
        # An agent that reads the output needs the frame; a person at a terminal does not.
        terminal.page([briefing.unframed(summary) if terminal.is_for_person() else summary])
    else:
        fits = f"no memory fits into {arguments.tokens} tokens; raise --tokens"
        console.err(fits if trusted else _ALL_FROM_OUTSIDE if count else nothing)
    return 0
