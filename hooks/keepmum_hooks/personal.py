"""What only a person decides: what is no secret. No agent adds to that list, be it by its file or by the command.

The command itself refuses inside of a client's session; this says so before a tool gets round that.
"""

from __future__ import annotations

from keepmum_hooks.system import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_hooks.call import Call
    from keepmum_hooks.guarded import Guarded

__all__ = ["FILES", "REASON", "decides"]

FILES = ("allow.toml", "fingerprint.key")  # in Keepmum's home
REASON = (
    "Keepmum refused this, and nothing was done: what is no secret is decided by a person, at their own terminal, with "
    "`keepmum allow`; an agent changes neither that list nor its key. `keepmum allow --list` shows it."
)
_DIGITS = frozenset("0123456789abcdef")
_LENGTH = 32  # of a fingerprint


def decides(call: Call, home: str, guarded: Guarded) -> bool:
    """Whether the call would change what is allowed, or names the files for it in a command."""
    said = "\n".join((*call.paths, call.command)).lower()
    if not any(name in said for name in FILES):
        return "allow" in call.command and _allows(guarded.words(call.command), call.command)
    if any(_is_one(guarded.whole(path, call.cwd), home) for path in call.paths):
        return True
    words = guarded.words(call.command)
    goes_there = any(real_path(guarded.whole(word, call.cwd)) == real_path(home) for word in words)
    return any(_is_one(guarded.whole(word, home if goes_there else call.cwd), home) for word in words)


def _is_one(path: str, home: str) -> bool:
    """Whether the path leads to one of the files, however it is spelled; on some systems case does not count."""
    if not path.lower().endswith(FILES):
        return False
    own = {place.lower() for name in FILES for place in (f"{home}/{name}", real_path(f"{home}/{name}"))}
    return path.lower() in own or real_path(path).lower() in own


def _allows(words: list[str], command: str) -> bool:
    """Whether the words start `keepmum allow` with a fingerprint; to speak of the command, or to list, is free."""
    for place, word in enumerate(words[:-1]):
        if word == "allow" and any("keepmum" in before for before in words[max(0, place - 3) : place]):
            rest = words[place + 1 : place + 6]
            if "--list" not in rest and ("$" in command or "`" in command or any(map(_is_fingerprint, rest))):
                return True
    return False


def _is_fingerprint(word: str) -> bool:
    return len(word) == _LENGTH and _DIGITS.issuperset(word)
