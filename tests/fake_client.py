"""The base of fake command-line clients: records the calls of the installer, and answers them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from keepmum_installers.machine import NOT_FOUND, Outcome

__all__ = ["FakeClient"]


@dataclass
class FakeClient:
    """A client whose `program` is a real file; subclasses define its commands."""

    program: str
    python: Outcome = field(default_factory=lambda: Outcome(0, out="3.11\n"), kw_only=True)
    called: list[tuple[str, ...]] = field(default_factory=list, kw_only=True)
    broken: dict[str, Outcome] = field(default_factory=dict, kw_only=True)
    """Outcomes that replace those of a command, by the first words of it."""

    def run(self, argv: Sequence[str], seconds: float, environ: Mapping[str, str] = MappingProxyType({})) -> Outcome:
        """The client's outcome for a command; `environ` are variables that are added to those of this process."""
        assert seconds > 0, "a command without a time limit"
        if argv[0] != self.program:
            return self.python if os.path.basename(argv[0]).startswith("python") else Outcome(NOT_FOUND)
        words = tuple(argv[1:])
        self.called.append(words)
        self.environ = environ
        for start, outcome in self.broken.items():
            if " ".join(words).startswith(start):
                return outcome
        for start, act in self._commands().items():
            if " ".join(words).startswith(start):
                return act(*words[len(start.split()) :])
        return self._unknown(words[0])

    @property
    def changes(self) -> list[str]:
        """The commands that changed something, without those that only read."""
        return [" ".join(words) for words in self.called if "--json" not in words and words != ("--version",)]

    def _commands(self) -> Mapping[str, Callable[..., Outcome]]:
        """The function that runs a command, by the first words of it."""
        raise NotImplementedError

    def _unknown(self, word: str) -> Outcome:
        """The outcome of an unknown command."""
        raise NotImplementedError
