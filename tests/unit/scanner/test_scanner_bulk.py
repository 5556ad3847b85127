"""Texts of more borderline cases than can be looked at one by one: judged by their coarse look, on the safe side."""

from __future__ import annotations

import base64
import json
import random
import string

import pytest

from keepmum_scanner import scan
from unit.scanner.hostile_texts import ALNUM, HEX, LOWER, NAMES, Maker, base64_of, drawn, text, uuid

pytestmark = pytest.mark.heavy

SEED = 20261121
KEY = drawn(random.Random(SEED), ALNUM, 28) + "a1b2"
SIZE = 64 << 10
WORDS = "server client token store index path value cache build graph query vector memory session project".split()


def filled(piece: str) -> str:
    return piece * (SIZE // len(piece))


def crowd() -> str:
    """Thousands of tokens that are nearly keys, and none that is."""
    chance = random.Random(SEED)
    pieces = [f"{drawn(chance, string.ascii_lowercase, 9)}{drawn(chance, LOWER, 6)} " for _ in range(SIZE // 16)]
    return "".join(pieces)


def digest(chance: random.Random) -> str:
    return base64.b64encode(chance.randbytes(64)).decode()


BENIGN: dict[str, Maker] = {
    "UUIDs": lambda c: "\n".join(uuid(c) for _ in range(SIZE // 37)),
    "commits": lambda c: "\n".join(drawn(c, HEX, 40) for _ in range(SIZE // 41)),
    "a lock file": lambda c: "".join(f'"integrity": "sha512-{digest(c)}",\n' for _ in range(SIZE // 110)),
    "an image": lambda c: "data:image/png;base64,iVBORw0KGgo" + base64.b64encode(c.randbytes(SIZE * 3 // 4)).decode(),
    "ids in JSON": lambda c: json.dumps([{"id": uuid(c), "sha": drawn(c, HEX, 40)} for _ in range(SIZE // 100)]),
    "names": lambda _: "\n".join(f"get_{a}_of_{b}_v2" for a in WORDS for b in WORDS for _ in range(6)),
    "numbers": lambda c: ", ".join(f"{c.random():.12f}" for _ in range(SIZE // 16)),
}


@pytest.mark.parametrize("name", BENIGN)
def test_a_crowd_of_harmless_things_is_not_refused(name: str) -> None:
    assert scan(BENIGN[name](random.Random(SEED))) == []


@pytest.mark.parametrize(
    "told", ["{}", "{}\n", "key {}", "password={}", '"token": "{}"', "the password is {} ", "x {} y"]
)
@pytest.mark.parametrize("part", [0.0, 0.5, 1.0], ids=["before", "amid", "behind"])
def test_a_key_in_a_crowd_is_refused(told: str, part: float) -> None:
    text = crowd()
    place = text.rfind(" ", 0, int(len(text) * part)) + 1
    said = told.format(KEY)
    start = place + said.index(KEY)
    found = scan(text[:place] + said + " " + text[place:])
    assert any(finding.start <= start and finding.end >= start + len(KEY) for finding in found)


@pytest.mark.parametrize("crowded", ["the token is given ", "key: see below\n", "pass = no\n"])
@pytest.mark.parametrize(
    "told", ["password = {}\n", "the password is {}\n", '"key": "{}"\n', "use {} as the password\n"]
)
def test_a_password_in_a_crowd_of_names_is_refused(crowded: str, told: str) -> None:
    said = told.format("hunter" + "27!x")
    found = scan(filled(crowded) + said)
    assert any(finding.start <= len(filled(crowded)) + said.index("hunter") < finding.end for finding in found)


def test_each_key_of_a_dump_is_found_whatever_its_length() -> None:
    chance = random.Random(SEED)
    keys = [drawn(chance, ALNUM, 28) + "a1b2" for _ in range(SIZE // 33)]
    assert len(scan("\n".join(keys))) == len(keys)


def test_a_known_key_in_a_crowd_of_encodings_is_found() -> None:
    chance = random.Random(SEED)
    words = [base64_of(drawn(chance, string.ascii_lowercase, 18)) for _ in range(SIZE // 25)]
    github = base64_of("gh" + "p_" + drawn(chance, ALNUM, 36))
    for at in (0, len(words) // 2, len(words)):
        text = " ".join([*words[:at], github, *words[at:]])
        assert scan(text) != []


GITHUB = "gh" + "p_" + drawn(random.Random(SEED), ALNUM, 36)
# What is said, with the secret in it, and where the secret stands.
TOLD = {
    "a known key": (f" here {GITHUB} ", GITHUB),
    "a key": (f" here\n{KEY}\n", KEY),
    "a password": ("\npassword = hunt" + "er27!x\n", "hunt" + "er27!x"),
    "a link": ("\npostgres://app:" + KEY[:12] + "@db.example.com/x\n", KEY[:12]),
}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "certificates"])  # amid a block it is a part of it
def test_a_secret_in_hostile_text_is_refused_wherever_it_stands(name: str) -> None:
    around = text(name, SIZE // 4)
    missed = []
    for part in (0.0, 0.5, 1.0):
        place = int(len(around) * part)
        for told, (said, secret) in TOLD.items():
            start = place + said.index(secret)
            found = scan(around[:place] + said + around[place:])
            if not any(finding.start <= start and finding.end >= start + len(secret) for finding in found):
                missed.append((told, part))
    assert missed == []
