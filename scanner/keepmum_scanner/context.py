"""What the text around a token says about it.

Examines a short window around single candidates, so that the cost does not grow with the text.
"""

from __future__ import annotations

from keepmum_scanner.candidates import case_limit
from keepmum_scanner.credential_words import CUE, find_credential_words, is_cursor_token
from keepmum_scanner.expressions import compiled

BEFORE = 72  # characters before a value in which a word can name it: "Password for the staging account is …"
AFTER = 36  # characters after it: "… as the deploy token"

_LONGEST_WORD = 16  # characters of a credential word
_LONG = 8192  # characters of a text that is not a note

# Detailed checks of one text; notes and source files need fewer.
_CHECKS = 96
_CHARACTERS_PER_CHECK = 640  # raises the number for a longer text

UNNAMED = 0  # nothing calls the value a credential
NEAR = 1  # a credential word is in the window
ASSIGNED = 2  # a credential word is given the value: by a separator, quotes, "is" or "to"

# Words that make a value the id or digest of something.
_ID_WORDS = compiled(
    r"\b(?:commits?|sha\d*|digest|checksum|md5|hash|revision|rev|etag|uuid|guid|trace|thread|request|message|build|image|"
    r"branch|tree|blob|merge[sd]?|cherry|bump|pin(?:ned)?|diff|snapshot|fingerprint|integrity|version|"
    r"run|issue|pull|pr|id)\b|(?:_|\b)(?:id|sha|hash)\b|\(#[0-9]+\)"
)
# After "token": "tokens" mostly counts the input of a language model, and "token_id" is not a token.
_NOT_THE_VALUE = compiled(r"s\b|iz|_?(?:id|name|count|limit|type|url)")
_GIVEN = compiled(r"^\s*\|\s*[`'\"]?$|[=:(`'\"{>]|\b(?:is|to|was|are|send|use|bearer|basic)\s*[`'\"]?$")
_AFTER_CUE = compiled(r"[\s\"'`,=:(]{0,6}")  # "login: …"
_SENTENCE_END = compiled(r"[.;!?]\s|\w\s*\|")
_OTHER_NAME = compiled(r"[,;&{][^,;&{]*[\w-][\"']?\s*[=:]\s*[\"'`]?$")  # "key=a, value="
_ID_NAME = compiled(
    r"(?:id|identifier|digest|sha\d*|hash|checksum|etag|fingerprint|arn|boundary|signature|challenge|verification|"
    r"md5|cursor|socket-accept|pub(?:lic)?[ _-]?key|site[ _-]?key|\bh1)"
    r"[\"'`]?\s*[:=]?\s*(?:w/)?[\"'`]?-*$"
)
_LONGEST_ID_NAME = 24  # characters of such a name and the separators after it
_IDS = tuple(
    "id identifier digest sha hash checksum etag fingerprint arn boundary signature challenge verification md cursor "
    "accept key h".split()
)
_SEPARATORS = " \t\r\n\u1680\u2028\u2029\"'`:=-"  # between such a name and its value
_DIGITS = "0123456789"  # at the end of such a name
_ID_ENDS = frozenset([*_DIGITS, "n", *(name[-1] for name in _IDS)])  # its last character; "n" as in "token"
_ALGORITHMS = ("sha1", "sha256", "sha384", "sha512", "sha-256", "sha-384", "sha-512", "md5")
# Markers right before a link or a digest, and the dashes before a MIME boundary (a PEM header has five).
_MARKERS = ("://", "h1:", "-" * 8, *(name + end for name in _ALGORITHMS for end in (":", "-", "=", "=:")))
_MARKER_ENDS = frozenset(marker[-2:] for marker in _MARKERS)
_BASE64_SYMBOLS, _LONGEST_SYMBOLS = frozenset("+/-"), 8
_BEFORE_DATA = "+/-,"
MARKER_CHARACTERS = frozenset(":/-=+,")  # the last characters of all markers
# Source: https://www.rfc-editor.org/rfc/rfc2397, read 2026-11-21
_EMBEDDED = compiled(r"data:(?:image|font|audio|video|application)/[\w.+-]{1,32}(?:;[\w=-]{1,32}){0,3};base64,$")
_LONGEST_EMBEDDED = 140  # characters from "data:" to the data
# MIME boundaries of mail programs: "=_" after dashes, a quote or nothing, never after a name that is assigned a value.
_BOUNDARY = compiled(r"(?:^|[\s\"'`(-]|-mail)=$")
# "signing key 0x…", "gpg --recv-keys …", `signingkey = …`
_OPENPGP = compiled(r"(?:gpg|pgp|fingerprint|sign(?:ing|ed|er)|keyserver|recv-keys?|key[ _-]?id|user\.)[^\n.;!?]*$")
_LINE_OPENERS = (">", ":", "=", "{", "(")  # after these a value may be on a line of its own
_BREAKS = " \t\n\"'<>`("
_DOMAIN = compiled(r"[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z]{2,8}\b")
_DEFINING = tuple(
    f"{word} " for word in "class def enum extends fn from func import interface new struct #define".split()
)
_HOST = compiled(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,6}/")


TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from typing import Callable

    from keepmum_scanner.credential_words import CredentialWord
    from keepmum_scanner.pem import Block


class Context:
    """The surroundings of tokens in one normalised text, and how much detailed work is left for it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.checks_left = max(_CHECKS, len(text) // _CHARACTERS_PER_CHECK)  # shared by all detectors
        self.case_limit = case_limit(text)
        self.lower = _lower(text)
        self.credential_words = find_credential_words(text, self.lower)
        self.blocks = _blocks(text)
        self._spaced = ""
        self.is_rough = False  # the decoded text of a dump
        self.bulk_start: int | None = None  # from here on tokens get a rough check only
        self._ends = [word[0] for word in self.credential_words]
        self._bisect: Callable[[list[int], int], int] = _bisect_right
        if len(text) > _LONG:
            from bisect import bisect_right  # faster, but importing it takes longer than a note uses it

            self._bisect = bisect_right

    @property
    def is_dump(self) -> bool:
        """Whether a part of the text gets a rough check only, since it has too many tokens or names."""
        return self.bulk_start is not None or len(self.credential_words) > self.case_limit

    def credential_word_before(self, start: int) -> CredentialWord | None:
        """The last credential word that ends at `start` or before."""
        index = self._bisect(self._ends, start)
        return self.credential_words[index - 1] if index else None

    def credential_word_after(self, end: int) -> CredentialWord | None:
        """The first credential word that ends after `end`."""
        index = self._bisect(self._ends, end)
        return self.credential_words[index] if index < len(self.credential_words) else None

    def matches(self, expression: re.Pattern[str], start: int) -> Iterator[re.Match[str]]:
        """The matches of `expression`, which begins with a delimiter, from `start` on and outside of all blocks.

        It is applied to the text with a space in front, so positions are greater by one, and with spaces in place of
        escaped line breaks, whose letters would be read as part of the next token.
        """
        if not self._spaced:
            self._spaced = " " + self.text
            for escape in ("\\n", "\\r", "\\t"):
                self._spaced = self._spaced.replace(escape, "  ")
        for block in self.blocks:
            if start < block.start:
                yield from expression.finditer(self._spaced, start, block.start + 1)
            start = max(start, block.end)
        yield from expression.finditer(self._spaced, start)

    def is_near(self, start: int, end: int) -> bool:
        """Whether a credential word is close enough to [start, end) to name it."""
        if not self.credential_words:
            return False
        index = self._bisect(self._ends, start)
        if index and start - self._ends[index - 1] <= BEFORE:
            return True
        return index < len(self._ends) and self._ends[index] - end <= AFTER + _LONGEST_WORD

    def naming(self, start: int, end: int) -> int:
        """How the surroundings name [start, end) a credential: `UNNAMED`, `NEAR` or `ASSIGNED`."""
        if not self.credential_words:
            return UNNAMED
        return max(self._naming_before(start), self._naming_after(end))

    def credential_word_end(self, start: int, end: int) -> int:
        """Where the last credential word within [start, end) ends; -1 when there is none.

        "pw" and other short words do not count: random characters spell them too.
        """
        if not self.credential_words:
            return -1
        for index in range(self._bisect(self._ends, end) - 1, -1, -1):
            word_end, word_start, kind, short = self.credential_words[index]
            if word_start < start:
                break
            if kind != CUE and not short:
                return word_end
        return -1

    def _naming_before(self, start: int) -> int:
        for index in range(self._bisect(self._ends, start) - 1, -1, -1):
            word_end, _, kind, short = self.credential_words[index]
            if start - word_end > BEFORE:
                break
            if not short and not _NOT_THE_VALUE.match(self.lower, word_end):
                gap = self.lower[word_end:start]
                naming = self._naming_across(gap)
                return naming if kind != CUE or _AFTER_CUE.fullmatch(gap) else min(NEAR, naming)
        return UNNAMED

    @staticmethod
    def _naming_across(gap: str) -> int:
        """How a credential word names the value after `gap`."""
        line_break = gap.rfind("\n")
        if line_break >= 0 and (gap[line_break:].strip() or not gap[:line_break].rstrip().endswith(_LINE_OPENERS)):
            return UNNAMED
        if _ID_WORDS.search(gap) or _SENTENCE_END.search(gap) or _OTHER_NAME.search(gap):
            return UNNAMED
        return ASSIGNED if _GIVEN.search(gap) or len(gap) <= 2 else NEAR

    def _naming_after(self, end: int) -> int:
        index = self._bisect(self._ends, end)
        for word_end, word_start, _, short in self.credential_words[index : index + 2]:
            if word_start < end or short or _NOT_THE_VALUE.match(self.lower, word_end):
                continue
            gap = self.lower[end:word_start]
            if " --" in gap:
                return UNNAMED  # the word belongs to the next option
            return NEAR if len(gap) < AFTER and "\n" not in gap and not _SENTENCE_END.search(gap) else UNNAMED
        return UNNAMED

    def follows_id_name(self, start: int) -> bool:
        """Whether the value at `start` is assigned to a name that ends in "id", "digest" or the like."""
        first = max(0, start - _LONGEST_ID_NAME)
        before = self.lower[first:start].rstrip(_SEPARATORS)
        if before.endswith(" w/"):
            before = before[: -len(" w/")].rstrip(_SEPARATORS)
        if before[-1:] not in _ID_ENDS:
            return False
        if before.endswith("token"):
            return is_cursor_token(before, len(before) - len("token"))
        if not before.rstrip(_DIGITS).endswith(_IDS):
            return False  # saves running the expression, which costs more
        return _ID_NAME.search(self.lower, first, start) is not None

    def follows_public_marker(self, start: int) -> bool:
        """Whether the characters right before `start` announce a link, a digest, a MIME boundary or embedded data."""
        before = self.text[max(0, start - 2) : start]
        character = before[-1:]
        if character not in MARKER_CHARACTERS:
            return False
        if before in _MARKER_ENDS and self.lower.endswith(_MARKERS, 0, start):
            return True
        if character == "=" and self.text[start : start + 1] == "_":
            return _BOUNDARY.search(self.lower, max(0, start - 8), start) is not None
        return character in _BEFORE_DATA and self._is_data(start)

    def _is_data(self, start: int) -> bool:
        """Whether a digest or an embedded file begins before `start`, with symbols that no token begins with."""
        first = start
        while self.text[first - 1 : first] in _BASE64_SYMBOLS and first > start - _LONGEST_SYMBOLS:
            first -= 1
        if first < start and self.lower.endswith(_MARKERS, 0, first):
            return True
        if not self.lower.endswith(";base64,", 0, first):
            return False
        return _EMBEDDED.search(self.lower, max(0, first - _LONGEST_EMBEDDED), first) is not None

    def is_code(self, start: int, end: int) -> bool:
        """Whether [start, end) is called, defined or imported, as names in code are."""
        return self.text[end : end + 1] == "(" or self.text.endswith(_DEFINING, 0, start)

    def is_mailbox(self, start: int, end: int) -> bool:
        """Whether [start, end) is the part before the "@" of an email address or a message id."""
        if self.text[end : end + 1] != "@" or self.text[start - 1 : start] not in _BREAKS:
            return False
        return _DOMAIN.match(self.lower, end + 1) is not None

    def is_within_word(self, start: int, end: int) -> bool:
        """Whether [start, end) is a piece of a word that continues with letters beyond ASCII."""
        around = self.text[max(0, start - 1) : start] + self.text[end : end + 1]
        return not around.isascii() and any(map(str.isalpha, around.replace("_", "")))

    def names_fingerprint(self, start: int) -> bool:
        """Whether the words before `start` name the fingerprint or the id of a public key."""
        return _OPENPGP.search(self.lower, max(0, start - 48), start) is not None

    def in_link(self, start: int) -> bool:
        """Whether the character at `start` is inside a link; links contain ids and are made to be shared."""
        if start == 0 or self.lower[start - 1] in _BREAKS:
            return False
        if start > 1 and self.text[start - 1] == "#" and not self.text[start - 2].isspace():
            return True  # a fragment
        window = self.lower[max(0, start - 200) : start]
        if "://" not in window and "arn:" not in window and ("." not in window or "/" not in window):
            return False  # neither a scheme nor a host
        run = window[max(map(window.rfind, _BREAKS)) + 1 :]
        return "://" in run or run.startswith("arn:") or _HOST.match(run) is not None


def _bisect_right(positions: list[int], position: int) -> int:
    """How many of the sorted `positions` are at most `position`."""
    low, high = 0, len(positions)
    while low < high:
        middle = (low + high) // 2
        if position < positions[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def _blocks(text: str) -> list[Block]:
    """The PEM blocks of `text`."""
    if "-----BEGIN " not in text:
        return []
    from keepmum_scanner.pem import blocks  # few texts need it

    return blocks(text)


def _lower(text: str) -> str:
    """`text` in lower case with the same positions; only \u0130 would become two characters."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("\u0130", "i").lower()
