"""Notes with a token or a password in a sentence, a setting or a command, and notes about such things without one."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator

from bench.scanner.corpus import Row

__all__ = ["rows"]

_EACH = 8  # texts of each carrier
_NAMED = (
    "{service}_TOKEN={value}",
    "the {service} password is {value}",
    "curl -H 'Authorization: Bearer {value}' https://{service}.example.org/v1",
    "| host | password |\n|---|---|\n| {service} | {value} |",
    "{service}:\n  api_key: {value}",
)
_UNNAMED = ("{service} answers to {value}", "<ana> {value}", "export CI={value}")
_BENIGN = (
    "{service} was pinned to {digest}",
    "Set the password of {service} in the vault, never in a file.",
    "{service}_TOKEN=${{{{ secrets.{service} }}}}",
    "request {uuid} reached {service} after 120 ms",
    "the token of {service} expires after {number} minutes",
    "docker pull {service}@sha256:{digest}{digest}",
)
_SERVICES = "billing harbor ledger lantern meridian orchard pelican quarry".split()
_LETTERS = string.ascii_letters + string.digits


def rows(rng: random.Random) -> Iterator[Row]:
    """Rows of each carrier, in a fixed order."""
    for context, carriers in (("keyword", _NAMED), ("nokeyword", _UNNAMED)):
        for number, carrier in enumerate(carriers):
            for index in range(_EACH):
                shape, value = _token(rng) if index % 2 else _password(rng)
                text = carrier.format(service=rng.choice(_SERVICES), value=value)
                name = f"plain-{context}-{number}"
                yield Row(
                    f"{name}-{index}",
                    text,
                    "secret",
                    "note",
                    "generated",
                    name,
                    value,
                    context,
                    "",
                    shape,
                    permissive=True,
                )
    for number, carrier in enumerate(_BENIGN):
        for index in range(2 * _EACH):
            text = carrier.format(
                service=rng.choice(_SERVICES), digest=_digits(rng, 32), uuid=_uuid(rng), number=rng.randint(5, 90)
            )
            name = f"plain-benign-{number}"
            yield Row(f"{name}-{index}", text, "benign", "note", name, "", "", "plain", "natural", "", permissive=True)


def _token(rng: random.Random) -> tuple[str, str]:
    return "random", "".join(rng.choices(_LETTERS, k=rng.randint(24, 48)))


def _password(rng: random.Random) -> tuple[str, str]:
    return "password:random", "".join(rng.choices(_LETTERS + "!#%&@", k=10)) + rng.choice("aB") + "7!"


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choices("0123456789abcdef", k=count))


def _uuid(rng: random.Random) -> str:
    return "-".join(_digits(rng, count) for count in (8, 4, 4, 4, 12))
