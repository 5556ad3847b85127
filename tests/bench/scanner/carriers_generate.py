"""Generated notes with and without credentials: sentences, chats, logs, commits, tables and files in many languages.

`generate("train")` uses the grammars of `carriers_grammars`; `generate("held")` those of `carriers_held`, which no rule
and no model may be made with. Each grammar has honest twins: the same words without a credential.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from bench.scanner.carriers_grammars import GRAMMARS, Grammar
from bench.scanner.carriers_held import HELD
from bench.scanner.carriers_values import HARMLESS, SECRETS
from bench.scanner.corpus import Row

__all__ = ["SPLITS", "generate", "held_rows", "rows"]

SPLITS = {"train": GRAMMARS, "held": HELD}
_PASSWORDS = tuple(name for name in SECRETS if name.startswith("password"))
_SHAPES = {"password": _PASSWORDS, "token": (*_PASSWORDS, "random"), "pin": ("pin",), "phrase": ("phrase",)}
_ROWS_OF_RUN = 1200  # that the harness adds to its own
_SLOTS = {
    "sys": "billing harbor lantern meridian orchard pelican quarry tundra osprey payroll wiki nas vpn grafana".split(),
    "user": "ana kolja root deploy svc-ci backup admin mika li.wei jenkins oscar".split(),
    "host": "gw1 db-02 print01 pg-main 10.12.0.7 nas.local k3s-master intranet build-arm".split(),
    "env": "prod staging qa dev sandbox preprod".split(),
    "date": "2026-03-21 2026-07-02 2025-11-30 2026-01-15".split(),
    "time": "09:14 10:41 23:05 17:32".split(),
}
# Sentences around a carrier, none of which names a credential.
_AROUND = (
    "",
    "",
    "",
    "The deploy runs every night and takes 12 minutes.",
    "Backups go to the second region.",
    "Kolja prefers tabs in Makefiles.",
    "## Notes\n",
    "We decided to keep the old queue until the migration ends.",
    "Die Umstellung ist für Montag geplant.",
    "- [ ] check the disk of the build machine",
    "```sh\nmake test\n```",
    "Commit 4f2c91e broke the build of the docs.",
)


def generate(seed: int, count: int, split: str = "train") -> list[Row]:
    """`count` rows, the same at every call; every second one is a twin without a credential.

    Raises: KeyError when there is no such split.
    """
    rng = random.Random(f"{split}-{seed}")
    grammars = SPLITS[split]
    return [_row(rng, grammars[number // 2 % len(grammars)], number, split) for number in range(count)]


def rows(rng: random.Random) -> Iterator[Row]:
    """Rows of the grammars for training, for a run of the harness."""
    yield from generate(rng.randrange(1 << 30), _ROWS_OF_RUN)


def held_rows(rng: random.Random) -> Iterator[Row]:
    """Rows of the grammars that are held back."""
    yield from generate(rng.randrange(1 << 30), _ROWS_OF_RUN, "held")


def _row(rng: random.Random, grammar: Grammar, number: int, split: str) -> Row:
    secret = number % 2 == 0
    template = rng.choice(grammar.secrets if secret else grammar.twins)
    shape, value = _value(rng, grammar) if secret else ("", "")
    text = template.replace("[v]", value)
    for name, words in _SLOTS.items():
        while f"[{name}]" in text:
            text = text.replace(f"[{name}]", rng.choice(words), 1)
    for name, make in HARMLESS.items():
        while f"[{name}]" in text:
            text = text.replace(f"[{name}]", make(rng), 1)
    parts = [rng.choice(_AROUND), text, rng.choice(_AROUND)]
    return Row(
        id=f"generated-{split}-{number}",
        text="\n\n".join(filter(None, parts)),
        label="secret" if secret else "benign",
        kind="note",
        source=grammar.name,
        template=grammar.name if secret else "",
        value=value,
        context=grammar.context if secret else "keyword",
        stratum="" if secret else "twin",
        shape=shape,
        permissive=True,
    )


def _value(rng: random.Random, grammar: Grammar) -> tuple[str, str]:
    """Shape and text of a value that fits `grammar`; a list of codes is one value."""
    if grammar.kind == "codes":
        return "code", grammar.joint.join(SECRETS["code"](rng) for _ in range(rng.randint(3, 8)))
    shape = rng.choice(_SHAPES[grammar.kind])
    return shape, SECRETS[shape](rng)
