"""What a tool call makes of guarded files: the text before and after, of which only new secrets are refused.

An edit may contain only a value, whose name is in the file, or half of a token. So the file is read, changed as the
client would change it, and scanned whole. A secret that the file already contains does not block other edits.

The forms of all clients and of servers that write files are recognised by the names of their fields.
"""

from __future__ import annotations

from keepmum_hooks import files
from keepmum_hooks.system import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Optional, Protocol

    from keepmum_hooks.event import ToolCall
    from keepmum_scanner import Finding

    class Rules(Protocol):
        """Which files are guarded."""

        def is_memory_file(self, path: str, cwd: str) -> bool:
            """Whether the path leads to a guarded file."""

        def absolute(self, path: str, cwd: str) -> str:
            """The absolute path of `path` for a call in the folder `cwd`."""

    # Path, fields, and a function that gives the file's new text, or None when the edit cannot be made.
    Edit = tuple[str, tuple[str, ...], Callable[["_File"], Optional[str]]]

__all__ = ["Change", "changes", "find_copied", "find_secrets"]

_FILE_LIMIT = 1 << 20  # bytes; the fields of an edit in a longer file are scanned alone
_MOST_SOURCES = 16  # files of one command
_WHOLE = 64 << 10  # characters; of a longer file only the surroundings of what changes are scanned
_AROUND = 4 << 10  # characters before and after

# Names of fields in lower case without "_".
_OLD = {
    **{
        name: (name.replace("old", "new"),)
        for name in ("old", "oldstring", "oldstr", "oldtext", "oldcontent", "oldcode")
    },
    **dict.fromkeys(
        ("needle", "regex", "search", "find", "pattern"), ("repl", "replace", "replacement", "replacewith")
    ),
}
_EVERY = ("replaceall", "allowmultiple", "allowmultipleoccurrences")
_COUNT = "expectedreplacements"
_LINES = ("insertline", "startline", "linenumber", "line", "atline")
_INSERTED = ("newstr", "inserttext", "newtext", "text", "content")
_CONTENT = ("content", "contents", "filetext", "filecontent", "text", "newcontent", "code", "codeedit")
_PATHS = ("path", "file", "uri", "dest", "target")

_ADD, _UPDATE, _MOVE = "*** Add File: ", "*** Update File: ", "*** Move to: "
_ENDS = ("@@", _ADD, _UPDATE, _MOVE, "*** Delete File: ", "*** Begin Patch", "*** End ")  # of the hunk above


def find_secrets(
    call: ToolCall, rules: Rules, scan: Callable[[str], list[Finding]]
) -> tuple[list[str], list[str], tuple[str, ...]]:
    """The new findings as "rule in field, line n of the file", their fingerprints, and the fields that are covered."""
    found, covered = changes(call, rules)
    findings: dict[str, None] = {}
    fingerprints: dict[str, None] = {}
    for change in found:
        for finding, field, line in change.findings(scan):
            findings[f"{finding.rule} in {field}, line {line} of the file"] = None
            if finding.fingerprint:
                fingerprints[finding.fingerprint] = None
    return list(findings), list(fingerprints), covered


def find_copied(call: ToolCall, rules: Rules, scan: Callable[[str], list[Finding]]) -> tuple[list[str], list[str]]:
    """The new findings in files that the command copies to a guarded one or edits there, and their fingerprints."""
    from keepmum_hooks import shell_words

    found: dict[str, str] = {}
    for pipeline in shell_words.copies(call.command):
        for folder in shell_words.folders(shell_words.words(call.command), call.cwd, rules.absolute):
            *sources, target = pipeline or [""]
            if not sources or not rules.is_memory_file(target, folder):
                continue
            before = _File(rules.absolute(target, folder)).before
            for source in sources[:_MOST_SOURCES]:
                after = _File(rules.absolute(source, folder)).before
                for finding, _, line in Change(before, after, [("", "")]).findings(scan) if after else ():
                    found[f"{finding.rule} in the file that command copies, line {line}"] = finding.fingerprint or ""
    replaced = shell_words.substitutions(call.command)
    for word in shell_words.words(call.command) if replaced else ():
        if rules.is_memory_file(word, call.cwd):
            after = before = _File(rules.absolute(word, call.cwd)).before
            for old, new in replaced:
                after = after.replace(old, new)
            for finding, _, line in Change(before, after, [("", "")]).findings(scan) if after != before else ():
                found[f"{finding.rule} in command, line {line} of the file"] = finding.fingerprint or ""
    return list(found), [one for one in dict.fromkeys(found.values()) if one]


class Change:
    """The text of one file before and after the call."""

    __slots__ = ("after", "before", "fields", "line")

    def __init__(self, before: str, after: str, fields: list[tuple[str, str]]) -> None:
        """Keep the part around what changes; `fields` are names and texts of the input that make the change."""
        start, before, after = _window(before, after)
        self.line = start
        self.before = before
        self.after = after
        self.fields = fields

    def findings(self, scan: Callable[[str], list[Finding]]) -> Iterator[tuple[Finding, str, int]]:
        """Each finding that the file does not contain yet, the field that it comes from, and its line in the file."""
        found = scan(self.after)
        known = [self.before[one.start : one.end] for one in scan(self.before)] if found and self.before else []
        for one in found:
            secret = self.after[one.start : one.end]
            if secret in known:
                known.remove(secret)
            else:
                yield one, self._field_of(secret), self.line + self.after.count("\n", 0, one.start) + 1

    def _field_of(self, secret: str) -> str:
        names = (name for name, text in self.fields if text and (secret in text or text.strip() in secret))
        return next(names, self.fields[0][0])


class _File:
    """One file during the call; `text` is None when it cannot be read."""

    __slots__ = ("before", "fields", "is_written", "text")

    def __init__(self, path: str) -> None:
        self.is_written = False  # whether the call contains a whole text for the file
        raw = files.read(real_path(path), _FILE_LIMIT + 1, follow=True) or b""
        self.before = raw.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
        self.text = None if len(raw) > _FILE_LIMIT else self.before
        self.fields: list[tuple[str, str]] = []


def changes(call: ToolCall, rules: Rules) -> tuple[list[Change], tuple[str, ...]]:
    """The changes of guarded files, and the names of the fields that they cover: no others need them scanned."""
    opened: dict[str, _File] = {}
    covered: set[str] = set()
    missed: set[str] = set()
    for path, names, edit in _edits(call.input, "", lambda path: rules.is_memory_file(path, call.cwd)):
        if path and not rules.is_memory_file(path, call.cwd):
            covered.update(names)
            continue
        full = rules.absolute(path, call.cwd)
        if full not in opened:
            opened[full] = _File(full)
        file = opened[full]
        text = edit(file) if path and file.text is not None else None
        if text is None:
            missed.update(names)
        else:
            file.text = text
            covered.update(names)
    found = [Change(one.before, one.text or "", one.fields) for one in opened.values() if one.fields]
    return found, tuple(covered - missed)


def _edits(value: object, path: str, is_guarded: Callable[[str], bool]) -> Iterator[Edit]:
    """The edits in the input; those of fields without a known file have the path ""."""
    if isinstance(value, list):
        for item in value:
            yield from _edits(item, path, is_guarded)
    if not isinstance(value, dict):
        return
    names = {key.lower().replace("_", ""): key for key in value}
    path = _path_in(names, value, is_guarded) or path
    patches = [key for key, item in value.items() if isinstance(item, str) and (_ADD in item or _UPDATE in item)]
    for key in patches:
        yield from _of_patch(key, value[key])
    yield from _replacements(names, value, path)
    line = next((value[names[name]] for name in _LINES if name in names), None)
    if isinstance(line, int):
        key = next((names[name] for name in _INSERTED if name in names), "")
        yield path, (key,), _inserting(key, line, value.get(key))
    elif path:
        append = value.get(names.get("mode", "")) == "append"
        for key in (names[name] for name in _CONTENT if name in names and names[name] not in patches):
            if isinstance(value[key], str):
                yield path, (key,), _writing(key, value[key], append=append)
    for item in value.values():
        yield from _edits(item, path, is_guarded)


def _replacements(names: dict[str, str], value: dict[str, Any], path: str) -> Iterator[Edit]:
    """The replacements of one text by another; a new text without an old one is scanned alone."""
    count = value.get(names.get(_COUNT, ""))
    every = any(value.get(names.get(name, "")) is True for name in _EVERY) or (isinstance(count, int) and count > 1)
    for old, news in _OLD.items():
        key = next((names[new] for new in news if new in names), "")
        if old in names:
            edit = _replacing(key, value[names[old]], value.get(key, ""), every=every)
            yield path, tuple(filter(None, (names[old], key))), edit
        elif key and old.startswith("old") and not any(name in names for name in _LINES):
            yield "", (key,), _failing


def _path_in(names: dict[str, str], value: dict[str, Any], is_guarded: Callable[[str], bool]) -> str:
    """The file that the fields are about: a guarded one if there are several; "" when there is none."""
    paths = [
        value[key]
        for name, key in names.items()
        if name not in _CONTENT and any(part in name for part in _PATHS) and isinstance(value[key], str)
    ]
    return str(next(filter(is_guarded, paths), paths[0])) if paths else ""


def _failing(_: _File) -> None:
    """Make no text: the fields are scanned alone."""


def _replacing(key: str, old: object, new: object, *, every: bool) -> Callable[[_File], str | None]:
    def edit(file: _File) -> str | None:
        text = file.text or ""
        if not isinstance(old, str) or not isinstance(new, str):
            return None
        before, after = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
        if not before:
            replaced = after if not text.strip() else None
        elif before in text:
            replaced = text.replace(before, after) if every else text.replace(before, after, 1)
        else:  # some clients ignore blanks at the ends of lines
            replaced = _with_lines(text, before.split("\n"), after.split("\n"))
        if replaced is not None:
            file.fields.append((key, after))
        return replaced

    return edit


def _inserting(key: str, line: int, new: object) -> Callable[[_File], str | None]:
    def edit(file: _File) -> str | None:
        if not isinstance(new, str):
            return None
        lines = (file.text or "").split("\n")
        file.fields.append((key, new))
        return "\n".join([*lines[: max(line, 0)], new.rstrip("\n"), *lines[max(line, 0) :]])

    return edit


def _writing(key: str, content: str, *, append: bool) -> Callable[[_File], str | None]:
    def edit(file: _File) -> str | None:
        file.fields.append((key, content))
        if append or file.is_written:  # of two whole texts, either may be the one that is written
            return f"{file.text}{content}" if append else f"{file.text}\n{content}"
        file.is_written = True
        return content

    return edit


def _of_patch(key: str, patch: str) -> Iterator[Edit]:
    """The edits of a patch, one for each of its hunks.

    Source: https://github.com/openai/codex/blob/main/codex-rs/apply-patch/src/parser.rs, read 2026-11-21
    """
    path = source = ""
    old: list[str] = []
    new: list[str] = []
    for line in [*patch.replace("\r\n", "\n").split("\n"), "@@"]:
        mark = line.strip()
        if mark.startswith(_ENDS):
            if old or new:
                yield path, (key,), _patching(key, old, new, source)
                old, new = [], []
            if mark.startswith((_ADD, _UPDATE)):
                path, source = mark.partition(": ")[2].strip(), ""
            elif mark.startswith(_MOVE):
                path, source = mark[len(_MOVE) :].strip(), path
        elif path:
            if line[:1] != "+":
                old.append(line[1:])
            if line[:1] != "-":
                new.append(line[1:])


def _patching(key: str, old: list[str], new: list[str], source: str) -> Callable[[_File], str | None]:
    def edit(file: _File) -> str | None:
        text = file.text or ""
        file.fields.append((key, "\n".join(new)))
        while old and not old[-1] and new and not new[-1]:  # empty lines between the parts of a patch
            del old[-1], new[-1]
        replaced = _with_lines(text, old, new) if old and not source else None
        if replaced is not None:
            return replaced
        # Not found, or another file's text: the hunk stands alone, after the text that is known.
        file.before = "\n".join((file.before, *([] if source else old)))
        return "\n".join((text, *new) if text else new)

    return edit


def _with_lines(text: str, old: list[str], new: list[str]) -> str | None:
    """The text in which the lines `new` replace the first lines that are `old`, up to blanks at their ends."""
    lines = text.split("\n")
    bare = [line.strip() for line in lines]
    wanted = [line.strip() for line in old]
    for place in range(len(lines) - len(old) + 1):
        if bare[place : place + len(old)] == wanted:
            return "\n".join([*lines[:place], *new, *lines[place + len(old) :]])
    return None


def _window(before: str, after: str) -> tuple[int, str, str]:
    """The number of lines left out at the start, and the parts of both texts around the difference."""
    if max(len(before), len(after)) <= _WHOLE:
        return 0, before, after
    same = _common(before, after)
    start = after.rfind("\n", 0, max(0, same - _AROUND)) + 1
    end = _common(before[:same:-1], after[:same:-1])
    last = max(0, end - _AROUND)
    return after.count("\n", 0, start), before[start : len(before) - last], after[start : len(after) - last]


def _common(one: str, other: str) -> int:
    """The length of the common start."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
