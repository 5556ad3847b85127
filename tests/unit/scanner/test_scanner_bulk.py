"""Texts with more borderline cases than are checked in detail: the rough check prefers false alarms."""

from __future__ import annotations

import base64
import json
import random
import string

import pytest

from keepmum_scanner import scan
from unit.scanner.hostile_texts import ALNUM, HEX, LOWER, NAMES, Maker, base64_of, pick, text, uuid

pytestmark = pytest.mark.heavy

SEED = 20261121
KEY = pick(random.Random(SEED), ALNUM, 28) + "a1b2"
SIZE = 64 << 10
WORDS = "server client token store index path value cache build graph query vector memory session project".split()


def filled(piece: str) -> str:
    return piece * (SIZE // len(piece))


def almost_keys() -> str:
    """Thousands of tokens that are similar to keys."""
    rng = random.Random(SEED)
    pieces = [f"{pick(rng, string.ascii_lowercase, 9)}{pick(rng, LOWER, 6)} " for _ in range(SIZE // 16)]
    return "".join(pieces)


def digest(rng: random.Random) -> str:
    return base64.b64encode(rng.randbytes(64)).decode()


BENIGN: dict[str, Maker] = {
    "UUIDs": lambda c: "\n".join(uuid(c) for _ in range(SIZE // 37)),
    "commits": lambda c: "\n".join(pick(c, HEX, 40) for _ in range(SIZE // 41)),
    "a lock file": lambda c: "".join(f'"integrity": "sha512-{digest(c)}",\n' for _ in range(SIZE // 110)),
    "an image": lambda c: "data:image/png;base64,iVBORw0KGgo" + base64.b64encode(c.randbytes(SIZE * 3 // 4)).decode(),
    "ids in JSON": lambda c: json.dumps([{"id": uuid(c), "sha": pick(c, HEX, 40)} for _ in range(SIZE // 100)]),
    "names": lambda _: "\n".join(f"get_{a}_of_{b}_v2" for a in WORDS for b in WORDS for _ in range(6)),
    "numbers": lambda c: ", ".join(f"{c.random():.12f}" for _ in range(SIZE // 16)),
}


@pytest.mark.parametrize("name", BENIGN)
def test_harmless_tokens_in_bulk_pass(name: str) -> None:
    assert scan(BENIGN[name](random.Random(SEED))) == []


@pytest.mark.parametrize(
    "carrier", ["{}", "{}\n", "key {}", "password={}", '"token": "{}"', "the password is {} ", "x {} y"]
)
@pytest.mark.parametrize("part", [0.0, 0.5, 1.0], ids=["first", "middle", "last"])
def test_a_key_in_bulk_is_refused(carrier: str, part: float) -> None:
    text = almost_keys()
    position = text.rfind(" ", 0, int(len(text) * part)) + 1
    carried = carrier.format(KEY)
    start = position + carried.index(KEY)
    found = scan(text[:position] + carried + " " + text[position:])
    assert any(finding.start <= start and finding.end >= start + len(KEY) for finding in found)


@pytest.mark.parametrize("piece", ["the token is given ", "key: see below\n", "pass = no\n"])
@pytest.mark.parametrize(
    "carrier", ["password = {}\n", "the password is {}\n", '"key": "{}"\n', "use {} as the password\n"]
)
def test_a_password_after_many_names_is_refused(piece: str, carrier: str) -> None:
    carried = carrier.format("hunter" + "27!x")
    found = scan(filled(piece) + carried)
    assert any(finding.start <= len(filled(piece)) + carried.index("hunter") < finding.end for finding in found)


def test_each_key_of_a_long_dump_is_found() -> None:
    rng = random.Random(SEED)
    keys = [pick(rng, ALNUM, 28) + "a1b2" for _ in range(SIZE // 33)]
    assert len(scan("\n".join(keys))) == len(keys)


def test_a_known_key_among_many_encoded_words_is_found() -> None:
    rng = random.Random(SEED)
    words = [base64_of(pick(rng, string.ascii_lowercase, 18)) for _ in range(SIZE // 25)]
    github = base64_of("gh" + "p_" + pick(rng, ALNUM, 36))
    for at in (0, len(words) // 2, len(words)):
        text = " ".join([*words[:at], github, *words[at:]])
        assert scan(text) != []


GITHUB = "gh" + "p_" + pick(random.Random(SEED), ALNUM, 36)
# A text with a secret, and the secret.
CARRIED = {
    "a known key": (f" here {GITHUB} ", GITHUB),
    "a key": (f" here\n{KEY}\n", KEY),
    "a password": ("\npassword = hunt" + "er27!x\n", "hunt" + "er27!x"),
    "a link": ("\npostgres://app:" + KEY[:12] + "@db.example.com/x\n", KEY[:12]),
}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "certificates"])  # a block includes the secret
def test_a_secret_anywhere_in_hostile_text_is_refused(name: str) -> None:
    around = text(name, SIZE // 4)
    missed = []
    for part in (0.0, 0.5, 1.0):
        position = int(len(around) * part)
        for kind, (carried, secret) in CARRIED.items():
            start = position + carried.index(secret)
            found = scan(around[:position] + carried + around[position:])
            if not any(finding.start <= start and finding.end >= start + len(secret) for finding in found):
                missed.append((kind, part))
    assert missed == []
