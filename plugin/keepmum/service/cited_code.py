"""The code of one project folder: what memories cite there, and whether it still is as it was."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, TypeAlias

from keepmum.core.citations import relocation
from keepmum.core.citations.freshness import UNKNOWN, Freshness, Location
from keepmum.core.citations.mentions import mentions
from keepmum.core.citations.outline import Outline, outline
from keepmum.core.citations.resolution import Paths, cited, names_to_search
from keepmum.core.memory import Citation, Memory
from keepmum.system.folders import real_folder
from keepmum.workspace.git.history import History, open_history
from keepmum.workspace.git.repository import find_repository, git_context
from keepmum.workspace.source_files import SourceFiles, Stamp, Unreadable
from keepmum_scanner.git_process import GitFailed

__all__ = ["CitedCode", "open_code"]

OpenHistory: TypeAlias = Callable[[], AbstractContextManager[History | None]]

_MISSING, _UNDEFINED, _UNREAD = "missing", "undefined", "unread"  # the state of a file, or of a definition in it
_QUICK = 64 << 10  # bytes of a file whose definitions are found within 5 ms
_OUTLINES = 16  # files whose outline is kept; each takes three times its size
_REMEMBERED = 20_000  # digests and verdicts that are kept
_NAME = re.compile(r"[\w$#.]{1,200}")
_LARGEST_CANDIDATE = 256 << 10  # bytes
_CANDIDATES = 40  # files that may hold code that has moved


def open_code(root: str, environ: Mapping[str, str]) -> CitedCode | None:
    """The code of the project folder `root`; None when no repository contains it."""
    repository = find_repository(root)
    if repository is None or repository.root == repository.git_dir:
        return None
    return CitedCode(root, repository.root, lambda: open_history(repository, environ), environ)


class CitedCode:
    """Resolves what memories mention, and compares citations with the working tree.

    `look` and `head` are quick and run in any thread; `resolve` and `settle` start git.
    """

    def __init__(self, root: str, top: str, history: OpenHistory, environ: Mapping[str, str]) -> None:
        self._root, self._environ, self._history = root, environ, history
        self._files = SourceFiles(top, root)
        inside = os.path.relpath(real_folder(root), real_folder(top)).replace(os.sep, "/")
        self._prefix = "" if inside == "." else f"{inside}/"
        self._outlines: dict[tuple[str, Stamp], Outline | None] = {}
        self._digests: dict[tuple[str, str], tuple[Stamp, str | None]] = {}
        self._settled: dict[_Question, Freshness] = {}

    def head(self) -> str:
        """The commit that is checked out; "" when there is none."""
        return git_context(self._root, self._environ).commit or ""

    def look(self, citation: Citation, head: str, *, quick: bool = True) -> Freshness | None:
        """What became of a citation; None when `settle` has to find out.

        That starts git; with `quick`, it also reads the large files that changed.
        """
        if citation.symbol is not None and not _NAME.fullmatch(citation.symbol):
            return UNKNOWN  # of a forged import: a remark would repeat it
        try:
            state = self._state(citation, quick=quick)
        except Unreadable:
            return UNKNOWN
        if state == _UNREAD:
            return None
        if state in {None, citation.digest}:
            return UNKNOWN if state is None and citation.symbol else Freshness("valid", citation)
        return self._settled.get(_Question(citation, state or "", head))

    def settle(self, citations: Iterable[Citation], head: str, stopped: Callable[[], bool]) -> None:
        """Find out what `look` could not tell; where code has gone to, after all verdicts."""
        if len(self._settled) > _REMEMBERED:
            self._settled.clear()
        gone: list[tuple[_Question, str]] = []
        with self._history() as history:
            for citation in citations:
                if stopped() or self.look(citation, head, quick=False) is not None:
                    continue
                question = _Question(citation, self._state(citation) or "", head)
                self._settled[question] = UNKNOWN
                if history is None:
                    continue
                with contextlib.suppress(GitFailed):
                    commit = history.commit(citation.commit)
                    if commit is not None:
                        self._settled[question] = self._judged(question, commit, history)
                        if self._settled[question].verdict == "gone":
                            gone.append((question, commit))
            if history is None:
                return
            with contextlib.suppress(GitFailed):  # one search for all of them
                history.defining([_leaf(question.citation) for question, _ in gone if question.citation.symbol])
                for question, commit in gone:
                    if not stopped():
                        location = self._location(question, commit, history)
                        self._settled[question] = self._settled[question]._replace(location=location)

    def resolve(
        self, memories: Iterable[Memory], stopped: Callable[[], bool]
    ) -> Iterator[tuple[Memory, tuple[Citation, ...] | None]]:
        """The citations of each memory, in the state of the code when it was written.

        None for a memory of all projects that was not written in this repository. The iteration ends early when git
        takes too long: the other memories can be resolved later.
        """
        with contextlib.suppress(GitFailed), self._history() as history:
            for memory in memories:
                if history is None or stopped():
                    return
                written_at = memory.git.get("commit") if memory.git else None
                commit = history.commit(written_at) if isinstance(written_at, str) else None
                nothing = None if memory.project is None else ()
                yield memory, nothing if commit is None else self._cited(memory, commit, history)

    def texts(self, citation: Citation) -> tuple[str, str] | None:
        """The cited code as it was and as it is in the working tree; "" for what is missing, None without a history."""
        try:
            with self._history() as history:
                if history is None:
                    return None
                then = history.contents([citation.blob]).get(citation.blob, b"").decode("utf-8", "replace")
        except GitFailed:
            return None
        try:
            now = self._files.text(citation.path)
        except Unreadable:
            now = ""
        return _part(citation, then), _part(citation, now)

    # -- resolving

    def _cited(self, memory: Memory, commit: str, history: History) -> tuple[Citation, ...]:
        found = mentions("\n".join(filter(None, (memory.source, memory.title, memory.text, memory.why))))
        if not found:
            return ()
        tree = {path: blob for path, blob in history.tree(commit).items() if path.startswith(self._prefix)}
        paths = Paths(tree)
        declared = history.defining(names_to_search(found, paths), commit)
        defining = {name: [path for path in files if path in tree] for name, files in declared.items()}
        mentioned = [path for each in found if each.path and (path := paths.find(each.path))]
        before = _Before(self._files, memory.updated_at, tree, history)
        before.read([*mentioned, *(path for files in defining.values() for path in files)])
        return tuple(
            Citation(
                path=each.path,
                commit=commit,
                blob=tree[each.path],
                symbol=each.symbol,
                line=each.line,
                digest=each.digest,
            )
            for each in cited(found, paths, before.outline, lambda name: defining.get(name, ()))
        )

    # -- comparing

    def _state(self, citation: Citation, *, quick: bool = False) -> str | None:
        """The digest of the cited definition now, or why there is none; None for what has no definitions.

        With `quick`, a large file that changed is not read.

        Raises: Unreadable.
        """
        stamp = self._files.stamp(citation.path)
        if stamp is None:
            return _MISSING
        if citation.symbol is None:
            return None
        known = self._digests.get((citation.path, citation.symbol))
        if known is None or known[0] != stamp:
            if quick and stamp.size > _QUICK:
                return _UNREAD
            found = self._outline(citation.path, stamp)
            if found is None:
                return None
            if len(self._digests) > _REMEMBERED:
                self._digests.clear()
            known = self._digests[citation.path, citation.symbol] = stamp, found.digest(citation.symbol)
        return known[1] or _UNDEFINED

    def _outline(self, path: str, stamp: Stamp | None = None) -> Outline | None:
        """The outline of a file now.

        Raises: Unreadable.
        """
        stamp = stamp or self._files.stamp(path)
        if stamp is None:
            return None
        if (path, stamp) not in self._outlines:
            while len(self._outlines) >= _OUTLINES:
                self._outlines.pop(next(iter(self._outlines)), None)
            self._outlines[path, stamp] = outline(path, self._files.text(path))
        return self._outlines[path, stamp]

    def _judged(self, question: _Question, commit: str, history: History) -> Freshness:
        """The verdict on code that differs from what was cited.

        A difference counts only if it came after the commit. When HEAD does not contain that commit, as on another
        branch, the code of the last common commit tells whether this branch has changed it.
        """
        citation = question.citation
        base = history.base(commit)
        if base is None or citation.path not in history.tree(commit):
            return UNKNOWN
        if base != commit:
            blob = history.tree(base).get(citation.path)
            if blob is None:
                return UNKNOWN
            if citation.symbol is not None:
                found = _outline_of(citation.path, history.contents([blob]).get(blob))
                digest = found.digest(citation.symbol) if found else None
                if digest is None or digest == question.state:
                    return UNKNOWN
        return Freshness("gone" if question.state in {_MISSING, _UNDEFINED} else "changed", citation)

    def _location(self, question: _Question, commit: str, history: History) -> Location | None:
        citation = question.citation
        renamed = history.renamed(commit).get(citation.path) if question.state == _MISSING else None
        if citation.symbol is None:
            return Location(renamed) if renamed is not None and self._has(renamed) else None
        before = _outline_of(citation.path, history.contents([citation.blob]).get(citation.blob))
        lines = before.lines(citation.symbol) if before else []
        leaf = _leaf(citation)
        paths = dict.fromkeys([*filter(None, [renamed]), citation.path, *history.defining([leaf])[leaf]][:_CANDIDATES])
        candidates = dict(self._readable(paths))
        if renamed in candidates and (line := candidates[renamed].line_of(citation.symbol)) is not None:
            return Location(renamed, citation.symbol, line)
        old = history.tree(commit)
        blobs = {path: old[path] for path in candidates if path in old}
        contents = history.contents(blobs.values())
        location = relocation.moved(
            relocation.Former(citation.path, citation.symbol, citation.digest, lines),
            candidates,
            lambda path: _outline_of(path, contents.get(blobs[path])) if path in blobs else None,
        )
        after = candidates.get(renamed or citation.path)
        if location is not None or before is None or after is None:
            return location
        return relocation.renamed(lines, citation.symbol, renamed or citation.path, before, after)

    def _readable(self, paths: Iterable[str]) -> Iterator[tuple[str, Outline]]:
        for path in paths:
            try:
                stamp = self._files.stamp(path)
                found = self._outline(path, stamp) if stamp and stamp.size <= _LARGEST_CANDIDATE else None
            except Unreadable:
                continue
            if found is not None:
                yield path, found

    def _has(self, path: str) -> bool:
        try:
            return self._files.stamp(path) is not None
        except Unreadable:
            return False


class _Question(NamedTuple):
    """What decides about a citation: how its code is now, and what is checked out."""

    citation: Citation
    state: str
    head: str


class _Before:
    """The files as they were when a memory was written."""

    def __init__(self, files: SourceFiles, written_at: int, tree: Mapping[str, str], history: History) -> None:
        self._files, self._written_at, self._tree, self._history = files, written_at, tree, history
        self._outlines: dict[str, Outline | None] = {}

    def read(self, paths: Iterable[str]) -> None:
        """Read these files at once."""
        wanted = [path for path in dict.fromkeys(paths) if path in self._tree]
        unchanged = {path: text for path in wanted if (text := self._unchanged(path)) is not None}
        contents = self._history.contents([self._tree[path] for path in wanted if path not in unchanged])
        for path in wanted:
            text = unchanged.get(path)
            self._outlines[path] = (
                _outline_of(path, contents.get(self._tree[path])) if text is None else outline(path, text)
            )

    def outline(self, path: str) -> Outline | None:
        """The outline of a file that was read."""
        if path not in self._outlines:
            self.read([path])
        return self._outlines.get(path)

    def _unchanged(self, path: str) -> str | None:
        """The file of the working tree if it was not changed since the memory was written; it may be uncommitted."""
        try:
            stamp = self._files.stamp(path)
            return self._files.text(path) if stamp and stamp.changed_at <= self._written_at * 1_000_000 else None
        except Unreadable:
            return None


def _part(citation: Citation, text: str) -> str:
    """The lines of a file that a citation is about: those of the definition, or all."""
    found = None if citation.symbol is None else outline(citation.path, text)
    if found is None:
        return text
    lines = text.splitlines()
    named = [each for each in found.definitions if each.symbol == citation.symbol]
    return "\n".join(line for each in named for line in lines[each.first - 1 : each.last])


def _leaf(citation: Citation) -> str:
    return (citation.symbol or "").rpartition(".")[2]


def _outline_of(path: str, content: bytes | None) -> Outline | None:
    return None if content is None else outline(path, content.decode("utf-8", "replace"))
