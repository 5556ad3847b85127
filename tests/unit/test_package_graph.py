"""The package graph: its size, its depth, and no import cycles.

A node is a direct child of `plugin/keepmum` (a package or a loose module), `keepmum/__init__.py`, `plugin/launch.py`,
or one of the packages `keepmum_scanner`, `keepmum_hooks` and `keepmum_installers`. An edge is one node importing
another; lazy imports and imports for type checkers count. `python tests/unit/test_package_graph.py` prints the graph.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "keepmum": "plugin",
    "keepmum_hooks": "hooks",
    "keepmum_installers": "installers",
    "keepmum_scanner": "scanner",
}
LAUNCHER = "launch"  # plugin/launch.py
ENTRANCES = frozenset({"keepmum.dashboard", "keepmum.server"})  # counted apart: each is a way in, over the service

Graph = Mapping[str, frozenset[str]]


def test_the_package_graph_is_small() -> None:
    graph = package_graph(module_graph(ROOT))
    assert len(graph.keys() - ENTRANCES) <= 15, "nodes"
    assert sum(not ENTRANCES & {*edge} for edge in edges(graph)) <= 60, "edges"
    assert all(len(graph.get(node, ())) <= 8 for node in ENTRANCES), "edges of an entrance"
    assert max(levels(graph).values()) <= 10, "levels"


def test_no_packages_import_each_other() -> None:
    assert cycles(package_graph(module_graph(ROOT))) == []


def test_no_modules_import_each_other() -> None:
    assert cycles(module_graph(ROOT)) == []


def test_cycles_and_levels_of_a_small_graph() -> None:
    graph = {name: frozenset(targets) for name, targets in {"a": "b", "b": "cd", "c": "b", "d": "", "e": "ab"}.items()}
    assert cycles(graph) == [["b", "c"]]
    assert levels(graph) == {"a": 3, "b": 2, "c": 2, "d": 1, "e": 4}


def test_an_import_is_found_wherever_it_is_written(tmp_path: Path) -> None:
    for name, text in {
        "keepmum/__init__.py": "def __getattr__(name):\n    from keepmum.service import opening\n",
        "keepmum/core.py": "",
        "keepmum/service/__init__.py": "import keepmum.core\ndef late():\n    from keepmum.service import opening\n",
        "keepmum/service/opening.py": "from .. import core\nfrom keepmum.service import VALUE\nimport json\n",
        "launch.py": "def main():\n    import keepmum_hooks.places\n",
    }.items():
        (tmp_path / "plugin" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "plugin" / name).write_text(text)
    (tmp_path / "hooks/keepmum_hooks").mkdir(parents=True)
    (tmp_path / "hooks/keepmum_hooks/places.py").write_text("")
    modules = module_graph(tmp_path)
    assert modules == {
        "keepmum": {"keepmum.service.opening"},
        "keepmum.core": set(),
        "keepmum.service": {"keepmum.core"},
        "keepmum.service.opening": {"keepmum.core", "keepmum.service"},
        "keepmum_hooks.places": set(),
        "launch": {"keepmum_hooks.places"},
    }
    assert package_graph(modules)["launch"] == {"keepmum_hooks"}


def module_graph(root: Path) -> Graph:
    """Each module of the four source packages and the launcher, with the modules of these that it imports.

    A package that imports one of its own modules adds no edge: dialects load their handlers that way, after the
    handshake.
    """
    files = dict(_modules(root))
    graph = {}
    for name, path in files.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        targets = (_known(target, files) for target in _imports(path, package))
        graph[name] = frozenset(
            target
            for target in targets
            if target and target != name and not (package == name != "keepmum" and target.startswith(name + "."))
        )
    return graph


def _modules(root: Path) -> Iterator[tuple[str, Path]]:
    for package, folder in PACKAGES.items():
        for path in sorted((root / folder / package).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path
    yield LAUNCHER, root / "plugin" / "launch.py"


def _imports(path: Path, package: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parents, node.module] if node.module else parents)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _known(target: str, files: Mapping[str, Path]) -> str:
    """The module that `target`, a dotted name, is or belongs to; empty when it is none of `files`."""
    while target and target not in files:
        target = target.rpartition(".")[0]
    return target


def package_graph(modules: Graph) -> Graph:
    """The modules merged into nodes (see the module's docstring)."""
    graph: dict[str, set[str]] = {}
    for name, targets in modules.items():
        graph.setdefault(_node(name), set()).update(_node(target) for target in targets)
    return {node: frozenset(targets - {node}) for node, targets in graph.items()}


def _node(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "keepmum" else parts[0]


def edges(graph: Graph) -> list[tuple[str, str]]:
    """Each pair of nodes of which the first imports the second."""
    return [(node, target) for node, targets in graph.items() for target in sorted(targets)]


def cycles(graph: Graph) -> list[list[str]]:
    """Each group of nodes that reach each other, sorted."""
    reachable = {node: _reachable(graph, node) for node in graph}
    groups = {
        tuple(sorted(target for target in reachable[node] if node in reachable[target]))
        for node in graph
        if node in reachable[node]
    }
    return sorted(map(list, groups))


def _reachable(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    pending = [start]
    while pending:
        new = graph[pending.pop()] - seen
        seen |= new
        pending += new
    return seen


def levels(graph: Graph) -> dict[str, int]:
    """The level of each node: 1 when it imports no other, else one above the highest that it imports.

    Nodes of one cycle share a level.
    """
    group = {node: frozenset(members) for members in cycles(graph) for node in members}

    @cache
    def level(members: frozenset[str]) -> int:
        targets = frozenset(chain.from_iterable(graph[node] for node in members)) - members
        return 1 + max((level(group.get(target, frozenset({target}))) for target in targets), default=0)

    return {node: level(group.get(node, frozenset({node}))) for node in graph}


def _print(graph: Graph, modules: Graph, write: Callable[[str], object]) -> None:
    level = levels(graph)
    found = cycles(graph)
    write(f"{len(graph)} nodes, {max(level.values())} levels, {len(edges(graph))} edges, {len(found)} cycles\n")
    for node in sorted(graph, key=lambda node: (level[node], node)):
        write(f"{level[node]:3} {node}: {', '.join(sorted(graph[node]))}\n")
    found = cycles(modules)
    write(f"{len(modules)} modules, {len(edges(modules))} edges, {len(found)} cycles\n")
    for cycle in found:
        write(f"    {', '.join(cycle)}\n")


if __name__ == "__main__":
    checkout = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    _print(package_graph(module_graph(checkout)), module_graph(checkout), sys.stdout.write)
