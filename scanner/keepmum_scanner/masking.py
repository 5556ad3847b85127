"""Replaces the text of a line by generated text of the same shape, so that the line can be shown to others.

Every character of a value is drawn from its class: capital letters, small letters, digits, marks. What stays is
public: words of the scanner's lists outside of values, separators, and the prefix by which a rule recognises a format.
Draws are independent of what they replace, so that several masked lines of one value reveal no more than one.
"""

from __future__ import annotations

from keepmum_scanner.decode import decoded
from keepmum_scanner.expressions import compiled
from keepmum_scanner.shapes import WORD_BITS
from keepmum_scanner.surprise import surprise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from keepmum_scanner.finding import Finding

    Piece = tuple[str, int, int]  # kind, start, end

# Characters in a row that no masked text shares with a replaced one, by the length of that one; long texts share a few
# by chance, though never at the same place.
_REVEALING, _LONGER = 4, ((400, 8), (80, 6))

_MARKS = "!#$%^&*?~+"
_STRUCTURAL = frozenset(" \t\r\n\"'`()[]{}<>,;:=/\\|@-_.")
# In order: escapes, white space, letters and digits of ASCII, other characters one by one.
_PIECES = compiled(
    r"(?P<control>\\{1,4}[nrt])|(?P<unit>\\{1,4}u[0-9A-Fa-f]{4})|(?P<byte>\\{1,4}x[0-9A-Fa-f]{2})|"
    r"(?P<reference>&#(?:x[0-9A-Fa-f]{1,6}|[0-9]{1,7});)|(?P<percent>%[0-9A-Fa-f]{2})|(?P<space>\s+)|"
    r"(?P<run>[A-Za-z0-9]+)|(?P<symbols>[!-/:-@\[-`{-~])|(?P<other>.)"
)
_LETTERS_OR_DIGITS = compiled("[A-Za-z]+|[0-9]+")
_PEM = compiled(r"-----(?:BEGIN|END) [A-Z0-9 ]{1,40}-----")
_HASH = compiled(r"\$(?:2[abxy]|1|5|6|y|apr1|argon2(?:id|i|d)|krb5(?:asrep|tgs|pa))\$")
_JWT_PART = compiled(r"(?<=\.)(?:eyJ|ZXlK)")
_DATA, _SHORTEST_DATA = frozenset("+/=._-"), 16  # symbols within base64, and characters of it
_HASH_DATA = frozenset("$./=,+*@-")
_PEM_WORDS = frozenset("BEGIN END RSA DSA EC OPENSSH PGP ENCRYPTED PRIVATE PUBLIC KEY BLOCK CERTIFICATE".split())
_ENCODED = compiled(r"[A-Za-z0-9+/_-]{16,}={0,2}")
# Between separators, a text with such a mark inside is more like a password than like a word or a link.
_LIKE_PASSWORD = compiled(r"[^\s\"'`()\[\]{}<>,;:=|\\]*[A-Za-z0-9][!#$^*~]+[A-Za-z0-9][^\s\"'`()\[\]{}<>,;:=|\\]*")
_SHORT_WORD = 2  # letters of a word that is kept only between the separators of prose and names
_AROUND_WORDS = frozenset(" \t\r\n_-./,:=\"'`()")
_OPTION = compiled(r"(?<![^\s])-[A-Za-z]{1,3}(?![A-Za-z0-9])|(?<![^\s])-[pu](?=['\"])")  # of a command
_SHORTEST_CACHED = 3  # characters of a run that is replaced by the same text everywhere
_ANCHOR_BEFORE = 48  # characters before a value in which its rule looks for a fixed text
_HEX, _SHORTEST_HEX = frozenset("0123456789abcdef"), 6
_BASE32 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
_BLOCK = 128  # code points of most alphabets beyond ASCII
# Scripts of thousands of characters; a neighbour would reveal most of one.
_LARGE = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x20000, 0x2A6DF))
_INVISIBLE = "\u200b"
_TRIES = 40
_PHRASE_TRIES = 20_000  # of 24 words, one phrase in 256 has its checksum
_DEEPEST = 2  # encodings within encodings that are masked as text


class Masked:
    """A masked text, with the characters that were kept because they are public."""

    __slots__ = ("kept", "text")

    def __init__(self, text: str, kept: Sequence[bool]) -> None:
        self.text = text
        self.kept = kept


def mask(text: str, findings: Iterable[Finding], random: Random, *, loose: bool = False, depth: int = 0) -> Masked:
    """`text` with everything replaced that is not public; the result has the same length.

    `loose` also keeps, outside of `findings`, public words next to digits and the name of a credential within a word.
    """
    return _Masking(text, list(findings), random, loose=loose, depth=depth).result()


def reveals(original: str, masked: Masked, findings: Iterable[Finding]) -> bool:
    """Whether `masked` shares four characters in a row with `original` that were not kept as public text.

    Outside of `findings` a single drawn character may be the replaced one by chance.
    """
    lower = masked.text.lower()
    if len(lower) != len(masked.text):
        return True
    before = original.lower()
    texts = [(before, 2), *((before[one.start : one.end], 1) for one in findings)]
    for text, least in texts:
        known, size = _parts(text), _revealing(text)
        for index in range(len(lower) - size + 1):
            if lower[index : index + size] in known and masked.kept[index : index + size].count(False) >= least:
                return True
    return any(
        before[index : index + _REVEALING] == lower[index : index + _REVEALING]
        and masked.kept[index : index + _REVEALING].count(False) > 1
        for index in range(len(lower) - _REVEALING + 1)
    )


class _Masking:
    def __init__(self, text: str, findings: list[Finding], random: Random, *, loose: bool, depth: int) -> None:
        self._text = text
        self._findings = findings
        self._random = random
        self._loose = loose
        self._depth = depth
        self._characters = list(text)
        self._kept = [False] * len(text)
        self._done = [False] * len(text)
        self._same: dict[str, str] = {}  # replacements of runs that may occur again

    def result(self) -> Masked:
        self._keep_public_parts()
        for finding in self._findings:
            if finding.rule == "seed-phrase":
                self._replace_phrase(finding.start, finding.end)
            self._replace_encoded(finding.start, finding.end)
            self._replace(finding.start, finding.end, in_value=True, is_hash=finding.rule == "password-hash")
        self._keep_foreign_names()
        for match in _LIKE_PASSWORD.finditer(self._text):
            self._replace(*match.span(), in_value=True)
        if self._loose:
            self._keep_parts()
        self._replace(0, len(self._text), in_value=False)
        return Masked("".join(self._characters), self._kept)

    def _set(self, start: int, replacement: str, *, kept: bool = False) -> None:
        end = start + len(replacement)
        self._characters[start:end] = replacement
        self._kept[start:end] = [kept] * len(replacement)
        self._done[start:end] = [True] * len(replacement)

    def _keep(self, start: int, end: int) -> None:
        self._set(start, self._text[start:end], kept=True)

    def _keep_public_parts(self) -> None:
        """Keep what identifies a format: the prefix of its keys, the fixed text of its rule, the labels of PEM."""
        from keepmum_scanner.prefix_rules import prefixes_of, rules_of
        from keepmum_scanner.prefix_table import RULES as PREFIXES
        from keepmum_scanner.structure import RULES as STRUCTURES

        text = self._text
        anchors = {rule: anchor for rule, anchor, _, _ in STRUCTURES}
        for rule, start, end, _, _ in self._findings:
            for first in range(start, end):
                if text[first : first + 2] in PREFIXES and not text[first - 1 : first].isalnum():
                    pair = text[first : first + 2]
                    prefix = next((one for one in prefixes_of(pair) if text.startswith(one, first)), "")
                    if prefix and any(one[4] == rule for one in rules_of(prefix)):
                        self._keep(first, first + len(prefix))
                        break
            anchor = anchors.get(rule)
            place = text.find(anchor, max(0, start - _ANCHOR_BEFORE), end) if anchor else -1
            if anchor and place >= 0:
                self._keep(place, place + len(anchor))
            for match in _JWT_PART.finditer(text, start, end) if rule == "jwt" else ():
                self._keep(*match.span())
        for match in _HASH.finditer(text):
            self._keep(*match.span())
        for match in _PEM.finditer(text):
            if all(word in _PEM_WORDS for word in match.group().strip("-").split()):
                self._keep(*match.span())

    def _keep_foreign_names(self) -> None:
        """Keep the names of credentials, which scripts without spaces do not separate."""
        if self._text.isascii():
            return
        from keepmum_scanner.assigning_words import ATTACHED_IS
        from keepmum_scanner.credential_words import NAMES, occurrences
        from keepmum_scanner.public_words import FOREIGN_WORDS

        lower = self._text.lower()
        if len(lower) != len(self._text):
            return
        for name in (*NAMES, *FOREIGN_WORDS, *ATTACHED_IS[3:-1].split("|")):
            if not name.isascii() and not name.split()[0][0].isascii():
                for start in occurrences(name, lower):
                    if not any(self._done[start : start + len(name)]):
                        self._keep(start, start + len(name))

    def _keep_parts(self) -> None:
        """Keep public words next to digits, names of credentials within words ("PGPASSWORD"), and short options."""
        from keepmum_scanner import public_words
        from keepmum_scanner.credential_words import find_credential_words

        lower = self._text.lower()
        spans = [match.span() for match in _LETTERS_OR_DIGITS.finditer(self._text)]
        spans = [span for span in spans if self._is_word(*span) and public_words.is_public(self._text[slice(*span)])]
        spans += [match.span() for match in _OPTION.finditer(self._text)]
        if len(lower) == len(self._text):
            spans += [(start, end) for end, start, _, _ in find_credential_words(self._text, lower)]
        for start, end in spans:
            if not any(self._done[start:end]):
                self._keep(start, end)

    def _replace_phrase(self, start: int, end: int) -> None:
        """Replace the words of a recovery phrase by others of the same lengths that form a valid phrase."""
        from keepmum_scanner.seed_phrases import has_checksum
        from keepmum_scanner.seed_words import numbers

        known = numbers()
        places = [
            match.span()
            for match in _LETTERS_OR_DIGITS.finditer(self._text, start, end)
            if match.group().lower().encode() in known
        ]
        originals = [self._text[first:last].lower() for first, last in places]
        parts = {part for word in originals for part in _parts(word)}
        by_length: dict[int, list[str]] = {}
        for word in map(bytes.decode, known):
            if word not in originals and parts.isdisjoint(_parts(word)):
                by_length.setdefault(len(word), []).append(word)
        if not all(len(word) in by_length for word in originals):
            return
        drawn: list[str] = []
        for _ in range(_PHRASE_TRIES):
            drawn = [self._random.choice(by_length[len(word)]) for word in originals]
            phrase = [known[word.encode()] for word in drawn]
            if len(phrase) % 3 or not 12 <= len(phrase) <= 24 or has_checksum(phrase):
                break
        for (first, last), word in zip(places, drawn):
            self._set(first, _in_case_of(self._text[first:last], word))

    def _replace_encoded(self, start: int, end: int) -> None:
        """Replace text in base64 or hexadecimal digits by the encoding of a masked text."""
        if self._depth >= _DEEPEST:
            return
        for match in _ENCODED.finditer(self._text, start, end):
            token = match.group()
            if any(self._done[match.start() + 3 : match.end()]):  # the first three may be the "eyJ" of a signed token
                continue
            plain = decoded(token)
            if plain is None or not plain.isascii():
                continue
            from keepmum_scanner.scan import scan

            found = scan(plain)
            inner = mask(plain, found, self._random, loose=self._loose, depth=self._depth + 1)
            encoded = _encoded_like(token, inner.text)
            if encoded is not None and len(encoded) == len(token):
                self._set(match.start(), encoded)
                if not reveals(plain, inner, found):
                    self._kept[match.start() : match.end()] = [True] * len(token)  # it may encode public words

    def _replace(self, start: int, end: int, *, in_value: bool, is_hash: bool = False) -> None:
        value = self._text[start:end]
        is_hex = in_value and _consists_of(_HEX, value.lower(), _SHORTEST_HEX)
        symbols = {one for one in value if not one.isalnum() and not one.isspace()}
        is_data = in_value and len(value) >= _SHORTEST_DATA and symbols <= (_HASH_DATA if is_hash else _DATA)
        for first, last in self._left(start, end):
            for one in _PIECES.finditer(self._text, first, last):
                if is_data and one.lastgroup == "symbols":
                    self._keep(*one.span())
                else:
                    self._replace_piece(str(one.lastgroup), *one.span(), in_value=in_value, is_hex=is_hex)
        if not is_data:
            self._replace_marks(start, end, in_value=in_value)

    def _left(self, start: int, end: int) -> list[tuple[int, int]]:
        """The parts of [start, end) that are neither kept nor replaced yet."""
        parts = []
        while start < end:
            stop = next((index for index in range(start, end) if self._done[index]), end)
            if start < stop:
                parts.append((start, stop))
            start = next((index for index in range(stop, end) if not self._done[index]), end)
        return parts

    def _replace_piece(self, kind: str, start: int, end: int, *, in_value: bool, is_hex: bool) -> None:
        piece = self._text[start:end]
        if kind in ("control", "space"):
            self._keep(start, end)
        elif kind == "run":
            self._replace_run(start, end, in_value=in_value, is_hex=is_hex)
        elif kind == "symbols":
            if piece in _STRUCTURAL or not in_value:
                self._keep(start, end)
            else:
                self._set(start, self._random.choice(_MARKS))
        elif kind == "other":
            self._set(start, self._beyond_ascii(piece))
        else:
            self._replace_escape(kind, start, piece)

    def _replace_escape(self, kind: str, start: int, escape: str) -> None:
        """Replace an escape by one of the same form, for a character of the same class."""
        digits = escape.strip("\\&#;%ux") if kind != "reference" else escape[2:-1].lstrip("x")
        number = int(digits, 10 if kind == "reference" and "x" not in escape else 16)
        character = chr(number) if number < 0x110000 else "?"
        if number < 0x80:
            drawn = self._random.choice(_MARKS) if character in _MARKS else self._drawn(character, is_hex=False)
        else:
            drawn = self._beyond_ascii(character)
        base = str(ord(drawn)) if kind == "reference" and "x" not in escape else f"{ord(drawn):x}"
        base = base.rjust(len(digits), "0")
        if digits.isupper():
            base = base.upper()
        place = escape.rindex(digits)
        replacement = escape[:place] + base + escape[place + len(digits) :]
        if len(replacement) == len(escape):
            self._set(start, replacement, kept=drawn == character and not drawn.isalnum())

    def _replace_run(self, start: int, end: int, *, in_value: bool, is_hex: bool) -> None:
        run = self._text[start:end]
        if not in_value:
            from keepmum_scanner import public_words

            if public_words.is_public_name(run) or (self._is_word(start, end) and public_words.is_public(run)):
                self._keep(start, end)
                return
        is_hex = is_hex or _consists_of(_HEX, run.lower(), _SHORTEST_HEX)
        if len(run) < _SHORTEST_CACHED:
            self._set(start, "".join(self._drawn(one, is_hex=is_hex) for one in run))
            return
        if run not in self._same:
            self._same[run] = self._generated(run, in_value=in_value, is_hex=is_hex)
        replacement = self._same[run]
        self._set(start, replacement)

    def _is_word(self, start: int, end: int) -> bool:
        """Whether the run at [start, end) consists of letters; a short one also stands between separators."""
        around = self._text[max(0, start - 1) : start] + self._text[end : end + 1]
        return self._text[start:end].isalpha() and (end - start > _SHORT_WORD or _AROUND_WORDS.issuperset(around))

    def _generated(self, run: str, *, in_value: bool, is_hex: bool) -> str:
        """Text of the shape of `run` that shares no four characters in a row with it."""
        parts = _parts(run.lower())
        replacement = ""
        for _ in range(_TRIES):
            if len(set(run)) == 1:
                replacement = self._drawn(run[0], is_hex=is_hex) * len(run)
            elif is_hex or not any(map(str.islower, run.lower())):
                replacement = "".join(self._drawn(one, is_hex=is_hex) for one in run)
            else:
                base32 = in_value and set(run) <= _BASE32 and len(run) >= _BLOCK // 8
                replacement = "".join(
                    self._letters(one) if one.isalpha() else "".join(self._digit(base32=base32) for _ in one)
                    for one in _LETTERS_OR_DIGITS.findall(run)
                )
            if replacement != run and parts.isdisjoint(_parts(replacement.lower())):
                break
        return replacement

    def _letters(self, run: str) -> str:
        """Words for readable letters, random letters for others."""
        if len(run) >= _SHORTEST_CACHED and surprise(run.lower()) < WORD_BITS:
            return _in_case_of(run, self._words(len(run)))
        return "".join(self._drawn(one, is_hex=False) for one in run)

    def _words(self, length: int) -> str:
        """Words of a public list, together `length` letters long."""
        from keepmum_scanner.seed_words import numbers

        words = list(map(bytes.decode, numbers()))
        drawn = ""
        while len(drawn) < length:
            drawn += self._random.choice(words)
            left = length - len(drawn)
            if left < 0:
                drawn = ""
            elif 0 < left <= 8:
                fitting = [word for word in words if len(word) == left]
                if fitting:
                    drawn += self._random.choice(fitting)
        return drawn

    def _digit(self, *, base32: bool) -> str:
        return self._random.choice("234567" if base32 else "0123456789")

    def _drawn(self, character: str, *, is_hex: bool) -> str:
        """A random character of the class of `character`, which is ASCII."""
        if character.isdigit():
            return self._digit(base32=False)
        if not character.isalpha():
            return character
        letters = "abcdef" if is_hex else "abcdefghijklmnopqrstuvwxyz"
        drawn = self._random.choice(letters)
        return drawn.upper() if character.isupper() else drawn

    def _beyond_ascii(self, character: str) -> str:
        """A random character of the same script and class."""
        from unicodedata import category

        code, kind = ord(character), category(character)
        if kind in ("Cf", "Cc", "Mn", "Cs", "Co", "Cn"):
            return _INVISIBLE
        if kind[0] in "PZ":
            return character
        first, last = next(
            ((low, high) for low, high in _LARGE if low <= code <= high),
            (code - code % _BLOCK, code - code % _BLOCK + _BLOCK - 1),
        )
        for _ in range(_BLOCK):
            drawn = chr(self._random.randint(first, last))
            if category(drawn) == kind and len(drawn.lower()) == 1:
                return drawn
        return "\ufffd"

    def _replace_marks(self, start: int, end: int, *, in_value: bool) -> None:
        """Replace what is left of a password between its letters: a row of different symbols."""
        for match in compiled(r"[!-/:-@\[-`{-~]{3,}").finditer(self._text, start, end):
            row = match.group()
            if "---" in row or len(set(row)) == 1 or (not in_value and not set(row) <= set(_MARKS)):
                continue
            if in_value or not any(self._done_by_value(match.start(), match.end())):
                for index in range(match.start(), match.end()):
                    if self._kept[index] and not self._in_public_part(index):
                        self._set(index, self._random.choice(_MARKS))

    def _done_by_value(self, start: int, end: int) -> list[bool]:
        return [any(one.start <= index < one.end for one in self._findings) for index in range(start, end)]

    def _in_public_part(self, index: int) -> bool:
        return any(match.start() <= index < match.end() for match in _PEM.finditer(self._text))


def _consists_of(alphabet: frozenset[str], text: str, shortest: int) -> bool:
    letters = set(filter(str.isalnum, text))
    return len(text) >= shortest and letters <= alphabet and any(map(str.isdigit, letters))


def _parts(text: str) -> set[str]:
    """Every run of characters of `text` that would reveal it."""
    size = _revealing(text)
    return {text[index : index + size] for index in range(len(text) - size + 1)}


def _revealing(text: str) -> int:
    """How many characters in a row would reveal `text`."""
    return next((size for length, size in _LONGER if len(text) > length), _REVEALING)


def _in_case_of(run: str, word: str) -> str:
    return "".join(letter.upper() if like.isupper() else letter for like, letter in zip(run, word))


def _encoded_like(token: str, plain: str) -> str | None:
    """`plain` in the encoding of `token`."""
    import binascii

    data = plain.encode()
    if compiled("(?:0x)?[0-9A-Fa-f]+").fullmatch(token):
        digits = data.hex()
        return ("0x" if token.startswith("0x") else "") + (digits.upper() if token.upper() == token else digits)
    encoded = binascii.b2a_base64(data, newline=False).decode().rstrip("=")
    if "-" in token or "_" in token:
        encoded = encoded.replace("+", "-").replace("/", "_")
    return encoded + token[len(encoded) :] if len(encoded) <= len(token) else None
