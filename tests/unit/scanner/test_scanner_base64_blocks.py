"""Lines of base64 that carry a file."""

import base64
import random

import pytest

from keepmum_scanner import scan

CHANCE = random.Random(20261121)


def wrapped(data: bytes, width: int = 76, mark: str = "") -> str:
    text = base64.b64encode(data).decode()
    return "\n".join(mark + text[at : at + width] for at in range(0, len(text), width))


@pytest.mark.parametrize("width", [60, 64, 76])
@pytest.mark.parametrize("mark", ["", "    ", "> "])
def test_an_image_without_its_header_passes(width: int, mark: str) -> None:
    body = wrapped(b"\xff\xd8" + CHANCE.randbytes(600), width, mark)
    assert scan(f"The mail says:\n\n{body}\n\nand no more.") == []


def test_a_certificate_in_lines_passes() -> None:
    assert scan(wrapped(b"\x30\x82\x03\x0f\x30\x82\x02" + CHANCE.randbytes(700))) == []


@pytest.mark.parametrize(
    "head",
    [b"\x30\x82\x04\xa4\x02\x01\x00", b"\x30\x77\x02\x01\x01", b"openssh-key-v1\0"],
    ids=["RSA", "EC", "OpenSSH"],
)
def test_a_private_key_without_its_marks_is_found(head: bytes) -> None:
    text = wrapped(head + CHANCE.randbytes(600), 64)
    (found,) = scan(text)
    assert (found.rule, text[found.start : found.end]) == ("private-key", text)


def test_a_body_that_is_named_a_secret_is_found() -> None:
    assert scan("keystore password:\n" + wrapped(CHANCE.randbytes(300))) != []


def test_two_lines_are_no_body() -> None:
    assert scan(wrapped(CHANCE.randbytes(64), 64)) != []


def test_a_text_in_lines_is_judged_by_what_it_says() -> None:
    token = "gh" + "p_" + "aB3dE6gH9" * 4
    said = ("some words of a note, and then " * 4) + f"token {token} " + ("and more words of it, " * 6)
    assert scan(wrapped(said.encode())) != []
