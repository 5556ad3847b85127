"""Secrets that are known by their other half: beside the id of an AWS key stands, however it is spelled, the key."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.suspect import Suspect

# Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html, read 2026-11-21
_KEY = compiled(r"(?<![A-Za-z0-9/+])(?![0-9a-f]{40})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_AROUND = 160  # characters between the two: a line of a file each


def find(text: str, ids: list[Suspect]) -> Iterator[Suspect]:
    """Suspects for the keys around `ids`."""
    done = 0
    for _, start, end, _ in sorted(ids, key=lambda one: one[1]):
        for match in _KEY.finditer(text, max(done, start - _AROUND), end + _AROUND):
            done = match.end()
            yield ("aws.secret-key", match.start(), match.end(), 0.9)
