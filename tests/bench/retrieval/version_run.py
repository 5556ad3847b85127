"""Whether the newest version of a memory is found, and whether changes are recognised, on any data set.

    python tests/bench/retrieval/version_run.py DATA/<set>/<split> ... [--model FOLDER] [--most N]

Each change that `version_changes` makes is stored after all memories of the set, next to the memory that it changes,
and the questions that the memory answers are asked. `hidden`: the share of answers with the old version, shown or as
`previous`, that lack the new one. `newer first`: the share of answers with either version in which the new one is
before the old one. The other figures are shares of changes, and of rewordings and additions, by what the writer is
told: recognised, `skip`, called a contradiction.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of the tests

from bench import store_figures  # noqa: F401 - puts our folders on the path
from bench.retrieval.retrieval_systems import ReadOnce, filling
from bench.retrieval.version_changes import CHANGES, Variant, variants
from keepmum import open_memory
from keepmum.core import similarity
from keepmum.core.errors import SecretFound
from keepmum.core.memory import Match, Memory
from keepmum.embedding.minilm import MiniLm
from keepmum.service import MemoryService

__all__ = ["Figures", "measure"]


class Figures(NamedTuple):
    """What was counted."""

    answered: int  # answers with either version
    hidden: int
    newer_first: int
    changes: int
    recognised: int
    skipped: int
    others: int  # rewordings and additions
    called_changes: int

    def shares(self) -> dict[str, float]:
        """The figures as shares."""
        return {
            "hidden": self.hidden / max(1, self.answered),
            "newer first": self.newer_first / max(1, self.answered),
            "recognised": self.recognised / max(1, self.changes),
            "skip advised": self.skipped / max(1, self.changes),
            "false alarms": self.called_changes / max(1, self.others),
        }


def measure(folder: Path, embedder: ReadOnce | None, most: int | None = None) -> Figures:
    """The figures of one split of one set, of at most `most` changed memories."""
    memories, queries = (_lines(folder / f"{name}.jsonl") for name in ("memories", "queries"))
    counted: Counter[str] = Counter()
    asked: dict[str, list[str]] = {}
    for query in queries:
        for gold in query["gold"]:
            asked.setdefault(gold, []).append(query["query"])
    chosen = [number for number, memory in enumerate(memories) if _gold(memory) in asked][:most]
    with tempfile.TemporaryDirectory() as home, closing(open_memory(Path(home, "memory.db"), embedder)) as service:
        with filling(embedder):
            stored = {memory["id"]: kept for memory in memories if (kept := _kept(service, memory)) is not None}
        for number in chosen:
            if (old := stored.get(memories[number]["id"])) is not None:
                for variant in _variants(memories, number):
                    _count(counted, service, embedder, variant, (memories[number], old), asked)
    return Figures(**{name: counted[name] for name in Figures._fields})


def _count(  # noqa: PLR0917 - one step of a measurement
    counted: Counter[str],
    service: MemoryService,
    embedder: ReadOnce | None,
    variant: Variant,
    former: tuple[Mapping[str, Any], Memory],
    asked: Mapping[str, Sequence[str]],
) -> None:
    """Count what is said of one version while it is stored next to the former one."""
    memory, old = former
    with filling(embedder):
        new = _kept(service, {**memory, "title": variant.title or None, "text": variant.text})
    if new is None:
        return
    _count_advice(counted, variant, similarity.compare(new, old, 0.9))
    if variant.kind in CHANGES:
        for question in asked[_gold(memory)]:
            _count_answer(counted, service.recall(question), old.id, new.id)
    service.forget([new.id], mode="purge")


def _count_advice(counted: Counter[str], variant: Variant, compared: similarity.Similar) -> None:
    if variant.kind in CHANGES:
        counted["changes"] += 1
        counted["recognised"] += compared.contradicts
        counted["skipped"] += compared.advice == "skip"
    else:
        counted["others"] += 1
        counted["called_changes"] += compared.contradicts


def _count_answer(counted: Counter[str], matches: Sequence[Match], old: str, new: str) -> None:
    shown = [match.memory.id for match in matches]
    before = [match.previous.id for match in matches if match.previous is not None]
    if old not in shown + before and new not in shown:
        return
    counted["answered"] += 1
    counted["hidden"] += new not in shown
    counted["newer_first"] += new in shown and (old not in shown or shown.index(new) < shown.index(old))


def _variants(memories: Sequence[Mapping[str, Any]], number: int) -> Iterator[Variant]:
    memory, lender = memories[number], memories[(number * 7 + 3) % len(memories)]
    return variants(memory.get("title") or "", memory["text"], lender["text"], str(memory["id"]))


def _kept(service: MemoryService, memory: Mapping[str, Any]) -> Memory | None:
    """The memory as it is stored; None when it is refused, or stored already."""
    given: dict[str, Any] = {name: memory[name] for name in ("title", "tags", "session") if memory.get(name)}
    try:
        kept = service.remember(memory["text"], **given)
    except SecretFound:
        return None
    return kept.memory if kept.action == "created" else None


def _gold(memory: Mapping[str, Any]) -> str:
    return str(memory.get("parent") or memory["id"])


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures of each set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", help="a split of a set each")
    parser.add_argument("--model", type=Path, help="folder of the installed model; search by words when missing")
    parser.add_argument("--most", type=int, help="changed memories of each set")
    options = parser.parse_args(argv)
    embedder = ReadOnce(MiniLm.open(str(options.model))) if options.model else None
    for folder in options.folders:
        figures = measure(folder, embedder, options.most)
        shares = ", ".join(f"{name} {share:.3f}" for name, share in figures.shares().items())
        print(f"{folder.parent.name}: {figures.answered} answers, {figures.changes} changes: {shares}", flush=True)  # noqa: T201 - a report
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
