"""The optional rules for numbers of persons."""

from __future__ import annotations

import random

import pytest

from keepmum_scanner import scan
from keepmum_scanner.personal_data import with_personal_data

CHECKED = with_personal_data(scan)


def _luhn(payload: str) -> str:
    total = sum(
        (int(digit) * (2 - place % 2)) - 9 * (int(digit) * (2 - place % 2) > 9)
        for place, digit in enumerate(reversed(payload))
    )
    return payload + str(-total % 10)


def _iban(country: str, account: str) -> str:
    turned = f"{account}{country}00"
    check = 98 - int("".join(str(int(character, 36)) for character in turned)) % 97
    return f"{country}{check:02}{account}"


def rules(text: str) -> list[tuple[str, str]]:
    return [(found.rule, text[found.start : found.end]) for found in CHECKED(text)]


def _cards() -> list[str]:
    chance = random.Random(5)
    starts = {"4": 16, "51": 16, "2221": 16, "34": 15, "6011": 16, "3528": 16, "36": 14, "62": 19}
    return [
        _luhn(start + "".join(str(chance.randrange(10)) for _ in range(length - len(start) - 1)))
        for start, length in starts.items()
    ]


@pytest.mark.parametrize("card", _cards())
def test_a_card_is_found_however_it_is_grouped(card: str) -> None:
    grouped = [" ".join(card[at : at + 4] for at in range(0, len(card), 4)), card, "-".join((card[:4], card[4:]))]
    for form in grouped:
        assert rules(f"paid with {form}, yesterday") == [("personal.card", form)]


@pytest.mark.parametrize("card", _cards())
def test_another_check_digit_is_not_a_card(card: str) -> None:
    other = card[:-1] + str((int(card[-1]) + 1) % 10)
    assert not [rule for rule, _ in rules(f"order {other} of Monday") if rule.startswith("personal")]


@pytest.mark.parametrize(
    "iban", [_iban("DE", "370400440532013000"), _iban("GB", "WEST12345698765432"), _iban("NO", "86011117947")]
)
def test_an_iban_is_found_however_it_is_grouped(iban: str) -> None:
    for form in (iban, " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))):
        assert rules(f"The account is {form} at the bank") == [("personal.iban", form)]
    assert rules(f"The account is {iban[:-1]}{(int(iban[-1]) + 1) % 10} at the bank") == []


@pytest.mark.parametrize(("number", "is_one"), [("219-09-9999", True), ("000-12-3456", False), ("666-12-3456", False)])
def test_a_social_security_number_is_one_that_was_given_out(number: str, is_one: bool) -> None:  # noqa: FBT001 - a case
    assert [rule for rule, _ in rules(f"SSN {number}")] == (["personal.us-ssn"] if is_one else [])


@pytest.mark.parametrize(
    "text",
    [
        "version 4.111.1111.1111 of 2026-11-22", "4111-1111", "0x4111111111111111", "call +49 30 901820 at 12:00",
        "commit 4111111111111111111111111111111111111111", "ISO8601 and DE12 are short", "range 100-20-3000000",
        "0000000000000000", "mean 4.5105105105105100",
    ],
)  # fmt: skip
def test_other_numbers_pass(text: str) -> None:
    assert not [rule for rule, _ in rules(text) if rule.startswith("personal")]


def test_digits_of_other_scripts_are_read() -> None:
    card = "".join(chr(0xFF10 + int(digit)) for digit in _cards()[0])
    assert [rule for rule, _ in rules(f"paid with {card}")] == ["personal.card"]


def test_the_rules_are_off_by_default() -> None:
    assert scan(f"paid with {_cards()[0]}") == []
