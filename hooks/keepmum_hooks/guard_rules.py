"""Which tool calls the guard checks: writes to memories outside Keepmum, and changes to Keepmum's own allowlist.

Guarded are the memory tools of other MCP servers and of clients, any tool that is given the path of a file that agents
read first, and shell commands that name such a file. The decision is made by names alone, before anything is scanned.
Users and projects can add to the tables in `guard_table` under `[guard]`; nobody can remove from them.

A file pattern is a path in which `*` matches any characters within a part and `**` any number of parts. It matches in
every folder unless it is absolute or begins with `~/`. Matching ignores case: on macOS and Windows `claude.md` is the
same file as `CLAUDE.md`. `re` and `fnmatch` are not used because importing them would double a hook's run time.
"""

from __future__ import annotations

import sys

from keepmum_hooks.guard_table import CHANCE, NAMES, OWN_TOOLS, PATTERNS, REMOVING, WORDS, WRITING
from keepmum_hooks.system import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from keepmum_hooks.event import ToolCall

__all__ = [
    "ALLOWLIST_REFUSAL",
    "SETTINGS_REFUSAL",
    "FilePattern",
    "GuardRules",
    "changes_allowlist",
    "disables_guard",
    "matches",
    "overlaps",
    "parts_of",
]

_SERVER_TOOL = "mcp__"
_CLIENT_FOLDERS = (("CLAUDE_CONFIG_DIR", "/**/memory/**"), ("CODEX_HOME", "/memories/**"))

# Parts of the names of fields that hold a path or a command, in the tools of any client or server.
_PATH_FIELDS = ("path", "file", "uri", "dest", "target")
_COMMAND_FIELDS = ("command", "cmd", "script", "code")
_LONGEST_PATH = 1000
_MOST_OPEN = 64  # words, each of which is compared with every pattern
_DEPTH = 6  # of objects and lists in which such fields are looked for

_ALLOWLIST_FILES = ("allow.toml", "fingerprint.key")  # in Keepmum's home
ALLOWLIST_REFUSAL = (
    "Keepmum refused this, and nothing was done: only a person decides what is not a secret, in their own terminal "
    "with `keepmum allow`; an agent may change neither that list nor its key. `keepmum allow --list` shows it."
)
SETTINGS_REFUSAL = (
    "Keepmum refused this, and nothing was done: only a person switches off what keeps secrets out of memories, in "
    "their own terminal with `keepmum off`. `keepmum off --session` switches everything else off for this session."
)
_COPYING = frozenset("cp mv ln dd install rsync copy move copy-item move-item".split())
_DIGITS = frozenset("0123456789abcdef")
_FINGERPRINT_LENGTH = 32


class GuardRules:
    """What is guarded for one user in one project."""

    __slots__ = ("_known", "_patterns", "_servers", "_tools", "_user")

    def __init__(
        self,
        environ: Mapping[str, str],
        files: Iterable[str] = (),
        tools: Iterable[str] = (),
        servers: Iterable[str] = (),
    ) -> None:
        """Combine the tables with the patterns from the settings."""
        self._user = environ.get("USERPROFILE" if sys.platform == "win32" else "HOME", "")
        client_folders = [environ[name] + below for name, below in _CLIENT_FOLDERS if environ.get(name)]
        self._known: dict[str, bool] = {}  # whether a path is guarded
        self._patterns = (*PATTERNS, *client_folders, *files)
        self._tools = tuple(map(_plain, tools))
        self._servers = tuple(f"_{_plain(server).strip('_')}_" for server in servers)

    def apply_to(self, call: ToolCall) -> bool:
        """Whether the call may write to a memory outside Keepmum."""
        if call.tool.startswith(OWN_TOOLS):
            return False
        if self.is_memory_tool(call.tool):
            return True
        if any(self.is_memory_file(path, call.cwd) for path in {*call.paths, *_fields(call.input, _PATH_FIELDS)}):
            return True
        commands = _fields(call.input, _COMMAND_FIELDS) if call.tool.startswith(_SERVER_TOOL) else (call.command,)
        return any(self._names_memory_file(command, call.cwd) for command in commands if command)

    def are_named_in(self, raw: bytes) -> bool:
        """Whether a payload that could not be read names a memory; approximate, so that few other calls are blocked.

        A server's tool is judged by its name, any other call by whether a guarded file occurs anywhere in the text.
        """
        text = raw.decode("utf-8", "replace").replace("\\\\", "/")
        tool = _first_string(text.partition('"tool_name"')[2])
        server = _first_string(text.rpartition('"mcp_server_name"')[2]) if '"mcp_server_name"' in text else ""
        if server or tool.startswith("MCP:"):  # Cursor's form
            tool = f"{_SERVER_TOOL}{server}__{tool}"
        if tool.startswith(OWN_TOOLS):
            return False
        if tool.startswith(_SERVER_TOOL) or self.is_memory_tool(tool):
            return self.is_memory_tool(tool)
        lower = text.lower()
        return any(name in lower for name in NAMES) or any(
            _last_literal(pattern) in lower for pattern in self._patterns
        )

    def absolute(self, path: str, cwd: str) -> str:
        """The absolute path of `path` for a call in the folder `cwd`."""
        path = path.removeprefix("file://")
        if path == "~" or path.startswith("~/"):
            return self._user + path[1:]
        return path if path.startswith(("/", "\\")) or path[1:2] == ":" else f"{cwd}/{path}"

    def is_memory_file(self, path: str, cwd: str) -> bool:
        """Whether the path, or what it links to, is guarded."""
        path = self.absolute(path, cwd)
        if path not in self._known:
            self._known[path] = self._is_memory_file({parts_of(path), parts_of(real_path(path))})
        return self._known[path]

    def _is_memory_file(self, names: set[tuple[str, ...]]) -> bool:
        """Whether one of the names of a file, given by their parts, is guarded."""
        if any(name and name[-1] in NAMES for name in names):
            return True
        text = "/".join(part for name in names for part in name)
        return any(pattern.matches(name) for pattern in self._candidates(text) for name in names)

    def is_memory_tool(self, name: str) -> bool:
        """Whether the tool of a server or a client stores something in a memory, judged by its name."""
        plain = _plain(name)
        if any(matches(pattern, plain) for pattern in self._tools):
            return True
        words = _words_of(name)
        if any(server in words or server in f"_{plain}_" for server in self._servers):
            return True
        letters = "".join(word for word in words.split("_") if not word.startswith(CHANCE))
        if not any(word in words if word[0] == "_" else word.replace("_", "") in letters for word in WORDS):
            return False
        of_tool = frozenset(_words_of(name.rpartition("__")[2]).split("_"))
        return bool(WRITING & of_tool) or not REMOVING & of_tool

    def _names_memory_file(self, command: str, cwd: str) -> bool:
        """Whether the command names a guarded file, or writes to a name that a guarded file can have.

        Links are not resolved: there may be thousands of words.
        """
        from keepmum_hooks import shell_words

        return (
            self._match(command, cwd)
            or any(self._match(spelled, cwd) for spelled in shell_words.respelled(command))
            or (shell_words.writes(command) and self._match_open(shell_words.open_words(command), cwd))
        )

    def _match(self, command: str, cwd: str) -> bool:
        """Whether a word of the command is a guarded path in its folder or in one that it changes to."""
        text = f"{cwd} {command}".lower().replace("\\", "/")
        candidates = self._candidates(text)
        names = {name for name in NAMES if name in text}
        if not candidates and not names:
            return False
        from keepmum_hooks import shell_words

        found = shell_words.words(command)
        for folder in shell_words.folders(found, cwd, self.absolute):
            for path in {parts_of(self.absolute(word, folder)) for word in set(found)}:
                if (path and path[-1] in names) or any(pattern.matches(path) for pattern in candidates):
                    return True
        return False

    def _match_open(self, words: Sequence[str], cwd: str) -> bool:
        """Whether one of the words, which stand for several names, can be a guarded path; True if too many to try."""
        if len(words) > _MOST_OPEN:
            return True
        patterns = [FilePattern(pattern, self._user) for pattern in self._patterns] if words else []
        names_only = [pattern for pattern in patterns if pattern.parts[-1] != "**"]
        for word in words:
            path = parts_of(self.absolute(word, cwd))
            if path and any(overlaps(name, path[-1]) for name in NAMES):
                return True
            if any(pattern.matches(path, overlaps) for pattern in (patterns if "/" in word else names_only)):
                return True
        return False

    def _candidates(self, text: str) -> list[FilePattern]:
        """The patterns whose literal part occurs in the text, which is in lower case."""
        return [FilePattern(pattern, self._user) for pattern in self._patterns if _literal(pattern) in text]


def changes_allowlist(call: ToolCall, home: str, rules: GuardRules) -> bool:
    """Whether the call would change the allowlist or its key, or is a command that names them.

    Only a person decides what is not a secret. `keepmum allow` itself refuses to run in a client's session; this
    stops a tool that writes the files directly.
    """
    text = "\n".join((*call.paths, call.command)).lower()
    if not any(name in text for name in _ALLOWLIST_FILES) and "allow" not in call.command:
        return False
    from keepmum_hooks import shell_words

    if not any(name in text for name in _ALLOWLIST_FILES):
        return _runs_allow(shell_words.words(call.command), call.command)
    if any(_is_allowlist_file(rules.absolute(path, call.cwd), home) for path in call.paths):
        return True
    words = shell_words.words(call.command)
    enters_home = any(real_path(rules.absolute(word, call.cwd)) == real_path(home) for word in words)
    return any(_is_allowlist_file(rules.absolute(word, home if enters_home else call.cwd), home) for word in words)


def disables_guard(call: ToolCall, home: str, rules: GuardRules) -> bool:
    """Whether the call would switch the guard off in the user's `config.toml`, or run `keepmum off` for everything."""
    text = "\n".join((*call.paths, call.command)).lower()
    if "config.toml" not in text and not ("keepmum" in text and "off" in text):
        return False
    from keepmum_hooks import edits, shell_words, switches

    settings = _Settings(home, rules)
    found = shell_words.words(call.command)
    for place, word in enumerate(found):
        is_ours = any("keepmum" in before for before in found[max(0, place - 3) : place])
        if word == "off" and is_ours and not {"--project", "--session"} & set(found[place : place + 4]):
            return True
    if any(
        settings.is_memory_file(word, folder) for folder in (call.cwd, home) for word in found if "config.toml" in word
    ):
        return shell_words.writes(call.command) and ("false" in text or not _COPYING.isdisjoint(found))
    changed, _ = edits.changes(call, settings)
    return any(switches.disables_guard(one.after) and not switches.disables_guard(one.before) for one in changed)


class _Settings:
    """The user's settings file as the only guarded one."""

    def __init__(self, home: str, rules: GuardRules) -> None:
        self._path = real_path(f"{home}/config.toml")
        self.absolute = rules.absolute

    def is_memory_file(self, path: str, cwd: str) -> bool:
        """Whether the path leads to the file."""
        return path.endswith("config.toml") and real_path(self.absolute(path, cwd)) == self._path


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


def _fields(value: object, names: Sequence[str], depth: int = _DEPTH) -> Iterator[str]:
    """The strings in fields whose name contains one of `names`; for paths only those that can be one."""
    for key, item in value.items() if isinstance(value, dict) else ():
        lower = key.lower()
        if any(name in lower for name in names):
            for one in item if isinstance(item, list) else (item,):
                if isinstance(one, str) and (
                    names is not _PATH_FIELDS or (len(one) <= _LONGEST_PATH and "\n" not in one)
                ):
                    yield one
    if depth and isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, (dict, list)):
                yield from _fields(item, names, depth - 1)


def _plain(name: str) -> str:
    """The name in lower case, with one "_" for each run of other signs than letters, digits and "*"."""
    signs = "".join(sign if sign.isalnum() or sign == "*" else " " for sign in name.lower())
    return "_".join(signs.split())


def _words_of(name: str) -> str:
    """The words of the name in lower case, each between two "_": `_mem_save_` of `memSave` and of `mem-save`."""
    pieces = ["_"]
    before = ""
    for sign in name:
        pieces.append(f"_{sign}" if sign.isupper() and before.islower() else sign if sign.isalnum() else "_")
        before = sign
    return f"{''.join(pieces).lower()}_"


def _first_string(text: str) -> str:
    """The text between the first two quotes."""
    return text.partition('"')[2].partition('"')[0]


def _last_literal(pattern: str) -> str:
    """The last piece of the pattern that a matching path contains literally: `/rules`, `/memory/`."""
    pieces = pattern.lower().replace("**", "*").split("*")
    return [piece for piece in pieces if piece.strip("/~.")][-1].lstrip("~")


def _literal(pattern: str) -> str:
    """The longest literal piece of the last part of the pattern that has one; each matching path contains it."""
    for part in reversed(pattern.lower().split("/")):
        literal = max(part.split("*"), key=len)
        if literal not in ("", ".", "~"):
            return literal
    return ""


class FilePattern:
    """One file pattern."""

    __slots__ = ("parts",)

    def __init__(self, text: str, user: str) -> None:
        """Parse `text`, in which `~` stands for the folder `user`."""
        path = f"{user}{text[1:]}" if text.startswith("~/") else text
        parts = parts_of(path)
        is_absolute = path.startswith("/") or path[1:2] == ":"
        self.parts = parts if is_absolute else ("**", *parts)

    def matches(self, path: Sequence[str], is_match: Callable[[str, str], bool] | None = None) -> bool:
        """Whether the pattern matches the whole path, given by its parts in lower case.

        `is_match` compares one part of the pattern with one of the path: `matches` by default, or `overlaps`.
        """
        compare = is_match or matches
        places = {0}  # in the path, up to which the pattern has matched
        for part in self.parts:
            if part == "**":
                places = set(range(min(places), len(path) + 1)) if places else places
            else:
                places = {place + 1 for place in places if place < len(path) and compare(part, path[place])}
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


def overlaps(pattern: str, word: str) -> bool:
    """Whether some name matches both `pattern` and `word`, in which `*` is any characters and `?` any one.

    A word without a letter or digit matches only a pattern without one: `*` alone says nothing about a name. As in a
    shell, a wildcard matches no "." at the start; a variable, `**`, may.
    """
    start = word.replace("?", "*").partition("*")[0]
    first = pattern.partition("*")[0]
    if not (first.startswith(start) or start.startswith(first)):
        return False
    end = word.replace("?", "*").rpartition("*")[2]
    last = pattern.rpartition("*")[2]
    if not (last.endswith(end) or end.endswith(last)):
        return False
    has_name = any(map(str.isalnum, pattern))
    if has_name and not any(map(str.isalnum, word)):
        return False
    if has_name and "*" in pattern and not ((start and first) or (end and last)):
        return False  # all that both share is what both leave open
    if pattern.startswith(".") and word[:1] in ("*", "?") and word[:2] != "**":
        return False
    ends = {0}  # in `word`, up to which it can match the start of the pattern
    for sign in pattern:
        ends = _past_stars(word, ends)
        if sign == "*":
            ends = set(range(min(ends, default=len(word) + 1), len(word) + 1))
        else:
            ends = {at if word[at] == "*" else at + 1 for at in ends if at < len(word) and word[at] in (sign, "*", "?")}
    return len(word) in _past_stars(word, ends)


def _past_stars(word: str, ends: set[int]) -> set[int]:
    """The places in `word`, and those after the `*` that follow them, which may match nothing."""
    passed: set[int] = set()
    for end in ends:
        stars = len(word) - end - len(word[end:].lstrip("*"))
        passed.update(range(end, end + stars + 1))
    return passed
