"""What can be said about a candidate: the spelling of the value, and the text around it, as numbers."""

from __future__ import annotations

from keepmum_scanner import shapes
from keepmum_scanner.decode import encodes_text
from keepmum_scanner.expressions import compiled
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum_scanner.candidates import Unit
    from keepmum_scanner.context import Context

_JUDGED = 96  # characters of a value that are judged
_BEFORE, _AFTER, _LINE = 80, 64, 240  # characters of the surroundings that are read
_FAR, _NO_KIND = 99, 3  # characters to a name that is none
_NONE = 40  # words or characters of distance that stand for "not there"
_WORDS = compiled(r"[a-z]+|[\u00a1-\uffff]+")
_RUNS = compiled(r"[A-Za-z]+|[0-9]+|[^A-Za-z0-9]+")
_PARTS = compiled(r"[A-Z]?[a-z]+|[A-Z]+")
_MOST_PARTS = 6
_MARKS = frozenset("!@#$%^&*?~+")
_OPENING, _CLOSING = " \t\n\"'`(*[{\\", "\"'`*]) "  # before a value, and after a name
_SEPARATORS = {"=>": 3, ":=": 3, "==": 4, "->": 5, "=": 1, ":": 2, "\u2192": 5, "|": 6, "": 0}  # the longest first

# Names of values that are public, or that identify or describe something.
_PUBLIC = frozenset(
    "public pubkey pub publickey signer verify verified verifier verification verifying address addresses "
    "addr fingerprint fingerprints id ids uuid guid digest digests commit commits hash hashes hashed sha md "
    "checksum checksums integrity revision rev version versions branch image images nonce permalink boundary "
    "etag model module node validator validators tx txn txhash block signature signatures sig certificate "
    "cert certs trace span request session issue issues pull pr tag tags release releases file files path "
    "paths label labels alias cluster namespace algorithm cipher ciphers curve format formats encode encoded "
    "encoding base hex multihash patch merge prints output outputs returns message thread account object "
    "table column row index cache run build job ticket cve rfc package packages spkac csr type power height".split()
)
_EXAMPLE = frozenset(
    "example examples eg placeholder placeholders sample samples dummy fake replace your such default "
    "defaults hello foo bar baz documentation format form syntax must should".split()
)
_CREDENTIAL = frozenset(
    "password passwords passwd pass pwd pw passphrase passcode secret secrets token tokens key keys apikey "
    "cred creds credential credentials auth bearer login pin psk".split()
)
_GENERIC = frozenset(
    "value name user username password passwd pass secret token key test example my your here host hostname "
    "default admin changeme guest foo bar string text some sample data file type id login db database server "
    "client".split()
)
_CLASSES_OF_WORDS = {
    word: number
    for number, words in enumerate(
        (
            "use using used enter type typed answer answers reply replied send sent pass try give gave put set change",
            "is was be are it still now says say with es ist est vaut lautet jetzt to\u0301",
            "to as become became",
            "for of in from by on at via into",
            "and or the a an that this new old",
            "name called named like see",
        ),
        start=1,
    )
    for word in words.split()
}
_QUOTES = {'"': 1, "'": 2, "`": 3, "\u300c": 4, "\u201e": 4, "\u201c": 4}
_CLASSES = {
    "": 0, **dict.fromkeys("\"'\u201c\u201d\u201e\u300c\u300d", 1), "`": 2, " ": 3, "\n": 4, "=": 5, ":": 6, "/": 7,
    **dict.fromkeys("()[]{}", 8), "<": 9, ">": 9, "@": 10, ",": 11, ";": 11, ".": 12, "-": 13, "_": 13, "|": 14,
    "*": 15, "\\": 16, "&": 17, "$": 18,
}  # fmt: skip
_ALNUM, _OTHER = 19, 20
_RULES = {"secret.possible": 0, "secret.unnamed": 1, "secret.named": 2, "secret.password": 3}


NAMES = (
    "rule votes confidence length digits upper lower symbols marks switches bits run letters tail words "
    "word_share part_bits hex identity path camel slug name public caps all_lower dots dashes slashes equals "
    "distinct placeholder final ands generic encodes before after after2 quoted named_before named_after "
    "kind gap_words gap_lines word1 word2 anti_before anti_count anti_after anti_nearer cred_before "
    "cred_after example line_start line_words line_link code name_length name_credential name_anti separator "
    "repeated credential_near naming siblings follows_id in_link line_value"
).split()


def evidence(unit: Unit, context: Context) -> list[float]:
    """The numbers of `NAMES` for a candidate."""
    (rule, start, end, confidence), votes = unit
    value = context.text[start : min(end, start + _JUDGED)]
    return [
        _RULES[rule],
        votes,
        confidence,
        *_spelling(value),
        *_surroundings(context, start, end, value),
    ]


def _spelling(value: str) -> list[float]:
    length = len(value)
    digits = sum(map(str.isdigit, value))
    upper = sum(map(str.isupper, value))
    lower = sum(map(str.islower, value))
    runs = _RUNS.findall(value)
    parts = [part for part in _PARTS.findall(value) if len(part) > 2][:_MOST_PARTS]
    costs = [surprise(part.lower()) for part in parts]
    readable = [part for part, cost in zip(parts, costs) if cost < shapes.WORD_BITS]
    bits = surprise(value)
    plain = not value.isalnum()
    tail = next((len(run) for run in runs[:-3:-1] if run.isdigit()), 0)
    return [
        length,
        digits,
        upper,
        lower,
        length - digits - upper - lower,
        len(_MARKS.intersection(value)),
        len(shapes.SWITCH.findall(value)),
        bits,
        max(map(len, runs)),
        max([len(run) for run in runs if run.isalpha()], default=0),
        tail,
        len(readable),
        sum(map(len, readable)) / length,
        max(costs, default=0.0),
        shapes.is_hex(value),
        shapes.is_identity(value),
        shapes.is_path(value),
        shapes.is_camel(value),
        shapes.is_slug(value),
        plain and shapes.is_name(value),
        shapes.is_public(value),
        len([part for part in parts if part.istitle()]),
        lower == length - digits,
        value.count("."),
        value.count("-") + value.count("_"),
        value.count("/"),
        value.count("="),
        len(set(value)) / length,
        shapes.is_placeholder(value, bits),
        value[-1] in _MARKS,
        value.count("&"),
        len(_GENERIC.intersection(map(str.lower, parts))),
        bits < 8.0 and length > 7 and value.isascii() and encodes_text(value),
    ]


def _surroundings(context: Context, start: int, end: int, value: str) -> list[float]:
    text, lower = context.text, context.lower
    before, after = lower[max(0, start - _BEFORE) : start], lower[end : end + _AFTER]
    line_start = max(text.rfind("\n", max(0, start - _LINE), start) + 1, start - _LINE, 0)
    line_end = text.find("\n", end, end + _LINE)
    line = text[line_start : line_end if line_end >= 0 else end + _LINE]
    character, following = before[-1:], after[:1]
    kind, distance, gap = _nearest_before(context, start)
    words = _WORDS.findall(before)[::-1]
    after_words = _WORDS.findall(after)
    anti = [index for index, word in enumerate(words) if word in _PUBLIC]
    credential = [index for index, word in enumerate(words) if word in _CREDENTIAL]
    separator, name = _name(before[-48:].rstrip(_OPENING))
    name_words = words[: max(1, name.count("_") + name.count("-") + name.count(".") + 1)] if name else ()
    return [
        _class(character),
        _class(following),
        _class(after[1:2]),
        _QUOTES.get(character, 0) if character == following or character in "\u300c\u201e\u201c" else 0,
        distance,
        _nearest_after(context, end),
        kind,
        gap.count(" "),
        gap.count("\n"),
        _CLASSES_OF_WORDS.get(words[0], 0) if words else -1,
        _CLASSES_OF_WORDS.get(words[1], 0) if len(words) > 1 else -1,
        anti[0] if anti else _NONE,
        len(anti),
        _first(after_words, _PUBLIC),
        bool(anti) and (not credential or anti[0] < credential[0]),
        credential[0] if credential else _NONE,
        _first(after_words, _CREDENTIAL),
        len(_EXAMPLE.intersection(words)),
        _class(line.lstrip()[:1]),
        line.count(" "),
        "://" in line,
        following in ("(", "["),
        len(name),
        not _CREDENTIAL.isdisjoint(name_words),
        not _PUBLIC.isdisjoint(name_words),
        _SEPARATORS[separator],
        min(text.count(value), 4),
        len(context.credential_words) > 0,
        context.naming(start, end),
        _siblings(line, value),
        context.follows_id_name(start),
        context.in_link(start),
        len(line) - (end - start) < 4,
    ]


def _name(before: str) -> tuple[str, str]:
    """The separator at the end of `before`, and the word before it."""
    separator = next(one for one in _SEPARATORS if before.endswith(one))
    rest = before[: len(before) - len(separator)].rstrip(_CLOSING).rsplit(None, 1)
    return separator, rest[-1].lstrip(_OPENING) if rest else ""


def _class(character: str) -> int:
    return _CLASSES.get(character) or (0 if not character else _ALNUM if character.isalnum() else _OTHER)


def _first(words: list[str], wanted: frozenset[str]) -> int:
    for index, word in enumerate(words):
        if word in wanted:
            return index
    return _NONE


def _nearest_before(context: Context, start: int) -> tuple[int, int, str]:
    """Kind and distance of the last credential word before `start`, and the text between."""
    word = context.credential_word_before(start)
    if word is None or start - word[0] > _FAR:
        return _NO_KIND, _FAR, ""
    return word[2], start - word[0], context.text[word[0] : start]


def _nearest_after(context: Context, end: int) -> int:
    """Distance of the next credential word after `end`."""
    word = context.credential_word_after(end)
    return min(word[1] - end, _FAR) if word and word[1] >= end else _FAR


def _siblings(line: str, value: str) -> int:
    length = len(value)
    return [len(word) for word in line.split()].count(length) if length > 8 else 0
