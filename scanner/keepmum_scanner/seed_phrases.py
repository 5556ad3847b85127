"""Finds recovery phrases of wallets: twelve to twenty-four words of the BIP-39 list, without any name near them.

The last word of a phrase contains a checksum, so that hardly any other text passes. Numbers, commas, cells and line
breaks may stand between the words. Behind a name such as "seed phrase" words of the list suffice.
"""

from __future__ import annotations

from keepmum_scanner.expressions import compiled
from keepmum_scanner.finding import builtin_sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from keepmum_scanner.candidates import Candidate
    from keepmum_scanner.context import Context

_FEWEST = 12  # words of a phrase
# Source: https://github.com/bitcoin/bips/blob/master/bip-0039.mediawiki, read 2026-11-22
_LENGTHS = (24, 21, 18, 15, 12)
_BITS = 11  # of a word
_CHECKED_BITS = 33  # of a phrase, for each bit of its checksum
_SHORTEST, _LONGEST = 3, 8  # letters of a word of the list
_CONFIDENCE = 0.97
_WINDOWS = 256  # checksums that are computed for one text; after that a run of words counts without one
_LIST_WORDS = 64  # a longer run of words without a name is the list itself, or a part of it

# Frequent words of prose and code that are not on the list.
_COMMON = frozenset(
    b"the and for are not was were has had his her its but our out she them than these those with from which while "
    b"would should could been being most some each does did def self import const null none str int new let var "
    b"class async await string value get set function data default node line der die das und ist nicht mit les des "
    b"une que los las".split()
)
_LETTERS = bytes(range(ord("a"), ord("z") + 1))
_BEYOND_ASCII = bytes(range(0xC0, 0x100))
# Letters stay, letters with accents end a word of the list, and everything else is a space.
_ONLY_WORDS = bytes(
    code if code in _LETTERS else ord("_") if code in _BEYOND_ASCII else ord(" ") for code in range(256)
)
_ESCAPES = ("\\n", "\\r", "\\t")
_TAGS = frozenset(b"td th tr li ol ul br".split())
_COUNTED = b"word"  # "Word 1: …", though it is also on the list
_NAME = compiled(
    r"seed|mnemonic|recovery|wallet|back-?up|bip-?39|phrase|words|frase|semilla|récup|sauvegarde|wiederherst|monedero|"
    r"portefeuille|portafoglio|carteira|geldbörse|herstel|återst|фраз|мнемон|сид|кошел|"
    r"助记|助記|ニーモニック|シード|復元|니모닉|복구|시드|kurtarma|odzysk|ledger|trezor|metamask"
)
_NAME_BEFORE, _NAME_AFTER = 160, 60  # characters
_NAME_WORDS = 4  # of a run that may be its name


def find(context: Context) -> Iterator[Candidate]:
    """Candidates for recovery phrases."""
    lower = context.lower
    if len(lower) < _FEWEST * (_SHORTEST + 1):
        return
    words = _words(lower)
    if not _has_run(words):
        return
    from keepmum_scanner.seed_words import numbers

    yield from _phrases(context, words, numbers())


def _words(lower: str) -> list[bytes]:
    """The words of a text, without the names of tags in HTML and without the word "word" of a numbered list."""
    if "\\" in lower:
        for escape in _ESCAPES:
            lower = lower.replace(escape, "  ")
    words = lower.encode("latin-1", "replace").translate(_ONLY_WORDS).split()
    if "<td" in lower or "<li" in lower or "<br" in lower:
        words = [word for word in words if word not in _TAGS]
    return [word for word in words if word != _COUNTED] if words.count(_COUNTED) >= _FEWEST else words


def _has_run(words: list[bytes]) -> bool:
    """Whether as many words as a phrase has follow each other that can all be on the list; a cheap check.

    Every run contains a word whose index is a multiple of its length, so that one word in twelve is read.
    """
    count = len(words)
    done = 0
    for index in range(_FEWEST - 1, count, _FEWEST):
        if index < done or not _SHORTEST <= len(words[index]) <= _LONGEST or words[index] in _COMMON:
            continue
        first = end = index
        while first > done and _SHORTEST <= len(words[first - 1]) <= _LONGEST and words[first - 1] not in _COMMON:
            first -= 1
        while end < count and _SHORTEST <= len(words[end]) <= _LONGEST and words[end] not in _COMMON:
            end += 1
        if end - first >= _FEWEST:
            return True
        done = end
    return False


def _phrases(context: Context, words: list[bytes], numbers: dict[bytes, int]) -> Iterator[Candidate]:
    """Candidates in the runs of words that are on the list."""
    places: list[tuple[int, int]] = []
    checks = _WINDOWS
    done = 0
    for index in range(_FEWEST - 1, len(words), _FEWEST):
        if index < done or words[index] not in numbers:
            continue
        first = end = index
        while first > done and words[first - 1] in numbers:
            first -= 1
        while end < len(words) and words[end] in numbers:
            end += 1
        done = end
        run = [numbers[word] for word in words[first:end]]
        if len(run) < _FEWEST or not _is_varied(run):
            continue
        places = places or _places(context.lower, words)
        begin = _named_start(context.lower, places[first:end])
        if checks <= 0 or begin is not None:
            yield ("seed-phrase", places[first][0] if begin is None else begin, places[end - 1][1], _CONFIDENCE)
            continue
        for start, length in _checked(run if len(run) <= _LIST_WORDS else []):
            yield ("seed-phrase", places[first + start][0], places[first + start + length - 1][1], _CONFIDENCE)
        checks -= len(_LENGTHS) * len(run)


def _is_varied(run: list[int]) -> bool:
    """Whether `run` can be drawn by chance: few words twice, and not in the order of the list."""
    ascending = sum(one < other for one, other in zip(run, run[1:]))
    return 4 * len(set(run)) >= 3 * min(len(run), 24) and ascending < len(run) - 1 - len(run) // 5


def _checked(run: list[int]) -> Iterator[tuple[int, int]]:
    """Start and length of the phrases in `run` whose checksum is right, the longest first, without overlap."""
    taken = [False] * len(run)
    for length in _LENGTHS:
        for start in range(len(run) - length + 1):
            part = run[start : start + length]
            if not any(taken[start : start + length]) and _is_varied(part) and has_checksum(part):
                taken[start : start + length] = [True] * length
                yield start, length


def has_checksum(phrase: list[int]) -> bool:
    """Whether the last bits of `phrase` are the first bits of the SHA-256 of the others."""
    bits = len(phrase) * _BITS
    size = bits // _CHECKED_BITS  # of the checksum
    number = 0
    for word in phrase:
        number = number << _BITS | word
    digest = builtin_sha256()((number >> size).to_bytes((bits - size) // 8, "big")).digest()
    return bool(digest[0] >> (8 - size) == number & ((1 << size) - 1))


def _named_start(lower: str, places: list[tuple[int, int]]) -> int | None:
    """Where the phrase at `places` begins when the text before, within its first words or after it names it one.

    The words of a name are on the list too: "seed phrase", "wallet".
    """
    start, end = places[0][0], places[-1][1]
    within = places[min(_NAME_WORDS, len(places) - _FEWEST)][0]
    names = list(_NAME.finditer(lower, max(0, start - _NAME_BEFORE), within))
    if names:
        return next(place for place, _ in places if place >= names[-1].end() or place == within)
    return start if _NAME.search(lower, end, end + _NAME_AFTER) else None


def _places(lower: str, words: list[bytes]) -> list[tuple[int, int]]:
    """Start and end of each of `words` in the text."""
    text = lower
    for escape in _ESCAPES:
        text = text.replace(escape, "  ")
    data = b" " + text.encode("latin-1", "replace").translate(_ONLY_WORDS) + b" "
    places = []
    position = 0
    for word in words:
        position = data.find(b" " + word + b" ", position)
        places.append((position, position + len(word)))
        position += len(word)
    return places
