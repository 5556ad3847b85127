"""Makes newer versions of memories for `version_run`: true changes, and texts that change nothing that was said.

A change alters a number, a negation, or one thing for another. A rewording says the same in other words, and an
addition says more. Everything is chosen by a seed, so that two runs measure the same.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

__all__ = ["CHANGES", "Kind", "Variant", "variants"]

Kind = Literal["number", "negation", "swap", "rewording", "addition"]
CHANGES: frozenset[Kind] = frozenset({"number", "negation", "swap"})

_DIGITS = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*")
_COUNTS = (
    "two three four five six seven eight nine ten twelve fifteen twenty thirty forty fifty sixty ninety hundred".split()
)
_COUNT = re.compile(rf"\b(?:{'|'.join(_COUNTS)})\b", re.IGNORECASE)
# Things of one sort: each can stand for the others.
_SORTS = [
    group.split(", ")
    for group in (
        "Postgres, MySQL, Oracle, SQLite, MongoDB, MariaDB, CockroachDB",
        "PostgreSQL, Cassandra, DynamoDB",
        "Redis, Memcached, Valkey, Hazelcast",
        "Kafka, RabbitMQ, NATS, Pulsar, SQS",
        "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday",
        "January, March, May, June, September, December",
        "staging, production, preview",
        "tabs, spaces",
        "JSON, YAML, TOML, XML, CSV",
        "REST, GraphQL, gRPC, SOAP",
        "pytest, unittest, nose, Vitest, Jest",
        "npm, pnpm, yarn, bun",
        "Docker, Podman, containerd",
        "Python, Go, Rust, Java, Kotlin, TypeScript",
        "FastAPI, Flask, Django, Starlette",
        "client, server, proxy, worker, scheduler, gateway, controller",
        "request, response, session, transaction, message, event, job, batch",
        "user, customer, tenant, admin, owner, reviewer, manager",
        "before, after",
        "first, last",
        "read, write",
        "enabled, disabled",
        "allow, deny",
        "minimum, maximum",
        "synchronous, asynchronous",
        "public, private, internal",
        "seconds, minutes, hours, days, weeks",
        "Berlin, Lisbon, Oslo, Vienna",
        "kitchen, cellar, garage, attic",
        "morning, evening, afternoon",
        "left, right",
        "blue, green, red, yellow",
        "nurse, doctor, pharmacist, receptionist",
        "email, phone, fax, letter",
    )
]
_SORT_OF = {name.lower(): group for group in _SORTS for name in group}
_NAMES = re.compile(r"\b(?:[a-z]+_[a-z_]+|[A-Z][a-z]+[A-Z]\w+|(?<=[a-z,] )[A-Z][a-z]+)\b")
_LONG = re.compile(r"\b[a-z]{6,}\b")
_JOINING = frozenset("before because instead should during between through against without".split())
_AUXILIARY = re.compile(r"\b(is|are|was|must|should|can|will|has to|have to|may)\b(?! (?:not|never|no)\b)")
_CONTRACTED = {"is": "isn't", "are": "aren't", "was": "wasn't", "must": "mustn't", "should": "shouldn't",
               "can": "can't", "will": "won't"}  # fmt: skip
_DENIED = re.compile(r"\b(?:is not|are not|isn't|aren't|do not|don't|does not|never|must not|cannot|should not)\b")
_AFFIRMED = {"is not": "is", "are not": "are", "isn't": "is", "aren't": "are", "do not": "", "don't": "",
             "does not": "", "never": "always", "must not": "must", "cannot": "can",
             "should not": "should"}  # fmt: skip
_VERB = re.compile(
    r"\b(uses|use|runs|run|keeps|keep|stores|store|returns|return|allows|allow|requires|require|sends|send|accepts|"
    r"accept|checks|check|records|record|needs|need|validate|validates|expires|expire|caches|cache|retries|retry|"
    r"goes|go|reads|writes|contains|holds|hold|starts|start|stops|deploys|deploy|emits|emit|rejects|reject|wants|"
    r"counts|preserve|preserves|open|opens|close|closes|serve|serves|wash|lock|locks|call|calls|pay|pays)\b"
)
_STEMS = {"goes": "go", "retries": "retry", "uses": "use", "caches": "cache", "closes": "close"}
_SAME_MEANING = [
    pair.split("/")
    for pair in (
        "use/utilise", "uses/relies on", "keep/retain", "keeps/holds on to", "must/has to", "because/since",
        "before/prior to", "after/following", "start/begin", "starts/begins", "fails/breaks", "fail/break",
        "need/require", "needs/requires", "only/solely", "every/each", "also/as well", "show/display",
        "remove/delete", "removes/deletes", "returns/gives back", "return/give back", "check/verify",
        "checks/verifies", "make/create", "stores/saves", "store/save", "large/big", "small/little", "quickly/fast",
        "via/through", "but/yet", "so that/in order that", "about/roughly", "wants/would like", "sends/transmits",
        "runs/executes", "run/execute", "ask/contact", "whole/entire", "should/ought to", "such as/like",
        "database/DB", "configuration/config", "repository/repo", "documentation/docs", "application/app",
        "environment/env", "authentication/auth", "do not/don't", "does not/doesn't", "is not/isn't",
        "cannot/can't", "are not/aren't", "limit/cap", "rejects/refuses", "allows/permits", "records/logs",
        "until/till", "stays/remains", "purchase/buy", "while/whilst", "per/for each", "and then/then",
    )
]  # fmt: skip
_OPENINGS = ("Note: ", "Remember that ", "As agreed, ", "FYI: ", "For the record: ", "Reminder: ", "Decision: ")
_CLOSINGS = (" (agreed in review)", ", as discussed", " - please follow this", ", as before", " (still valid)")
_MORE = (
    " Ask the platform team when in doubt.", " This was agreed in the weekly review.",
    " See the wiki page for the background.", " It came up again in the March incident.",
    " The reason is cost, not speed.", " Ada wrote it down after the audit.",
    " This has been stable since release 14.", " Nobody has complained so far.", " The rollout took 3 days.",
    " It does not apply to archived projects.", " A dashboard shows the current state.",
)  # fmt: skip


class Variant(NamedTuple):
    """A newer version of a memory."""

    kind: Kind
    how: str  # what was altered, for a report
    title: str
    text: str


def variants(title: str, text: str, other: str, seed: str) -> Iterator[Variant]:
    """Versions of a memory of every kind that its text allows; `other` is a text that lends it words."""
    for kind, make in _MAKERS:
        dice = random.Random(f"{seed} {kind} {make.__name__}")
        made = make(text, other, dice)
        if made is None or made[1] == text:
            continue
        how, newer = made
        changed_title = title
        if kind in CHANGES and " -> " in how:
            before, after = how.split(" -> ")
            if before in title and dice.random() < 0.8:
                changed_title = re.sub(rf"\b{re.escape(before)}\b", after, title)
        yield Variant(kind, f"{make.__name__.strip('_')}: {how}", changed_title, newer)


_Made = tuple[str, str] | None
_Maker = Callable[[str, str, random.Random], _Made]


def _one_number(text: str, _: str, dice: random.Random) -> _Made:
    found = list(_DIGITS.finditer(text))
    if not found:
        return None
    spot = dice.choice(found)
    return _replaced(text, spot.group(), _other_number(spot.group(), dice))


def _every_number(text: str, _: str, dice: random.Random) -> _Made:
    found = dict.fromkeys(_DIGITS.findall(text))
    if len(found) < 2:
        return None
    return "all numbers", _DIGITS.sub(lambda spot: _other_number(spot.group(), dice), text)


def _number_word(text: str, _: str, dice: random.Random) -> _Made:
    found = _COUNT.findall(text)
    if not found:
        return None
    spot = dice.choice(found)
    return _replaced(text, spot, dice.choice([count for count in _COUNTS if count != spot.lower()]))


def _other_number(number: str, dice: random.Random) -> str:
    """Another number of the same form."""
    *start, last = re.split(r"([.,:])", number)
    value = int(last)
    if ":" in number:
        last = f"{(value + dice.choice([15, 30, 45])) % 60:02d}"
    elif "," in number:
        last = f"{(value + dice.choice([100, 250, 500])) % 1000:03d}"
    else:
        last = str(dice.choice([value + 1, value * 2 + 1, value + 10, max(0, value - 1) if value > 1 else value + 3]))
    return "".join([*start, last])


def _auxiliary(text: str, _: str, dice: random.Random) -> _Made:
    spot = _AUXILIARY.search(text)
    if spot is None:
        return None
    word = spot[1]
    forms = [f"{word} not", f"{word} no longer", f"{word} never"]
    if word in _CONTRACTED:
        forms += [_CONTRACTED[word]] * 2
    return word, text[: spot.start(1)] + dice.choice(forms) + text[spot.end(1) :]


def _verb(text: str, _: str, dice: random.Random) -> _Made:
    spot = _VERB.search(text)
    if spot is None:
        return None
    word = spot[1]
    stem = _STEMS.get(word, word.removesuffix("s"))
    do = "does" if word.endswith("s") else "do"
    forms = [f"{do} not {stem}", f"{do}n't {stem}", f"never {word}", f"no longer {word}"]
    return word, text[: spot.start(1)] + dice.choice(forms) + text[spot.end(1) :]


def _without_denial(text: str, _: str, __: random.Random) -> _Made:
    spot = _DENIED.search(text)
    if spot is None:
        return None
    affirmed = _AFFIRMED[spot.group()]
    return spot.group(), re.sub("  +", " ", text[: spot.start()] + affirmed + text[spot.end() :])


def _same_sort(text: str, _: str, dice: random.Random) -> _Made:
    found = [word for word in re.findall(r"\b\w+\b", text) if word.lower() in _SORT_OF]
    if not found:
        return None
    word = dice.choice(found)
    return _replaced(text, word, dice.choice([name for name in _SORT_OF[word.lower()] if name.lower() != word.lower()]))


def _other_name(text: str, other: str, dice: random.Random) -> _Made:
    found, lent = _NAMES.findall(text), _NAMES.findall(other)
    if not found or not lent:
        return None
    return _replaced(text, dice.choice(found), dice.choice(lent))


def _lent_word(text: str, other: str, dice: random.Random) -> _Made:
    """A long word of the second half replaced by one of another text."""
    words = [word for word in _LONG.findall(text[len(text) // 2 :]) if word not in _JOINING]
    lent = [word for word in _LONG.findall(other) if word not in text and word not in _JOINING]
    if not words or not lent:
        return None
    return _replaced(text, dice.choice(words), dice.choice(lent))


def _opening(text: str, _: str, dice: random.Random) -> _Made:
    first = text[0] if text[:2].isupper() else text[0].lower()
    return "opening", dice.choice(_OPENINGS) + first + text[1:]


def _closing(text: str, _: str, dice: random.Random) -> _Made:
    return "closing", text.rstrip(".") + dice.choice(_CLOSINGS) + "."


def _other_words(text: str, _: str, dice: random.Random, most: int = 4) -> _Made:
    """Up to four expressions replaced by others of the same meaning."""
    pairs = [pair for pair in _SAME_MEANING for pair in (pair, pair[::-1])]
    dice.shuffle(pairs)
    done: list[str] = []
    for before, after in pairs:
        newer = re.sub(rf"(?<![\w./#-]){re.escape(before)}(?![\w/#-]|\.\w)", f"\x00{after}\x00", text)
        if newer != text and len(done) < most and "\x00" not in before:
            text, done = newer, [*done, f"{before}={after}"]
    return (", ".join(done), text.replace("\x00", "")) if done else None


def _one_other_word(text: str, other: str, dice: random.Random) -> _Made:
    return _other_words(text, other, dice, most=1)


def _turned(text: str, _: str, __: random.Random) -> _Made:
    """The reason or the condition first."""
    for word in ("because", "so that", "before", "after", "until", "when", "if", "unless", "since"):
        spot = re.fullmatch(rf"([^.;]+?),? ({word}) ([^.;]+)\.", text)
        if spot is not None:
            start, reason = spot[1], spot.group(3)
            start = start if start[:2].isupper() else start[0].lower() + start[1:]
            return "turned", f"{word.capitalize()} {reason}, {start}."
    return None


def _reordered(text: str, _: str, __: random.Random) -> _Made:
    sentences = re.split(r"(?<=[.;]) ", text)
    if len(sentences) < 2:
        return None
    return "reordered", " ".join([*sentences[1:], sentences[0]])


def _more(text: str, _: str, dice: random.Random) -> _Made:
    return "a sentence", text.rstrip() + dice.choice(_MORE)


def _other_text(text: str, other: str, __: random.Random) -> _Made:
    return "another text", f"{text.rstrip()} {other.partition('. ')[0]}"


def _replaced(text: str, before: str, after: str) -> _Made:
    return f"{before} -> {after}", re.sub(rf"(?<!\w){re.escape(before)}(?!\w)", lambda _: after, text)


_MAKERS: Sequence[tuple[Kind, _Maker]] = (
    ("number", _one_number), ("number", _every_number), ("number", _number_word),
    ("negation", _auxiliary), ("negation", _verb), ("negation", _without_denial),
    ("swap", _same_sort), ("swap", _other_name), ("swap", _lent_word),
    ("rewording", _opening), ("rewording", _closing), ("rewording", _other_words), ("rewording", _one_other_word),
    ("rewording", _turned), ("rewording", _reordered),
    ("addition", _more), ("addition", _other_text),
)  # fmt: skip
