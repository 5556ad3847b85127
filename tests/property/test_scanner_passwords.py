"""Secrets of every kind are found in every typical sentence."""

import base64
import random
import string
import uuid
from collections.abc import Callable

import pytest

from keepmum_scanner import scan
from keepmum_scanner.generated_passwords import is_generated

ROUNDS = 60
ALNUM = string.ascii_letters + string.digits
WORDS = "winter tiger coffee dragon purple monkey garden bridge rocket silver planet orange castle thunder".split()


def pick(rng: random.Random, letters: str, size: int) -> str:
    return "".join(rng.choices(letters, k=size))


SECRETS: dict[str, Callable[[random.Random], str]] = {
    "hexadecimal": lambda c: pick(c, "0123456789abcdef", c.choice((32, 40, 64))),
    "UUID": lambda c: str(uuid.UUID(int=c.getrandbits(128), version=4)),
    "letters and digits": lambda c: pick(c, ALNUM, c.randint(20, 40)),
    "small letters and digits": lambda c: pick(c, string.ascii_lowercase + string.digits, c.randint(24, 40)),
    "base64": lambda c: base64.b64encode(c.randbytes(c.randint(20, 48))).decode(),
    "a word, a year, a sign": lambda c: c.choice(WORDS).title() + str(c.randint(1950, 2030)) + c.choice("!$*"),
}
SENTENCES = (
    "- ACME_API_KEY={}",
    "ACME_PASSWORD={}",
    "export ACME_SECRET='{}'",
    'Password for the acme account is "{}".',
    "User asked me to remember the acme api key: {}",
    "acme:\n  client_secret: {}\n",
    '[acme]\npassword = "{}"',
    '{{"token": "{}"}}',
    "curl -H 'Authorization: Bearer {}' https://acme.example/",
    "| acme | api key | {} |",
    "```\ntoken: {}\n```",
    "The acme token is {} and the job reads it.",
    "Use {} as the API key for acme.",
    "acme --token {} --verbose",
)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found_in_every_sentence(name: str) -> None:
    rng = random.Random(name)
    missed = [
        (sentence, round_)
        for sentence in SENTENCES
        for round_ in range(ROUNDS)
        if not scan(sentence.format(SECRETS[name](rng)))
    ]
    assert missed == []


def test_most_generated_passwords_are_found_in_any_quoting() -> None:
    """Nine of ten; some of the rest begin like an expression or look like a call."""
    rng = random.Random(20261121)
    letters = ALNUM + string.punctuation
    texts = [sentence.format(pick(rng, letters, rng.randint(14, 24))) for sentence in SENTENCES[:8] for _ in range(100)]
    assert sum(bool(scan(text)) for text in texts) > 0.85 * len(texts)


@pytest.mark.parametrize(
    "code",
    [
        "get(a['X1'])&&b",
        "^[A-Z]{3}\\d+$",
        "this.key=t.Key2(1)",
        "deDupeKeys[0]",
        "{{ .Values.Token2 }}",
        "a1.B2->c[D3]",
        "Some words, and 2 more!",
    ],
)
def test_code_and_expressions_are_not_generated_passwords(code: str) -> None:
    assert not is_generated(code)


# Assembled here, so that the repository contains no text that looks like a password.
UNNAMED = ("dip" + "Pr16Gg!", "123P4" + "ssW0rd@@", "xM98l" + "Zh20vZs", "Tr0ub" + "4dor&3x")
UNNAMED_SENTENCES = ("use {} for staging", "it works again since {}", "(`{}`)", "staging: {}.")


@pytest.mark.parametrize("sentence", UNNAMED_SENTENCES)
@pytest.mark.parametrize("secret", UNNAMED)
def test_a_distinctive_secret_is_found_without_a_name(secret: str, sentence: str) -> None:
    text = sentence.format(secret)
    assert [text[one.start : one.end] for one in scan(text)] == [secret]


@pytest.mark.parametrize(
    "word",
    ["Python3!", "actions/Checkout@v4", "HEAD~12", "Repo#1234", "a%20B%2Fc1", "**Bold2Text3**", "User1@Host2.example"],
)
def test_a_symbol_in_a_harmless_word_passes(word: str) -> None:
    assert scan(f"see {word} there") == []


def test_the_value_belongs_to_the_last_name_of_a_chain() -> None:
    value = pick(random.Random(3), "0123456789abcdef", 8) + "-713c-4555-8"
    text = f"- AZURE_API_KEY=AZURE_CLIENT_ID={value}"
    assert [text[one.start : one.end] for one in scan(text)] == [value]


def test_one_word_in_quotes_is_a_password_in_a_sentence() -> None:
    assert scan("The password of that account is `Superintendent`.") != []


@pytest.mark.parametrize("word", ["Unencrypted", "Configurable", "Obligatory"])
def test_an_adjective_in_quotes_is_not_a_password(word: str) -> None:
    assert scan(f"The password of that account is `{word}`.") == []


def test_a_table_key_passes_and_an_airtable_key_is_found() -> None:
    value = pick(random.Random(5), "0123456789abcdef", 32)
    assert scan(f"table key: {value}") == []
    assert scan(f"Airtable key: {value}") != []
