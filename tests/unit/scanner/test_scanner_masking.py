"""Masked lines: same shape, same verdict, and nothing of the original."""

from __future__ import annotations

import io
import random
import string
from pathlib import Path

import pytest

from hidden import assert_hidden
from keepmum_scanner import scan
from keepmum_scanner.cli import CLEAN, ERROR, main
from keepmum_scanner.public_words import is_public
from keepmum_scanner.seed_words import numbers
from keepmum_scanner.shareable import NotMasked, Shareable, shareable
from unit.scanner import carriers

GITHUB = "gh" + "p_" + "a1B2c3D4e5F6" * 3
PREFIXES = ("gh" + "p_", "sk-" + "proj-", "xox" + "b-", "AK" + "IA", "np" + "m_", "sk_" + "live_")


def masked(text: str, line: int | None = None) -> Shareable:
    (excerpt,) = shareable(text, line, random.Random(3))
    return excerpt


def assert_nothing_survives(secret: str, shown: str) -> None:
    """Fail when four characters in a row of `secret` are shown, apart from a public prefix."""
    __tracebackhide__ = True
    for prefix in PREFIXES:
        secret = secret.removeprefix(prefix)
    for start in range(len(secret) - 3):
        assert_hidden(secret[start : start + 4].lower(), shown.lower())


def test_secrets_in_all_carriers_are_replaced_and_still_found() -> None:
    rng, replacing = random.Random(11), random.Random(12)  # random text may repeat four characters
    makers = {**carriers.PASSWORDS, **carriers.TOKENS}.values()
    count = refused = 0
    for carrier in [*carriers.FILES.values(), *carriers.HEADERS.values()][::3]:
        for maker in makers:
            secret = maker(rng)
            text = carrier(secret)
            try:
                excerpts = list(shareable(text, random=replacing)) if scan(text) else []
            except NotMasked:
                refused += 1
                continue
            count += len(excerpts)
            for excerpt in excerpts:
                assert [one.rule for one in scan(excerpt.text)] == excerpt.rules
                assert_nothing_survives(secret, excerpt.text)
    assert count > 200
    assert refused <= count // 50


@pytest.mark.parametrize("alphabet", [string.ascii_letters + string.digits, string.digits, string.printable[:94]])
def test_what_the_scanner_misses_is_replaced_too(alphabet: str) -> None:
    rng = random.Random(5)
    for size in (4, 8, 16, 40):
        for _ in range(20):
            word = "".join(rng.choices(alphabet, k=size))
            if sum(map(str.isalnum, word)) < 2:
                continue
            text = f"Kolja wrote {word} to Miriam"
            try:
                shown = masked(text, 1).text
            except NotMasked:
                continue
            for private in (word, "Kolja", "wrote", "Miriam"):
                runs = "".join(one if one.isalnum() else " " for one in private).split()
                for run in runs:
                    if len(run) > 3:
                        assert_nothing_survives(run, shown)


def test_shape_is_kept() -> None:
    text = f"DB_PASSWORD={GITHUB} # ask Kolja at 10:35"
    shown = masked(text).text
    assert len(shown) == len(text)
    kinds = [(one.isupper(), one.islower(), one.isdigit(), one if not one.isalnum() else "") for one in shown]
    assert kinds == [(one.isupper(), one.islower(), one.isdigit(), one if not one.isalnum() else "") for one in text]
    assert shown.startswith("DB_PASSWORD=" + GITHUB[:4])
    assert "Kolja" not in shown


def test_signed_token_is_replaced_by_one_with_other_claims() -> None:
    header = carriers.base64_of('{"alg":"HS256","typ":"JWT"}').rstrip("=")
    claims = carriers.base64_of('{"sub":"kolja@firma.example","tenant":"Nordlicht"}').rstrip("=")
    token = f"{header}.{claims}.{'k3Yq9Zt1Wm' * 4}"
    excerpt = masked(f"Authorization: Bearer {token}")
    assert excerpt.rules == ["jwt"]
    assert_hidden(claims[10:30], excerpt.text)
    assert_nothing_survives("k3Yq9Zt1Wm" * 4, excerpt.text)


def test_recovery_phrase_is_replaced_by_a_valid_one() -> None:
    phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    excerpt = masked(f"my wallet: {phrase}")
    assert excerpt.rules == ["seed-phrase"]
    assert not set(phrase.split()) & set(excerpt.text.split())


def test_private_key_is_masked_as_a_whole() -> None:
    body = "\n".join(carriers.pick(random.Random(2), carriers.ALNUM + "+/", 64) for _ in range(6))
    kind = "RSA PRIVATE" + " KEY"
    text = f"see below\n-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n"
    excerpt = masked(text, 4)
    assert (excerpt.first, excerpt.last, excerpt.rules) == (2, 9, ["private-key"])
    assert_nothing_survives(body.replace("\n", ""), excerpt.text)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("$2b$" + "12$" + carriers.pick(random.Random(4), carriers.ALNUM + "./", 53), "password-hash"),
        ("| 环境 | 账号 | 密码 |\n|---|---|---|\n| qa | tomek | Sergej1990! |", "secret.password"),
        (
            "key " + "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "J" + carriers.pick(random.Random(6), carriers.ALNUM, 60),
            "jwt",
        ),
        ("token = '" + carriers.pick(random.Random(8), carriers.ALNUM + "+/", 600) + "='", "secret.named"),
    ],
    ids=["hash", "table", "signed token", "long value"],
)
def test_structure_that_the_rule_needs_stays(text: str, rule: str) -> None:
    excerpt = masked(text)
    assert excerpt.rules == [rule]
    for start in range(28, len(text) - 8):
        if text[start : start + 8].isalnum():
            assert_hidden(text[start : start + 8], excerpt.text)


def test_lines_that_the_verdict_needs_are_shown_with_it() -> None:
    text = "Kolja asks\n- name: DB_PASSWORD\n  value: Lk5cEqZcn9WnQ9xR\nthanks\n"
    excerpt = masked(text, 3)
    assert (excerpt.first, excerpt.last) == (2, 3)
    assert "name: DB_PASSWORD" in excerpt.text


@pytest.mark.parametrize(
    "text", ["密码是Winter2024!x 王小明", "Пароль: Winter2024!x для Миши", "비밀번호는 Winter2024!x"]
)
def test_other_scripts_keep_the_name_and_lose_the_rest(text: str) -> None:
    excerpt = masked(text)
    assert excerpt.rules == ["secret.password"]
    for private in ("Winter", "2024", "王小明", "Миши"):
        assert_hidden(private, excerpt.text)


@pytest.mark.parametrize("hidden", ["\u200c\u200d\u2060\ufeff", "\U000e0041\U000e0042", "\u202e"])
def test_invisible_characters_carry_nothing(hidden: str) -> None:
    shown = masked(f"key {GITHUB}{hidden}").text
    assert not set(hidden) & set(shown)


def test_words_of_wallets_and_first_names_are_not_public() -> None:
    words = [word.decode() for word in numbers()]
    assert sum(map(is_public, words)) < len(words) / 4
    assert not any(map(is_public, ("Max", "Grace", "Mark", "horse", "battery", "Kolja")))


def test_two_masks_of_one_line_differ() -> None:
    texts = {next(shareable(f"key {GITHUB}")).text for _ in range(4)}
    assert len(texts) == 4


@pytest.mark.parametrize(("text", "line"), [("a\nb\n", 3), ("a\n", 0), ("", 1), ("two\nlines\n", None)])
def test_line_that_is_missing_or_has_no_finding_is_named(text: str, line: int | None) -> None:
    with pytest.raises(NotMasked, match="line"):
        list(shareable(text, line))


def test_finding_in_a_very_long_line_is_masked_with_its_surroundings() -> None:
    excerpt = masked("word " * 20_000 + f"key {GITHUB} " + "word " * 20_000)
    assert (excerpt.rules, len(excerpt.text) < 1000) == (["github.token"], True)


def test_command_takes_a_file_and_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note = tmp_path / "note.md"
    note.write_text(f"key {GITHUB}\nkey {GITHUB[::-1]}\n")
    assert main(["--mask", f"{note}:1"]) == CLEAN
    out, err = capsys.readouterr()
    assert (out[:8], out.count("\n")) == ("key " + GITHUB[:4], 1)
    assert "line 1: masked" in err
    assert_nothing_survives(GITHUB, out)


def test_command_masks_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"key {GITHUB}".encode())))
    assert main(["--mask"]) == CLEAN
    assert_nothing_survives(GITHUB, capsys.readouterr().out)


@pytest.mark.parametrize("arguments", [["--json"], ["--staged"], ["--explain"], ["other"]])
def test_command_takes_nothing_else(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--mask", "file", *arguments]) == ERROR
    assert "--mask takes one FILE" in capsys.readouterr().err


def test_secret_given_as_a_file_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [main(["--mask", name]) for name in (GITHUB, f"{GITHUB}:1", str(tmp_path))] == [ERROR] * 3
    assert_hidden(GITHUB[:12], *capsys.readouterr())
