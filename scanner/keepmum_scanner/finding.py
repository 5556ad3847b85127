"""The one value that the scanner hands out."""

from __future__ import annotations


class Finding:
    """One suspected secret, by place; it never holds the text it found.

    Written by hand, since importing dataclasses costs more than the rest of a small scan.
    """

    __slots__ = ("confidence", "end", "fingerprint", "rule", "start")

    rule: str  # "github.token"
    start: int  # [start, end), in characters of the text that was scanned
    end: int
    confidence: float  # 0 to 1
    fingerprint: str  # keyed digest of the secret, "" when the caller gave no key

    def __init__(self, rule: str, start: int, end: int, confidence: float, fingerprint: str = "") -> None:
        keep = object.__setattr__
        keep(self, "rule", rule)
        keep(self, "start", start)
        keep(self, "end", end)
        keep(self, "confidence", confidence)
        keep(self, "fingerprint", fingerprint)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Finding is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Finding is frozen: {name} cannot be deleted")

    def __reduce__(self) -> tuple[type[Finding], tuple[str, int, int, float, str]]:
        return (Finding, (self.rule, self.start, self.end, self.confidence, self.fingerprint))

    def _key(self) -> tuple[int, int, str, float, str]:
        return (self.start, self.end, self.rule, self.confidence, self.fingerprint)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Finding) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Finding({self.rule!r}, {self.start}, {self.end}, confidence={self.confidence:.2f})"
