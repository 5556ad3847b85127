"""Keys whose first characters give their provider away."""

from __future__ import annotations

import re

from keepmum_scanner.checksum import CHECKS
from keepmum_scanner.prefix_table import FACTS
from keepmum_scanner.shapes import is_placeholder
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.suspect import Suspect
    from keepmum_scanner.tokens import Token

ALPHABETS = {
    "alnum": "A-Za-z0-9",
    "base32": "A-Z2-7",
    "base64": "A-Za-z0-9+/=_-",
    "base64url": "A-Za-z0-9_=-",
    "dotted": "A-Za-z0-9._=-",
    "hex": "A-Fa-f0-9",
    "upper": "A-Z0-9",
    "upper-dash": "A-Z0-9-",
}
_PREFIXES = {start: tuple(fact[0] for fact in facts) for start, facts in FACTS.items()}
_TAILS = {name: re.compile(f"[{characters}]*") for name, characters in ALPHABETS.items()}
_START = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9].")  # a key begins where a stretch of letters and digits does
_WORDS = 5.0  # bits; a tail that costs less can be made of words
_REPEATED = 3  # different characters in "xxxx…" and its kin


def find(found: Iterable[Token], text: str) -> Iterator[Suspect]:
    """Suspects among the tokens of `text` for which a provider's fact holds."""
    for token in found:
        done = 0
        for start in _START.finditer(token.text):
            place = token.start + start.start()
            if start.start() >= done and text.startswith(_PREFIXES.get(start.group(), ()), place):
                suspect = _match(text, place, start.group())
                if suspect:
                    done = suspect[2] - token.start
                    yield suspect


def _match(text: str, start: int, group: str) -> Suspect | None:
    for prefix, fewest, most, alphabet, rule, check in FACTS[group]:
        if text.startswith(prefix, start):
            tail = _TAILS[alphabet].match(text, start + len(prefix))
            assert tail is not None  # the expression also matches nothing
            if fewest <= len(tail.group()) <= (most or len(text)) and not _is_words(tail.group()):
                proved = bool(check) and CHECKS[check](tail.group())
                return (rule, start, tail.end(), 0.99 if proved else 0.9)
    return None


def _is_words(tail: str) -> bool:
    """Whether `tail` is written by a person to stand for a key; a word inside random characters does not make it so."""
    if len(set(tail)) <= _REPEATED:
        return True
    return surprise(tail) < _WORDS and (is_placeholder(tail) or not any(map(str.isdigit, tail)))
