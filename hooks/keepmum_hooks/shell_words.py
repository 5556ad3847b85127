"""The words of a shell command that may be paths, without a shell's parser: rather too many than too few.

A command is only scanned when one of these words can be a guarded file, and only refused when it holds a secret. So a
word that is none costs one scan.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["copies", "folders", "open_words", "respelled", "substitutions", "words", "writes"]

# What separates words: blanks, operators, quotes, and the "=" of options and assignments.
_SEPARATORS = str.maketrans(dict.fromkeys("<>|&;()`\"'={},:$\t\r\n", " "))
_OPERATORS = str.maketrans(dict.fromkeys("<>|&;()=:\t\r\n", " "))
_OPEN = ("*", "?", "[", "{", "$", "%s")  # signs of words that stand for other names
_VARIABLE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
_SHELLS = frozenset("sh bash zsh dash ksh fish pwsh powershell ssh eval find fd xargs".split())
_MOST_ALTERNATIVES = 16
_MOST_BRACES = 3
_HOMES = (("${HOME}", "~"), ("$HOME", "~"), ("$env:USERPROFILE", "~"), ("%USERPROFILE%", "~"))

# How programs join the pieces of a name, 'CLAUDE' + '.md', and of a path, join('.cursor', 'rules').
_JOINTS = (("", (" + ", "+", " . ", " ")), ("/", (", ", ",", " / ", "/", ") / ")))
_EXTENSIONS = frozenset((".md", "md"))
_UNQUOTED = str.maketrans(dict.fromkeys("\"'`\\", ""))

_CHANGE_FOLDER = frozenset("cd pushd chdir set-location push-location sl -C --directory --cwd".split())
_MOST_FOLDERS = 8

# Signs that a command writes a file. What only discards output does not count.
_DISCARDED = ("2>&1", "1>&2", ">&2", ">/dev/null", "> /dev/null", ">$null", "> $null")
_WRITERS = frozenset(
    "tee cp mv ln dd install rsync sed perl awk ed ex vi vim patch apply sponge python python3 node deno bun ruby php "
    "curl wget set-content add-content out-file tee-object new-item copy-item move-item copy move xcopy "
    "robocopy".split()
)

_COPYING = frozenset(
    "cp mv ln dd install rsync cat tee head tail copy move xcopy type copy-item move-item get-content gc cpi mi".split()
)


def words(command: str) -> list[str]:
    """The words of the command, with the user's home as "~"."""
    return _with_tilde(command).replace("\\ ", " ").translate(_SEPARATORS).split()


def respelled(command: str) -> list[str]:
    """The command as a shell or a program reads it, where that differs: without quotes, escapes and joints."""
    found = []
    for joined, joints in _JOINTS:
        text = command
        for joint in joints:
            text = text.replace(f"'{joint}'", joined).replace(f'"{joint}"', joined)
        if text != command:
            found.append(text)
    unquoted = _decoded(command).translate(_UNQUOTED)
    if unquoted != command:
        found.append(unquoted)
    pieces = set(words(command))
    if not _EXTENSIONS.isdisjoint(pieces):  # a name and its extension apart, as in `a=CLAUDE; b=.md`
        found.append(" ".join(f"{piece}.md" for piece in pieces))
    return found


def open_words(command: str) -> list[str]:
    """The words that stand for other names, with `*` and `?` for wildcards and `**` for variables.

    Text in single quotes and in here-documents does not, unless a program in the command reads it again.
    """
    if not any(sign in command for sign in _OPEN):
        return []
    if _SHELLS.isdisjoint(words(command)):  # which would read quoted text again
        command = _without_documents(command)
        command = "".join(piece for place, piece in enumerate(command.split("'")) if place % 2 == 0 or len(piece) < 2)
    command = _without_substitutions(_with_tilde(_decoded(command)))
    plain = command.translate(_OPERATORS).translate(_UNQUOTED)
    found = {word for word in plain.split() if any(sign in word for sign in _OPEN)}
    targets = {next(iter(after.translate(_OPERATORS).split()), "") for after in command.translate(_UNQUOTED).split(">")}
    if not _WRITERS.isdisjoint(words(command.lower())):
        targets = found
    opened = {_opened(one): word in targets for word in found for one in _alternatives(word)}
    return [word for word, is_target in opened.items() if _says_something(word, is_target=is_target)]


def _says_something(word: str, *, is_target: bool) -> bool:
    """Whether the word names more than an extension; for what is written to, an extension is enough."""
    stem, dot, _ = word.rpartition("/")[2].rpartition(".")
    named = word if is_target or not dot else stem or word
    return any(map(str.isalnum, named))


def _without_documents(command: str) -> str:
    """The command without the text of its here-documents."""
    if "<<" not in command:
        return command
    kept: list[str] = []
    end = ""
    for line in command.split("\n"):
        if end:
            end = "" if line.strip() == end else end
            continue
        kept.append(line)
        _, mark, after = line.partition("<<")
        if mark and not after.startswith("<"):
            end = next(iter(words(after.lstrip("-"))), "")
    return "\n".join(kept)


def writes(command: str) -> bool:
    """Whether the command may write a file."""
    lower = command.lower()
    for discarded in _DISCARDED:
        lower = lower.replace(discarded, "")
    if ">" in lower:
        return True
    return not _WRITERS.isdisjoint(word.rpartition("/")[2].rpartition("\\")[2] for word in words(lower))


def copies(command: str) -> list[list[str]]:
    """The words of each pipeline that copies files to its last word, without options."""
    if _COPYING.isdisjoint(words(command.lower())):
        return []
    found = []
    for pipeline in command.replace("&&", ";").replace("||", ";").replace("\n", ";").split(";"):
        rest, _, source = pipeline.partition(" < ")
        pieces = [*words(source), *words(rest)]
        if any(piece.lower() in _COPYING for piece in pieces):
            found.append([piece for piece in pieces if not piece.startswith("-")])
    return found


def substitutions(command: str) -> list[tuple[str, str]]:
    """The texts and their replacements in `s/old/new/` of `sed` and `perl`."""
    if not {"sed", "perl"} & set(words(command)):
        return []
    quoted = [*command.split("'")[1::2], *command.split('"')[1::2]]
    scripts = (piece.strip() for text in (*quoted, *command.split()) for piece in text.split(";"))
    parts = (script[2:].split(script[1]) for script in scripts if script[:1] == "s" and len(script) > 3)
    return [(part[0].lstrip("^").rstrip("$"), part[1]) for part in parts if len(part) > 1 and part[0]]


def folders(found: Sequence[str], cwd: str, absolute: Callable[[str, str], str]) -> list[str]:
    """The working folder, and those that the command changes to, one after the other."""
    passed = [cwd]
    for place, word in enumerate(found[:-1]):
        if word in _CHANGE_FOLDER and len(passed) < _MOST_FOLDERS:
            passed.append(absolute(found[place + 1], passed[-1]))
    return passed


def _with_tilde(command: str) -> str:
    for variable, tilde in _HOMES:
        command = command.replace(variable, tilde)
    return command


def _without_substitutions(command: str) -> str:
    """The command with `**` for each `$(...)` and `${...}`, and what is inside the first at the end."""
    pieces: list[str] = []
    inner: list[str] = []
    place = 0
    while True:
        start = min((at for at in (command.find("$(", place), command.find("${", place)) if at >= 0), default=-1)
        end = command.find(")" if command[start + 1 : start + 2] == "(" else "}", start) if start >= 0 else -1
        if end < 0:
            return " ".join(("".join((*pieces, command[place:])), *inner))
        pieces += (command[place:start], "**")
        if command[end] == ")":
            inner.append(command[start + 2 : end])
        place = end + 1


def _alternatives(word: str) -> list[str]:
    """The words that the shell makes of the braces in `word`; `*` for braces when they are too many."""
    end = word.find("}")
    start = word.rfind("{", 0, end)
    if start < 0 or end < 0:
        return [word]
    inner = word[start + 1 : end].split(",")
    if len(inner) == 1 or len(inner) > _MOST_ALTERNATIVES or word.count("{") > _MOST_BRACES:
        inner = ["*"]
    return [one for piece in inner for one in _alternatives(f"{word[:start]}{piece}{word[end + 1 :]}")]


def _opened(word: str) -> str:
    """The word with `**` for each variable, and `?` for each set of characters."""
    first, *rest = word.replace("%s", "*").split("$")
    word = first + "".join(f"**{piece.lstrip(_VARIABLE)}" for piece in rest)
    first, *rest = word.split("[")
    return first + "".join(f"?{piece.partition(']')[2]}" if "]" in piece else f"[{piece}" for piece in rest)


def _decoded(command: str) -> str:
    r"""The command with the characters that its escapes stand for: `\x2e`, `\056` and `\u002e`."""
    if "\\" not in command:
        return command
    first, *rest = command.replace("\\\n", "").split("\\")
    return first + "".join(_unescaped(piece) for piece in rest)


def _unescaped(piece: str) -> str:
    """The text after a backslash, with the character that an escape at its start stands for."""
    for start, length, base in (("x", 2, 16), ("u", 4, 16), ("U", 8, 16), ("", 3, 8)):
        digits = piece[len(start) : len(start) + length]
        if piece.startswith(start) and len(digits) == length:
            try:
                return chr(int(digits, base)) + piece[len(start) + length :]
            except (ValueError, OverflowError):
                pass
    return f"\\{piece}"
