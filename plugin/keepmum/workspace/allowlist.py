"""The user's allowlist: fingerprints of findings that are not secrets, and the key of the fingerprints.

A fingerprint is a keyed digest, so neither the list nor a refusal reveals anything about the text. Key and list are
read only after a finding, which is rare, so a running server applies changes at once.

    <home>/fingerprint.key    32 random bytes, created when the first fingerprint is needed
    <home>/allow.toml         one `[[allowed]]` table per fingerprint, with reason and date
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from keepmum.core.errors import KeepmumError, SettingsError
from keepmum.system import private_files
from keepmum.workspace import toml_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner import Finding

__all__ = ["Allowed", "Allowlist", "AllowlistScanner", "is_fingerprint", "session_of"]

_KEY_BYTES = 32
_FINGERPRINT_DIGITS = 32  # hexadecimal
_FIELDS = {"fingerprint", "why", "added"}
# Variables that clients set for commands run by their agents; seen in Claude Code 2.1.329, and by their prefix in Codex
# and Cursor. CODEX_HOME is set by users, so it does not indicate an agent.
_SESSION_NAMES = ("CLAUDECODE", "AI_AGENT")
_SESSION_PREFIXES = ("CLAUDE_CODE_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CODEX_", "CURSOR_")
_NO_SESSION = frozenset({"CODEX_HOME"})


@dataclass(frozen=True, slots=True)
class Allowed:
    """One finding that is not a secret, with the reason."""

    fingerprint: str
    why: str
    added: str  # 2026-11-21


class Allowlist:
    """The allowlist of one user."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "allow.toml")
        self._key_path = os.path.join(home, "fingerprint.key")

    def key(self) -> bytes:
        """The key of this user's fingerprints, created if missing.

        Raises: SettingsError when it is damaged, or can be neither read nor created.
        """
        try:
            with contextlib.suppress(FileNotFoundError):
                return self._read_key()
            private_files.create_file(self._key_path, os.urandom(_KEY_BYTES))  # or use that of a concurrent process
            return self._read_key()
        except OSError as error:
            raise SettingsError(f"{self._key_path} cannot be used ({error.strerror}); nothing is allowed") from None

    def entries(self) -> list[Allowed]:
        """The allowed findings, in the order of the file.

        Raises: SettingsError when the file is damaged.
        """
        text = toml_file.read_text(self._path)
        if text is None:
            return []
        values = toml_file.parse(self._path, text).values
        found = values.get("allowed", [])
        if set(values) - {"allowed"} or not isinstance(found, list):
            self._refuse()
        return [self._entry(entry) for entry in found]

    def state(self) -> object:
        """A value that differs after the list or the key was changed."""
        return tuple(map(_identity, (self._path, self._key_path)))

    def add(self, entry: Allowed) -> bool:
        """Allow a finding; False when it is allowed already.

        Raises: SettingsError when the list is damaged or cannot be written.
        """
        present = self.entries()
        if any(known.fingerprint == entry.fingerprint for known in present):
            return False
        self._write([*present, entry])
        return True

    def revoke(self, fingerprint: str) -> bool:
        """Remove a finding from the list; False when it is not allowed.

        Raises: SettingsError when the list is damaged or cannot be written.
        """
        present = self.entries()
        remaining = [entry for entry in present if entry.fingerprint != fingerprint]
        if len(remaining) == len(present):
            return False
        self._write(remaining)
        return True

    def _read_key(self) -> bytes:
        with open(self._key_path, "rb") as file:
            key = file.read(_KEY_BYTES + 1)
        if len(key) != _KEY_BYTES:
            raise SettingsError(
                f"{self._key_path} is damaged, so nothing is allowed; remove it to have a new one created, "
                "then allow the findings again"
            )
        return key

    def _entry(self, entry: object) -> Allowed:
        if not isinstance(entry, Mapping) or set(entry) != _FIELDS:
            self._refuse()
        texts = {name: value for name, value in entry.items() if isinstance(value, str)}
        if len(texts) != len(_FIELDS) or not is_fingerprint(texts["fingerprint"]):
            self._refuse()
        return Allowed(**texts)

    def _refuse(self) -> NoReturn:
        raise SettingsError(
            f"{self._path} is damaged, so nothing is allowed. It holds [[allowed]] tables with fingerprint, why and "
            "added; repair it, or remove it and allow the findings again"
        )

    def _write(self, entries: Sequence[Allowed]) -> None:
        lines = ["# Findings that are not secrets, by fingerprint. Written by `keepmum allow`."]
        for entry in entries:
            lines += ["", "[[allowed]]"]
            lines += [f"{name} = {toml_file.literal(getattr(entry, name))}" for name in ("fingerprint", "why", "added")]
        toml_file.write_text(self._path, "\n".join(lines) + "\n")


class AllowlistScanner:
    """The scanner with the allowlist applied: findings have fingerprints, and allowed ones are left out.

    With a damaged list or key nothing is allowed, and `problem` says why.
    """

    def __init__(self, home: str | None) -> None:
        self._list = Allowlist(home) if home else None
        self.problem = ""

    def __call__(self, text: str) -> Sequence[Finding]:
        """The findings in `text` that are not allowed.

        The scanner is imported here, so that missing tables make each scan fail instead of the process.
        """
        from keepmum_scanner import allow, scan

        found = scan(text)
        if not found or self._list is None:
            return found
        key, allowed = self._read()
        return allow(scan(text, key), allowed) if key else found

    def related(
        self, record: object, decode: Callable[[str], object] | None = None
    ) -> Sequence[tuple[tuple[str | int | None, ...], str, Finding]]:
        """The findings in the fields of `record` that other fields name, and that are not allowed."""
        from keepmum_scanner.records import find_related

        found = find_related(record, decode=decode)
        if not found or self._list is None:
            return found
        key, allowed = self._read()
        return [one for one in find_related(record, key, decode) if one[2].fingerprint not in allowed] if key else found

    def allowed(self) -> object:
        """A value that differs after what is allowed was changed."""
        return None if self._list is None else self._list.state()

    def _read(self) -> tuple[bytes, frozenset[str]]:
        """The key and the allowed fingerprints; both empty when one cannot be read."""
        assert self._list is not None
        try:
            self.problem = ""
            return self._list.key(), frozenset(entry.fingerprint for entry in self._list.entries())
        except KeepmumError as error:
            self.problem = str(error)
            return b"", frozenset()


def _identity(path: str) -> tuple[int, int, int] | None:
    """What differs between two versions of a file; None when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def is_fingerprint(text: str) -> bool:
    """Whether `text` has the form of a fingerprint."""
    return len(text) == _FINGERPRINT_DIGITS and set(text) <= set("0123456789abcdef")


def session_of(environ: Mapping[str, str]) -> str:
    """The variable that shows that an agent runs this command; empty when there is none."""
    return next(
        (
            name
            for name, value in environ.items()
            if value and name not in _NO_SESSION and (name in _SESSION_NAMES or name.startswith(_SESSION_PREFIXES))
        ),
        "",
    )
