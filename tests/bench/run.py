"""All benchmarks in one table: what | measured | target | ok. It only reports: the exit status is 0.

    python tests/bench/run.py [--quick]

A benchmark is a module of this folder with `rows(quick=…)` and a line in `BENCHES`. Those of the hooks and the scanner
print more when run alone.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of the tests

from bench import (
    answer_tokens,
    backends_start,
    dashboard_views,
    embedding_bench,
    guard_bench,
    hooks_bench,
    markdown_figures,
    rest_recall,
    review_queue,
    server_start,
    store_crash,
    store_recall,
    store_writers,
)
from bench.scanner import scanner_rows
from bench.store_figures import ROOT, Row, is_quick, print_table

ROUNDS = 60
_HEAVY = "Stop, 50 MB transcript, 100,000 memories"
_CODEX = "Stop of Codex, 50 MB transcript"
_BRIEFED = "SessionStart with a briefing, 100,000 memories"
HOOKS = (
    ("Stop hook / bare interpreter", "Stop", hooks_bench.FLOOR, 1.35),
    ("Stop hook with 50 MB transcript / without", _HEAVY, "Stop", 1.1),
    (
        "Stop hook of Codex, which reads the transcript's end",
        "Stop of Codex, 50 MB transcript",
        hooks_bench.FLOOR,
        1.35,
    ),
    ("SessionStart hook / bare interpreter", _BRIEFED, hooks_bench.FLOOR, 1.35),
    ("guard hook, 2 KiB of prose", "Guard, 2 KiB of prose for another memory", hooks_bench.FLOOR, 1.6),
    ("guard hook, 2 KiB of names and ids", "Guard, 2 KiB of names, paths and ids for one", hooks_bench.FLOOR, 1.6),
    ("guard hook, 2 KiB with a secret", "Guard, 2 KiB with a secret, refused", hooks_bench.FLOOR, 1.6),
)


def hooks(*, quick: bool) -> Iterator[Row]:
    """The hooks as ratios to a bare interpreter, and to themselves without a transcript and memories."""
    with hooks_bench.scene() as folder:
        variables = {
            "PATH": "", "HOME": str(folder), "KEEPMUM_HOME": str(folder / "home"),
            "AI_AGENT": "claude-code_2-1-329_harness", "CLAUDE_CODE_SESSION_ATTENDED": "1",
        }  # fmt: skip
        cases = hooks_bench.cases(folder)
        for turn in range((ROUNDS // 3 if quick else ROUNDS) + hooks_bench.WARMING):
            for case in cases:
                case.run(sys.executable, variables, turn)
    wall = {case.name: statistics.median(case.wall[hooks_bench.WARMING :]) for case in cases}
    for what, one, reference, target in HOOKS:
        ratio = wall[one] / wall[reference]
        yield Row(what, f"{ratio:.2f} x", f"<= {target} x", ratio <= target)


BENCHES: Mapping[str, Callable[..., Iterator[Row]]] = {
    "hooks": hooks,
    "server_start": server_start.rows,
    "guard": guard_bench.rows,
    "scanner": scanner_rows.rows,
    "embedding": embedding_bench.rows,
    "answer_tokens": answer_tokens.rows,
    "review_queue": review_queue.rows,
    "dashboard": dashboard_views.rows,
    "store_recall": store_recall.rows,
    "store_writers": store_writers.rows,
    "store_crash": store_crash.rows,
    "rest_recall": rest_recall.rows,
    "markdown": markdown_figures.rows,
    "backends": backends_start.rows,
}


def main() -> int:
    """Print the table, then the scanner's own tables unless they would take too long."""
    quick = is_quick(__doc__)
    print_table(row for bench in BENCHES.values() for row in bench(quick=quick))
    if not quick:
        subprocess.run([sys.executable, str(ROOT / "tests" / "bench" / "scanner_bench.py")], check=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
