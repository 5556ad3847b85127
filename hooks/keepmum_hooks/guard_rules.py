"""Which tool calls the guard checks: writes to memories outside Keepmum, and changes to Keepmum's own allowlist.

Guarded are the memory tools of other MCP servers, writes to files that agents read first, and shell commands that name
such a file. The decision is made by names alone, before anything is scanned. Users and projects can add to the tables
below under `[guard]`; nobody can remove from them.

A file pattern is a path in which `*` matches any characters within a part and `**` any number of parts. It matches in
every folder unless it is absolute or begins with `~/`. Matching ignores case: on macOS and Windows `claude.md` is the
same file as `CLAUDE.md`. `re` and `fnmatch` are not used because importing them would double a hook's run time.
"""

from __future__ import annotations

import sys

from keepmum_hooks.system import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from keepmum_hooks.event import ToolCall

__all__ = [
    "ALLOWLIST_REFUSAL",
    "FILES",
    "OWN_TOOLS",
    "WORDS",
    "FilePattern",
    "GuardRules",
    "changes_allowlist",
    "matches",
    "parts_of",
]

# Parts of the names of memory servers and their tools; "-" counts as "_".
# Source: https://github.com/modelcontextprotocol/servers/tree/main/src/memory,
# https://github.com/basicmachines-co/basic-memory, https://github.com/getzep/graphiti and
# https://github.com/mem0ai/mem0, read 2026-11-21
WORDS = (
    "memor",  # memory, memories, memorize
    "mem0",
    "remember",
    "knowledge_graph",
    "create_entities",
    "create_relations",
    "add_observations",
    "write_note",
    "edit_note",
    "add_episode",
    "graphiti",
)
# Tools whose names begin like this store nothing, and are how a secret in a memory is removed.
_REMOVING = ("delete", "remove", "forget", "purge")
_SERVER_TOOL = "mcp__"
# Our own server scans every write itself, with a clearer refusal.
OWN_TOOLS = ("mcp__plugin_keepmum_memory__", "mcp__keepmum__")

# Files that agents read at the start of each session, and the folders in which clients keep memories.
# Source: https://code.claude.com/docs/en/memory, https://code.claude.com/docs/en/sub-agents and
# https://cursor.com/docs/context/rules, read 2026-11-21
FILES = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
    "MEMORY.md",
    ".memories/**",
    ".cursor/rules/**",
    ".claude/rules/**",
    ".claude/agent-memory/**",
    ".claude/agent-memory-local/**",
    "~/.claude/**/memory/**",
    "~/.codex/memories/**",
)
_CLIENT_FOLDERS = (("CLAUDE_CONFIG_DIR", "/**/memory/**"), ("CODEX_HOME", "/memories/**"))

# What separates words in a shell command: blanks, operators, quotes, and the "=" of options and assignments.
_SEPARATORS = str.maketrans(dict.fromkeys("<>|&;()`\"'={},:$\t\r\n", " "))
_HOMES = (("${HOME}", "~"), ("$HOME", "~"), ("$env:USERPROFILE", "~"))

_ALLOWLIST_FILES = ("allow.toml", "fingerprint.key")  # in Keepmum's home
ALLOWLIST_REFUSAL = (
    "Keepmum refused this, and nothing was done: only a person decides what is no secret, in their own terminal with "
    "`keepmum allow`; an agent may change neither that list nor its key. `keepmum allow --list` shows it."
)
_DIGITS = frozenset("0123456789abcdef")
_FINGERPRINT_LENGTH = 32


class GuardRules:
    """What is guarded for one user in one project."""

    __slots__ = ("_patterns", "_tools", "_user")

    def __init__(self, environ: Mapping[str, str], files: Iterable[str] = (), tools: Iterable[str] = ()) -> None:
        """Combine the tables with the patterns from the settings."""
        self._user = environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
        client_folders = [environ[name] + below for name, below in _CLIENT_FOLDERS if environ.get(name)]
        self._patterns = (*FILES, *client_folders, *files)
        self._tools = tuple(tools)

    def apply_to(self, call: ToolCall) -> bool:
        """Whether the call may write to a memory outside Keepmum."""
        if call.tool.startswith(_SERVER_TOOL):
            return self._is_memory_tool(call.tool)
        if any(self._is_memory_file(path, call.cwd) for path in call.paths):
            return True
        return bool(call.command) and self._names_memory_file(call.command, call.cwd)

    def are_named_in(self, raw: bytes) -> bool:
        """Whether a payload that could not be read names a memory; approximate, so that few other calls are blocked.

        A server's tool is judged by its name, any other call by whether a guarded file occurs anywhere in the text.
        """
        text = raw.decode("utf-8", "replace").replace("\\\\", "/")
        tool = _first_string(text.partition('"tool_name"')[2])
        server = _first_string(text.rpartition('"mcp_server_name"')[2]) if '"mcp_server_name"' in text else ""
        if server or tool.startswith("MCP:"):  # Cursor's form
            tool = f"{_SERVER_TOOL}{server}__{tool}"
        if tool.startswith(_SERVER_TOOL):
            return self._is_memory_tool(tool)
        lower = text.lower()
        return any(_last_literal(pattern) in lower for pattern in self._patterns)

    def absolute(self, path: str, cwd: str) -> str:
        """The absolute path of `path` for a call in the folder `cwd`."""
        if path == "~" or path.startswith("~/"):
            return self._user + path[1:]
        return path if path.startswith(("/", "\\")) or path[1:2] == ":" else f"{cwd}/{path}"

    def _is_memory_tool(self, name: str) -> bool:
        if name.startswith(OWN_TOOLS):
            return False
        if any(matches(pattern, name) for pattern in self._tools):
            return True
        lower = name.lower().replace("-", "_")
        return any(word in lower for word in WORDS) and not lower.rpartition("__")[2].startswith(_REMOVING)

    def _is_memory_file(self, path: str, cwd: str) -> bool:
        """Whether the path, or what it links to, matches a pattern."""
        path = self.absolute(path, cwd)
        names = {parts_of(path), parts_of(real_path(path))}
        return any(pattern.matches(name) for pattern in self._file_patterns() for name in names)

    def _names_memory_file(self, command: str, cwd: str) -> bool:
        """Whether a word of the command matches as a path; links are not resolved: there may be thousands of words."""
        text = f"{cwd} {_with_tilde(command)}".lower().replace("\\", "/")
        candidates = [pattern for pattern in self._file_patterns() if pattern.literal in text]
        if not candidates:
            return False
        paths = (parts_of(self.absolute(word, cwd)) for word in set(_words(command)))
        return any(pattern.matches(path) for path in paths for pattern in candidates)

    def _file_patterns(self) -> list[FilePattern]:
        return [FilePattern(text, self._user) for text in self._patterns]


def changes_allowlist(call: ToolCall, home: str, rules: GuardRules) -> bool:
    """Whether the call would change the allowlist or its key, or is a command that names them.

    Only a person decides what is no secret. `keepmum allow` itself refuses to run in a client's session; this stops a
    tool that writes the files directly.
    """
    text = "\n".join((*call.paths, call.command)).lower()
    if not any(name in text for name in _ALLOWLIST_FILES):
        return "allow" in call.command and _runs_allow(_words(call.command), call.command)
    if any(_is_allowlist_file(rules.absolute(path, call.cwd), home) for path in call.paths):
        return True
    words = _words(call.command)
    enters_home = any(real_path(rules.absolute(word, call.cwd)) == real_path(home) for word in words)
    return any(_is_allowlist_file(rules.absolute(word, home if enters_home else call.cwd), home) for word in words)


def _is_allowlist_file(path: str, home: str) -> bool:
    """Whether the path leads to one of the files; compared without case, as some file systems do."""
    if not path.lower().endswith(_ALLOWLIST_FILES):
        return False
    own = {file.lower() for name in _ALLOWLIST_FILES for file in (f"{home}/{name}", real_path(f"{home}/{name}"))}
    return path.lower() in own or real_path(path).lower() in own


def _runs_allow(words: list[str], command: str) -> bool:
    """Whether the words run `keepmum allow` with a fingerprint; `--list` and mere mentions do not count."""
    for place, word in enumerate(words[:-1]):
        if word == "allow" and any("keepmum" in before for before in words[max(0, place - 3) : place]):
            rest = words[place + 1 : place + 6]
            if "--list" not in rest and ("$" in command or "`" in command or any(map(_is_fingerprint, rest))):
                return True
    return False


def _is_fingerprint(word: str) -> bool:
    return len(word) == _FINGERPRINT_LENGTH and _DIGITS.issuperset(word)


def _words(command: str) -> list[str]:
    """The words of a shell command, approximately, with the user's home as "~"."""
    return _with_tilde(command).replace("\\ ", " ").translate(_SEPARATORS).split()


def _with_tilde(command: str) -> str:
    for variable, tilde in _HOMES:
        command = command.replace(variable, tilde)
    return command


def _first_string(text: str) -> str:
    """The text between the first two quotes."""
    return text.partition('"')[2].partition('"')[0]


def _last_literal(pattern: str) -> str:
    """The last piece of the pattern that a matching path contains literally: `.cursor/rules/`, `/memory/`."""
    return [piece for piece in pattern.lower().split("**") if piece.strip("/~")][-1].lstrip("~")


class FilePattern:
    """One file pattern; every matching path contains `literal`, which comes from its last part that has one."""

    __slots__ = ("literal", "parts")

    def __init__(self, text: str, user: str) -> None:
        """Parse `text`, in which `~` stands for the folder `user`."""
        path = f"{user}{text[1:]}" if text.startswith("~/") else text
        parts = parts_of(path)
        is_absolute = path.startswith("/") or path[1:2] == ":"
        self.parts = parts if is_absolute else ("**", *parts)
        self.literal = next(filter(None, (max(part.split("*"), key=len) for part in reversed(parts))), "")

    def matches(self, path: Sequence[str]) -> bool:
        """Whether the pattern matches the whole path, given by its parts in lower case."""
        places = {0}  # in the path, up to which the pattern matches so far
        for part in self.parts:
            if part == "**":
                places = set(range(min(places), len(path) + 1)) if places else places
            else:
                places = {place + 1 for place in places if place < len(path) and matches(part, path[place])}
        return len(path) in places


def parts_of(path: str) -> tuple[str, ...]:
    """The parts of a path in lower case; "." and ".." are resolved by name, links are not."""
    parts: list[str] = []
    for part in path.replace("\\", "/").lower().split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts)


def matches(pattern: str, name: str) -> bool:
    """Whether `pattern`, in which `*` matches any characters, matches the whole name; case is ignored."""
    first, *rest = pattern.lower().split("*")
    left = name.lower()
    if not left.startswith(first):
        return False
    if not rest:
        return left == first
    left = left[len(first) :]
    *middle, last = rest
    for piece in middle:
        place = left.find(piece)
        if place < 0:
            return False
        left = left[place + len(piece) :]
    return left.endswith(last)
