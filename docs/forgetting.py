"""Draw docs/forgetting.svg: a year of use, simulated with the real service and a simulated clock.

    python3 docs/forgetting.py [--check]     needs Python 3.11 and nothing else

The seed is fixed, so the picture changes only when forgetting changes.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ("plugin", "scanner", "hooks")]

from keepmum.core import retention  # noqa: E402 - found through the path above
from keepmum.core.memory import STATUSES, Memory  # noqa: E402 - same
from keepmum.service import MemoryService, Place, ServiceOptions, open_service  # noqa: E402 - same
from keepmum.stores import SqliteSpec  # noqa: E402 - same

TARGET = os.path.join(ROOT, "docs", "forgetting.svg")
WEEKS = 52
_START = 1_767_225_600_000  # 2026-01-01
_HOUR = 3_600_000
_SEED = 27
# The kinds that one project's agents store, and how often.
_KINDS = ("decision", "preference", "fact", "troubleshooting", "task", "note")
_SHARES = (15, 5, 15, 20, 20, 25)
_BRIEF_TASKS = 0.5  # share of tasks that expire after two weeks
_TWO_WEEKS = 14 * 86_400
_LOADS_PER_DAY = 2

State = str
STATES: dict[State, tuple[str, str]] = {
    "lasting": ("kept for good: decisions, preferences, facts", "#2f6f4f"),
    "fresh": ("more than half is left of it", "#58a06f"),
    "faded": ("less than half is left; ranks up to a tenth lower", "#b8d8a8"),
    "tombstoned": ("a tombstone: shown only when asked for", "#c9ccd1"),
    "trashed": ("in the trash for 30 days", "#e6a57e"),
}


def main(argv: list[str]) -> int:
    """Write the picture; with `--check`, compare it with the file."""
    drawn = draw(year())
    if argv == ["--check"]:
        with open(TARGET, encoding="utf-8") as file:
            return 0 if file.read() == drawn else 1
    with open(TARGET, "w", encoding="utf-8", newline="\n") as file:
        file.write(drawn)
    return 0


def year(watch: Callable[[MemoryService, int], None] = lambda *_: None) -> list[dict[State, int]]:
    """The number of memories per state at the end of each week; calls `watch` with service and time."""
    chance = random.Random(_SEED)  # noqa: S311 - a simulation
    clock = [_START]
    weeks: list[dict[State, int]] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Place(project="simulated", name="A year")
        options = ServiceOptions(place=place, clock=lambda: clock[0], agent="simulation")
        spec = SqliteSpec(os.path.join(folder, "memory.db"))
        with open_service(spec, lambda _: [], options) as service:
            for day in range(WEEKS * 7):
                clock[0] = _START + day * retention.DAY_MS
                _live(service, chance, day, clock)
                clock[0] = _START + (day + 1) * retention.DAY_MS
                service.sweep()
                if day % 7 == 6:
                    weeks.append(_state_counts(everything(service), clock[0]))
                    watch(service, clock[0])
    return weeks


def everything(service: MemoryService) -> Iterator[Memory]:
    """Every memory in the store, of any status."""
    return (match.memory for match in service.recall(limit=10_000, statuses=STATUSES))


def draw(weeks: Sequence[dict[State, int]]) -> str:
    """A stacked area chart of the states per week, as SVG."""
    width, height, left, top = 730, 260, 60, 20
    most = max(sum(week.values()) for week in weeks)
    x = [left + width * number / (len(weeks) - 1) for number in range(len(weeks))]
    floor = [0] * len(weeks)
    areas, legend = [], []
    for row, (state, (label, colour)) in enumerate(STATES.items()):
        ceiling = [low + week[state] for low, week in zip(floor, weeks, strict=True)]
        edge = [*zip(x, ceiling, strict=True), *reversed(list(zip(x, floor, strict=True)))]
        points = " ".join(f"{at:.0f},{top + height * (1 - count / most):.0f}" for at, count in edge)
        areas.append(f'  <polygon points="{points}" fill="{colour}"/>')
        y = top + height + 50 + 22 * row
        legend.append(f'  <rect x="{left}" y="{y - 11}" width="14" height="14" fill="{colour}"/>')
        legend.append(f'  <text x="{left + 22}" y="{y}">{label}: {weeks[-1][state]} at the end</text>')
        floor = ceiling
    months = [
        f'  <text x="{left + width * month / 12:.0f}" y="{top + height + 20}">month {month}</text>'
        for month in (0, 3, 6, 9, 12)
    ]
    counts = [
        f'  <text x="{left - 8}" y="{top + height * (1 - share) + 5:.0f}" text-anchor="end">{most * share:.0f}</text>'
        for share in (0, 0.5, 1)
    ]
    whole = top + height + 60 + 22 * len(STATES)
    return "\n".join([
        (f'<svg xmlns="http://www.w3.org/2000/svg" width="880" height="{whole}" viewBox="0 0 880 {whole}" role="img"'
        ' aria-label="A year of use: what is kept for good, fresh, faded, a tombstone, in the trash">'),
        f'  <rect width="880" height="{whole}" fill="#ffffff"/>',
        '  <g font-family="system-ui, sans-serif" font-size="13" fill="#24292f">',
        *areas, *months, *counts, *legend,
        "  </g>", "</svg>", "",
    ])  # fmt: skip


def _live(service: MemoryService, chance: random.Random, day: int, clock: list[int]) -> None:
    """One day: store one or two memories, load a few, and once a week remove one."""
    for at in range(chance.choice((1, 1, 2))):
        kind = chance.choices(_KINDS, _SHARES)[0]
        clock[0] += _HOUR  # distinct times make the order deterministic
        brief = kind == "task" and chance.random() < _BRIEF_TASKS
        service.remember(f"what was learned on day {day}, {at}", kind=kind, ttl_seconds=_TWO_WEEKS if brief else None)
    present = [match.memory for match in service.recall(limit=10_000, order="created")]
    for _ in range(_LOADS_PER_DAY):
        # Recent memories are loaded most often.
        back = min(int(chance.expovariate(1 / 15)), len(present) - 1) if chance.random() < 0.8 else None
        service.load([(present[back] if back is not None else chance.choice(present)).id])
    if day % 7 == 6:
        service.forget([chance.choice(present).id])


def _state_counts(memories: Iterator[Memory], now: int) -> dict[State, int]:
    counts = dict.fromkeys(STATES, 0)
    for memory in memories:
        counts[_state(memory, now)] += 1
    return counts


def _state(memory: Memory, now: int) -> State:
    if memory.status != "active":
        return memory.status
    if memory.tier == "long":
        return "lasting"
    return "fresh" if retention.retention(memory, now) >= 0.5 else "faded"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
