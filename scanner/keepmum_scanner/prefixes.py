"""Keys whose first characters give their provider away."""

from __future__ import annotations

from itertools import repeat

from keepmum_scanner.expressions import compiled
from keepmum_scanner.prefix_table import FACTS, STARTS
from keepmum_scanner.shapes import is_placeholder
from keepmum_scanner.surprise import surprise
from keepmum_scanner.suspect import FLOOD, STATED, crowd_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.context import Context
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
_LONGEST = 256  # characters of a token that is searched for two characters, and of a tail that is looked at
_DIGIT = compiled("[0-9]")
_TURNS = compiled("[A-Za-z][0-9]+[A-Za-z]|[0-9][A-Za-z]+[0-9]")

_START = compiled(STARTS)
_TOKEN = compiled(r"[^A-Za-z0-9_+/.~%-][A-Za-z0-9_+/.~%-]{12,}")
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


def find(found: Iterable[Token], context: Context) -> Iterator[Suspect]:
    """Suspects for which a provider's fact holds, among these tokens of a text and anywhere in the crowd of it."""
    tails = None
    for place, facts in _begun(found, context):
        tails = tails or _Tails(context.text)  # most texts have none
        if place < tails.done:
            continue
        tails.starts -= 1
        if tails.starts < 0:
            yield from _all(context, place, flooded=tails.suspects >= FLOOD)
            return
        suspect = tails.suspect(place, facts)
        if suspect:
            yield suspect


def _begun(found: Iterable[Token], context: Context) -> Iterator[tuple[int, tuple[Fact, ...]]]:
    """Where prefixes stand, in order, and the facts of which each may be."""
    begins = context.text.startswith
    for token in found:
        if token.text[:2] not in FACTS and token.text.isalnum():
            continue  # one stretch of characters, and it begins like no key
        if len(token.text) > _LONGEST:  # an expression over all prefixes costs more to make, less to use
            yield from map(_fact, compiled(_whole_prefixes()).finditer(f" {token.text}"), repeat(token.start))
            continue
        for start in _START.finditer(token.text):
            group, place = start.group(), token.start + start.start()
            if begins(_prefixes.get(group) or _prefixes_of(group), place):
                yield place, _facts[group]
    if context.crowd_begins is not None:
        yield from map(_fact, context.matches(compiled(_whole_prefixes()), context.crowd_begins), repeat(0))


def _fact(match: re.Match[str], offset: int) -> tuple[int, tuple[Fact, ...]]:
    """Where a whole prefix was found, and the facts of which it may be."""
    prefix = match["prefix"]
    if prefix not in _facts:
        _prefixes_of(prefix[:2])
        _facts[prefix] = tuple(fact for fact in _facts[prefix[:2]] if prefix.startswith(fact[0]))
    return offset + match.start(), _facts[prefix]


_whole: list[str] = []


def _whole_prefixes() -> str:
    """An expression for a sign and the longest prefix that stands behind it; made once."""
    if not _whole:
        by_first: dict[str, list[str]] = {}
        for pair in FACTS:
            rests = [_literally(prefix[2:]) for prefix in _prefixes_of(pair)]
            by_first.setdefault(pair[0], []).append(pair[1] + _either(rests))
        prefixes = "|".join(first + _either(seconds) for first, seconds in by_first.items())
        _whole.append(f"[^A-Za-z0-9](?=(?P<prefix>{prefixes}))")
    return _whole[0]


def _literally(prefix: str) -> str:
    return "".join(one if one.isalnum() else f"[{one}]" for one in prefix)


def _either(options: list[str]) -> str:
    return f"(?:{'|'.join(options)})"


def _all(context: Context, start: int, *, flooded: bool) -> Iterator[Suspect]:
    """A suspect for every token from `start` on in which a key seems to begin."""
    first_in = compiled(_whole_prefixes()).search
    for token in context.matches(_TOKEN, start):
        begun = first_in(token.string, *token.span())
        if begun and (flooded or _TURNS.search(token.string, begun.end(), token.end())):
            yield ("secret.unnamed", begun.start(), token.end() - 1, STATED)


class _Tails:
    """What follows the prefixes of one text; to be asked in order of place."""

    __slots__ = ("done", "looks", "reach", "starts", "suspects", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        # What is left of looks at tails, and of starts of keys; behind them a token is taken for a key where one begins
        # in it and letters and digits take turns behind that.
        self.looks = self.starts = crowd_of(text)
        self.suspects = 0
        self.done = 0  # where the last suspect ends
        self.reach: dict[str, tuple[int, int]] = {}  # by alphabet, where the last tail starts and ends

    def suspect(self, start: int, facts: tuple[Fact, ...]) -> Suspect | None:
        """The suspect at `start`, under the first of `facts` that holds."""
        for prefix, fewest, most, alphabet, rule, check in facts:
            first = start + len(prefix)
            end = self._end(first, alphabet) if self.text.startswith(prefix, start) else 0
            length = end - first
            if fewest <= length <= (most or length) and not self._is_words(first, end, exact=length == fewest):
                flooded = self.suspects >= FLOOD
                self.suspects += 1
                proved = check and not flooded and length <= _LONGEST and _is_proved(check, self.text[first:end])
                cut = self.text.find("=", start, end)  # behind it another key may begin
                self.done = end if cut < 0 else cut
                return (rule, start, end, 0.99 if proved else 0.9)
        return None

    def _end(self, first: int, alphabet: str) -> int:
        """Where the characters of `alphabet` from `first` on end; of a chain of keys all tails end in one place."""
        start, end = self.reach.get(alphabet, (0, 0))
        if not start <= first <= end:
            tail = _TAILS[alphabet].match(self.text, first)
            assert tail is not None  # the expression also matches nothing
            end = tail.end()
            self.reach[alphabet] = (first, end)
        return end

    def _is_words(self, start: int, end: int, *, exact: bool) -> bool:
        """Whether the tail at [start, end) is written by a person; in a flood none is, and later the look decides."""
        if self.suspects >= FLOOD:
            return False
        self.looks -= 1
        if self.looks < 0:
            return _TURNS.search(self.text, start, min(end, start + _LONGEST)) is None
        if end - start <= _LONGEST:
            return _is_words(self.text[start:end], exact=exact)
        return _is_words(self.text[start : start + _LONGEST // 2] + self.text[end - _LONGEST // 2 : end], exact=exact)


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
    if exact and tail.isupper():
        return bits < _WORDS and is_placeholder(tail, bits)  # letters that are drawn read as words once in ten thousand
    return bits < _WORDS and (_DIGIT.search(tail) is None or is_placeholder(tail, bits))
