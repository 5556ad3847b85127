"""A briefing with remarks on code, which hold for one commit only; and the commit that is checked out in a folder.

The file of such a briefing has the text with remarks, a line that names the commit, and the text without them. The
commit is read from the files of the repository; git is not started.
"""

from __future__ import annotations

from keepmum_hooks import files, system

__all__ = ["commit_at", "for_commit", "with_remarks"]

_OTHERWISE = "\n\x1e otherwise than at "

_LIMIT = 4 << 10
_PACKED_LIMIT = 4 << 20  # a repository with more refs than that has its branch in a file of its own, or no remarks
_DIGITS = frozenset("0123456789abcdef")


def with_remarks(remarked: str, commit: str, plain: str) -> str:
    """The content of a briefing's file that has remarks for one commit."""
    return f"{remarked}{_OTHERWISE}{commit}\n{plain}"


def for_commit(content: str, folder: str) -> str:
    """The text for the commit that is checked out in the folder of the briefing."""
    remarked, mark, rest = content.partition(_OTHERWISE)
    if not mark:
        return content
    commit, _, plain = rest.partition("\n")
    return remarked if commit and commit_at(folder).startswith(commit) else plain


def commit_at(folder: str) -> str:
    """The full hash of the commit; "" when there is none, or it is stored in another way (a reftable).

    Source: https://git-scm.com/docs/gitrepository-layout, read 2026-11-22.
    """
    root = next((each for each in system.ancestors(folder) if system.exists(f"{each}/.git")), None)
    if root is None:
        return ""
    git_dir = f"{root}/.git"
    pointer = _line(git_dir)  # of a linked working tree or a submodule
    if pointer.startswith("gitdir: "):
        git_dir = _joined(root, pointer[len("gitdir: ") :])
    head = _line(f"{git_dir}/HEAD")
    if not head.startswith("ref: "):
        return _hash(head)
    name = head[len("ref: ") :]
    if ".." in name:
        return ""
    shared = _line(f"{git_dir}/commondir")
    folders = [git_dir, _joined(git_dir, shared)] if shared else [git_dir]
    for each in folders:
        commit = _hash(_line(f"{each}/{name}"))
        if commit:
            return commit
    packed = files.read(f"{folders[-1]}/packed-refs", _PACKED_LIMIT) or b""
    for line in packed.decode("utf-8", "replace").split("\n"):
        commit, _, ref = line.partition(" ")
        if ref == name:
            return _hash(commit)
    return ""


def _line(path: str) -> str:
    return (files.read(path, _LIMIT) or b"").decode("utf-8", "replace").strip()


def _joined(folder: str, path: str) -> str:
    is_absolute = path.startswith("/") or path[1:2] == ":"
    return path if is_absolute else f"{folder}/{path}"


def _hash(text: str) -> str:
    return text if len(text) in (40, 64) and _DIGITS.issuperset(text) else ""
