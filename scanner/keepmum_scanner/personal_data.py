"""Optional rules for numbers of persons: payment cards, bank accounts (IBAN) and US social security numbers.

They are not secrets to a coding agent, so they are off by default. Each has a form and, except the last, a check digit,
so that an order number or a version is not taken for one. Names, postal and e-mail addresses and telephone numbers are
not detected.

Sources, read 2026-11-22: https://www.iso.org/standard/70484.html (cards: issuer ranges, Luhn),
https://www.swift.com/standards/data-standards/iban-international-bank-account-number (lengths, mod 97),
https://www.ssa.gov/employer/randomization.html (numbers that are never given out).
"""

from __future__ import annotations

import re

from keepmum_scanner.expressions import compiled
from keepmum_scanner.finding import Finding
from keepmum_scanner.normalise import normalise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Callable

    Scan = Callable[[str], Sequence[Finding]]

__all__ = ["with_personal_data"]

_CONFIDENCE = 0.9
# Visa, Mastercard (51-55, 2221-2720), American Express, Diners, Discover, UnionPay, JCB, Maestro; 13 to 19 digits.
_CARD = compiled(r"(?<![\w.-])(?:4|5[0-8]|2[2-7]|3[0-9]|6[0-9])(?:[ -]?[0-9]){11,17}(?![\w-]|\.[0-9])")
_IBAN = compiled(r"(?<!\w)[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30}(?!\w)")
_SSN = compiled(r"(?<![\w-])(?!000|666|9)[0-9]{3}([- ])(?!00)[0-9]{2}\1(?!0000)[0-9]{4}(?![\w-])")
_SHORTEST_CARD, _LONGEST_CARD = 13, 19
_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20,
    "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15,
    "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24,
    "SM": 27, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip


def with_personal_data(first: Scan) -> Scan:
    """A function that returns the findings of `first` and those of these rules that do not overlap them.

    The added findings have no fingerprint, so they cannot be allowed one by one.
    """

    def scan(text: str) -> list[Finding]:
        found = list(first(text))
        view = normalise(text)
        candidates = list(_candidates(view.text))
        spans = view.origin_spans([(start, end) for _, start, end in candidates])
        for (rule, _, _), (start, end) in zip(candidates, spans):
            if all(end <= known.start or known.end <= start for known in found):
                found.append(Finding(rule, start, end, _CONFIDENCE))
        return sorted(found, key=lambda finding: finding.start)

    return scan


def _candidates(text: str) -> Iterator[tuple[str, int, int]]:
    """Rule, start and end of each number, in no order."""
    for match in _IBAN.finditer(text):
        if length := _iban_length(match[0]):
            yield "personal.iban", match.start(), match.start() + length
    for match in _CARD.finditer(text):
        digits = re.sub("[ -]", "", match[0])
        if _SHORTEST_CARD <= len(digits) <= _LONGEST_CARD and len(set(digits)) > 1 and _passes_luhn(digits):
            yield "personal.card", match.start(), match.end()
    for match in _SSN.finditer(text):
        yield "personal.us-ssn", match.start(), match.end()


def _iban_length(text: str) -> int:
    """The length of the IBAN that `text` starts with, separators included; 0 when it starts with none."""
    wanted, length = _IBAN_LENGTHS.get(text[:2], 0), 0
    for character in text:
        if not wanted:
            break
        wanted -= character.isalnum()
        length += 1
    compact = re.sub("[ -]", "", text[:length])
    if wanted or len(compact) != _IBAN_LENGTHS.get(text[:2]) or text[length : length + 1].isalnum():
        return 0
    turned = compact[4:] + compact[:4]
    return length if int("".join(str(int(character, 36)) for character in turned)) % 97 == 1 else 0


def _passes_luhn(digits: str) -> bool:
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0
