"""Measures the scanner on labelled texts, fold by fold.

    python tests/bench/scanner [CORPUS …] [--side NAME] [--sources] [--ablate [FAMILY …]] [--json]

CORPUS is a file of JSON lines as `corpus.py` describes them; without one, the texts are generated. For each class the
table shows the share of refused texts over all rows, the mean of the folds and the worst fold, for both partitions.
--side takes only the rows of one side of a corpus. --sources lists each source, worst first. --ablate shows what each
class loses or gains without a rule family, and in how many sources the family helps or harms.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "scanner"), str(ROOT / "tests")]

from bench.scanner.corpus import Row, digest, read  # noqa: E402 - the path must come first
from bench.scanner.families import FAMILIES, without  # noqa: E402 - same
from bench.scanner.figures import figures  # noqa: E402 - same
from bench.scanner.generated import generated  # noqa: E402 - same
from bench.scanner.markdown import shown, table  # noqa: E402 - same
from keepmum_scanner import scan  # noqa: E402 - same

FEWEST = 20  # rows of a source that is listed


def measured(rows: Sequence[Row]) -> tuple[dict[str, bool], list[float]]:
    """Whether the scanner refuses each row, by id, and the microseconds of CPU time of each scan."""
    hits, times = {}, []
    scan("warm up")
    for row in rows:
        start = time.thread_time()
        hits[row.id] = bool(scan(row.text))
        times.append((time.thread_time() - start) * 1e6)
    return hits, sorted(times)


def by_source(rows: Sequence[Row], hits: Mapping[str, bool]) -> Iterator[str]:
    """Recall and false positives of each source, worst first."""
    parts: dict[tuple[str, str], list[bool]] = {}
    for row in rows:
        if row.label in {"secret", "benign"}:
            parts.setdefault((row.label, row.source), []).append(hits[row.id] == row.is_secret)
    for (label, source), right in sorted(parts.items(), key=lambda one: statistics.mean(one[1])):
        if len(right) >= FEWEST:
            yield f"{label:7} {source:50} {statistics.mean(right):.4f} right of {len(right)}"


def ablated(rows: Sequence[Row], families: Sequence[str]) -> Iterator[str]:
    """What each class loses or gains without a family, and in how many sources the family helps."""
    hits, _ = measured(rows)
    whole = figures(rows, hits)
    names = [name for name, share in whole.items() if share is not None]
    yield "| without | " + " | ".join(names) + " | sources helped | harmed |"
    yield "|---" * (len(names) + 3) + "|"
    for family in families:
        with without(family):
            found, _ = measured(rows)
        parts = figures(rows, found)
        changes = [shown(name, (parts[name] or 0) - (whole[name] or 0), change=True) for name in names]
        helped, harmed = _sources_changed(rows, hits, found)
        yield f"| {family} | " + " | ".join(changes) + f" | {helped} | {harmed} |"


def _sources_changed(
    rows: Sequence[Row], with_it: Mapping[str, bool], without_it: Mapping[str, bool]
) -> tuple[int, int]:
    """In how many sources a family gets more rows right than its absence, and in how many fewer."""
    balance: dict[str, int] = {}
    for row in rows:
        if row.label in {"secret", "benign"} and with_it[row.id] != without_it[row.id]:
            balance[row.origin] = balance.get(row.origin, 0) + (1 if with_it[row.id] == row.is_secret else -1)
    return sum(one > 0 for one in balance.values()), sum(one < 0 for one in balance.values())


def main() -> int:
    """Print what was asked for; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", type=Path, metavar="CORPUS")
    parser.add_argument("--side", default="")
    parser.add_argument("--sources", action="store_true")
    parser.add_argument("--ablate", nargs="*", metavar="FAMILY", choices=[*FAMILIES])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [row for path in options.corpora for row in read(path)] or generated()
    rows = [row for row in rows if options.side in {"", row.side}]
    if options.ablate is not None:
        print("\n".join(ablated(rows, options.ablate or [*FAMILIES])))
        return 0
    hits, times = measured(rows)
    if options.json:
        print(json.dumps(figures(rows, hits)))
        return 0
    for path in options.corpora:
        print(f"{path.name}: {digest(path)}")
    print("\n".join(table(rows, hits)))
    middle, slow = times[len(times) // 2], times[len(times) * 99 // 100]
    print(f"\n{len(rows)} texts, median {middle:.0f} µs, 99 in 100 within {slow:.0f} µs")
    if options.sources:
        print("\n".join(["", *by_source(rows, hits)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
