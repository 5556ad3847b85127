"""Tokens of an answered question: `recall`, and `load` where the answer is only listed, over notes of one project.

The tokens are those of o200k, counted by a package from npm; without npm they are estimated at four bytes each.
`answers.jsonl` holds memories and the questions that each of them answers.

python tests/bench/answer_tokens.py [--quick]       without --quick also prints each answer with the longest texts
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench.store_figures import ROOT, Row, is_quick, print_table
from clients import npm
from keepmum import open_memory
from keepmum.core import ids
from keepmum.core.ranking import estimate_tokens
from keepmum.embedding.base import Embedder
from keepmum.mcp.dialects.keepmum import SURFACE
from keepmum.mcp.dialects.keepmum.handlers import MemoryHandlers
from keepmum.mcp.surface import Context
from keepmum.service import MemoryService

__all__ = ["rows"]

_DATA = Path(__file__).with_name("answers.jsonl")
_COUNT = """
const {encode} = require(process.argv[1]);
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => encode(text).length)));
"""
_LISTED = "`load` for"
_FIRST = 3


class Asked(NamedTuple):
    """One question, and what the tools answered."""

    question: str
    answers: tuple[str, ...]  # of `recall`, and of `load` when that was needed
    place: int  # of the memory that answers, from 1; 0 when it is not in the answer


def rows(*, quick: bool) -> Iterator[Row]:
    """The mean over all questions, with a model where one can be fetched; how often the answer is there; the tools."""
    unit, count = _counter()
    for name, embedder in _embedders():
        asked = _answers(embedder)
        costs = count(["\n".join(each.answers) for each in asked])
        mean, most = statistics.fmean(costs), max(costs)
        target = "<= 300 on average" if embedder else ""
        yield Row(f"{unit} of an answered question, {name}", f"{mean:.0f}, at most {most}", target, mean <= 300 or None)
        loads = sum(len(each.answers) > 1 for each in asked) / len(asked)
        found = sum(0 < each.place <= _FIRST for each in asked) / len(asked)
        yield Row("the same: answered without `load`; among the first three", f"{1 - loads:.3f}; {found:.3f}", "")
        if not quick:
            for cost, each in sorted(zip(costs, asked, strict=True))[-5:]:
                sys.stdout.write(f"\n{cost} {each.question}\n" + "\n".join(each.answers) + "\n\n")
    (tools,) = count([json.dumps({"tools": [tool.to_wire() for tool in SURFACE.tools]}, ensure_ascii=False)])
    yield Row(f"{unit} of tools/list", f"{tools}", "<= 1300", tools <= 1300)


def _embedders() -> Iterator[tuple[str, Embedder | None]]:
    """No model, and the published one unless it cannot be fetched."""
    from embedding_models import Unavailable, installed, published
    from keepmum.embedding.minilm import MiniLm

    cache = ROOT / ".cache" / "models"
    yield "lexical", None
    try:
        yield "lexical and vector", MiniLm.open(str(installed(cache, published(cache))))
    except Unavailable as reason:
        sys.stderr.write(f"no figures of the model: {reason}\n")


def _answers(embedder: Embedder | None) -> list[Asked]:
    """Each question, asked by way of the tools."""
    known = [json.loads(line) for line in _DATA.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        memory = open_memory(Path(folder, "memory.db"), embedder, project="desk", agent="claude-code")
        handlers = MemoryHandlers(memory, Context(agent="claude-code"))
        try:
            shown = _keep(memory, known)
            return [_ask(handlers, question, shown[each["id"]]) for each in known for question in each["questions"]]
        finally:
            handlers.close()


def _keep(memory: MemoryService, known: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The ids of the stored memories as answers show them, by the data's ids."""
    fields = ("title", "why", "kind", "key", "tags")
    stored = {
        each["id"]: memory.remember(each["text"], **{name: each[name] for name in fields if name in each}).memory.id
        for each in known
    }
    short = ids.shortened(stored.values())
    return {name: short[whole] for name, whole in stored.items()}


def _ask(handlers: MemoryHandlers, question: str, wanted: str) -> Asked:
    context = Context(agent="claude-code")
    answer = handlers.call("recall", {"query": question}, context)
    entries = [line for line in answer.split("\n") if line.startswith("- ")]
    place = next((number for number, line in enumerate(entries, 1) if f"({wanted}" in line), 0)
    if place and _LISTED in entries[place - 1]:
        return Asked(question, (answer, handlers.call("load", {"ids": [wanted]}, context)), place)
    return Asked(question, (answer,), place)


def _counter() -> tuple[str, Any]:
    """The name of the unit, and a function that counts it in each of several texts."""
    try:
        package = npm.fetched(
            ROOT / ".cache" / "clients", "gpt-tokenizer", npm.GPT_TOKENIZER, "gpt-tokenizer/package.json"
        )
    except npm.Unavailable as reason:
        sys.stderr.write(f"tokens are estimated: {reason}\n")
        return "estimated tokens", lambda texts: [estimate_tokens(text) for text in texts]
    module = package.parent / "cjs" / "encoding" / "o200k_base.js"

    def count(texts: Sequence[str]) -> list[int]:
        command = ["node", "-e", _COUNT, str(module)]
        done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True, timeout=120)
        counted: list[int] = json.loads(done.stdout)
        return counted

    return "o200k tokens", count


if __name__ == "__main__":
    print_table(rows(quick=is_quick(__doc__)))
