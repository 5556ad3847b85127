"""Every string of a tool call, whatever its field is called, and the secrets in them by place."""

from __future__ import annotations

from keepmum.guard.judging import scan
from keepmum.guard.message import Members, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Step = str | int | None  # a name, a place in a list, or None: the string before it was read as JSON
    Path = tuple[Step, ...]

__all__ = ["Place", "secrets"]

Place = tuple[str, str, int, str]  # rule, field, line, fingerprint or ""

_ENVELOPE = ("jsonrpc", "id", "method")
_SHORT, _FEW = 256, 4  # characters and words: a name tells what a value is, and nothing of a sentence
_LONGEST_NAME = 40
_DEEPEST = 8  # JSON in JSON: each level is scanned whole, and nobody writes more than two or three


def secrets(call: Members) -> list[Place]:
    """Rule, field, line and fingerprint of every secret in the message of a call, each once, in order."""
    known: dict[tuple[str, str], list[tuple[str, int, str]]] = {}  # graphs name the same things again and again
    places = []
    for path, name, text in _strings(call):
        if (name, text) not in known:
            known[name, text] = list(_found(name, text))
        places += [(rule, _shown(path), line, fingerprint) for rule, line, fingerprint in known[name, text]]
    return list(dict.fromkeys(places))


def _strings(call: Members) -> Iterator[tuple[Path, str, str]]:
    """Path, governing name and text of every string and number; names by themselves too.

    A string that is JSON comes as it is and, with its escapes undone, by its parts. No recursion: what the decoder
    accepted may be nested deeper than Python's stack.
    """
    seen = set()
    waiting = [(_relative((key,)), key, value) for key, value in call if key.lower() not in _ENVELOPE]
    while waiting:
        path, name, value = waiting.pop()
        if name not in seen:
            seen.add(name)
            yield path, "", name
        if isinstance(value, Members):
            # What is in _meta is between the client and the protocol: tokens of progress and traces, by design random.
            inner = [(key, item) for key, item in value if (path, key) != (_PARAMS, "_meta")]
            waiting += [(_relative((*path, key)), key, item) for key, item in reversed(inner)]
        elif isinstance(value, list):
            waiting += [((*path, place), name, item) for place, item in reversed(list(enumerate(value)))]
        elif isinstance(value, str):
            yield path, name, value
            within = _as_json(value) if path.count(None) < _DEEPEST else None
            if within is not None:
                waiting.append(((*path, None), name, within))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield path, name, str(value)


_PARAMS: Path = ("params",)


def _relative(path: Path) -> Path:
    """The path as whoever filled in the arguments knows it."""
    return () if path == ("params", "arguments") else path


def _as_json(text: str) -> object:
    """The value of a string that is JSON and holds strings itself; None for any other."""
    if text.lstrip()[:1] not in {"{", "[", '"'}:
        return None
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return None


def _found(name: str, text: str) -> Iterator[tuple[str, int, str]]:
    """Rule, line and fingerprint of each secret in a text; a value of few words is looked at below its name as well."""
    whole = f"{text}\n{name}: {text}" if name and _is_value(text) else text
    line, counted = 1, 0
    for finding in scan(whole):
        if finding.start > len(text):  # below its name: on the same line as in the text, which has few
            below = text.count("\n", 0, max(0, finding.start - len(whole) + len(text))) + 1
            yield finding.rule, below, finding.fingerprint
            continue
        line, counted = line + text.count("\n", counted, finding.start), finding.start
        yield finding.rule, line, finding.fingerprint


def _is_value(text: str) -> bool:
    return len(text) <= _SHORT and len(text.split(None, _FEW)) <= _FEW


def _shown(path: Path) -> str:
    """The path in words. A name that could be a secret itself is not repeated."""
    shown = ""
    for step in path:
        if step is None:
            shown += " (JSON)"
        elif isinstance(step, int):
            shown += f"[{step}]"
        else:
            shown += f".{step if _is_plain(step) else '(a name)'}"
    return shown.removeprefix(".") or "arguments"


def _is_plain(name: str) -> bool:
    """Whether a name is surely the name of a field: short, of letters without a digit, and no finding."""
    return (
        len(name) <= _LONGEST_NAME
        and name.isascii()
        and name.replace("-", "_").replace("$", "_").isidentifier()
        and not any(letter.isdigit() for letter in name)
        and not scan(name)
    )
