"""The result of a scan, and what can be done with it: name it, leave it out, or remove its text."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any

_IDENTIFIED = "session conversation thread chat run user agent app message request trace project group".split()
_ID_FIELDS = (
    "session", "sessionkey", "projectpath", *(word + end for word in _IDENTIFIED for end in ("id", "uuid")),
)  # fmt: skip
# Source: https://datatracker.ietf.org/doc/rfc2104/, read 2026-11-21
_BLOCK = 64  # bytes
_INNER, _OUTER = (int.from_bytes(pad * _BLOCK, "big") for pad in (b"\x36", b"\x5c"))


class Finding(tuple[str, int, int, float, str]):
    """One suspected secret, given by its position; it never holds the secret itself.

    A tuple subclass is created in a third of the time that `__slots__` take, and a dump has thousands of findings.
    Written by hand, since importing dataclasses or typing costs more than the rest of a small scan.
    """

    __slots__ = ()

    def __new__(  # noqa: D102, PYI034 - the class docstring describes it; Self is in typing
        cls, rule: str, start: int, end: int, confidence: float, fingerprint: str = ""
    ) -> Finding:
        return tuple.__new__(cls, (rule, start, end, confidence, fingerprint))

    @property
    def rule(self) -> str:
        """The id of the rule that matched, such as "github.token"."""
        return self[0]

    @property
    def start(self) -> int:
        """Index of the first character in the scanned text."""
        return self[1]

    @property
    def end(self) -> int:
        """Index after the last character."""
        return self[2]

    @property
    def confidence(self) -> float:
        """Confidence from 0 to 1."""
        return self[3]

    @property
    def fingerprint(self) -> str:
        """A keyed digest of the secret; "" when the caller gave no key."""
        return self[4]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Finding is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Finding is frozen: {name} cannot be deleted")

    def __reduce__(self) -> tuple[type[Finding], tuple[str, int, int, float, str]]:
        return (Finding, (self[0], self[1], self[2], self[3], self[4]))

    def __repr__(self) -> str:
        return f"Finding({self.rule!r}, {self.start}, {self.end}, confidence={self.confidence:.2f})"


def allow(findings: Iterable[Finding], fingerprints: Collection[str]) -> list[Finding]:
    """The findings that remain when those with one of `fingerprints` are allowed.

    A finding without a fingerprint always remains, so an empty line in an allowlist allows nothing.
    """
    return [finding for finding in findings if not finding.fingerprint or finding.fingerprint not in fingerprints]


def in_field(name: str, findings: list[Finding]) -> list[Finding]:
    """The findings that count in the field `name`: of the id of a session, which looks random, only known formats."""
    if not findings or not name.lower().replace("_", "").replace("-", "").endswith(_ID_FIELDS):
        return findings
    return [finding for finding in findings if not finding.rule.startswith("secret.")]


def shown_path(path: Iterable[str | int | None], may_show: Callable[[str], bool]) -> str:
    """A path as in `entities[0].notes`; None is the step into JSON in a string. Other names are not shown."""
    shown = ""
    for step in path:
        if step is None:
            shown += " (JSON)"
        elif isinstance(step, int):
            shown += f"[{step}]"
        else:
            shown += f".{step if may_show(step) else '(a name)'}"
    return shown.removeprefix(".")


def redact(text: str, findings: Iterable[Finding]) -> str:
    """`text` with each finding replaced by `[rule removed]`."""
    pieces = []
    done = 0
    for finding in sorted(findings, key=lambda one: one.start):
        pieces += [text[done : finding.start], f"[{finding.rule} removed]"]
        done = finding.end
    return "".join(pieces) + text[done:]


def fingerprint(secret: str, key: bytes) -> str:
    """HMAC-SHA-256 of `secret` under `key`, as 32 hexadecimal digits.

    A digest without a key would help an attacker, who could try short passwords one by one.
    """
    one_way = builtin_sha256()
    block = int.from_bytes((key if len(key) <= _BLOCK else one_way(key).digest()).ljust(_BLOCK, b"\0"), "big")
    inner = one_way((block ^ _INNER).to_bytes(_BLOCK, "big") + secret.encode("utf-8", "surrogatepass")).digest()
    return str(one_way((block ^ _OUTER).to_bytes(_BLOCK, "big") + inner).hexdigest()[:32])


def builtin_sha256() -> Any:
    """The interpreter's built-in SHA-256 where it exists; importing `hmac` and `hashlib` costs more than a scan."""
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]  # private, no stub
    except ImportError:
        from hashlib import sha256
    return sha256
