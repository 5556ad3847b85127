"""What it costs to know again what earlier sessions settled: `resume` and recalls, beside reading the transcripts.

    python tests/bench/retrieval/saving.py DATA/<set>/<split> [--model FOLDER]

Each session of the set is kept as it was said, one memory an exchange. A session then starts with `resume`, and asks
each question of the set with one `recall` of five memories, and a `load` of those of the first three that it only
lists. Tokens are estimated as the product does it: four bytes each.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of the tests

from bench import store_figures  # noqa: F401 - puts our folders on the path
from bench.retrieval.retrieval_data import Space, load
from keepmum import open_memory
from keepmum.core import memory_text
from keepmum.core.errors import SecretFound
from keepmum.core.ranking import estimate_tokens
from keepmum.embedding.minilm import MiniLm
from keepmum.service import MemoryService, ServiceOptions

_LISTED, _LOADED = 5, 3
_RESUMED = 1000  # tokens, at most


def main() -> int:
    """Print the tokens of each way, and how often what was loaded answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path)
    arguments = parser.parse_args()
    print("space | replay | resume | a question, median | saved at the start | saved with ten questions | answered")  # noqa: T201 - a report
    for space in load(arguments.data):
        with tempfile.TemporaryDirectory() as folder:
            embedder = MiniLm.open(str(arguments.model)) if arguments.model else None
            with open_memory(Path(folder, "memory.db"), embedder, project="saving") as memory:
                print(_compared(memory, space))  # noqa: T201 - a report
    return 0


def _compared(memory: MemoryService, space: Space) -> str:
    kept = _keep(memory, space)
    replay = sum(estimate_tokens(str(said["text"])) for said in space.memories)
    resume = estimate_tokens(memory.resume(_RESUMED))
    costs, answered = [], 0
    for question in space.questions:
        found = memory.recall(question.text, limit=_LISTED)
        loaded = [match.memory for match in found[:_LOADED]]
        answer = memory_text.matches(found, {}, ServiceOptions().recall_tokens)
        listed = [each for each, entry in zip(loaded, answer.entries, strict=False) if "`load` for" in entry]
        costs.append(estimate_tokens(answer.framed) + sum(estimate_tokens(each.text) for each in listed))
        names = {kept[each.id] for each in loaded}
        answered += bool(question.grades.keys() & {space.parents.get(name, name) for name in names})
    median = statistics.median(costs)
    return (
        f"{space.memories[0]['ns']} | {replay} | {resume} | {median:.0f} | {1 - resume / replay:.1%} | "
        f"{1 - (resume + 10 * median) / replay:.1%} | {answered / len(space.questions):.1%}"
    )


def _keep(memory: MemoryService, space: Space) -> Mapping[str, str]:
    """The data's ids by ours; what holds a secret is refused, as in use."""
    kept: dict[str, str] = {}
    for said in space.memories:
        fields: dict[str, Any] = {name: said[name] for name in ("title", "session") if said.get(name)}
        try:
            kept.setdefault(memory.remember(text=str(said["text"]), **fields).memory.id, str(said["id"]))
        except SecretFound:
            continue
    return kept


if __name__ == "__main__":
    raise SystemExit(main())
