"""The secrets in a tool call: every text of its input is scanned, and allowlisted findings are dropped.

Key and allowlist are those of `keepmum allow`. They are read only after something was found, which is rare.

    <home>/fingerprint.key    32 random bytes; also created here, so that a refusal can name a fingerprint to allow
    <home>/allow.toml         one `[[allowed]]` table for each fingerprint
"""

from __future__ import annotations

from keepmum_hooks import files
from keepmum_hooks.payload import loads
from keepmum_hooks.system import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any, Callable, Optional, Union

    from keepmum_hooks.event import ToolCall
    from keepmum_scanner import Finding

    Related = tuple[tuple[Union[str, int, None], ...], str, Finding]  # path and text of a field, and the finding
    Steps = Optional[tuple["Steps", str, int]]  # the path to a text, from its end: the steps above, name, number

__all__ = ["AllowlistScanner", "Text", "find_secrets", "texts"]

_KEY_BYTES = 32
_ALLOWLIST_LIMIT = 4 << 20  # bytes; about twenty thousand entries
_ALLOWLIST_KEYS = ("fingerprint", "why", "added")

_JSON_LEVELS = 8  # of JSON within JSON; each level doubles the backslashes, so a real text has two at most
_LONGEST_NAME = 32
_LONGEST_NAMED = 512  # characters; in a longer string the name of its field says little about the content
_PLAIN_NAME = "key"  # what most memory servers call the name of a memory, so it does not announce a credential
_JSON = "\0"  # the step from a text to the JSON that it contains
_UNNAMED = "\1"  # a field with an empty name; the items of a list have the name ""


def find_secrets(call: ToolCall, home: str | None) -> tuple[list[str], list[str]]:
    """The findings as "rule in field, line n", and their fingerprints; both in order and without duplicates.

    Raises: any error of the scanner, ImportError when it cannot be loaded.
    """
    from keepmum_scanner.finding import in_field, shown_path

    scan = AllowlistScanner(home)

    def may_show(name: str) -> bool:
        return _is_plain(name) and not scan(name)

    findings: dict[str, None] = {}
    fingerprints: dict[str, None] = {}
    for text in texts(call.input, call.existing):
        for finding in in_field(text.name, scan(text.text)):
            field = text.location(may_show)
            findings[f"{finding.rule} in {field}, line {text.line(finding.start)}"] = None
            if finding.fingerprint:
                fingerprints[finding.fingerprint] = None
    for path, field_text, finding in scan.related(call.input, call.existing):
        line = field_text.count("\n", 0, finding.start) + 1
        place = f"{shown_path(path, may_show)}, line {line}"
        findings.pop(f"secret.unnamed in {place}", None)  # now it has a name
        findings[f"{finding.rule} in {place}"] = None
        if finding.fingerprint:
            fingerprints[finding.fingerprint] = None
    return list(findings), list(fingerprints)


class AllowlistScanner:
    """Scans the texts of one call and drops what the allowlist allows; without a home nothing is allowed."""

    __slots__ = ("_allowed", "_home", "_key")

    def __init__(self, home: str | None) -> None:
        self._home = home
        self._key = b""
        self._allowed: frozenset[str] | None = None  # None until the allowlist is read

    def __call__(self, text: str) -> list[Finding]:
        """Findings in `text` that are not on the allowlist, with fingerprints if there is a home.

        Raises: any error of the scanner, ImportError when it cannot be loaded.
        """
        from keepmum_scanner import scan

        if self._home is None:
            return scan(text)
        found = scan(text, self._read_key)
        if not found or not self._allowed:
            return found
        from keepmum_scanner import allow

        return allow(found, self._allowed)

    def related(self, record: Mapping[str, Any], leave_out: Collection[str]) -> list[Related]:
        """Findings in the fields of `record` that other fields name, and that are not on the allowlist.

        Raises: any error of the scanner, ImportError when it cannot be loaded.
        """
        from keepmum_scanner.record_names import may_name

        if not may_name(record, leave_out):
            return []
        from keepmum_scanner.records import find_related

        found = find_related(record, self._read_key if self._home else None, loads, leave_out)
        allowed = self._allowed or ()
        return [one for one in found if not one[2].fingerprint or one[2].fingerprint not in allowed]

    def _read_key(self) -> bytes:
        """The key; the first call also reads the allowlist."""
        if self._allowed is None:
            self._key = _key(f"{self._home}/fingerprint.key")
            self._allowed = _allowlist(f"{self._home}/allow.toml")
        return self._key


def _key(path: str) -> bytes:
    """The key of this user's fingerprints, created if missing; b"" when it is damaged or unavailable."""
    key = files.read(path, _KEY_BYTES + 1, follow=True)
    if key is None:
        try:
            files.create(path, calls.urandom(_KEY_BYTES))
        except OSError:
            return b""
        key = files.read(path, _KEY_BYTES + 1, follow=True)
    return key if key is not None and len(key) == _KEY_BYTES else b""


def _allowlist(path: str) -> frozenset[str]:
    """The allowed fingerprints; none if any line is not in the form that `keepmum allow` writes."""
    raw = files.read(path, _ALLOWLIST_LIMIT + 1, follow=True)
    if raw is None or len(raw) > _ALLOWLIST_LIMIT:
        return frozenset()
    found = set()
    for line in raw.decode("utf-8", "replace").split("\n"):
        name, equals, value = line.strip().partition(" = ")
        if not equals and (not name or name.startswith("#") or name == "[[allowed]]"):
            continue
        if name not in _ALLOWLIST_KEYS or len(value) < 2 or value[0] != '"' or value[-1] != '"':
            return frozenset()
        if name == "fingerprint":
            found.add(value[1:-1])
    return frozenset(found)


class Text:
    """One text to scan; the value begins at `start`, after the name of its field if that is included."""

    __slots__ = ("_steps", "start", "text")

    def __init__(self, text: str, start: int, steps: Steps) -> None:
        self.text = text
        self.start = start
        self._steps = steps

    def location(self, is_clean: Callable[[str], bool]) -> str:
        """The field, as in `entities[0].notes`; a field name that is not clean is replaced by its number."""
        words: list[str] = []
        steps = self._steps
        while steps is not None:
            steps, name, number = steps
            if not name:
                words.append(f"[{number}]")
            elif name == _JSON:
                words.append(" (JSON)")
            else:
                words.append(f".{name}" if _is_plain(name) and is_clean(name) else f".(field {number + 1})")
        return "".join(reversed(words)).lstrip(".")

    @property
    def name(self) -> str:
        """The name of the field of the value; "" for the item of a list, and for a name itself."""
        return self._steps[1] if self._steps and self.start < len(self.text) else ""

    def line(self, at: int) -> int:
        """The line of the value, from 1, that contains the character at `at`."""
        return self.text.count("\n", self.start, max(at, self.start)) + 1


def texts(value: Mapping[str, Any], leave_out: Collection[str] = ()) -> Iterator[Text]:
    """All names and strings in the value, at any depth, except the fields named in `leave_out`.

    A short string is given twice: alone, because no field name may excuse it, and as `name: string`, because a name
    such as "password" identifies the content. JSON inside a string is parsed too: its escapes can hide a secret.
    """
    pending: list[tuple[object, str, Steps, int]] = [(value, "", None, 0)]
    while pending:
        one, name, steps, level = pending.pop()
        if isinstance(one, dict):
            for number, (key, item) in enumerate(one.items()):
                if key not in leave_out:
                    below = (steps, key or _UNNAMED, number)
                    if not isinstance(item, str):
                        yield Text(key, len(key), below)
                    pending.append((item, key, below, level))
        elif isinstance(one, list):
            pending.extend((item, name, (steps, "", number), level) for number, item in enumerate(one))
        elif isinstance(one, str):
            yield Text(one, 0, steps)
            if name and name != _PLAIN_NAME and len(one) <= _LONGEST_NAMED:
                yield Text(f"{name}: {one}", len(name) + 2, steps)
            inner = loads(one) if level < _JSON_LEVELS and one.lstrip()[:1] in ("{", "[", '"') else None
            if inner is not None:
                pending.append((inner, name, (steps, _JSON, 0), level + 1))


def _is_plain(name: str) -> bool:
    """Whether the name consists of a word or two, as field names do; a secret has digits or is longer."""
    return len(name) <= _LONGEST_NAME and name.isascii() and name.replace("_", "").isalpha()
