"""Which files of a working tree differ from its commit, asked of git through GitPython.

Unlike `git_facts` this runs git, as whoever works in the folder does all day; hooks and file-system monitors that a
repository's configuration names are left out all the same.
"""

from __future__ import annotations

__all__ = ["changed_files"]

_MOST = 100  # files named; a memory tells what it is about, it is no inventory
_PATIENCE = 3.0  # seconds, after which a huge working tree is left without a list
_OWN = ".memories/"  # that a memory was written is no change worth writing down


def changed_files(root: str) -> list[str] | None:
    """Paths that differ from the commit, or are new, by name; None where git cannot say in time.

    Paths are relative to the top of the working tree. None also where GitPython or git is missing.
    """
    import logging  # a server that keeps nothing in files has no use for either

    try:
        import git  # 75 ms, at the first memory that is kept in a repository
    except ImportError:  # raised for a missing program too
        return None
    logging.getLogger("git").setLevel(logging.CRITICAL)  # the server's standard error is for its own words
    quiet = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotePath=false"]
    try:
        with git.Repo(root, search_parent_directories=True) as repository:
            said = repository.git.execute(
                [
                    "git",
                    *(word for option in quiet for word in ("-c", option)),
                    *(
                        "status",
                        "--porcelain=v1",
                        "-z",
                        "--no-renames",
                        "--untracked-files=all",
                        "--ignore-submodules=all",
                    ),
                ],
                kill_after_timeout=_PATIENCE,
                strip_newline_in_stdout=False,
                env={"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
            )
    except (git.exc.GitError, OSError, ValueError):
        return None
    names = [entry[3:] for entry in str(said).split("\0") if len(entry) > 3]
    return sorted(name for name in names if not name.startswith(_OWN))[:_MOST]
