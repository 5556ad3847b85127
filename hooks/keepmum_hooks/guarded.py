"""Which tool calls write to a memory that is not ours: decided by name alone, before anything is scanned.

Guarded are the tools of other MCP servers that speak of memory, writes to the files that agents are told to read
first, and shell commands that name such a file. The tables below are what Keepmum knows; users and projects add to
them under `[guard]`, and nobody takes away.
"""

from __future__ import annotations

import sys

from keepmum_hooks.patterns import FilePattern, fits, parts_of
from keepmum_hooks.system import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from keepmum_hooks.call import Call

__all__ = ["FILES", "OWN_TOOLS", "WORDS", "Guarded"]

# What the names of memory servers and of their tools are made of; "-" is read as "_".
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
# A tool of these keeps nothing, and is how a secret that got into a memory is taken out again.
_REMOVING = ("delete", "remove", "forget", "purge")
_SERVER_TOOL = "mcp__"
# Our own server scans by itself, and refuses more clearly.
OWN_TOOLS = ("mcp__plugin_keepmum_memory__", "mcp__keepmum__")

# Files that agents read at the start of each session, and the folders that clients keep memories in.
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

# What parts words in a shell command: blanks, operators, quotes, and the "=" of options and assignments.
_PARTING = str.maketrans(dict.fromkeys("<>|&;()`\"'={},:$\t\r\n", " "))
_HOMES = (("${HOME}", "~"), ("$HOME", "~"), ("$env:USERPROFILE", "~"))


class Guarded:
    """What is guarded for one user in one project."""

    __slots__ = ("_files", "_patterns", "_tools", "_user")

    def __init__(self, environ: Mapping[str, str], files: Iterable[str] = (), tools: Iterable[str] = ()) -> None:
        """Take the tables, and add patterns of the settings to them."""
        self._user = environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
        of_clients = [environ[name] + below for name, below in _CLIENT_FOLDERS if environ.get(name)]
        self._patterns = (*FILES, *of_clients, *files)
        self._files = [FilePattern(text, self._user) for text in self._patterns]
        self._tools = tuple(tools)

    def concerns(self, call: Call) -> bool:
        """Whether the call may write to a memory that is not ours."""
        if call.tool.startswith(_SERVER_TOOL):
            return self._is_memory_tool(call.tool)
        if any(self._is_memory_file(path, call.cwd) for path in call.paths):
            return True
        return bool(call.command) and self._names_memory_file(call.command, call.cwd)

    def are_named_in(self, raw: bytes) -> bool:
        """Whether a payload that could not be read names a memory: a rough look, so that failing forbids no more.

        A tool of a server is judged by its name; any other call by whether a guarded file is mentioned anywhere.
        """
        text = raw.decode("utf-8", "replace").replace("\\\\", "/")
        tool = _first_string(text.partition('"tool_name"')[2])
        server = _first_string(text.rpartition('"mcp_server_name"')[2]) if '"mcp_server_name"' in text else ""
        if server or tool.startswith("MCP:"):  # Cursor's spelling
            tool = f"{_SERVER_TOOL}{server}__{tool}"
        if tool.startswith(_SERVER_TOOL):
            return self._is_memory_tool(tool)
        lower = text.lower()
        return any(_mark(pattern) in lower for pattern in self._patterns)

    def _is_memory_tool(self, name: str) -> bool:
        if name.startswith(OWN_TOOLS):
            return False
        if any(fits(pattern, name) for pattern in self._tools):
            return True
        spelled = name.lower().replace("-", "_")
        return _speaks_of_memory(spelled) and not spelled.rpartition("__")[2].startswith(_REMOVING)

    def _is_memory_file(self, path: str, cwd: str) -> bool:
        """Whether the file is one by its name, or by the name of what it links to."""
        whole = self.whole(path, cwd)
        return self._fits(whole) or self._fits(real_path(whole))

    def _names_memory_file(self, command: str, cwd: str) -> bool:
        """Whether a word of the command, read as a path, is such a file; only by name, since there may be thousands."""
        text = f"{cwd} {_shortened(command)}".lower().replace("\\", "/")
        near = [pattern for pattern in self._files if pattern.literal in text]
        if not near:
            return False
        paths = (parts_of(self.whole(word, cwd)) for word in set(self.words(command)))
        return any(pattern.fits(path) for path in paths for pattern in near)

    def _fits(self, path: str) -> bool:
        parts = parts_of(path)
        return any(pattern.fits(parts) for pattern in self._files)

    def whole(self, path: str, cwd: str) -> str:
        """The absolute path that is meant."""
        if path == "~" or path.startswith("~/"):
            return self._user + path[1:]
        return path if path.startswith(("/", "\\")) or path[1:2] == ":" else f"{cwd}/{path}"

    @staticmethod
    def words(command: str) -> list[str]:
        """The words of a shell command, near enough, with the user's home as "~"."""
        return _shortened(command).replace("\\ ", " ").translate(_PARTING).split()


def _shortened(command: str) -> str:
    for spelled, short in _HOMES:
        command = command.replace(spelled, short)
    return command


def _first_string(text: str) -> str:
    """What stands between the first two quotes."""
    return text.partition('"')[2].partition('"')[0]


def _speaks_of_memory(name: str) -> bool:
    return any(word in name for word in WORDS)


def _mark(pattern: str) -> str:
    """The longest end of the pattern that a path must contain as it stands: `.cursor/rules/`, `/memory/`."""
    return [piece for piece in pattern.lower().split("**") if piece.strip("/~")][-1].lstrip("~")
