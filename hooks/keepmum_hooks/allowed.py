"""The scanner as the guard uses it: what a person has allowed is no finding.

Key and list are those of `keepmum allow`, and are read when something was found, which is seldom. A list that is not
as that command writes it allows nothing here.

    <home>/fingerprint.key    32 random bytes; made here too, so that a refusal can name what a person may allow
    <home>/allow.toml         one `[[allowed]]` table a fingerprint
"""

from __future__ import annotations

from keepmum_hooks import files
from keepmum_hooks.system import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner import Finding

__all__ = ["Judge"]

_KEY_BYTES = 32
_LIST_LIMIT = 4 << 20  # bytes; some twenty thousand entries
_NAMES = ("fingerprint", "why", "added")


class Judge:
    """Judges the texts of one call; without a home nothing is allowed."""

    __slots__ = ("_allowed", "_home", "_key")

    def __init__(self, home: str | None) -> None:
        self._home = home
        self._key = b""
        self._allowed: frozenset[str] | None = None  # None: not read yet

    def __call__(self, text: str) -> list[Finding]:
        """Findings in `text` that nobody has allowed, with fingerprints where there can be any.

        Raises: whatever the scanner raises, and ImportError where it cannot be loaded.
        """
        from keepmum_scanner import scan

        if self._home is None:
            return scan(text)
        found = scan(text, self._known)
        if not found or not self._allowed:
            return found
        from keepmum_scanner import allow

        return allow(found, self._allowed)

    def _known(self) -> bytes:
        """The key; from then on the list is known too."""
        if self._allowed is None:
            self._key = _key(f"{self._home}/fingerprint.key")
            self._allowed = _fingerprints(f"{self._home}/allow.toml")
        return self._key


def _key(path: str) -> bytes:
    """The key of this user's fingerprints, made when there is none; b"" when it is damaged or cannot be had."""
    key = files.read(path, _KEY_BYTES + 1, follow=True)
    if key is None:
        try:
            files.create(path, calls.urandom(_KEY_BYTES))
        except OSError:
            return b""
        key = files.read(path, _KEY_BYTES + 1, follow=True)
    return key if key is not None and len(key) == _KEY_BYTES else b""


def _fingerprints(path: str) -> frozenset[str]:
    """What the list allows; nothing when one of its lines is not as `keepmum allow` writes them."""
    raw = files.read(path, _LIST_LIMIT + 1, follow=True)
    if raw is None or len(raw) > _LIST_LIMIT:
        return frozenset()
    found = set()
    for line in raw.decode("utf-8", "replace").split("\n"):
        name, sign, value = line.strip().partition(" = ")
        if not sign and (not name or name.startswith("#") or name == "[[allowed]]"):
            continue
        if name not in _NAMES or len(value) < 2 or value[0] != '"' or value[-1] != '"':
            return frozenset()
        if name == "fingerprint":
            found.add(value[1:-1])
    return frozenset(found)
