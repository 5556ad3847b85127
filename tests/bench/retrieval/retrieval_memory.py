"""What servers with the model hold in memory, one alone and ten on the same store.

    python tests/bench/retrieval/retrieval_memory.py [--size N] [--maps]      100,000 memories when missing; Linux alone

Texts are realistic, vectors made up; each server answers questions and takes a memory before it is looked at. What
several processes map counts for each by its share (PSS), so the sum is what the machine has to have, as long as nobody
else has onnxruntime open.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of the tests

from bench.retrieval.retrieval_scale import MadeUp, fill
from bench.store_corpus import questions
from bench.store_figures import ROOT, Row, print_table
from bench.store_recall import Server, wait_for_backup
from embedding_models import installed, published
from keepmum import open_memory
from keepmum.embedding.local_model import MINILM

__all__ = ["rows"]

SIZE, TEN, QUESTIONS = 100_000, 10, 20
FREE = 20.0  # MiB of each server that do not count
LIMIT = 300.0  # seconds
_BY_MEANING = re.compile(r"vector \d")  # in what explains a match


def rows(size: int, *, maps: bool) -> Iterator[Row]:
    """What one and ten servers hold, and of what that is made."""
    cache = ROOT / ".cache" / "models"
    model = installed(cache, published(cache))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        state = home / ".keepmum"
        (state / "models").mkdir(parents=True)
        (state / "models" / MINILM.name).symlink_to(model)
        (state / "runtime").symlink_to(sys.prefix)  # its packages
        vectors = MadeUp()
        vectors.model = MINILM.space  # the real model's questions are asked of them
        fill(state / "memory.db", size, vectors)
        _let_time_pass(state / "memory.db")
        total = {}
        for count in (1, TEN):
            with ExitStack() as stack:
                servers = [stack.enter_context(closing(Server(home))) for _ in range(count)]
                for number, server in enumerate(servers):
                    _use(server, home, number)
                total[count] = sum(_rollup(server.process.pid)["Pss"] for server in servers)
                own = statistics.mean(_own(server.process.pid) for server in servers)
                if maps:
                    _print_maps(servers[0].process.pid)
            yield Row(
                f"{count} servers on {size:,} memories", f"{total[count]:.0f} MiB, {own:.1f} of each its own", "-"
            )
        ten = total[TEN] - TEN * FREE
        ratio = ten / total[1]
        yield Row(f"ten, beyond {FREE:.0f} MiB each, beside one", f"{ratio:.2f} x", "<= 1.5 x", ratio <= 1.5)
        ratio = ten / (total[1] - FREE)
        yield Row(f"the same beside one beyond {FREE:.0f} MiB", f"{ratio:.2f} x", "<= 1.5 x", ratio <= 1.5)


def _let_time_pass(path: Path) -> None:
    """Do what time does to so many old memories at once, which no store in use has to do in one hour."""
    with open_memory(path, None) as memory:
        memory.sweep()  # the first looks at the clock alone
        while memory.sweep():
            pass


def _use(server: Server, home: Path, seed: int) -> None:
    """Let a server do what it is there for, until it searches by meaning."""
    deadline = time.monotonic() + LIMIT
    while not _BY_MEANING.search(server.call("recall", query="which pool gets a deploy first", explain=True)[1]):
        if time.monotonic() > deadline:
            raise TimeoutError("the server does not search by meaning")
        time.sleep(0.1)
    wait_for_backup(home / ".keepmum" / "backups")
    for question in questions(QUESTIONS, seed=seed):
        server.call("recall", query=question)
    server.call("remember", text=f"Deploys of server {seed} go through the blue pool first. " * 20)


def _rollup(pid: int) -> dict[str, float]:
    """MiB of a process by the kernel's names for them."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    return {name: int(rest.split()[0]) / 1024 for name, _, rest in (line.partition(":") for line in lines)}


def _own(pid: int) -> float:
    """MiB that a process shares with no other."""
    told = _rollup(pid)
    return told["Private_Clean"] + told["Private_Dirty"]


def _print_maps(pid: int) -> None:
    """Where the memory of a process is: its own and its share, by what is mapped."""
    own: Counter[str] = Counter()
    share: Counter[str] = Counter()
    name = ""
    for line in Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[0].endswith(":"):
            if words[0] in {"Private_Clean:", "Private_Dirty:"}:
                own[name] += int(words[1])
            elif words[0] == "Pss:":
                share[name] += int(words[1])
        else:
            name = os.path.basename(words[5]) if len(words) > 5 else "(anonymous)"
    for name, kib in own.most_common(25):
        sys.stderr.write(f"  {kib / 1024:8.1f} own {share[name] / 1024:8.1f} share  {name}\n")


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", type=int, default=SIZE, help=f"memories; {SIZE:,} when missing")
    parser.add_argument("--maps", action="store_true", help="what each is made of, on standard error")
    arguments = parser.parse_args()
    print_table(rows(arguments.size, maps=arguments.maps))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
