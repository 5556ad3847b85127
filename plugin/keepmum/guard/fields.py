"""Every string of a tool call, in any field, and the secrets in them."""

from __future__ import annotations

from keepmum.guard.message import Members, decode
from keepmum.guard.scanning import related, scan
from keepmum_scanner.finding import in_field, shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Step = str | int | None  # a name, an index, or None: the string before it was parsed as JSON
    Path = tuple[Step, ...]

__all__ = ["FieldFinding", "secrets"]

FieldFinding = tuple[str, str, int, str]  # rule, field, line, fingerprint or ""

_ENVELOPE = ("jsonrpc", "id", "method")
_MAX_VALUE, _MAX_WORDS = 256, 4  # characters, words: a field name describes a value this short, but not a sentence
_LONGEST_NAME = 40
_DEEPEST = 8  # levels of JSON in JSON; each level is scanned as a whole


def secrets(call: Members) -> list[FieldFinding]:
    """Rule, field, line and fingerprint of every secret in a call, without duplicates, in order."""
    known: dict[tuple[str, str], list[tuple[str, int, str]]] = {}  # graph calls repeat names
    places = []
    for path, name, text in _strings(call):
        if (name, text) not in known:
            known[name, text] = list(_found(name, text))
        places += [(rule, _shown(path), line, fingerprint) for rule, line, fingerprint in known[name, text]]
    for path, text, finding in related(_arguments(call)):
        line = text.count("\n", 0, finding.start) + 1
        places.append((finding.rule, _shown(path), line, finding.fingerprint))
    return list(dict.fromkeys(places))


def _strings(call: Members) -> Iterator[tuple[Path, str, str]]:
    """Path, field name and text of every string and number, and of every field name.

    A string that is JSON yields itself and its parts. Iterative, because the value may be nested deeper than
    Python's stack allows.
    """
    seen = set()
    waiting = [(_relative((key,)), key, value) for key, value in call if key.lower() not in _ENVELOPE]
    while waiting:
        path, name, value = waiting.pop()
        if name not in seen:
            seen.add(name)
            yield path, "", name
        if isinstance(value, Members):
            # _meta belongs to the protocol: progress tokens and trace ids, which look random.
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


def _arguments(call: Members) -> Members:
    """The tool's arguments, and what else of its parameters a server may read; the tool's name describes no value."""
    return Members(
        member
        for key, params in call
        if key.lower() == "params" and isinstance(params, Members)
        for name, value in params
        for member in (value if name.lower() == "arguments" and isinstance(value, Members) else ((name, value),))
        if name.lower() not in {"name", "_meta"}
    )


def _relative(path: Path) -> Path:
    """The path relative to the tool's arguments."""
    return () if path == ("params", "arguments") else path


def _as_json(text: str) -> object:
    """The value of a string that is a JSON object, list or string; None for any other."""
    if text.lstrip()[:1] not in {"{", "[", '"'}:
        return None
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return None


def _found(name: str, text: str) -> Iterator[tuple[str, int, str]]:
    """Rule, line and fingerprint of each secret in a text; a short value is also scanned after its field name."""
    whole = f"{text}\n{name}: {text}" if name and _is_value(text) else text
    line, counted = 1, 0
    for finding in in_field(name, list(scan(whole))):
        if finding.start > len(text):  # found after the name; counts the same lines as in the text
            below = text.count("\n", 0, max(0, finding.start - len(whole) + len(text))) + 1
            yield finding.rule, below, finding.fingerprint
            continue
        line, counted = line + text.count("\n", counted, finding.start), finding.start
        yield finding.rule, line, finding.fingerprint


def _is_value(text: str) -> bool:
    return len(text) <= _MAX_VALUE and len(text.split(None, _MAX_WORDS)) <= _MAX_WORDS


def _shown(path: Path) -> str:
    return shown_path(path, _is_plain) or "arguments"


def _is_plain(name: str) -> bool:
    """Whether a name can be shown: short, letters without digits, and no finding."""
    return (
        len(name) <= _LONGEST_NAME
        and name.isascii()
        and name.replace("-", "_").replace("$", "_").isidentifier()
        and not any(letter.isdigit() for letter in name)
        and not scan(name)
    )
