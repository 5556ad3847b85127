"""Files in lines of base64."""

import base64
import random

import pytest

from keepmum_scanner import scan

RNG = random.Random(20261121)


def wrapped(data: bytes, width: int = 76, margin: str = "") -> str:
    text = base64.b64encode(data).decode()
    return "\n".join(margin + text[at : at + width] for at in range(0, len(text), width))


@pytest.mark.parametrize("width", [60, 64, 76])
@pytest.mark.parametrize("margin", ["", "    ", "> "])
def test_an_image_without_its_header_passes(width: int, margin: str) -> None:
    block = wrapped(b"\xff\xd8" + RNG.randbytes(600), width, margin)
    assert scan(f"The mail says:\n\n{block}\n\nand no more.") == []


def test_a_certificate_in_lines_passes() -> None:
    assert scan(wrapped(b"\x30\x82\x03\x0f\x30\x82\x02" + RNG.randbytes(700))) == []


@pytest.mark.parametrize(
    "head",
    [b"\x30\x82\x04\xa4\x02\x01\x00", b"\x30\x77\x02\x01\x01", b"openssh-key-v1\0"],
    ids=["RSA", "EC", "OpenSSH"],
)
def test_a_private_key_without_its_header_is_found(head: bytes) -> None:
    text = wrapped(head + RNG.randbytes(600), 64)
    (found,) = scan(text)
    assert (found.rule, text[found.start : found.end]) == ("private-key", text)


def test_a_block_that_is_named_a_secret_is_found() -> None:
    assert scan("keystore password:\n" + wrapped(RNG.randbytes(300))) != []


def test_two_lines_are_not_a_block() -> None:
    assert scan(wrapped(RNG.randbytes(64), 64)) != []


def test_encoded_text_is_judged_by_its_content() -> None:
    token = "gh" + "p_" + "aB3dE6gH9" * 4
    text = ("some words of a note, and then " * 4) + f"token {token} " + ("and more words of it, " * 6)
    assert scan(wrapped(text.encode())) != []
