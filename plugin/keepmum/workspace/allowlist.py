"""What a person has declared to be no secret: a list of fingerprints in the user's own folder, and the key they need.

A fingerprint is a keyed digest, so neither the list nor a refusal says anything of the text. The key and the list are
read when something was found, which is seldom, so that a running server obeys a change at once.

    <home>/fingerprint.key    32 random bytes, made when the first fingerprint is needed
    <home>/allow.toml         one `[[allowed]]` table a fingerprint, with the reason and the day
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
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
_DIGITS = 32  # of a fingerprint, hexadecimal
_FIELDS = {"fingerprint", "why", "added"}
# What clients set for the commands that their agents run; seen in Claude Code 2.1.329, and by their prefix for Codex
# and Cursor. CODEX_HOME is a person's own setting and says nothing of who types.
_SESSION_NAMES = ("CLAUDECODE", "AI_AGENT")
_SESSION_PREFIXES = ("CLAUDE_CODE_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CODEX_", "CURSOR_")
_NO_SESSION = frozenset({"CODEX_HOME"})


@dataclass(frozen=True, slots=True)
class Allowed:
    """One finding that is no secret, and why."""

    fingerprint: str
    why: str
    added: str  # 2026-11-21


class Allowlist:
    """The allow list of one user."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "allow.toml")
        self._key_path = os.path.join(home, "fingerprint.key")

    def key(self) -> bytes:
        """The key of this user's fingerprints, made when there is none.

        Raises: SettingsError when it is damaged, or can be neither read nor made.
        """
        try:
            with contextlib.suppress(FileNotFoundError):
                return self._read_key()
            private_files.make_folder(os.path.dirname(self._key_path))
            self._make_key()
            return self._read_key()
        except OSError as error:
            raise SettingsError(f"{self._key_path} cannot be used ({error.strerror}); nothing is allowed") from None

    def entries(self) -> list[Allowed]:
        """What is allowed, in the order of the file.

        Raises: SettingsError when the file is damaged, saying where.
        """
        text = toml_file.read_text(self._path)
        if text is None:
            return []
        values = toml_file.parse(self._path, text).values
        found = values.get("allowed", [])
        if set(values) - {"allowed"} or not isinstance(found, list):
            self._refuse()
        return [self._entry(entry) for entry in found]

    def add(self, entry: Allowed) -> bool:
        """Allow a finding; False when it was allowed already.

        Raises: SettingsError when the list is damaged or cannot be written.
        """
        present = self.entries()
        if any(known.fingerprint == entry.fingerprint for known in present):
            return False
        self._write([*present, entry])
        return True

    def revoke(self, fingerprint: str) -> bool:
        """Allow a finding no more; False when it was not allowed.

        Raises: SettingsError when the list is damaged or cannot be written.
        """
        present = self.entries()
        left = [entry for entry in present if entry.fingerprint != fingerprint]
        if len(left) == len(present):
            return False
        self._write(left)
        return True

    def _read_key(self) -> bytes:
        with open(self._key_path, "rb") as file:
            key = file.read(_KEY_BYTES + 1)
        if len(key) != _KEY_BYTES:
            raise SettingsError(
                f"{self._key_path} is damaged, so nothing is allowed; remove it to have a new one made, "
                "and allow again what is to be allowed"
            )
        return key

    def _make_key(self) -> None:
        """Put a new key in place whole, unless another process was faster."""
        unfinished = f"{self._key_path}.{os.getpid()}.part"
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(os.urandom(_KEY_BYTES))
            try:
                os.link(unfinished, self._key_path)
            except FileExistsError:
                return
            except OSError:  # a file system without hard links
                os.replace(unfinished, self._key_path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(unfinished)

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
            "added; mend it, or remove it and allow again"
        )

    def _write(self, entries: Sequence[Allowed]) -> None:
        lines = ["# What is no secret, by fingerprint. Written by `keepmum allow`."]
        for entry in entries:
            lines += ["", "[[allowed]]"]
            # A JSON string without control characters is a TOML string.
            lines += [
                f"{name} = {json.dumps(getattr(entry, name), ensure_ascii=False)}"
                for name in ("fingerprint", "why", "added")
            ]
        toml_file.write_text(self._path, "\n".join(lines) + "\n")


class AllowlistScanner:
    """The scanner as the service uses it: its findings carry fingerprints, and what a person allowed is none.

    A damaged list or key allows nothing: the text is judged without it, and `problem` says why.
    """

    def __init__(self, home: str | None) -> None:
        self._list = Allowlist(home) if home else None
        self.problem = ""

    def __call__(self, text: str) -> Sequence[Finding]:
        """Findings in `text` that nobody has allowed.

        The scanner is loaded here: without its tables it fails, and then each text fails rather than the process.
        """
        from keepmum_scanner import allow, scan

        found = scan(text)
        if not found or self._list is None:
            return found
        try:
            self.problem = ""
            found = scan(text, self._list.key())
            return allow(found, {entry.fingerprint for entry in self._list.entries()})
        except KeepmumError as error:
            self.problem = str(error)
            return found


def is_fingerprint(text: str) -> bool:
    """Whether `text` can be one that a refusal named."""
    return len(text) == _DIGITS and set(text) <= set("0123456789abcdef")


def session_of(environ: Mapping[str, str]) -> str:
    """The variable by which a client's session shows in the environment of a command; empty where none does."""
    return next(
        (
            name
            for name, value in environ.items()
            if value and name not in _NO_SESSION and (name in _SESSION_NAMES or name.startswith(_SESSION_PREFIXES))
        ),
        "",
    )
