"""Recovery phrases of wallets; their words are drawn at run time."""

import hashlib
import json
import random
from collections.abc import Callable

import pytest

from keepmum_scanner import scan
from keepmum_scanner.seed_words import numbers

WORDS = [word.decode() for word in numbers()]


def phrase(rng: random.Random, length: int = 12) -> list[str]:
    """A phrase whose last word contains the right checksum."""
    size = length // 3  # bits of the checksum
    secret = rng.randbytes(4 * size)
    number = int.from_bytes(secret, "big") << size | hashlib.sha256(secret).digest()[0] >> (8 - size)
    return [WORDS[number >> 11 * place & 2047] for place in reversed(range(length))]


def numbered(words: list[str], form: str) -> str:
    return "".join(form.format(number, word) for number, word in enumerate(words, 1))


CARRIERS: dict[str, Callable[[list[str]], str]] = {
    "a line": " ".join,
    "in a sentence": lambda words: f"Kolja wrote {' '.join(words)} on the steel plate.",
    "commas": ", ".join,
    "lines": "\n".join,
    "numbered": lambda words: numbered(words, "{}. {} "),
    "numbered lines": lambda words: numbered(words, "{:2}) {}\n"),
    "word by word": lambda words: numbered(words, "Word {}: {}\n"),
    "a table": lambda words: "| # | |\n|---|---|\n" + numbered(words, "| {} | {} |\n"),
    "HTML": lambda words: "<table>" + numbered(words, "<tr><td>{}</td><td>{}</td></tr>") + "</table>",
    "JSON": lambda words: json.dumps({"a": words}),
    "escaped lines": lambda words: json.dumps("\n".join(words)),
    "capitals": lambda words: " ".join(words).upper(),
    "hyphens": "-".join,
    "bold": lambda words: " ".join(f"**{word}**" for word in words),
}


def rules(text: str) -> set[str]:
    return {finding.rule for finding in scan(text)}


@pytest.mark.parametrize("carrier", CARRIERS.values(), ids=list(CARRIERS))
@pytest.mark.parametrize("length", [12, 15, 18, 21, 24])
def test_a_phrase_is_found_without_a_name(carrier: Callable[[list[str]], str], length: int) -> None:
    for seed in range(6):
        assert "seed-phrase" in rules(carrier(phrase(random.Random(seed), length)))


def test_a_finding_spans_the_phrase() -> None:
    words = " ".join(phrase(random.Random(7)))
    text = f"Keep it: \u00e9t\u00e9 {words}! Ask Kolja."
    (finding,) = scan(text)
    assert text[finding.start : finding.end] == words


@pytest.mark.parametrize(
    "name",
    [
        "Seed phrase:",
        "recovery phrase\n",
        "Mnemonic =",
        "Wiederherstellungsw\u00f6rter:",
        "\u52a9\u8bb0\u8bcd\uff1a",
        "Frase semilla:",
    ],
)
def test_words_of_the_list_suffice_behind_a_name(name: str) -> None:
    for seed in range(6):
        words = random.Random(seed).sample(WORDS, 12)
        assert "seed-phrase" in rules(f"{name} {' '.join(words)}")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(" ".join(WORDS[:900]), id="the list"),
        pytest.param("\n".join(WORDS[40:64]), id="a part of the list"),
        pytest.param("abandon " * 11 + "about", id="a public test vector"),
        pytest.param("test " * 11 + "junk", id="the phrase of a development chain"),
        pytest.param(
            "The wallet shows a recovery phrase of twelve words once. Write these words down on paper, keep "
            "them offline and never type them into any other program or web page.",
            id="advice",
        ),
        pytest.param("Seed phrases have 12, 15, 18, 21 or 24 words from a list of 2048.", id="a fact"),
    ],
)
def test_other_texts_pass(text: str) -> None:
    assert not scan(text)


def test_words_without_checksum_and_name_pass() -> None:
    texts = [" ".join(random.Random(seed).sample(WORDS, 12)) for seed in range(200)]
    assert sum("seed-phrase" in rules(text) for text in texts) < 30  # one in sixteen has the right checksum by chance
