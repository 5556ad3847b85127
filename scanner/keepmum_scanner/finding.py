"""The one value that the scanner hands out."""

from __future__ import annotations


class Finding(tuple[str, int, int, float, str]):
    """One suspected secret, by place; it never holds the text it found.

    A tuple, made in a third of the time that slots take: a dump has thousands. Written by hand, since importing
    dataclasses or typing costs more than the rest of a small scan.
    """

    __slots__ = ()

    def __new__(  # noqa: D102, PYI034 - the class says what it makes; Self is typing's
        cls, rule: str, start: int, end: int, confidence: float, fingerprint: str = ""
    ) -> Finding:
        return tuple.__new__(cls, (rule, start, end, confidence, fingerprint))

    @property
    def rule(self) -> str:
        """What was found: "github.token"."""
        return self[0]

    @property
    def start(self) -> int:
        """Where it starts, in characters of the text that was scanned."""
        return self[1]

    @property
    def end(self) -> int:
        """Where it ends: behind its last character."""
        return self[2]

    @property
    def confidence(self) -> float:
        """How sure it is, from 0 to 1."""
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
