"""Which definitions and files of a tree a text mentions. Only what the tree confirms counts, and only if it is unique.

A name without a file is searched by the caller (`names_to_search`), since that needs the content of the whole tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from keepmum.core.citations.mentions import Mention
from keepmum.core.citations.outline import SUFFIXES, Outline

__all__ = ["Cited", "Paths", "cited", "names_to_search"]

_MOST = 8  # citations of one memory


class Cited(NamedTuple):
    """One place in the code that a text mentions."""

    path: str
    symbol: str | None = None
    line: int | None = None
    digest: str | None = None


class Paths:
    """The paths of a tree, found by a part of them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._all = frozenset(paths)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in self._all:
            self._by_name[path.rpartition("/")[2]].append(path)

    def find(self, mentioned: str) -> str | None:
        """The path that was meant: the same, or the only one that ends with it."""
        if mentioned in self._all:
            return mentioned
        ends = f"/{mentioned}"
        found = [path for path in self._by_name.get(mentioned.rpartition("/")[2], ()) if path.endswith(ends)]
        return found[0] if len(found) == 1 else None

    def module(self, dotted: str) -> tuple[str, str] | None:
        """The file of a Python module, and the name in it, for "package.module.Class.method"."""
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            path = self.find("/".join(parts[:length]) + ".py")
            if path is not None:
                return path, ".".join(parts[length:])
        return None


class _Found(NamedTuple):
    files: dict[str, list[Mention]]  # by path, with what is said of it
    names: list[Mention]
    is_about_others: bool  # whether a source file is mentioned that the tree does not have


def _sorted(found: Sequence[Mention], paths: Paths) -> _Found:
    """The mentions of files that exist, and of names."""
    files: dict[str, list[Mention]] = {}
    names: list[Mention] = []
    is_about_others = False
    for mention in found:
        path = paths.find(mention.path) if mention.path else None
        # "Store.get" looks like the name of a file, and "store.get" may be a name in the module "store".
        name = mention.symbol if not mention.path else mention.path if "/" not in mention.path else ""
        module = paths.module(name) if path is None and "." in name else None
        if path is not None:
            files.setdefault(path, []).append(mention)
        elif module is not None:
            is_package = name.count(".") > 1 or not module[1]
            files.setdefault(module[0], []).append(Mention(module[0], module[1], is_explicit=is_package))
        elif name and not (mention.path and mention.symbol):
            names.append(mention if not mention.path else Mention(symbol=name))
        if path is None and "/" in mention.path and mention.path.rpartition(".")[2] in SUFFIXES:
            is_about_others = True
    return _Found(files, names, is_about_others)


def names_to_search(found: Sequence[Mention], paths: Paths) -> list[str]:
    """The last parts of the names that are mentioned without a file and stand for nothing but code."""
    known = _sorted(found, paths)
    if known.is_about_others:
        return []  # the name may be one of that file
    return list(dict.fromkeys(_leaf(each.symbol) for each in known.names if each.is_explicit))


def cited(
    found: Sequence[Mention],
    paths: Paths,
    outline_of: Callable[[str], Outline | None],
    files_with: Callable[[str], Sequence[str]],
) -> tuple[Cited, ...]:
    """What the mentions cite.

    Args:
        found: the mentions of one memory.
        paths: the paths of the tree.
        outline_of: the outline of a file; None when it cannot be read or has no known language.
        files_with: the files that may define a name; it is asked for names of `names_to_search`.
    """
    files, names, is_about_others = _sorted(found, paths)
    definitions: dict[tuple[str, str], Cited] = {}

    def add(path: str, symbol: str, outline: Outline) -> None:
        definitions[path, symbol] = Cited(path, symbol, outline.line_of(symbol), outline.digest(symbol))

    for path, mentioned in files.items():
        outline = outline_of(path)
        for each in mentioned if outline is not None else ():
            assert outline is not None
            around = outline.around(each.line) if each.line else None
            symbol = _only(outline.named(each.symbol)) if each.symbol else around.symbol if around else None
            if symbol is not None:
                add(path, symbol, outline)
    for each in names:
        in_files = [
            (path, symbol, outline)
            for path in files
            if (outline := outline_of(path)) is not None and (symbol := _only(outline.named(each.symbol))) is not None
        ]
        if not in_files and each.is_explicit and not is_about_others:
            in_files = [
                (path, symbol, outline)
                for path in files_with(_leaf(each.symbol))
                if (outline := outline_of(path)) is not None
                for symbol in outline.named(each.symbol)
                if not outline.is_field(symbol) or "." in each.symbol
            ]
        if len(in_files) == 1:
            add(*in_files[0])
    with_definition = {path for path, _ in definitions}
    whole = [
        Cited(path)
        for path, mentioned in files.items()
        if path not in with_definition and any(each.is_explicit for each in mentioned)
    ]
    return (*definitions.values(), *whole)[:_MOST]


def _leaf(symbol: str) -> str:
    return symbol.rpartition(".")[2]


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None
