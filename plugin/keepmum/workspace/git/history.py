"""What a repository held at a commit: files, their content, which of them have a word, and what became of them.

All of it is read in a view (`keepmum_scanner.git_process`), where nothing that a repository names is run.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from keepmum.core.citations.outline import SUFFIXES
from keepmum.workspace.source_files import MAX_BYTES
from keepmum_scanner import git_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.workspace.git.repository import Repository
    from keepmum_scanner.git_process import Run

__all__ = ["History", "open_history"]

_TIMEOUT = 10.0  # seconds for each command
_MOST_FILES = 50  # that may define a name; more of them tell nothing
_SOURCES = tuple(f"*.{suffix}" for suffix in sorted(SUFFIXES))
# A line that declares {0}, in any of the known languages.
_DECLARATION = (
    r"(^|[^A-Za-z0-9_])(class|def|fn|function[*]?|interface|struct|enum|union|type|trait|const|let|var|static|mut|record"
    r"|mod|namespace|macro_rules!|func( *[(][^)]*[)])?)[[:space:]]+{0}([^A-Za-z0-9_$]|$)"
    r"|^[[:space:]]*{0}[[:space:]]*[:=]"
)
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEX = re.compile("[0-9a-f]{7,64}")


@contextlib.contextmanager
def open_history(repository: Repository, environ: Mapping[str, str]) -> Iterator[History | None]:
    """The history of a repository; None when git is missing or cannot read it."""
    variables = {"GIT_DIR": repository.git_dir, "GIT_WORK_TREE": repository.root}
    with contextlib.ExitStack() as stack:
        try:
            _, run = stack.enter_context(git_process.view(repository.root, environ, variables, _TIMEOUT))
        except git_process.GitFailed:
            history = None
        else:
            history = History(run)
        yield history


class History:
    """The commits of one repository. What cannot be found is None or empty.

    Every method raises GitFailed when git was not run to its end, so that nothing counts as not found by mistake.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._hashes: dict[tuple[str, ...], str | None] = {}
        self._trees: dict[str, dict[str, str]] = {}
        self._defining: dict[tuple[str, str | None], list[str]] = {}
        self._renames: dict[str, dict[str, str]] = {}

    def commit(self, short: str) -> str | None:
        """The full hash of a commit that the repository has."""
        if not _HEX.fullmatch(short):
            return None
        return self._hash("rev-parse", "--verify", "--quiet", "--end-of-options", f"{short}^{{commit}}")

    def base(self, commit: str) -> str | None:
        """The last commit that `commit` and HEAD have in common: `commit` itself when HEAD contains it."""
        return self._hash("merge-base", commit, "HEAD")

    def tree(self, commit: str) -> Mapping[str, str]:
        """The files at a commit: path to blob. Submodules and symbolic links are left out."""
        if commit not in self._trees:
            entries = self._ask("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
            parts = (entry.partition(b"\t") for entry in entries if entry.startswith(b"100"))
            self._trees[commit] = {
                path.decode("utf-8", "surrogateescape"): meta.rpartition(b" ")[2].decode() for meta, _, path in parts
            }
        return self._trees[commit]

    def contents(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """The content of blobs of at most `MAX_BYTES` bytes; others are left out."""
        wanted = [blob for blob in dict.fromkeys(blobs) if _HEX.fullmatch(blob)]
        if not wanted:
            return {}
        sizes = self._ask("cat-file", "--batch-check", text=_lines(wanted)).split(b"\n")
        small = [
            fields[0].decode()
            for fields in map(bytes.split, sizes)
            if len(fields) == 3 and fields[1] == b"blob" and int(fields[2]) <= MAX_BYTES
        ]
        output = self._ask("cat-file", "--batch", text=_lines(small)) if small else b""
        found: dict[str, bytes] = {}
        position = 0
        while position < len(output):
            end = output.find(b"\n", position)
            fields = output[position:end].split()
            if end < 0 or len(fields) != 3:
                break
            start, size = end + 1, int(fields[2])
            found[fields[0].decode()] = output[start : start + size]
            position = start + size + 1
        return found

    def defining(self, names: Iterable[str], commit: str | None = None) -> dict[str, list[str]]:
        """The files that may define each name at a commit, or now in the working tree, new ones included.

        Where no line declares a name by a keyword or an assignment, all files with the word. No files for a name that
        too many may define.
        """
        wanted = [name for name in dict.fromkeys(names) if (name, commit) not in self._defining]
        if wanted:
            either = "|".join(map(re.escape, wanted))
            declared = self._grep(wanted, commit, "-E", "-e", _DECLARATION.format(f"({either})"))
            others = [name for name in wanted if not declared[name]]
            words = [option for name in others for option in ("-e", name)]
            declared |= self._grep(others, commit, "-w", "-F", *words) if others else {}
            for name in wanted:
                self._defining[name, commit] = declared[name] if len(declared[name]) <= _MOST_FILES else []
        return {name: self._defining[name, commit] for name in names}

    def _grep(self, names: Sequence[str], commit: str | None, *pattern: str) -> dict[str, list[str]]:
        """The files with lines that match the pattern, by the names that are in these lines."""
        scope = ["--untracked"] if commit is None else []
        tree = [] if commit is None else [commit]
        output = self._ask("grep", "-z", "-I", "--full-name", "--no-textconv", *scope, *pattern, *tree, "--", *_SOURCES)
        found: dict[str, dict[str, None]] = {name: {} for name in names}
        name_in = re.compile(r"(?<![\w$])(?:" + "|".join(map(re.escape, names)) + r")(?![\w$])")
        for line in output.decode("utf-8", "surrogateescape").split("\n"):
            path, _, code = line.partition("\0")
            for name in name_in.findall(code):
                found[name][path.removeprefix(f"{commit}:")] = None
        return {name: list(paths) for name, paths in found.items()}

    def renamed(self, commit: str) -> Mapping[str, str]:
        """The files of a commit that have another path in the index: old path to new."""
        if commit not in self._renames:
            command = "diff-index --cached -M --no-ext-diff --no-textconv --diff-filter=R --name-status -z".split()
            fields = self._ask(*command, commit, "--").split(b"\0")
            names = [field.decode("utf-8", "surrogateescape") for field in fields]
            self._renames[commit] = dict(zip(names[1::3], names[2::3], strict=False))
        return self._renames[commit]

    def _hash(self, *question: str) -> str | None:
        if question not in self._hashes:
            found = self._ask(*question).split(b"\n")[0]
            self._hashes[question] = found.decode() if _COMMIT.fullmatch(found) else None
        return self._hashes[question]

    def _ask(self, *arguments: str, text: bytes | None = None) -> bytes:
        try:
            return self._run(*arguments, text=text)
        except git_process.GitFailed as failed:
            if failed.status is None:
                raise
            return b""


def _lines(names: Sequence[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()
