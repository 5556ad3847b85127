"""Keys whose first characters give their provider away."""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.prefix_table import FACTS, STARTS
from keepmum_scanner.shapes import is_placeholder
from keepmum_scanner.surprise import surprise
from keepmum_scanner.suspect import FLOOD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.suspect import Suspect
    from keepmum_scanner.tokens import Token

    Fact = tuple[str, int, int, str, str, str]  # prefix, fewest and most characters behind it, alphabet, rule, checksum

ALPHABETS = {
    "alnum": "A-Za-z0-9",
    "base32": "A-Z2-7",
    "base64": "A-Za-z0-9+/=_-",
    "base64url": "A-Za-z0-9_=-",
    "dotted": "A-Za-z0-9._=-",
    "hex": "A-Fa-f0-9",
    "upper": "A-Z0-9",
    "upper-dash": "A-Z0-9-",
    "urlsafe": "A-Za-z0-9_-",
}
_TAILS = {name: compiled(f"[{characters}]*") for name, characters in ALPHABETS.items()}
_WORDS = 5.0  # bits; a tail that costs less can be made of words
_COUNTED = 32  # characters; who writes a placeholder does not count them
_REPEATED = 3  # different characters in "xxxx…" and its kin


_START = compiled(STARTS)
_facts: dict[str, tuple[Fact, ...]] = {}  # of the starts that a text had
_prefixes: dict[str, tuple[str, ...]] = {}


def _prefixes_of(start: str) -> tuple[str, ...]:
    """The prefixes that begin with these two characters; from then on their facts are known."""
    if start not in _prefixes:
        rows = [line.split(" ") for line in FACTS[start].splitlines()]
        _facts[start] = tuple((row[0], int(row[1]), int(row[2]), row[3], row[4], row[5]) for row in rows)
        _prefixes[start] = tuple(row[0] for row in rows)
    return _prefixes[start]


def begins_key(text: str, start: int) -> bool:
    """Whether what stands in `text` from `start` on begins as the keys of a provider do."""
    pair = text[start : start + 2]
    return pair in FACTS and text.startswith(_prefixes_of(pair), start)


def find(found: Iterable[Token], text: str) -> Iterator[Suspect]:
    """Suspects among the tokens of `text` for which a provider's fact holds."""
    count = 0
    begins = text.startswith
    for token in found:
        if token.text[:2] not in FACTS and token.text.isalnum():
            continue  # one stretch of characters, and it begins like no key
        done = 0
        for start in _START.finditer(token.text):
            group, place = start.group(), token.start + start.start()
            if place >= done and begins(_prefixes.get(group) or _prefixes_of(group), place):
                suspect = _match(text, place, group, flooded=count >= FLOOD)
                if suspect:
                    count += 1
                    done = suspect[2]
                    yield suspect


def _match(text: str, start: int, group: str, *, flooded: bool) -> Suspect | None:
    for prefix, fewest, most, alphabet, rule, check in _facts[group]:
        if text.startswith(prefix, start):
            tail = _TAILS[alphabet].match(text, start + len(prefix))
            assert tail is not None  # the expression also matches nothing
            length = tail.end() - tail.start()
            fits = fewest <= length <= (most or length)
            if fits and (flooded or not _is_words(tail.group(), exact=length == fewest)):
                proved = bool(check) and not flooded and _is_proved(check, tail.group())
                return (rule, start, tail.end(), 0.99 if proved else 0.9)
    return None


def _is_proved(check: str, tail: str) -> bool:
    from keepmum_scanner.checksum import CHECKS  # a module that few texts need

    return CHECKS[check](tail)


def _is_words(tail: str, *, exact: bool) -> bool:
    """Whether `tail` is written by a person to stand for a key; a word inside random characters does not make it so."""
    if len(set(tail)) <= _REPEATED:
        return True
    if exact and len(tail) >= _COUNTED:
        return False
    bits = surprise(tail)
    return bits < _WORDS and (is_placeholder(tail, bits) or not any(map(str.isdigit, tail)))
