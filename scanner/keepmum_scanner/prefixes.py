"""Finds keys by the prefix that identifies their provider, and AWS secret keys by the key id next to them."""

from __future__ import annotations

from itertools import repeat

from keepmum_scanner.candidates import DUMP_SIZE, EXPLICIT, case_limit
from keepmum_scanner.expressions import compiled
from keepmum_scanner.prefix_rules import prefixes_of, rules_of
from keepmum_scanner.prefix_table import RULES, STARTS
from keepmum_scanner.shapes import is_placeholder
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context
    from keepmum_scanner.prefix_rules import Rule
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
    "urlsafe": "A-Za-z0-9_-",
}
_TAILS = {name: compiled(f"[{characters}]*") for name, characters in ALPHABETS.items()}
_READABLE_BITS = 5.0  # a tail below this may consist of words
_COUNTED = 32  # characters; nobody writes a placeholder of exactly this length or more
_REPEATED = 3  # different characters at most in "xxxx…" and the like
_LONGEST = 256  # characters of a token that is searched for pairs, and of a tail that is examined
_DIGIT = compiled("[0-9]")
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ALTERNATING = compiled("[A-Za-z][0-9]+[A-Za-z]|[0-9][A-Za-z]+[0-9]")

_PAIR = compiled(STARTS)
_TOKEN = compiled(r"[^A-Za-z0-9_+/.~%-][A-Za-z0-9_+/.~%-]{12,}")
# Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html, read 2026-11-21
_AWS_SECRET_KEY = compiled(r"(?<![A-Za-z0-9/+])(?![0-9a-f]{40})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_AWS_DISTANCE = 160  # characters between key id and secret key: one line of a file each


def find(tokens: Iterable[Token], context: Context) -> Iterator[Candidate]:
    """Candidates for keys whose prefix has a rule, in `tokens` and in all text after `context.bulk_start`."""
    tails = None
    for start, rules in _prefixes_in(tokens, context):
        tails = tails or _Tails(context.text)  # most texts need none
        if start < tails.done:
            continue
        tails.starts_left -= 1
        if tails.starts_left < 0:
            yield from _all_tokens(context, start, in_dump=tails.candidates >= DUMP_SIZE)
            return
        candidate = tails.candidate(start, rules)
        if candidate:
            yield candidate


def aws_secret_keys(text: str, key_ids: list[Candidate]) -> Iterator[Candidate]:
    """Candidates for the AWS secret keys near `key_ids`, whose own spelling identifies nothing."""
    done = 0
    for _, start, end, _ in sorted(key_ids, key=lambda one: one[1]):
        for match in _AWS_SECRET_KEY.finditer(text, max(done, start - _AWS_DISTANCE), end + _AWS_DISTANCE):
            done = match.end()
            yield ("aws.secret-key", match.start(), match.end(), 0.9)


def _prefixes_in(tokens: Iterable[Token], context: Context) -> Iterator[tuple[int, tuple[Rule, ...]]]:
    """The start of each prefix, in order, with the rules that may apply there."""
    starts_with = context.text.startswith
    for token in tokens:
        if token.text[:2] not in RULES and token.text.isalnum():
            continue  # a single alphanumeric run can only begin with a prefix
        if len(token.text) > _LONGEST:  # an expression over all prefixes costs more to compile and less to run
            yield from map(_prefix_at, compiled(_all_prefixes()).finditer(f" {token.text}"), repeat(token.start))
            continue
        for pair in _PAIR.finditer(token.text):
            group, start = pair.group(), token.start + pair.start()
            if starts_with(prefixes_of(group), start):
                yield start, rules_of(group)
    if context.bulk_start is not None:
        yield from map(_prefix_at, context.matches(compiled(_all_prefixes()), context.bulk_start), repeat(0))


def _prefix_at(match: re.Match[str], offset: int) -> tuple[int, tuple[Rule, ...]]:
    return offset + match.start(), rules_of(match["prefix"])


_expression: list[str] = []


def _all_prefixes() -> str:
    """An expression for a delimiter and the longest prefix after it; built once."""
    if not _expression:
        by_first: dict[str, list[str]] = {}
        for pair in RULES:
            rests = [_literal(prefix[2:]) for prefix in prefixes_of(pair)]
            by_first.setdefault(pair[0], []).append(pair[1] + _any_of(rests))
        prefixes = "|".join(first + _any_of(seconds) for first, seconds in by_first.items())
        _expression.append(f"[^A-Za-z0-9](?=(?P<prefix>{prefixes}))")
    return _expression[0]


def _literal(prefix: str) -> str:
    return "".join(one if one.isalnum() else f"[{one}]" for one in prefix)


def _any_of(options: list[str]) -> str:
    return f"(?:{'|'.join(options)})"


def _all_tokens(context: Context, start: int, *, in_dump: bool) -> Iterator[Candidate]:
    """A candidate for every token from `start` on that contains a prefix followed by alternating characters.

    In a dump the prefix is enough.
    """
    prefix_in = compiled(_all_prefixes()).search
    for token in context.matches(_TOKEN, start):
        prefix = prefix_in(token.string, *token.span())
        if prefix and (in_dump or _ALTERNATING.search(token.string, prefix.end(), token.end())):
            yield ("secret.unnamed", prefix.start(), token.end() - 1, EXPLICIT)


class _Tails:
    """Checks what follows the prefixes of one text; call `candidate` in order of position."""

    __slots__ = ("candidates", "checks_left", "done", "reach", "starts_left", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        # Detailed checks of tails, and prefixes, until the rest of the text is judged by `_all_tokens`.
        self.checks_left = self.starts_left = case_limit(text)
        self.candidates = 0
        self.done = 0  # end of the last candidate
        self.reach: dict[str, tuple[int, int]] = {}  # by alphabet, start and end of the last tail

    def candidate(self, start: int, rules: tuple[Rule, ...]) -> Candidate | None:
        """The candidate at `start` under the first of `rules` that applies."""
        for prefix, fewest, most, alphabet, rule, checksum in rules:
            first = start + len(prefix)
            end = self._end(first, alphabet) if self.text.startswith(prefix, start) else 0
            length = end - first
            if fewest <= length <= (most or length) and not self._is_readable(first, end, exact=length == fewest):
                in_dump = self.candidates >= DUMP_SIZE
                self.candidates += 1
                proved = checksum and not in_dump and length <= _LONGEST and ends_with_crc32(self.text[first:end])
                separator = self.text.find("=", start, end)  # another key may begin after it
                self.done = end if separator < 0 else separator
                return (rule, start, end, 0.99 if proved else 0.9)
        return None

    def _end(self, first: int, alphabet: str) -> int:
        """End of the run of `alphabet` from `first` on; cached, since all tails in a chain of keys share one end."""
        start, end = self.reach.get(alphabet, (0, 0))
        if not start <= first <= end:
            tail = _TAILS[alphabet].match(self.text, first)
            assert tail is not None  # the expression also matches the empty string
            end = tail.end()
            self.reach[alphabet] = (first, end)
        return end

    def _is_readable(self, start: int, end: int, *, exact: bool) -> bool:
        """Whether a person wrote the tail at [start, end); a rough check once the detailed ones are used up."""
        if self.candidates >= DUMP_SIZE:
            return False
        self.checks_left -= 1
        if self.checks_left < 0:
            return _ALTERNATING.search(self.text, start, min(end, start + _LONGEST)) is None
        if end - start <= _LONGEST:
            return _is_readable(self.text[start:end], exact=exact)
        return _is_readable(
            self.text[start : start + _LONGEST // 2] + self.text[end - _LONGEST // 2 : end], exact=exact
        )


def ends_with_crc32(tail: str) -> bool:
    """Whether the last six characters of `tail` are the CRC-32 of the others in base 62; False proves nothing.

    Computed here, since importing `binascii` takes longer.

    Source: https://www.rfc-editor.org/rfc/rfc1952#section-8, read 2026-11-21
    Source: https://pkg.go.dev/github.com/xunholy/promptzero/internal/githubtoken, read 2026-11-21
    Source: https://github.com/mongodb/kingfisher/blob/main/crates/kingfisher-rules/data/rules/npm.yml, read 2026-11-21
    """
    rest = 0xFFFFFFFF
    for byte in tail[:-6].encode():
        rest ^= byte
        for _ in range(8):
            rest = rest >> 1 ^ (0xEDB88320 if rest & 1 else 0)
    number, digits = rest ^ 0xFFFFFFFF, ""
    while number:
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(6, "0") == tail[-6:]


def _is_readable(tail: str, *, exact: bool) -> bool:
    """Whether `tail` is a person's placeholder for a key; a word inside random characters does not make it one.

    `exact`: the tail is as long as the shortest key.
    """
    if len(set(tail)) <= _REPEATED:
        return True
    if exact and len(tail) >= _COUNTED:
        return False
    bits = surprise(tail)
    if exact and tail.isupper():
        return bits < _READABLE_BITS and is_placeholder(tail, bits)  # one in ten thousand random tails reads as words
    return bits < _READABLE_BITS and (_DIGIT.search(tail) is None or is_placeholder(tail, bits))
